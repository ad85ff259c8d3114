package kv

// Shared returns the result of find, which must depend only on key and on records of table. The
// write functions of a commit share the result until one of them changes a record of table, so
// callers must not change it. In a read transaction, find runs each time.
func Shared[K comparable, V any](tx *Tx, table Table, key K, find func() (V, error)) (V, error) {
	c := tx.changes
	if c == nil || len(c.records[table]) > 0 {
		return find()
	}
	of := sharedKey{table, key}
	if v, found := c.shared[of].(V); found {
		return v, nil
	}
	v, err := find()
	if err == nil {
		c.shared[of] = v
	}
	return v, err
}

// sharedKey is the key of a shared result. Callers with another query of the same table need a
// type of their own for key.
type sharedKey struct {
	table Table
	key   any
}
