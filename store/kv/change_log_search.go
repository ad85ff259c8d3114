package kv

import (
	"bytes"
	"errors"
	"math"
	"slices"

	"reeve/store/audit"
	"reeve/store/disk"
	"reeve/store/errs"
)

// Numbers of entries that one read transaction of a search copies. All entries in data.db have
// about drainBytes.
const (
	firstLogPage = 16
	maxLogPage   = 512
)

// SearchLog yields the entries of the change log that meet q and have a number below before (0 for
// all), newest first, from data.db and from segments. An entry written during the search is left
// out, and one moved to a segment is yielded once. yield may be slow and may keep the rows. Damage
// does not end it: it skips what cannot be read and returns an error about it at the end.
func (db *DB) SearchLog(q audit.Query, before uint64, yield func(audit.Row) bool) error {
	if db.log == nil {
		return nil
	}
	if before == 0 {
		before = math.MaxUint64
	}

	tail := db.log.tail.now() // first: what is not in it, is in a segment by now
	search := tailSearch{matches: q.Matcher(), before: before, rest: tail}
	var faults error
	for limit := firstLogPage; len(search.rest) > 0; limit = min(2*limit, maxLogPage) {
		rows, err := db.logRows(search.page(limit))
		faults = errors.Join(faults, err)
		for _, row := range rows {
			if !yield(row) {
				return faults
			}
		}
	}

	return db.noteDamage(errors.Join(faults,
		db.log.segments.Newest(q, min(before, firstOf(tail)), yield)))
}

// CountLog returns the number of entries that meet q. It skips what cannot be read and returns an
// error about it.
func (db *DB) CountLog(q audit.Query) (int, error) {
	if db.log == nil {
		return 0, nil
	}
	tail, n := db.log.tail.now(), 0
	matches := q.Matcher()
	for i := range tail {
		if matches(&tail[i].keys) {
			n++
		}
	}
	older, err := db.log.segments.Count(q, firstOf(tail))
	return n + older, db.noteDamage(err)
}

// tailSearch searches entries in data.db, the newest first.
type tailSearch struct {
	matches func(*audit.Keys) bool
	before  uint64
	rest    []tailEntry
}

// page returns the numbers of at most limit entries that match.
func (s *tailSearch) page(limit int) (seqs []uint64) {
	for len(s.rest) > 0 && len(seqs) < limit {
		last := &s.rest[len(s.rest)-1]
		s.rest = s.rest[:len(s.rest)-1]
		if last.seq < s.before && s.matches(&last.keys) {
			seqs = append(seqs, last.seq)
		}
	}
	return seqs
}

// logRows returns copies of entries that are or were in data.db, in the given order. It leaves out
// those that retention has dropped since.
func (db *DB) logRows(seqs []uint64) (rows []audit.Row, faults error) {
	err := db.View(engine{}, func(tx *Tx) error {
		for _, seq := range seqs {
			row, err := tx.logRow(seq)
			faults = errors.Join(faults, err)
			rows = append(rows, row)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	for i := range rows {
		if rows[i].Seq != 0 && rows[i].Text == nil { // it is in a segment: it was added to one before it was removed from data.db
			row, err := db.log.segments.Get(rows[i].Seq)
			if err == nil {
				rows[i] = row
			} else if !errs.Is(err, errs.NotFound) {
				faults = errors.Join(faults, err)
			}
		}
	}

	return slices.DeleteFunc(rows, func(row audit.Row) bool { return row.Text == nil }), faults
}

// logRow returns a copy of an entry in data.db; one without a text if it is not there.
func (tx *Tx) logRow(seq uint64) (audit.Row, error) {
	key := idKey(ID(seq))
	value := tx.bucket(logBucket).Get(key)
	if value == nil {
		return audit.Row{Seq: seq}, nil
	}
	text, err := disk.Unframe(logBucket, key, value)
	if err != nil {
		return audit.Row{}, Damaged(logBucket, keyText(key), err)
	}
	return audit.Row{Seq: seq, Text: bytes.Clone(text)}, nil
}

// LogEntry returns an entry of the change log, from data.db or a segment; an errs.NotFound error if
// there is none, or not any more.
func (db *DB) LogEntry(seq uint64) (row audit.Row, err error) {
	if db.log == nil {
		return row, audit.NotFound(seq)
	}
	err = db.View(engine{}, func(tx *Tx) (err error) {
		row, err = tx.logRow(seq)
		return err
	})
	if err != nil || row.Text != nil {
		return row, err
	}
	row, err = db.log.segments.Get(seq)
	return row, db.noteDamage(err)
}

// LogCheckpoint returns the checkpoint of the segment that begins with an entry, as the schema's
// LogCheckpoint has made it; nil if it has none. It is the state after the last entry of that
// segment or a later one. A segment that does not exist is an errs.NotFound error.
func (db *DB) LogCheckpoint(first uint64) ([]byte, error) {
	if db.log == nil {
		return nil, audit.NotFound(first)
	}
	return db.log.segments.Checkpoint(first)
}
