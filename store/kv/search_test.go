package kv

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
)

// found returns the IDs of the items whose text contains part.
func found(t testing.TB, db *DB, part string) (ids []ID) {
	t.Helper()
	view(t, db, func(tx *Tx) (err error) {
		ids, err = items.FindIDs(tx, Query[item]{Search: part, Limit: 100})
		return err
	})
	return ids
}

func TestSearch_FollowsRecord(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: shop()})
	edit := func(id ID, title, note string) func(tx *Tx) error {
		return func(tx *Tx) error {
			_, err := items.Update(tx, id, func(v *item) error {
				v.Title, v.Note = title, note
				return nil
			})
			return err
		}
	}

	update(t, db, func(tx *Tx) error {
		return errors.Join(
			items.Create(tx, &item{Code: "a", Title: "Grüne Äpfel ", Note: "sweet"}),
			items.Create(tx, &item{Code: "b", Title: "Pear", Note: ""}))
	})
	for _, step := range []struct {
		name string
		do   func(tx *Tx) error // nil for none
		part string
		want []ID
	}{
		{"a part in another case", nil, "apf", []ID{1}},
		{"a part of the second field", nil, "wee", []ID{1}},
		{"what is in both records", nil, "e", []ID{1, 2}},
		{"what is in none", nil, "plum", nil},
		{"the end of one field and the beginning of the next", nil, "apfelsweet", nil},
		{"the end of one field, a space, and the beginning of the next", nil, "apfel sweet", nil},
		{"a new text", edit(2, "Plum", "sour"), "plum", []ID{2}},
		{"the old text", nil, "pear", nil},
		{"what another record still has", edit(2, "Plum", "sweet and sour"), "sweet", []ID{1, 2}},
		{"an edit of something else", func(tx *Tx) error {
			_, err := items.Update(tx, 2, func(v *item) error { v.Size = 7; return nil })
			return err
		}, "plum", []ID{2}},
		{"a text that is taken away", edit(2, "", ""), "plum", nil},
		{"a deleted record", func(tx *Tx) error { return items.Delete(tx, 1) }, "sweet", nil},
		{"a record without any text", nil, "", []ID{2}},
	} {
		if step.do != nil {
			update(t, db, step.do)
		}
		disktest.Equal(t, step.name, found(t, db, step.part), step.want)
		mustVerify(t, db)
	}

	stop := errors.New("stop")
	err := db.Update(System, func(tx *Tx) error {
		return errors.Join(edit(2, "kept?", "no")(tx), stop)
	})
	if !errors.Is(err, stop) {
		t.Error(err)
	}

	disktest.Equal(t, "after a commit that was given up", found(t, db, "kept"), nil)
}

// No substring matches across two fields.
func TestSearch_NoMatchAcrossFields(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: shop()})
	update(t, db, func(tx *Tx) error {
		return items.Create(tx, &item{Code: "a", Title: "one", Note: "two"})
	})
	for _, part := range []string{"onetwo", "one two", "one\x00two", "e\x00t", "\x00"} {
		disktest.Equal(t, fmt.Sprintf("search for %q", part), found(t, db, part), nil)
	}
}

