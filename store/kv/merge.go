package kv

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"iter"

	"go.etcd.io/bbolt"
)

// run is one sorted sequence of IDs: the range of an index that begins with key, or a slice.
type run struct {
	cursor *bbolt.Cursor // nil for a slice
	key    []byte
	ids    []ID // the rest of the slice
	at     ID   // current ID
}

// step sets the current ID from an index key. It reports whether the key is in the range.
func (r *run) step(k []byte) bool {
	if len(k) != len(r.key)+8 || !bytes.HasPrefix(k, r.key) {
		return false
	}
	r.at = ID(binary.BigEndian.Uint64(k[len(r.key):]))
	return true
}

// first moves to the first ID, and reports whether there is one.
func (r *run) first(descending bool) bool {
	if r.cursor == nil {
		return r.next(descending)
	}
	if !descending {
		r.cursor.Seek(r.key)
		return r.next(false)
	}
	k, _ := r.cursor.Seek(append(bytes.Clone(r.key), 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
		0xFF))
	if k == nil {
		k, _ = r.cursor.Last()
		return r.step(k)
	}
	return r.next(true)
}

// next moves to the next ID, and reports whether there is one. A descending run ends at the count
// entry of its value, whose key has no ID.
func (r *run) next(descending bool) bool {
	var k []byte
	switch {
	case r.cursor == nil && len(r.ids) == 0:
		return false
	case r.cursor == nil && descending:
		r.at, r.ids = r.ids[len(r.ids)-1], r.ids[:len(r.ids)-1]
		return true
	case r.cursor == nil:
		r.at, r.ids = r.ids[0], r.ids[1:]
		return true
	case descending:
		k, _ = r.cursor.Prev()
	default:
		k, _ = r.cursor.Next()
	}
	return r.step(k)
}

// runs is a heap of runs by current ID, for a k-way merge.
type runs struct {
	all        []*run
	descending bool
}

func (r *runs) Len() int           { return len(r.all) }
func (r *runs) Swap(i, j int)      { r.all[i], r.all[j] = r.all[j], r.all[i] }
func (r *runs) Less(i, j int) bool { return r.all[i].at < r.all[j].at != r.descending }
func (r *runs) Push(v any)         { r.all = append(r.all, v.(*run)) }
func (r *runs) Pop() any {
	last := r.all[len(r.all)-1]
	r.all = r.all[:len(r.all)-1]
	return last
}

// each iterates over the IDs that meet the condition, in no particular order and possibly more
// than once: one range scan per posting, without the cost of a merge.
func (c Condition) each(tx *Tx) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for _, p := range c.postings {
			r := &run{cursor: tx.bucket(p.bucket).Cursor(), key: p.key}
			for more := r.first(false); more; more = r.next(false) {
				tx.examined++
				if !yield(r.at) {
					return
				}
			}
		}
		for _, id := range c.ids {
			if !yield(id) {
				return
			}
		}
	}
}

// walk iterates over the IDs that meet the condition, in order and each once: a k-way merge of
// the ranges of all postings and the IDs.
func (c Condition) walk(tx *Tx, descending bool) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		merge := &runs{descending: descending}
		for _, p := range c.postings {
			if r := (&run{cursor: tx.bucket(p.bucket).Cursor(), key: p.key}); r.first(descending) {
				merge.all = append(merge.all, r)
			}
		}

		if r := (&run{ids: c.ids}); r.first(descending) {
			merge.all = append(merge.all, r)
		}

		heap.Init(merge)
		for last := ID(0); merge.Len() > 0; {
			r := merge.all[0]
			tx.examined++
			if r.at != last && !yield(r.at) {
				return
			}
			last = r.at
			if r.next(descending) {
				heap.Fix(merge, 0)
			} else {
				heap.Pop(merge)
			}
		}
	}
}
