package kv

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// together runs functions in one commit, in their order, and returns their errors. It keeps the
// writer busy until all of them are queued.
func together(t testing.TB, db *DB, fns ...func(*Tx) error) []error {
	t.Helper()
	var wg sync.WaitGroup
	begun, release, refused := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	wg.Go(func() {
		refused <- db.Update(System, func(*Tx) error { close(begun); <-release; return nil })
	})
	select {
	case <-begun:
	case err := <-refused:
		t.Fatalf("the writer does not begin: %v", err)
	}

	answers := make([]error, len(fns))
	for i, fn := range fns {
		wg.Go(func() { answers[i] = db.Update(System, fn) })
		for len(db.jobs) <= i {
			runtime.Gosched()
		}
	}

	close(release)
	wg.Wait()
	return answers
}

func createBeast(name string) func(*Tx) error {
	return func(tx *Tx) error { return beasts.Create(tx, &beast{Name: name}) }
}

func namesOf(t testing.TB, db *DB) []string {
	t.Helper()
	names := []string{}
	for _, b := range allOf(t, db, beasts) {
		names = append(names, b.Name)
	}
	view(t, db, func(tx *Tx) error {
		disktest.Equal(t, "census", *census.Get(tx), names)
		return nil
	})
	return names
}

func TestCommit_ConcurrentWriters(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, Options{Schema: zoo()})
	writers, writes := 32, disktest.Size(10, 40, 400)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range writes {
				name := fmt.Sprintf("beast %d of %d", i, w)
				if err := db.Update(System, createBeast(name)); err != nil {
					t.Error(err)
					return
				}

				err := db.View(System, func(tx *Tx) error {
					if !slices.Contains(*census.Get(tx), name) {
						t.Errorf("%s was answered and is not in the census", name)
					}
					_, err := beastByName.Get(tx, name)
					return err
				})
				if err != nil {
					t.Errorf("%s was answered: %v", name, err)
				}
			}
		})
	}

	wg.Wait()
	// After a crash at this moment the directory would have its current contents.
	copied := t.TempDir()
	for name, content := range disktest.Snapshot(t, dir) {
		_, content, _ = strings.Cut(content, " ")
		disktest.WriteFile(t, filepath.Join(copied, name), []byte(content))
	}

	disktest.Equal(t, "beasts after a crash",
		len(allOf(t, open(t, copied, Options{Schema: zoo()}), beasts)), writers*writes)
}

func TestCommit_SharedByWaitingWriters(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: zoo()})
	var commits []int
	db.OnCommit(func(c Changes) { commits = append(commits, len(c.Of(beasts))) })
	var fns []func(*Tx) error
	for i := range 100 {
		fns = append(fns, createBeast(fmt.Sprint("beast ", i)))
	}
	if err := errors.Join(together(t, db, fns...)...); err != nil {
		t.Fatal(err)
	}
	update(t, db, createBeast("alone"))
	disktest.Equal(t, "beasts per commit", commits, []int{100, 1})
}

func TestCommit_FailureIsIsolated(t *testing.T) {
	stop := errors.New("stop")
	boom := func() { panic("boom") }
	for name, test := range map[string]struct {
		fn    func(tx *Tx) error
		want  string // prefix of the error
		stays bool
	}{
		"an error before writing": {func(tx *Tx) error { return stop }, "stop", false},
		"an error after writing": {func(tx *Tx) error {
			return errors.Join(createBeast("bad")(tx), stop)
		}, "stop", false},
		"a panic before writing": {func(tx *Tx) error {
			boom()
			return nil
		}, "panic: boom", false},
		"a panic after writing": {func(tx *Tx) error {
			err := createBeast("bad")(tx)
			boom()
			return err
		}, "panic: boom", false},
		"a nil pointer": {func(tx *Tx) error {
			var b *beast
			b.Name = "x"
			return nil
		}, "panic: runtime error: invalid memory", false},
		"a conflict with an earlier function": {createBeast("first"),
			"name: is already used by another beast", false},
		"a refused deletion after a write": {func(tx *Tx) error {
			if err := createBeast("bad")(tx); err != nil {
				return err
			}
			return keepers.Delete(tx, 1)
		}, "keeper 1 is still used by 1 beast", false},
		"a success": {createBeast("bad"), "", true},
	} {
		t.Run(name, func(t *testing.T) {
			db := zooWith(t, &beast{Name: "user", KeeperIDs: []ID{1}})
			answers := together(t, db, createBeast("first"), test.fn, createBeast("second"),
				test.fn, createBeast("third"))
			want := []string{"user", "first", "second", "third"}
			if test.stays { // the function runs twice; the second run finds its name taken
				want = []string{"user", "first", "bad", "second", "third"}
				test.want = "name: is already used by another beast"
				answers[1], answers[3] = errors.Join(answers[1], answers[3]), errors.Join(answers[1], answers[3])
			}

			for i, err := range answers {
				if i%2 == 0 && err != nil {
					t.Errorf("function %d: %v", i, err)
				}
				if i%2 == 1 && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
					t.Errorf("function %d: %v, want %s", i, err, test.want)
				}
			}

			disktest.Equal(t, "names", namesOf(t, db), want)
			var ids []ID
			for _, b := range allOf(t, db, beasts) {
				ids = append(ids, b.ID)
			}

			disktest.Equal(t, "no id is lost", ids, []ID{1, 2, 3, 4, 5}[:len(want)])
		})
	}
}

