package trigram

import (
	"encoding/binary"
	"slices"
	"sort"
)

// ranges is a set of IDs as inclusive ranges, sorted and not adjacent.
type ranges []struct{ low, high uint64 }

// add adds an ID that is higher than all in the set.
func (r ranges) add(id uint64) ranges {
	if n := len(r); n > 0 && r[n-1].high+1 == id {
		r[n-1].high = id
		return r
	}
	return append(r, struct{ low, high uint64 }{id, id})
}

func (r ranges) has(id uint64) bool {
	_, found := slices.BinarySearchFunc(r, id, func(e struct{ low, high uint64 }, id uint64) int {
		switch {
		case e.high < id:
			return -1
		case e.low > id:
			return 1
		}
		return 0
	})
	return found
}

// union returns the union of two sets.
func union(a, b ranges) ranges {
	all := slices.Concat(a, b)
	sort.Slice(all, func(i, j int) bool { return all[i].low < all[j].low })
	var out ranges
	for _, e := range all {
		if n := len(out); n > 0 && e.low <= out[n-1].high+1 {
			out[n-1].high = max(out[n-1].high, e.high)
			continue
		}
		out = append(out, e)
	}

	return out
}

// encode encodes the set as varints of the distances between its bounds.
func (r ranges) encode() []byte {
	var b []byte
	last := uint64(0)
	for _, e := range r {
		b = binary.AppendUvarint(b, e.low-last)
		b = binary.AppendUvarint(b, e.high-e.low)
		last = e.high
	}
	return b
}

func decodeRanges(b []byte) (r ranges, err error) {
	last := uint64(0)
	for len(b) > 0 {
		distance, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, ErrDamaged
		}
		length, m := binary.Uvarint(b[n:])
		if m <= 0 {
			return nil, ErrDamaged
		}
		b = b[n+m:]
		low := last + distance
		last = low + length
		r = append(r, struct{ low, high uint64 }{low, last})
	}
	return r, nil
}
