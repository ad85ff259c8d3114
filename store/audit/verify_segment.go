package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// VerifySegment checks everything in a segment and feeds its entries to v: all pages, all
// checksums, the description, the checkpoint, and that the indexes have exactly the keys that
// the entries require. The caller calls v.Finish.
func VerifySegment(path string, v *Verifier) error {
	v.source = path
	m, _, err := peekMeta(path)
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
	names := []string{actorBucket, atBucket, checkpointBucket, entryBucket, disk.MetaBucket, recordBucket}
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
	found := meta{Format: stored.Format, Ordered: true, Checkpoint: m.Checkpoint}
	keys, err := verifyEntries(btx, &found, v)
	if err != nil {
		return err
	}
	for i, name := range indexBuckets {
		if err := verifyIndex(btx, name, keys[i]); err != nil {
			return err
		}
	}
	if _, err := checkpoint(btx, stored); err != nil {
		return err
	}
	if found != stored || m != stored {
		return fmt.Errorf("its description does not match its entries: %+v instead of %+v", stored, found)
	}
	return nil
}

// verifyEntries checks the entries, describes them in m and returns the keys of their indexes.
func verifyEntries(btx *bbolt.Tx, m *meta, v *Verifier) (keys indexKeys, err error) {
	b := btx.Bucket([]byte(entryBucket))
	if b == nil {
		return keys, fmt.Errorf("bucket %s is missing", entryBucket)
	}
	c := b.Cursor()
	for key, value := c.First(); key != nil; key, value = c.Next() {
		if len(key) != 8 {
			return keys, fmt.Errorf("key %x is not the number of an entry", key)
		}
		seq := seqOf(key)
		text, err := disk.Unframe(entryBucket, key, value)
		if err != nil {
			return keys, fmt.Errorf("entry %d: %w", seq, err)
		}
		row := Row{seq, text}
		if err := v.Add(row); err != nil {
			return keys, err
		}
		var s subject
		if err := json.Unmarshal(text, &s); err != nil {
			return keys, fmt.Errorf("entry %d: %w", seq, err)
		}
		micros, err := s.micros()
		if err != nil {
			return keys, err
		}
		m.add(row, &s, micros)
		keys.add(&s, micros)
	}
	m.Last, m.Head, m.Records = v.head.Seq, v.head, uint64(len(keys[1]))
	return keys, nil
}

// verifyIndex checks that an index has exactly the given keys, which it sorts.
func verifyIndex(btx *bbolt.Tx, name string, want [][]byte) error {
	b := btx.Bucket([]byte(name))
	if b == nil {
		return fmt.Errorf("bucket %s is missing", name)
	}
	slices.SortFunc(want, bytes.Compare)
	c := b.Cursor()
	key, value := c.First()
	for i := 0; key != nil || i < len(want); i++ {
		switch {
		case key == nil || i < len(want) && bytes.Compare(want[i], key) < 0:
			return fmt.Errorf("index %s lacks entry %d", name, seqOf(want[i]))
		case i == len(want) || !bytes.Equal(want[i], key):
			return fmt.Errorf("index %s has the key %x, which no entry requires", name, key)
		}
		if _, err := disk.Unframe(name, key, value); err != nil {
			return fmt.Errorf("key %x of index %s: %w", key, name, err)
		}
		key, value = c.Next()
	}
	return nil
}
