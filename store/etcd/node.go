package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Lease identifies a node while it is in contact with etcd.
type Lease int64

// Node is what a node says of itself.
type Node struct {
	Lease   Lease  `json:"-"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Applied uint64 `json:"applied"` // number of the last entry that it has applied
	Sealed  []byte `json:"sealed"`  // sealed summary, at most 4 KiB
}

// Limits of nodes.
const (
	leaseSeconds = 10
	mostSummary  = 4 << 10
)

func (n *Node) encode() (string, error) {
	if len(n.Sealed) > mostSummary {
		return "", errors.New("the summary of a node has at most 4 KiB")
	}
	text, err := json.Marshal(n)
	return string(text), err
}

func (l *Log) nodeKey(lease Lease) string { return l.key("node/" + leaseText(lease)) }

func leaseText(lease Lease) string { return strconv.FormatUint(uint64(lease), 16) }

func parseLease(text string) (Lease, error) {
	n, err := strconv.ParseUint(text, 16, 64)
	return Lease(n), err
}

func (l *Log) node(kv *mvccpb.KeyValue) (n *Node, err error) {
	n = &Node{}
	if err := json.Unmarshal(kv.Value, n); err != nil {
		return nil, fmt.Errorf("node %s: %w", kv.Key, err)
	}
	n.Lease, err = parseLease(strings.TrimPrefix(string(kv.Key), l.key("node/")))
	return n, err
}

// Lease returns the lease of this node; 0 if it has none.
func (l *Log) Lease() Lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lease
}

func (l *Log) setLease(lease Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lease = lease
}

// grant returns a new lease.
func (l *Log) grant(ctx context.Context, seconds int64) (lease Lease, err error) {
	err = call(ctx, func(ctx context.Context) error {
		granted, err := l.client.Grant(ctx, seconds)
		if err == nil {
			lease = Lease(granted.ID)
		}
		return err
	})
	return lease, err
}

// Join gives this node a new lease, and writes its key. The lease ends 10 seconds after the last call
// of Join or Renew. After an error, the lease that it returns may have a key: see End.
func (l *Log) Join(ctx context.Context, n Node) (Lease, error) {
	value, err := n.encode()
	if err != nil {
		return 0, err
	}
	lease, err := l.grant(ctx, leaseSeconds)
	if err != nil {
		return 0, err
	}
	if _, err := l.write(ctx, transaction{
		then: []clientv3.Op{clientv3.OpPut(l.nodeKey(lease), value, clientv3.WithLease(clientv3.LeaseID(lease)))},
	}); err != nil {
		return lease, err
	}
	l.setLease(lease)
	return lease, nil
}

// End ends the lease of a node that does not run any more, and with it its key and its duties.
func (l *Log) End(ctx context.Context, lease Lease) error {
	a, err := l.read(ctx, clientv3.OpGet(l.nodeKey(lease), clientv3.WithCountOnly()))
	if err != nil || a.Responses[0].GetResponseRange().Count == 0 { // a lease without the key may be that of another program
		return err
	}
	return l.revoke(ctx, lease)
}

func (l *Log) revoke(ctx context.Context, lease Lease) error {
	err := call(ctx, func(ctx context.Context) error {
		_, err := l.client.Revoke(ctx, clientv3.LeaseID(lease))
		return err
	})
	if errors.Is(err, ErrLease) {
		err = nil
	}
	return err
}

// Renew prolongs the lease of this node. ErrLease says that it has ended: Join gives it a new one.
func (l *Log) Renew(ctx context.Context) error {
	return call(ctx, func(ctx context.Context) error {
		_, err := l.client.KeepAliveOnce(ctx, clientv3.LeaseID(l.Lease()))
		return err
	})
}

// Report replaces the key of this node. ErrLease says that its lease has ended, or that another node
// has removed the key: this node must not serve until it has joined again.
func (l *Log) Report(ctx context.Context, n Node) error {
	value, err := n.encode()
	if err != nil {
		return err
	}
	lease := l.Lease()
	key := l.nodeKey(lease)
	a, err := l.write(ctx, transaction{
		when: []clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(key), ">", 0)},
		then: []clientv3.Op{clientv3.OpPut(key, value, clientv3.WithLease(clientv3.LeaseID(lease)))},
	})
	if err == nil && !a.Succeeded {
		err = ErrLease
	}
	return err
}

// Leave ends the lease of this node, and with it its key and its duties.
func (l *Log) Leave(ctx context.Context) error {
	lease := l.Lease()
	if lease == 0 {
		return nil
	}
	err := l.revoke(ctx, lease)
	if err == nil {
		l.setLease(0)
	}
	return err
}

// Nodes returns the nodes that have a key, in the order of their leases, as it is when it is called or
// later.
func (l *Log) Nodes(ctx context.Context) (all []*Node, err error) {
	a, err := l.read(ctx, clientv3.OpGet(l.key("node/"), clientv3.WithPrefix()))
	if err != nil {
		return nil, err
	}
	if _, err := l.leases(a, 0); err != nil {
		return nil, err
	}
	for _, kv := range a.values(0) {
		n, err := l.node(kv)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}
