package trigram

import (
	"errors"
	"slices"
)

// Merge writes one segment's file from several consecutive segments of a view, oldest
// first, by a k-way merge. It calls more from time to time; if more returns false, it
// removes the file and returns an error.
func Merge(path string, segments []*Segment, more func() bool) (*Segment, error) {
	w, err := create(path)
	if err != nil {
		return nil, err
	}

	walks := make([]*walk, len(segments))
	for i, s := range segments {
		walks[i] = &walk{s: s}
		if err := walks[i].next(); err != nil {
			return nil, w.drop(err)
		}
		w.covered = union(w.covered, s.covered)
	}

	var merging []*filtered
	var b []byte
	for n := 0; ; n++ {
		if n%1000 == 0 && !more() {
			return nil, w.drop(errStopped)
		}

		g, some := lowest(walks)
		if !some {
			return w.open()
		}

		merging, b = merging[:0], b[:0]
		for i, walk := range walks {
			if !walk.valid || walk.at.gram != g {
				continue
			}
			postings, err := walk.s.part(walk.at.at, walk.at.length)
			if err == nil {
				merging = append(merging, &filtered{hits: hits{b: postings}, newer: segments[i+1:]})
				err = walk.next()
			}
			if err != nil {
				return nil, w.drop(err)
			}
		}

		if b, err = appendMerged(b, merging); err != nil {
			return nil, w.drop(err)
		}
		if len(b) > 0 {
			w.postings(g, b)
		}
	}
}

// filtered iterates over the postings of a segment without the texts that newer
// segments cover.
type filtered struct {
	hits
	newer []*Segment
	at    hit
	more  bool
	id    uint64 // last ID looked up in newer
	gone  bool   // whether newer covers id
}

func (f *filtered) advance() error {
	for {
		h, more, bad := f.next()
		if bad {
			return ErrDamaged
		}
		if !more {
			f.more = false
			return nil
		}
		if id := h.id(); id != f.id {
			f.id, f.gone = id, covers(f.newer, id)
		}
		if !f.gone {
			f.at, f.more = h, true
			return nil
		}
	}
}

// appendMerged appends the hits of several postings lists to b, in order. It decodes
// them one at a time: a frequent trigram has millions.
func appendMerged(b []byte, from []*filtered) ([]byte, error) {
	for _, f := range from {
		if err := f.advance(); err != nil {
			return nil, err
		}
	}
	for last := uint64(0); ; {
		var first *filtered
		for _, f := range from {
			if f.more && (first == nil || f.at < first.at) {
				first = f
			}
		}
		if first == nil {
			return b, nil
		}
		b = appendHit(b, last, first.at)
		last = first.at.id()
		if err := first.advance(); err != nil {
			return nil, err
		}
	}
}

var errStopped = errors.New("merging was stopped")

// covers reports whether one of the segments covers id.
func covers(segments []*Segment, id uint64) bool {
	return slices.ContainsFunc(segments, func(s *Segment) bool { return s.covered.has(id) })
}

// walk iterates over the dictionary of a segment.
type walk struct {
	s     *Segment
	block int
	rest  []entry
	at    entry
	valid bool
}

func (w *walk) next() (err error) {
	for len(w.rest) == 0 {
		if w.block == len(w.s.blocks) {
			w.valid = false
			return nil
		}
		if w.rest, err = w.s.entries(w.s.blocks[w.block]); err != nil {
			return err
		}
		w.block++
	}
	w.at, w.rest, w.valid = w.rest[0], w.rest[1:], true
	return nil
}

// lowest returns the lowest trigram that one of the walks is at.
func lowest(walks []*walk) (g gram, some bool) {
	for _, w := range walks {
		if w.valid && (!some || w.at.gram < g) {
			g, some = w.at.gram, true
		}
	}
	return g, some
}
