package copies

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"

	"reeve/store"
	"reeve/store/kv"
)

// setClock is a clock that goes on by a millisecond each time it is read.
type setClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *setClock) read() store.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return kv.TimeOf(c.now)
}

func (c *setClock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *setClock) set(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = to
}

// TestRestore_ClockSetBack stores copies and commits while the clock is ahead, and after it was set back: with a
// copy that the server makes then, each moment since and the latest state are what they were, whatever the times
// of what was stored before.
func TestRestore_ClockSetBack(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"hours": 3 * time.Hour, "years": 10 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, logged := range []bool{true, false} {
				in, target := newInstallation(t, 1), directory(t)
				clock := &setClock{now: time.Now().UTC()}
				in.options.Clock = clock.read
				in.reopen()
				t.Cleanup(func() { in.db.Close() })
				r := in.repository(target, Options{})
				in.copy(r)
				in.put("before")
				in.ship(r)

				clock.set(clock.time().Add(ahead))
				in.put("ahead")
				in.ship(r)
				wrong := in.copy(r)
				if logged {
					in.put("last with the wrong time")
				}
				in.ship(r)
				clock.set(clock.time().Add(-ahead))

				if !r.Continued() {
					t.Fatal("commits continue no copy before anything happened")
				}
				in.ship(r)
				if r.Continued() {
					t.Fatal("no copy is needed")
				}
				right := in.copy(r)
				if right.Time.After(wrong.Time) || !right.Own {
					t.Fatalf("the newest copy is of %s, after that of %s", right.Time, wrong.Time)
				}
				in.put("after")
				in.ship(r)
				m := moment{clock.time().Add(time.Millisecond / 2), maps.Clone(in.contents)}
				in.put("last")
				in.ship(r)
				if !r.Continued() {
					t.Error("the copy leads to no later commit")
				}

				for _, want := range []struct {
					moment   Moment
					contents map[string]bool
				}{{Moment{At: m.at}, m.contents}, {Moment{}, in.contents}, {Moment{At: clock.time()}, in.contents}} {
					dir, _, err := restoreMoment(t, target, want.moment, in.identity)
					if err != nil {
						t.Fatalf("%v, logged %v: %v", want.moment, logged, err)
					}
					if got := contentsIn(t, dir); !maps.Equal(got, want.contents) {
						t.Errorf("%v, logged %v: %d files, not %d", want.moment, logged, len(got), len(want.contents))
					}
				}
				all, _, err := List(t.Context(), target, []age.Identity{in.identity})
				if err != nil {
					t.Fatal(err)
				}
				commits, err := CommitsAfter(t.Context(), target, all[0], all, Moment{}, []age.Identity{in.identity})
				if err != nil {
					t.Fatal(err)
				}
				for _, err := range commits.Entries(t.Context())(*all[0].Stream) {
					if err != nil {
						t.Fatal(err)
					}
				}
				if !commits.Beyond.IsZero() {
					t.Errorf("commits until %s are said to be left out", commits.Beyond)
				}
			}
		})
	}
}

// TestRestore_NamesMissing restores a copy whose contents are gone at the target: some of the files are named, with
// the number of all.
func TestRestore_NamesMissing(t *testing.T) {
	t.Parallel()
	in, target := newInstallation(t, 7), directory(t)
	err := in.db.Update(store.System, func(tx *store.Tx) error {
		f, err := store.Files.Get(tx, 1)
		if err != nil {
			return err
		}
		again := &store.File{Name: "again", FileContent: f.FileContent} // the content of another file
		return store.Files.Create(tx, again)
	})
	if err != nil {
		t.Fatal(err)
	}
	in.copy(in.repository(target, Options{}))
	for name := range objects(t, target) {
		if strings.Contains(name, "/"+filesName) && !strings.HasSuffix(name, indexSuffix) {
			if err := target.Delete(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, done, err := restoreMoment(t, target, Moment{}, in.identity)
	if err != nil {
		t.Fatal(err)
	}
	if done.Missing != 8 || len(done.Lost) != 5 || done.Lost[0] != `file 1 "file 0"` {
		t.Errorf("%d are missing: %q", done.Missing, done.Lost)
	}
}

// TestBase_ClockWrongUntilRestart stores a copy while the clock is ten years ahead, and others after a restart with
// the right clock. The server takes the later ones for newer, and deletes none of them for the first one; a restore
// does not choose, since another server may have made that one, and says what to name.
func TestBase_ClockWrongUntilRestart(t *testing.T) {
	t.Parallel()
	in, target := newInstallation(t, 1), directory(t)
	clock := &setClock{now: time.Now().UTC().AddDate(10, 0, 0)}
	in.options.Clock = clock.read
	in.reopen()
	t.Cleanup(func() { in.db.Close() })
	wrong := in.copy(in.repository(target, Options{}))
	clock.set(time.Now().UTC())
	in.reopen()
	r := in.repository(target, Options{})
	var right []*Copy
	for range 3 {
		clock.set(clock.time().Add(time.Hour / 10))
		in.put("after")
		right = append(right, in.copy(r))
		in.ship(r)
	}
	s := scan(t, r)
	if s.Copies[0].Name != right[2].Name || s.Copies[3].Name != wrong.Name {
		t.Errorf("the newest copy is %s, the oldest %s", s.Copies[0].Name, s.Copies[3].Name)
	}
	if _, err := r.Prune(t.Context(), s, Keep{Hourly: 1, StreamDays: 7}, time.UTC); err != nil {
		t.Fatal(err)
	}
	all, _, err := List(t.Context(), target, []age.Identity{in.identity})
	if err != nil {
		t.Fatal(err)
	}
	_, err = (Moment{}).Base(all)
	errorSays(t, err, "the clock was wrong")
	names := remedies(t, err)
	own := slices.DeleteFunc(all, func(m *Manifest) bool { return !strings.HasPrefix(m.Name(), names[1]+"/") })
	if m, err := (Moment{}).Base(own); err != nil || m.Name() != right[2].Name {
		t.Errorf("%v, %v", m, err)
	}
}
