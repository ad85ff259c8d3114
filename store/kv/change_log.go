package kv

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"reeve/store/audit"
	"reeve/store/disk"
)

// logBucket holds the entries of the change log that are not in a segment yet, by number. The
// last entry always stays here, so that the next one can name its hash.
const logBucket = "change_log"

// RecordChange is a change of one record by a write function. Several changes of a record in one
// function are one RecordChange.
type RecordChange struct {
	Table Table
	ID    ID
	Old   []byte // JSON of the record before, valid during the write function; nil if it was created
	New   []byte // JSON of the record after, valid during the write function; nil if it was deleted
}

// changeLog is the change log of an open database. The newest entries are in data.db, older ones
// in segments (package audit).
type changeLog struct {
	head     atomic.Pointer[audit.Head] // head of the last commit
	tail     logTail
	commit   logCommit    // state of the running commit
	bytes    atomic.Int64 // total length of the entries in data.db
	limit    uint64       // number of entries in data.db from which they are moved
	segments *audit.Log
	gate     sync.Mutex // held while segments are added or dropped, and while a backup lists them
	warn     atomic.Pointer[string]
	wake     chan struct{}
	stop     chan struct{}
	done     sync.WaitGroup
}

// LogHead returns the newest entry of the change log; the zero Head without a log.
func (db *DB) LogHead() audit.Head {
	if db.log == nil {
		return audit.Head{}
	}
	return *db.log.head.Load()
}

// Origin returns the value set by Handle.From; nil for none.
func (tx *Tx) Origin() any { return tx.origin }

// LogAction adds an action to the entry of this write function, which has an entry then even if
// it changes no record. A function has at most one action.
func (tx *Tx) LogAction(action string, details any) {
	tx.mustWrite()
	tx.action = &logAction{action, details}
}

// isLong reports whether data.db has so many entries that they are to be moved.
func (l *changeLog) isLong() bool {
	return uint64(len(l.tail.now())) > l.limit || l.bytes.Load() > drainBytes
}

// HasAction reports whether LogAction was called in this write function.
func (tx *Tx) HasAction() bool { return tx.action != nil }

// Operation returns the name of the operation that writes, see Handle.For; "" for none.
func (tx *Tx) Operation() string { return tx.operation }

type logAction struct {
	name    string
	details any
}

// Unlogged declares that changes of a collection are not in the change log: it is a log itself, or
// follows another record.
func (c *Collection[T]) Unlogged() *Collection[T] {
	c.untyped.log = unlogged
	return c
}

// Observed is Unlogged for a collection whose changes Schema.LogEntry needs to describe others.
func (c *Collection[T]) Observed() *Collection[T] {
	c.untyped.log = observed
	return c
}

// IsLogged reports whether changes of the collection are in the change log.
func (c *Collection[T]) IsLogged() bool { return c.untyped.log == inLog }

// Undoable declares that changes of a collection can be undone from the change log by themselves.
// Records of others follow these, such as the sessions and the password of a user.
func (c *Collection[T]) Undoable() *Collection[T] {
	c.untyped.undoable = true
	return c
}

// IsUndoable reports whether changes of the collection can be undone by themselves.
func (c *Collection[T]) IsUndoable() bool { return c.untyped.undoable }

// capture records a change for the entry of the write function. old and new are stored values; nil
// for a record that is created or deleted.
func (tx *Tx) capture(t Table, id ID, old, new []byte) {
	payload := func(value []byte) []byte {
		if value == nil {
			return nil
		}
		return value[disk.FrameHead:len(value):len(value)] // stored values are never changed
	}
	if tx.tracked != nil {
		*tx.tracked = append(*tx.tracked,
			TrackedChange{t.Name(), id, bytes.Clone(payload(old)), bytes.Clone(payload(new))})
	}
	if tx.changes.log == nil || t.table().log == unlogged {
		return
	}

	for i := range tx.captured {
		if c := &tx.captured[i]; c.Table == t && c.ID == id {
			c.New = payload(new)
			return
		}
	}

	if tx.captured == nil {
		tx.captured = tx.changes.log.captured[:0]
	}

	tx.captured = append(tx.captured, RecordChange{t, id, payload(old), payload(new)})
}

