package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// bbolt trusts the pages: a wrong count makes it read beyond the page, and a wrong
// child can recurse until the stack overflows, which cannot be recovered. So pageWalk
// walks the tree first and checks every number. The format is that of bbolt's
// internal/common, version 1.5, little-endian on every machine that Reeve is built for.
//
//	page    id u64, flags u16, count u16, overflow u32, then count elements
//	branch  pos u32, ksize u32, child u64
//	leaf    flags u32, pos u32, ksize u32, vsize u32; pos counts from the element
//	bucket  root u64, sequence u64, then, if root is 0, a page inside the value
//	meta    magic u32, version u32, pagesize u32, flags u32, root u64, sequence u64,
//	        freelist u64, pages u64, txid u64, FNV-1a of all before u64
const (
	PageHead   = 16
	BranchElem = 16
	LeafElem   = 16
	BucketHead = 16
	MetaSize   = 64

	BranchPage  = 0x01
	LeafPage    = 0x02
	metaPage    = 0x04
	BucketEntry = 0x01
	boltMagic   = 0xED0CDAED
)

// CheckPages is WalkPages without the size.
func CheckPages(path string, repair bool) (warnings []string, err error) {
	_, warnings, err = WalkPages(path, repair)
	return warnings, err
}

// WalkPages checks all pages of a file and returns the number of bytes in use. A
// *Damaged names the first damaged page. Faults that the next start repairs by itself
// are warnings; if repair is true, they are repaired now (see ReadMetas).
func WalkPages(path string, repair bool) (live int64, warnings []string, err error) {
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

	meta, warnings, err := ReadMetas(f, repair)
	if err != nil {
		return 0, warnings, &Damaged{Where: path, Err: err}
	}
	if need := meta.Pages * meta.PageSize; uint64(info.Size()) < need { // bbolt grows the file before it writes the meta page
		return 0, warnings, &Damaged{
			Where: path,
			Err: fmt.Errorf("the file is cut off: it has %d bytes, its pages need %d",
				info.Size(), need),
		}
	}

	w, end := newWalk(f, meta, info.Size())
	defer func() { err = errors.Join(err, end()) }()
	if err := w.mayFault(func() error { return w.tree(meta.Root, nil, nil, 0) }); err != nil {
		return 0, warnings, &Damaged{Where: path, Err: err}
	}
	if fault := w.mayFault(w.freelist); fault != nil {
		warnings = append(warnings,
			fmt.Sprintf("the list of free pages is damaged, and the next start rebuilds it: %v",
				fault))
		if repair {
			if err := dropFreelist(f, meta); err != nil {
				return 0, warnings, err
			}
		}
	}

	return w.live(), warnings, nil
}

// live returns the bytes of the pages that were seen, with the two meta pages.
func (w *pageWalk) live() int64 {
	n := int64(2)
	for i := range w.seen {
		if w.seen[i].Load() {
			n++
		}
	}
	return n * int64(w.meta.PageSize)
}

// pageWalk reads a tree of pages, each at most once, and several branches concurrently
// if there are several processors.
type pageWalk struct {
	f      *os.File
	mapped []byte // the mapped file; nil if it cannot be mapped
	meta   Meta
	size   uint64
	seen   []atomic.Bool
	free   chan struct{} // slots for goroutines besides the first
}

// newWalk returns a walk of the pages below meta in a file of size bytes. The caller must call end.
func newWalk(f *os.File, meta Meta, size int64) (w *pageWalk, end func() error) {
	w = &pageWalk{
		f:    f,
		meta: meta,
		size: uint64(size),
		seen: make([]atomic.Bool, meta.Pages),
		free: make(chan struct{}, runtime.GOMAXPROCS(0)-1),
	}
	return w, w.mapIn()
}

// mapIn maps the file into memory, which saves a system call per page, if that is possible.
func (w *pageWalk) mapIn() (end func() error) {
	mapped, err := mapFile(w.f, int64(w.size))
	if err != nil {
		return func() error { return nil }
	}
	w.mapped = mapped
	return func() error { return unmapFile(mapped) }
}

// MaxPageDepth is larger than the depth of any real tree: 4 KiB pages with two keys
// each reach 2^64 at 64.
const MaxPageDepth = 64

