package audit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// VerifySegment checks everything in a segment and feeds its entries to v: all pages, all
// checksums, the description, the checkpoint, and that postings and times are exactly what the
// entries require. The caller calls v.Finish.
func VerifySegment(path string, v *Verifier) error {
	v.source = path
	m, _, err := peekMeta(path)
	if unread := (*fs.PathError)(nil); errors.As(err, &unread) {
		return err
	}
	if err != nil {
		return damaged(path, err)
	}

	warnings, err := disk.CheckPages(path, false)
	if err == nil && len(warnings) > 0 {
		err = errors.New("a meta page is damaged; the other one is intact, and so are the entries")
	}
	if first, ok := segmentFirst(filepath.Base(path)); err == nil && ok && first != m.First {
		err = fmt.Errorf("it begins with entry %d, unlike its name", m.First)
	}
	if err != nil {
		return damaged(path, err)
	}

	bolt, err := openBolt(path, disk.BoltOptions(true))
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}

	s := &segment{path: path}
	err = s.read(bolt, func(btx *bbolt.Tx) error { return verifyBuckets(btx, m, v) })
	s.bolt = bolt
	closed := s.close(true)
	if err != nil && v.err == nil {
		err = damaged(path, err)
	}

	return errors.Join(err, closed)
}

// verifyBuckets checks the content of a segment.
func verifyBuckets(btx *bbolt.Tx, m meta, v *Verifier) error {
	names := []string{checkpointBucket, entryBucket, disk.MetaBucket, termBucket, timeBucket}
	err := btx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
		if !slices.Contains(names, string(name)) {
			return fmt.Errorf("bucket %q does not belong there", name)
		}
		return nil
	})
	if err != nil {
		return err
	}

	stored, err := decodeMeta(btx.Bucket([]byte(disk.MetaBucket)).Get(disk.MetaKey))
	if err != nil {
		return err
	}

	found := meta{Format: stored.Format, Checkpoint: m.Checkpoint}
	required, err := verifyEntries(btx, &found, v)
	if err != nil {
		return err
	}
	if _, err := checkpoint(btx, stored); err != nil {
		return err
	}
	if found != stored || m != stored {
		return fmt.Errorf("its description does not match its entries: %+v instead of %+v", stored,
			found)
	}

	return required.verify(btx, stored)
}

// verifyEntries checks the entries, describes them in m and returns their indexes.
func verifyEntries(btx *bbolt.Tx, m *meta, v *Verifier) (x indexes, err error) {
	b := btx.Bucket([]byte(entryBucket))
	if b == nil {
		return x, fmt.Errorf("bucket %s is missing", entryBucket)
	}

	c := b.Cursor()
	for key, value := c.First(); key != nil; key, value = c.Next() {
		if len(key) != 8 {
			return x, fmt.Errorf("key %x is not the number of an entry", key)
		}

		seq := binary.BigEndian.Uint64(key)
		text, err := disk.Unframe(entryBucket, key, value)
		if err != nil {
			return x, fmt.Errorf("entry %d: %w", seq, err)
		}

		row := Row{Seq: seq, Text: text}
		if err := v.Add(row); err != nil {
			return x, err
		}

		e, err := row.Decode()
		if err != nil {
			return x, fmt.Errorf("entry %d: %w", seq, err)
		}

		keys, err := e.keys()
		if err != nil {
			return x, err
		}

		row.Keys = &keys
		m.add(row, e.Prev)
		x.add(&keys)
	}

	m.Last, m.Head, m.Terms = v.head.Seq, v.head, uint64(len(x.terms))
	return x, nil
}

// verify checks that a segment has exactly these indexes.
func (x *indexes) verify(btx *bbolt.Tx, m meta) error {
	if err := checkIndexes(btx, m); err != nil {
		return err
	}

	times, err := timesOf(btx)
	if err != nil {
		return err
	}
	if !bytes.Equal(times, x.times) {
		return errors.New("its times are not those of its entries")
	}

	c := btx.Bucket([]byte(termBucket)).Cursor()
	key, value := c.First()
	for _, term := range x.sorted() {
		switch {
		case key == nil || term < string(key):
			return fmt.Errorf("term %q is missing", term)
		case term > string(key):
			return fmt.Errorf("no entry has the term %q", key)
		case !bytes.Equal(value[disk.FrameHead:], x.terms[term].text):
			return fmt.Errorf("term %q has other entries than those that require it", term)
		}
		key, value = c.Next()
	}

	if key != nil {
		return fmt.Errorf("no entry has the term %q", key)
	}

	return nil
}
