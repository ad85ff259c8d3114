package trigram

// View is a sequence of segments, the oldest first.
type View []*Segment

// Find returns the ids of the texts that have a part of Length bytes or more, each once,
// without those that skip names. They ascend within a segment.
func (v View) Find(part string, skip func(id uint64) bool) (ids []uint64, err error) {
	for i, s := range v {
		begin, err := s.search(part)
		if err != nil {
			return nil, err
		}
		last := uint64(0)
		for _, h := range begin {
			id := h.id()
			if id == last || covers(v[i+1:], id) || skip(id) {
				continue
			}
			ids = append(ids, id)
			last = id
		}
	}
	return ids, nil
}

// Size is how many bytes the segments have.
func (v View) Size() (n int64) {
	for _, s := range v {
		n += s.Size()
	}
	return n
}

// Due returns from which segment on those of a view should be merged: four or more, none
// larger than those behind it. So a view has few segments, and a hit is written about once
// each time that the texts double. It is the length of the view if none should be.
func (v View) Due() int {
	behind := int64(0)
	due := len(v)
	for i := len(v) - 1; i >= 0; i-- {
		if len(v)-i >= segmentsKept && v[i].Size() <= behind {
			due = i
		}
		behind += v[i].Size()
	}
	return due
}

// segmentsKept is how many segments a view has before they are merged.
const segmentsKept = 4
