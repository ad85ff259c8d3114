package etcd

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Beat is the state of the cluster at one moment.
type Beat struct {
	Head  Position
	Node  *Node   // value of the key of this node; nil if the key is missing: this node must not serve
	Duty  Lease   // lease of the node that has the duties; 0 if none has
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
		clientv3.OpGet(l.key("node/"), clientv3.WithPrefix(), clientv3.WithKeysOnly()),
	}}
	a, _, err := l.send(ctx, beatAttempt, ask)
	if errors.Is(err, ErrTimeout) && ctx.Err() == nil {
		a, _, err = l.send(ctx, beatTimeout, ask)
	}
	if err != nil {
		return b, err
	}
	if b.Nodes, err = l.leases(a, 3); err != nil {
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
