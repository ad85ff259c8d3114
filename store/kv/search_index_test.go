package kv

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
	"reeve/store/fold"
)

// itemIndex returns the search index of the items.
func itemIndex(db *DB) *searchIndex { return db.indexer.index(&items.untyped.search.searchBuckets) }

// indexed waits until the index contains every change and searches can use it. The limit detects a
// hang: each update waits for the disk several times, which takes seconds beside other programs.
func indexed(t testing.TB, db *DB) *indexView {
	t.Helper()
	x := itemIndex(db)
	for until := time.Now().Add(2 * time.Minute); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		var v *indexView
		view(t, db, func(tx *Tx) error {
			state, err := x.state(tx)
			if state != nil {
				if v = x.current(state, x.number(tx)); v != nil &&
					(v.From < x.number(tx) || state.Drained < v.From) {
					v = nil
				}
			}
			return err
		})
		if v != nil {
			return v
		}
	}

	t.Fatalf("the index does not follow: %+v", db.SearchIndexes())
	return nil
}

// byIndex returns the items that the index finds. ok is false if it cannot be used.
func byIndex(t testing.TB, db *DB, part string) (ids []ID, ok bool) {
	t.Helper()
	view(t, db, func(tx *Tx) error {
		found, told, err := items.untyped.search.find(tx, part)
		if ok = told; told {
			ids = slices.Collect(found.walk(false))
		}
		return err
	})
	return ids, ok
}

// byWalk returns the items that reading all texts finds.
func byWalk(t testing.TB, db *DB, part string) (ids []ID) {
	t.Helper()
	view(t, db, func(tx *Tx) error {
		for id := range items.untyped.search.matches(tx, part) {
			ids = append(ids, id)
		}
		return nil
	})
	return ids
}

// randomPart returns a substring of at least three bytes that some texts contain.
func randomPart(r *rand.Rand) string {
	for {
		text := strings.ReplaceAll(fold.Search(randomText(r)+randomText(r)), between, "")
		if len(text) >= 3 {
			return text[:min(len(text), 3+r.IntN(6))]
		}
	}
}

