// Package streamtest contains a log of commits in memory, for tests.
package streamtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"reeve/store/stream"
)

// Log is a stream.CommitLog in memory. Its fields may be changed only while nothing uses it.
type Log struct {
	// Fault is called before each append; nil for never. See Fault.
	Fault func(stream.SealedEntry) Fault
	// Confirmed is called by Confirm; nil for nothing.
	Confirmed func(number uint64)
	// Delay is the time after which Follow yields an entry.
	Delay time.Duration

	mu      sync.Mutex
	epoch   string
	first   uint64 // number before that of entries[0]
	entries []stream.SealedEntry
	grown   chan struct{} // closed and replaced after each append
	cut     error         // error of all methods; nil for none
}

// Fault is what goes wrong in an append.
type Fault int

// The faults of an append.
const (
	None        Fault = iota
	LostRequest       // nothing is appended, and the outcome is unknown
	LostAnswer        // the entry is appended, and the outcome is unknown
	Forgotten         // nothing is appended, and the outcome is Won
)

var errNoAnswer = errors.New("no answer")

// New returns a log without entries.
func New(epoch string) *Log { return &Log{epoch: epoch, grown: make(chan struct{})} }

// Append implements stream.CommitLog.
func (l *Log) Append(e stream.SealedEntry) (stream.Outcome, error) {
	fault := None
	if l.Fault != nil {
		fault = l.Fault(e)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.cut != nil:
		return stream.Unknown, l.cut
	case fault == LostRequest:
		return stream.Unknown, errNoAnswer
	case fault == Forgotten:
		return stream.Won, nil
	case e.Epoch != l.epoch || e.Number > l.last()+1:
		return stream.Unknown, fmt.Errorf("entry %d of the epoch %s does not follow entry %d", e.Number, e.Epoch, l.last())
	case e.Number <= l.last():
		if e.Number > l.first && bytes.Equal(l.entries[e.Number-l.first-1].Nonce, e.Nonce) {
			return stream.Won, nil
		}
		return stream.Lost, nil
	}
	l.entries = append(l.entries, e)
	close(l.grown)
	l.grown = make(chan struct{})
	if fault == LostAnswer {
		return stream.Unknown, errNoAnswer
	}
	return stream.Won, nil
}

// GiveUp implements stream.CommitLog.
func (l *Log) GiveUp() {}

func (l *Log) last() uint64 { return l.first + uint64(len(l.entries)) }

// Head implements stream.CommitLog.
func (l *Log) Head(context.Context) (head stream.Head, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	head = stream.Head{Epoch: l.epoch, Number: l.last()}
	if len(l.entries) > 0 {
		head.Hash = l.entries[len(l.entries)-1].Hash
	}
	return head, l.cut
}

// Follow implements stream.CommitLog.
func (l *Log) Follow(ctx context.Context, from stream.Head, yield func(stream.SealedEntry) error) error {
	after := from.Number
	for {
		l.mu.Lock()
		err, grown := l.cut, l.grown
		var next []stream.SealedEntry
		switch {
		case after < l.first:
			err = fmt.Errorf("%w: entry %d was removed", stream.ErrNeedsCopy, after+1)
		case after < l.last():
			next = l.entries[after-l.first:]
		}
		l.mu.Unlock()
		if err != nil {
			return err
		}
		for _, e := range next {
			if l.Delay > 0 {
				time.Sleep(l.Delay)
			}
			if err := yield(e); err != nil {
				return err
			}
			after = e.Number
		}
		if len(next) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-grown:
		}
	}
}

// Cut lets all methods fail with an error, and ends those that run; nil ends that.
func (l *Log) Cut(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = err
	close(l.grown)
	l.grown = make(chan struct{})
}

// Forget removes the entries up to a number.
func (l *Log) Forget(upto uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = l.entries[upto-l.first:]
	l.first = upto
}

// Change changes the last entry.
func (l *Log) Change(fn func(*stream.SealedEntry)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fn(&l.entries[len(l.entries)-1])
}

// Applied implements stream.CommitLog.
func (l *Log) Applied(uint64) {}

// Confirm implements stream.CommitLog.
func (l *Log) Confirm(number uint64) {
	if l.Confirmed != nil {
		l.Confirmed(number)
	}
}
