package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// Commits do not write bbolt's list of free pages (see BoltOptions). Without the list bbolt
// walks the whole file when it opens it, which dominates the start of a large database. So
// the list of a large file is written once, when the file is closed. bbolt trusts the list:
// a wrong one would let it overwrite pages in use. pageWalk therefore compares the list with
// the pages it has seen, and drops a wrong one.

// NoFreelist in a meta page means that no list was written.
const NoFreelist = 1<<64 - 1

// freelistPage is the type of the list's page, which holds 8 bytes per free page, ascending.
// If the element count is longCount, the first 8 bytes hold the count.
const (
	freelistPage = 0x10
	longCount    = 0xFFFF
)

// freelist checks the list of free pages, if there is one: it must contain each page exactly
// once, except the meta pages, the pages in use and its own.
func (w *pageWalk) freelist() error {
	at := w.meta.Freelist
	if at == NoFreelist {
		return nil
	}
	if at < 2 || at >= w.meta.Pages {
		return errors.New("it is outside the file")
	}

	head, err := w.bytes(at*w.meta.PageSize, PageHead)
	if err != nil {
		return err
	}

	own := uint64(binary.LittleEndian.Uint32(head[12:])) + 1
	most := 8*w.meta.Pages/w.meta.PageSize + 2 // pages that the longest list takes
	if binary.LittleEndian.Uint64(head) != at ||
		binary.LittleEndian.Uint16(head[8:]) != freelistPage || at+own > w.meta.Pages ||
		own > most {
		return errors.New("its page is another")
	}

	body, err := w.bytes(at*w.meta.PageSize+PageHead, own*w.meta.PageSize-PageHead)
	if err != nil {
		return err
	}

	count := uint64(binary.LittleEndian.Uint16(head[10:]))
	if count == longCount {
		count, body = binary.LittleEndian.Uint64(body), body[8:]
	}
	if count > uint64(len(body))/8 {
		return fmt.Errorf("its %d pages do not fit", count)
	}

	free := make([]bool, w.meta.Pages)
	for i := range count {
		id := binary.LittleEndian.Uint64(body[8*i:])
		if id < 2 || id >= w.meta.Pages || free[id] {
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

// dropFreelist removes the list from a meta page. The page's content is smaller than a disk
// sector, so a power cut leaves either the old or the new one.
func dropFreelist(f *os.File, meta Meta) error {
	b := make([]byte, MetaSize)
	if _, err := f.ReadAt(b, meta.offset+PageHead); err != nil {
		return err
	}
	withoutFreelist(b)
	_, err := f.WriteAt(b, meta.offset+PageHead)
	return errors.Join(err, f.Sync())
}

// withoutFreelist makes the content of a meta page say that no list was written.
func withoutFreelist(b []byte) {
	binary.LittleEndian.PutUint64(b[32:], NoFreelist)
	binary.LittleEndian.PutUint64(b[MetaSize-8:], MetaSum(b))
}
