package kv

import (
	"encoding/json"
	"math"

	"reeve/store/audit"
	"reeve/store/disk"
)

// DrainingFrom returns options with another number of entries in data.db from which they are moved
// to a segment, for tests; 0 for the default.
func (o Options) DrainingFrom(entries uint64) Options {
	o.drainFrom = entries
	return o
}

// LogSegments describes the segments of the change log, the oldest first.
func (db *DB) LogSegments() []audit.Info {
	if db.log == nil {
		return nil
	}
	return db.log.segments.Segments()
}

// LogFirst returns the number of the oldest entry of the change log; 0 if it is empty.
func (db *DB) LogFirst() uint64 {
	if db.log == nil {
		return 0
	}
	first := firstOf(db.log.tail.now()) // first: what leaves it, is in a segment by then
	if segments := db.log.segments.Segments(); len(segments) > 0 {
		first = min(first, segments[0].First)
	}
	if first == math.MaxUint64 {
		return 0
	}
	return first
}

// LogBefore returns the number of the last entry of the change log with a time up to at; 0 if there
// is none. After an error, the number is that of the last one that can be read: damage may hide a
// later one.
func (db *DB) LogBefore(at Time) (seq uint64, err error) {
	if db.log == nil || at <= 0 {
		return 0, nil
	}

	before, limit := uint64(0), at.String()
	err = db.View(engine{}, func(tx *Tx) error {
		before = tx.LogEnd() + 1
		cursor := tx.bucket(logBucket).Cursor()
		for key, value := cursor.Last(); key != nil; key, value = cursor.Prev() {
			text, err := disk.Unframe(logBucket, key, value)
			var link audit.Link
			if err == nil {
				err = json.Unmarshal(text, &link)
			}
			if err != nil {
				return Damaged(logBucket, keyText(key), err)
			}
			if before = link.Seq; link.At <= limit { // both have the same form
				seq = link.Seq
				return nil
			}
		}

		return nil
	})
	if err != nil || seq != 0 {
		return seq, err
	}

	err = db.log.segments.Newest(audit.Query{To: int64(at)}, before, func(row audit.Row) bool {
		seq = row.Seq
		return false
	})
	return seq, err
}
