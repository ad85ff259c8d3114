package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/bits"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// bbolt maps its file and follows what the pages say: a wrong count reads
// beyond the page, a wrong child can lead round in a circle until the stack is
// gone, and neither can be recovered from. So before bbolt sees a file, pageWalk
// goes through the tree by reading, with every number checked. The format is
// bbolt's internal/common of version 1.5: little-endian here and on every machine
// that Reeve is built for.
//
//	page    id u64, flags u16, count u16, overflow u32, then count elements
//	branch  pos u32, ksize u32, child u64
//	leaf    flags u32, pos u32, ksize u32, vsize u32; pos counts from the element
//	bucket  root u64, sequence u64, then, if root is 0, a page inside the value
//	meta    magic u32, version u32, pagesize u32, flags u32, root u64, sequence u64,
//	        freelist u64, pages u64, txid u64, FNV-1a of all before u64
const (
	pageHead   = 16
	branchElem = 16
	leafElem   = 16
	bucketHead = 16
	metaSize   = 64

	branchPage  = 0x01
	leafPage    = 0x02
	metaPage    = 0x04
	bucketEntry = 0x01
	boltMagic   = 0xED0CDAED
)

type pageMeta struct {
	offset   int64 // in the file
	pageSize uint64
	root     uint64
	freelist uint64 // page of the list of free pages, or noFreelist
	pages    uint64 // the high water mark
	txid     uint64
}

// checkPages is walkPages for whoever needs no size.
func checkPages(path string, repair bool) (warnings []string, err error) {
	_, warnings, err = walkPages(path, repair)
	return warnings, err
}

// walkPages goes through the file's pages and returns how many bytes are in use; the error says which one is damaged.
// A meta page of which one bit has flipped is put right if repair is true, as its
// own 64-bit checksum proves what it was; that and an unreadable one are warnings.
func walkPages(path string, repair bool) (live int64, warnings []string, err error) {
	mode := os.O_RDONLY
	if repair {
		mode = os.O_RDWR
	}
	f, err := os.OpenFile(path, mode, 0)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return 0, nil, err
	}
	meta, warnings, err := readMetas(f, repair)
	if err != nil {
		return 0, warnings, &Damaged{Where: path, Err: err}
	}
	if need := meta.pages * meta.pageSize; uint64(info.Size()) < need { // bbolt grows the file before it writes the meta page
		return 0, warnings, &Damaged{Where: path, Err: fmt.Errorf("the file is cut off: it has %d bytes, its pages need %d", info.Size(), need)}
	}
	w := &pageWalk{f: f, meta: meta, size: uint64(info.Size()), seen: make([]atomic.Bool, meta.pages), free: make(chan struct{}, runtime.GOMAXPROCS(0)-1)}
	if mapped, mapErr := mapFile(f, info.Size()); mapErr == nil { // saves a system call per page
		w.mapped = mapped
		defer func() { err = errors.Join(err, unmapFile(mapped)) }()
	}
	if err := w.mayFault(func() error { return w.tree(meta.root, nil, nil, 0) }); err != nil {
		return 0, warnings, &Damaged{Where: path, Err: err}
	}
	if fault := w.mayFault(w.freelist); fault != nil {
		warnings = append(warnings, fmt.Sprintf("the list of free pages is damaged, and the next start rebuilds it: %v", fault))
		if repair {
			if err := dropFreelist(f, meta); err != nil {
				return 0, warnings, err
			}
		}
	}
	live = 2 * int64(meta.pageSize) // the metas
	for i := range w.seen {
		if w.seen[i].Load() {
			live += int64(meta.pageSize)
		}
	}
	return live, warnings, nil
}

// readMetas returns the newer of the two meta pages that can be read.
func readMetas(f *os.File, repair bool) (best pageMeta, warnings []string, err error) {
	good := 0
	for i, offset := range metaOffsets(f) {
		b := make([]byte, metaSize)
		if _, err := f.ReadAt(b, offset+pageHead); err != nil {
			continue
		}
		if bit := flippedBit(b); bit >= 0 {
			b[bit/8] ^= 1 << (bit % 8)
			warnings = append(warnings, fmt.Sprintf("meta page %d has a flipped bit, which a start puts right", i))
			if repair {
				_, err := f.WriteAt(b, offset+pageHead)
				if err := errors.Join(err, f.Sync()); err != nil {
					return best, nil, err
				}
			}
		}
		if !metaHead(f, offset, i) {
			warnings = append(warnings, fmt.Sprintf("the head of meta page %d is damaged, which the next commits put right", i))
		}
		if !metaSound(b) {
			warnings = append(warnings, fmt.Sprintf("meta page %d cannot be read: if it was the newer one, the last commit is lost", i))
			continue
		}
		good++
		m := decodeMeta(b)
		m.offset = offset
		if good == 1 || m.txid > best.txid {
			best = m
		}
	}
	if good == 0 {
		return best, nil, errors.New("it is not a database, or both its meta pages are lost")
	}
	if best.pageSize < 512 || best.pageSize > 1<<20 || bits.OnesCount64(best.pageSize) != 1 {
		return best, nil, fmt.Errorf("a page size of %d makes no sense", best.pageSize)
	}
	return best, warnings, nil
}

