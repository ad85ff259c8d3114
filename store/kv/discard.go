package kv

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"

	"reeve/store/disk"
)

// Disposable declares that the records of a collection can be lost, like sessions: the start
// deletes those that it cannot read, instead of reporting them. It returns the collection.
func (c *Collection[T]) Disposable() *Collection[T] {
	c.untyped.disposable = true
	return c
}

// discardBroken deletes the broken records of a collection, with the records that refer to them.
func (c *collection) discardBroken(tx *Tx) error {
	var ids []ID
	cursor := tx.bucket(c.name).Cursor()
	for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
		if _, err := disk.Unframe(c.name, key, value); err != nil && len(key) == 8 {
			ids = append(ids, ID(binary.BigEndian.Uint64(key)))
		}
	}
	for _, id := range ids {
		if err := c.discard(tx, id); err != nil {
			return err
		}
	}
	return c.countAgain(tx)
}

// discard deletes a record that cannot be read. Its index entries are found by its ID.
func (c *collection) discard(tx *Tx, id ID) error {
	for _, in := range c.incoming {
		if err := in.release(tx, id); err != nil {
			return err
		}
	}
	for _, x := range c.indexes {
		for _, key := range x.keysOf(tx, id) {
			if err := x.update(tx, key, id, -1, new(uint64)); err != nil {
				return err
			}
		}
	}
	tx.touch(c.self, id)
	return tx.delete(c.name, idKey(id))
}

// keysOf returns the keys that lead to a record, by reading the whole index.
func (x *index) keysOf(tx *Tx, id ID) (keys [][]byte) {
	wanted := idKey(id)
	cursor := tx.bucket(x.bucket).Cursor()
	for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
		switch {
		case x.unique && bytes.Equal(value, wanted):
			keys = append(keys, bytes.Clone(key))
		case !x.unique && len(value) == 0 && bytes.HasSuffix(key, wanted):
			keys = append(keys, bytes.Clone(key[:len(key)-len(wanted)]))
		}
	}
	return keys
}

// countAgain sets the totals of a collection to the sums of its records: the checksum of a broken
// record may be what is broken.
func (c *collection) countAgain(tx *Tx) error {
	var sum totals
	for _, bucket := range c.buckets() {
		got, _ := bucketTotals(tx, bucket, bucket == c.name, &atomic.Bool{})
		sum = sum.plus(got)
	}
	local, err := localTotals(tx, c.name)
	if err != nil {
		return err
	}
	return writeTotals(tx, c.name, totals{sum.records - local.records, sum.sum - local.sum})
}
