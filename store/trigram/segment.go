package trigram

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"sort"
)

// A segment's file consists of: the postings of each trigram in order; the covered IDs;
// the dictionary in blocks of entries, each a trigram and the length of its postings;
// the list of these blocks; and a footer of footSize bytes. Fixed-length numbers are
// big-endian, and every part ends with a CRC-32C.
const (
	magic      = "rvtri 1\n"
	sumSize    = 4
	footSize   = len(magic) + 4*8 + sumSize
	listedSize = 3 + 8 + 8 + 4
	perBlock   = 64 // entries of a block
	maxEntry   = 3 + binary.MaxVarintLen64
)

// Segment is an open segment. Its methods are safe for concurrent use.
type Segment struct {
	f       *os.File
	size    int64
	covered ranges
	blocks  []block
}

// block is the position of a block of the dictionary.
type block struct {
	first    gram
	postings int64 // offset of the postings of its first trigram
	at       int64
	length   int
}

// entry is a trigram of a dictionary and the position of its postings.
type entry struct {
	gram   gram
	at     int64
	length int
}

// Open opens a segment's file. It has no Close: the os.File is closed when the Segment
// is garbage collected.
func Open(path string) (s *Segment, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if s, err = read(f); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return s, nil
}

func read(f *os.File) (*Segment, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}

	s := &Segment{f: f, size: info.Size()}
	foot, err := s.part(s.size-int64(footSize), footSize-sumSize)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(foot, []byte(magic)) {
		return nil, ErrDamaged
	}

	var numbers [4]int64
	for i := range numbers {
		numbers[i] = int64(binary.BigEndian.Uint64(foot[len(magic)+8*i:]))
	}

	covered, err := s.part(numbers[0], int(numbers[1]))
	if err != nil {
		return nil, err
	}
	if s.covered, err = decodeRanges(covered); err != nil {
		return nil, err
	}

	list, err := s.part(numbers[2], int(numbers[3]))
	if err != nil {
		return nil, err
	}

	for ; len(list) >= listedSize; list = list[listedSize:] {
		s.blocks = append(s.blocks, block{
			gram(list[0])<<16 | gram(list[1])<<8 | gram(list[2]),
			int64(binary.BigEndian.Uint64(list[3:])), int64(binary.BigEndian.Uint64(list[11:])),
			int(binary.BigEndian.Uint32(list[19:])),
		})
	}

	return s, nil
}

// part reads a part of the file and checks its checksum, which follows it.
func (s *Segment) part(at int64, length int) ([]byte, error) {
	if at < 0 || length < 0 || int64(length) > s.size || at > s.size-int64(length)-sumSize {
		return nil, ErrDamaged
	}
	b := make([]byte, length+sumSize)
	if _, err := s.f.ReadAt(b, at); err != nil {
		if errors.Is(err, io.EOF) {
			err = ErrDamaged
		}
		return nil, err
	}
	if crc32.Checksum(b[:length], castagnoli) != binary.BigEndian.Uint32(b[length:]) {
		return nil, ErrDamaged
	}
	return b[:length], nil
}

// entries reads the entries of a block.
func (s *Segment) entries(b block) (all []entry, err error) {
	text, err := s.part(b.at, b.length)
	for at := b.postings; err == nil && len(text) > 0; {
		var e entry
		if e, text, err = s.entry(text, at); err == nil {
			all = append(all, e)
			at = e.at + int64(e.length) + sumSize
		}
	}
	return all, err
}

// entry decodes the first entry of text. at is the offset of its postings.
func (s *Segment) entry(text []byte, at int64) (e entry, rest []byte, err error) {
	if len(text) < 4 {
		return e, nil, ErrDamaged
	}
	length, n := binary.Uvarint(text[3:])
	if n <= 0 || length > uint64(s.size) {
		return e, nil, ErrDamaged
	}
	return entry{gram(text[0])<<16 | gram(text[1])<<8 | gram(text[2]), at, int(length)},
		text[3+n:], nil
}

// find returns the entry of a trigram; its length is 0 if the segment does not have the
// trigram.
func (s *Segment) find(g gram) (entry, error) {
	i, found := slices.BinarySearchFunc(s.blocks, g, func(b block, g gram) int {
		return int(b.first) - int(g)
	})
	if !found {
		i--
	}
	if i < 0 {
		return entry{}, nil
	}

	text, err := s.part(s.blocks[i].at, s.blocks[i].length)
	if err != nil {
		return entry{}, err
	}

	for at := s.blocks[i].postings; len(text) > 0; {
		e, rest, err := s.entry(text, at)
		if err != nil || e.gram == g {
			return e, err
		}
		if e.gram > g {
			break
		}
		at, text = e.at+int64(e.length)+sumSize, rest
	}

	return entry{}, nil
}

// search returns the hits at which a substring of at least Length bytes begins.
func (s *Segment) search(part string) ([]hit, error) {
	type step struct {
		entry
		offset int
	}
	var steps []step
	for offset := 0; ; offset = min(offset+Length, len(part)-Length) {
		e, err := s.find(gramAt(part, offset))
		if err != nil || e.length == 0 {
			return nil, err
		}
		steps = append(steps, step{e, offset})
		if offset == len(part)-Length {
			break
		}
	}

	sort.Slice(steps, func(i, j int) bool { return steps[i].length < steps[j].length })
	var begin []hit
	for i, step := range steps {
		postings, err := s.part(step.at, step.length)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			begin, err = follow(begin, postings, step.offset)
		} else if begin, err = collect(make([]hit, 0, step.length/2), postings); err == nil {
			begin = back(begin, step.offset)
		}
		if err != nil || len(begin) == 0 {
			return nil, err
		}
	}

	return begin, nil
}

// back moves hits back by offset, to the beginning of the substring.
func back(hits []hit, offset int) []hit {
	kept := hits[:0]
	for _, h := range hits {
		if h.pos() >= offset {
			kept = append(kept, h-hit(offset))
		}
	}
	return kept
}

// Size returns the size of the file in bytes.
func (s *Segment) Size() int64 { return s.size }

// Name returns the path with which the file was opened.
func (s *Segment) Name() string { return s.f.Name() }
