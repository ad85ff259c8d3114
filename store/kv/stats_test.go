package kv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

func TestHistogram_Ranges(t *testing.T) {
	h := NewHistogram(1, 10)
	for _, v := range []int64{0, 1, 2, 10, 11, 1000} {
		h.Add(v)
	}
	want := Distribution{Bounds: []int64{1, 10}, Counts: []uint64{2, 2, 2}, Sum: 1024}
	if diff := cmp.Diff(want, h.Read()); diff != "" || h.Read().Count() != 6 {
		t.Errorf("(- want, + got)\n%s", diff)
	}
}

// figures are the counters that a step may change.
type figures struct{ Views, Reads, Updates, Commits, Failures, Waited, Batches, Functions uint64 }

func (s Stats) figures() figures {
	return figures{s.Views, s.Reads, s.Updates, s.Commits, s.Failures, s.Wait.Count(),
		s.Commit.Count(), uint64(s.Batch.Sum)}
}

func TestStats_Counts(t *testing.T) {
	db := zooWith(t)
	refused := errors.New("refused")
	for _, step := range []struct {
		name string
		do   func() error
		adds figures
	}{
		{"a view that reads nothing", func() error {
			return db.View(System, func(*Tx) error { return nil })
		}, figures{Views: 1}},
		{"a view of the file", func() error {
			return db.View(System, func(tx *Tx) error { _, err := keepers.Count(tx); return err })
		}, figures{Views: 1, Reads: 1}},
		{"a write", func() error {
			return db.Update(System, func(tx *Tx) error {
				return keepers.Create(tx, &keeper{Name: "counted"})
			})
		}, figures{Updates: 1, Commits: 1, Waited: 1, Batches: 1, Functions: 1}},
		{"a write that changes nothing", func() error {
			return db.Update(System, func(*Tx) error { return nil })
		}, figures{Updates: 1, Waited: 1}},
		{"a write that is refused", func() error {
			if err := db.Update(System, func(*Tx) error {
				return refused
			}); !errors.Is(err, refused) {
				return err
			}
			return nil
		}, figures{Updates: 1, Waited: 1}},
	} {
		before := db.Stats().figures()
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		after := db.Stats().figures()
		got := figures{
			after.Views - before.Views, after.Reads - before.Reads, after.Updates - before.Updates,
			after.Commits - before.Commits,
			after.Failures - before.Failures, after.Waited - before.Waited,
			after.Batches - before.Batches, after.Functions - before.Functions,
		}
		if diff := cmp.Diff(step.adds, got); diff != "" {
			t.Errorf("%s (- want, + got)\n%s", step.name, diff)
		}
	}
}

func TestStats_WritesPerCommit(t *testing.T) {
	db := zooWith(t)
	before := db.Stats()
	together(t, db, createBeast("a"), createBeast("b"), createBeast("c"))
	after := db.Stats()
	if commits, functions := after.Commits-before.Commits, after.Batch.Sum-before.Batch.Sum; commits != 1 || functions != 3 {
		t.Errorf("%d commits of %d functions, want 1 of 3", commits, functions)
	}
	if after.Wait.Sum <= before.Wait.Sum || after.Commit.Sum <= before.Commit.Sum {
		t.Error("neither waiting nor committing took time")
	}
}

func TestStats_OldestRead(t *testing.T) {
	db := zooWith(t)
	if s := db.Stats(); s.Reading != 0 || s.OldestRead != 0 {
		t.Errorf("%d are reading since %s", s.Reading, s.OldestRead)
	}

	view(t, db, func(tx *Tx) error {
		if s := db.Stats(); s.Reading != 0 {
			t.Error("a view is reading that has not begun to")
		}
		if _, err := keepers.Count(tx); err != nil {
			return err
		}

		first := db.Stats()
		view(t, db, func(tx *Tx) error {
			_, err := keepers.Count(tx)
			if s := db.Stats(); s.Reading != 2 || s.OldestRead <= first.OldestRead {
				t.Errorf("%d are reading, the oldest for %s after %s", s.Reading, s.OldestRead,
					first.OldestRead)
			}
			return err
		})
		if s := db.Stats(); s.Reading != 1 {
			t.Errorf("%d are reading, want 1", s.Reading)
		}

		return nil
	})
	if s := db.Stats(); s.Reading != 0 || s.OldestRead != 0 {
		t.Errorf("%d are reading since %s", s.Reading, s.OldestRead)
	}
}

