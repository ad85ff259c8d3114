package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"reeve/store/errs"
	"reeve/store/etcd"
	"reeve/store/kv"
)

// A node answers requests while an answer of etcd that it asked for less than a second ago says that it
// has not missed an entry. Neither a lease nor a watch proves that: a leader that hangs renews leases that
// others have revoked.

const (
	beatEvery   = 250 * time.Millisecond
	beatValid   = time.Second // time since a question for which its answer counts
	beatsKept   = 8
	renewEvery  = 3 * time.Second
	reportEvery = time.Second // of the key of this node, for people
	seenEvery   = time.Minute // of a look at the other nodes
)

// beats are the last answers of etcd.
type beats struct {
	mu      sync.Mutex
	all     []beat        // newest question first
	failure error         // why the last question was not answered; nil if it was
	duty    bool          // whether this node has the duties
	took    *kv.Histogram // duration of answers, in nanoseconds
	live    int           // number of nodes that have a key
	joined  time.Duration // time at which this node got its lease, see sinceBoot: earlier questions were not about this one

	report chan struct{} // holds one value while the key of this node is to be written
}

// beat is an answer.
type beat struct {
	asked  time.Duration // see sinceBoot
	number uint64        // last entry
	node   bool          // whether this node had its key: after an answer without it, it must not answer requests
}

// Serving returns why this node must not answer requests now; nil if it may.
func (n *Node) Serving() error {
	state, _ := n.db.CommitLog()
	if state.Refused != nil {
		return state.Refused
	}
	return n.beats.serving(sinceBoot(), state.At.Number)
}

// serving is Node.Serving at a time since boot, for a node that has applied the entries up to one.
func (b *beats) serving(now time.Duration, applied uint64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	fresh := false
	for _, one := range b.all {
		if now-one.asked >= beatValid {
			break
		}
		if !one.node {
			fresh = false
			break
		}
		if fresh = true; one.number <= applied {
			return nil
		}
	}
	if fresh {
		return errs.New(errs.Busy, "this node has not applied the latest changes yet").Coded("node_behind")
	}
	return errs.New(errs.Busy, "this node has no contact with the other nodes").Coded("node_alone").Because(b.failure)
}

// OnDuty reports whether this node has the duties: what only one node does at a time.
func (n *Node) OnDuty() bool {
	n.beats.mu.Lock()
	defer n.beats.mu.Unlock()
	return n.beats.duty && len(n.beats.all) > 0 && sinceBoot()-n.beats.all[0].asked < beatValid
}

// Live returns the number of nodes in contact, as it was at the last answer.
func (n *Node) Live() int {
	n.beats.mu.Lock()
	defer n.beats.mu.Unlock()
	return max(1, n.beats.live)
}

// Run keeps this node in contact until ctx ends, and then gives up its key and its duties.
func (n *Node) Run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	defer n.leave()
	every := func(interval time.Duration, overlap bool, fn func(context.Context) error) {
		all.Go(func() { n.repeat(ctx, &all, interval, overlap, fn) })
	}
	every(beatEvery, true, n.beat)
	every(renewEvery, false, n.renew)
	every(reportEvery, false, func(context.Context) error { n.wantReport(); return nil })
	every(time.Second, false, n.duties)
	every(seenEvery, false, n.look)
	all.Go(func() { n.reports(ctx) })
	<-ctx.Done()
}

// repeat calls fn at an interval until ctx ends. overlap is whether a call may begin while earlier ones
// run. An error is logged when it is another one than the last time.
func (n *Node) repeat(ctx context.Context, all *sync.WaitGroup, interval time.Duration, overlap bool, fn func(context.Context) error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var mu sync.Mutex
	last := ""
	call := func() {
		err := fn(ctx)
		if ctx.Err() != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != last {
			if last = text; err != nil {
				n.options.Log("cluster", err)
			}
		}
	}
	for {
		if overlap {
			all.Go(call)
		} else {
			call()
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// beat asks etcd once.
func (n *Node) beat(ctx context.Context) error {
	asked := sinceBoot()
	b, err := n.etcd.Beat(ctx)
	state, _ := n.db.CommitLog()
	if err == nil && b.Head.Epoch != state.At.Epoch {
		err = fmt.Errorf("%w: %s", etcd.ErrEpoch, b.Head.Epoch)
	}
	n.beats.mu.Lock()
	defer n.beats.mu.Unlock()
	n.beats.failure = named(err)
	if err != nil {
		return err
	}
	n.beats.took.Add(int64(sinceBoot() - asked))
	n.beats.add(beat{asked, b.Head.Number, b.Node != nil})
	n.beats.duty, n.beats.live = b.Duty != 0 && b.Duty == n.etcd.Lease(), len(b.Nodes)
	return nil
}

// add adds an answer. Answers can come in another order than the questions.
func (b *beats) add(one beat) {
	i := 0
	for i < len(b.all) && b.all[i].asked > one.asked {
		i++
	}
	b.all = append(b.all, beat{})
	copy(b.all[i+1:], b.all[i:])
	b.all[i] = one
	b.all = b.all[:min(len(b.all), beatsKept)]
}

// self is what this node says of itself.
func (n *Node) self() etcd.Node {
	state, _ := n.db.CommitLog()
	return etcd.Node{Name: n.options.Name, Version: n.options.Version, Applied: state.At.Number, Sealed: n.sealedSummary()}
}

// renew keeps the lease, or gets one.
func (n *Node) renew(ctx context.Context) error {
	n.beats.mu.Lock()
	has := len(n.beats.all) == 0 || n.beats.all[0].node || n.beats.all[0].asked < n.beats.joined
	n.beats.mu.Unlock()
	if n.etcd.Lease() != 0 && has {
		if err := n.etcd.Renew(ctx); !errors.Is(err, etcd.ErrLease) {
			return err
		}
	}
	return n.join(ctx)
}

// join gives this node a lease in place of the one that it had, or had when it was killed, so that it is not two nodes
// until that has ended.
func (n *Node) join(ctx context.Context) error {
	if err := n.etcd.Leave(ctx); err != nil {
		return err
	}
	if n.before != 0 {
		if err := n.etcd.End(ctx, n.before); err != nil {
			return err
		}
		n.before = 0
	}
	lease, err := n.etcd.Join(ctx, n.self())
	if err != nil {
		n.before = lease
		return err
	}
	n.beats.mu.Lock()
	n.beats.joined = sinceBoot()
	n.beats.mu.Unlock()
	known, err := remember(n.options.Dir)
	if err == nil {
		known.Lease, known.Place = uint64(lease), placeOf(n.options.Dir)
		err = n.write(known)
	}
	return err
}

func (n *Node) wantReport() {
	select {
	case n.beats.report <- struct{}{}:
	default:
	}
}

// reports writes the key of this node, with the last entry that it has applied, after each urgent entry.
func (n *Node) reports(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.beats.report:
			n.etcd.Report(ctx, n.self()) // after an error, the author of the entry removes the key
		}
	}
}

// leave gives up the key and the duties of this node.
func (n *Node) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := n.etcd.Leave(ctx); err != nil {
		n.options.Log("leave the cluster", err)
	}
}
