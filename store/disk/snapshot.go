package disk

import (
	"bytes"
	"errors"
	"io"
	"os"

	"go.etcd.io/bbolt"
)

// Snapshot is the content of a database file as one read transaction sees it. It reads the same
// bytes any number of times while writers change the file: bbolt does not reuse the pages that an
// open transaction can reach, and all other pages are zeros in it. It has no list of free pages,
// which bbolt builds when it opens a copy.
type Snapshot struct {
	f        *os.File
	metas    []byte // the two meta pages
	used     []byte // bit set of the pages that the transaction can reach
	pageSize int64
	size     int64
}

// NewSnapshot checks the pages that a read transaction can reach in f, which is a file that bbolt
// has open. The snapshot is valid until the transaction ends.
func NewSnapshot(f *os.File, btx *bbolt.Tx) (*Snapshot, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}

	metas, err := metaPages(btx)
	if err != nil {
		return nil, err
	}

	meta := DecodeMeta(metas[PageHead:])
	size := int64(meta.PageSize)
	withoutFreelist(metas[PageHead:][:MetaSize])
	withoutFreelist(metas[size+PageHead:][:MetaSize])
	w, end := newWalk(f, meta, info.Size())
	err = w.mayFault(func() error { return w.tree(meta.Root, nil, nil, 0) })
	if err != nil {
		err = &Damaged{Where: f.Name(), Err: err}
	}
	if err := errors.Join(err, end()); err != nil {
		return nil, err
	}

	s := &Snapshot{
		f:        f,
		metas:    metas,
		used:     make([]byte, meta.Pages/8+1),
		pageSize: size,
		size:     int64(meta.Pages) * size,
	}
	for id := range w.seen {
		if w.seen[id].Load() {
			s.used[id/8] |= 1 << (id % 8)
		}
	}

	return s, nil
}

// metaPages returns the two meta pages that a copy of the file has.
func metaPages(btx *bbolt.Tx) ([]byte, error) {
	var pages [][]byte
	_, err := btx.WriteTo(writeFunc(func(b []byte) (int, error) {
		if len(pages) == 2 {
			return 0, io.ErrShortWrite // the rest is not needed
		}
		pages = append(pages, bytes.Clone(b))
		return len(b), nil
	}))
	if len(pages) == 2 {
		return bytes.Join(pages, nil), nil
	}
	return nil, err
}

type writeFunc func([]byte) (int, error)

func (w writeFunc) Write(b []byte) (int, error) { return w(b) }

// ReadAt implements io.ReaderAt.
func (s *Snapshot) ReadAt(p []byte, offset int64) (n int, err error) {
	for n < len(p) && offset < s.size && err == nil {
		id := offset / s.pageSize
		used, after := s.has(id), id+1
		for after*s.pageSize < min(s.size, offset+int64(len(p)-n)) && after != 2 &&
			s.has(after) == used {
			after++
		}

		part := p[n:min(int64(len(p)), int64(n)+after*s.pageSize-offset)]
		switch {
		case id < 2:
			copy(part, s.metas[offset:])
		case used:
			_, err = io.ReadFull(io.NewSectionReader(s.f, offset, int64(len(part))), part)
		default:
			clear(part)
		}

		n, offset = n+len(part), offset+int64(len(part))
	}
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

func (s *Snapshot) has(id int64) bool { return s.used[id/8]&(1<<(id%8)) != 0 }
