package etcd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Times of Await. A node serves for at most a second after it has sent a Beat whose answer had its key and
// no entry that it lacks.
const (
	gonePeriod = 1500 * time.Millisecond // after which a node does not serve that has no key, or lacks an entry
	mostPoll   = 25 * time.Millisecond
)

// presence is which nodes have a key, and which had one a moment ago.
type presence struct {
	begun    time.Time // time of the first answer that listed them; zero before it
	revision int64     // revision of etcd of the newest answer that listed them
	there    map[Lease]bool
	gone     map[Lease]time.Time // time at which a key was first seen missing
}

// see notes which nodes have a key at a revision of etcd.
func (p *presence) see(revision int64, there map[Lease]bool, now time.Time) {
	if revision < p.revision {
		return // answers to concurrent requests may arrive in any order
	}
	if p.gone == nil {
		p.begun, p.gone = now, map[Lease]time.Time{}
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

// leaving reports whether another node lost its key so recently that it may still serve. What was lost before the first
// answer is unknown.
func (l *Log) leaving() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.nodes.begun) <= gonePeriod {
		return true
	}
	for lease, since := range l.nodes.gone {
		if lease != l.lease && time.Since(since) <= gonePeriod {
			return true
		}
	}
	return false
}

// Await returns when no other node serves without an entry that was in the log before the call: each that
// has a key has reported the entry, and those that lost theirs have noticed; or after one and a half
// seconds, when answers to Beat from before the entry count no more. Which nodes there were, it knows from
// the answers to Beat, Nodes and itself: call Beat every 250 ms.
func (l *Log) Await(ctx context.Context, number uint64) error {
	begun, poll := time.Now(), time.Millisecond
	for time.Since(begun) < gonePeriod {
		nodes, err := l.Nodes(ctx)
		if err != nil {
			return err
		}
		own := l.Lease()
		lacking := slices.ContainsFunc(nodes, func(n *Node) bool { return n.Lease != own && n.Applied < number })
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
	return nil
}
