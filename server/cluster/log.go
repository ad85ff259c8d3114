package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
	bytes   atomic.Int64 // size of the entries that were received

	mu      sync.Mutex
	last    uint64                    // highest number of an entry that was seen in the log
	turns   map[etcd.Lease]othersTurn // turns of other nodes
	mine    int64                     // revision of the turn of this node; 0 for none
	changed chan struct{}             // closed and replaced when one of these changes

	// Of the writer, which alone appends.
	losses int           // appends that were lost since the last one that was won
	turn   time.Duration // last turn that this node has asked for since then; 0 for none
	until  time.Time     // end of that
}

// othersTurn is the turn of another node: this one lets it append first. Nodes that are far from etcd, or whose
// write functions take long or have much to store, would be overtaken again and again. So a node that has lost
// some times asks for its turn, each time for twice as long. Of several, the node goes first that asked first.
type othersTurn struct {
	revision int64 // see etcd.Turn
	until    time.Time
}

const (
	appendTimeout  = 10 * time.Second
	confirmTimeout = 5 * time.Second
	turnTimeout    = time.Second // limit of a request that is only about a turn
	turnLosses     = 3           // lost appends after which a node asks for its turn
	slowEntry      = 1 << 20     // size from which it asks before the first append
	firstTurn      = time.Second
	longestTurn    = 8 * time.Second
)

func newCommitLog() *commitLog {
	return &commitLog{turns: map[etcd.Lease]othersTurn{}, changed: make(chan struct{})}
}

// saw notes that the log has an entry.
func (l *commitLog) saw(number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if number > l.last {
		l.last = number
		l.wake()
	}
}

// sawTurn notes that a node asks for its turn, or that this is over.
func (l *commitLog) sawTurn(t etcd.Turn) {
	own := t.Lease == l.etcd.Lease()
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.turns, func(_ etcd.Lease, other othersTurn) bool { return time.Now().After(other.until) })
	switch {
	case own && t.Seconds > 0:
		l.mine = t.Revision
	case own:
		l.mine = 0
	case t.Seconds > 0:
		l.turns[t.Lease] = othersTurn{t.Revision, time.Now().Add(min(time.Duration(t.Seconds)*time.Second, longestTurn))}
	default:
		delete(l.turns, t.Lease)
	}
	l.wake()
}

// turnEnds notes that this node has had its turn: the change of its key in etcd may not be seen.
func (l *commitLog) turnEnds() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mine = 0
}

func (l *commitLog) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// wait lets other nodes append first whose turn it is. It returns the highest number in the log.
func (l *commitLog) wait(number uint64) uint64 {
	end := time.After(longestTurn)
	for {
		last, until, changed := l.ahead()
		if last >= number || !time.Now().Before(until) {
			return last
		}
		select {
		case <-changed:
		case <-time.After(time.Until(until)):
		case <-end:
			return last
		}
	}
}

// ahead returns the highest number in the log, the time until which other nodes go first, and a channel that is
// closed when one of these changes.
func (l *commitLog) ahead() (last uint64, until time.Time, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.turns {
		if (l.mine == 0 || t.revision < l.mine) && t.until.After(until) {
			until = t.until
		}
	}
	return l.last, until, l.changed
}

// needsTurn returns the seconds for which to ask for the turn; 0 for not now.
func (l *commitLog) needsTurn(losses int) int64 {
	if losses < turnLosses || time.Now().Before(l.until) {
		return 0
	}
	return int64(min(max(firstTurn, 2*l.turn), longestTurn) / time.Second)
}

// asked notes that this node has asked for its turn.
func (l *commitLog) asked(seconds int64) {
	if seconds > 0 {
		l.turn = time.Duration(seconds) * time.Second
		l.until = time.Now().Add(l.turn)
	}
}

// Append implements stream.CommitLog.
func (l *commitLog) Append(e stream.SealedEntry) (stream.Outcome, error) {
	last := l.wait(e.Number)
	ctx, cancel := context.WithTimeout(context.Background(), appendTimeout)
	defer cancel()
	ask := l.needsTurn(l.losses + 1)
	if len(e.Sealed) >= slowEntry && l.turn == 0 {
		l.setTurn(ctx, int64(firstTurn/time.Second))
		ask = 0
	}
	if last >= e.Number && ask == 0 {
		l.losses++
		return stream.Lost, nil
	}

	at := etcd.Position{Epoch: e.Epoch, Number: e.Number - 1, Hash: etcd.Hash(e.Prev)}
	r, err := l.etcd.Append(ctx, at, &etcd.Entry{
		Nonce:   etcd.Nonce(e.Nonce),
		Hash:    etcd.Hash(e.Hash),
		Sealed:  e.Sealed,
		Urgent:  e.Urgent,
		AskTurn: ask,
		EndTurn: l.turn > 0,
	})
	switch r.Outcome {
	case etcd.Won:
		l.losses, l.turn, l.until = 0, 0, time.Time{}
		l.turnEnds()
		l.saw(e.Number)
		return stream.Won, nil
	case etcd.Lost:
		l.losses++
		l.asked(ask)
		return stream.Lost, nil // the goroutine that follows the log finds out if err is about it
	case etcd.Refused:
		return stream.Refused, named(err)
	}
	return stream.Unknown, named(err)
}

// setTurn asks for the turn, or ends it with 0.
func (l *commitLog) setTurn(ctx context.Context, seconds int64) {
	ctx, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	if l.etcd.SetTurn(ctx, seconds) == nil {
		l.asked(seconds)
	}
}

// GiveUp implements stream.CommitLog.
func (l *commitLog) GiveUp() {
	if l.turn > 0 {
		l.setTurn(context.Background(), 0)
	}
	l.turnEnds()
	l.losses, l.turn, l.until = 0, 0, time.Time{}
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
