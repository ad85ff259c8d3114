package kv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"

	"reeve/store/disk"
)

// loosePages reads the pages of a bbolt file any of which may be damaged. Unlike pageWalk, it
// continues after pages that it cannot read. A value that it finds may be wrong: callers must
// check its checksum.
type loosePages struct {
	f        *os.File
	size     int64
	pageSize int64
	seen     map[int64]bool // pages of the tree, which others skips
	claimed  map[int64]bool // pages with two parents, one of them wrong, which others searches anyway
}

// maxLooseValue is the maximum size in bytes of a value that is read into memory. No stored
// value is larger.
const maxLooseValue = 64 << 20

// leafItem is an element of a leaf page.
type leafItem struct {
	bucket bool
	key    []byte
	value  []byte // value; for a bucket: its header, and its page if it is inline
	page   int64  // number of its page; 0 for an element of an inline bucket
}

// keyRange is a range of keys that could not be read, from low to before high; a nil high is
// the end.
type keyRange struct{ low, high []byte }

func (r keyRange) has(key []byte) bool {
	return bytes.Compare(key, r.low) >= 0 && (r.high == nil || bytes.Compare(key, r.high) < 0)
}

// openLoose opens a file. pageSize is used unless a meta page has another one. roots are the
// sound meta pages, the newest first.
func openLoose(path string, pageSize int64) (p *loosePages, roots []disk.Meta, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}

	info, err := f.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}

	p = &loosePages{
		f:        f,
		size:     info.Size(),
		pageSize: pageSize,
		seen:     map[int64]bool{},
		claimed:  map[int64]bool{},
	}
	for _, offset := range disk.MetaOffsets(f) {
		b := make([]byte, disk.MetaSize)
		if _, err := f.ReadAt(b, offset+disk.PageHead); err != nil {
			continue
		}
		if bit := disk.FlippedBit(b); bit >= 0 {
			b[bit/8] ^= 1 << (bit % 8)
		}
		if m := disk.DecodeMeta(b); disk.MetaSound(b) && m.PageSize >= 512 && m.PageSize <= 1<<20 {
			p.pageSize = int64(m.PageSize)
			roots = append(roots, m)
		}
	}

	sort.Slice(roots, func(i, j int) bool { return roots[i].Txid > roots[j].Txid })
	return p, roots, nil
}

// page reads a page, without its overflow pages.
func (p *loosePages) page(id int64) ([]byte, error) {
	if id < 2 || id >= p.size/p.pageSize {
		return nil, fmt.Errorf("page %d is outside the file", id)
	}
	b := make([]byte, p.pageSize)
	_, err := p.f.ReadAt(b, id*p.pageSize)
	return b, err
}

// head returns the header of a page.
func head(page []byte) (id int64, flags, count int) {
	return int64(binary.LittleEndian.Uint64(page)), int(binary.LittleEndian.Uint16(page[8:])),
		int(binary.LittleEndian.Uint16(page[10:]))
}

// leaf returns the readable elements of a leaf page, and whether these are all. Data on
// overflow pages is read from the file, where the page is at offset; -1 is an inline page.
func (p *loosePages) leaf(page []byte, offset int64) (items []leafItem, whole bool) {
	_, flags, count := head(page)
	if flags != disk.LeafPage {
		return nil, false
	}

	whole = true
	for i := range count {
		at := disk.PageHead + i*disk.LeafElem
		if at+disk.LeafElem > len(page) {
			return items, false
		}

		e := page[at:]
		kind := binary.LittleEndian.Uint32(e)
		start := int64(at) + int64(binary.LittleEndian.Uint32(e[4:]))
		ksize, vsize := int64(binary.LittleEndian.Uint32(e[8:])), int64(binary.LittleEndian.Uint32(e[12:]))
		all, ok := p.bytes(page, offset, start, ksize+vsize)
		if !ok || ksize == 0 || kind > disk.BucketEntry {
			whole = false
			continue
		}

		items = append(items,
			leafItem{kind == disk.BucketEntry, all[:ksize], all[ksize:],
				max(0, offset) / p.pageSize})
	}

	return items, whole
}

// bytes returns n bytes from position start of a page.
func (p *loosePages) bytes(page []byte, offset, start, n int64) ([]byte, bool) {
	if start+n <= int64(len(page)) {
		return page[start : start+n], true
	}
	if offset < 0 || n > maxLooseValue || offset+start+n > p.size {
		return nil, false
	}
	b := make([]byte, n)
	_, err := io.ReadFull(io.NewSectionReader(p.f, offset+start, n), b)
	return b, err == nil
}

