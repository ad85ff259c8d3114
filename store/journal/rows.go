package journal

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"

	"reeve/store/disk"
	"reeve/store/errs"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Rows are stored in rows.db, in a bucket per table. The caller deletes them; they may
// use a quarter of MaxBytes.
const (
	rowBucket   = "row."
	maxRowKey   = 1 << 10
	maxRowValue = 64 << 10
	maxRowPage  = 256
)

// SetRows stores small rows durably, in one commit, and replaces those with the same
// key. A key has 1 to 1,024 bytes, a value at most 64 KiB. On error, none of the rows
// is stored, and all are counted as dropped.
func (j *Journal) SetRows(table string, rows map[string][]byte) error {
	j.writing.Lock()
	defer j.writing.Unlock()
	err, need := checkRows(table, rows), int64(0)
	for key, value := range rows {
		need += int64(len(key) + len(value) + 64)
	}
	if err == nil && len(rows) > 0 {
		err = j.changeRows(true, j.rowsMax, 4*need+minSegmentBytes/2, func(btx *bbolt.Tx) error {
			b, err := btx.CreateBucketIfNotExists([]byte(rowBucket + table))
			for _, key := range slices.Sorted(maps.Keys(rows)) {
				if err == nil {
					err = b.Put([]byte(key), disk.Frame(rowBucket+table, []byte(key), rows[key]))
				}
			}
			return err
		})
	}
	if err != nil {
		j.droppedRows.Add(uint64(len(rows)))
		return fmt.Errorf("%s dropped: %w", errs.Count(len(rows), "row"), err)
	}

	return nil
}

func checkRows(table string, rows map[string][]byte) error {
	if table == "" || len(table) > maxRowKey {
		return errors.New("a table needs a name of 1 to 1,024 bytes")
	}
	for key, value := range rows {
		if key == "" || len(key) > maxRowKey || len(value) > maxRowValue {
			return fmt.Errorf("the row %.40q is too large, or has no key", key)
		}
	}
	return nil
}

// changeRows runs fn in a commit of rows.db. If the file is damaged, it is set aside
// and fn runs again in a new file. Space is made for need more bytes, up to limit.
func (j *Journal) changeRows(create bool, limit, need int64, fn func(*bbolt.Tx) error) error {
	err := j.tryRows(create, limit, need, fn)
	var broken *fault
	if !errors.As(err, &broken) || errors.Is(err, bolterrors.ErrMaxSizeReached) {
		return err
	}
	j.setAsideRows(err)
	if err = j.tryRows(create, limit, need, fn); err != nil {
		j.pause()
	}
	return err
}

func (j *Journal) setAsideRows(cause error) {
	f := j.rows.Swap(nil)
	if err := f.close(); err != nil {
		cause = errors.Join(cause, err)
	}
	j.setAside(f.path, cause)
}

func (j *Journal) tryRows(create bool, limit, need int64, fn func(*bbolt.Tx) error) error {
	if err := j.ready(); err != nil {
		return err
	}

	f := j.rows.Load()
	if f != nil {
		if err := f.unusable(); err != nil {
			j.setAsideRows(err)
			f = nil
		}
	}
	if f == nil && !create {
		return nil
	}

	for {
		size := int64(0)
		if f != nil {
			size = f.size()
		}

		room := max(size, min(limit, size+need))
		if err := j.makeRoom(room, rowsName); err != nil {
			return err
		}
		if f == nil {
			var err error
			if f, err = makeFile(filepath.Join(j.dir, rowsName), j.sizes(j.rowsMax)); err != nil {
				return err
			}
			j.rows.Store(f)
		}

		err := f.update(room, fn)
		if !errors.Is(err, bolterrors.ErrMaxSizeReached) || room >= limit {
			return blame(err)
		}

		need *= 2 // rows with distant keys take a page each
	}
}

// Rows yields the rows of a table with from ≤ key ≤ to, by key. It skips and counts
// damaged rows. The caller owns the values. No transaction is open during yield.
func (j *Journal) Rows(table, from, to string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		f := j.rows.Load()
		for next := []byte(from); f != nil && next != nil; {
			var keys []string
			var values [][]byte
			begin := next
			next = nil
			err := f.view(func(btx *bbolt.Tx) error {
				b := btx.Bucket([]byte(rowBucket + table))
				if b == nil {
					return nil
				}

				c := b.Cursor()
				for key, value := c.Seek(begin); key != nil &&
					string(key) <= to; key, value = c.Next() {
					if payload, err := disk.Unframe(rowBucket+table, key, value); err != nil {
						j.damaged.Add(1)
					} else {
						keys, values = append(keys, string(key)), append(values,
							bytes.Clone(payload))
					}
					if len(keys) == maxRowPage {
						next = append(bytes.Clone(key), 0)
						break
					}
				}

				return nil
			})
			if err != nil && !errors.Is(err, errFileClosed) {
				j.damaged.Add(1)
			}

			for i, key := range keys {
				if !yield(key, values[i]) {
					return
				}
			}
		}
	}
}

// maxRowsDeleted is the number of rows that one commit deletes.
const maxRowsDeleted = 1000

// DeleteRows deletes the rows of a table with a key below before. It may exceed the
// limit of rows.db a little, since deletions in a full file need space too.
func (j *Journal) DeleteRows(table, before string) error {
	j.writing.Lock()
	defer j.writing.Unlock()
	for more := true; more; {
		more = false
		err := j.changeRows(false, j.rowsMax+j.rowsMax/8, minSegmentBytes/2,
			func(btx *bbolt.Tx) error {
				b := btx.Bucket([]byte(rowBucket + table))
				if b == nil {
					return nil
				}

				var keys [][]byte
				c := b.Cursor()
				for key, _ := c.First(); key != nil && string(key) < before &&
					len(keys) < maxRowsDeleted; key, _ = c.Next() {
					keys = append(keys, bytes.Clone(key))
				}

				more = len(keys) == maxRowsDeleted
				for _, key := range keys {
					if err := b.Delete(key); err != nil {
						return err
					}
				}

				return nil
			})
		if err != nil {
			return err
		}
	}

	return nil
}
