package kv

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// zooWith opens a zoo with one cage, one keeper and the given beasts.
func zooWith(t testing.TB, list ...*beast) *DB {
	t.Helper()
	db := open(t, t.TempDir(), Options{Schema: zoo(), Clock: frozen})
	update(t, db, func(tx *Tx) error {
		err := errors.Join(cages.Create(tx, &cage{Name: "north"}),
			keepers.Create(tx, &keeper{Name: "Ann"}))
		for _, b := range list {
			fresh := *b
			err = errors.Join(err, beasts.Create(tx, &fresh))
		}
		return err
	})
	return db
}

// allOf returns all records of a collection.
func allOf[T any](t testing.TB, db *DB, c *Collection[T]) []T {
	t.Helper()
	list := []T{}
	view(t, db, func(tx *Tx) error {
		for v, err := range c.All(tx) {
			if err != nil {
				return err
			}
			list = append(list, *v)
		}
		n, err := c.Count(tx)
		disktest.Equal(t, "count of "+c.Name(), n, len(list))
		return err
	})
	return list
}

func TestCreate_StampsAndNumbers(t *testing.T) {
	db := zooWith(t)
	now := frozen()
	update(t, db, func(tx *Tx) error {
		return beasts.Create(tx, &beast{
			Ident:      Ident{ID: 77},
			Name:       "Leo",
			Tags:       []string{"big"},
			KeeperIDs:  []ID{1},
			FriendIDs:  []ID{},
			Timestamps: Timestamps{CreatedAt: 5, UpdatedAt: 6},
		})
	})
	want := beast{
		Ident:      Ident{ID: 1},
		Name:       "Leo",
		Tags:       []string{"big"},
		KeeperIDs:  []ID{1},
		FriendIDs:  []ID{},
		Timestamps: Timestamps{CreatedAt: now, UpdatedAt: now},
	}
	disktest.Equal(t, "the stored beast", allOf(t, db, beasts), []beast{want})
}

func TestCreate_Refusals(t *testing.T) {
	db := zooWith(t, &beast{Name: "Leo", Code: "x"}, &beast{}, &beast{})
	before := allOf(t, db, beasts)
	for name, test := range map[string]struct {
		beast beast
		want  refusal
	}{
		"a name that is taken": {beast{Name: "Leo"},
			refusal{errs.Conflict, "duplicate", "name"}},
		"a name taken in other letters": {beast{Name: "\t lEO "},
			refusal{errs.Conflict, "duplicate", "name"}},
		"a second unique value": {beast{Code: "x"},
			refusal{errs.Conflict, "duplicate", "code"}},
		"an unknown cage": {beast{CageID: 9},
			refusal{errs.Invalid, "invalid", "cage_id"}},
		"one unknown keeper among known ones": {beast{KeeperIDs: []ID{1, 9, 1}},
			refusal{errs.Invalid, "invalid", "keeper_ids"}},
		"keeper number 0": {beast{KeeperIDs: []ID{0}},
			refusal{errs.Invalid, "invalid", "keeper_ids"}},
		"an unknown parent": {beast{ParentID: 9},
			refusal{errs.Invalid, "invalid", "parent_id"}},
		"what would be its own id as parent": {beast{ParentID: 4},
			refusal{errs.Invalid, "invalid", "parent_id"}},
		"a rule's fault": {beast{Weight: -1},
			refusal{errs.Invalid, "invalid", "weight"}},
		"everything wrong at once": {
			beast{Name: "Max", CageID: 9, KeeperIDs: []ID{9}, ParentID: 9, Weight: -1},
			refusal{errs.Invalid, "invalid", "cage_id keeper_ids parent_id weight"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			create := db.Update(System, func(tx *Tx) error {
				b := test.beast
				return beasts.Create(tx, &b)
			})
			disktest.Equal(t, "create", refusalOf(t, create), test.want)
			edit := db.Update(System, func(tx *Tx) error {
				_, err := beasts.Update(tx, 2, func(b *beast) error {
					id, stamps := b.ID, b.Timestamps
					*b = test.beast
					if b.ParentID == 4 {
						b.ParentID = 2 // the ID of the record itself
					}
					b.ID, b.Timestamps = id, stamps
					return nil
				})
				return err
			})
			disktest.Equal(t, "update", refusalOf(t, edit), test.want)
		})
	}

	disktest.Equal(t, "the beasts", allOf(t, db, beasts), before)
}

