package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Base names the base copy from which a node starts.
type Base struct {
	Epoch  string    `json:"epoch"`
	Number uint64    `json:"number"`      // number of the last entry in it
	Name   string    `json:"name"`        // name of the copy
	At     time.Time `json:"at,omitzero"` // time of the copy, by the clock of its node; zero if unknown
	Before uint64    `json:"before"`      // number of the base copy before it; entries up to it may be deleted
}

func (b Base) encode() string {
	text, err := json.Marshal(b)
	if err != nil {
		panic(err) // it has only strings and numbers
	}
	return string(text)
}

func parseBase(kv *mvccpb.KeyValue) (b Base, err error) {
	if kv == nil {
		return b, ErrNoHead
	}
	if err := json.Unmarshal(kv.Value, &b); err != nil {
		return b, fmt.Errorf("%w: base: %w", ErrGap, err)
	}
	return b, nil
}

// Base returns the base copy, and the head at the same time.
func (l *Log) Base(ctx context.Context) (Base, Position, error) {
	b, h, _, err := l.base(ctx)
	return b, h, err
}

func (l *Log) base(ctx context.Context) (b Base, h Position, revision int64, err error) {
	a, err := l.read(ctx, clientv3.OpGet(l.key("head")), clientv3.OpGet(l.key("base")))
	if err != nil {
		return b, h, 0, err
	}
	if h, err = l.head(a.value(0), a.before); err != nil {
		return b, h, 0, err
	}
	if b, err = parseBase(a.value(1)); err != nil {
		return b, h, 0, err
	}
	if b.Epoch != h.Epoch {
		return b, h, 0, fmt.Errorf("%w: the base copy is of %s", ErrEpoch, b.Epoch)
	}
	return b, h, a.value(1).ModRevision, nil
}

// ErrOldBase is the error for a base copy that is not newer than the one there is.
var ErrOldBase = errors.New("there is a newer base copy")

// SetBase makes a copy the one that nodes start from, if it is newer than the one there is. After an
// error it can be called again.
func (l *Log) SetBase(ctx context.Context, b Base) error {
	old, head, revision, err := l.base(ctx)
	switch {
	case err != nil:
		return err
	case b.Epoch != head.Epoch:
		return fmt.Errorf("%w: %s", ErrEpoch, head.Epoch)
	case b.Number > head.Number:
		return fmt.Errorf("%w: the copy has entry %d", ErrBehind, b.Number)
	case old.Name == b.Name && old.Number == b.Number:
		return nil
	case b.Number <= old.Number:
		return ErrOldBase
	}
	b.Before = old.Number
	a, err := l.write(ctx, transaction{
		when:  []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(l.key("base")), "=", revision)},
		then:  []clientv3.Op{clientv3.OpPut(l.key("base"), b.encode())},
		other: []clientv3.Op{clientv3.OpGet(l.key("base"))},
	})
	if err == nil && !a.Succeeded && (a.value(0) == nil || string(a.value(0).Value) != b.encode()) {
		err = ErrOldBase
	}
	return err
}

// ErrNoCompaction is the error for entries that were deleted, of which etcd keeps the history.
var ErrNoCompaction = errors.New("the user of etcd may not let it forget old revisions: " +
	"give it the role root, or start etcd with --auto-compaction-retention")

// trimEntries is the most numbers whose entries one transaction deletes: etcd answers nothing else
// while it does so.
const trimEntries = 2000

// Trim deletes the entries up to the base copy before the last one, and lets etcd forget them. Each
// transaction deletes the oldest ones, and only while the base copy is the same. After an error it can
// be called again. ErrNoCompaction says that entries were deleted and that their space is not free.
func (l *Log) Trim(ctx context.Context) error {
	b, _, revision, err := l.base(ctx)
	if err != nil {
		return err
	}
	end := clientv3.WithRange(l.entryKey(b.Epoch, b.Before+1))
	compacted := int64(0)
	for {
		a, err := l.read(ctx, clientv3.OpGet(l.logOf(b.Epoch), end, clientv3.WithLimit(1), clientv3.WithKeysOnly()))
		if err != nil {
			return err
		}
		if a.value(0) == nil {
			return l.compact(ctx, compacted)
		}
		first, err := l.numberOf(b.Epoch, a.value(0).Key)
		if err != nil {
			return err
		}
		to := min(first+trimEntries, b.Before+1)
		a, err = l.write(ctx, transaction{
			when: []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(l.key("base")), "=", revision)},
			then: []clientv3.Op{
				clientv3.OpDelete(l.logOf(b.Epoch), clientv3.WithRange(l.entryKey(b.Epoch, to))),
				clientv3.OpDelete(l.partsOf(b.Epoch), clientv3.WithRange(l.partsBefore(b.Epoch, to))),
				clientv3.OpDelete(l.turns(), clientv3.WithRange(l.afterTurns())),
			},
		})
		switch {
		case err != nil:
			return err
		case !a.Succeeded:
			return ErrOldBase
		}
		compacted = a.Header.Revision
	}
}

// Forget lets etcd forget all old revisions, which the keys of nodes leave even if there are no entries. It
// is called while there is nothing to trim.
func (l *Log) Forget(ctx context.Context) error {
	a, err := l.read(ctx, clientv3.OpGet(l.key("head")))
	if err != nil {
		return err
	}
	return l.compact(ctx, a.Header.Revision)
}

// compact lets etcd forget what was before a revision; 0 for nothing.
func (l *Log) compact(ctx context.Context, revision int64) error {
	if revision == 0 {
		return nil
	}
	err := call(ctx, func(ctx context.Context) error {
		_, err := l.client.Compact(ctx, revision)
		if errors.Is(err, rpctypes.ErrCompacted) {
			return nil // another node has, or etcd by itself
		}
		return err
	})
	if errors.Is(err, ErrPermission) {
		return ErrNoCompaction
	}
	return err
}
