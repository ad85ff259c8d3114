package disk

import (
	"bytes"
	"encoding/binary"
	"errors"

	"go.etcd.io/bbolt"
)

// difference makes a copy of a file that has the content of the tree before have that of the tree
// after. It walks both together and skips the pages that they have in common, so that it costs what
// has changed. Without before, the copy is empty.
type difference struct {
	before, after *tree
	into          *stepped
}

// apply changes the copy. It leaves a part of the changes in a transaction that is not committed.
func (d *difference) apply() error {
	var root uint64
	if d.before != nil {
		root = d.before.root
	}
	from, err := d.before.bucket(root, nil)
	if err != nil {
		return err
	}
	to, err := d.after.bucket(d.after.root, nil)
	if err != nil {
		return err
	}
	return d.bucket(nil, from, to)
}

// bucket changes the bucket at path.
func (d *difference) bucket(path [][]byte, from, to *treeCursor) error {
	for from.ok || to.ok {
		if err := d.step(path, from, to); err != nil {
			return err
		}
	}
	return nil
}

// step moves the cursor that is behind, or both. All elements with smaller keys than both have been
// compared. So if both are at the same page, they can skip it.
func (d *difference) step(path [][]byte, from, to *treeCursor) error {
	order := bytes.Compare(from.at.key, to.at.key)
	if !to.ok {
		order = -1
	} else if !from.ok {
		order = 1
	}

	switch a, b := from.at.page, to.at.page; {
	case a != 0 && a == b:
		return errors.Join(from.next(), to.next())
	case a != 0 && b != 0 && order == 0:
		return errors.Join(from.enter(), to.enter())
	case a != 0 && order <= 0:
		return from.enter()
	case b != 0 && order >= 0:
		return to.enter()
	}

	a, b := from.at, to.at
	switch {
	case order < 0:
		return errors.Join(d.delete(path, a), from.next())
	case order > 0:
		return errors.Join(d.put(path, b), to.next())
	case a.flags != b.flags:
		return errors.Join(d.delete(path, a), d.put(path, b), from.next(), to.next())
	case !bytes.Equal(a.value, b.value):
		if err := d.change(path, a, b); err != nil {
			return err
		}
	}

	return errors.Join(from.next(), to.next())
}

// put adds an element that the copy does not have.
func (d *difference) put(path [][]byte, e element) error {
	if e.flags&BucketEntry == 0 {
		return d.into.change(path, len(e.key)+len(e.value), func(b *bbolt.Bucket) error {
			return b.Put(e.key, e.value)
		})
	}

	err := d.into.change(path, len(e.key), func(b *bbolt.Bucket) error {
		_, err := b.CreateBucket(e.key)
		return err
	})
	if err != nil {
		return err
	}

	return d.change(path, element{}, e)
}

func (d *difference) delete(path [][]byte, e element) error {
	return d.into.change(path, len(e.key), func(b *bbolt.Bucket) error {
		if e.flags&BucketEntry == 0 {
			return b.Delete(e.key)
		}
		return b.DeleteBucket(e.key)
	})
}

// change replaces the value of an element, or changes the content of a bucket. a is empty for a
// bucket that was just created.
func (d *difference) change(path [][]byte, a, b element) error {
	if b.flags&BucketEntry == 0 {
		return d.put(path, b)
	}

	from, was, err := d.opened(d.before, a)
	if err != nil {
		return err
	}

	to, sequence, err := d.opened(d.after, b)
	if err != nil {
		return err
	}

	if sequence != was {
		err := d.into.change(path, 8, func(parent *bbolt.Bucket) error {
			return parent.Bucket(b.key).SetSequence(sequence)
		})
		if err != nil {
			return err
		}
	}

	return d.bucket(append(path[:len(path):len(path)], b.key), from, to)
}

// opened returns a cursor and the sequence of the bucket in an element; both are empty for an empty
// element.
func (d *difference) opened(t *tree, e element) (c *treeCursor, sequence uint64, err error) {
	if e.value == nil {
		return &treeCursor{}, 0, nil
	}
	if len(e.value) < BucketHead {
		return nil, 0, t.damaged(0, "a bucket has no head")
	}
	c, err = t.bucket(binary.LittleEndian.Uint64(e.value), e.value[BucketHead:])
	return c, binary.LittleEndian.Uint64(e.value[8:]), err
}

// stepped changes a file in commits of limited size, since they are held in memory.
type stepped struct {
	file *bbolt.DB
	btx  *bbolt.Tx // nil between two commits
	fill float64   // part of a page that is filled when it is split
	size int       // bytes in the transaction
	all  int64     // bytes in all
}

// stepSize is the number of bytes that one commit changes.
const stepSize = 4 << 20

// elementCost is added to the size of each change.
const elementCost = 64

// change runs fn with the bucket at path.
func (s *stepped) change(path [][]byte, size int, fn func(*bbolt.Bucket) error) (err error) {
	if size += elementCost; s.size > 0 && s.size+size > stepSize {
		if err := s.commit(); err != nil {
			return err
		}
	}
	if s.btx == nil {
		if s.btx, err = s.file.Begin(true); err != nil {
			return err
		}
	}

	s.size, s.all = s.size+size, s.all+int64(size)
	b := s.btx.Cursor().Bucket()
	for _, name := range path {
		b = b.Bucket(name)
	}

	b.FillPercent = s.fill
	return fn(b)
}

// commit commits the changes.
func (s *stepped) commit() error {
	btx := s.btx
	if s.btx, s.size = nil, 0; btx == nil {
		return nil
	}
	return btx.Commit() // which rolls back after an error
}

// rollback drops the changes that are not committed.
func (s *stepped) rollback() error {
	if s.btx == nil {
		return nil
	}
	return s.btx.Rollback()
}