func TestLooseReference_MayDangle(t *testing.T) {
	db := zooWith(t, &beast{Name: "Leo", FriendIDs: []ID{2, 99}}, &beast{Name: "Max"})
	update(t, db, func(tx *Tx) error { return beasts.Delete(tx, 2) })
	disktest.Equal(t, "friends", allOf(t, db, beasts)[0].FriendIDs, []ID{2, 99})
}

func TestReference_DuplicateCountsOnce(t *testing.T) {
	db := zooWith(t, &beast{KeeperIDs: []ID{1, 1}, Tags: []string{"a", "a"}})
	view(t, db, func(tx *Tx) error {
		n, err := beastByKeeper.Count(tx, 1)
		m, err2 := beastByTag.Count(tx, "a")
		disktest.Equal(t, "counts", []int{n, m}, []int{1, 1})
		return errors.Join(err, err2)
	})
	update(t, db, func(tx *Tx) error {
		_, err := beasts.Update(tx, 1, func(b *beast) error { b.KeeperIDs = []ID{1}; return nil })
		return err
	})
	refused := db.Update(System, func(tx *Tx) error { return keepers.Delete(tx, 1) })
	if want := "keeper 1 is still used by 1 beast"; refused == nil || refused.Error() != want {
		t.Errorf("got %v, want %s", refused, want)
	}
}

func TestUniqueIndex_EmptyIsNotIndexed(t *testing.T) {
	db := zooWith(t, &beast{}, &beast{Name: "  "}, &beast{})
	view(t, db, func(tx *Tx) error {
		for _, name := range []string{"", " "} {
			if _, err := beastByName.Get(tx, name); !errs.Is(err, errs.NotFound) {
				t.Errorf("Get(%q): %v, want NotFound", name, err)
			}
		}
		return nil
	})
}

func TestUniqueIndex_ValueIsFreed(t *testing.T) {
	db := zooWith(t, &beast{Name: "Leo"}, &beast{Name: "Max"})
	update(t, db, func(tx *Tx) error {
		if _, err := beasts.Update(tx, 1, func(b *beast) error {
			b.Name = "LEO"
			return nil
		}); err != nil {
			return err // the record's own name in other case must be accepted
		}
		if err := beasts.Delete(tx, 2); err != nil {
			return err
		}
		_, err := beasts.Update(tx, 1, func(b *beast) error { b.Name = "max"; return nil })
		if err == nil {
			err = beasts.Create(tx, &beast{Name: "Leo"})
		}
		return err
	})
	view(t, db, func(tx *Tx) error {
		leo, err := beastByName.Get(tx, "leo")
		if err == nil {
			disktest.Equal(t, "leo's id", leo.ID, ID(3))
		}
		return err
	})
}

func TestDelete(t *testing.T) {
	t.Run("refuses while used and says by what", func(t *testing.T) {
		db := zooWith(t, &beast{KeeperIDs: []ID{1}}, &beast{KeeperIDs: []ID{1}})
		err := db.Update(System, func(tx *Tx) error { return keepers.Delete(tx, 1) })
		disktest.Equal(t, "refusal", refusalOf(t, err), refusal{errs.Conflict, "in_use", ""})
		disktest.Equal(t, "message", err.Error(), "keeper 1 is still used by 2 beasts")
	})
	t.Run("takes what it owns along, through every level", func(t *testing.T) {
		db := zooWith(t, &beast{CageID: 1}, &beast{}, &beast{CageID: 1})
		update(t, db, func(tx *Tx) error {
			return errors.Join(chips.Create(tx, &chip{BeastID: 1}),
				chips.Create(tx, &chip{BeastID: 2}), chips.Create(tx, &chip{BeastID: 3}))
		})
		update(t, db, func(tx *Tx) error { return cages.Delete(tx, 1) })
		var left []ID
		for _, b := range allOf(t, db, beasts) {
			left = append(left, b.ID)
		}
		for _, c := range allOf(t, db, chips) {
			left = append(left, c.ID)
		}
		disktest.Equal(t, "beasts and chips left", left, []ID{2, 2})
	})
	t.Run("undoes the cascade when one of the owned is in use", func(t *testing.T) {
		db := zooWith(t, &beast{CageID: 1}, &beast{CageID: 1}, &beast{ParentID: 2})
		err := db.Update(System, func(tx *Tx) error { return cages.Delete(tx, 1) })
		disktest.Equal(t, "refusal", refusalOf(t, err), refusal{errs.Conflict, "in_use", ""})
		disktest.Equal(t, "beasts left", len(allOf(t, db, beasts)), 3)
	})
	t.Run("of nothing is NotFound", func(t *testing.T) {
		db := zooWith(t)
		err := db.Update(System, func(tx *Tx) error { return beasts.Delete(tx, 5) })
		disktest.Equal(t, "refusal", refusalOf(t, err), refusal{errs.NotFound, "not_found", ""})
	})
	t.Run("does not give the id to the next", func(t *testing.T) {
		db := zooWith(t, &beast{}, &beast{})
		update(t, db, func(tx *Tx) error {
			return errors.Join(beasts.Delete(tx, 2), beasts.Create(tx, &beast{}))
		})
		disktest.Equal(t, "the new id", allOf(t, db, beasts)[1].ID, ID(3))
	})
}

