package audit

import (
	"encoding/binary"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// Buckets of a segment besides disk.MetaBucket. The last 8 bytes of each key of an index are the
// number of the entry; its value is the frame of nothing, a checksum of the key.
const (
	entryBucket      = "entry"
	actorBucket      = "actor"
	recordBucket     = "record"
	atBucket         = "at"
	checkpointBucket = "checkpoint"
)

// checkpointKey is the only key in checkpointBucket.
var checkpointKey = []byte("data")

// indexBuckets are the buckets of the indexes, in the order of indexKeys.
var indexBuckets = [3]string{actorBucket, recordBucket, atBucket}

// seqKey is the key of an entry: its number, big-endian, so that keys order as numbers do.
func seqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

// actorPrefix is what comes before the number in a key of the index actor.
func actorPrefix(actor string) []byte { return append([]byte(actor), 0) }

// recordPrefix is what comes before the number in a key of the index record.
func recordPrefix(collection string, id uint64) []byte {
	return binary.BigEndian.AppendUint64(append([]byte(collection), 0), id)
}

// atPrefix is what comes before the number in a key of the index at.
func atPrefix(micros int64) []byte { return seqKey(uint64(micros)) }

func withSeq(prefix []byte, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(prefix[:len(prefix):len(prefix)], seq)
}

// subject is the part of an entry that the indexes and queries need.
type subject struct {
	Link
	Actor   Actor  `json:"actor"`
	Action  string `json:"action"`
	Changes []struct {
		Collection string `json:"collection"`
		ID         uint64 `json:"id"`
	} `json:"changes"`
}

// micros returns the time of the entry in Unix microseconds, not below 0.
func (s *subject) micros() (int64, error) {
	at, err := time.Parse(time.RFC3339Nano, s.At)
	if err != nil {
		return 0, fmt.Errorf("entry %d has no valid time: %w", s.Seq, err)
	}
	return max(0, at.UnixMicro()), nil
}

// indexKeys are the keys of the three indexes, in the order of indexBuckets.
type indexKeys [3][][]byte

// add appends the keys of an entry. A record that the entry changes twice has one key.
func (k *indexKeys) add(s *subject, micros int64) {
	k[0] = append(k[0], withSeq(actorPrefix(s.Actor.Key()), s.Seq))
	seen := map[string]bool{}
	for _, c := range s.Changes {
		key := withSeq(recordPrefix(c.Collection, c.ID), s.Seq)
		if !seen[string(key)] {
			seen[string(key)] = true
			k[1] = append(k[1], key)
		}
	}
	k[2] = append(k[2], withSeq(atPrefix(micros), s.Seq))
}

// checkIndexes checks the checksum of each key of the indexes and their number, so that a
// damaged key does not hide an entry.
func checkIndexes(btx *bbolt.Tx, m meta) error {
	for i, want := range [...]uint64{m.Entries, m.Records, m.Entries} {
		name := indexBuckets[i]
		b := btx.Bucket([]byte(name))
		if b == nil {
			return fmt.Errorf("bucket %s is missing", name)
		}
		count, c := uint64(0), b.Cursor()
		for key, value := c.First(); key != nil; key, value = c.Next() {
			if _, err := disk.Unframe(name, key, value); err != nil {
				return fmt.Errorf("key %x of index %s: %w", key, name, err)
			}
			count++
		}
		if count != want {
			return fmt.Errorf("index %s has %d keys instead of %d", name, count, want)
		}
	}
	return nil
}