// readHead returns the head of the log in the file, in the generation of meta.
func (tx *Tx) readHead(meta fileMeta) (audit.Head, error) {
	b := tx.bucket(logBucket)
	head := audit.Head{Generation: meta.Generation, Seq: b.Sequence()}
	key, value := b.Cursor().Last()
	if key == nil {
		return head, nil
	}

	text, err := disk.Unframe(logBucket, key, value)
	if err == nil {
		var last audit.Head
		last, err = audit.HeadOf(text)
		if err == nil && (last.Seq != binary.BigEndian.Uint64(key) || last.Seq != head.Seq) {
			err = fmt.Errorf("entry %s has the number %d, and the log has %d entries",
				keyText(key), last.Seq, head.Seq)
		}
		head.Hash = last.Hash
	}
	if err != nil {
		return head, Damaged(logBucket, keyText(key), err)
	}

	return head, nil
}

// newGeneration returns a random name for the numbers of the log until the next restore; "" for a
// schema without a log.
func (db *DB) newGeneration() string {
	if db.schema.LogEntry == nil {
		return ""
	}
	return strings.ToLower(rand.Text()[:10])
}

// LogRows calls yield for the entries in data.db with numbers from from, in ascending order, until
// it returns false. Older entries are in segments.
func (tx *Tx) LogRows(from uint64, yield func(audit.Row) bool) error {
	cursor := tx.bucket(logBucket).Cursor()
	for key, value := cursor.Seek(idKey(ID(from))); key != nil; key, value = cursor.Next() {
		text, err := disk.Unframe(logBucket, key, value)
		if err != nil || len(key) != 8 {
			return Damaged(logBucket, keyText(key), errors.Join(err))
		}
		if !yield(audit.Row{Seq: binary.BigEndian.Uint64(key), Text: text}) {
			return nil
		}
	}
	return nil
}

// maxLogRead is the number of bytes after which ReadLog returns, since an entry can have several
// MiB.
const maxLogRead = 512 << 10

// ReadLog returns entries of the change log with numbers from from, in ascending order, from
// segments and data.db: at most limit, and fewer if they are large. Without any the log has ended.
func (db *DB) ReadLog(from uint64, limit int) (rows []audit.Row, err error) {
	if db.log == nil {
		return nil, nil
	}

	from = max(from, 1)
	bytes, full := 0, false
	add := func(row audit.Row) bool {
		rows = append(rows, audit.Row{Seq: row.Seq, Text: slices.Clone(row.Text)})
		bytes += len(row.Text)
		full = len(rows) == limit || bytes > maxLogRead
		return !full
	}
	for again := true; again; { // entries can be moved to a segment between the two reads
		again = false
		if err := db.log.segments.Oldest(from, add); err != nil || full {
			return rows, db.noteDamage(err)
		}

		next := from
		if len(rows) > 0 {
			next = rows[len(rows)-1].Seq + 1
		}

		err := db.View(engine{}, func(tx *Tx) error {
			start := tx.logStart() // before the segments are looked at: what is not in data.db, is in one by now
			if start > next && next <= db.log.segments.Head().Seq {
				from, again = next, true
				return nil
			}
			return tx.LogRows(next, add)
		})
		if err != nil {
			return nil, err
		}
	}

	return rows, nil
}

// verifyLog checks the entries in data.db: checksums, totals, and that they are a chain that ends
// at the stored number.
func (tx *Tx) verifyLog(report *Report) {
	got, broken := bucketTotals(tx, logBucket, true, &atomic.Bool{})
	if err := checkTotals(tx, logBucket, got, broken); err != nil {
		report.fault("%s", disk.OneLine(err))
	}

	var verifier audit.Verifier
	err := tx.LogRows(0, func(row audit.Row) bool {
		report.Records++
		if err := verifier.Add(row); err != nil {
			report.fault("%s: %v", logBucket, err)
			return false
		}
		return true
	})
	if err != nil {
		report.fault("%s", disk.OneLine(err))
		return
	}
	if _, err := tx.readHead(fileMeta{}); err != nil {
		report.fault("%s", disk.OneLine(err))
	}
}

// LogEnd returns the number of the last entry that the transaction sees.
func (tx *Tx) LogEnd() uint64 { return tx.bucket(logBucket).Sequence() }
