package kv

import (
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// chain creates n beasts, each the child of the one before it, and returns the last.
func chain(tx *Tx, below ID, n int) (ID, error) {
	for range n {
		b := &beast{ParentID: below}
		if err := beasts.Create(tx, b); err != nil {
			return 0, err
		}
		below = b.ID
	}
	return below, nil
}

func move(db *DB, id, parent ID) error {
	return db.Update(System, func(tx *Tx) error {
		_, err := beasts.Update(tx, id, func(b *beast) error { b.ParentID = parent; return nil })
		return err
	})
}

func TestTree_Refusals(t *testing.T) {
	onParent := refusal{errs.Invalid, "invalid", "parent_id"}
	for name, test := range map[string]struct {
		chains     []int // lengths of the chains; IDs continue from one to the next
		id, parent ID
	}{
		"itself as parent":                       {[]int{3}, 1, 1},
		"its child as parent":                    {[]int{3}, 1, 2},
		"its grandchild as parent":               {[]int{3}, 1, 3},
		"a leaf below the deepest level":         {[]int{MaxDepth, 1}, MaxDepth + 1, MaxDepth},
		"a subtree that would reach too deep":    {[]int{MaxDepth - 1, 2}, MaxDepth, MaxDepth - 1},
		"two halves that are one level too many": {[]int{17, 16}, 18, 17},
	} {
		t.Run(name, func(t *testing.T) {
			db := zooWith(t)
			update(t, db, func(tx *Tx) error {
				for _, n := range test.chains {
					if _, err := chain(tx, 0, n); err != nil {
						return err
					}
				}
				return nil
			})
			before := allOf(t, db, beasts)
			disktest.Equal(t, "move", refusalOf(t, move(db, test.id, test.parent)), onParent)
			disktest.Equal(t, "the beasts", allOf(t, db, beasts), before)
		})
	}
	t.Run("a new record below the deepest level", func(t *testing.T) {
		db := zooWith(t)
		err := db.Update(System, func(tx *Tx) error {
			_, err := chain(tx, 0, MaxDepth+1)
			return err
		})
		disktest.Equal(t, "create", refusalOf(t, err), onParent)
	})
}

func TestTree_Allowed(t *testing.T) {
	for name, test := range map[string]struct {
		chains     []int
		id, parent ID
	}{
		"exactly as many levels as allowed": {[]int{16, 16}, 17, 16},
		"a subtree moved to the top":        {[]int{MaxDepth}, 2, 0},
		"a subtree moved to a sibling":      {[]int{5, 1}, 3, 6},
		"the parent it already has":         {[]int{MaxDepth}, MaxDepth, MaxDepth - 1},
	} {
		t.Run(name, func(t *testing.T) {
			db := zooWith(t)
			update(t, db, func(tx *Tx) error {
				for _, n := range test.chains {
					if _, err := chain(tx, 0, n); err != nil {
						return err
					}
				}
				return nil
			})
			if err := move(db, test.id, test.parent); err != nil {
				t.Error(err)
			}
			disktest.Equal(t, "parent", allOf(t, db, beasts)[test.id-1].ParentID, test.parent)
		})
	}
}

func TestTreeOrder(t *testing.T) {
	row := func(id, parent ID, weight int64) *beast {
		return &beast{Ident: Ident{id}, ParentID: parent, Weight: weight}
	}
	tops := Tree([]*beast{row(4, 1, 5), row(1, 0, 9), row(2, 1, 5), row(3, 8, 1), row(5, 2, 0)},
		func(b *beast) ID { return b.ID }, beastParent, func(b *beast) int64 { return b.Weight })
	got, err := TreeJSON(tops, func(b *beast) any {
		return struct {
			ID ID `json:"id"`
		}{b.ID}
	})
	if err != nil {
		t.Fatal(err)
	}
	// 3 becomes a root because its parent is missing; 2 precedes 4 by ID.
	disktest.Equal(t, "tree", string(got),
		`[{"id":3},{"id":1,"children":[{"id":2,"children":[{"id":5}]},{"id":4}]}]`)
}
