package journal

import (
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// Remove removes the events that match, together with the other events of their groups, and
// returns their number. The segments that had them are written again, so that the removed bytes do
// not stay in free pages of the files. A segment that cannot be read is removed, and so is a file
// that was set aside. match must not keep the event.
func (j *Journal) Remove(match func(Event) bool) (removed int, err error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	if err := j.ready(); err != nil {
		return 0, err
	}

	for _, s := range *j.segments.Load() {
		gone, err := s.matching(match)
		if err != nil {
			if err := j.setAsideSegment(s, err); err != nil {
				return removed, err
			}
			continue
		}
		if len(gone) == 0 {
			continue
		}
		if err := j.rewrite(s, gone); err != nil {
			return removed, err
		}
		removed += len(gone)
	}

	return removed, errors.Join(j.removeAside(), disk.SyncDir(j.dir))
}

// matching returns the IDs of the events that match, and of the others in their groups.
func (s *segment) matching(match func(Event) bool) (gone map[uint64]bool, err error) {
	gone = map[uint64]bool{}
	err = s.view(func(btx *bbolt.Tx) error {
		clear(gone)
		err := btx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			kind, isKind := strings.CutPrefix(string(name), eventBucket)
			if !isKind {
				return nil
			}
			return b.ForEach(func(key, value []byte) error {
				if len(key) != 8 {
					return errors.New("the key of an event does not have 8 bytes")
				}
				head, body, err := decodeEvent(string(name), key, value)
				if err != nil { // whose event it was is unknown
					gone[binary.BigEndian.Uint64(key)] = true
					return nil
				}
				if e := (Event{binary.BigEndian.Uint64(key), kind, head, body}); match(e) {
					gone[e.ID] = true
				}
				return nil
			})
		})
		if err != nil || len(gone) == 0 {
			return err
		}

		return addGroups(btx, gone)
	})
	return gone, err
}

// addGroups adds the IDs of groups that have an event in gone.
func addGroups(btx *bbolt.Tx, gone map[uint64]bool) error {
	b := btx.Bucket([]byte(groupBucket))
	if b == nil {
		return nil
	}

	matched := make([]uint64, 0, len(gone))
	for id := range gone {
		matched = append(matched, id)
	}

	slices.Sort(matched)
	return b.ForEach(func(key, value []byte) error {
		first, end, err := groupRange(key, value)
		if err != nil {
			return err
		}
		if i, _ := slices.BinarySearch(matched, first); i == len(matched) || matched[i] >= end {
			return nil
		}
		for id := first; id < end; id++ {
			gone[id] = true
		}
		return nil
	})
}

// groupRange returns the IDs of a group: those from first to below end.
func groupRange(key, value []byte) (first, end uint64, err error) {
	count, _, err := decodeGroup(key, value)
	if err == nil && (len(key) < 9 || count > maxEventID) {
		err = errors.New("it makes no sense")
	}
	if err != nil {
		return 0, 0, err
	}
	first = binary.BigEndian.Uint64(key[len(key)-8:])
	return first, first + count, nil
}

// rewrite replaces a segment by a copy without some events.
func (j *Journal) rewrite(s *segment, gone map[uint64]bool) error {
	temp := s.path + disk.NewSuffix
	if err := j.copyWithout(s, temp, gone); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := disk.MoveFile(temp, s.path); err != nil {
		return err
	}

	isCurrent := j.current == s
	f, err := openBolt(s.path, !isCurrent, j.sizes(j.segmentMax))
	if err != nil {
		j.unlist(s)
		return errors.Join(err, s.close())
	}

	fresh := &segment{dbFile: f, first: s.first}
	if err := fresh.load(); err != nil {
		j.unlist(s)
		return errors.Join(err, s.close(), f.close())
	}

	list := slices.Clone(*j.segments.Load())
	list[slices.Index(list, s)] = fresh
	j.segments.Store(&list)
	if isCurrent {
		j.current = fresh
	}

	return s.close()
}

// copyBytes is the number of bytes that one commit of a copy writes.
const copyBytes = 4 << 20

// copyWithout writes a copy of a segment. It may exceed the size of a segment a little, since its
// pages are filled differently.
func (j *Journal) copyWithout(s *segment, path string, gone map[uint64]bool) error {
	limit := j.segmentMax + j.segmentMax/4
	f, err := openBolt(path, false, j.sizes(limit))
	if err != nil {
		return err
	}

	err = s.view(func(from *bbolt.Tx) error {
		info, err := readMeta(from)
		if err != nil {
			return err
		}

		info.Events -= min(info.Events, uint64(len(gone)))
		err = f.update(limit, func(to *bbolt.Tx) error {
			b, err := to.CreateBucketIfNotExists([]byte(disk.MetaBucket))
			if err != nil {
				return err
			}
			return putMeta(b, info)
		})
		if err != nil {
			return err
		}

		return from.ForEach(func(name []byte, b *bbolt.Bucket) error {
			if string(name) == disk.MetaBucket {
				return nil
			}
			return copyBucket(f, limit, string(name), b, gone)
		})
	})
	return errors.Join(err, f.close())
}

// copyBucket copies the entries of a bucket, except events in gone and groups of them.
func copyBucket(f *dbFile, limit int64, name string, from *bbolt.Bucket,
	gone map[uint64]bool) error {
	c := from.Cursor()
	for key, value := c.First(); key != nil; {
		err := f.update(limit, func(to *bbolt.Tx) error {
			b, err := to.CreateBucketIfNotExists([]byte(name))
			if err != nil {
				return err
			}

			b.FillPercent = eventFill
			for size := 0; key != nil && size < copyBytes; key, value = c.Next() {
				id := binary.BigEndian.Uint64(key[len(key)-8:]) // of the event, or the first of the group
				if gone[id] {
					continue
				}
				if err := b.Put(key, value); err != nil {
					return err
				}
				size += len(key) + len(value)
			}

			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
