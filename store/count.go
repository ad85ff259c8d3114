package store

import (
	"encoding/binary"
	"fmt"
)

// countBucket holds a tally for each collection, by collection name.
const countBucket = "_count"

// tally is how many records a collection has, and the sum of their checksums.
// The sum tells when a whole page is an older version of itself, which no single
// record's checksum can.
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

// addTally moves a collection's tally by a number of records and the checksums
// that came and went.
func addTally(tx *Tx, name string, records int, came, went uint32) error {
	t, err := readTally(tx, name)
	if err != nil {
		return err
	}
	t.records += uint64(records)
	t.sum += uint64(came) - uint64(went)
	return writeTally(tx, name, t)
}
