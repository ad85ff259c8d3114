package kv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"reeve/store/audit"
	"reeve/store/blob"
	"reeve/store/disk"
	"reeve/store/errs"
	"reeve/store/stream"
)

// applyWaiting applies an entry, unless it is nil, and those that wait. While the disk is full, they go on
// waiting and are tried again.
func (db *DB) applyWaiting(e *stream.SealedEntry) {
	s := db.commits
	db.writing <- struct{}{}
	defer func() { <-db.writing }()
	s.retry = nil
	err := db.applyEntries(e)
	for errs.Is(err, errs.Full) && db.makeRoom() {
		err = db.applyEntries(nil)
	}
	if errs.Is(err, errs.Full) {
		s.behind = true
		s.contact.Store(&err)
		s.retry = time.After(applyRetry)
	}
}

// applyEntries applies an entry of the log of commits, unless it is nil, and those that wait, in one commit.
// After errs.Full, they go on waiting. After any other error, none are applied any more: the data of
// this directory are not those of the log.
func (db *DB) applyEntries(first *stream.SealedEntry) error {
	s := db.commits
	if first != nil {
		s.waiting = append(s.waiting, *first)
	}
	for more := true; more && len(s.waiting) < maxApply; {
		select {
		case e := <-s.incoming:
			s.waiting = append(s.waiting, e)
		default:
			more = false
		}
	}
	if reason := s.refused.Load(); reason != nil {
		return reason
	}
	if _, reason := db.failed.Since(); reason != nil {
		return reason
	}
	err := disk.RecoverDamage(db.path, func() error { return db.tryApply(s.waiting) })
	if errs.Is(err, errs.Full) {
		return err
	}
	for _, e := range s.waiting {
		s.room.Release(takes(e))
	}
	clear(s.waiting) // their bytes can be freed
	s.waiting = s.waiting[:0]
	if err == nil {
		return nil
	}
	s.refuse(err)
	return s.refused.Load()
}

// tryApply applies entries in one bbolt transaction, and does for the records that they change what
// tryCommit does for its own.
func (db *DB) tryApply(entries []stream.SealedEntry) (err error) {
	since := time.Now()
	btx, err := db.bolt.Begin(true)
	if err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed {
			err = errors.Join(err, disk.RecoverDamage(db.path, btx.Rollback))
		}
	}()

	tx := &Tx{db: db, actor: engine{}, now: db.clock(), bolt: btx, changes: newChanges()}
	in := followed{tx: tx, head: db.stream.head}
	for _, sealed := range entries {
		if sealed.Epoch == in.head.Epoch && (sealed.Number < in.head.Number ||
			sealed.Number == in.head.Number && sealed.Hash == in.head.Hash) {
			continue // it is applied, or its own
		}
		if err := in.add(sealed); err != nil {
			return err
		}
	}
	if len(in.entries) == 0 {
		return nil
	}
	if err := putHead(tx, in.head); err != nil {
		return err
	}
	fresh, err := db.compute(tx)
	if err == nil && in.rebuild {
		err = db.computeAll(tx, fresh)
	}
	if err != nil {
		return err
	}

	if in.urgent {
		db.commits.taken.Store(in.head.Number)
	}
	number := btx.ID()
	err = disk.RecoverDamage(db.path, btx.Commit)
	db.stats.committed(0, since, err)
	if err != nil {
		return db.failed.StopUnlessFull(dataName, err)
	}
	committed = true
	db.appendLocal(in.entries)
	db.commits.stats.applied.Add(uint64(len(in.entries)))
	db.commits.stats.applies.Add(int64(time.Since(since)))
	db.log.follow(in.rows)
	db.concluded(number, tx.changes, fresh, nil)
	if in.urgent {
		db.commits.Log.Applied(in.head.Number)
	}
	return nil
}

// appendLocal appends applied entries to the log of this directory, if it is on.
func (db *DB) appendLocal(entries []*stream.Entry) {
	for _, e := range entries {
		out := streamed{head: e.Head()}
		if db.stream.isOn() {
			text, err := e.Encode()
			if err == nil && e.Head() != out.head {
				err = fmt.Errorf("entry %d was encoded differently by the node %s", e.Number, e.Author)
			}
			if err != nil {
				db.stream.failed.Store(&err)
			} else {
				db.stream.seal(&out, out.head, text)
			}
		}
		db.stream.committed(out, out.wait())
	}
}

// followed are entries of the log of commits that are being applied in a transaction.
type followed struct {
	tx      *Tx
	head    stream.Head
	entries []*stream.Entry
	rows    []audit.Row // entries of the change log
	urgent  bool        // whether one of entries takes rights away
	rebuild bool        // whether one of entries has a bucket without rows: caches are built again, see Cache.Rebuild
}

// add applies an entry.
func (f *followed) add(sealed stream.SealedEntry) error {
	db := f.tx.db
	e, err := db.commits.opener.Open(sealed.Sealed)
	if err == nil && (e.Instance != db.instance || e.Number != sealed.Number) {
		err = errors.New("it is of another installation, or not the one that the log says")
	}
	if err == nil {
		err = e.Follows(f.head)
	}
	if err == nil {
		err = apply(f.tx.bolt, e, db.schema.Version())
	}
	if err == nil {
		err = f.derive(e)
	}
	if err != nil {
		return fmt.Errorf("entry %d of the log of commits: %w", sealed.Number, err)
	}
	f.head = e.Head()
	f.entries, f.urgent = append(f.entries, e), f.urgent || sealed.Urgent
	f.rebuild = f.rebuild || slices.ContainsFunc(e.Buckets, func(b stream.Bucket) bool { return len(b.Rows) == 0 })
	for _, d := range e.Stored {
		f.tx.changes.stored = append(f.tx.changes.stored, blob.Digest(d))
	}
	for _, d := range e.Released {
		f.tx.changes.release(blob.Digest(d))
	}
	return nil
}

// derive does what follows from the rows of an entry: it marks the records as changed, lists changed
// search texts for the search index, and notes new entries of the change log.
func (f *followed) derive(e *stream.Entry) error {
	db := f.tx.db
	for _, b := range e.Buckets {
		table, texts := db.schema.tableOf(b.Name), db.schema.searchOf(b.Name)
		if table == nil && texts == nil && b.Name != logBucket {
			continue
		}
		for _, row := range b.Rows {
			if len(row.Key) != 8 {
				return Damaged(b.Name, keyText(row.Key), fmt.Errorf("a key has %d bytes, not 8", len(row.Key)))
			}
			number := binary.BigEndian.Uint64(row.Key)
			switch {
			case table != nil:
				f.tx.touch(table, ID(number))
			case texts != nil:
				if err := texts.changed(f.tx, ID(number)); err != nil {
					return err
				}
			case row.Value != nil:
				text, err := disk.Unframe(b.Name, row.Key, row.Value)
				if err != nil {
					return Damaged(b.Name, keyText(row.Key), err)
				}
				f.rows = append(f.rows, audit.Row{Seq: number, Text: text})
			}
		}
	}
	return nil
}
