package audit

import (
	"bytes"
	"errors"
	"fmt"
	"sort"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/errs"
)

// NotFound is the error of Get.
func NotFound(seq uint64) error {
	return errs.New(errs.NotFound,
		"audit entry %d not found; it may have been removed by retention", seq)
}

// Get returns an entry; an errs.NotFound error if it is not in the segments.
func (l *Log) Get(seq uint64) (row Row, err error) {
	list, err := l.list()
	if err != nil {
		return row, err
	}

	i := sort.Search(len(list), func(i int) bool { return list[i].first > seq }) - 1
	if i < 0 || list[i].fault == nil && seq > list[i].meta.Last {
		return row, NotFound(seq)
	}

	err = l.view(list[i], func(btx *bbolt.Tx) (err error) {
		row, err = entryAt(btx, seq)
		return err
	})
	if errors.Is(err, errGone) {
		err = NotFound(seq)
	}

	return row, err
}

// Checkpoint returns the checkpoint of the segment that begins with an entry; nil if it has none.
func (l *Log) Checkpoint(first uint64) (data []byte, err error) {
	list, err := l.list()
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		if s.first == first {
			err := l.view(s, func(btx *bbolt.Tx) (err error) {
				data, err = checkpoint(btx, s.meta)
				return err
			})
			return data, err
		}
	}
	return nil, NotFound(first)
}

// checkpoint returns a copy of the checkpoint, nil if there is none.
func checkpoint(btx *bbolt.Tx, m meta) ([]byte, error) {
	b := btx.Bucket([]byte(checkpointBucket))
	if b == nil && m.Checkpoint == 0 {
		return nil, nil
	}
	if b == nil {
		return nil, errors.New("the checkpoint is missing")
	}

	data, err := disk.Unframe(checkpointBucket, dataKey, b.Get(dataKey))
	if err == nil && len(data) != m.Checkpoint {
		err = fmt.Errorf("it has %d bytes instead of %d", len(data), m.Checkpoint)
	}
	if err != nil {
		return nil, fmt.Errorf("the checkpoint: %w", err)
	}

	return bytes.Clone(data), nil
}

// entryAt returns a copy of an entry.
func entryAt(btx *bbolt.Tx, seq uint64) (Row, error) {
	b, key := btx.Bucket([]byte(entryBucket)), seqKey(seq)
	if b == nil {
		return Row{}, fmt.Errorf("bucket %s is missing", entryBucket)
	}
	value := b.Get(key)
	if value == nil {
		return Row{}, fmt.Errorf("entry %d is missing", seq)
	}
	text, err := disk.Unframe(entryBucket, key, value)
	if err != nil {
		return Row{}, fmt.Errorf("entry %d: %w", seq, err)
	}
	return Row{Seq: seq, Text: bytes.Clone(text)}, nil
}
