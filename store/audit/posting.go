package audit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// A segment numbers its entries from 0, by position. The postings of a term are the positions of
// its entries, ascending, each as the difference from the one before it; the times are in the order
// of the positions, the first as a uvarint and the others as varint differences.

// indexes are the indexes of a segment while it is built or verified.
type indexes struct {
	terms map[string]*posting
	times []byte
	last  int64  // time of the last entry
	n     uint64 // number of entries
}

type posting struct {
	text []byte
	last uint64 // position
}

// add adds the keys of the next entry.
func (x *indexes) add(k *Keys) {
	if x.terms == nil {
		x.terms = map[string]*posting{}
	}

	for term := range k.each {
		p := x.terms[term]
		if p == nil {
			p = &posting{}
			x.terms[term] = p
		}
		p.text = binary.AppendUvarint(p.text, x.n-p.last)
		p.last = x.n
	}

	if x.n == 0 {
		x.times = binary.AppendUvarint(x.times, uint64(k.Micros))
	} else {
		x.times = binary.AppendVarint(x.times, k.Micros-x.last)
	}

	x.last = k.Micros
	x.n++
}

// sorted returns the terms in the order of their keys.
func (x *indexes) sorted() []string {
	terms := make([]string, 0, len(x.terms))
	for t := range x.terms {
		terms = append(terms, t)
	}
	slices.Sort(terms)
	return terms
}

// positions is a set of positions in a segment.
type positions []uint64

func newPositions(n uint64) positions { return make(positions, (n+63)/64) }

// full returns the set of the positions below n.
func fullPositions(n uint64) positions {
	p := newPositions(n)
	for i := range p {
		p[i] = math.MaxUint64
	}
	if n%64 != 0 {
		p[len(p)-1] = 1<<(n%64) - 1
	}
	return p
}

func (p positions) add(n uint64) { p[n/64] |= 1 << (n % 64) }

// intersect removes what is not in another set, and reports whether anything is left.
func (p positions) intersect(o positions) (any bool) {
	for i := range p {
		p[i] &= o[i]
		any = any || p[i] != 0
	}
	return any
}

// countBelow returns the number of positions below n.
func (p positions) countBelow(n uint64) (count int) {
	for i, word := range p {
		if uint64(i) == n/64 {
			return count + bits.OnesCount64(word&(1<<(n%64)-1))
		}
		count += bits.OnesCount64(word)
	}
	return count
}

// descending yields the positions up to high.
func (p positions) descending(high uint64, yield func(uint64) bool) {
	if len(p) == 0 {
		return
	}
	high = min(high, uint64(len(p))*64-1)
	for i := int(high / 64); i >= 0; i-- {
		word := p[i]
		if uint64(i) == high/64 {
			word &= math.MaxUint64 >> (63 - high%64)
		}
		for word != 0 {
			bit := 63 - bits.LeadingZeros64(word)
			word &^= 1 << bit
			if !yield(uint64(i)*64 + uint64(bit)) {
				return
			}
		}
	}
}

var errPostings = errors.New("its positions are not valid")

// eachPosition calls yield for the postings of a term in a segment of n entries.
func eachPosition(postings []byte, n uint64, yield func(uint64)) error {
	position := uint64(0)
	for i := 0; len(postings) > 0; i++ {
		diff, size := binary.Uvarint(postings)
		if size <= 0 || diff >= n-position || diff == 0 && i > 0 {
			return errPostings
		}
		position += diff
		postings = postings[size:]
		yield(position)
	}
	return nil
}

// eachTime calls yield for the times of n entries.
func eachTime(times []byte, n uint64, yield func(position uint64, micros int64)) error {
	first, size := binary.Uvarint(times)
	at := int64(first)
	for position := range n {
		if position > 0 {
			var diff int64
			diff, size = binary.Varint(times)
			at += diff
		}
		if size <= 0 || at < 0 {
			return fmt.Errorf("time %d is missing or not valid", position+1)
		}
		times = times[size:]
		yield(position, at)
	}

	if len(times) > 0 {
		return fmt.Errorf("there are more than %d times", n)
	}

	return nil
}
