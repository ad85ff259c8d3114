package kv

import (
	"iter"
	"maps"
	"math/bits"
	"slices"
)

// idSet is a set of IDs: a bit set, divided into pages. A million consecutive IDs take 125 KB, a
// lookup takes a few nanoseconds, and a huge ID in a damaged entry costs only one page.
type idSet struct {
	pages map[ID]*idPage
	last  *idPage // page of the ID added last, because most are added in order
	at    ID      // number of that page
	n     int     // IDs in the set
}

// idPage holds 4,096 IDs.
type idPage [64]uint64

func newIDSet() *idSet { return &idSet{pages: map[ID]*idPage{}} }

func (s *idSet) add(id ID) {
	if at := id >> 12; s.last == nil || s.at != at {
		page := s.pages[at]
		if page == nil {
			page = &idPage{}
			s.pages[at] = page
		}
		s.last, s.at = page, at
	}
	word, bit := &s.last[id>>6&63], uint64(1)<<(id&63)
	if *word&bit == 0 {
		*word |= bit
		s.n++
	}
}

func (s *idSet) has(id ID) bool {
	page := s.pages[id>>12]
	return page != nil && page[id>>6&63]>>(id&63)&1 == 1
}

// walk iterates over the IDs in order.
func (s *idSet) walk(descending bool) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		numbers := slices.Sorted(maps.Keys(s.pages))
		if descending {
			slices.Reverse(numbers)
		}
		for _, at := range numbers {
			for i := range 64 {
				if descending {
					i = 63 - i
				}
				for word := s.pages[at][i]; word != 0; {
					bit := bits.TrailingZeros64(word)
					if descending {
						bit = 63 - bits.LeadingZeros64(word)
					}
					if !yield(at<<12 | ID(i)<<6 | ID(bit)) {
						return
					}
					word &^= 1 << bit
				}
			}
		}
	}
}