func TestSearch_DamagedTextIsDetected(t *testing.T) {
	text := func(fn func(b *bbolt.Bucket) error) func(*bbolt.Tx) error {
		return func(btx *bbolt.Tx) error { return fn(btx.Bucket([]byte("item.search"))) }
	}
	framed := func(id ID, s string) []byte {
		return disk.Frame("item.search", idKey(id), []byte(s))
	}
	for name, test := range map[string]struct {
		harm func(*bbolt.Tx) error
		want string // contained in one of the faults
	}{
		"a missing text": {text(func(b *bbolt.Bucket) error {
			return b.Delete(idKey(2))
		}), "item.search 2: it is missing"},
		"a flipped bit": {text(func(b *bbolt.Bucket) error {
			value := slices.Clone(b.Get(idKey(2)))
			value[len(value)-1] ^= 1
			return b.Put(idKey(2), value)
		}), "item.search 2: it is missing or not the record's"},
		"another's text": {text(func(b *bbolt.Bucket) error {
			return b.Put(idKey(2), framed(2, "red\x00round"))
		}),
			"item.search 2: it is missing or not the record's"},
		"a text of no record": {text(func(b *bbolt.Bucket) error {
			return b.Put(idKey(9), framed(9, "x\x00y"))
		}),
			"item.search: 4 texts for 3 records"},
		"a key that is no id": {text(func(b *bbolt.Bucket) error {
			return b.Put([]byte("abc"), []byte("abc"))
		}),
			"item.search: 4 texts for 3 records"},
		"a missing bucket": {func(btx *bbolt.Tx) error {
			return btx.DeleteBucket([]byte("item.search"))
		}, "bucket item.search is missing"},
		"an emptied bucket": {remade("item.search"), "item.search 1: it is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db := open(t, dir, Options{Schema: shop()})
			update(t, db, func(tx *Tx) error {
				return errors.Join(
					items.Create(tx, &item{Code: "a", Title: "red", Note: "round"}),
					items.Create(tx, &item{Code: "b", Title: "blue", Note: "square"}),
					items.Create(tx, &item{Code: "c"}))
			})
			shut(t, db)
			bolt(t, dir, test.harm)
			report, err := VerifyDir(dir, Options{Schema: shop()})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(report.Faults, func(f string) bool {
				return strings.Contains(f, test.want)
			}) {
				t.Errorf("want a fault with %q in\n%s", test.want,
					strings.Join(report.Faults, "\n"))
			}
			if !slices.ContainsFunc(report.Faults, func(f string) bool {
				return strings.Contains(f, "_count item")
			}) && name != "a missing bucket" {
				t.Errorf("the tally tells nothing of it:\n%s", strings.Join(report.Faults, "\n"))
			}
			if opened, err := Open(dir, Options{Schema: shop()}); err == nil {
				t.Error("a damaged database was opened")
				shut(t, opened)
			}
		})
	}
}

// A search whose text is damaged while the database is open looks into the record, and finds it if
// that is damaged, too, so that the result names it.
func TestSearchDamagedText_ReadsRecord(t *testing.T) {
	db, err := Open(t.TempDir(), Options{Schema: shop()}) // not open(), which would verify it at the end
	if err != nil {
		t.Fatal(err)
	}

	defer db.Close()
	update(t, db, func(tx *Tx) error {
		for i := range 30 {
			if err := items.Create(tx, &item{
				Code:  fmt.Sprint(i),
				Title: []string{"red", "blue"}[i%2],
				Kind:  fmt.Sprint(i),
			}); err != nil {
				return err
			}
		}
		return nil
	})
	put := func(bucket string, id ID, value []byte) {
		if err := db.bolt.Update(func(btx *bbolt.Tx) error {
			return btx.Bucket([]byte(bucket)).Put(idKey(id), value)
		}); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string][]byte{
		"of another": disk.Frame("item.search", idKey(1), []byte("red\x00")),
		"cut short":  {1},
	} {
		put("item.search", 2, value) // blue
		put("item.search", 3, value) // red
		put("item.search", 5, value)
		put("item", 5, []byte("damaged"))
		for way, where := range map[string][]Condition{
			"through all": nil,
			"of one":      {itemByKind.AnyOf("1", "2", "4")},
		} {
			view(t, db, func(tx *Tx) error {
				page, damaged, _, err := items.FindIntact(tx, Query[item]{
					Search: "red",
					Where:  where,
					Limit:  100,
				})
				if slices.ContainsFunc(page, func(v *item) bool { return v.Title != "red" }) ||
					!slices.ContainsFunc(page, func(v *item) bool {
						return v.ID == 3
					}) || !slices.Equal(damaged, []ID{5}) {
					t.Errorf("a text %s, search %s: %v, damaged %v", name, way, page, damaged)
				}
				if _, _, err := items.Find(tx,
					Query[item]{Search: "red", Where: where, Limit: 100}); !IsDamage(err) {
					t.Errorf("a text %s, search %s: %v, want damage", name, way, err)
				}

				return err
			})
		}
	}

	if found := db.FoundDamage().Data; len(found) < 4 {
		t.Errorf("the health report names %q", found)
	}
}
