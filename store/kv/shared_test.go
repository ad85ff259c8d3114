package kv

import (
	"errors"
	"testing"

	"reeve/store/disk/disktest"
)

// The write functions of a commit share what was found, until one of them changes the collection.
// What a failed commit has found is not used again, and neither are errors.
func TestShared_WithinCommit(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: zoo()})
	type key string
	searches, failed := 0, errors.New("failed")
	count := func(tx *Tx) (int, error) {
		return Shared(tx, beasts, key("count"), func() (int, error) {
			searches++
			return beasts.Count(tx)
		})
	}

	var found []int
	look := func(tx *Tx) error {
		n, err := count(tx)
		found = append(found, n)
		return err
	}

	fail := func(tx *Tx) error {
		_, err := Shared(tx, beasts, key("failed"), func() (int, error) {
			searches++
			return 0, failed
		})
		if !errors.Is(err, failed) {
			t.Errorf("%v instead of the error", err)
		}
		return nil
	}

	touch := func(tx *Tx) error { return keepers.Create(tx, &keeper{Name: "another collection"}) }
	spoil := func(tx *Tx) error { return errors.Join(createBeast("lost")(tx), failed) }
	for _, test := range []struct {
		name     string
		fns      []func(*Tx) error
		found    []int
		searches int
	}{
		{"three that change nothing", []func(*Tx) error{look, look, look}, []int{0, 0, 0}, 1},
		{"a change of another collection", []func(*Tx) error{look, touch, look}, []int{0, 0}, 1},
		{"a change", []func(*Tx) error{look, createBeast("a"), look, look}, []int{0, 1, 1}, 3},
		{"a change that is undone", []func(*Tx) error{look, spoil, look}, []int{1, 1, 1}, 2},
		{"errors", []func(*Tx) error{fail, fail}, nil, 2},
	} {
		searches, found = 0, nil
		together(t, db, test.fns...)
		disktest.Equal(t, test.name, found, test.found)
		disktest.Equal(t, test.name+": searches", searches, test.searches)
	}

	searches = 0
	view(t, db, func(tx *Tx) error { return errors.Join(look(tx), look(tx)) })
	disktest.Equal(t, "searches of a read transaction", searches, 2)
}
