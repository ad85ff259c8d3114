package store

import (
	"cmp"
	"slices"

	"reeve/store/errs"
)

// MaxDepth is how many levels a tree may have.
const MaxDepth = 32

// treeRule refuses a parent that would close a circle or make the tree deeper
// than MaxDepth. The parent's existence is the reference's matter.
func treeRule[T any](c *Collection[T], children *Ref[T], parent func(*T) ID) func(tx *Tx, old, new *T) error {
	return func(tx *Tx, old, new *T) error {
		if new == nil || parent(new) == 0 || old != nil && parent(old) == parent(new) {
			return nil
		}
		self, above := c.rec(new).ident().ID, 0
		for id := parent(new); id != 0; above++ {
			if id == self {
				return errs.Field(errs.Invalid, "parent_id", "a %s cannot lie below itself", c.noun())
			}
			if above > MaxDepth {
				break
			}
			v, err := c.Get(tx, id)
			if err != nil {
				return err
			}
			id = parent(v)
		}
		height := 1
		if old != nil {
			var err error
			if height, err = treeHeight(tx, children, self, MaxDepth); err != nil {
				return err
			}
		}
		if above+height > MaxDepth {
			return errs.Field(errs.Invalid, "parent_id", "the tree would have more than %d levels", MaxDepth)
		}
		return nil
	}
}

// treeHeight counts the levels from id down, at most limit.
func treeHeight[T any](tx *Tx, children *Ref[T], id ID, limit int) (int, error) {
	if limit == 0 {
		return 1, nil
	}
	below, err := children.IDs(tx, id)
	deepest := 0
	for _, child := range below {
		height, err := treeHeight(tx, children, child, limit-1)
		if err != nil {
			return 0, err
		}
		deepest = max(deepest, height)
	}
	return deepest + 1, err
}

// treeCheck looks for circles.
func treeCheck[T any](c *Collection[T], parent func(*T) ID) func(tx *Tx, report *Report) {
	return func(tx *Tx, report *Report) {
		above := map[ID]ID{}
		for v, err := range c.All(tx) {
			if err == nil {
				above[c.rec(v).ident().ID] = parent(v)
			}
		}
		for start := range above {
			steps := 0
			for id := start; id != 0 && steps <= MaxDepth; steps++ {
				id = above[id]
			}
			if steps > MaxDepth {
				report.fault("%s %d: it lies in a circle, or deeper than %d levels", c.name, start, MaxDepth)
			}
		}
	}
}

// Node is a record in a tree, with those below it. In JSON it is the record with
// a further field children, absent when there are none.
type Node[T any] struct {
	Value    *T
	Children []*Node[T]
}

// Tree arranges records: siblings by sort, then by id. A record whose parent is
// not among them becomes a top.
func Tree[T any](records []*T, id, parent func(*T) ID, sort func(*T) int64) []*Node[T] {
	sorted := slices.SortedFunc(slices.Values(records), func(a, b *T) int {
		return cmp.Or(cmp.Compare(sort(a), sort(b)), cmp.Compare(id(a), id(b)))
	})
	nodes := map[ID]*Node[T]{}
	for _, v := range sorted {
		nodes[id(v)] = &Node[T]{Value: v}
	}
	var tops []*Node[T]
	for _, v := range sorted {
		if above := nodes[parent(v)]; above != nil {
			above.Children = append(above.Children, nodes[id(v)])
		} else {
			tops = append(tops, nodes[id(v)])
		}
	}
	return tops
}

// DeptsUpwards orders departments so that each comes before those above it.
func DeptsUpwards(tx *Tx, ids []ID) []ID {
	return upwards(RuleBook.Get(tx).depts, deptParent, ids)
}

// PermissionsUpwards is DeptsUpwards for permissions.
func PermissionsUpwards(tx *Tx, ids []ID) []ID {
	return upwards(RuleBook.Get(tx).permissions, permissionParent, ids)
}

func upwards[T any](records *recordMap[T], parent func(*T) ID, ids []ID) []ID {
	depth := map[ID]int{}
	for _, id := range ids {
		for v, steps := records.get(id), 0; v != nil && steps <= MaxDepth; v, steps = records.get(parent(v)), steps+1 {
			depth[id] = steps
		}
	}
	return slices.SortedStableFunc(slices.Values(ids), func(a, b ID) int { return cmp.Compare(depth[b], depth[a]) })
}
