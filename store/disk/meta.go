package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/bits"
	"os"
)

// Meta is the content of a meta page.
type Meta struct {
	offset   int64 // offset in the file
	PageSize uint64
	Root     uint64
	Freelist uint64 // page of the list of free pages, or NoFreelist
	Pages    uint64 // high-water mark
	Txid     uint64
}

// ReadMetas returns the newer of the two valid meta pages. If repair is true, it
// corrects a single flipped bit in the file, which the 64-bit checksum proves.
func ReadMetas(f *os.File, repair bool) (best Meta, warnings []string, err error) {
	good := 0
	for i, offset := range MetaOffsets(f) {
		b := make([]byte, MetaSize)
		if _, err := f.ReadAt(b, offset+PageHead); err != nil {
			continue
		}
		if bit := FlippedBit(b); bit >= 0 {
			b[bit/8] ^= 1 << (bit % 8)
			warnings = append(warnings,
				fmt.Sprintf("meta page %d has a flipped bit, which the next start repairs", i))
			if repair {
				_, err := f.WriteAt(b, offset+PageHead)
				if err := errors.Join(err, f.Sync()); err != nil {
					return best, nil, err
				}
			}
		}
		if !metaHead(f, offset, i) {
			warnings = append(warnings,
				fmt.Sprintf("the head of meta page %d is damaged, which the next commits repair",
					i))
		}
		if !MetaSound(b) {
			warnings = append(warnings,
				fmt.Sprintf("meta page %d cannot be read: if it was the newer one, the last commit is lost", i))
			continue
		}

		good++
		m := DecodeMeta(b)
		m.offset = offset
		if good == 1 || m.Txid > best.Txid {
			best = m
		}
	}

	if good == 0 {
		return best, nil, errors.New("it is not a database, or both its meta pages are lost")
	}
	if best.PageSize < 512 || best.PageSize > 1<<20 || bits.OnesCount64(best.PageSize) != 1 {
		return best, nil, fmt.Errorf("a page size of %d makes no sense", best.PageSize)
	}

	return best, warnings, nil
}

// IsDatabase reports whether a file has a meta page of bbolt, perhaps with a flipped
// bit.
func IsDatabase(f *os.File) bool {
	for _, offset := range MetaOffsets(f) {
		b := make([]byte, MetaSize)
		if _, err := f.ReadAt(b, offset+PageHead); err == nil &&
			(MetaSound(b) || FlippedBit(b) >= 0) {
			return true
		}
	}
	return false
}

// MetaOffsets returns the offsets of the two meta pages. The second begins at the page
// size, which the first contains; if the first is damaged, all page sizes are tried.
func MetaOffsets(f *os.File) [2]int64 {
	b := make([]byte, MetaSize)
	if _, err := f.ReadAt(b, PageHead); err == nil && MetaSound(b) {
		return [2]int64{0, int64(binary.LittleEndian.Uint32(b[8:]))}
	}
	for size := int64(512); size <= 1<<20; size *= 2 {
		if _, err := f.ReadAt(b, size+PageHead); err == nil &&
			(MetaSound(b) || FlippedBit(b) >= 0) {
			return [2]int64{0, size}
		}
	}
	return [2]int64{0, int64(os.Getpagesize())}
}

// metaHead reports whether the head of a meta page is valid. bbolt itself checks it
// only in a check of the whole file.
func metaHead(f *os.File, offset int64, i int) bool {
	head := make([]byte, PageHead)
	_, err := f.ReadAt(head, offset)
	return err == nil && binary.LittleEndian.Uint64(head) == uint64(i) &&
		binary.LittleEndian.Uint16(head[8:]) == metaPage
}

// MetaSound reports whether the content of a meta page has the correct checksum.
func MetaSound(b []byte) bool {
	return binary.LittleEndian.Uint32(b) == boltMagic &&
		MetaSum(b) == binary.LittleEndian.Uint64(b[MetaSize-8:])
}

// MetaSum returns the checksum that the content of a meta page should have.
func MetaSum(b []byte) uint64 {
	sum := fnv.New64a()
	sum.Write(b[:MetaSize-8])
	return sum.Sum64()
}

// FlippedBit returns the number of the single bit that must be flipped to make the
// content of a meta page valid; -1 if there is none, or if it is valid already.
func FlippedBit(b []byte) int {
	if MetaSound(b) {
		return -1
	}
	for bit := range MetaSize * 8 {
		b[bit/8] ^= 1 << (bit % 8)
		sound := MetaSound(b)
		b[bit/8] ^= 1 << (bit % 8)
		if sound {
			return bit
		}
	}
	return -1
}

// DecodeMeta decodes the content of a meta page.
func DecodeMeta(b []byte) Meta {
	return Meta{
		PageSize: uint64(binary.LittleEndian.Uint32(b[8:])),
		Root:     binary.LittleEndian.Uint64(b[16:]),
		Freelist: binary.LittleEndian.Uint64(b[32:]), Pages: binary.LittleEndian.Uint64(b[40:]),
		Txid: binary.LittleEndian.Uint64(b[48:]),
	}
}
