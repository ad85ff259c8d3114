package etcd

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// An etcd accepts requests of 1.5 MiB unless it is told otherwise. Of an entry that is larger, the bytes are
// stored in parts before the transaction that adds it. The keys of the parts have its number: Trim deletes
// them with the entries up to that, also those of an entry that was never added.
const (
	mostInline = 1<<20 + 64<<10 // most bytes of an entry without parts
	partBytes  = 1 << 20
	mostParts  = 16
)

// MostSealed is the most bytes that an entry has.
const MostSealed = mostParts * partBytes

// partsOf is the beginning of the keys of the parts of all entries of an epoch, and afterParts the key after
// those of all epochs.
func (l *Log) partsOf(epoch string) string { return l.prefix + "part/" + epoch + "/" }

func (l *Log) afterParts() string { return l.prefix + "part0" }

// partsBefore is the key after those of the parts of entries with lower numbers.
func (l *Log) partsBefore(epoch string, number uint64) string {
	return fmt.Sprintf("%s%020d/", l.partsOf(epoch), number)
}

func (l *Log) partKey(epoch string, e *Entry, i int) string {
	return fmt.Sprintf("%s%x/%02d", l.partsBefore(epoch, e.Number), e.Nonce, i)
}

// putParts stores the parts of an entry, if it needs some.
func (l *Log) putParts(ctx context.Context, epoch string, e *Entry) error {
	for i, rest := 0, e.Sealed; i < e.parts(); i++ {
		part := rest[:min(partBytes, len(rest))]
		if _, err := l.write(ctx, transaction{then: []clientv3.Op{clientv3.OpPut(l.partKey(epoch, e, i), string(part))}}); err != nil {
			return err
		}
		rest = rest[len(part):]
	}
	return nil
}

// dropParts deletes the parts of an entry that was not added, as far as it succeeds.
func (l *Log) dropParts(ctx context.Context, epoch string, e *Entry) {
	if e.parts() > 0 {
		l.write(ctx, transaction{then: []clientv3.Op{clientv3.OpDelete(l.partKey(epoch, e, 0),
			clientv3.WithRange(l.partKey(epoch, e, mostParts)))}})
	}
}

// getParts reads the parts of an entry that was read without them.
func (l *Log) getParts(ctx context.Context, epoch string, e *Entry) error {
	for i := range e.stored {
		a, err := l.read(ctx, clientv3.OpGet(l.partKey(epoch, e, i)))
		switch {
		case err != nil:
			return err
		case a.value(0) == nil:
			return fmt.Errorf("%w: part %d of entry %d", ErrTrimmed, i+1, e.Number)
		}
		e.Sealed = append(e.Sealed, a.value(0).Value...)
	}
	e.stored = 0
	return nil
}

// parts returns the number of parts that an entry is stored in; 0 if it needs none.
func (e *Entry) parts() int {
	if len(e.Sealed) <= mostInline {
		return 0
	}
	return (len(e.Sealed) + partBytes - 1) / partBytes
}
