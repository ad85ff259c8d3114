package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
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
		w := tabwriter.NewWriter(p.out, 0, 8, 2, ' ', 0)
		fmt.Fprintf(p.out, "epoch %s, entry %d, base copy at entry %d\n\n", state.Epoch, state.Number, state.Base)
		fmt.Fprintln(w, "NODE\tVERSION\tAPPLIED\tDUTIES")
		for _, n := range state.Nodes {
			fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", oneLine(n.Name), oneLine(n.Version), n.Applied, yes(n.Duties))
		}
		fmt.Fprintln(w, "\nETCD\tVERSION\tLEADER\tANSWER\tMIB USED\tMIB\tPROBLEM")
		for _, m := range state.Etcd {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%s\n", m.Endpoint, m.Version, yes(m.Leader), m.Latency(), m.Used>>20, m.Bytes>>20,
				oneLine(strings.Join(append(m.Alarms, m.Error), " ")))
		}
		return w.Flush()
	})
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "-"
}
