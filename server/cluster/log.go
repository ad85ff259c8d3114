package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"reeve/store/etcd"
	"reeve/store/stream"
)

// commitLog is a stream.CommitLog in etcd. It knows the revisions at which the last entries were written,
// which an append compares.
type commitLog struct {
	etcd    *etcd.Log
	applied func(number uint64) // see stream.CommitLog
	confirm func(number uint64)

	mu    sync.Mutex
	heads map[uint64]etcd.Head // of the last entries, by number
	last  uint64               // highest number in heads
	grown chan struct{}        // closed and replaced when last grows
	bytes atomic.Int64         // size of the entries that were received

	// Of the writer, which alone appends.
	turn   *etcd.Turn // turn of another node; nil for none
	losses int        // appends that were lost since the last one that was won
	mine   bool       // whether this node has asked the others to wait
}

const (
	appendTimeout = 10 * time.Second
	turnTime      = time.Second // time for which a node lets another one append first
	turnLosses    = 3           // lost appends after which a node asks the others to wait
	headsKept     = 4096
)

func newCommitLog(log *etcd.Log) *commitLog {
	return &commitLog{etcd: log, heads: map[uint64]etcd.Head{}, grown: make(chan struct{})}
}

// note notes the position of an entry.
func (l *commitLog) note(h etcd.Head) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heads[h.Number] = h
	if h.Number <= l.last {
		return
	}
	if len(l.heads) > headsKept {
		for n := range l.heads {
			if n+headsKept/2 < h.Number {
				delete(l.heads, n)
			}
		}
	}
	l.last = h.Number
	close(l.grown)
	l.grown = make(chan struct{})
}

// known returns the position of an entry, the last number, and a channel that is closed when there is a
// later one.
func (l *commitLog) known(number uint64) (at etcd.Head, ok bool, last uint64, grown <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok = l.heads[number]
	return at, ok, l.last, l.grown
}

// Append implements stream.CommitLog.
func (l *commitLog) Append(e stream.SealedEntry) (stream.Outcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), appendTimeout)
	defer cancel()
	at, ok, last, grown := l.known(e.Number - 1)
	if l.turn != nil && last < e.Number {
		select {
		case <-grown:
		case <-time.After(turnTime):
		}
		l.turn = nil
		at, ok, last, _ = l.known(e.Number - 1)
	}
	if last >= e.Number {
		l.losses++
		return stream.Lost, nil
	}
	if !ok {
		head, err := l.etcd.Head(ctx)
		if err != nil {
			return stream.Refused, named(err)
		}
		l.note(head)
		if at = head; head.Number != e.Number-1 {
			return stream.Lost, nil
		}
	}
	if l.losses >= turnLosses && !l.mine {
		l.mine, _ = l.etcd.TakeTurn(ctx) // it is only advice
	}

	r, err := l.etcd.Append(ctx, at, &etcd.Entry{
		Nonce:   etcd.Nonce(e.Nonce),
		Hash:    etcd.Hash(e.Hash),
		Sealed:  e.Sealed,
		Urgent:  e.Urgent,
		EndTurn: l.mine,
	})
	l.turn = r.Turn
	switch r.Outcome {
	case etcd.Won:
		l.losses, l.mine = 0, false
		l.note(r.Head)
		return stream.Won, nil
	case etcd.Lost:
		l.losses++
		if r.Next != nil {
			l.note(r.Next.Head(e.Epoch))
		}
		return stream.Lost, nil // the goroutine that follows the log finds out if err is about it
	case etcd.Refused:
		return stream.Refused, named(err)
	}
	return stream.Unknown, named(err)
}

// Head implements stream.CommitLog.
func (l *commitLog) Head(ctx context.Context) (stream.Head, error) {
	head, err := l.etcd.Head(ctx)
	if err != nil {
		return stream.Head{}, named(err)
	}
	l.note(head)
	return stream.Head{Epoch: head.Epoch, Number: head.Number, Hash: stream.Hash(head.Hash)}, nil
}

// Follow implements stream.CommitLog.
func (l *commitLog) Follow(ctx context.Context, after stream.Head, yield func(stream.SealedEntry) error) error {
	at := positionOf(after)
	return named(l.etcd.From(ctx, at, func(all []*etcd.Entry) error {
		for _, e := range all {
			l.note(e.Head(at.Epoch))
			l.bytes.Add(int64(len(e.Sealed)))
			err := yield(stream.SealedEntry{
				Epoch:  at.Epoch,
				Number: e.Number,
				Hash:   stream.Hash(e.Hash),
				Nonce:  e.Nonce[:],
				Sealed: e.Sealed,
				Urgent: e.Urgent,
			})
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

func positionOf(h stream.Head) etcd.Position {
	return etcd.Position{Epoch: h.Epoch, Number: h.Number, Hash: etcd.Hash(h.Hash)}
}

// named adds the error of package stream to an error of etcd.
func named(err error) error {
	is := func(all ...error) bool {
		for _, one := range all {
			if errors.Is(err, one) {
				return true
			}
		}
		return false
	}
	switch {
	case err == nil:
		return nil
	case is(etcd.ErrTrimmed, etcd.ErrEpoch, etcd.ErrDiverged, etcd.ErrGap):
		return fmt.Errorf("%w: %w", stream.ErrNeedsCopy, err)
	case is(etcd.ErrBehind, etcd.ErrCluster, etcd.ErrNoHead):
		return fmt.Errorf("%w: %w", stream.ErrSetBack, err)
	case is(etcd.ErrTooLarge):
		return fmt.Errorf("%w: %w", stream.ErrEntryTooLarge, err)
	}
	return err
}

// Applied implements stream.CommitLog.
func (l *commitLog) Applied(number uint64) {
	if l.applied != nil {
		l.applied(number)
	}
}

// Confirm implements stream.CommitLog.
func (l *commitLog) Confirm(number uint64) {
	if l.confirm != nil {
		l.confirm(number)
	}
}
