package kv

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"reeve/store/disk"
)

// countBucket holds the totals of each collection by collection name.
const countBucket = "_count"

// totals is the number of records of a collection, and the sum modulo 2^64 of the checksums of
// all its records, index entries and search texts. The sum detects a page that was replaced by
// an older version of itself, in which every single checksum is right. It is verified after the
// file is opened (check.go) and by Verify.
type totals struct {
	records uint64
	sum     uint64
}

func readTotals(tx *Tx, name string) (totals, error) {
	key := []byte(name)
	value := tx.bucket(countBucket).Get(key)
	if value == nil {
		return totals{}, Damaged(countBucket, name, fmt.Errorf("it is missing"))
	}
	payload, err := disk.Unframe(countBucket, key, value)
	if err == nil && len(payload) != 16 {
		err = fmt.Errorf("it has %d bytes, not 16", len(payload))
	}
	if err != nil {
		return totals{}, Damaged(countBucket, name, err)
	}
	return totals{binary.BigEndian.Uint64(payload), binary.BigEndian.Uint64(payload[8:])}, nil
}

func writeTotals(tx *Tx, name string, t totals) error {
	payload := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, t.records), t.sum)
	return tx.put(countBucket, []byte(name), disk.Frame(countBucket, []byte(name), payload))
}

// addTotals adds to a collection's totals. Negative numbers wrap around.
func addTotals(tx *Tx, name string, records int, sum uint64) error {
	t, err := readTotals(tx, name)
	if err != nil {
		return err
	}
	t.records += uint64(records)
	t.sum += sum
	return writeTotals(tx, name, t)
}

// bucketTotals returns the share of one bucket in the totals of its collection, without
// decoding JSON. records is true for the bucket of the records, which are framed with a checksum,
// and broken returns those whose checksum is wrong. It returns early if stopped is set.
func bucketTotals(tx *Tx, bucket string, records bool,
	stopped *atomic.Bool) (got totals, broken []error) {
	cursor := tx.bucket(bucket).Cursor()
	for key, value := cursor.First(); key != nil && !stopped.Load(); key, value = cursor.Next() {
		if !records {
			got.sum += uint64(disk.Checksum(bucket, key, value))
			continue
		}
		if _, err := disk.Unframe(bucket, key, value); err != nil {
			broken = append(broken, Damaged(bucket, keyText(key), err))
			continue
		}
		got.records++
		got.sum += uint64(disk.FrameSum(value))
	}
	return got, broken
}

// checkTotals compares a collection's stored totals with the computed one, got. It ignores a
// difference if there are broken records, which explain it.
func checkTotals(tx *Tx, name string, got totals, broken []error) error {
	want, err := readTotals(tx, name)
	if err == nil && got != want && broken == nil {
		err = Damaged(countBucket, name,
			fmt.Errorf("%d records and entries with the sum %x are there, it says %d with %x",
				got.records, got.sum, want.records, want.sum))
	}
	return err
}

// keyText returns a key for a message: as an ID if it has the length of one, otherwise in hex.
func keyText(key []byte) string {
	if len(key) == 8 {
		return ID(binary.BigEndian.Uint64(key)).String()
	}
	return fmt.Sprintf("%x", key)
}
