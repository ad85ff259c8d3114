package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Beat is the state of the cluster at one moment.
type Beat struct {
	Head  Position
	Node  *Node   // value of the key of this node; nil if the key is missing: this node must not serve
	Duty  Lease   // lease of the node that has the duties; 0 if none has
	Turn  *Turn   // turn of another node; nil if there is none
	Nodes []Lease // leases of the nodes that have a key, this one among them
}

// Beat asks etcd for the state of the cluster. The answer is not older than the call. It takes at most
// a second, and asks another member in this time. Start a call every 250 ms, also while others wait.
func (l *Log) Beat(ctx context.Context) (b Beat, err error) {
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	ask := transaction{then: []clientv3.Op{
		clientv3.OpGet(l.key("head")),
		clientv3.OpGet(l.nodeKey(l.Lease())),
		clientv3.OpGet(l.key("duty")),
		clientv3.OpGet(l.key("turn")),
		clientv3.OpGet(l.key("node/"), clientv3.WithPrefix(), clientv3.WithKeysOnly()),
	}}
	a, _, err := l.send(ctx, beatAttempt, ask)
	if errors.Is(err, ErrTimeout) && ctx.Err() == nil {
		a, _, err = l.send(ctx, beatTimeout, ask)
	}
	if err != nil {
		return b, err
	}
	if b.Nodes, err = l.leases(a, 4); err != nil {
		return b, err
	}
	if b.Head, err = l.head(a.value(0), a.before); err != nil {
		return b, err
	}
	if kv := a.value(1); kv != nil {
		if b.Node, err = l.node(kv); err != nil {
			return b, err
		}
	}
	if kv := a.value(2); kv != nil {
		if b.Duty, err = parseLease(string(kv.Value)); err != nil {
			return b, fmt.Errorf("duty: %w", err)
		}
	}
	b.Turn = l.turn(a.value(3))
	return b, nil
}

// TakeDuty gives the duties to this node if no other has them, until its lease ends or it leaves them.
// It returns the lease of the node that has them.
func (l *Log) TakeDuty(ctx context.Context) (Lease, error) {
	lease, key := l.Lease(), l.key("duty")
	a, err := l.write(ctx, transaction{
		when: []clientv3.Cmp{
			clientv3.Compare(clientv3.CreateRevision(key), "=", 0),
			clientv3.Compare(clientv3.CreateRevision(l.nodeKey(lease)), ">", 0),
		},
		then:  []clientv3.Op{clientv3.OpPut(key, leaseText(lease), clientv3.WithLease(clientv3.LeaseID(lease)))},
		other: []clientv3.Op{clientv3.OpGet(key)},
	})
	switch {
	case err != nil:
		return 0, err
	case a.Succeeded:
		return lease, nil
	case a.value(0) == nil:
		return 0, ErrLease
	}
	return parseLease(string(a.value(0).Value))
}

// LeaveDuty gives the duties up, if this node has them.
func (l *Log) LeaveDuty(ctx context.Context) error {
	key := l.key("duty")
	_, err := l.write(ctx, transaction{
		when: []clientv3.Cmp{clientv3.Compare(clientv3.Value(key), "=", leaseText(l.Lease()))},
		then: []clientv3.Op{clientv3.OpDelete(key)},
	})
	return err
}

// Turn asks other nodes to let a node append first. It is advice: entries that are added all the same
// do no harm.
type Turn struct {
	Lease    Lease // lease of the node
	Seconds  int64 // duration without an entry
	Revision int64 // revision of etcd at which it was taken: tells two turns of one node apart
}

// TakeTurn asks the other nodes to let this one append first for some seconds, unless another one has asked
// already: an entry whose EndTurn is set ends it. It reports whether this node has the turn. An etcd makes
// leases shorter than one and a half times its election timeout as long as that.
func (l *Log) TakeTurn(ctx context.Context, seconds int64) (bool, error) {
	if l.Lease() == 0 {
		return false, ErrLease
	}
	lease, err := l.grant(ctx, seconds)
	if err != nil {
		return false, err
	}
	key, mine := l.key("turn"), leaseText(l.Lease())+" "
	a, err := l.write(ctx, transaction{
		when:  []clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(key), "=", 0)},
		then:  []clientv3.Op{clientv3.OpPut(key, fmt.Sprint(mine, seconds), clientv3.WithLease(clientv3.LeaseID(lease)))},
		other: []clientv3.Op{clientv3.OpGet(key)},
	})
	if err != nil || a.Succeeded {
		return err == nil, err
	}
	return a.value(0) != nil && strings.HasPrefix(string(a.value(0).Value), mine), nil
}

// Turn returns the turn of another node; nil if there is none.
func (l *Log) Turn(ctx context.Context) (*Turn, error) {
	a, err := l.read(ctx, clientv3.OpGet(l.key("turn")))
	if err != nil {
		return nil, err
	}
	return l.turn(a.value(0)), nil
}

// turn decodes the turn of another node.
func (l *Log) turn(kv *mvccpb.KeyValue) *Turn {
	if kv == nil {
		return nil
	}
	holder, duration, _ := strings.Cut(string(kv.Value), " ")
	lease, err := parseLease(holder)
	seconds, wrong := strconv.ParseInt(duration, 10, 64)
	if err != nil || wrong != nil || lease == l.Lease() {
		return nil // of this node; one that cannot be read is no advice
	}
	return &Turn{lease, seconds, kv.ModRevision}
}
