package web

import (
	"encoding/json"
	"strconv"
	"strings"
)

// sentIDs are the IDs of the records that were sent: one may move to a later page while others are created. Numbers
// are in a hash table with linear probing, whose memory is known exactly, unlike that of a map.
type sentIDs struct {
	numbers []uint64 // length is a power of 2; 0 for a free slot
	n       int      // numbers in the table
	zero    bool     // whether 0 was sent
	texts   map[string]struct{}
	length  int // bytes of the texts
}

// textMemory is the number of bytes that an entry of a map of texts takes at most, beside the text.
const textMemory = 56

// newSentIDs returns a table with room for so many IDs.
func newSentIDs(expected int) *sentIDs {
	size := 8
	for size*3 < expected*4 {
		size *= 2
	}
	return &sentIDs{numbers: make([]uint64, size), texts: map[string]struct{}{}}
}

// bytes returns the memory of the IDs.
func (s *sentIDs) bytes() int { return len(s.numbers)*8 + len(s.texts)*textMemory + s.length }

// add adds the JSON of an ID, and reports whether it was not there.
func (s *sentIDs) add(id json.RawMessage) bool {
	number, err := strconv.ParseUint(strings.Trim(string(id), `"`), 10, 64)
	switch {
	case err != nil:
		n := len(s.texts)
		if s.texts[string(id)] = struct{}{}; len(s.texts) == n {
			return false
		}
		s.length += len(id)
		return true
	case number == 0:
		added := !s.zero
		s.zero = true
		return added
	case s.n*4 >= len(s.numbers)*3:
		old := s.numbers
		s.numbers = make([]uint64, 2*len(old))
		for _, v := range old {
			if v != 0 {
				s.numbers[s.slot(v)] = v
			}
		}
	}
	at := s.slot(number)
	if s.numbers[at] == number {
		return false
	}
	s.numbers[at] = number
	s.n++
	return true
}

// slot returns the place of a number, or the free one for it.
func (s *sentIDs) slot(number uint64) int {
	at := int(number*0x9e3779b97f4a7c15>>32) & (len(s.numbers) - 1)
	for s.numbers[at] != 0 && s.numbers[at] != number {
		at = (at + 1) & (len(s.numbers) - 1)
	}
	return at
}
