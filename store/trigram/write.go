package trigram

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"slices"
)

// writer writes a segment's file.
type writer struct {
	f       *os.File
	b       *bufio.Writer
	at      int64
	grams   []entry
	covered ranges
}

func create(path string) (*writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	return &writer{f: f, b: bufio.NewWriterSize(f, 256<<10)}, nil
}

// part writes bytes and their checksum. The bufio.Writer keeps an error until finish.
func (w *writer) part(b []byte) (at int64) {
	at = w.at
	w.b.Write(b)
	w.b.Write(binary.BigEndian.AppendUint32(nil, crc32.Checksum(b, castagnoli)))
	w.at += int64(len(b)) + sumSize
	return at
}

// postings writes the postings of the next trigram.
func (w *writer) postings(g gram, b []byte) {
	at := w.part(b)
	w.grams = append(w.grams, entry{g, at, len(b)})
}

// finish writes the remaining parts and syncs the file to disk.
func (w *writer) finish() error {
	covered := w.covered.encode()
	coveredAt := w.part(covered)
	var list []byte
	for entries := range slices.Chunk(w.grams, perBlock) {
		text := make([]byte, 0, perBlock*maxEntry)
		for _, e := range entries {
			text = append(text, byte(e.gram>>16), byte(e.gram>>8), byte(e.gram))
			text = binary.AppendUvarint(text, uint64(e.length))
		}
		at, g := w.part(text), entries[0].gram
		list = append(list, byte(g>>16), byte(g>>8), byte(g))
		list = binary.BigEndian.AppendUint64(list, uint64(entries[0].at))
		list = binary.BigEndian.AppendUint64(list, uint64(at))
		list = binary.BigEndian.AppendUint32(list, uint32(len(text)))
	}

	listAt := w.part(list)
	foot := []byte(magic)
	for _, n := range []int64{coveredAt, int64(len(covered)), listAt, int64(len(list))} {
		foot = binary.BigEndian.AppendUint64(foot, uint64(n))
	}

	w.part(foot)
	return errors.Join(w.b.Flush(), w.f.Sync(), w.f.Close())
}

// drop removes an unfinished file.
func (w *writer) drop(err error) error {
	return errors.Join(err, w.f.Close(), os.Remove(w.f.Name()))
}

// Write creates a segment's file from docs, whose IDs must ascend, and opens it. It
// needs about 200 bytes of memory per text.
func Write(path string, docs []Doc) (*Segment, error) {
	w, err := create(path)
	if err != nil {
		return nil, err
	}

	type list struct {
		last uint64
		b    []byte
	}
	lists := map[gram]*list{}
	last := uint64(0)
	for _, d := range docs {
		if d.ID <= last || d.ID > MaxID || len(d.Text) > MaxText {
			return nil, w.drop(fmt.Errorf("text %d of %d bytes cannot be indexed", d.ID,
				len(d.Text)))
		}

		last = d.ID
		w.covered = w.covered.add(d.ID)
		separated := 0 // bytes since the last zero byte
		var g gram
		for i, c := range d.Text {
			g = g<<8&0xffffff | gram(c)
			if separated++; c == 0 {
				separated = 0
			}
			if separated < Length {
				continue
			}
			l := lists[g]
			if l == nil {
				l = &list{}
				lists[g] = l
			}
			l.b = appendHit(l.b, l.last, hitAt(d.ID, i-Length+1))
			l.last = d.ID
		}
	}

	for _, g := range slices.Sorted(maps.Keys(lists)) {
		w.postings(g, lists[g].b)
	}

	return w.open()
}

// open finishes the file and opens it.
func (w *writer) open() (*Segment, error) {
	name := w.f.Name()
	if err := w.finish(); err != nil {
		return nil, errors.Join(err, os.Remove(name))
	}
	return Open(name)
}
