package kv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"reeve/store/disk"
)

// countBucket holds the totals of each collection by collection name.
const countBucket = "_count"

// localBucket holds, by collection name, the totals of rows that only this file has: the list of
// changes for the search index, and, as negative numbers, the entries that were moved from the change
// log to segments. See buckets.tsv.
const localBucket = "_local"

// totals is the number of records of a collection, and the sum modulo 2^64 of the checksums of
// all its records, index entries and search texts. The sum detects a page that was replaced by
// an older version of itself, in which every single checksum is right. It is verified after the
// file is opened (check.go) and by Verify.
type totals struct {
	records uint64
	sum     uint64
}

func (t totals) plus(other totals) totals {
	return totals{t.records + other.records, t.sum + other.sum}
}

func readTotals(tx *Tx, name string) (totals, error) {
	t, found, err := decodeTotals(tx, countBucket, name)
	if err == nil && !found {
		err = Damaged(countBucket, name, fmt.Errorf("it is missing"))
	}
	return t, err
}

// localTotals returns the local totals of a collection.
func localTotals(tx *Tx, name string) (totals, error) {
	t, _, err := decodeTotals(tx, localBucket, name)
	return t, err
}

func decodeTotals(tx *Tx, bucket, name string) (t totals, found bool, err error) {
	key := []byte(name)
	value := tx.bucket(bucket).Get(key)
	if value == nil {
		return totals{}, false, nil
	}
	payload, err := disk.Unframe(bucket, key, value)
	if err == nil && len(payload) != 16 {
		err = fmt.Errorf("it has %d bytes, not 16", len(payload))
	}
	if err != nil {
		return totals{}, true, Damaged(bucket, name, err)
	}
	return totals{binary.BigEndian.Uint64(payload), binary.BigEndian.Uint64(payload[8:])}, true, nil
}

// Fingerprint returns a text that is another one after a change of any record of the collections, also
// of one earlier in the same commit. It reads no records.
func Fingerprint(tx *Tx, of ...Table) (string, error) {
	var all []byte
	for _, t := range of {
		now, err := readTotals(tx, t.Name())
		if err != nil {
			return "", err
		}
		all = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(all, now.records), now.sum)
	}
	return string(all), nil
}

func writeTotals(tx *Tx, name string, t totals) error { return encodeTotals(tx, countBucket, name, t) }

func encodeTotals(tx *Tx, bucket, name string, t totals) error {
	payload := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, t.records), t.sum)
	return tx.put(bucket, []byte(name), disk.Frame(bucket, []byte(name), payload))
}

// addTotals adds to a collection's totals. Negative numbers wrap around.
func addTotals(tx *Tx, name string, records int, sum uint64) error {
	t, err := readTotals(tx, name)
	if err != nil {
		return err
	}
	return writeTotals(tx, name, t.plus(totals{uint64(records), sum}))
}

// addLocalTotals is addTotals for the local totals.
func addLocalTotals(tx *Tx, name string, records int, sum uint64) error {
	t, err := localTotals(tx, name)
	if err != nil {
		return err
	}
	return encodeTotals(tx, localBucket, name, t.plus(totals{uint64(records), sum}))
}

// SplitTotals separates the totals of the lists of changes for search indexes from those of their
// collections. It is for the migration from files that have them together.
func SplitTotals(tx *Tx) error {
	for _, t := range tx.db.schema.Tables {
		b := t.table().searchedIn()
		if b == nil {
			continue
		}
		all, err := readTotals(tx, b.collection)
		local, localErr := localTotals(tx, b.collection)
		if err := errors.Join(err, localErr); err != nil {
			return err
		}
		listed, _ := bucketTotals(tx, b.changes, false, &atomic.Bool{})
		all.sum += local.sum - listed.sum
		err = errors.Join(writeTotals(tx, b.collection, all), encodeTotals(tx, localBucket, b.collection, listed))
		if err != nil {
			return err
		}
	}
	return nil
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
	shared, err := readTotals(tx, name)
	local, localErr := localTotals(tx, name)
	want := shared.plus(local)
	if err = errors.Join(err, localErr); err == nil && got != want && broken == nil {
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
