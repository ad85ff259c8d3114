package trigram

// View is a sequence of segments, oldest first.
type View []*Segment

// Find returns the IDs of the texts that contain a substring of at least Length bytes,
// each once, without those for which skip returns true. IDs ascend within a segment.
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

// Size returns the total size of the segments in bytes.
func (v View) Size() (n int64) {
	for _, s := range v {
		n += s.Size()
	}
	return n
}

// Due returns the index from which on the segments should be merged: at least
// segmentsKept segments, none larger than those after it together. So a view has few
// segments, and a hit is rewritten about once each time the number of texts doubles. If
// no merge is due, Due returns len(v).
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

// segmentsKept is the number of segments from which on they are merged.
const segmentsKept = 4
