package store

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"reeve/store/disk"
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
	payload, err := disk.Unframe(countBucket, key, value)
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
	return tx.put(countBucket, []byte(name), disk.Frame(countBucket, []byte(name), payload))
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

// bucketTally is what one bucket adds to its collection's tally, without decoding it:
// records, or entries, which have no checksum of their own. broken are the records whose
// checksum is wrong. It returns early once stopped is set.
func bucketTally(tx *Tx, bucket string, records bool, stopped *atomic.Bool) (got tally, broken []error) {
	cursor := tx.bucket(bucket).Cursor()
	for key, value := cursor.First(); key != nil && !stopped.Load(); key, value = cursor.Next() {
		if !records {
			got.sum += uint64(disk.Checksum(bucket, key, value))
			continue
		}
		if _, err := disk.Unframe(bucket, key, value); err != nil {
			broken = append(broken, damaged(bucket, keyText(key), err))
			continue
		}
		got.records++
		got.sum += uint64(disk.FrameSum(value))
	}
	return got, broken
}

// checkTally holds a collection's tally against what lies there. With a broken record the
// sum says nothing more.
func checkTally(tx *Tx, name string, got tally, broken []error) error {
	want, err := readTally(tx, name)
	if err == nil && got != want && broken == nil {
		err = damaged(countBucket, name, fmt.Errorf("%d records and entries with the sum %x are there, it says %d with %x", got.records, got.sum, want.records, want.sum))
	}
	return err
}

// keyText is a key as a message shows it: an id where it can be one.
func keyText(key []byte) string {
	if len(key) == 8 {
		return ID(binary.BigEndian.Uint64(key)).String()
	}
	return fmt.Sprintf("%x", key)
}
