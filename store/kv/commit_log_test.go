package kv

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"
	"go.etcd.io/bbolt"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
	"reeve/store/stream"
	"reeve/store/stream/streamtest"
)

// nodes are databases with the same records and one log of commits.
type nodes struct {
	t       testing.TB
	log     *streamtest.Log
	options Options
	dirs    []string
	dbs     []*DB
}

// newNodes creates a database, copies its directory, and opens the copies with a log of commits.
func newNodes(t testing.TB, n int, options Options) *nodes {
	t.Helper()
	first := t.TempDir()
	db := open(t, first, options)
	head, err := db.BeginCommitLog()
	if err != nil {
		t.Fatal(err)
	}
	shut(t, db)
	s := &nodes{t: t, log: streamtest.New(head.Epoch), options: options}
	for i := range n {
		dir := filepath.Join(t.TempDir(), "data")
		if err := os.CopyFS(dir, os.DirFS(first)); err != nil {
			t.Fatal(err)
		}
		s.dirs = append(s.dirs, dir)
		s.dbs = append(s.dbs, nil)
		s.open(i)
	}
	return s
}

// open opens the directory of a node.
func (s *nodes) open(i int) {
	s.t.Helper()
	options := s.options
	options.CommitLog = &CommitLogOptions{Log: s.log, Author: fmt.Sprint("node ", i)}
	s.dbs[i] = open(s.t, s.dirs[i], options)
}

func (s *nodes) restart(i int) {
	s.t.Helper()
	shut(s.t, s.dbs[i])
	s.open(i)
}

// same waits until all nodes have applied all entries, and fails unless their shared rows, caches and
// change logs are equal, and what they keep in memory is what they would read from their files.
func (s *nodes) same() {
	t := s.t
	t.Helper()
	number := s.number()
	var rows map[string]string
	for i, db := range s.dbs {
		s.wait(i, number)
		noErr(t, db.bolt.View(func(btx *bbolt.Tx) error {
			mine := sharedRows(t, btx)
			if i == 0 {
				rows = mine
			} else {
				compareRows(t, withoutMoved(mine), withoutMoved(rows))
			}
			return nil
		}))
		view(t, db, func(tx *Tx) error {
			for _, c := range db.schema.Caches {
				fresh, err := c.compute(tx)
				if now := db.caches[c].Load().value; err != nil || !reflect.DeepEqual(now, fresh) {
					t.Errorf("node %d: the cache %s has %v, not %v: %v", i, c.cacheName(), now, fresh, err)
				}
			}
			return nil
		})
		mustVerify(t, db)
		if db.log != nil {
			wholeLog(t, db)
			disktest.Equal(t, fmt.Sprintf("head of the change log of node %d", i), db.LogHead(), s.dbs[0].LogHead())
		}
		if t.Failed() {
			t.Fatalf("node %d differs at entry %d", i, number)
		}
	}
}

// wait waits until a node has an entry.
func (s *nodes) wait(i int, number uint64) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("node %d has entry %d", i, number), func() bool {
		state, _ := s.dbs[i].CommitLog()
		if state.Refused != nil {
			s.t.Fatalf("node %d: %v", i, state.Refused)
		}
		return state.At.Number >= number
	})
}

// withoutMoved returns rows without those of the change log, which each node moves to segments by itself.
func withoutMoved(rows map[string]string) map[string]string {
	other := map[string]string{}
	for key, value := range rows {
		if !strings.HasPrefix(key, logBucket+" ") {
			other[key] = value
		}
	}
	return other
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 30 s", what)
		}
	}
}

