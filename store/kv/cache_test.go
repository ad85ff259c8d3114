package kv

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"reeve/store/disk/disktest"
)

// generation returns how often the census has been computed.
func generation(t testing.TB, db *DB) (n uint64) {
	t.Helper()
	view(t, db, func(tx *Tx) error { n = census.Generation(tx); return nil })
	return n
}

func TestCache_ComputedOnlyOnChange(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: zoo()})
	disktest.Equal(t, "generation after the start", generation(t, db), uint64(1))
	stop := errors.New("stop")
	for _, test := range []struct {
		name string
		fn   func(tx *Tx) error
		grow uint64
	}{
		{"creating one", createBeast("Leo"), 1},
		{"another collection", func(tx *Tx) error { return cages.Create(tx, &cage{}) }, 0},
		{"an edit that changes nothing", func(tx *Tx) error {
			_, err := beasts.Update(tx, 1, func(*beast) error { return nil })
			return err
		}, 0},
		{"an edit", func(tx *Tx) error {
			_, err := beasts.Update(tx, 1, func(b *beast) error { b.Name = "Max"; return nil })
			return err
		}, 1},
		{"a write that is undone", func(tx *Tx) error {
			return errors.Join(createBeast("Eva")(tx), stop)
		}, 0},
		{"a read", func(tx *Tx) error { census.Get(tx); return nil }, 0},
		{"two creations in one commit", func(tx *Tx) error {
			return errors.Join(createBeast("a")(tx), createBeast("b")(tx))
		}, 1},
		{"a rebuilding", func(tx *Tx) error { _, err := census.Rebuild(tx); return err }, 1},
		{"a rebuilding after a change in the same commit", func(tx *Tx) error {
			if err := createBeast("c")(tx); err != nil {
				return err
			}
			got, err := census.Rebuild(tx)
			if err == nil && len(*got) != 4 {
				err = errors.New("the rebuilt census misses the new one")
			}
			return err
		}, 1},
		{"a deletion", func(tx *Tx) error { return beasts.Delete(tx, 1) }, 1},
	} {
		before := generation(t, db)
		if err := db.Update(System, test.fn); err != nil && !errors.Is(err, stop) {
			t.Errorf("%s: %v", test.name, err)
		}
		disktest.Equal(t, "the generation grows by, after "+test.name, generation(t, db)-before,
			test.grow)
		namesOf(t, db) // compares the census with the records
	}
}

func TestCache_NotServedBeforeCommit(t *testing.T) {
	db := zooWith(t, &beast{Name: "Leo"})
	var during []string
	update(t, db, func(tx *Tx) error {
		if err := createBeast("Max")(tx); err != nil {
			return err
		}
		disktest.Equal(t, "census in the commit", *census.Get(tx), []string{"Leo", "Max"})
		return db.View(System, func(tx *Tx) error { during = *census.Get(tx); return nil })
	})
	disktest.Equal(t, "census beside the commit", during, []string{"Leo"})
	view(t, db, func(tx *Tx) error {
		disktest.Equal(t, "census after it", *census.Get(tx), []string{"Leo", "Max"})
		return nil
	})
}

func TestCommitHook_RunsAfterCaches(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: zoo()})
	var seen []string
	var changed map[ID]bool
	db.OnCommit(func(c Changes) {
		changed = c.Of(beasts)
		disktest.Equal(t, "changed cages", c.Of(cages), nil)
		view(t, db, func(tx *Tx) error { seen = *census.Get(tx); return nil })
	})
	update(t, db, func(tx *Tx) error {
		return errors.Join(createBeast("Leo")(tx), createBeast("Max")(tx), beasts.Delete(tx, 1))
	})
	disktest.Equal(t, "census in the hook", seen, []string{"Max"})
	disktest.Equal(t, "changed beasts", changed, map[ID]bool{1: true, 2: true})
}

// Each of many write functions in one commit reads only the records that it has changed itself.
func TestCommit_WritesReadOwnChanges(t *testing.T) {
	s := zoo()
	var read []int // number of changed records at each computation
	counted := NewUpdatedCache("counted", new(int),
		func(_ *Tx, old *int, changed map[Table]map[ID]bool) (*int, error) {
			if changed != nil {
				read = append(read, len(changed[beasts]))
			}
			next := *old + len(changed[beasts])
			return &next, nil
		}, beasts)
	s.Caches = append(s.Caches, counted)
	db := open(t, t.TempDir(), Options{Schema: s})
	var writes []func(tx *Tx) error
	for i := range 20 {
		writes = append(writes, func(tx *Tx) error {
			err := createBeast(fmt.Sprint("beast ", i))(tx)
			counted.Get(tx)
			counted.Get(tx)
			return err
		})
	}

	for _, err := range together(t, db, writes...) {
		noErr(t, err)
	}

	if len(read) != 20 || slices.Max(read) != 1 {
		t.Errorf("the cache has read %v", read)
	}

	view(t, db, func(tx *Tx) error {
		disktest.Equal(t, "counted", *counted.Get(tx), 20)
		return nil
	})
}

// picky is a cache that cannot be computed while there is a beast called bad.
var picky = NewCache("picky", func(tx *Tx) (*bool, error) {
	_, err := beastByName.Get(tx, "bad")
	if err == nil {
		return nil, errors.New("there is a bad beast")
	}
	return new(bool), nil
}, beasts)

// A write that prevents the computation of a cache is rejected, and the other writes of its batch
// are not.
func TestCache_UncomputableRefusesOnlyCause(t *testing.T) {
	s := zoo()
	s.Caches = append(s.Caches, picky)
	db := open(t, t.TempDir(), Options{Schema: s})
	answers := together(t, db, createBeast("first"), createBeast("bad"), createBeast("second"))
	for i, err := range answers {
		if (err != nil) != (i == 1) {
			t.Errorf("function %d: %v", i, err)
		}
	}
	disktest.Equal(t, "names", namesOf(t, db), []string{"first", "second"})
}

// A seed or a migration may use a rule or a setting that reads a cache before any was computed.
func TestCache_InSeedAndMigration(t *testing.T) {
	read := func(want int) func(tx *Tx) error {
		return func(tx *Tx) error {
			if got := len(*census.Get(tx)); got != want {
				return errors.New("the census is wrong")
			}
			return createBeast("Leo" + string(rune('0'+want)))(tx)
		}
	}
	dir := t.TempDir()
	shut(t, open(t, dir, Options{Schema: zoo(), Seed: read(0)}))
	newer := zoo()
	newer.Migrations = []Migration{{"add another", read(1)}}
	disktest.Equal(t, "names", namesOf(t, open(t, dir, Options{Schema: newer})),
		[]string{"Leo0", "Leo1"})
}
