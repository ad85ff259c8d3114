package kv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"reeve/store/audit"
	"reeve/store/disk"
	"reeve/store/errs"
)

// The change log grows in data.db, which only compacting makes smaller, and would be copied by each
// backup. So its oldest entries are moved to segments, which never change. An entry leaves data.db
// in a commit of its own, after its segment is on the disk: a crash in between leaves it in both.

const (
	segmentsName = "audit" // directory of the segments, in the data directory
	drainFrom    = 16_384  // number of entries in data.db from which they are moved to a segment
	drainBytes   = 16 << 20
	copyBlock    = 256 << 10
	drainRetry   = time.Minute // interval of attempts after one that failed, for example on a full disk
	drainCommit  = 2048        // entries that one commit removes from data.db, in a few milliseconds
)

// LogLimits bound the change log. Entries are dropped by whole segments, the oldest first.
type LogLimits struct {
	MaxAge   time.Duration // entries that are older are dropped; 0 for no limit
	MinAge   time.Duration // entries that are younger are never dropped to save space
	MaxBytes int64         // total size of the segments; 0 for no limit
}

// openLog opens the change log: it reads its head and starts moving entries to segments.
func (db *DB) openLog() error {
	if db.schema.LogEntry == nil {
		return nil
	}

	l := &changeLog{wake: make(chan struct{}, 1), stop: make(chan struct{}), limit: drainFrom}
	if n := db.options.drainFrom; n > 0 {
		l.limit = n
	}

	err := db.View(engine{}, func(tx *Tx) error {
		meta, err := readMeta(tx)
		if err != nil {
			return err
		}
		head, err := tx.readHead(meta)
		if err != nil {
			return err
		}
		l.head.Store(&head)
		return tx.LogRows(0, func(row audit.Row) bool {
			l.bytes.Add(int64(len(row.Text)))
			l.tail.read(row)
			return true
		})
	})
	if err != nil {
		return fmt.Errorf("open %s: %w", db.path, err)
	}

	segments, warnings, err := audit.Open(filepath.Join(db.dir, segmentsName))
	if err != nil {
		return err
	}

	l.segments = segments
	for _, text := range warnings {
		db.found.add(&db.found.found.Log, text)
	}

	db.warnings = append(db.warnings, warnings...)
	db.log = l
	return nil
}

// startLog starts moving entries to segments.
func (db *DB) startLog() {
	if db.log != nil {
		db.log.done.Go(db.drainLog)
	}
}

func (l *changeLog) close() error {
	if l == nil {
		return nil
	}
	close(l.stop)
	l.done.Wait()
	return l.segments.Close()
}

// drainLog moves entries to segments and drops old segments until the log is closed.
func (db *DB) drainLog() {
	l := db.log
	var failed time.Time // of the last attempt that failed
	retention := time.NewTicker(time.Hour)
	defer retention.Stop()
	drained := errors.Join(db.removeMoved(), db.drainOnce())
	l.report(errors.Join(drained, db.pruneLog()))
	for {
		select {
		case <-l.stop:
			return
		case <-l.wake:
			if time.Since(failed) < drainRetry { // every commit wakes it until entries are moved
				continue
			}
			drained = errors.Join(db.removeMoved(), db.drainOnce())
			if l.report(drained); drained != nil {
				failed = time.Now()
			}
		case <-retention.C:
			l.report(errors.Join(drained, db.pruneLog()))
		}
	}
}

// report keeps the last error, for LogProblem.
func (l *changeLog) report(err error) {
	if err == nil {
		l.warn.Store(nil)
		return
	}
	text := errs.ForOperator(err).Error()
	l.warn.Store(&text)
}

// RoomForDenials reports whether entries about refused requests are within their share of the
// space, a tenth. More of them would push other entries out.
func (db *DB) RoomForDenials() bool {
	if db.log == nil || db.options.Log.MaxBytes == 0 {
		return true
	}
	used := int64(0)
	for _, s := range db.log.segments.Segments() {
		used += s.Denials
	}
	return used < db.options.Log.MaxBytes/10
}

// LogProblem returns why entries of the change log cannot be moved or dropped; "" if they can.
func (db *DB) LogProblem() string {
	if db.log == nil || db.log.warn.Load() == nil {
		return ""
	}
	return *db.log.warn.Load()
}

// drainOnce moves the entries in data.db, except the last one, to a segment if there are enough of
// them.
func (db *DB) drainOnce() error {
	l := db.log
	l.gate.Lock()
	defer l.gate.Unlock()
	if !l.isLong() {
		return nil
	}
	d, checkpoint, err := db.newDraining()
	if err != nil {
		return err
	}
	if _, err := l.segments.Write(d.rows, checkpoint); err != nil {
		return err
	}
	return db.removeRows(d.next - 1)
}

