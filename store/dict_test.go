package store

import (
	"errors"
	"slices"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
	"reeve/store/kv"
)

// withDicts opens a database with two dictionaries: the first has an item with the value a; the
// second has b and, disabled, c.
func withDicts(t testing.TB) *DB {
	t.Helper()
	return open(t, t.TempDir(), Options{Seed: func(tx *Tx) error {
		return errors.Join(
			Dicts.Create(tx, &Dict{Code: "first", Status: true}),
			Dicts.Create(tx, &Dict{Code: "second", Status: true}),
			DictItems.Create(tx, &DictItem{DictID: 1, Value: "a", Switch: true, Sort: 5}),
			DictItems.Create(tx, &DictItem{DictID: 2, Value: "b", Switch: true, Sort: 9}),
			DictItems.Create(tx, &DictItem{DictID: 2, Value: "c"}))
	}})
}

// valuesOf returns the values of a dictionary's items in the cache.
func valuesOf(t testing.TB, db *DB, dict ID) (values []string) {
	t.Helper()
	view(t, db, func(tx *Tx) error {
		rows, err := DictCache.Get(tx).Items(dict)
		for _, row := range rows {
			values = append(values, row.Value.Value)
		}
		return err
	})
	return values
}

func TestDict_Invalid(t *testing.T) {
	db := withDicts(t)
	create := func(i DictItem) func(*Tx) error {
		return func(tx *Tx) error { return DictItems.Create(tx, &i) }
	}

	change := func(id ID, edit func(*DictItem)) func(*Tx) error {
		return func(tx *Tx) error {
			_, err := DictItems.Update(tx, id, func(i *DictItem) error { edit(i); return nil })
			return err
		}
	}
	for _, test := range []struct {
		name string
		fn   func(*Tx) error
		want refusal
	}{
		{"a code twice", func(tx *Tx) error {
			return Dicts.Create(tx, &Dict{Code: "first"})
		}, refusal{errs.Conflict, "duplicate", "code"}},
		{"a value twice", create(DictItem{DictID: 2, Value: "c"}),
			refusal{errs.Conflict, "duplicate", "value"}},
		{"an item of no dictionary", create(DictItem{Value: "x"}),
			refusal{errs.Invalid, "invalid", "dict_id"}},
		{"an item of one that is not there", create(DictItem{DictID: 77, Value: "x"}),
			refusal{errs.Invalid, "invalid", "dict_id"}},
		{"an item that leaves its dictionary for none", change(1, func(i *DictItem) {
			i.DictID = 0
		}), refusal{errs.Invalid, "invalid", "dict_id"}},
		{"an item moved to where its value is taken", change(1, func(i *DictItem) {
			i.DictID, i.Value = 2, "b"
		}), refusal{errs.Conflict, "duplicate", "value"}},
		{"a dictionary with items deleted", func(tx *Tx) error {
			return Dicts.Delete(tx, 2)
		}, refusal{errs.Conflict, "in_use", ""}},
	} {
		disktest.Equal(t, test.name, refusalOf(t, db.Update(System, test.fn)), test.want)
	}

	update(t, db, create(DictItem{DictID: 1, Value: "c", Sort: -1}))
	disktest.Equal(t, "the first, with a value of the second", valuesOf(t, db, 1),
		[]string{"c", "a"})
	update(t, db, change(1, func(i *DictItem) { i.DictID = 2 }))
	disktest.Equal(t, "the first, after a move", valuesOf(t, db, 1), []string{"c"})
	disktest.Equal(t, "the second, after it", valuesOf(t, db, 2), []string{"c", "a", "b"})
	err := db.View(System, func(tx *Tx) error { _, err := DictCache.Get(tx).Items(3); return err })
	disktest.Equal(t, "the items of none", refusalOf(t, err),
		refusal{errs.NotFound, "not_found", ""})
}

// A database from before dictionaries has none after the migration, and can store some.
func TestDict_Migration(t *testing.T) {
	older, dir := reeve, t.TempDir()
	older.Tables = slices.DeleteFunc(slices.Clone(reeve.Tables), func(t kv.Table) bool {
		return t == Dicts || t == DictItems
	})

	older.Caches = slices.DeleteFunc(slices.Clone(reeve.Caches), func(c kv.AnyCache) bool {
		return c == DictCache
	})

	older.Migrations = reeve.Migrations[:1]
	shut(t, open(t, dir, Options{schema: &older}))
	shut(t, open(t, dir, Options{}))
	db := open(t, dir, Options{})
	disktest.Equal(t, "warnings of a migration that is repeated", db.Warnings(), nil)
	update(t, db, func(tx *Tx) error {
		return errors.Join(Dicts.Create(tx, &Dict{Code: "a", Status: true}),
			DictItems.Create(tx, &DictItem{DictID: 1, Value: "x", Switch: true}))
	})
	view(t, db, func(tx *Tx) error {
		open, err := DictCache.Get(tx).Open()
		disktest.Equal(t, "enabled", string(open.JSON),
			`{"a":{"name":"","type":"","items":[{"label":"","value":"x","status":""}]}}`)
		return err
	})
}
