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

// commitLog is a stream.CommitLog in etcd.
type commitLog struct {
	etcd    *etcd.Log
	applied func(number uint64) // see stream.CommitLog
	confirm func(ctx context.Context, number uint64) error

	mu    sync.Mutex
	last  uint64        // highest number of an entry that was seen in the log
	grown chan struct{} // closed and replaced when last grows
	bytes atomic.Int64  // size of the entries that were received

	// Of the writer, which alone appends.
	turn   *etcd.Turn // turn of another node; nil for none
	yields time.Time  // end of the time for which this node lets that one append first
	passed bool       // whether there was an entry since then
	losses int        // appends that were lost since the last one that was won
	mine   myTurn
}

const (
	appendTimeout  = 10 * time.Second
	confirmTimeout = 5 * time.Second
	turnLosses     = 3       // lost appends after which a node asks the others to wait
	slowEntry      = 1 << 20 // size from which it asks before the first append
	longestTurn    = 8       // seconds
)

func newCommitLog(log *etcd.Log) *commitLog {
	return &commitLog{etcd: log, grown: make(chan struct{})}
}

// saw notes that the log has an entry.
func (l *commitLog) saw(number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if number > l.last {
		l.last = number
		close(l.grown)
		l.grown = make(chan struct{})
	}
}

// seen returns the highest number that was seen, and a channel that is closed when there is a higher one.
func (l *commitLog) seen() (last uint64, grown <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last, l.grown
}

// myTurn is the time for which this node has asked the others to wait. Write functions that take long, or that
// have much to store, are overtaken again and again otherwise. Each time is twice as long as the one before.
type myTurn struct {
	seconds int64 // the last one; 0 for none since an append that was won
	until   time.Time
}

// takeTurn asks the others to wait, unless they do.
func (l *commitLog) takeTurn(ctx context.Context) {
	if time.Now().Before(l.mine.until) {
		return
	}
	seconds := min(max(1, 2*l.mine.seconds), longestTurn)
	if has, _ := l.etcd.TakeTurn(ctx, seconds); has { // it is only advice
		l.mine = myTurn{seconds, time.Now().Add(time.Duration(seconds) * time.Second)}
	}
}

// sawTurn notes the turn of another node that an answer has; nil for none.
func (l *commitLog) sawTurn(t *etcd.Turn) {
	if t != nil && (l.turn == nil || l.turn.Revision != t.Revision) {
		l.yields = time.Now().Add(time.Duration(min(t.Seconds, longestTurn)) * time.Second)
	}
	l.turn, l.passed = t, false
}

// wait lets another node append first if it has asked for that. It returns the highest number in the log.
func (l *commitLog) wait(number uint64) uint64 {
	last, grown := l.seen()
	if l.turn == nil || last >= number {
		return last
	}
	if l.passed { // the entry may have been that of a third node
		ctx, cancel := context.WithTimeout(context.Background(), time.Until(l.yields))
		t, err := l.etcd.Turn(ctx)
		if cancel(); err == nil {
			l.sawTurn(t)
		}
	}
	if l.turn != nil {
		select {
		case <-grown:
			l.passed = true
		case <-time.After(time.Until(l.yields)):
			l.turn = nil
		}
	}
	last, _ = l.seen()
	return last
}

// Append implements stream.CommitLog.
func (l *commitLog) Append(e stream.SealedEntry) (stream.Outcome, error) {
	last := l.wait(e.Number)
	ctx, cancel := context.WithTimeout(context.Background(), appendTimeout)
	defer cancel()
	if l.losses >= turnLosses || len(e.Sealed) >= slowEntry {
		l.takeTurn(ctx)
	}
	if last >= e.Number {
		l.losses++
		return stream.Lost, nil
	}

	at := etcd.Position{Epoch: e.Epoch, Number: e.Number - 1, Hash: etcd.Hash(e.Prev)}
	r, err := l.etcd.Append(ctx, at, &etcd.Entry{
		Nonce:   etcd.Nonce(e.Nonce),
		Hash:    etcd.Hash(e.Hash),
		Sealed:  e.Sealed,
		Urgent:  e.Urgent,
		EndTurn: time.Now().Before(l.mine.until),
	})
	l.sawTurn(r.Turn)
	switch r.Outcome {
	case etcd.Won:
		l.losses, l.mine = 0, myTurn{}
		l.saw(e.Number)
		return stream.Won, nil
	case etcd.Lost:
		l.losses++
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
	l.saw(head.Number)
	return stream.Head{Epoch: head.Epoch, Number: head.Number, Hash: stream.Hash(head.Hash)}, nil
}

// Follow implements stream.CommitLog.
func (l *commitLog) Follow(ctx context.Context, after stream.Head, yield func(stream.SealedEntry) error) error {
	at := positionOf(after)
	return named(l.etcd.From(ctx, at, func(e *etcd.Entry) error {
		l.saw(e.Number)
		l.bytes.Add(int64(len(e.Sealed)))
		return yield(stream.SealedEntry{
			Epoch:  at.Epoch,
			Number: e.Number,
			Prev:   stream.Hash(e.Previous),
			Hash:   stream.Hash(e.Hash),
			Nonce:  e.Nonce[:],
			Sealed: e.Sealed,
			Urgent: e.Urgent,
		})
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
	case is(etcd.ErrNoSpace):
		return fmt.Errorf("%w: %w", stream.ErrNoSpace, err)
	case is(etcd.ErrTooLarge):
		return fmt.Errorf("%w: %w", stream.ErrEntryTooLarge, err)
	}
	return err
}

// Applied implements stream.CommitLog.
func (l *commitLog) Applied(number uint64) { l.applied(number) }

// Confirm implements stream.CommitLog.
func (l *commitLog) Confirm(number uint64) {
	ctx, cancel := context.WithTimeout(context.Background(), confirmTimeout)
	defer cancel()
	for ctx.Err() == nil {
		if err := l.confirm(ctx, number); err == nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}
