package kv

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"reeve/store/errs"
	"reeve/store/stream"
)

// A client that has written at one process reads at another one what it has written, when its request
// waits there for the position of the write.

// awaited are the positions for which callers wait. The writer looks at lowest only, unless it has
// reached it.
type awaited struct {
	lowest atomic.Uint64 // lowest number in waits; math.MaxUint64 for none

	mu    sync.Mutex
	waits []*wait
}

type wait struct {
	number  uint64
	reached chan struct{} // closed when the number is reached
}

func newAwaited() *awaited {
	a := &awaited{}
	a.lowest.Store(math.MaxUint64)
	return a
}

// add begins to wait for a number. The caller must look afterwards whether it was reached before.
func (a *awaited) add(number uint64) *wait {
	w := &wait{number, make(chan struct{})}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waits = append(a.waits, w)
	a.lowest.Store(min(number, a.lowest.Load()))
	return w
}

// remove ends waits.
func (a *awaited) remove(ends func(*wait) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	lowest := uint64(math.MaxUint64)
	a.waits = slices.DeleteFunc(a.waits, func(w *wait) bool {
		if ends(w) {
			return true
		}
		lowest = min(lowest, w.number)
		return false
	})
	a.lowest.Store(lowest)
}

// passed wakes the callers that wait for a number or a lower one.
func (a *awaited) passed(number uint64) {
	if number < a.lowest.Load() {
		return
	}
	a.remove(func(w *wait) bool {
		if w.number > number {
			return false
		}
		close(w.reached)
		return true
	})
}

// reached records that everyone can see the records at a position.
func (s *commitLog) reached(at stream.Head) {
	s.at.Store(&at)
	s.awaited.passed(at.Number)
}

// position returns the position of the last entry that is visible.
func (s *commitLog) position() (at stream.Head) {
	if now := s.at.Load(); now != nil {
		at = *now
	}
	return at
}

// CommitPosition returns epoch and number of the last entry of the log of commits that all reads see; ok is
// false without a log. It is that of the caller's last write, or a later one.
func (db *DB) CommitPosition() (epoch string, number uint64, ok bool) {
	if db.commits == nil {
		return "", 0, false
	}
	at := db.commits.position()
	return at.Epoch, at.Number, at.Epoch != ""
}

// CommitPosition is DB.CommitPosition for what the transaction reads: a caller that waits for it reads the same, or
// later commits.
func (tx *Tx) CommitPosition() (epoch string, number uint64, ok bool) {
	if tx.db.commits == nil {
		return "", 0, false
	}
	head, err := tx.streamHead()
	return head.Epoch, head.Number, err == nil && head.Epoch != ""
}

// WaitForCommit waits until all reads see the entry at a position. It returns at once for a position of
// another epoch, and without a log of commits. The error wraps that of ctx if it ends first.
func (db *DB) WaitForCommit(ctx context.Context, epoch string, number uint64) error {
	s := db.commits
	if s == nil {
		return nil
	}
	if at := s.position(); at.Epoch != epoch || at.Number >= number {
		return nil
	}
	w := s.awaited.add(number)
	s.awaited.passed(s.position().Number) // it may have been reached since
	var err error
	select {
	case <-w.reached:
		return nil
	case <-s.ended:
		err = s.refused.Load()
	case <-ctx.Done():
		err = fmt.Errorf("entry %d of the log of commits was not applied in time: %w", number, ctx.Err())
	}
	s.awaited.remove(func(other *wait) bool { return other == w })
	return err
}

// WaitForLatest waits until all reads see every commit that any process has finished before the call. The
// error wraps that of ctx if it ends first. Callers at the same time share one question to the log.
func (db *DB) WaitForLatest(ctx context.Context) error {
	s := db.commits
	if s == nil {
		return nil
	}
	head, err := s.heads.ask(ctx, s.Log)
	switch {
	case err != nil && errors.Is(err, ctx.Err()):
		return fmt.Errorf("the log of commits did not answer in time: %w", err)
	case err != nil:
		return errs.New(errs.Busy, "this node can't reach the log of commits, so it can't tell what is the latest; try again, or at another node").
			Coded("out_of_contact").Because(err)
	case head.Epoch != s.position().Epoch:
		return fmt.Errorf("%w: the log is of the epoch %s", ErrOtherCopy, head.Epoch)
	}
	return db.WaitForCommit(ctx, head.Epoch, head.Number)
}

// headQuestions asks a log for its head, one question at a time.
type headQuestions struct {
	turn  chan struct{} // semaphore for the fields below
	begun atomic.Uint64 // questions that were begun

	answered uint64 // number of the last question that has an answer
	head     stream.Head
	err      error
}

// ask returns the answer to a question that began after the call. Callers that wait for their turn at the
// same time need two questions together.
func (q *headQuestions) ask(ctx context.Context, log stream.CommitLog) (stream.Head, error) {
	before := q.begun.Load()
	select {
	case q.turn <- struct{}{}:
		defer func() { <-q.turn }()
	case <-ctx.Done():
		return stream.Head{}, ctx.Err()
	}
	if q.answered > before {
		return q.head, q.err
	}
	number := q.begun.Add(1)
	head, err := log.Head(ctx)
	if err == nil || ctx.Err() == nil { // otherwise it failed because this caller has no time left
		q.answered, q.head, q.err = number, head, err
	}
	return head, err
}
