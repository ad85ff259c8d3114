package kv

import (
	"crypto/sha256"
	"encoding/json"

	"reeve/store/audit"
	"reeve/store/disk"
)

// logCommit has the additions of one commit to the change log. There is one for each database,
// which every commit uses again, which saves 2 kB of memory a write.
type logCommit struct {
	head     audit.Head // head of the log with the entries of this commit
	captured []RecordChange
	entry    audit.Entry   // entry of one write function
	keys     audit.KeyList // keys of the entries
	stored   totals        // totals of the values in data.db
	bytes    int64         // total length of the entries
	time     string        // time of the entries; "" before the first
	block    []byte        // the values, which bbolt reads until the commit has ended
}

// maxLogBlock is the capacity from which the block of a commit is not kept for the next one.
const maxLogBlock = 1 << 20

// begin returns the logCommit for the next commit; nil without a log. Only one commit runs at a
// time.
func (l *changeLog) begin() *logCommit {
	if l == nil {
		return nil
	}

	c := &l.commit
	if cap(c.block) > maxLogBlock {
		c.block = nil
	}

	c.keys.Reset()
	clear(c.captured[:cap(c.captured)]) // what a function that failed has left
	*c = logCommit{
		head:     *l.head.Load(),
		captured: c.captured[:0],
		entry:    c.entry,
		keys:     c.keys,
		block:    c.block[:0],
	}

	return c
}

// writeEntry appends the entry of a write function to the change log, unless the schema finds
// nothing to log in it.
func (tx *Tx) writeEntry() error {
	c := tx.changes.log
	if c == nil || len(tx.captured) == 0 && tx.action == nil {
		return nil
	}

	recorder, touched := tx.recorder, tx.touched // the entry is not what the caller does
	tx.recorder = nil
	c.entry.Reset()
	defer func() {
		tx.recorder, tx.touched = recorder, touched
		c.entry.Reset() // it refers to records, which are valid only now
		clear(tx.captured)
		c.captured = tx.captured[:0]
	}()

	logged, err := tx.db.schema.LogEntry(tx, tx.captured, &c.entry)
	if err != nil || !logged {
		return err
	}
	if tx.action != nil {
		c.entry.Action = tx.action.name
		if c.entry.Details, err = json.Marshal(tx.action.details); err != nil {
			return err
		}
	}

	return tx.appendEntry(&c.entry)
}

// appendEntry stores an entry as the next one of the chain.
func (tx *Tx) appendEntry(entry *audit.Entry) error {
	c := tx.changes.log
	if c.time == "" {
		c.time = tx.now.String()
	}

	seq := c.head.Seq + 1
	entry.Link = audit.Link{Seq: seq, Generation: c.head.Generation, Prev: c.head.Hash, At: c.time}
	start := len(c.block)
	c.block = entry.AppendText(append(c.block, make([]byte, disk.FrameHead)...))
	value := c.block[start:len(c.block):len(c.block)]
	text := value[disk.FrameHead:]
	key := idKey(ID(seq))
	disk.SealFrame(logBucket, key, value)
	b := tx.bucket(logBucket)
	b.FillPercent = 0.9 // entries are only appended
	tx.changes.rows.append(logBucket, key, value)
	if err := b.Put(key, value); err != nil {
		return err
	}

	tx.mustWrite()
	tx.logged = true
	c.head.Seq, c.head.Hash = seq, sha256.Sum256(text)
	c.stored.records++
	c.stored.sum += uint64(disk.FrameSum(value))
	c.bytes += int64(len(text))
	c.keys.Append(entry, int64(tx.now))
	return nil
}

// finishLog writes what the entries of a commit have in common: their totals and the last number.
func (tx *Tx) finishLog() error {
	c := tx.changes.log
	if c == nil || c.keys.Len() == 0 {
		return nil
	}
	if err := tx.bucket(logBucket).SetSequence(c.head.Seq); err != nil {
		return err
	}
	return addTotals(tx, logBucket, int(c.stored.records), c.stored.sum)
}

// committed adds the entries of a commit.
func (l *changeLog) committed() {
	if l == nil || l.commit.keys.Len() == 0 {
		return
	}
	head := l.commit.head
	l.tail.append(head.Seq-uint64(l.commit.keys.Len())+1, &l.commit.keys) // before the head: the entry that it names can be found
	l.grown(head, l.commit.bytes)
}

// follow adds the entries of commits of other processes.
func (l *changeLog) follow(rows []audit.Row) {
	if l == nil || len(rows) == 0 {
		return
	}
	bytes := int64(0)
	for _, row := range rows {
		bytes += int64(len(row.Text))
	}
	l.tail.add(rows)
	last := rows[len(rows)-1]
	l.grown(audit.Head{Generation: l.head.Load().Generation, Seq: last.Seq, Hash: sha256.Sum256(last.Text)}, bytes)
}

// grown sets the head of the log, which has grown by some bytes in data.db.
func (l *changeLog) grown(head audit.Head, bytes int64) {
	l.head.Store(&head)
	l.bytes.Add(bytes)
	if !l.isLong() {
		return
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}