func TestUpdate(t *testing.T) {
	start := frozen()
	edit := func(fn func(*beast)) func(tx *Tx) (*beast, error) {
		return func(tx *Tx) (*beast, error) {
			return beasts.Update(tx, 1, func(b *beast) error { fn(b); return nil })
		}
	}
	for name, test := range map[string]struct {
		run  func(tx *Tx) (*beast, error)
		want beast
	}{
		"moves updated_at although the clock stands still": {
			edit(func(b *beast) {
				b.Weight = 9
			}), beast{Name: "Leo", Weight: 9, Timestamps: Timestamps{start, start + 1}},
		},
		"that changes nothing writes nothing": {
			edit(func(b *beast) {
				b.Name = "Leo"
			}), beast{Name: "Leo", Timestamps: Timestamps{start, start}},
		},
		"cannot change id and stamps": {
			edit(func(b *beast) {
				b.ID, b.CreatedAt, b.UpdatedAt = 7, 1, 2
			}), beast{Name: "Leo", Timestamps: Timestamps{start, start}},
		},
		"cannot change id and created_at beside another field": {
			edit(func(b *beast) { b.ID, b.CreatedAt, b.UpdatedAt, b.Weight = 7, 1, 2, 3 }),
			beast{Name: "Leo", Weight: 3, Timestamps: Timestamps{start, start + 1}},
		},
		"by Touch leaves updated_at": {
			func(tx *Tx) (*beast, error) {
				return beasts.UpdateQuietly(tx, 1, func(b *beast) error {
					b.Weight = 4
					return nil
				})
			},
			beast{Name: "Leo", Weight: 4, Timestamps: Timestamps{start, start}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := zooWith(t, &beast{Name: "Leo"})
			test.want.ID = 1
			var before, after uint64
			var got *beast
			view(t, db, func(tx *Tx) error { before = census.Generation(tx); return nil })
			update(t, db, func(tx *Tx) (err error) { got, err = test.run(tx); return err })
			view(t, db, func(tx *Tx) error { after = census.Generation(tx); return nil })
			disktest.Equal(t, "returned", *got, test.want)
			disktest.Equal(t, "stored", allOf(t, db, beasts), []beast{test.want})
			wrote := test.want.Weight != 0 // every case that writes changes the weight
			disktest.Equal(t, "written", after > before, wrote)
		})
	}

	t.Run("passes the edit's error on and stores nothing", func(t *testing.T) {
		db := zooWith(t, &beast{Name: "Leo"})
		stop := errors.New("stop")
		err := db.Update(System, func(tx *Tx) error {
			_, err := beasts.Update(tx, 1, func(b *beast) error { b.Name = "Max"; return stop })
			return err
		})
		if !errors.Is(err, stop) {
			t.Errorf("got %v, want %v", err, stop)
		}
		disktest.Equal(t, "name", allOf(t, db, beasts)[0].Name, "Leo")
	})
}

func TestView_WriteIsRefused(t *testing.T) {
	db := zooWith(t, &beast{Name: "Leo"})
	for name, write := range map[string]func(tx *Tx) error{
		"create": func(tx *Tx) error { return beasts.Create(tx, &beast{Name: "Max"}) },
		"update": func(tx *Tx) error {
			_, err := beasts.Update(tx, 1, func(b *beast) error { b.Weight = 1; return nil })
			return err
		},
		"delete": func(tx *Tx) error { return beasts.Delete(tx, 1) },
	} {
		if err := db.View(System, write); err == nil ||
			!strings.Contains(err.Error(), "a view was asked to write") {
			t.Errorf("%s in a view: %v", name, err)
		}
	}

	names := []string{}
	for _, b := range allOf(t, db, beasts) {
		names = append(names, b.Name)
	}

	slices.Sort(names)
	disktest.Equal(t, "names", names, []string{"Leo"})
}
