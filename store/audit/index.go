package audit

import (
	"encoding/binary"
	"fmt"
	"math"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// Buckets of a segment besides disk.MetaBucket.
const (
	entryBucket      = "entry"
	termBucket       = "term"
	timeBucket       = "time"
	checkpointBucket = "checkpoint"
)

// dataKey is the only key in timeBucket and in checkpointBucket.
var dataKey = []byte("data")

// seqKey is the key of an entry: its number, big-endian, so that keys order as numbers do.
func seqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

// postingsOf returns the postings of a term; nil if no entry has it. They are valid as long as the
// transaction.
func postingsOf(btx *bbolt.Tx, term string) ([]byte, error) {
	b := btx.Bucket([]byte(termBucket))
	if b == nil {
		return nil, fmt.Errorf("bucket %s is missing", termBucket)
	}
	value := b.Get([]byte(term))
	if value == nil {
		return nil, nil
	}
	return unframeTerm([]byte(term), value)
}

func unframeTerm(term, value []byte) ([]byte, error) {
	postings, err := disk.Unframe(termBucket, term, value)
	if err != nil {
		return nil, fmt.Errorf("term %q: %w", term, err)
	}
	return postings, nil
}

// timesOf returns the times of the entries. They are valid as long as the transaction.
func timesOf(btx *bbolt.Tx) ([]byte, error) {
	b := btx.Bucket([]byte(timeBucket))
	if b == nil {
		return nil, fmt.Errorf("bucket %s is missing", timeBucket)
	}
	times, err := disk.Unframe(timeBucket, dataKey, b.Get(dataKey))
	if err != nil {
		return nil, fmt.Errorf("the times: %w", err)
	}
	return times, nil
}

// checkIndexes checks all postings, their number, and the times, so that damage does not hide an
// entry and a query can rely on them.
func checkIndexes(btx *bbolt.Tx, m meta) error {
	times, err := timesOf(btx)
	if err != nil {
		return err
	}

	from, to := int64(math.MaxInt64), int64(0)
	if err := eachTime(times, m.Entries, func(_ uint64, at int64) {
		from, to = min(from, at), max(to, at)
	}); err != nil {
		return err
	}
	if from != m.From || to != m.To {
		return fmt.Errorf("the times are %d to %d, not %d to %d", from, to, m.From, m.To)
	}

	b := btx.Bucket([]byte(termBucket))
	if b == nil {
		return fmt.Errorf("bucket %s is missing", termBucket)
	}

	count, c := uint64(0), b.Cursor()
	for term, value := c.First(); term != nil; term, value = c.Next() {
		postings, err := unframeTerm(term, value)
		if err != nil {
			return err
		}
		if err := eachPosition(postings, m.Entries, func(uint64) {}); err != nil ||
			len(postings) == 0 {
			return fmt.Errorf("term %q: %w", term, errPostings)
		}
		count++
	}

	if count != m.Terms {
		return fmt.Errorf("there are %d terms instead of %d", count, m.Terms)
	}

	return nil
}

// matching returns the positions of the entries that meet a query.
func (q Query) matching(btx *bbolt.Tx, m meta) (positions, error) {
	found := fullPositions(m.Entries)
	for _, terms := range q.All {
		any := newPositions(m.Entries)
		for _, t := range terms {
			postings, err := postingsOf(btx, t)
			if err == nil {
				err = eachPosition(postings, m.Entries, any.add)
			}
			if err != nil {
				return nil, err
			}
		}
		if !found.intersect(any) {
			return nil, nil
		}
	}

	if (q.From == 0 || q.From <= m.From) && (q.To == 0 || q.To >= m.To) {
		return found, nil
	}

	times, err := timesOf(btx)
	if err != nil {
		return nil, err
	}

	within := newPositions(m.Entries)
	err = eachTime(times, m.Entries, func(position uint64, at int64) {
		if (q.From == 0 || at >= q.From) && (q.To == 0 || at <= q.To) {
			within.add(position)
		}
	})

	found.intersect(within)
	return found, err
}
