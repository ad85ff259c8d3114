package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
)

// tree is the content of a database file as one read transaction sees it, read from the pages. bbolt
// changes no page that an open transaction can reach. So if two trees of a file are open at the same
// time, pages with the same number have the same content.
type tree struct {
	walk  *pageWalk
	root  uint64
	visit func(bytes int64) error // called for every page; nil for none
	end   func() error
}

// newTree returns the tree of a transaction of the file at path. The caller must call end before the
// transaction ends.
func newTree(path string, btx *bbolt.Tx) (*tree, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}

	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}

	size := uint64(btx.DB().Info().PageSize)
	meta := Meta{
		PageSize: size,
		Root:     uint64(btx.Cursor().Bucket().Root()),
		Pages:    uint64(btx.Size()) / size,
		Txid:     uint64(btx.ID()),
	}
	w := &pageWalk{f: f, meta: meta, size: uint64(info.Size())}
	unmap := w.mapIn()
	return &tree{
		walk: w,
		root: meta.Root,
		end:  func() error { return errors.Join(unmap(), f.Close()) },
	}, nil
}

// live checks all pages of the tree and returns their bytes.
func (t *tree) live() (bytes int64, err error) {
	w, end := newWalk(t.walk.f, t.walk.meta, int64(t.walk.size))
	err = w.mayFault(func() error { return w.tree(t.root, nil, nil, 0) })
	if err != nil {
		err = &Damaged{Where: t.walk.f.Name(), Err: err}
	}
	return w.live(), errors.Join(err, end())
}

// page returns a page with its overflow.
func (t *tree) page(id uint64) ([]byte, error) {
	size, w := t.walk.meta.PageSize, t.walk
	if id < 2 || id >= w.meta.Pages || (id+1)*size > w.size {
		return nil, t.damaged(id, "it is outside the file")
	}

	head, err := w.bytes(id*size, PageHead)
	if err != nil {
		return nil, err
	}

	n := uint64(binary.LittleEndian.Uint32(head[12:])) + 1
	if binary.LittleEndian.Uint64(head) != id || id+n > w.meta.Pages || (id+n)*size > w.size {
		return nil, t.damaged(id, "its head makes no sense")
	}
	if t.visit != nil {
		if err := t.visit(int64(n * size)); err != nil {
			return nil, err
		}
	}

	return w.bytes(id*size, n*size)
}

func (t *tree) damaged(id uint64, text string) error {
	return &Damaged{Where: t.walk.f.Name(), Err: fmt.Errorf("page %d: %s", id, text)}
}

// element is where a treeCursor is: at an element of a leaf, or at a page that was not read, for the
// page and all below it.
type element struct {
	page  uint64 // 0 for an element of a leaf
	key   []byte // lower bound of the keys of a page
	value []byte
	flags uint32
}

// treeCursor reads the elements of a bucket in the order of their keys. At a page, enter goes to its
// first element, and next skips it.
type treeCursor struct {
	t     *tree
	at    element
	ok    bool // false at the end
	above []treeLevel
}

// treeLevel is a page that a treeCursor has entered, and the position in it.
type treeLevel struct {
	id   uint64
	page []byte
	i, n int
}

// bucket returns a cursor of the bucket with this root page. If it is 0, inline is the page. A nil
// tree is empty.
func (t *tree) bucket(root uint64, inline []byte) (c *treeCursor, err error) {
	switch c = (&treeCursor{t: t}); {
	case t == nil:
	case root != 0:
		c.at, c.ok = element{page: root}, true
	default:
		err = c.push(0, inline)
	}
	return c, err
}

// enter goes from a page to its first element.
func (c *treeCursor) enter() error {
	page, err := c.t.page(c.at.page)
	if err != nil {
		return err
	}
	return c.push(c.at.page, page)
}

func (c *treeCursor) push(id uint64, page []byte) error {
	if len(page) < PageHead || len(c.above) == MaxPageDepth {
		return c.t.damaged(id, "it is too short or too deep")
	}
	n := int(binary.LittleEndian.Uint16(page[10:]))
	flags := binary.LittleEndian.Uint16(page[8:])
	if flags != BranchPage && flags != LeafPage || len(page) < PageHead+n*LeafElem {
		return c.t.damaged(id, "its type or number of elements makes no sense")
	}
	c.above = append(c.above, treeLevel{id, page, -1, n})
	return c.next()
}

// next goes to the next element, without what is below the current one.
func (c *treeCursor) next() error {
	for len(c.above) > 0 {
		top := &c.above[len(c.above)-1]
		if top.i++; top.i < top.n {
			return c.decode(top)
		}
		c.above = c.above[:len(c.above)-1]
	}
	c.at, c.ok = element{}, false
	return nil
}

// decode sets the current element.
func (c *treeCursor) decode(l *treeLevel) error {
	start := PageHead + l.i*LeafElem
	e := l.page[start : start+LeafElem]
	word := func(i int) uint64 { return uint64(binary.LittleEndian.Uint32(e[4*i:])) }
	at := element{flags: uint32(word(0))}
	pos, ksize, vsize := word(1), word(2), word(3)
	if binary.LittleEndian.Uint16(l.page[8:]) == BranchPage {
		at = element{page: binary.LittleEndian.Uint64(e[8:])}
		if pos, ksize, vsize = word(0), word(1), 0; at.page == 0 {
			return c.t.damaged(l.id, "an element leads to no page")
		}
	}

	key := uint64(start) + pos
	if key+ksize+vsize > uint64(len(l.page)) {
		return c.t.damaged(l.id, "an element is outside the page")
	}

	at.key = l.page[key:][:ksize]
	at.value = l.page[key+ksize:][:vsize]
	c.at, c.ok = at, true
	return nil
}
