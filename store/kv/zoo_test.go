package kv

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"reeve/store/errs"
	"reeve/store/fold"
)

// The zoo is the test schema with every kind of index and reference. The schema of the product
// cannot be used here, and its rules would get in the way.

type cage struct {
	Ident
	Name string `json:"name"`
	Timestamps
}

type keeper struct {
	Ident
	Name string `json:"name"`
	Seen Time   `json:"seen"`
	Timestamps
}

type beast struct {
	Ident
	Name      string   `json:"name"`
	Code      string   `json:"code"`
	Tags      []string `json:"tags"`
	Born      Time     `json:"born"`
	CageID    ID       `json:"cage_id"`
	KeeperIDs []ID     `json:"keeper_ids"`
	FriendIDs []ID     `json:"friend_ids"`
	ParentID  ID       `json:"parent_id"`
	Weight    int64    `json:"weight"`
	Note      string   `json:"note"` // not indexed, for large values
	Timestamps
}

type chip struct {
	Ident
	BeastID ID `json:"beast_id"`
	Timestamps
}

var (
	cages   = NewCollection[cage]("cage")
	keepers = NewCollection[keeper]("keeper").Rights("seen")

	beasts      = NewCollection[beast]("beast")
	beastByName = NewUniqueText(beasts, "name", fold.Name, func(b *beast) string {
		return b.Name
	})
	_             = NewUnique(beasts, "code", func(b *beast) string { return b.Code })
	beastByTag    = NewMany(beasts, "tags", func(b *beast) []string { return b.Tags })
	beastByBorn   = NewMany(beasts, "born", func(b *beast) []Time { return []Time{b.Born} })
	beastByCage   = NewRef(beasts, "cage_id", cages, func(b *beast) ID { return b.CageID }, Cascade)
	beastByKeeper = NewRefs(beasts, "keeper_ids", keepers, func(b *beast) []ID {
		return b.KeeperIDs
	}, Restrict)
	beastByFriend = NewRefs(beasts, "friend_ids", beasts, func(b *beast) []ID {
		return b.FriendIDs
	}, Dangle)
	beastByParent = NewRef(beasts, "parent_id", beasts, beastParent, Restrict)

	_ = beasts.Constraint(beastRule).Constraint(TreeConstraint(beasts, beastByParent, beastParent)).Check(TreeCheck(beasts, beastParent))

	chips = NewCollection[chip]("chip")
	_     = NewRef(chips, "beast_id", beasts, func(c *chip) ID { return c.BeastID }, Cascade)

	// census is a cache: the names of all beasts.
	census = NewCache("census", func(tx *Tx) (*[]string, error) {
		names := []string{}
		for b, err := range beasts.All(tx) {
			if err != nil {
				return nil, err
			}
			names = append(names, b.Name)
		}
		return &names, nil
	}, beasts)
)

func beastParent(b *beast) ID { return b.ParentID }

func beastRule(_ *Tx, _, new *beast) error {
	if new != nil && new.Weight < 0 {
		return errs.Field(errs.Invalid, "weight", "must not be negative")
	}
	return nil
}

func zoo() *Schema {
	return &Schema{
		Tables: []Table{Installs, cages, keepers, beasts, chips},
		Caches: []AnyCache{census},
	}
}

// frozen is a clock that always returns the same time.
func frozen() Time { return 1_700_000_000_000_000 }

// clock is a clock that a test sets while background work reads it.
type clock struct{ atomic.Int64 }

func (c *clock) now() Time { return Time(c.Load()) }

func clockAt(t Time) *clock {
	c := &clock{}
	c.Store(int64(t))
	return c
}

func joined[V any](fields map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(fields)), " ")
}