// tree walks the pages below id, whose keys are in r. It calls found for every element of a
// leaf page, and hole for every range that could not be read.
func (p *loosePages) tree(id int64, r keyRange, depth int, found func(leafItem),
	hole func(keyRange, error)) {
	page, err := p.page(id)
	if err == nil && (p.seen[id] || depth > disk.MaxPageDepth) {
		err = fmt.Errorf("two places lead to page %d", id)
		p.claim(page, id, depth)
	}
	if err != nil {
		hole(r, err)
		return
	}

	p.seen[id] = true
	got, flags, count := head(page)
	if got != id || flags != disk.LeafPage && flags != disk.BranchPage {
		delete(p.seen, id) // others may still find something in it
		hole(r, fmt.Errorf("page %d is damaged", id))
		return
	}
	if flags == disk.LeafPage {
		items, whole := p.leaf(page, id*p.pageSize)
		missing := r
		for _, item := range items {
			if r.has(item.key) {
				found(item)
			} else { // this page is damaged, or one above it, and then r is wrong
				whole, missing = false, keyRange{}
			}
		}
		if !whole {
			delete(p.seen, id)
			hole(missing, fmt.Errorf("page %d is damaged", id))
		}
		return
	}

	p.branch(page, id, count, r, depth, found, hole)
}

// claim records that a page has two parents: what is below it belongs to one of them, which may
// not be the one whose keys it was searched for.
func (p *loosePages) claim(page []byte, id int64, depth int) {
	got, flags, count := head(page)
	if p.claimed[id] || depth > disk.MaxPageDepth {
		return
	}
	p.claimed[id] = true
	if got != id || flags != disk.BranchPage {
		return
	}
	for i := range min(count, (len(page)-disk.PageHead)/disk.BranchElem) {
		child := int64(binary.LittleEndian.Uint64(page[disk.PageHead+i*disk.BranchElem+8:]))
		if below, err := p.page(child); err == nil {
			p.claim(below, child, depth+1)
		}
	}
}

// branch walks the children of a branch page.
func (p *loosePages) branch(page []byte, id int64, count int, r keyRange, depth int,
	found func(leafItem), hole func(keyRange, error)) {
	type child struct {
		key []byte
		id  int64
	}
	var children []child
	whole, missing := count > 0, r
	for i := range count {
		at := disk.PageHead + i*disk.BranchElem
		if at+disk.BranchElem > len(page) {
			whole = false
			break
		}

		e := page[at:]
		key, ok := p.bytes(page, id*p.pageSize, int64(at)+int64(binary.LittleEndian.Uint32(e)),
			int64(binary.LittleEndian.Uint32(e[4:])))
		if n := len(children); !ok || len(key) == 0 ||
			n > 0 && bytes.Compare(children[n-1].key, key) >= 0 {
			whole = false
			continue
		}
		if !r.has(key) {
			whole, missing = false, keyRange{}
			continue
		}

		children = append(children, child{key, int64(binary.LittleEndian.Uint64(e[8:]))})
	}

	if !whole {
		hole(missing, fmt.Errorf("page %d is damaged", id))
	}

	for i, c := range children {
		within := keyRange{c.key, r.high}
		if i+1 < len(children) {
			within.high = children[i+1].key
		}
		p.tree(c.id, within, depth+1, found, hole)
	}
}

// bucket walks the bucket that an element contains.
func (p *loosePages) bucket(item leafItem, found func(leafItem), hole func(keyRange, error)) {
	if len(item.value) < disk.BucketHead {
		hole(keyRange{}, errors.New("a bucket has no head"))
		return
	}
	if root := int64(binary.LittleEndian.Uint64(item.value)); root != 0 {
		p.tree(root, keyRange{}, 0, found, hole)
		return
	}
	p.inline(item, found, hole)
}

// inline walks an inline bucket, whose page is inside the value of the element.
func (p *loosePages) inline(item leafItem, found func(leafItem), hole func(keyRange, error)) {
	if len(item.value) < disk.BucketHead+disk.PageHead ||
		binary.LittleEndian.Uint64(item.value) != 0 {
		return
	}
	items, whole := p.leaf(item.value[disk.BucketHead:], -1)
	for _, inner := range items {
		found(inner)
	}
	if !whole {
		hole(keyRange{}, fmt.Errorf("the page inside of bucket %q is damaged", item.key))
	}
}

// others calls found for the elements of every leaf page, of any age, that no walk of a tree
// has read.
func (p *loosePages) others(found func(leafItem)) error {
	for id := int64(2); id < p.size/p.pageSize; id++ {
		if p.seen[id] && !p.claimed[id] {
			continue
		}
		page, err := p.page(id)
		if err != nil {
			continue // unreadable on the disk
		}
		items, _ := p.leaf(page, id*p.pageSize)
		for _, item := range items {
			found(item)
		}
	}
	return nil
}
