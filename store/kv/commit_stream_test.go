package kv

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
	"reeve/store/stream"
)

// sharedRows returns the rows of the shared buckets of a file, except the description of the file,
// which a restore changes.
func sharedRows(t testing.TB, btx *bbolt.Tx) map[string]string {
	t.Helper()
	rows := map[string]string{}
	err := btx.ForEach(func(name []byte, b *bbolt.Bucket) error {
		if !isShared(string(name)) || string(name) == disk.MetaBucket {
			return nil
		}
		rows[string(name)] = keyText(idKey(ID(b.Sequence())))
		return b.ForEach(func(key, value []byte) error {
			rows[string(name)+" "+keyText(key)] = string(value)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func sharedRowsIn(t testing.TB, path string) (rows map[string]string) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(btx *bbolt.Tx) error {
		rows = sharedRows(t, btx)
		return nil
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return rows
}

// entriesIn yields the entries after a position and up to a number, from segments.
func entriesIn(segments []stream.Segment, upto uint64, identity age.Identity) Entries {
	return func(from stream.Head) iter.Seq2[*stream.Entry, error] {
		return func(yield func(*stream.Entry, error) bool) {
			for _, s := range segments {
				if s.Epoch != from.Epoch || s.Last <= from.Number {
					continue
				}
				f, err := os.Open(s.Path)
				if err != nil {
					yield(nil, err)
					return
				}
				defer f.Close()
				r, err := stream.NewReader(io.LimitReader(f, s.Size), []age.Identity{identity})
				if err != nil {
					yield(nil, err)
					return
				}
				for {
					e, err := r.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						yield(nil, err)
						return
					}
					if e.Number <= from.Number {
						continue
					}
					if e.Number > upto || !yield(e, nil) {
						return
					}
				}
			}
		}
	}
}

func streamHeadOf(t testing.TB, db *DB) (head stream.Head) {
	t.Helper()
	err := db.View(engine{}, func(tx *Tx) (err error) {
		head, err = tx.streamHead()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return head
}

// TestStream_EveryMoment runs random operations, compactions and restarts, and restores random
// commits from one copy and the entries that follow it: each has exactly the rows that it had.
func TestStream_EveryMoment(t *testing.T) {
	r, dir, clock, identity := disktest.Random(t), t.TempDir(), clockAt(1000), newIdentity(t)
	options := Options{
		Schema:    zoo(),
		Clock:     clock.now,
		IndexFrom: 20,
		Stream:    &StreamOptions{Recipients: []age.Recipient{identity.Recipient()}},
	}
	m := &model{map[ID]cage{}, map[ID]keeper{}, map[ID]beast{}, map[ID]chip{}, map[string]ID{}}
	db := open(t, dir, options)
	give := errors.New("given up")
	write := func(commits int, keep func()) {
		for commits > 0 {
			clock.Add(int64(r.IntN(1000)))
			tried, fails := m.clone(), r.IntN(8) == 0
			err := db.Update(System, func(tx *Tx) error {
				for range r.IntN(4) + 1 {
					if _, want, err := step(tx, tried, r); err != nil || want != nil {
						return give
					}
				}
				if fails {
					return give
				}
				return nil
			})
			if errors.Is(err, give) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			m = tried
			commits--
			keep()
		}
	}
	write(20, func() {})
	base, head := archiveOf(t, db), streamHeadOf(t, db)
	if head.Epoch == "" || head.Number == 0 {
		t.Fatalf("the stream is at %v", head)
	}

	kept := map[uint64]map[string]string{}
	keep := func() {
		if r.IntN(disktest.Size(10, 10, 40)) > 0 {
			return
		}
		if err := db.bolt.View(func(btx *bbolt.Tx) error {
			tx := &Tx{db: db, bolt: btx}
			at, err := tx.streamHead()
			kept[at.Number] = sharedRows(t, btx)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 4 {
		write(disktest.Size(60, 200, 1000), keep)
		if i%2 == 0 {
			if _, err := db.Compact(t.Context(), ignore); err != nil {
				t.Fatal(err)
			}
			continue
		}
		shut(t, db)
		db = open(t, dir, options)
	}
	if now := streamHeadOf(t, db); now.Epoch != head.Epoch {
		t.Fatalf("a restart has begun an epoch: %v after %v", now, head)
	}
	log, err := db.Stream()
	if err != nil {
		t.Fatal(err)
	}
	for number, want := range kept {
		target := filepath.Join(t.TempDir(), "restored")
		done, err := RestoreMoment(target, base, nil, nil, entriesIn(log.Segments(), number, identity), options)
		if err != nil {
			t.Fatal(err)
		}
		if done.Applied.Number != number {
			t.Fatalf("entry %d was applied last, not %d", done.Applied.Number, number)
		}
		compareRows(t, sharedRowsIn(t, filepath.Join(target, dataName)), want)
		if t.Failed() {
			t.Fatalf("at entry %d", number)
		}
		back := open(t, target, Options{Schema: zoo(), Clock: clock.now})
		mustVerify(t, back)
		shut(t, back)
	}
	if len(kept) < 10 {
		t.Errorf("only %d moments were restored", len(kept))
	}
}

func compareRows(t testing.TB, got, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if other, there := got[name]; !there || other != value {
			t.Errorf("%s has %q, not %q", name, other, value)
		}
	}
	for name := range got {
		if _, there := want[name]; !there {
			t.Errorf("%s is there", name)
		}
	}
}

// TestStream_ClockSetBack sets the clock back while the stream is on, while it is off, and while nothing is
// written: an epoch begins, with times that are right, unless it is a matter of seconds.
func TestStream_ClockSetBack(t *testing.T) {
	idle := func(t *testing.T, db *DB) {
		if err := db.FollowClock(); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		back   int64 // seconds
		begins bool
		write  func(t *testing.T, db *DB)
	}{
		"written after hours":   {3 * 3600, true, func(t *testing.T, db *DB) { mustCreate(t, db, "after") }},
		"idle after hours":      {3 * 3600, true, idle},
		"written after seconds": {30, false, func(t *testing.T, db *DB) { mustCreate(t, db, "after") }},
		"idle after seconds":    {30, false, idle},
	} {
		t.Run(name, func(t *testing.T) {
			dir, clock, identity := t.TempDir(), clockAt(Time(1<<50)), newIdentity(t)
			options := Options{Schema: zoo(), Clock: clock.now, Stream: &StreamOptions{Recipients: []age.Recipient{identity.Recipient()}}}
			db := open(t, dir, options)
			mustCreate(t, db, "before")
			before, opened := streamHeadOf(t, db), db.StreamOpened()
			clock.Add(-test.back * 1e6)
			test.write(t, db)
			after := streamHeadOf(t, db)
			if begun := after.Epoch != before.Epoch; begun != test.begins || begun && after.Time != int64(clock.now()) {
				t.Errorf("%v after %v, at %v", after, before, clock.now())
			}
			if now := db.StreamOpened(); (now.Epoch == after.Epoch) != (opened.Epoch == after.Epoch || test.begins) {
				t.Errorf("the stream was opened at %v", now)
			}
			base := archiveOf(t, db)
			mustCreate(t, db, "last")
			log, err := db.Stream()
			if err != nil || log.Head() != streamHeadOf(t, db) {
				t.Fatalf("the log is at %v: %v", log.Head(), err)
			}
			done, err := RestoreMoment(filepath.Join(t.TempDir(), "restored"), base, nil, nil, entriesIn(log.Segments(), 1<<40, identity), options)
			if err != nil || done.Applied != log.Head() {
				t.Errorf("%v was applied last: %v", done.Applied, err)
			}
			shut(t, db)
			db = open(t, dir, options)
			if now := streamHeadOf(t, db); now != log.Head() {
				t.Errorf("a restart has begun an epoch: %v after %v", now, log.Head())
			}
		})
	}
}

// cutSegments removes bytes from the end of the newest segment.
func cutSegments(t testing.TB, dir string, n int64) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, streamDir, "*"))
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	path := all[len(all)-1]
	info, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, max(0, info.Size()-n))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestStream_NewEpoch checks after what an epoch begins: whatever could have changed data.db without
// an entry.
func TestStream_NewEpoch(t *testing.T) {
	for name, test := range map[string]struct {
		change func(t *testing.T, dir string, options Options)
		begins bool
	}{
		"restart":       {func(*testing.T, string, Options) {}, false},
		"entry cut off": {func(t *testing.T, dir string, _ Options) { cutSegments(t, dir, 1) }, true},
		"entry lost":    {func(t *testing.T, dir string, _ Options) { cutSegments(t, dir, 1<<20) }, true},
		"segment lost":  {func(t *testing.T, dir string, _ Options) { os.RemoveAll(filepath.Join(dir, streamDir)) }, true},
		"stream off":    {func(t *testing.T, dir string, o Options) { o.Stream = nil; shut(t, open(t, dir, o)) }, false},
		"written while off": {func(t *testing.T, dir string, o Options) {
			o.Stream = nil
			db := open(t, dir, o)
			mustCreate(t, db, "while off")
			shut(t, db)
		}, true},
		"compacted": {func(t *testing.T, dir string, o Options) {
			if _, err := Compact(dir, o); err != nil {
				t.Fatal(err)
			}
		}, false},
		"older data": {func(t *testing.T, dir string, o Options) {
			older := disktest.ReadFile(t, filepath.Join(dir, dataName))
			db := open(t, dir, o)
			mustCreate(t, db, "lost")
			shut(t, db)
			disktest.WriteFile(t, filepath.Join(dir, dataName), older)
			os.Remove(filepath.Join(dir, markName))
		}, true},
		"restored": {func(t *testing.T, dir string, o Options) {
			db := open(t, dir, o)
			path := archiveOf(t, db)
			shut(t, db)
			if _, err := Restore(dir, path, nil, o); err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir, clock := t.TempDir(), clockAt(1000)
			options := Options{Schema: zoo(), Clock: clock.now, Stream: &StreamOptions{Recipients: []age.Recipient{newIdentity(t).Recipient()}}}
			db := open(t, dir, options)
			mustCreate(t, db, "one")
			mustCreate(t, db, "two")
			before := streamHeadOf(t, db)
			shut(t, db)
			test.change(t, dir, options)
			db = open(t, dir, options)
			after := streamHeadOf(t, db)
			if begun := after.Epoch != before.Epoch; begun != test.begins {
				t.Errorf("%v after %v", after, before)
			}
			mustCreate(t, db, "three")
			if now := streamHeadOf(t, db); now.Number != after.Number+1 || now.Epoch != after.Epoch {
				t.Errorf("%v after %v", now, after)
			}
			log, err := db.Stream()
			if err != nil || log.Head() != streamHeadOf(t, db) {
				t.Errorf("the log is at %v: %v", log.Head(), err)
			}
		})
	}
}

func mustCreate(t testing.TB, db *DB, name string) {
	t.Helper()
	err := db.Update(System, func(tx *Tx) error { return keepers.Create(tx, &keeper{Name: name}) })
	if err != nil {
		t.Fatal(err)
	}
}

// TestStream_DamageIsRefused changes bytes of a segment, and entries: nothing is restored from them.
func TestStream_DamageIsRefused(t *testing.T) {
	dir, clock, identity := t.TempDir(), clockAt(1000), newIdentity(t)
	options := Options{Schema: zoo(), Clock: clock.now, Stream: &StreamOptions{Recipients: []age.Recipient{identity.Recipient()}}}
	db := open(t, dir, options)
	mustCreate(t, db, "zero")
	base := archiveOf(t, db)
	first := streamHeadOf(t, db).Number
	for _, name := range strings.Fields("one two three four") {
		mustCreate(t, db, name)
	}
	log, err := db.Stream()
	if err != nil {
		t.Fatal(err)
	}
	segments := log.Segments()
	restore := func(entries Entries) error {
		_, err := RestoreMoment(filepath.Join(t.TempDir(), "restored"), base, nil, nil, entries, options)
		return err
	}
	if err := restore(entriesIn(segments, 1<<40, identity)); err != nil {
		t.Fatal(err)
	}

	segment := segments[len(segments)-1]
	sound := disktest.ReadFile(t, segment.Path)
	if bytes.Contains(sound, []byte("three")) {
		t.Error("the segment shows a record")
	}
	damaged := segment
	damaged.Path = filepath.Join(t.TempDir(), "damaged")
	for range disktest.Size(50, 300, 3000) {
		text := bytes.Clone(sound)
		i := rand.IntN(len(text))
		text[i] ^= byte(1 << rand.IntN(8))
		disktest.WriteFile(t, damaged.Path, text)
		if err := restore(entriesIn([]stream.Segment{damaged}, first+4, identity)); err == nil {
			t.Fatalf("a flipped bit of byte %d was not found", i)
		}
	}
	if err := restore(entriesIn(segments, first+4, newIdentity(t))); !errors.Is(err, stream.ErrOtherKey) {
		t.Errorf("with another identity: %v", err)
	}

	for name, change := range map[string]func(e *stream.Entry){
		"another bucket":       func(e *stream.Entry) { e.Buckets[0].Name = "missing" },
		"a local bucket":       func(e *stream.Entry) { e.Buckets[0].Name = localBucket },
		"another old value":    func(e *stream.Entry) { e.Buckets[0].Rows[0].Old++ },
		"another schema":       func(e *stream.Entry) { e.Schema++ },
		"another installation": func(e *stream.Entry) { e.Instance = "other" },
		"a number left out":    func(e *stream.Entry) { e.Number++ },
		"another predecessor":  func(e *stream.Entry) { e.Prev[0]++ },
		"another epoch":        func(e *stream.Entry) { e.Epoch = "OTHER" },
	} {
		err := restore(func(from stream.Head) iter.Seq2[*stream.Entry, error] {
			return func(yield func(*stream.Entry, error) bool) {
				for e, err := range entriesIn(segments, 1<<40, identity)(from) {
					if err == nil && e.Number == from.Number+2 {
						change(e)
					}
					if !yield(e, err) {
						return
					}
				}
			}
		})
		if err == nil {
			t.Errorf("%s was not found", name)
		}
	}
}