// draining reads the entries that are moved to a segment, a block at a time: all but the last one,
// at most drainFrom or drainBytes of them.
type draining struct {
	db    *DB
	keys  []tailEntry
	next  uint64 // number of the next entry
	end   uint64 // number of the last entry in data.db, which stays there
	n     int    // number of entries that were read
	bytes int    // their length
}

// newDraining returns the draining of the entries that data.db has now, and a checkpoint for them.
func (db *DB) newDraining() (d *draining, checkpoint []byte, err error) {
	d = &draining{db: db, keys: db.log.tail.now()}
	err = db.View(engine{}, func(tx *Tx) (err error) {
		d.next, d.end = tx.logStart(), tx.LogEnd()
		if db.schema.LogCheckpoint != nil {
			checkpoint, err = db.schema.LogCheckpoint(tx)
		}
		return err
	})
	return d, checkpoint, err
}

// rows yields the entries. A row is valid until the next one is yielded, so that all blocks share
// their memory: copies of all entries were 1 kB for each write.
func (d *draining) rows(yield func(audit.Row, error) bool) {
	var rows []audit.Row
	var block []byte
	for d.next < d.end && d.n < drainFrom && d.bytes <= drainBytes {
		rows, block = rows[:0], block[:0]
		err := d.db.View(engine{}, func(tx *Tx) error {
			return tx.LogRows(d.next, func(row audit.Row) bool {
				if row.Seq >= d.end || d.n+len(rows) == drainFrom || len(block) > copyBlock {
					return false
				}
				start := len(block)
				block = append(block, row.Text...)
				rows = append(rows,
					audit.Row{Seq: row.Seq, Text: block[start:len(block):len(block)]})
				return true
			})
		})
		if err == nil && len(rows) == 0 {
			err = fmt.Errorf("entries %d to %d of the change log are missing", d.next, d.end-1)
		}
		if err != nil {
			yield(audit.Row{}, err)
			return
		}

		d.n, d.bytes, d.next = d.n+len(rows), d.bytes+len(block), rows[len(rows)-1].Seq+1
		d.keys = withKeys(rows, d.keys)
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// removeMoved removes entries from data.db that are already in a segment, since an earlier process
// ended before it did so.
func (db *DB) removeMoved() error {
	last := db.log.segments.Head()
	moved := false
	err := db.View(engine{}, func(tx *Tx) error {
		return tx.LogRows(last.Seq, func(row audit.Row) bool {
			head, err := audit.HeadOf(row.Text)
			moved = err == nil && head.Seq == last.Seq && head.Hash == last.Hash
			return false
		})
	})
	if err != nil || !moved {
		return err
	}
	if err := db.log.segments.CheckNewest(); err != nil {
		return err // the only sound copy may be the one in data.db
	}

	return db.removeRows(last.Seq)
}

// logStart returns the number of the first entry in data.db; 0 if there is none.
func (tx *Tx) logStart() uint64 {
	key, _ := tx.bucket(logBucket).Cursor().First()
	if len(key) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(key)
}

// removeRows removes the entries up to a number from data.db.
func (db *DB) removeRows(through uint64) error {
	var bytes int64
	for more := true; more; {
		err := db.Update(engine{}, func(tx *Tx) error {
			var keys [][]byte
			var sum uint64
			bytes = 0
			cursor := tx.bucket(logBucket).Cursor()
			key, value := cursor.First()
			for ; len(key) == 8 && binary.BigEndian.Uint64(key) <= through &&
				len(keys) < drainCommit; key, value = cursor.Next() {
				keys = append(keys, append([]byte(nil), key...))
				sum += uint64(disk.FrameSum(value))
				bytes += int64(len(value) - disk.FrameHead)
			}

			more = len(keys) == drainCommit
			for _, key := range keys {
				if err := tx.deleteHere(logBucket, key); err != nil {
					return err
				}
			}

			if len(keys) == 0 {
				return nil
			}

			return addLocalTotals(tx, logBucket, -len(keys), -sum)
		})
		if err != nil {
			return err
		}
		db.log.bytes.Add(-bytes)
	}

	db.log.tail.drop(through)
	return nil
}

// pruneLog drops old segments and logs that it did.
func (db *DB) pruneLog() error {
	l := db.log
	l.gate.Lock()
	limits := db.options.Log
	dropped, blocked, err := l.segments.Prune(db.clock().Std(), limits.MaxAge, limits.MinAge,
		limits.MaxBytes)
	l.gate.Unlock()
	if err == nil && len(dropped) > 0 {
		err = db.Update(engine{}, func(tx *Tx) error {
			tx.LogAction("drop_entries", map[string]uint64{
				"first": dropped[0].First,
				"last":  dropped[len(dropped)-1].Last,
			})
			return nil
		})
	}
	if err == nil && blocked {
		err = fmt.Errorf("the change log is larger than audit.max_size, and all of it is younger than audit.min_age: raise audit.max_size, or lower audit.min_age")
	}

	return err
}
