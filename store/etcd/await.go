package etcd

import (
	"context"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Times of Await. A node serves for at most a second after it has sent a Beat whose answer had its key.
const (
	expelAfter = 500 * time.Millisecond  // after which a node that lacks an entry loses its key
	gonePeriod = 1500 * time.Millisecond // after which a node whose key is missing does not serve
	mostPoll   = 25 * time.Millisecond
)

// presence is which nodes have a key, and which had one a moment ago.
type presence struct {
	revision int64 // revision of etcd of the newest answer that listed them
	there    map[Lease]bool
	gone     map[Lease]time.Time // time at which a key was first seen missing
}

// see notes which nodes have a key at a revision of etcd.
func (p *presence) see(revision int64, there map[Lease]bool, now time.Time) {
	if revision < p.revision {
		return // answers to concurrent requests may arrive in any order
	}
	if p.gone == nil {
		p.gone = map[Lease]time.Time{}
	}
	for lease, since := range p.gone {
		if now.Sub(since) > gonePeriod {
			delete(p.gone, lease)
		}
	}
	for lease := range p.there {
		if !there[lease] {
			p.gone[lease] = now
		}
	}
	p.revision, p.there = revision, there
}

// leases returns the leases of the node keys that the operation with an index read, and notes them.
func (l *Log) leases(a answer, i int) (all []Lease, err error) {
	there := map[Lease]bool{}
	for _, kv := range a.values(i) {
		lease, err := parseLease(strings.TrimPrefix(string(kv.Key), l.key("node/")))
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", kv.Key, err)
		}
		all, there[lease] = append(all, lease), true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nodes.see(a.Header.Revision, there, time.Now())
	return all, nil
}

// leaving reports whether another node lost its key so recently that it may still serve.
func (l *Log) leaving() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for lease, since := range l.nodes.gone {
		if lease != l.lease && time.Since(since) <= gonePeriod {
			return true
		}
	}
	return false
}

// Await returns when no other node serves without an entry: each that has a key has reported the entry,
// and those that lost theirs have noticed. A node that does not report it within half a second is
// expelled, so that one that hangs takes two seconds. Which nodes there were, it knows from the answers
// to Beat, Nodes and itself: call Beat every 250 ms.
func (l *Log) Await(ctx context.Context, number uint64) error {
	begun, poll := time.Now(), time.Millisecond
	for {
		nodes, err := l.Nodes(ctx)
		if err != nil {
			return err
		}
		lacking, own := false, l.Lease()
		for _, n := range nodes {
			if n.Lease == own || n.Applied >= number {
				continue
			}
			lacking = true
			if time.Since(begun) < expelAfter {
				continue
			}
			if err := l.Expel(ctx, n); err != nil {
				return err
			}
		}
		if !lacking && !l.leaving() {
			return nil
		}

		poll = min(2*poll, mostPoll)
		select {
		case <-ctx.Done():
			return named(ctx.Err())
		case <-time.After(poll):
		}
	}
}

// Expel removes the key of a node, unless the node has written it since Nodes returned it. The node
// finds it missing with its next Beat.
func (l *Log) Expel(ctx context.Context, n *Node) error {
	key := l.nodeKey(n.Lease)
	_, err := l.write(ctx, transaction{
		when: []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(key), "=", n.revision)},
		then: []clientv3.Op{clientv3.OpDelete(key)},
	})
	return err
}
