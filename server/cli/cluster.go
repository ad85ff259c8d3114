package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/disk"
	"reeve/store/errs"
	"reeve/store/kv"
)

// node is this server as one of several, see package cluster.
type node interface {
	CommitLog() *kv.CommitLogOptions
	Init(ctx context.Context, o store.Options) (missing []string, err error)
	Replaceable(ctx context.Context, epoch string, last uint64, independent bool, entry *uint64) error
	Replace(ctx context.Context, o store.Options) (missing []string, err error)
	Upgrade(ctx context.Context, o store.Options) (needed bool, err error)
	Prepare(ctx context.Context, o store.Options, open func() error) error
	Attach(db *store.DB) error
	Run(ctx context.Context)
	Print(out io.Writer, s web.NodesState) error
	Check(ctx context.Context, found func(name, state, text, do string))
	web.Cluster
	Close() error
}

// openNode opens the node of a configuration. It is nil in a program for one node.
var openNode func(p *program, otherEtcd bool) (node, error)

// leaveCluster and forgetCluster are cluster.Leave and cluster.Forget. They are nil in a program for one node.
var (
	leaveCluster  func(dir string, o store.Options) error
	forgetCluster func(dir string) error
)

var errOneNode = errors.New("this program is for one node: install reeve-cluster, which is the same program with the client of etcd")

// newNode opens the node that the configuration describes; nil without one. otherEtcd is whether etcd may be
// another one than before.
func (p *program) newNode(otherEtcd bool) (node, error) {
	switch {
	case p.config.Cluster == nil:
		return nil, nil
	case openNode == nil:
		return nil, fmt.Errorf("cluster.etcd is configured, and %w", errOneNode)
	}
	return openNode(p, otherEtcd)
}

// offDuty is a stopped node that serves a command: it has no lease, and the nodes that run do the jobs.
type offDuty struct{ node }

func (offDuty) Serving() error { return nil } // the database has what the log had when it was opened, and appends to it
func (offDuty) OnDuty() bool   { return false }

func (o offDuty) Health() web.Part {
	state, err := o.State(context.Background())
	return web.NodesHealth(&state, nil, err, time.Now())
}

// needsServer returns an error for a command that a stopped node of a cluster must not do beside the others.
func (p *program) needsServer(c *client) error {
	if c.running || p.node == nil {
		return nil
	}
	return fmt.Errorf("this is one of several nodes and it is stopped: run `reeve %s` at a node that runs, or start this one", p.command)
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

// noCluster returns an error if a restore would replace the data of one of several nodes.
func (p *program) noCluster() error {
	if p.config.Cluster == nil {
		return nil
	}
	return errors.New("the configuration has cluster.etcd, and this would replace the data of one node only: use `reeve cluster restore`")
}

// withNode calls fn with the node of the configuration, see newNode.
func (p *program) withNode(otherEtcd bool, fn func(node) error) error {
	n, err := p.newNode(otherEtcd)
	if err == nil && n == nil {
		err = errors.New("cluster.etcd is not configured")
	}
	if err != nil {
		return err
	}
	return errors.Join(fn(n), n.Close())
}

// asOwner returns an error if this is root and the data are another user's, who could not read what root writes.
func (p *program) asOwner() error {
	owner, known := disk.Owner(p.config.DataDir)
	if !known || owner == 0 || os.Geteuid() != 0 {
		return nil
	}
	name := "#" + strconv.Itoa(owner)
	if u, err := user.LookupId(strconv.Itoa(owner)); err == nil {
		name = u.Username
	}
	return fmt.Errorf("the data are those of the user %s: run this with `sudo -u %s`", name, name)
}

// clusterInit begins a cluster with the data of a stopped server.
func (p *program) clusterInit() error {
	if err := p.asOwner(); err != nil {
		return err
	}
	return p.withNode(false, func(n node) error {
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
		missing, err := n.Init(context.Background(), options)
		if err != nil {
			return err
		}
		p.printMissing(missing)
		_, err = fmt.Fprintln(p.out, "the cluster has begun; start this node, copy secret.key to the data directories of the others, and start them")
		return err
	})
}

// mostMissing is the maximum number of files without contents that are named.
const mostMissing = 20

// printMissing names files whose contents are neither in the bucket nor in the data directory.
func (p *program) printMissing(names []string) {
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(p.out, "the contents of %s are neither in the bucket nor in the data directory:\n", errs.Count(len(names), "file"))
	for i, name := range names {
		if i == mostMissing {
			fmt.Fprintf(p.out, "  and %d more\n", len(names)-i)
			break
		}
		fmt.Fprintf(p.out, "  %s\n", strconv.Quote(name))
	}
	fmt.Fprintln(p.out, "copy the objects of the bucket that has them to this one, under the same names, or restore a backup that includes them")
}

// clusterLeave makes the data of a stopped node independent.
func (p *program) clusterLeave() error {
	if leaveCluster == nil {
		return errOneNode
	}
	if err := p.asOwner(); err != nil {
		return err
	}
	if err := leaveCluster(p.config.DataDir, p.storeOptions()); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.out, "the data in this directory are independent now; remove cluster.etcd from the configuration to use them")
	return err
}