func TestCommit_SeesEarlierOfBatch(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: zoo()})
	var found *beast
	var inside, outside []string
	answers := together(t, db,
		createBeast("first"),
		func(tx *Tx) error {
			if _, err := beastByName.Get(tx, "spoilt"); !errs.Is(err, errs.NotFound) {
				return fmt.Errorf("sees one that failed: %v", err)
			}
			return nil
		},
		func(tx *Tx) error { return errors.Join(createBeast("spoilt")(tx), errors.New("stop")) },
		func(tx *Tx) (err error) {
			if found, err = beastByName.Get(tx, "first"); err != nil {
				return err
			}
			inside = slices.Clone(*census.Get(tx))
			return db.View(System, func(tx *Tx) error {
				outside = slices.Clone(*census.Get(tx))
				return nil
			})
		},
		func(tx *Tx) error {
			if err := createBeast("second")(tx); err != nil {
				return err
			}
			if got := *census.Get(tx); !slices.Equal(got, []string{"first", "second"}) {
				return fmt.Errorf("the census within the commit is %q", got)
			}
			return nil
		})
	for i, err := range answers {
		if (err != nil) != (i == 2) {
			t.Errorf("function %d: %v", i, err)
		}
	}

	disktest.Equal(t, "found", found.ID, ID(1))
	disktest.Equal(t, "census within the commit", inside, []string{"first"})
	disktest.Equal(t, "census outside before the commit", outside, []string{})
	disktest.Equal(t, "names", namesOf(t, db), []string{"first", "second"})
}

func TestView_Snapshot(t *testing.T) {
	db := zooWith(t, &beast{Name: "Leo"})
	view(t, db, func(tx *Tx) error {
		before, err := beasts.Count(tx)
		if err != nil {
			return err
		}
		update(t, db, createBeast("Max"))
		after, err := beasts.Count(tx)
		disktest.Equal(t, "beasts", after, before)
		return err
	})
}

func TestClose(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, Options{Schema: zoo()})
	begun, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		db.Update(System, func(*Tx) error { close(begun); <-release; return nil })
	})
	<-begun
	for i := range 5 {
		wg.Go(func() {
			if err := db.Update(System, createBeast(fmt.Sprint(i))); err != nil {
				t.Errorf("a write that waited when the database was closed: %v", err)
			}
		})
	}

	for len(db.jobs) < 5 {
		runtime.Gosched()
	}

	wg.Go(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	close(release)
	wg.Wait()
	disktest.Equal(t, "Update after Close", refusalOf(t, db.Update(System, createBeast("late"))),
		refusal{errs.Busy, "busy", ""})
	if err := db.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}

	disktest.Equal(t, "beasts", len(allOf(t, open(t, dir, Options{Schema: zoo()}), beasts)), 5)
}

// A request that still runs during a shutdown must not get an error about damage.
func TestView_AfterCloseIsNotDamage(t *testing.T) {
	db := zooWith(t)
	shut(t, db)
	err := db.View(System, func(tx *Tx) error { _, err := beasts.Count(tx); return err })
	var d *disk.Damaged
	if err == nil || errors.As(err, &d) {
		t.Errorf("got %v, want an error that does not speak of damage", err)
	}
}
