package kv

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
)

// retell replaces the JSON of a beast by the result of fn, with a correct checksum. It does not
// update indexes and totals.
func retell(btx *bbolt.Tx, id ID, fn func(string) string) error {
	bucket := btx.Bucket([]byte("beast"))
	payload := fn(string(bucket.Get(idKey(id))[disk.FrameHead:]))
	return bucket.Put(idKey(id), disk.Frame("beast", idKey(id), []byte(payload)))
}

func TestVerify_FindsDamage(t *testing.T) {
	bucket := func(name string, fn func(b *bbolt.Bucket) error) func(*bbolt.Tx) error {
		return func(btx *bbolt.Tx) error { return fn(btx.Bucket([]byte(name))) }
	}
	remove := func(name string, key []byte) func(*bbolt.Tx) error {
		return bucket(name, func(b *bbolt.Bucket) error {
			if b.Get(key) == nil {
				return fmt.Errorf("%s has no key %x", name, key)
			}
			return b.Delete(key)
		})
	}

	put := func(name string, key, value []byte) func(*bbolt.Tx) error {
		return bucket(name, func(b *bbolt.Bucket) error { return b.Put(key, value) })
	}

	tag, keeper1 := encodeKey("tag"), encodeKey(ID(1))
	head := func(name string, key []byte, n byte) func(*bbolt.Tx) error {
		return put(name, key, disk.Frame(name, key, []byte{0, 0, 0, 0, 0, 0, 0, n}))
	}
	for name, test := range map[string]struct {
		harm func(*bbolt.Tx) error
		want string // contained in one of the faults
	}{
		"a flipped bit in a record": {bucket("beast", func(b *bbolt.Bucket) error {
			value := slices.Clone(b.Get(idKey(2)))
			value[disk.FrameHead+12] ^= 8
			return b.Put(idKey(2), value)
		}), "beast 2 is damaged: its checksum does not match"},
		"a record cut short": {put("beast", idKey(2), []byte{1, 2}),
			"beast 2 is damaged: it is cut short"},
		"an unknown record frame": {put("beast", idKey(2), []byte("\x02abcd{}")),
			"beast 2 is damaged: it has frame version 2"},
		"a record under another's id": {bucket("beast", func(b *bbolt.Bucket) error {
			return b.Put(idKey(2), slices.Clone(b.Get(idKey(1))))
		}), "beast 2 is damaged: its checksum does not match"},
		"a record that says another id": {func(btx *bbolt.Tx) error {
			return retell(btx, 2, func(s string) string {
				return strings.Replace(s, `"id":2`, `"id":3`, 1)
			})
		}, "beast 2 is damaged: it says it is 3"},
		"a record that is no JSON": {func(btx *bbolt.Tx) error {
			return retell(btx, 2, func(s string) string { return s[1:] })
		}, "beast 2 is damaged"},
		"a missing record": {remove("beast", idKey(2)),
			"it leads to beast 2, which does not exist"},
		"a missing record without index": {remove("chip", idKey(1)), "_count chip is damaged"},
		"a key that is no id": {put("beast", []byte("abc"), nil),
			"a key has 3 bytes, not 8"},
		"a missing unique entry": {remove("beast.name", encodeKey("max")),
			"beast.name: beast 2 is missing"},
		"an extra unique entry": {put("beast.name", encodeKey("eva"), idKey(2)),
			"it leads to beast 2, which has another value"},
		"a unique entry to another": {put("beast.name", encodeKey("max"), idKey(1)),
			"it leads to beast 1, which has another value"},
		"a unique entry that is no id": {put("beast.name", encodeKey("max"), []byte("x")),
			"1 bytes, not an id"},
		"a missing entry": {remove("beast.tags", slices.Concat(tag, idKey(2))),
			"beast.tags: beast 2 is missing"},
		"an extra entry": {put("beast.tags", slices.Concat(tag, idKey(3)), nil),
			"it leads to beast 3, which has another value"},
		"an entry of another record instead": {func(btx *bbolt.Tx) error {
			b := btx.Bucket([]byte("beast.tags"))
			return errors.Join(b.Delete(slices.Concat(tag, idKey(2))),
				b.Put(slices.Concat(tag, idKey(3)), nil))
		}, "it leads to beast 3, which has another value"},
		"an entry to nothing": {put("beast.tags", slices.Concat(tag, idKey(9)), nil),
			"it leads to beast 9, which does not exist"},
		"a missing count": {remove("beast.tags", tag),
			"an entry without a count before it"},
		"a count that is too high": {head("beast.tags", tag, 3), "2 entries, its count says 3"},
		"a count that is too low": {head("beast.keeper_ids", keeper1, 1),
			"2 entries, its count says 1"},
		"a count of nothing": {head("beast.tags", encodeKey("none"), 1),
			"0 entries, its count says 1"},
		"a broken count": {put("beast.tags", tag, []byte("junk of a length")),
			"beast.tags count"},
		"a wrong tally of records": {put(countBucket, []byte("keeper"),
			disk.Frame(countBucket, []byte("keeper"), make([]byte, 16))),
			"_count keeper is damaged"},
		"a missing tally": {remove(countBucket, []byte("keeper")),
			"_count keeper is damaged: it is missing"},
		"a broken tally": {put(countBucket, []byte("keeper"), []byte("junk of a length")),
			"_count keeper is damaged"},
		"a dangling reference": {remove("keeper", idKey(1)),
			"beast 1: keeper_ids leads to keeper 1, which does not exist"},
		"a dangling owner": {remove("beast", idKey(3)),
			"chip 1: beast_id leads to beast 3, which does not exist"},
		"a circle": {circle,
			"beast 1: it is part of a cycle, or deeper than 32 levels"},
		"an unknown bucket": {func(btx *bbolt.Tx) error {
			_, err := btx.CreateBucket([]byte("stranger"))
			return err
		}, `bucket "stranger" is not of this program`},
		"a missing bucket": {func(btx *bbolt.Tx) error {
			return btx.DeleteBucket([]byte("beast.born"))
		}, "bucket beast.born is missing"},
		"a missing index": {remade("beast.born"), "beast.born: beast 1 is missing"},
		"a sequence that is low": {bucket("beast", func(b *bbolt.Bucket) error {
			return b.SetSequence(2)
		}), "beast: the next id, 3, is already used"},
		"no description of itself": {remove(disk.MetaBucket, disk.MetaKey),
			"_meta file is damaged: it is cut short"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db := zooForVerify(t, dir)
			shut(t, db)
			bolt(t, dir, test.harm)
			before := disktest.ReadFile(t, filepath.Join(dir, dataName))
			report, err := VerifyDir(dir, Options{Schema: zoo()})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(report.Faults, func(f string) bool {
				return strings.Contains(f, test.want)
			}) {
				t.Errorf("want a fault with %q in\n%s", test.want,
					strings.Join(report.Faults, "\n"))
			}

			for _, f := range report.Faults {
				if strings.Contains(f, "\n") {
					t.Errorf("a fault of more than one line: %q", f)
				}
			}

			if string(disktest.ReadFile(t, filepath.Join(dir, dataName))) != string(before) {
				t.Error("verifying has changed the file")
			}
		})
	}
}

