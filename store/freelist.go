package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// A commit does not write bbolt's list of free pages (boltOptions says why). Without it
// bbolt walks the whole file when it opens it, which takes longer than everything else
// once the file is large. So the list of a large file is written once, when the file is
// closed. bbolt trusts what it says, and a wrong one would give away pages that are in
// use: pageWalk compares it with the pages that it has seen, and drops a wrong one.

// noFreelist is what a meta page has instead of the page of the list.
const noFreelist = 1<<64 - 1

// freelistPage is the type of its page: 8 bytes for each page, in ascending order. With
// longCount as the number of elements, the first 8 bytes are the number.
const (
	freelistPage = 0x10
	longCount    = 0xFFFF
)

// freelistFrom is how many bytes a file has at least for which the list is written.
const freelistFrom = 64 << 20

// saveFreelist makes the next opening faster. Nobody reads or writes any more. The commit
// has no changes: if it fails, nothing is lost but the time.
func (db *DB) saveFreelist() {
	if _, reason := db.failed.since(); reason != nil || !db.started {
		return
	}
	_ = guard(db.path, func() error {
		btx, err := db.bolt.Begin(true)
		if err != nil {
			return err
		}
		from := int64(freelistFrom)
		if n := db.options.freelistFrom; n > 0 {
			from = n
		}
		if btx.Size() < from {
			return btx.Rollback()
		}
		db.bolt.NoFreelistSync = false
		return btx.Commit()
	})
}

// freelist checks the list of free pages, if there is one: it has every page but those
// that are in use, once, and its own.
func (w *pageWalk) freelist() error {
	at := w.meta.freelist
	if at == noFreelist {
		return nil
	}
	if at < 2 || at >= w.meta.pages {
		return errors.New("it lies outside the file")
	}
	head := make([]byte, pageHead)
	if _, err := w.f.ReadAt(head, int64(at*w.meta.pageSize)); err != nil {
		return err
	}
	own := uint64(binary.LittleEndian.Uint32(head[12:])) + 1
	if binary.LittleEndian.Uint64(head) != at || binary.LittleEndian.Uint16(head[8:]) != freelistPage || at+own > w.meta.pages {
		return errors.New("its page is another")
	}
	body := make([]byte, own*w.meta.pageSize-pageHead)
	if _, err := w.f.ReadAt(body, int64(at*w.meta.pageSize+pageHead)); err != nil {
		return err
	}
	count := uint64(binary.LittleEndian.Uint16(head[10:]))
	if count == longCount {
		count, body = binary.LittleEndian.Uint64(body), body[8:]
	}
	if count > uint64(len(body))/8 {
		return fmt.Errorf("its %d pages do not fit", count)
	}
	free := make([]bool, w.meta.pages)
	for i := range count {
		id := binary.LittleEndian.Uint64(body[8*i:])
		if id < 2 || id >= w.meta.pages || free[id] {
			return fmt.Errorf("element %d makes no sense", i)
		}
		free[id] = true
	}
	for id := range uint64(len(free)) {
		used := id < 2 || id >= at && id < at+own || w.seen[id].Load()
		if used == free[id] || w.seen[id].Load() && id >= at && id < at+own {
			return fmt.Errorf("page %d is not what it says", id)
		}
	}
	return nil
}

// dropFreelist makes a meta page one without a list of free pages. It is smaller than a
// sector: a power cut leaves the old one or the new one.
func dropFreelist(f *os.File, meta pageMeta) error {
	b := make([]byte, metaSize)
	if _, err := f.ReadAt(b, meta.offset+pageHead); err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(b[32:], noFreelist)
	binary.LittleEndian.PutUint64(b[metaSize-8:], metaSum(b))
	_, err := f.WriteAt(b, meta.offset+pageHead)
	return errors.Join(err, f.Sync())
}