// tree checks page id and the pages below it; its keys must be in [low, high).
func (w *pageWalk) tree(id uint64, low, high []byte, depth int) error {
	if depth > MaxPageDepth {
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

// read returns a page with its overflow, and its size, and marks it as seen. For a
// value alone on a leaf, like a chunk of a file, it reads the first page only.
func (w *pageWalk) read(id uint64) (page []byte, size uint64, err error) {
	if id < 2 || id >= w.meta.Pages || id >= uint64(len(w.seen)) {
		return nil, 0, errors.New("it is outside the file")
	}

	page, err = w.bytes(id*w.meta.PageSize, w.meta.PageSize)
	if err != nil {
		return nil, 0, err
	}

	head := page[:PageHead]
	if got := binary.LittleEndian.Uint64(head); got != id {
		return nil, 0, fmt.Errorf("it says it is page %d", got)
	}

	count := uint64(binary.LittleEndian.Uint32(head[12:])) + 1
	if id+count > uint64(len(w.seen)) || (id+count)*w.meta.PageSize > w.size {
		return nil, 0, fmt.Errorf("its %d pages reach beyond the file", count)
	}

	for i := id; i < id+count; i++ {
		if w.seen[i].Swap(true) {
			return nil, 0, errors.New("it is referenced twice")
		}
	}

	size = count * w.meta.PageSize
	alone := binary.LittleEndian.Uint16(head[8:]) == LeafPage &&
		binary.LittleEndian.Uint16(head[10:]) == 1
	if count > 1 && !alone {
		page, err = w.bytes(id*w.meta.PageSize, size)
	}

	return page, size, err
}

// elements checks the elements of a page, which may be inline in a bucket's value. Only
// values may extend beyond the part of the page that was read.
func (w *pageWalk) elements(page []byte, size, id uint64, low, high []byte, depth int) error {
	flags, n := binary.LittleEndian.Uint16(page[8:]), uint64(binary.LittleEndian.Uint16(page[10:]))
	if flags != BranchPage && flags != LeafPage {
		return fmt.Errorf("its type %#x is neither branch nor leaf", flags)
	}
	if flags == BranchPage && (n == 0 || id == 0) {
		return errors.New("a branch page is empty or inside a value")
	}
	if PageHead+n*LeafElem > uint64(len(page)) {
		return fmt.Errorf("its %d elements do not fit", n)
	}

	var last []byte
	var children []pageChild // of a branch, or the buckets of a leaf
	if flags == BranchPage {
		children = make([]pageChild, 0, n)
	}

	for i := range n {
		at := PageHead + i*LeafElem
		e := page[at : at+LeafElem]
		pos, ksize, vsize := binary.LittleEndian.Uint32(e), binary.LittleEndian.Uint32(e[4:]), uint32(0)
		if flags == LeafPage {
			pos, ksize, vsize = binary.LittleEndian.Uint32(e[4:]), binary.LittleEndian.Uint32(e[8:]), binary.LittleEndian.Uint32(e[12:])
		}

		start := at + uint64(pos)
		end := start + uint64(ksize) + uint64(vsize)
		if ksize == 0 || start < PageHead+n*LeafElem || end > size ||
			start+uint64(ksize) > uint64(len(page)) {
			return fmt.Errorf("element %d is outside the page", i)
		}

		key := page[start : start+uint64(ksize)]
		if i > 0 && bytes.Compare(last, key) >= 0 || i == 0 && bytes.Compare(key, low) < 0 ||
			i == n-1 && high != nil && bytes.Compare(key, high) >= 0 {
			return fmt.Errorf("element %d is out of order", i)
		}

		last = key
		if kind := binary.LittleEndian.Uint32(e); flags == LeafPage && kind != 0 {
			children = append(children, pageChild{
				flags: kind,
				value: page[start+uint64(ksize) : min(end, uint64(len(page)))],
			})
		} else if flags == BranchPage {
			children = append(children, pageChild{
				id:   binary.LittleEndian.Uint64(e[8:]),
				low:  key,
				high: high,
			})
			if i > 0 {
				children[i-1].high = key
			}
		}
	}

	return w.children(children, flags == BranchPage, depth)
}

// pageChild is the target of an element: a page and the range of its keys, or a bucket.
type pageChild struct {
	id        uint64
	low, high []byte
	flags     uint32
	value     []byte
}

// manyBelow is the depth above which pages have enough descendants for a goroutine of
// their own.
const manyBelow = 3

// children checks the targets of a page's elements and returns the first error in their
// order.
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

// bucket checks the bucket in a leaf element, if it is one.
func (w *pageWalk) bucket(flags uint32, value []byte, depth int) error {
	switch {
	case flags == 0:
		return nil
	case flags != BucketEntry:
		return fmt.Errorf("an element has the unknown flags %#x", flags)
	case len(value) < BucketHead:
		return errors.New("a bucket has no head")
	}

	if root := binary.LittleEndian.Uint64(value); root != 0 {
		return w.tree(root, nil, nil, depth+1)
	}
	if len(value) < BucketHead+PageHead {
		return errors.New("a bucket has no page")
	}

	return w.elements(value[BucketHead:], uint64(len(value)-BucketHead), 0, nil, nil, depth+1)
}