// zooForVerify opens a zoo with three beasts, of which the first two share a keeper and a tag, and
// a chip of the third.
func zooForVerify(t testing.TB, dir string) *DB {
	t.Helper()
	db := open(t, dir, Options{Schema: zoo()})
	update(t, db, func(tx *Tx) error {
		return errors.Join(
			keepers.Create(tx, &keeper{Name: "Ann"}),
			beasts.Create(tx, &beast{Name: "Leo", Tags: []string{"tag"}, KeeperIDs: []ID{1}}),
			beasts.Create(tx, &beast{
				Name:      "Max",
				Tags:      []string{"tag"},
				KeeperIDs: []ID{1},
				ParentID:  1,
			}),
			beasts.Create(tx, &beast{Name: "Ada"}),
			chips.Create(tx, &chip{BeastID: 3}))
	})
	return db
}

// circle makes the first beast the child of its child, and updates the index.
func circle(btx *bbolt.Tx) error {
	b, key := btx.Bucket([]byte("beast.parent_id")), encodeKey(ID(2))
	return errors.Join(
		retell(btx, 1, func(s string) string {
			return strings.Replace(s, `"parent_id":0`, `"parent_id":2`, 1)
		}),
		b.Put(key, disk.Frame("beast.parent_id", key, []byte{0, 0, 0, 0, 0, 0, 0, 1})),
		b.Put(slices.Concat(key, idKey(1)), nil))
}