// isDatabase reports whether a file has a meta page of bbolt, perhaps with a flipped
// bit.
func isDatabase(f *os.File) bool {
	for _, offset := range metaOffsets(f) {
		b := make([]byte, metaSize)
		if _, err := f.ReadAt(b, offset+pageHead); err == nil && (metaSound(b) || flippedBit(b) >= 0) {
			return true
		}
	}
	return false
}

// metaOffsets is where the two meta pages begin: the second's place is the page
// size, which the first knows, or else is tried.
func metaOffsets(f *os.File) [2]int64 {
	b := make([]byte, metaSize)
	if _, err := f.ReadAt(b, pageHead); err == nil && metaSound(b) {
		return [2]int64{0, int64(binary.LittleEndian.Uint32(b[8:]))}
	}
	for size := int64(512); size <= 1<<20; size *= 2 {
		if _, err := f.ReadAt(b, size+pageHead); err == nil && (metaSound(b) || flippedBit(b) >= 0) {
			return [2]int64{0, size}
		}
	}
	return [2]int64{0, int64(os.Getpagesize())}
}

// metaHead reports whether the head of a meta page, which bbolt looks at only to check
// the file, is what it should be.
func metaHead(f *os.File, offset int64, i int) bool {
	head := make([]byte, pageHead)
	_, err := f.ReadAt(head, offset)
	return err == nil && binary.LittleEndian.Uint64(head) == uint64(i) && binary.LittleEndian.Uint16(head[8:]) == metaPage
}

func metaSound(b []byte) bool {
	return binary.LittleEndian.Uint32(b) == boltMagic && metaSum(b) == binary.LittleEndian.Uint64(b[metaSize-8:])
}

// metaSum is the checksum that a meta page should have.
func metaSum(b []byte) uint64 {
	sum := fnv.New64a()
	sum.Write(b[:metaSize-8])
	return sum.Sum64()
}

// flippedBit finds the one bit that makes an unsound meta sound; -1 for none.
func flippedBit(b []byte) int {
	if metaSound(b) {
		return -1
	}
	for bit := range metaSize * 8 {
		b[bit/8] ^= 1 << (bit % 8)
		sound := metaSound(b)
		b[bit/8] ^= 1 << (bit % 8)
		if sound {
			return bit
		}
	}
	return -1
}

// pageWalk reads a tree of pages, each at most once, and several branches at the same
// time if there are several processors.
type pageWalk struct {
	f      *os.File
	mapped []byte // the file in memory; nil where it cannot be mapped
	meta   pageMeta
	size   uint64
	seen   []atomic.Bool
	free   chan struct{} // one for each goroutine besides the first
}

// maxPageDepth is beyond any real tree: 4 KiB pages of two keys reach 2^64 at 64.
const maxPageDepth = 64

