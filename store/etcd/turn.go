package etcd

import (
	"context"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Turn is what a node asks of the others: to let it append first. It is advice: entries that are added all the same
// do no harm.
type Turn struct {
	Lease    Lease // lease of the node
	Seconds  int64 // time to wait from when another node learns of it; 0 if it is over
	Revision int64 // revision of etcd: the turn with the lower one comes first
}

// Keys of turns are among those that From watches, so that a turn is over for others when they have the entry with
// which it ends. They have no lease, because a transaction that adds an entry fails with a lease that has ended.
// Trim deletes them.
func (l *Log) turns() string { return l.prefix + "hold/" }

func (l *Log) afterTurns() string { return l.prefix + "hold0" }

func (l *Log) setTurn(seconds int64) clientv3.Op {
	return clientv3.OpPut(l.turns()+leaseText(l.Lease()), strconv.FormatInt(seconds, 10))
}

// SetTurn asks the other nodes to let this one append first, for some seconds or until an entry whose EndTurn is
// set; with 0, it ends that. An entry that sets AskTurn asks without another request. Those learn of it that
// follow the log, see Options.Turn.
func (l *Log) SetTurn(ctx context.Context, seconds int64) error {
	_, err := l.write(ctx, transaction{then: []clientv3.Op{l.setTurn(seconds)}})
	return err
}

// turn decodes a turn; ok is false for other keys, and for what cannot be read, which is no advice.
func (l *Log) turn(kv *mvccpb.KeyValue) (t Turn, ok bool) {
	holder, ok := strings.CutPrefix(string(kv.Key), l.turns())
	if !ok {
		return t, false
	}
	lease, err := parseLease(holder)
	seconds, wrong := strconv.ParseInt(string(kv.Value), 10, 64)
	return Turn{lease, seconds, kv.ModRevision}, err == nil && wrong == nil
}