// remade empties a bucket.
func remade(name string) func(*bbolt.Tx) error {
	return func(btx *bbolt.Tx) error {
		if err := btx.DeleteBucket([]byte(name)); err != nil {
			return err
		}
		_, err := btx.CreateBucket([]byte(name))
		return err
	}
}

func TestVerify_SoundDatabase(t *testing.T) {
	dir := t.TempDir()
	shut(t, zooForVerify(t, dir))
	before := disktest.Snapshot(t, dir)
	report, err := VerifyDir(dir, Options{Schema: zoo()})
	if err != nil {
		t.Fatal(err)
	}
	disktest.Equal(t, "report", *report, Report{Records: 6}) // including the Install record
	sameFiles(t, disktest.Snapshot(t, dir), before)
}

func TestVerify_ReportBound(t *testing.T) {
	r := &Report{}
	for i := range maxFaults + 7 {
		r.fault("fault %d", i)
	}
	disktest.Equal(t, "faults", []int{len(r.Faults), r.More}, []int{maxFaults, 7})
}

// A wrong index entry must not cascade the deletion of a record to one that it does not own.
func TestIndex_FlippedEntryDeletesNothing(t *testing.T) {
	db, err := Open(t.TempDir(), Options{Schema: zoo()}) // not open(), which would verify it at the end
	if err != nil {
		t.Fatal(err)
	}

	defer db.Close()
	update(t, db, func(tx *Tx) error {
		return errors.Join(beasts.Create(tx, &beast{}), beasts.Create(tx, &beast{}),
			chips.Create(tx, &chip{BeastID: 1}), chips.Create(tx, &chip{BeastID: 2}))
	})
	err = db.bolt.Update(func(btx *bbolt.Tx) error { // beast 1's entry for chip 1 becomes one for chip 2
		b := btx.Bucket([]byte("chip.beast_id"))
		return errors.Join(b.Delete(slices.Concat(idKey(1), idKey(1))),
			b.Put(slices.Concat(idKey(1), idKey(2)), nil))
	})
	if err != nil {
		t.Fatal(err)
	}

	err = db.Update(System, func(tx *Tx) error { return beasts.Delete(tx, 1) })
	var d *disk.Damaged
	if !errors.As(err, &d) {
		t.Errorf("deleting through a damaged index: %v, want damage", err)
	}

	disktest.Equal(t, "chips left", len(allOf(t, db, chips)), 2)
}

// verifierChild verifies a database during writes, which must be safe. It is a child process
// because a fault could crash it.
func verifierChild() int {
	db, err := Open(dirOf(), Options{Schema: zoo()})
	if err != nil {
		fmt.Println(err)
		return 1
	}

	var wg sync.WaitGroup
	var stop atomic.Bool
	for w := range 4 {
		wg.Go(func() {
			for i := 0; !stop.Load(); i++ {
				b := &beast{Name: fmt.Sprint(w, " ", i), Note: strings.Repeat("x", 3000)}
				if err := db.Update(System, func(tx *Tx) error {
					return beasts.Create(tx, b)
				}); err != nil {
					fmt.Println(err)
				}
				if err := db.Update(System, func(tx *Tx) error {
					return beasts.Delete(tx, b.ID)
				}); err != nil {
					fmt.Println(err)
				}
			}
		})
	}

	faults := 0
	for range 200 {
		err := db.View(System, func(tx *Tx) error {
			report := tx.Verify()
			if faults += len(report.Faults); len(report.Faults) > 0 {
				fmt.Println(report.Faults[0])
			}
			return nil
		})
		if err != nil || faults > 0 {
			fmt.Println(err)
			return 1
		}
	}

	stop.Store(true)
	wg.Wait()
	return 0
}

func TestVerify_WhileWriting(t *testing.T) {
	if out, err := child(t, "verifier", 2*time.Minute, dirVar+"="+t.TempDir()); err != nil {
		t.Errorf("%v: %.1000s", err, out)
	}
}
