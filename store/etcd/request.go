package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// transaction is the then and else of comparisons.
type transaction struct {
	when  []clientv3.Cmp
	then  []clientv3.Op
	other []clientv3.Op
}

// answer is the answer to a transaction, and the position that was known before it was sent.
type answer struct {
	*clientv3.TxnResponse
	before Position
}

// send sends a transaction once. It reports whether it may have reached etcd and taken effect, or may
// still do so, when there is an error.
func (l *Log) send(ctx context.Context, timeout time.Duration, t transaction) (a answer, open bool, err error) {
	var sent bool
	a.before = l.position()
	ctx, cancel := context.WithTimeout(context.WithValue(clientv3.WithRequireLeader(ctx), sentKey{}, &sent), timeout)
	defer cancel()
	response, err := l.client.Txn(ctx).If(t.when...).Then(t.then...).Else(t.other...).Commit()
	if err != nil {
		err = named(err)
		return a, sent && !refused(err), err
	}
	a.TxnResponse = response
	return a, false, l.sameCluster(response.Header)
}

// sameCluster returns an error if an answer is from another etcd cluster than those before.
func (l *Log) sameCluster(h *pb.ResponseHeader) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cluster == 0 {
		l.cluster = h.ClusterId
	}
	if l.cluster != h.ClusterId {
		return fmt.Errorf("%w: its ID is %x, not %x", ErrCluster, h.ClusterId, l.cluster)
	}
	return nil
}

// values returns the values that the operation with an index read.
func (a answer) values(i int) []*mvccpb.KeyValue {
	if r := a.Responses[i].GetResponseRange(); r != nil {
		return r.Kvs
	}
	return nil
}

// value returns the value that the operation with an index read; nil if there is none.
func (a answer) value(i int) *mvccpb.KeyValue {
	if all := a.values(i); len(all) > 0 {
		return all[0]
	}
	return nil
}

// head decodes the head, and compares it with the position that was known when it was asked for:
// answers to concurrent requests may arrive in any order.
func (l *Log) head(kv *mvccpb.KeyValue, before Position) (Position, error) {
	if kv == nil {
		if before.Epoch != "" {
			return Position{}, fmt.Errorf("%w: it has no log", ErrBehind)
		}
		return Position{}, ErrNoHead
	}
	p, err := parsePosition(kv.Value)
	if err != nil {
		return Position{}, fmt.Errorf("%w: head: %w", ErrGap, err)
	}
	switch {
	case before.Epoch == "":
	case p.Epoch != before.Epoch:
		return p, fmt.Errorf("%w: %s, not %s", ErrEpoch, p.Epoch, before.Epoch)
	case p.Number < before.Number:
		return p, fmt.Errorf("%w: its last entry is %d, not %d", ErrBehind, p.Number, before.Number)
	case p.Number == before.Number && p.Hash != before.Hash:
		return p, fmt.Errorf("%w: entry %d", ErrDiverged, p.Number)
	}
	l.raise(p)
	return p, nil
}

// raise notes that the log has come to a position.
func (l *Log) raise(p Position) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known.Epoch == "" || l.known.Epoch == p.Epoch && l.known.Number < p.Number {
		l.known = p
	}
}

// repeat calls a function until it returns no error, or one that another call would return as well, or
// the time of a request is over. Each call may be answered by another member. That the one before has
// had an effect must not matter.
func repeat(ctx context.Context, attempt func(ctx context.Context, timeout time.Duration) error) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	wait, last := pause{}, error(nil)
	for n := 0; ; n++ {
		err := attempt(ctx, attemptTimeout(n))
		last = latest(ctx, last, err)
		if err == nil || hopeless(err) || errors.Is(err, ErrLease) || !wait.sleep(ctx) {
			return last
		}
	}
}

// call repeats a request of the client that is not a transaction.
func call(ctx context.Context, request func(ctx context.Context) error) error {
	return repeat(ctx, func(ctx context.Context, timeout time.Duration) error {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return named(request(ctx))
	})
}

// write repeats a transaction.
func (l *Log) write(ctx context.Context, t transaction) (a answer, err error) {
	err = repeat(ctx, func(ctx context.Context, timeout time.Duration) (err error) {
		a, _, err = l.send(ctx, timeout, t)
		return err
	})
	return a, err
}

// read repeats a transaction that only reads.
func (l *Log) read(ctx context.Context, ops ...clientv3.Op) (answer, error) {
	return l.write(ctx, transaction{then: ops})
}

// Head returns the head, as it is when it is called or later.
func (l *Log) Head(ctx context.Context) (Position, error) {
	a, err := l.read(ctx, clientv3.OpGet(l.key("head")))
	if err != nil {
		return Position{}, err
	}
	return l.head(a.value(0), a.before)
}

// attemptTimeout is how long an attempt may take. The first ones are short: while a member hangs, or
// has not noticed that the leader does, only another attempt, at another member, gets an answer. Later
// ones give a slow etcd more time.
func attemptTimeout(attempt int) time.Duration {
	const short, first, most = 4, 500 * time.Millisecond, 4 * time.Second
	return min(first<<min(max(attempt-short+1, 0), 8), most)
}

// pause is the wait between attempts, which grows.
type pause struct{ next time.Duration }

const (
	firstPause = 20 * time.Millisecond
	mostPause  = 500 * time.Millisecond
)

// sleep waits. It reports false if the context has ended.
func (p *pause) sleep(ctx context.Context) bool {
	p.next = min(max(2*p.next, firstPause), mostPause)
	t := time.NewTimer(p.next)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// latest returns the error to report after an attempt: the one before if the last attempt had no time.
func latest(ctx context.Context, before, err error) error {
	if ctx.Err() != nil && before != nil && errors.Is(err, ErrTimeout) {
		return before
	}
	return err
}
