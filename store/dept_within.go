package store

import "reeve/store/kv"

// InDept restricts the records of a collection to the actor's data scope by their department: a
// record outside it is not found, and none can be created in or moved to a department outside
// it. Records without a department require the data scope all. of returns the ID of a record
// and of its department, which is the field dept_id.
func InDept[T any](c *kv.Collection[T], of func(*T) (id, dept ID)) *kv.Collection[T] {
	return c.Authorize(func(tx *Tx, old *T) error {
		if id, dept := of(old); !ActorOf(tx).Scope(tx).HasDept(dept) {
			return c.NotFound(id)
		}
		return nil
	}).Constraint(func(tx *Tx, old, new *T) error {
		if new == nil {
			return nil
		}
		_, dept := of(new)
		if old != nil {
			if _, was := of(old); was == dept {
				return nil
			}
		}
		if !ActorOf(tx).Scope(tx).HasDept(dept) {
			return outOfScope("dept_id", dept)
		}
		return nil
	})
}
