package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/kv"
)

// node is this server as one of several, see package cluster.
type node interface {
	CommitLog() *kv.CommitLogOptions
	Init(ctx context.Context, o store.Options) error
	Prepare(ctx context.Context, o store.Options, open func() error) error
	Attach(db *store.DB) error
	Run(ctx context.Context)
	Print(out io.Writer, s web.NodesState) error
	Check(ctx context.Context, found func(name, state, text, do string))
	web.Cluster
	Close() error
}

// openNode opens the node of a configuration. It is nil in a program for one node.
var openNode func(p *program) (node, error)

// leaveCluster makes the data of a stopped node independent. It is nil in a program for one node.
var leaveCluster func(dir string, o store.Options) error

var errOneNode = errors.New("this program is for one node: use reeve-cluster, which is the same program with the client of etcd")

// newNode opens the node that the configuration describes; nil without one.
func (p *program) newNode() (node, error) {
	switch {
	case p.config.Cluster == nil:
		return nil, nil
	case openNode == nil:
		return nil, fmt.Errorf("cluster.etcd is configured, and %w", errOneNode)
	}
	return openNode(p)
}

// errNeedsCopy is the error of a server that ended because its node needs a copy.
var errNeedsCopy = errors.New("this node needs a copy of the data")

// contactTimeout is the time that a node gets to come into contact with the others before it accepts
// connections.
const contactTimeout = 5 * time.Second

// runNode keeps the node of a server in contact until leave is called, and returns when it is, or after a
// while. It calls end when the node needs a copy, which needsCopy reports afterwards.
func (p *program) runNode(db *store.DB, end func()) (needsCopy func() bool, leave func()) {
	if p.node == nil {
		return func() bool { return false }, func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	var needs atomic.Bool
	running.Go(func() { p.node.Run(ctx) })
	running.Go(func() {
		for ctx.Err() == nil {
			if state, _ := db.CommitLog(); errors.Is(state.Refused, kv.ErrOtherCopy) {
				needs.Store(true)
				end()
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	})
	for begun := time.Now(); p.node.Serving() != nil && time.Since(begun) < contactTimeout; {
		time.Sleep(10 * time.Millisecond)
	}
	return needs.Load, func() {
		cancel()
		running.Wait()
	}
}

func (p *program) closeNode() error {
	if p.node == nil {
		return nil
	}
	return p.node.Close()
}

// noCluster returns an error if the data are those of several nodes: a command would change those of one.
func (p *program) noCluster() error {
	if p.config.Cluster == nil {
		return nil
	}
	return errors.New("the configuration has cluster.etcd: this command would change the data of one node only; stop all nodes, remove cluster.etcd, run it, and begin a new cluster with these data")
}

// withNode calls fn with the node of the configuration.
func (p *program) withNode(fn func(node) error) error {
	n, err := p.newNode()
	if err == nil && n == nil {
		err = errors.New("cluster.etcd is not configured")
	}
	if err != nil {
		return err
	}
	return errors.Join(fn(n), n.Close())
}

// clusterInit begins a cluster with the data of a stopped server.
func (p *program) clusterInit() error {
	return p.withNode(func(n node) error {
		options := p.storeOptions()
		if !kv.HasDatabase(p.config.DataDir) { // seeded as at a first start
			p.config.Cluster = nil
			db, _, err := p.open()
			if err == nil {
				err = db.Close()
			}
			if err != nil {
				return err
			}
		}
		if err := n.Init(context.Background(), options); err != nil {
			return err
		}
		_, err := fmt.Fprintln(p.out, "the cluster has begun; start this node, copy secret.key to the data directories of the others, and start them")
		return err
	})
}

// clusterLeave makes the data of a stopped node independent.
func (p *program) clusterLeave() error {
	if leaveCluster == nil {
		return errOneNode
	}
	if err := leaveCluster(p.config.DataDir, p.storeOptions()); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.out, "the data in this directory are independent now; remove cluster.etcd from the configuration to use them")
	return err
}

// clusterStatus prints the nodes and the members of etcd.
func (p *program) clusterStatus() error {
	return p.withNode(func(n node) error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		state, err := n.State(ctx)
		if err != nil {
			return err
		}
		if p.json {
			return p.printJSON(state)
		}
		return n.Print(p.out, state)
	})
}

// checkNode returns checks of this server as a node, none for a server that is the only one.
func (p *program) checkNode() (parts []part) {
	if p.config.Cluster == nil {
		return nil
	}
	err := p.withNode(func(n node) error {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		n.Check(ctx, func(name, state, text, do string) { parts = append(parts, part{name, state, text, do}) })
		return nil
	})
	if err != nil {
		parts = append(parts, part{"cluster", web.Failed, err.Error(), "see the keys of cluster in the configuration"})
	}
	return parts
}