// clusterJoin lets a stopped node take the data of the cluster at its next start.
func (p *program) clusterJoin() error {
	if forgetCluster == nil {
		return errOneNode
	}
	if err := p.asOwner(); err != nil {
		return err
	}
	if err := forgetCluster(p.config.DataDir); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.out, "this node takes the data of the cluster when it starts, unless it has them; what they replace is kept in the data directory")
	return err
}

// clusterUpgrade brings the records of a stopped cluster to the schema of this program.
func (p *program) clusterUpgrade() error {
	if err := p.asOwner(); err != nil {
		return err
	}
	return p.withNode(false, func(n node) error {
		needed, err := n.Upgrade(context.Background(), p.storeOptions())
		if err != nil {
			return err
		}
		text := "the records have the schema of this program; start it on all nodes"
		if !needed {
			text = "nothing to do: the records have the schema of this program already; start it on all nodes"
		}
		_, err = fmt.Fprintln(p.out, text)
		return err
	})
}

func clusterRestoreFlags(f *pflag.FlagSet, p *program) {
	restoreFlags(f, p)
	f.Bool("from-node", false, "take the data in the data directory, after the loss of all of etcd")
	f.Uint64("entry", 0, "confirm the `NUMBER` of the last entry in the data directory, or in etcd if the data belong to no cluster; with --from-node")
}

// clusterRestore makes restored data, or those in the data directory, the data of all nodes.
func (p *program) clusterRestore() error {
	fromNode, _ := p.flags.GetBool("from-node") // the flag exists
	if fromNode == (len(p.args) > 0) {
		return errors.New("name a TARGET or FILE to restore, or give --from-node")
	}
	if err := p.asOwner(); err != nil {
		return err
	}
	return p.withNode(true, func(n node) error {
		if fromNode {
			if err := p.chooseNode(n); err != nil {
				return err
			}
		} else if err := p.restoreData(); err != nil {
			return err
		}
		missing, err := n.Replace(context.Background(), p.storeOptions())
		if err != nil {
			return err
		}
		p.printMissing(missing)
		_, err = fmt.Fprintln(p.out, "these are the data of the cluster now; nodes that run take them, and so do others when they start; if etcd is another one than before, run `reeve cluster join` on those")
		return err
	})
}

// chooseNode checks that the data in the data directory may become those of the cluster.
func (p *program) chooseNode(n node) error {
	if err := p.needsDatabase(); err != nil {
		return err
	}
	head, err := store.CommitPosition(p.config.DataDir, p.storeOptions())
	if err != nil {
		return err
	}
	wanted, _ := p.flags.GetUint64("entry") // the flag exists
	independent := head.Number == 0         // after `reeve cluster leave`, or an attempt that failed
	var confirmed *uint64
	if p.flags.Changed("entry") {
		confirmed = &wanted
	}
	switch {
	case independent:
	case confirmed == nil:
		return fmt.Errorf("the data in this directory end with entry %d of the epoch %s: run this on all nodes, and then with --entry NUMBER on the one with the highest number", head.Number, head.Epoch)
	case wanted != head.Number:
		return fmt.Errorf("the data in this directory end with entry %d", head.Number)
	}
	if err := n.Replaceable(context.Background(), head.Epoch, head.Number, independent, confirmed); err != nil {
		return err
	}
	report, err := store.VerifyDir(p.config.DataDir, p.storeOptions())
	if err != nil {
		return err
	}
	if n := len(report.Faults) + report.More; n > 0 {
		return fmt.Errorf("the database in %s has %s: choose another node, or restore a copy", p.config.DataDir, errs.Count(n, "fault"))
	}
	return nil
}

// clusterStatus prints the nodes and the members of etcd.
func (p *program) clusterStatus() error {
	return p.withNode(false, func(n node) error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		state, err := n.State(ctx)
		if err != nil {
			state.Error = errs.ForOperator(err).Error()
			err = errors.Join(err, p.addKnown(&state))
		}
		if p.json {
			return errors.Join(err, p.printJSON(state))
		}
		return errors.Join(err, n.Print(p.out, state))
	})
}

// addKnown adds what this node knows to a state that etcd has not told: the server if it runs, otherwise the data.
func (p *program) addKnown(s *web.NodesState) error {
	pid, err := kv.Holder(p.config.DataDir)
	switch {
	case err != nil || !kv.HasDatabase(p.config.DataDir):
		return err
	case pid == 0:
		head, err := store.CommitPosition(p.config.DataDir, p.storeOptions())
		s.Applied = head.Number
		return err
	}
	c, err := p.connect()
	if err != nil {
		return err
	}
	var known web.NodesState
	if err = errors.Join(c.get("/local/node", nil, &known), c.close()); err == nil {
		s.Applied, s.Heard, s.Nodes = known.Applied, known.Heard, known.Nodes
	}
	return err
}

// checkNode returns checks of this server as a node, none for a server that is the only one.
func (p *program) checkNode() (parts []part) {
	if p.config.Cluster == nil {
		return nil
	}
	err := p.withNode(false, func(n node) error {
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
