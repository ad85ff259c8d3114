package kv

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"reeve/store/errs"
	"reeve/store/stream"
)

// position returns the position of a node.
func (s *nodes) position(i int) stream.Head {
	s.t.Helper()
	epoch, number, ok := s.dbs[i].CommitPosition()
	if !ok {
		s.t.Fatalf("node %d has no position", i)
	}
	return stream.Head{Epoch: epoch, Number: number}
}

func (db *DB) waitFor(ctx context.Context, to stream.Head) error {
	return db.WaitForCommit(ctx, to.Epoch, to.Number)
}

func (s *nodes) write(i int, name string) {
	s.t.Helper()
	noErr(s.t, s.dbs[i].Update(System, func(tx *Tx) error { return beasts.Create(tx, &beast{Name: name, Code: name}) }))
}

// TestWaitForCommit_ReadsOwnWrites writes at one node and reads at another one, whose entries come late.
// The caches have the write, too.
func TestWaitForCommit_ReadsOwnWrites(t *testing.T) {
	s := newNodes(t, 2, Options{Schema: zoo()})
	s.log.Delay = 2 * time.Millisecond
	for round := range 50 {
		writer, reader := round%2, 1-round%2
		name := fmt.Sprint("beast ", round)
		s.write(writer, name)
		noErr(t, s.dbs[reader].waitFor(t.Context(), s.position(writer)))
		view(t, s.dbs[reader], func(tx *Tx) error {
			if !slices.Contains(*census.Get(tx), name) {
				t.Errorf("%s is not in the cache", name)
			}
			_, err := beastByName.Get(tx, name)
			return err
		})
	}
	s.same()
}

func TestWaitForCommit_ReturnsAtOnce(t *testing.T) {
	s := newNodes(t, 1, Options{Schema: zoo()})
	s.write(0, "a")
	at := s.position(0)
	for name, to := range map[string]stream.Head{
		"applied":       at,
		"the beginning": {Epoch: at.Epoch},
		"other epoch":   {Epoch: "other", Number: math.MaxUint64},
		"no position":   {},
	} {
		if err := s.dbs[0].waitFor(t.Context(), to); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	alone := open(t, t.TempDir(), Options{Schema: zoo()})
	noErr(t, alone.waitFor(t.Context(), stream.Head{Number: 5}))
	noErr(t, alone.WaitForLatest(t.Context()))
	if _, _, ok := alone.CommitPosition(); ok {
		t.Error("a database without a log has a position")
	}
}

// TestWaitForCommit_Ends covers what ends a wait besides the entry. Nothing is left of it.
func TestWaitForCommit_Ends(t *testing.T) {
	s := newNodes(t, 1, Options{Schema: zoo()})
	s.write(0, "a")
	never := s.position(0)
	never.Number = math.MaxUint64
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- s.dbs[0].waitFor(ctx, never) }()
	waits := s.dbs[0].commits.awaited
	count := func() int {
		waits.mu.Lock()
		defer waits.mu.Unlock()
		return len(waits.waits)
	}
	eventually(t, "it waits", func() bool { return count() == 1 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
	if n := count(); n != 0 || waits.lowest.Load() != math.MaxUint64 {
		t.Errorf("%d still wait, for %d", n, waits.lowest.Load())
	}

	go func() { ended <- s.dbs[0].waitFor(t.Context(), never) }()
	eventually(t, "it waits", func() bool { return count() == 1 })
	s.dbs[0].commits.refuse(errors.New("test"))
	if err := <-ended; !errs.Is(err, errs.Busy) || count() != 0 {
		t.Errorf("after entries were refused: %v", err)
	}
}

// TestWaitForCommit_Many lets many wait for different positions while entries come: each returns when
// its position is reached, and none before.
func TestWaitForCommit_Many(t *testing.T) {
	s := newNodes(t, 2, Options{Schema: zoo()})
	from := s.position(1)
	const commits, each = 40, 10
	var all sync.WaitGroup
	var early atomic.Int64
	for i := range commits * each {
		to := from
		to.Number += uint64(i%commits) + 1
		all.Go(func() {
			err := s.dbs[1].waitFor(t.Context(), to)
			if _, at, _ := s.dbs[1].CommitPosition(); err != nil || at < to.Number {
				early.Add(1)
			}
		})
	}
	for i := range commits {
		s.write(0, fmt.Sprint("beast ", i))
	}
	all.Wait()
	if n := early.Load(); n > 0 {
		t.Errorf("%d returned too early", n)
	}
	s.same()
}

// TestWaitForLatest_SeesFinishedWrites asks after each write at another node. All who ask at once share
// a few questions to the log.
func TestWaitForLatest_SeesFinishedWrites(t *testing.T) {
	s := newNodes(t, 2, Options{Schema: zoo()})
	s.log.Delay = time.Millisecond
	for round := range 20 {
		name := fmt.Sprint("beast ", round)
		s.write(0, name)
		noErr(t, s.dbs[1].WaitForLatest(t.Context()))
		view(t, s.dbs[1], func(tx *Tx) error {
			_, err := beastByName.Get(tx, name)
			return err
		})
	}

	s.log.Cut(errors.New("no contact"))
	if err := s.dbs[1].WaitForLatest(t.Context()); !errs.Is(err, errs.Busy) {
		t.Errorf("without contact: %v", err)
	}
	s.log.Cut(nil)
	noErr(t, s.dbs[1].WaitForLatest(t.Context()))
}

// slowHead is a log whose answers wait.
type slowHead struct {
	stream.CommitLog
	asked  int
	answer chan struct{}
}

func (l *slowHead) Head(context.Context) (stream.Head, error) {
	l.asked++
	number := uint64(l.asked)
	<-l.answer
	return stream.Head{Number: number}, nil
}

// TestWaitForLatest_SharesQuestions lets many ask while a question that began before has no answer: they
// get that of the next one, together.
func TestWaitForLatest_SharesQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, log := &headQuestions{turn: make(chan struct{}, 1)}, &slowHead{answer: make(chan struct{})}
		got := make(chan uint64, 201)
		ask := func() {
			head, err := q.ask(t.Context(), log)
			if err != nil {
				t.Error(err)
			}
			got <- head.Number
		}
		go ask()
		synctest.Wait()
		for range 200 {
			go ask()
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := q.ask(ctx, log); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without time: %v", err)
		}
		log.answer <- struct{}{}
		if n := <-got; n != 1 {
			t.Errorf("the first got answer %d", n)
		}
		log.answer <- struct{}{}
		for range 200 {
			if n := <-got; n != 2 {
				t.Errorf("one of the others got answer %d", n)
			}
		}
	})
}
