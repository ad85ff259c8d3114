package trigram

import "encoding/binary"

// Postings are the hits of one trigram. Each is two varints: the distance to the
// previous ID, and the position in the text. The first distance counts from 0, so a
// distance of 0 always means another position in the same text.

// appendHit appends a hit to postings whose last ID is last.
func appendHit(b []byte, last uint64, h hit) []byte {
	b = binary.AppendUvarint(b, h.id()-last)
	return binary.AppendUvarint(b, uint64(h.pos()))
}

// hits iterates over postings.
type hits struct {
	b  []byte
	id uint64
}

// next returns the next hit. bad reports that the postings end within a number or are
// out of range.
func (p *hits) next() (h hit, more, bad bool) {
	if len(p.b) == 0 {
		return 0, false, false
	}

	var distance, pos uint64
	if len(p.b) > 1 && p.b[0] < 0x80 && p.b[1] < 0x80 { // the common case
		distance, pos = uint64(p.b[0]), uint64(p.b[1])
		p.b = p.b[2:]
	} else {
		n, m := 0, 0
		if distance, n = binary.Uvarint(p.b); n <= 0 {
			return 0, false, true
		}
		if pos, m = binary.Uvarint(p.b[n:]); m <= 0 || pos > MaxText {
			return 0, false, true
		}
		p.b = p.b[n+m:]
	}

	p.id += distance
	return hitAt(p.id, int(pos)), true, p.id > MaxID
}

// collect appends all hits of postings to to.
func collect(to []hit, postings []byte) ([]hit, error) {
	p := hits{b: postings}
	for {
		h, more, bad := p.next()
		if bad {
			return nil, ErrDamaged
		}
		if !more {
			return to, nil
		}
		to = append(to, h)
	}
}

// follow returns those of the beginnings of a substring, in order, for which postings
// have a hit offset bytes later.
func follow(beginnings []hit, postings []byte, offset int) ([]hit, error) {
	p := hits{b: postings}
	kept := beginnings[:0]
	h, more, bad := p.next()
	for _, b := range beginnings {
		if b.pos()+offset > MaxText {
			continue
		}

		want := b + hit(offset)
		for more && h < want {
			h, more, bad = p.next()
		}

		if bad {
			return nil, ErrDamaged
		}
		if !more {
			break
		}
		if h == want {
			kept = append(kept, b)
		}
	}

	return kept, nil
}
