package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// Buckets of a segment:
//
//	_meta         "file"                → format, number of events, last ID
//	event.<kind>  ID                    → length of the head, head, body
//	group         name, 0, its first ID → count, length of each kind, kind
const (
	segmentSuffix = ".db"
	eventBucket   = "event."
	groupBucket   = "group"
	eventFill     = 0.9 // IDs ascend, so nothing is inserted between
)

// segment is a file of events with IDs from first on.
type segment struct {
	*dbFile
	first  uint64
	last   atomic.Uint64 // 0 for none
	events atomic.Uint64
}

func segmentName(first uint64) string { return fmt.Sprintf("%016x%s", first, segmentSuffix) }

// segmentID returns the first ID from a segment's file name; ok is false for another
// file.
func segmentID(name string) (first uint64, ok bool) {
	text, found := strings.CutSuffix(name, segmentSuffix)
	first, err := strconv.ParseUint(text, 16, 64)
	return first, found && err == nil && segmentName(first) == name && first <= maxEventID
}

// load reads the segment's meta.
func (s *segment) load() error {
	err := s.view(func(btx *bbolt.Tx) error {
		meta, err := readMeta(btx)
		if err == nil && meta.Last != 0 && (meta.Last < s.first || meta.Last > maxEventID) {
			err = fmt.Errorf("it has the last id %d", meta.Last)
		}
		s.last.Store(meta.Last)
		s.events.Store(meta.Events)
		return err
	})
	if err != nil {
		return &disk.Damaged{Where: s.path, Err: err}
	}
	return nil
}

// write stores entries in one commit.
func (s *segment) write(entries []entry, limit int64) error {
	var meta meta
	err := s.update(limit, func(btx *bbolt.Tx) (err error) {
		if meta, err = readMeta(btx); err != nil {
			return &disk.Damaged{Where: s.path, Err: err}
		}
		meta.Last = entries[len(entries)-1].ID
		meta.Events += uint64(len(entries))
		return errors.Join(putEvents(btx, entries), putGroups(btx, entries),
			putMeta(btx.Bucket([]byte(disk.MetaBucket)), meta))
	})
	if err == nil {
		s.last.Store(meta.Last)
		s.events.Store(meta.Events)
	}

	return err
}

func putEvents(btx *bbolt.Tx, entries []entry) error {
	buckets := map[string]*bbolt.Bucket{}
	for i := range entries {
		e := &entries[i]
		bucket := eventBucket + e.Kind
		b := buckets[bucket]
		if b == nil {
			var err error
			if b, err = btx.CreateBucketIfNotExists([]byte(bucket)); err != nil {
				return err
			}
			b.FillPercent = eventFill
			buckets[bucket] = b
		}

		value := make([]byte, disk.FrameHead, disk.FrameHead+1+len(e.Head)+len(e.Body))
		value = append(value, byte(len(e.Head)))
		value = append(append(value, e.Head...), e.Body...)
		key := eventKey(e.ID)
		disk.SealFrame(bucket, key, value)
		if err := b.Put(key, value); err != nil {
			return err
		}
	}
	return nil
}

// putGroups stores which IDs belong to a group name.
func putGroups(btx *bbolt.Tx, entries []entry) error {
	b, err := btx.CreateBucketIfNotExists([]byte(groupBucket))
	if err != nil {
		return err
	}

	for len(entries) > 0 {
		n := 1
		for n < len(entries) && entries[n].groupIndex == entries[0].groupIndex {
			n++
		}

		group := entries[:n]
		entries = entries[n:]
		if group[0].group == "" {
			continue
		}

		payload, seen := binary.AppendUvarint(nil, uint64(n)), map[string]bool{}
		for i := range group {
			if kind := group[i].Kind; !seen[kind] {
				seen[kind] = true
				payload = append(append(payload, byte(len(kind))), kind...)
			}
		}

		key := groupKey(group[0].group, group[0].ID)
		if err := b.Put(key, disk.Frame(groupBucket, key, payload)); err != nil {
			return err
		}
	}

	return nil
}

// groupKey returns an unambiguous key: the ID after the name always has 8 bytes.
func groupKey(name string, first uint64) []byte {
	return binary.BigEndian.AppendUint64(append([]byte(name), 0), first)
}

// decodeGroup returns the number of events in a group, and their kinds.
func decodeGroup(key, value []byte) (count uint64, kinds []string, err error) {
	payload, err := disk.Unframe(groupBucket, key, value)
	if err != nil {
		return 0, nil, err
	}

	count, n := binary.Uvarint(payload)
	if n <= 0 {
		return 0, nil, errors.New("it has no count")
	}

	for payload = payload[n:]; len(payload) > 0; {
		end := 1 + int(payload[0])
		if end > len(payload) {
			return 0, nil, errors.New("it is cut short")
		}
		kinds = append(kinds, string(payload[1:end]))
		payload = payload[end:]
	}

	return count, kinds, nil
}

// eventKey is the key of an event: its ID, big-endian, so that keys order as IDs do.
func eventKey(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }
