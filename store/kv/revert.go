package kv

import (
	"bytes"
	"encoding/json"
	"slices"

	"reeve/store/disk"
	"reeve/store/errs"
)

// TrackedChange is a change of a record, from which Revert restores it. Secrets in it are stored as
// they are in the record.
type TrackedChange struct {
	Collection string          `json:"collection"`
	ID         ID              `json:"id"`
	Old        json.RawMessage `json:"old"` // null if it was created
	New        json.RawMessage `json:"new"` // null if it was deleted
}

// Track runs fn and returns its changes, cascading ones included, in their order.
func (tx *Tx) Track(fn func() error) ([]TrackedChange, error) {
	var changes []TrackedChange
	tx.tracked = &changes
	defer func() { tx.tracked = nil }()
	err := fn()
	return changes, err
}

// Revert restores records that tracked changes have deleted or updated, the last first, by the
// rights of the system. It leaves out records that have changed since, those that would conflict
// with others by now, and deleted records with contents, which may be gone.
func (tx *Tx) Revert(changes []TrackedChange) error {
	for _, change := range slices.Backward(changes) {
		i := slices.IndexFunc(tx.db.schema.Tables, func(t Table) bool {
			return t.Name() == change.Collection
		})
		if i < 0 || isNull(change.Old) {
			continue
		}
		if err := tx.asSystem(func() error {
			return tx.db.schema.Tables[i].table().revert(tx, change)
		}); err != nil {
			return err
		}
	}
	return nil
}

func isNull(text json.RawMessage) bool { return len(text) == 0 || string(text) == "null" }

func (c *collection) revert(tx *Tx, change TrackedChange) error {
	value := tx.bucket(c.name).Get(idKey(change.ID))
	deleted := isNull(change.New)
	if deleted != (value == nil) || deleted && c.content != nil ||
		!deleted && !bytes.Equal(value[disk.FrameHead:], change.New) {
		return nil
	}

	was := c.new()
	if err := json.Unmarshal(change.Old, was); err != nil {
		return err
	}

	var now record
	if !deleted {
		var err error
		if now, err = c.decode(change.ID, value); err != nil {
			return err
		}
	}
	if err := c.validate(tx, now, was, false); err != nil {
		if errs.Is(err, errs.Internal) {
			return err
		}
		return nil
	}

	tx.mustWrite()
	return c.store(tx, change.ID, now, value, was)
}
