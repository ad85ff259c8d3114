package kv

import (
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/stream"
)

// errOtherData is the error of an entry that does not continue the data.
var errOtherData = errors.New("the commit stream does not continue this copy")

// apply changes a file as an entry says. The file must be in the state that the entry continues.
func apply(btx *bbolt.Tx, e *stream.Entry, schema int) error {
	if e.Schema != schema {
		return fmt.Errorf("entry %d has schema %d, not %d", e.Number, e.Schema, schema)
	}
	for _, changed := range e.Buckets {
		b := btx.Bucket([]byte(changed.Name))
		if b == nil || !isShared(changed.Name) {
			return fmt.Errorf("entry %d changes the bucket %q: %w", e.Number, changed.Name, errOtherData)
		}
		for _, row := range changed.Rows {
			if changed.Name == disk.MetaBucket && string(row.Key) == string(commitKey) {
				return fmt.Errorf("entry %d changes the position of the stream: %w", e.Number, errOtherData)
			}
			was := int64(stream.NoValue)
			if old := b.Get(row.Key); old != nil {
				was = int64(disk.Checksum(changed.Name, row.Key, old))
			}
			if was != row.Old {
				return fmt.Errorf("entry %d replaces another value of %s %s: %w", e.Number, changed.Name, keyText(row.Key), errOtherData)
			}
			var err error
			if row.Value == nil {
				err = b.Delete(row.Key)
			} else {
				err = b.Put(row.Key, row.Value)
			}
			if err != nil {
				return err
			}
		}
		if err := b.SetSequence(changed.Sequence); err != nil {
			return err
		}
	}
	return nil
}