// TestCommitLog_RandomWalk runs random operations at random nodes, one after the other, and compares
// the records with a model, and the nodes with one another. Entries arrive late, answers are lost,
// nodes restart and are compacted.
func TestCommitLog_RandomWalk(t *testing.T) {
	r, clock, identity := disktest.Random(t), clockAt(1000), newIdentity(t)
	s := newNodes(t, 3, Options{
		Schema:    loggedZoo(),
		Clock:     clock.now,
		drainFrom: 50,
		Stream:    &StreamOptions{Recipients: []age.Recipient{identity.Recipient()}},
	})
	s.log.Delay = 200 * time.Microsecond
	var mu sync.Mutex
	faults := rand.New(rand.NewPCG(r.Uint64(), 0))
	s.log.Fault = func(stream.SealedEntry) streamtest.Fault {
		mu.Lock()
		defer mu.Unlock()
		return streamtest.Fault(max(0, faults.IntN(20)-17))
	}
	m := &model{map[ID]cage{}, map[ID]keeper{}, map[ID]beast{}, map[ID]chip{}, map[string]ID{}}
	give := errors.New("given up")
	stored, unknown := 0, 0
	for round := range disktest.Size(400, 1500, 20_000) {
		clock.Add(int64(r.IntN(3)))
		seed, i := r.Uint64(), r.IntN(len(s.dbs))
		var tried *model
		before := s.number()
		if r.IntN(2) == 0 {
			s.wait(i, before)
		}
		state, _ := s.dbs[i].CommitLog()
		behind := state.At.Number < before
		err := s.dbs[i].Update(System, func(tx *Tx) error {
			tried = m.clone() // it may run more than once
			r := rand.New(rand.NewPCG(seed, 0))
			for range r.IntN(4) + 1 {
				what, want, err := step(tx, tried, r)
				switch {
				case want != nil || err != nil && behind: // it has not seen the latest records
					return give
				case err != nil:
					return fmt.Errorf("round %d, %s: %w", round, what, err)
				}
			}
			return nil
		})
		after := s.number()
		var e *errs.Error
		switch {
		case err == nil:
			m = tried
			stored++
		case errors.Is(err, give):
		case errors.As(err, &e) && e.Code == "write_outcome_unknown":
			unknown++
			if after > before {
				m = tried
			}
		default:
			t.Fatal(err)
		}
		switch r.IntN(100) {
		case 0:
			s.restart(i)
		case 1:
			_, err := s.dbs[i].Compact(t.Context(), ignore)
			noErr(t, err)
		case 2, 3:
			s.same()
			sameAsModel(t, s.dbs[i], m)
			mustBeLogged(t, s.dbs[i])
		}
		if t.Failed() {
			t.Fatalf("after round %d", round)
		}
	}
	s.same()
	sameAsModel(t, s.dbs[0], m)
	for i, db := range s.dbs {
		if _, err := db.Stream(); err != nil {
			t.Errorf("node %d: the stream has ended: %v", i, err)
		}
	}
	if stored == 0 || unknown == 0 {
		t.Errorf("the walk tests too little: %d stored, %d unknown", stored, unknown)
	}
}