// tree walks the page id and what is below it; its keys lie in [low, high).
func (w *pageWalk) tree(id uint64, low, high []byte, depth int) error {
	if depth > maxPageDepth {
		return fmt.Errorf("page %d: the tree is too deep", id)
	}
	page, size, err := w.read(id)
	if err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	if err := w.elements(page, size, id, low, high, depth); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// read returns a page with its overflow, and its size, and notes that it was seen.
// Of a value alone on a leaf, like a chunk of a file, the first page is enough.
func (w *pageWalk) read(id uint64) (page []byte, size uint64, err error) {
	if id < 2 || id >= w.meta.pages || id >= uint64(len(w.seen)) {
		return nil, 0, errors.New("it lies outside the file")
	}
	page, err = w.bytes(id*w.meta.pageSize, w.meta.pageSize)
	if err != nil {
		return nil, 0, err
	}
	head := page[:pageHead]
	if got := binary.LittleEndian.Uint64(head); got != id {
		return nil, 0, fmt.Errorf("it says it is page %d", got)
	}
	count := uint64(binary.LittleEndian.Uint32(head[12:])) + 1
	if id+count > uint64(len(w.seen)) || (id+count)*w.meta.pageSize > w.size {
		return nil, 0, fmt.Errorf("its %d pages reach beyond the file", count)
	}
	for i := id; i < id+count; i++ {
		if w.seen[i].Swap(true) {
			return nil, 0, errors.New("two places lead to it")
		}
	}
	size = count * w.meta.pageSize
	alone := binary.LittleEndian.Uint16(head[8:]) == leafPage && binary.LittleEndian.Uint16(head[10:]) == 1
	if count > 1 && !alone {
		page, err = w.bytes(id*w.meta.pageSize, size)
	}
	return page, size, err
}

// elements checks what is in a page, which may be one inside a bucket's value.
// Only values may lie beyond what of its size was read.
func (w *pageWalk) elements(page []byte, size, id uint64, low, high []byte, depth int) error {
	flags, n := binary.LittleEndian.Uint16(page[8:]), uint64(binary.LittleEndian.Uint16(page[10:]))
	if flags != branchPage && flags != leafPage {
		return fmt.Errorf("its type %#x is neither branch nor leaf", flags)
	}
	if flags == branchPage && (n == 0 || id == 0) {
		return errors.New("a branch page is empty or inside a value")
	}
	if pageHead+n*leafElem > uint64(len(page)) {
		return fmt.Errorf("its %d elements do not fit", n)
	}
	var last []byte
	var children []pageChild // of a branch, or the buckets of a leaf
	if flags == branchPage {
		children = make([]pageChild, 0, n)
	}
	for i := range n {
		at := pageHead + i*leafElem
		e := page[at : at+leafElem]
		pos, ksize, vsize := binary.LittleEndian.Uint32(e), binary.LittleEndian.Uint32(e[4:]), uint32(0)
		if flags == leafPage {
			pos, ksize, vsize = binary.LittleEndian.Uint32(e[4:]), binary.LittleEndian.Uint32(e[8:]), binary.LittleEndian.Uint32(e[12:])
		}
		start := at + uint64(pos)
		end := start + uint64(ksize) + uint64(vsize)
		if ksize == 0 || start < pageHead+n*leafElem || end > size || start+uint64(ksize) > uint64(len(page)) {
			return fmt.Errorf("element %d lies outside the page", i)
		}
		key := page[start : start+uint64(ksize)]
		if i > 0 && bytes.Compare(last, key) >= 0 || i == 0 && bytes.Compare(key, low) < 0 || i == n-1 && high != nil && bytes.Compare(key, high) >= 0 {
			return fmt.Errorf("element %d is out of order", i)
		}
		last = key
		if kind := binary.LittleEndian.Uint32(e); flags == leafPage && kind != 0 {
			children = append(children, pageChild{flags: kind, value: page[start+uint64(ksize) : min(end, uint64(len(page)))]})
		} else if flags == branchPage {
			children = append(children, pageChild{id: binary.LittleEndian.Uint64(e[8:]), low: key, high: high})
			if i > 0 {
				children[i-1].high = key
			}
		}
	}
	return w.children(children, flags == branchPage, depth)
}

// pageChild is what an element leads to: a page and the range of its keys, or a bucket.
type pageChild struct {
	id        uint64
	low, high []byte
	flags     uint32
	value     []byte
}

// manyBelow is how deep a page lies at most that has many below it.
const manyBelow = 3

// children walks what the elements of a page lead to. The first error in their order is
// returned.
func (w *pageWalk) children(all []pageChild, branch bool, depth int) error {
	faults := make([]error, len(all))
	var wg sync.WaitGroup
	for i, c := range all {
		walk := func() error {
			if branch {
				return w.tree(c.id, c.low, c.high, depth+1)
			}
			return w.bucket(c.flags, c.value, depth)
		}
		if depth < manyBelow {
			select {
			case w.free <- struct{}{}:
				wg.Go(func() {
					defer func() { <-w.free }()
					faults[i] = w.mayFault(walk)
				})
				continue
			default:
			}
		}
		if faults[i] = walk(); faults[i] != nil {
			break
		}
	}
	wg.Wait()
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}

// bucket walks the bucket that a leaf element is, if it is one.
func (w *pageWalk) bucket(flags uint32, value []byte, depth int) error {
	switch {
	case flags == 0:
		return nil
	case flags != bucketEntry:
		return fmt.Errorf("an element has the unknown flags %#x", flags)
	case len(value) < bucketHead:
		return errors.New("a bucket has no head")
	}
	if root := binary.LittleEndian.Uint64(value); root != 0 {
		return w.tree(root, nil, nil, depth+1)
	}
	if len(value) < bucketHead+pageHead {
		return errors.New("a bucket has no page")
	}
	return w.elements(value[bucketHead:], uint64(len(value)-bucketHead), 0, nil, nil, depth+1)
}
