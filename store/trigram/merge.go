package trigram

import (
	"errors"
	"slices"
)

// Merge makes one segment's file of several, which follow each other in a view, the
// oldest first. more is asked now and then; if it says no, nothing is left.
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
	var all []hit
	var b []byte
	for n := 0; ; n++ {
		if n%1000 == 0 && !more() {
			return nil, w.drop(errStopped)
		}
		g, some := least(walks)
		if !some {
			return w.open()
		}
		all, b = all[:0], b[:0]
		for i, walk := range walks {
			if !walk.some || walk.at.gram != g {
				continue
			}
			from := len(all)
			postings, err := walk.s.part(walk.at.at, walk.at.length)
			if err == nil {
				all, err = collect(all, postings)
			}
			if err == nil {
				kept := slices.DeleteFunc(all[from:], func(h hit) bool { return covers(segments[i+1:], h.id()) })
				all = all[:from+len(kept)]
			}
			if err == nil {
				err = walk.next()
			}
			if err != nil {
				return nil, w.drop(err)
			}
		}
		if !slices.IsSorted(all) {
			slices.Sort(all)
		}
		last := uint64(0)
		for _, h := range all {
			b = appendHit(b, last, h)
			last = h.id()
		}
		if len(b) > 0 {
			w.postings(g, b)
		}
	}
}

var errStopped = errors.New("merging was stopped")

// covers reports whether one of the segments covers an id.
func covers(segments []*Segment, id uint64) bool {
	return slices.ContainsFunc(segments, func(s *Segment) bool { return s.covered.has(id) })
}

// walk goes through the dictionary of a segment.
type walk struct {
	s     *Segment
	block int
	rest  []entry
	at    entry
	some  bool
}

func (w *walk) next() (err error) {
	for len(w.rest) == 0 {
		if w.block == len(w.s.blocks) {
			w.some = false
			return nil
		}
		if w.rest, err = w.s.entries(w.s.blocks[w.block]); err != nil {
			return err
		}
		w.block++
	}
	w.at, w.rest, w.some = w.rest[0], w.rest[1:], true
	return nil
}

// least is the lowest trigram that one of the walks is at.
func least(walks []*walk) (g gram, some bool) {
	for _, w := range walks {
		if w.some && (!some || w.at.gram < g) {
			g, some = w.at.gram, true
		}
	}
	return g, some
}
