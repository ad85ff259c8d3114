package store

import (
	"encoding/binary"
	"fmt"
)

// countBucket holds a tally for each collection, by collection name.
const countBucket = "_count"

// tally is how many records a collection has, and the sum of the checksums of all
// its records and index entries. The sum tells when a whole page is an older
// version of itself, which no single checksum can; it is looked at when the file
// is opened and by Verify.
type tally struct {
	records uint64
	sum     uint64
}

func readTally(tx *Tx, name string) (tally, error) {
	key := []byte(name)
	value := tx.bucket(countBucket).Get(key)
	if value == nil {
		return tally{}, damaged(countBucket, name, fmt.Errorf("it is missing"))
	}
	payload, err := unframe(countBucket, key, value)
	if err == nil && len(payload) != 16 {
		err = fmt.Errorf("it has %d bytes, not 16", len(payload))
	}
	if err != nil {
		return tally{}, damaged(countBucket, name, err)
	}
	return tally{binary.BigEndian.Uint64(payload), binary.BigEndian.Uint64(payload[8:])}, nil
}

func writeTally(tx *Tx, name string, t tally) error {
	payload := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, t.records), t.sum)
	return tx.put(countBucket, []byte(name), frame(countBucket, []byte(name), payload))
}

// addTally moves a collection's tally; the sum is one modulo 2^64.
func addTally(tx *Tx, name string, records int, sum uint64) error {
	t, err := readTally(tx, name)
	if err != nil {
		return err
	}
	t.records += uint64(records)
	t.sum += sum
	return writeTally(tx, name, t)
}

// checkTally holds a collection's tally against what lies there, without decoding
// it. broken are the records whose own checksum is wrong; with any of them the
// sum says nothing more. err is a tally that is wrong all the same.
func (c *Collection[T]) checkTally(tx *Tx) (broken []error, err error) {
	want, err := readTally(tx, c.name)
	if err != nil {
		return nil, err
	}
	var got tally
	cursor := tx.bucket(c.name).Cursor()
	for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
		if _, err := unframe(c.name, key, value); err != nil {
			broken = append(broken, damaged(c.name, keyText(key), err))
			continue
		}
		got.records++
		got.sum += uint64(frameSum(value))
	}
	for _, bucket := range c.buckets()[1:] {
		cursor := tx.bucket(bucket).Cursor()
		for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
			got.sum += uint64(checksum(bucket, key, value))
		}
	}
	if got != want && broken == nil {
		return nil, damaged(countBucket, c.name, fmt.Errorf("%d records and entries with the sum %x are there, it says %d with %x", got.records, got.sum, want.records, want.sum))
	}
	return broken, nil
}

// keyText is a key as a message shows it: an id where it can be one.
func keyText(key []byte) string {
	if len(key) == 8 {
		return ID(binary.BigEndian.Uint64(key)).String()
	}
	return fmt.Sprintf("%x", key)
}