// TestCommitLog_Concurrent writes at all nodes at the same time: nothing that was acknowledged is lost,
// nothing is there twice, and searches find the same at each node.
func TestCommitLog_Concurrent(t *testing.T) {
	s := newNodes(t, 3, Options{Schema: loggedOffice(), IndexFrom: 20, drainFrom: 50})
	var mu sync.Mutex
	names := map[string]bool{} // whether it has the text that is searched for
	var all sync.WaitGroup
	for i, db := range s.dbs {
		for w := range 4 {
			all.Go(func() {
				for n := range disktest.Size(25, 50, 500) {
					name := fmt.Sprintf("user %d.%d.%d", i, w, n)
					var id ID
					err := db.Update(System, func(tx *Tx) error {
						u := &User{Username: name, Nickname: fmt.Sprint("nick ", n%7)}
						err := Users.Create(tx, u)
						id = u.ID
						return err
					})
					if err == nil && n%5 == 0 {
						err = db.Update(System, func(tx *Tx) error { return Users.Delete(tx, id) })
					} else if err == nil {
						mu.Lock()
						names[name] = n%7 == 3
						mu.Unlock()
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	all.Wait()
	s.same()
	lost := uint64(0)
	for i, db := range s.dbs {
		state, _ := db.CommitLog()
		lost += state.Lost
		var got []string
		view(t, db, func(tx *Tx) error {
			page, _, err := Users.Find(tx, Query[User]{Search: "nick 3", Limit: 10_000})
			for _, u := range page {
				got = append(got, u.Username)
			}
			return err
		})
		slices.Sort(got)
		want := []string{}
		for name := range names {
			if names[name] {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		disktest.Equal(t, fmt.Sprintf("what node %d finds", i), got, want)
		view(t, db, func(tx *Tx) error {
			n, err := Users.Count(tx)
			if err != nil || n != len(names) {
				t.Errorf("node %d has %d users, not %d: %v", i, n, len(names), err)
			}
			return nil
		})
	}
	if lost == 0 {
		t.Error("no commit has lost")
	}
}

// TestCommitLog_Slow runs a write function that is so slow that another node makes hundreds of commits
// while it runs, twice. Then it has to see all of them, not those of one batch, to be stored.
func TestCommitLog_Slow(t *testing.T) {
	s := newNodes(t, 2, Options{Schema: loggedOffice()})
	runs, others := 0, 3*maxApply
	err := s.dbs[0].Update(System, func(tx *Tx) error {
		if runs++; runs <= 2 {
			for n := range others {
				name := fmt.Sprintf("other %d.%d", runs, n)
				if err := s.dbs[1].Update(System, func(tx *Tx) error { return Users.Create(tx, &User{Username: name}) }); err != nil {
					return err
				}
			}
		}
		return Users.Create(tx, &User{Username: "slow"})
	})
	noErr(t, err)
	if runs != 3 {
		t.Errorf("the function ran %d times", runs)
	}
	s.same()
}

// lateLog is a log of commits whose entries arrive with pauses.
type lateLog struct {
	stream.CommitLog
	pause time.Duration
}

func (l lateLog) Follow(ctx context.Context, after stream.Head, yield func(stream.SealedEntry) error) error {
	return l.CommitLog.Follow(ctx, after, func(e stream.SealedEntry) error {
		time.Sleep(l.pause)
		return yield(e)
	})
}

// TestCommitLog_LongCatchUp: a start that has more to catch up than fits into the time after which writes fail goes on as
// long as entries arrive.
func TestCommitLog_LongCatchUp(t *testing.T) {
	t.Parallel()
	s := newNodes(t, 2, Options{Schema: loggedZoo()})
	shut(t, s.dbs[1])
	const entries = 5
	for i := range entries {
		mustCreate(t, s.dbs[0], fmt.Sprint(i))
	}
	options := s.options
	options.CommitLog = &CommitLogOptions{Log: lateLog{s.log, catchUpTimeout/entries + time.Second/2}, Author: "late"}
	s.dbs[1] = open(t, s.dirs[1], options)
	s.same()
}

// TestCommitLog_Join lets a node begin with a base copy: one with an empty directory and the key, one that
// was away for longer than the log goes back, and one whose records have become others.
func TestCommitLog_Join(t *testing.T) {
	s := newNodes(t, 2, Options{Schema: loggedZoo(), drainFrom: 20})
	for i := range 50 {
		mustCreate(t, s.dbs[i%2], fmt.Sprint(i))
	}
	s.same()
	base := archiveOf(t, s.dbs[0])
	shut(t, s.dbs[1])
	for range 10 {
		mustCreate(t, s.dbs[0], "later")
	}
	upto := s.number() - 5
	s.log.Forget(upto)

	fresh := filepath.Join(t.TempDir(), "data")
	noErr(t, os.Mkdir(fresh, 0o700))
	noErr(t, os.WriteFile(filepath.Join(fresh, keyName), disktest.ReadFile(t, filepath.Join(s.dirs[0], keyName)), 0o600))
	s.dirs, s.dbs = append(s.dirs, fresh), append(s.dbs, nil)
	options := s.options
	options.CommitLog = &CommitLogOptions{Log: s.log}
	for _, dir := range s.dirs[1:] {
		if db, err := Open(dir, options); err == nil {
			shut(t, db)
			t.Fatal("it was opened before it had a copy")
		} else if !errors.Is(err, ErrOtherCopy) {
			t.Fatal(err)
		}
	}
	old := base
	base = archiveOf(t, s.dbs[0])
	if _, err := Join(s.dirs[1], old, nil, nil, s.options); err != nil {
		t.Fatal(err)
	}
	if db, err := Open(s.dirs[1], options); err == nil {
		shut(t, db)
		t.Fatal("a copy that is too old was enough")
	}
	for i := range s.dirs[1:] {
		done, err := Join(s.dirs[i+1], base, nil, nil, s.options)
		if err != nil || done.WrongKey {
			t.Fatal(err, done.WrongKey)
		}
		s.open(i + 1)
	}
	for i := range 12 {
		mustCreate(t, s.dbs[i%3], "joined")
	}
	s.same()

	plain := open(t, t.TempDir(), Options{Schema: loggedZoo()})
	if _, err := Join(t.TempDir(), archiveOf(t, plain), nil, nil, s.options); err == nil || !strings.Contains(err.Error(), "no base copy") {
		t.Errorf("a backup as a base copy: %v", err)
	}
	restored := t.TempDir()
	_, err := Restore(restored, base, nil, s.options)
	noErr(t, err)
	alone := open(t, restored, s.options) // a restored copy belongs to no cluster
	mustCreate(t, alone, "alone")
}

// TestCommitLog_RightsAreConfirmed lets other nodes hang: writes that take rights away wait for them, and
// no others.
func TestCommitLog_RightsAreConfirmed(t *testing.T) {
	s := newNodes(t, 1, Options{Schema: loggedZoo()})
	db := s.dbs[0]
	hang, asked := make(chan struct{}), make(chan uint64, 10)
	goOn := sync.OnceFunc(func() { close(hang) })
	t.Cleanup(goOn)
	s.log.Confirmed = func(number uint64) {
		asked <- number
		<-hang
	}
	mustCreate(t, db, "one")
	mustCreate(t, db, "two")
	seen := func(tx *Tx) error {
		_, err := keepers.UpdateQuietly(tx, 1, func(k *keeper) error { k.Seen++; return nil })
		return err
	}
	update(t, db, seen)
	update(t, db, func(tx *Tx) error {
		_, err := keepers.Update(tx, 1, func(k *keeper) error { k.Seen++; return nil }) // with the time of the change
		return err
	})
	update(t, db, func(tx *Tx) error { return cages.Create(tx, &cage{Name: "one"}) })
	update(t, db, func(tx *Tx) error { return cages.Delete(tx, 1) })

	done := make(chan error, 3)
	begin := func(fn func(tx *Tx) error) {
		go func() { done <- db.Update(System, fn) }()
	}
	begin(func(tx *Tx) error { return keepers.Delete(tx, 2) })
	disktest.Equal(t, "the entry to confirm", <-asked, s.number())
	begin(func(tx *Tx) error {
		_, err := keepers.Update(tx, 1, func(k *keeper) error { k.Name = "changed"; return nil })
		return err
	})
	eventually(t, "the second change is in the log", func() bool { return s.number() == 8 }) // or it could share a commit with the next
	update(t, db, seen)                                                                      // does not wait
	select {
	case err := <-done:
		t.Fatalf("a write returned before the others were asked: %v", err)
	case <-asked:
		t.Fatal("two goroutines ask")
	case <-time.After(20 * time.Millisecond):
	}
	goOn()
	noErr(t, <-done)
	noErr(t, <-done)
	shut(t, db)
}

// TestCommitLog_Rebuild: when one process rebuilds a cache, all do, and the write returns when they have.
func TestCommitLog_Rebuild(t *testing.T) {
	s := newNodes(t, 2, Options{Schema: loggedZoo()})
	mustCreate(t, s.dbs[0], "one")
	s.same()
	before := s.number()
	confirmed := make(chan uint64, 1)
	s.log.Confirmed = func(number uint64) { confirmed <- number }
	for _, db := range s.dbs {
		db.swap(census, &[]string{"wrong"})
	}
	update(t, s.dbs[0], func(tx *Tx) error {
		_, err := census.Rebuild(tx)
		return err
	})
	disktest.Equal(t, "the entry to confirm", <-confirmed, before+1)
	s.same() // the caches, too
}
