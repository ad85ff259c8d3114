package kv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"

	"go.etcd.io/bbolt"

	"reeve/store/blob"
	"reeve/store/disk"
	"reeve/store/stream"
)

// LastLogged returns the number of the last entry of the change log that a commit has added; 0 for
// none.
func LastLogged(e *stream.Entry) (last uint64) {
	for _, b := range e.Buckets {
		for _, row := range b.Rows {
			if b.Name == logBucket && len(row.Key) == 8 && row.Value != nil {
				last = max(last, binary.BigEndian.Uint64(row.Key))
			}
		}
	}
	return last
}

// In returns the records of the collection that a commit has stored.
func (c *Collection[T]) In(e *stream.Entry) (found []*T, err error) {
	for _, b := range e.Buckets {
		if b.Name != c.untyped.name {
			continue
		}
		for _, row := range b.Rows {
			if row.Value == nil || len(row.Key) != 8 {
				continue
			}
			v, err := c.untyped.decode(ID(binary.BigEndian.Uint64(row.Key)), row.Value)
			if err != nil {
				return nil, err
			}
			found = append(found, v.(any).(*T))
		}
	}
	return found, nil
}

// Entries are applied in one transaction until there are so many of them, or bytes of rows in them.
const (
	replayCommit = 1000
	replayBytes  = 16 << 20
)

// rowBytes returns the size of the rows of an entry.
func rowBytes(e *stream.Entry) (n int) {
	for _, b := range e.Buckets {
		for _, row := range b.Rows {
			n += len(row.Key) + len(row.Value)
		}
	}
	return n
}

// replay applies the entries of the commit stream to the staged data.db.
func (in *staging) replay(instance string) error {
	if in.entries == nil {
		return nil
	}
	path := in.path(dataName)
	if _, err := disk.CheckPages(path, true); err != nil {
		return in.blame(err)
	}
	db := fileOnly(path, in.options)
	options := disk.BoltOptions(false)
	options.NoSync = true // nothing uses the file before it is synced below
	if err := db.bolt.Open(path, options); err != nil {
		return err
	}
	err := in.replayAll(db, instance)
	if err == nil {
		err = db.bolt.Bolt().Sync()
	}
	if closeErr := db.bolt.Close(); err == nil {
		err = closeErr
	}
	return err
}

// ErrCurrent is the error for a base copy that is to be brought to the schema of this program, and has it.
var ErrCurrent = errors.New("the base copy has the schema of this program")

func (in *staging) replayAll(db *DB, instance string) error {
	var head stream.Head
	schema := 0
	err := db.View(engine{}, func(tx *Tx) error {
		meta, err := readMeta(tx)
		if err == nil {
			schema = meta.Schema
			head, err = tx.streamHead()
		}
		return err
	})
	if err != nil {
		return in.blame(err)
	}
	if in.joins && schema == in.options.Schema.Version() {
		return ErrCurrent
	}
	if head.Epoch == "" {
		return fmt.Errorf("it has no position in the commit stream: only the moment at which it was made can be restored")
	}

	if err := in.compare(db); err != nil {
		return in.blame(err)
	}

	var batch []*stream.Entry
	bytes := 0
	flush := func() error {
		err := disk.RecoverDamage(db.path, func() error {
			return db.bolt.Update(func(btx *bbolt.Tx) error {
				for _, e := range batch {
					if err := apply(btx, e, schema); err != nil {
						return err
					}
				}
				return nil
			})
		})
		batch, bytes = batch[:0], 0
		return err
	}
	for e, err := range in.entries(head) {
		if err == nil && e.Instance != instance {
			err = fmt.Errorf("entry %d of the commit stream is of another installation", e.Number)
		}
		if err == nil {
			err = e.Follows(head)
		}
		if err != nil {
			return err
		}
		head = e.Head()
		batch, bytes = append(batch, e), bytes+rowBytes(e)
		if len(batch) == replayCommit || bytes > replayBytes {
			if err := flush(); err != nil {
				return err
			}
			in.options.progress("restore commits", int64(head.Number), 0)
		}
	}
	in.applied = head
	return flush()
}

// apart returns the contents of files that the records need and the archive lacks.
func (in *staging) apart(m *manifest) []Content {
	if in.applied.Number == 0 {
		return m.Apart
	}
	sizes, needed := map[blob.Digest]int64{}, map[blob.Digest]int64{}
	for _, c := range m.Apart {
		sizes[c.SHA256] = c.Size
	}
	for _, ref := range in.refs {
		size := ref.size
		if known, there := sizes[ref.digest]; there {
			size = known
		}
		if _, listed := needed[ref.digest]; size >= 0 || !listed {
			needed[ref.digest] = size
		}
	}
	return contentsOf(needed)
}

// contentsOf returns the contents with these sizes, sorted by digest; nil for none.
func contentsOf(sizes map[blob.Digest]int64) (all []Content) {
	for d, size := range sizes {
		all = append(all, Content{d, size})
	}
	sort.Slice(all, func(i, j int) bool { return bytes.Compare(all[i].SHA256[:], all[j].SHA256[:]) < 0 })
	return all
}
