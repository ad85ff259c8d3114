package kv

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"reeve/store/errs"
)

// MaxDepth is the maximum number of levels of a tree.
const MaxDepth = 32

// TreeConstraint returns a rule that rejects a parent that would create a cycle or make the tree
// deeper than MaxDepth. That the parent exists is checked by the reference.
func TreeConstraint[T any](c *Collection[T], children *Ref[T],
	parent func(*T) ID) func(tx *Tx, old, new *T) error {
	return func(tx *Tx, old, new *T) error {
		if new == nil || parent(new) == 0 || old != nil && parent(old) == parent(new) {
			return nil
		}

		self, above := asRecord(new).ident().ID, 0
		for id := parent(new); id != 0; above++ {
			if id == self {
				return errs.Field(errs.Invalid, "parent_id",
					"must not be the %s itself or one below it", errs.Noun(c.Noun()))
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
			return errs.Field(errs.Invalid, "parent_id", "the tree must have at most %d levels",
				MaxDepth)
		}

		return nil
	}
}

// treeHeight returns the number of levels of the subtree at id. It stops limit levels below id.
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

// TreeCheck returns a check that reports cycles and trees deeper than MaxDepth.
func TreeCheck[T any](c *Collection[T], parent func(*T) ID) func(tx *Tx, report *Report) {
	return func(tx *Tx, report *Report) {
		above := map[ID]ID{}
		for r, err := range c.untyped.all(tx) {
			if err == nil {
				above[r.ident().ID] = parent(typed[T](r))
			}
		}
		for start := range above {
			steps := 0
			for id := start; id != 0 && steps <= MaxDepth; steps++ {
				id = above[id]
			}
			if steps > MaxDepth {
				report.fault("%s %d: it is part of a cycle, or deeper than %d levels", c.Name(),
					start, MaxDepth)
			}
		}
	}
}

// Node is a record of a tree with its children. TreeJSON encodes it.
type Node[T any] struct {
	Value    *T
	Children []*Node[T]
}

// Tree arranges records as a tree, siblings ordered by sort, then by ID. A record whose parent
// is not among them becomes a root.
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

// TreeJSON encodes a tree as a JSON array. Each node is the JSON object of brief's result, with
// an additional member children if it has any. The object must have at least one member.
func TreeJSON[T any](nodes []*Node[T], brief func(*T) any) (json.RawMessage, error) {
	out := []byte{'['}
	for i, n := range nodes {
		if i > 0 {
			out = append(out, ',')
		}

		object, err := json.Marshal(brief(n.Value))
		if err != nil {
			return nil, err
		}
		if len(n.Children) > 0 {
			children, err := TreeJSON(n.Children, brief)
			if err != nil {
				return nil, err
			}
			object = fmt.Appendf(object[:len(object)-1], `,"children":%s}`, children)
		}

		out = append(out, object...)
	}
	return append(out, ']'), nil
}