// At any time, with any changes and restarts, the index finds the same items as reading all texts.
func TestSearchIndex_FollowsWrites(t *testing.T) {
	r, dir := disktest.Random(t), t.TempDir()
	options := Options{Schema: shop(), IndexFrom: 5}
	db := open(t, dir, options)
	told, asked := 0, 0
	for step := range disktest.Size(150, 300, 6000) {
		update(t, db, func(tx *Tx) error {
			for range 1 + r.IntN(12) {
				id := ID(1 + r.IntN(80))
				var err error
				switch _, missing := items.Get(tx, id); {
				case missing != nil || r.IntN(3) == 0:
					err = items.Create(tx, randomItem(r, step*100+r.IntN(100)))
					if err != nil && strings.Contains(err.Error(), "already") {
						err = nil
					}
				case r.IntN(3) == 0:
					err = items.Delete(tx, id)
				default:
					_, err = items.Update(tx, id, func(v *item) error {
						v.Title = randomText(r)
						return nil
					})
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if r.IntN(10) == 0 && len(allOf(t, db, items)) >= options.IndexFrom {
			indexed(t, db)
		}

		for range 3 {
			part := randomPart(r)
			asked++
			if got, ok := byIndex(t, db, part); ok {
				told++
				disktest.Equal(t, fmt.Sprintf("step %d: %q", step, part), got, byWalk(t, db, part))
			}
		}

		switch r.IntN(60) {
		case 0:
			shut(t, db)
			db = open(t, dir, options)
		case 1:
			shut(t, db)
			noErr(t, os.RemoveAll(filepath.Join(dir, searchDir)))
			db = open(t, dir, options)
		case 2:
			mustVerify(t, db)
		}
	}

	indexed(t, db)
	mustVerify(t, db)
	if told < asked/4 {
		t.Errorf("the index told %d of %d searches", told, asked)
	}

	left, err := filepath.Glob(filepath.Join(dir, searchDir, "*"))
	if noErr(t, err); len(left) > 20 {
		t.Errorf("%d files: %q", len(left), left)
	}
}

// Searches during writes find only what their transaction sees, also while the database is compacted.
func TestSearchIndex_ConcurrentSnapshot(t *testing.T) {
	t.Run("writes", func(t *testing.T) { searchDuringWrites(t, nil) })
	t.Run("writes and compactions", func(t *testing.T) {
		done := 0
		searchDuringWrites(t, func(db *DB) {
			switch _, err := db.Compact(t.Context(), ignore); {
			case err == nil:
				done++
			case !errs.Is(err, errs.Busy):
				t.Error(err)
			}
		})
		if done == 0 {
			t.Error("no compaction has succeeded")
		}
	})
}

// searchDuringWrites searches while other goroutines write, and call beside again and again; nil for
// nothing.
func searchDuringWrites(t *testing.T, beside func(*DB)) {
	t.Helper()
	db := open(t, t.TempDir(), Options{Schema: shop(), IndexFrom: 5})
	r := disktest.Random(t)
	update(t, db, func(tx *Tx) error {
		for n := range 40 {
			if err := items.Create(tx, randomItem(r, n)); err != nil {
				return err
			}
		}
		return nil
	})
	indexed(t, db)
	stop, told := make(chan struct{}), 0
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			err := db.Update(System, func(tx *Tx) error {
				_, err := items.Update(tx, ID(1+n%40), func(v *item) error {
					v.Title = fmt.Sprint("title ", n%7)
					return nil
				})
				return err
			})
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	wg.Go(func() {
		for beside != nil {
			select {
			case <-stop:
				return
			default:
				beside(db)
			}
		}
	})
	for n := range disktest.Size(300, 800, 20_000) {
		part := fmt.Sprint("title ", n%7)
		view(t, db, func(tx *Tx) error {
			found, ok, err := items.untyped.search.find(tx, part)
			if err != nil || !ok {
				return err
			}
			told++
			var want []ID
			for id := range items.untyped.search.matches(tx, part) {
				want = append(want, id)
			}
			disktest.Equal(t, part, slices.Collect(found.walk(false)), want)
			return nil
		})
		if n%50 == 0 {
			time.Sleep(5 * time.Millisecond)
		}
	}

	close(stop)
	wg.Wait()
	if told == 0 {
		t.Error("the index was never asked")
	}

	indexed(t, db)
	for n := range 7 {
		part, want := fmt.Sprint("title ", n), []ID{}
		for _, v := range allOf(t, db, items) {
			if strings.Contains(v.Title, part) {
				want = append(want, v.ID)
			}
		}
		slices.Sort(want)
		got, ok := byIndex(t, db, part)
		disktest.Equal(t, fmt.Sprintf("found by the index (used: %v)", ok), got, want)
	}
	mustVerify(t, db)
}

func TestSearchIndex_NoneForFewRecords(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, Options{Schema: shop()})
	update(t, db, func(tx *Tx) error {
		return items.Create(tx, &item{Code: "a", Title: "some text"})
	})
	time.Sleep(2 * indexPause)
	if _, ok := byIndex(t, db, "some"); ok {
		t.Error("one record has an index")
	}
	if _, err := os.Stat(filepath.Join(dir, searchDir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("files of it: %v", err)
	}
	disktest.Equal(t, "found", found(t, db, "some"), []ID{1})
}

// manyItems opens a database with 40 items and waits until they are indexed, in several segments.
func manyItems(t *testing.T, dir string) *DB {
	t.Helper()
	db := open(t, dir, Options{Schema: shop(), IndexFrom: 5})
	update(t, db, func(tx *Tx) error {
		for n := range 40 {
			if err := items.Create(tx, &item{Code: fmt.Sprint(n), Title: fmt.Sprint("number ", n)}); err != nil {
				return err
			}
		}
		return nil
	})
	indexed(t, db)
	return db
}

// With damaged index files searches still work, and the files are built again.
func TestSearchIndex_DamagedIsRebuilt(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, path string){
		"a flipped bit": func(t *testing.T, path string) {
			b := disktest.ReadFile(t, path)
			b[len(b)/3] ^= 4
			disktest.WriteFile(t, path, b)
		},
		"cut short": func(t *testing.T, path string) { noErr(t, os.Truncate(path, 10)) },
		"missing":   func(t *testing.T, path string) { noErr(t, os.Remove(path)) },
	} {
		for _, what := range []string{"item-*.segment", "item.json"} {
			t.Run(name+" "+what, func(t *testing.T) {
				dir := t.TempDir()
				shut(t, manyItems(t, dir))
				paths, err := filepath.Glob(filepath.Join(dir, searchDir, what))
				if noErr(t, err); len(paths) == 0 {
					t.Fatal("there is no such file")
				}

				for _, path := range paths {
					harm(t, path)
				}

				db := open(t, dir, Options{Schema: shop(), IndexFrom: 5})
				for n := range 40 {
					want := byWalk(t, db, fmt.Sprint("number ", n))
					disktest.Equal(t, "found", found(t, db, fmt.Sprint("number ", n)), want)
				}

				x := itemIndex(db)
				x.mu.Lock()
				x.retry = time.Time{}
				x.mu.Unlock()
				db.indexer.wake()
				indexed(t, db)
				if got, ok := byIndex(t, db, "number 17"); !ok || !slices.Equal(got, []ID{18}) {
					t.Errorf("the index finds %v, %v", got, ok)
				}
			})
		}
	}
}

// While an index cannot be written, searches read all texts and the list of changes is bounded. The
// index is built when it can be written again.
func TestSearchIndex_Unwritable(t *testing.T) {
	dir := t.TempDir()
	shut(t, manyItems(t, dir))
	noErr(t, os.RemoveAll(filepath.Join(dir, searchDir)))
	disktest.WriteFile(t, filepath.Join(dir, searchDir), []byte("in the way"))
	db := open(t, dir, Options{Schema: shop(), IndexFrom: 5})
	for until := time.Now().Add(2 * time.Minute); len(db.SearchIndexes()) == 0 &&
		time.Now().Before(until); time.Sleep(time.Millisecond) {
	}

	all := db.SearchIndexes()
	if len(all) != 1 || all[0].Err == nil || all[0].Collection != "item" {
		t.Fatalf("%+v", all)
	}

	disktest.Equal(t, "found", found(t, db, "number 17"), []ID{18})
	x := itemIndex(db)
	noErr(t, x.giveUp())
	update(t, db, func(tx *Tx) error {
		_, err := items.Update(tx, 18, func(v *item) error { v.Title = "another"; return nil })
		return err
	})
	view(t, db, func(tx *Tx) error {
		for id := range x.listed(tx, 0) {
			t.Errorf("a change of %d is listed", id)
		}
		return nil
	})
	mustVerify(t, db)
	noErr(t, os.Remove(filepath.Join(dir, searchDir)))
	x.mu.Lock()
	x.retry = time.Time{}
	x.mu.Unlock()
	db.indexer.wake()
	indexed(t, db)
	if got, ok := byIndex(t, db, "another"); !ok || !slices.Equal(got, []ID{18}) {
		t.Errorf("the index finds %v, %v", got, ok)
	}
}

// Failed attempts to build an index leave no files.
func TestSearchIndex_UnsavedLeavesNoFiles(t *testing.T) {
	dir := t.TempDir()
	shut(t, manyItems(t, dir))
	noErr(t, os.RemoveAll(filepath.Join(dir, searchDir)))
	noErr(t, os.MkdirAll(filepath.Join(dir, searchDir, "item.json", "in the way"), 0o700))
	db := open(t, dir, Options{Schema: shop(), IndexFrom: 5})
	for until := time.Now().Add(2 * time.Minute); len(db.SearchIndexes()) == 0 &&
		time.Now().Before(until); time.Sleep(time.Millisecond) {
	}

	if all := db.SearchIndexes(); len(all) != 1 || all[0].Err == nil {
		t.Fatalf("%+v", all)
	}
	if left, err := filepath.Glob(filepath.Join(dir, searchDir, "*.segment")); err != nil ||
		len(left) > 0 {
		t.Errorf("%q is left, %v", left, err)
	}
}

// The index of other data is not used: here data.db is replaced by an older copy.
func TestSearchIndex_RestoredDatabase(t *testing.T) {
	dir := t.TempDir()
	db := manyItems(t, dir)
	shut(t, db)
	old := disktest.ReadFile(t, filepath.Join(dir, dataName))
	db = open(t, dir, Options{Schema: shop(), IndexFrom: 5})
	update(t, db, func(tx *Tx) error {
		for id := range ID(40) {
			if _, err := items.Update(tx, id+1, func(v *item) error {
				v.Title = fmt.Sprint("later ", id)
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	indexed(t, db)
	shut(t, db)
	disktest.WriteFile(t, filepath.Join(dir, dataName), old)
	noErr(t, os.Remove(filepath.Join(dir, markName)))
	db = open(t, dir, Options{Schema: shop(), IndexFrom: 5})
	disktest.Equal(t, "found", found(t, db, "number 17"), []ID{18})
	disktest.Equal(t, "what is not there any more", found(t, db, "later"), nil)
	indexed(t, db)
	got, ok := byIndex(t, db, "number 17")
	if !ok || !slices.Equal(got, []ID{18}) {
		t.Errorf("the index finds %v, %v", got, ok)
	}
}