func TestHealthy_Reason(t *testing.T) {
	db := zooWith(t)
	if err := db.Healthy(); err != nil || !db.FailedSince().IsZero() {
		t.Errorf("%v since %s", err, db.FailedSince())
	}
	noErr(t, db.Close())
	disktest.Equal(t, "closed", refusalOf(t, db.Healthy()), refusal{errs.Busy, "busy", ""})
	stopped := zooWith(t)
	err := stopped.failed.StopUnlessFull(dataName, errors.New("the disk gave up"))
	disktest.Equal(t, "stopped", stopped.Healthy(), err)
	if stopped.FailedSince().IsZero() {
		t.Error("it does not say since when")
	}
}

func TestStats_FileSize(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, Options{Schema: zoo()})
	for i := range 20 {
		update(t, db, createLarge(i))
	}

	full, err := db.FileStats()
	noErr(t, err)
	info, err := os.Stat(filepath.Join(dir, dataName))
	noErr(t, err)
	if len(full) != 1 || full[0].Name != dataName || full[0].Size != info.Size() {
		t.Errorf("%+v, the file has %d bytes", full, info.Size())
	}

	for i := range 20 {
		update(t, db, func(tx *Tx) error { return beasts.Delete(tx, ID(i+1)) })
	}

	update(t, db, createBeast("last")) // pages become free with the next commit
	emptied, err := db.FileStats()
	noErr(t, err)
	if emptied[0].Free < full[0].Free+20*8000/2 {
		t.Errorf("%d bytes are free after deleting, %d before", emptied[0].Free, full[0].Free)
	}
}

func TestCollections(t *testing.T) {
	db := zooWith(t, &beast{Name: "Leo"}, &beast{Name: "Mia"})
	view(t, db, func(tx *Tx) error {
		counts, err := Collections(tx)
		noErr(t, err)
		names := map[string]int{}
		for _, c := range counts {
			names[c.Name] = c.Records
			if (c.Sum == 0) != (c.Records == 0) {
				t.Errorf("%s has %d records and the sum %x", c.Name, c.Records, c.Sum)
			}
		}

		disktest.Equal(t, "counts", names, map[string]int{
			"install": 1,
			"cage":    1,
			"keeper":  1,
			"beast":   2,
			"chip":    0,
		})
		caches, err := Caches(tx)
		noErr(t, err)
		if len(caches) != 1 || caches[0].At.IsZero() {
			t.Fatalf("%+v", caches)
		}

		disktest.Equal(t, "cache",
			fmt.Sprint(caches[0].Name, caches[0].Generation, caches[0].Records),
			fmt.Sprint("census", 2, 2))
		newest, err := LatestUpdate(tx)
		disktest.Equal(t, "newest", newest, frozen())
		return err
	})
}

func TestKeptCopies_OfMigrationsOnly(t *testing.T) {
	db := zooWith(t)
	for name, size := range map[string]int{
		"data.db.schema-10": 3,
		"data.db.schema-2":  5,
		"data.db.schema-x":  1,
		"data.db.old":       1,
	} {
		noErr(t, os.WriteFile(filepath.Join(db.dir, name), make([]byte, size), 0o600))
	}

	kept, err := db.KeptCopies()
	noErr(t, err)
	if len(kept) != 2 || kept[0].At.IsZero() {
		t.Fatalf("%+v", kept)
	}

	for i, want := range []KeptCopy{{Name: "data.db.schema-2", Schema: 2, Size: 5}, {
		Name:   "data.db.schema-10",
		Schema: 10,
		Size:   3,
	}} {
		want.At = kept[i].At
		disktest.Equal(t, "copy", kept[i], want)
	}
}

func noErr(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
