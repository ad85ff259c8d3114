package kv

import (
	"maps"
	"slices"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
	"reeve/store/fold"
)

func byID[T any](m map[ID]T) []T {
	list := []T{}
	for _, id := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[id])
	}
	return list
}

// sameAsModel compares every record, count, lookup and list with the model.
func sameAsModel(t *testing.T, db *DB, m *model) {
	t.Helper()
	disktest.Equal(t, "cages", allOf(t, db, cages), byID(m.cages))
	disktest.Equal(t, "keepers", allOf(t, db, keepers), byID(m.keepers))
	disktest.Equal(t, "beasts", allOf(t, db, beasts), byID(m.beasts))
	disktest.Equal(t, "chips", allOf(t, db, chips), byID(m.chips))
	view(t, db, func(tx *Tx) error {
		names := []string{}
		for _, b := range byID(m.beasts) {
			names = append(names, b.Name)
		}

		disktest.Equal(t, "census", *census.Get(tx), names)
		for _, name := range modelNames {
			sameUnique(t, tx, m, name)
		}

		for _, tag := range modelTags {
			sameMany(t, tx, m, "tag "+tag, beastByTag, tag, func(b beast) bool {
				return slices.Contains(b.Tags, tag)
			})
		}

		for born := Time(-4); born < 5; born++ {
			sameMany(t, tx, m, "born "+born.String(), beastByBorn, born, func(b beast) bool {
				return b.Born == born
			})
		}

		for id := ID(1); id <= m.last["beast"]+1; id++ {
			sameMany(t, tx, m, "cage "+id.String(), beastByCage.Many, id, func(b beast) bool {
				return b.CageID == id
			})
			sameMany(t, tx, m, "keeper "+id.String(), beastByKeeper.Many, id, func(b beast) bool {
				return slices.Contains(b.KeeperIDs, id)
			})
			sameMany(t, tx, m, "friend "+id.String(), beastByFriend.Many, id, func(b beast) bool {
				return slices.Contains(b.FriendIDs, id)
			})
			sameMany(t, tx, m, "parent "+id.String(), beastByParent.Many, id, func(b beast) bool {
				return b.ParentID == id
			})
			if got, want := beasts.Exists(tx, id), m.beasts[id].ID != 0; got != want {
				t.Errorf("beast %d exists: %v, want %v", id, got, want)
			}
		}

		return nil
	})
}

func sameUnique(t *testing.T, tx *Tx, m *model, name string) {
	t.Helper()
	var want []beast
	for _, b := range byID(m.beasts) {
		if fold.Key(name) != "" && fold.Key(b.Name) == fold.Key(name) {
			want = append(want, b)
		}
	}

	got, err := beastByName.Get(tx, name)
	switch {
	case errs.Is(err, errs.NotFound):
		disktest.Equal(t, "no beast called "+name, 0, len(want))
	case err != nil:
		t.Error(err)
	default:
		disktest.Equal(t, "the beast called "+name, []beast{*got}, want)
	}
}

func sameMany[K Key](t *testing.T, tx *Tx, m *model, what string, x *Many[beast, K], value K,
	has func(beast) bool) {
	t.Helper()
	got, want := []beast{}, []beast{}
	for _, b := range byID(m.beasts) {
		if has(b) {
			want = append(want, b)
		}
	}

	for b, err := range x.All(tx, value) {
		if err != nil {
			t.Error(err)
			return
		}
		got = append(got, *b)
	}

	disktest.Equal(t, what, got, want)
	n, err := x.Count(tx, value)
	if err != nil || n != len(want) {
		t.Errorf("count of %s: %d, %v, want %d", what, n, err, len(want))
	}
}
