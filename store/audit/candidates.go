package audit

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"
	"slices"

	"go.etcd.io/bbolt"
)

// candidates yields the numbers from high down to low, or up, of the entries that may meet the
// query. It walks one index, that of the record if possible, since a record has fewer entries
// than an actor. The other conditions are for matches.
func (p *page) candidates(btx *bbolt.Tx) iter.Seq[uint64] {
	q := p.query
	if p.ascending {
		return p.count
	}
	timed := q.From != 0 || q.To != 0
	if timed && p.meta.Ordered {
		p.narrow(btx)
	}
	switch {
	case p.low > p.high:
		return func(func(uint64) bool) {}
	case q.Collection != "":
		return p.walk(btx, recordBucket, recordPrefix(q.Collection, q.ID))
	case q.Actor != "":
		return p.walk(btx, actorBucket, actorPrefix(q.Actor))
	case timed && !p.meta.Ordered:
		return slices.Values(p.between(btx))
	}
	return p.count
}

// count yields all numbers.
func (p *page) count(yield func(uint64) bool) {
	low, high := p.low, p.high // fill changes them
	for n := low; n <= high; n++ {
		seq := n
		if !p.ascending {
			seq = high - (n - low)
		}
		if !yield(seq) {
			return
		}
	}
}

// walk yields the numbers after a prefix in an index, descending. Keys of another length belong
// to a longer prefix.
func (p *page) walk(btx *bbolt.Tx, bucket string, prefix []byte) iter.Seq[uint64] {
	low, high := p.low, p.high
	return func(yield func(uint64) bool) {
		c := btx.Bucket([]byte(bucket)).Cursor()
		least := withSeq(prefix, low)
		for key := seekBelow(c, withSeq(prefix, high+1)); bytes.Compare(key, least) >= 0; key, _ = c.Prev() {
			if len(key) == len(least) && !yield(seqOf(key)) {
				return
			}
		}
	}
}

// seekBelow moves a cursor to the last key below a key; nil if there is none.
func seekBelow(c *bbolt.Cursor, key []byte) []byte {
	found, _ := c.Seek(key)
	if found == nil {
		found, _ = c.Last()
	} else {
		found, _ = c.Prev()
	}
	return found
}

// seqOf returns the number at the end of a key of an index.
func seqOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-8:]) }

// narrow narrows low and high by time, in a segment in which times ascend with numbers.
func (p *page) narrow(btx *bbolt.Tx) {
	c := btx.Bucket([]byte(atBucket)).Cursor()
	if p.query.From != 0 {
		key, _ := c.Seek(atPrefix(max(0, p.query.From)))
		if key == nil {
			p.low = math.MaxUint64
			return
		}
		p.low = max(p.low, seqOf(key))
	}
	if p.query.To != 0 {
		key := seekBelow(c, atPrefix(p.query.To+1))
		if key == nil {
			p.low = math.MaxUint64
			return
		}
		p.high = min(p.high, seqOf(key))
	}
}

// between returns the numbers of the entries of the times of the query, descending, in a segment
// in which the clock was set back.
func (p *page) between(btx *bbolt.Tx) (seqs []uint64) {
	c := btx.Bucket([]byte(atBucket)).Cursor()
	for key, _ := c.Seek(atPrefix(max(0, p.query.From))); key != nil; key, _ = c.Next() {
		if p.query.To != 0 && int64(binary.BigEndian.Uint64(key)) > p.query.To {
			break
		}
		if seq := seqOf(key); seq >= p.low && seq <= p.high {
			seqs = append(seqs, seq)
		}
	}
	slices.Sort(seqs)
	slices.Reverse(seqs)
	return seqs
}
