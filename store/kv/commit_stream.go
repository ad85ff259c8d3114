package kv

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"

	"filippo.io/age"
	"go.etcd.io/bbolt"

	"reeve/store/blob"
	"reeve/store/disk"
	"reeve/store/seal"
	"reeve/store/stream"
)

// The commit stream has, for each group commit, the rows that it changes in shared buckets, see
// buckets.tsv and package stream. It is on while there is a place to store it (Options.Stream). The
// position of the stream is stored in data.db in the commit that it belongs to; the entry is appended
// to the log after the commit and before its callers return, without a sync: that would cost as much
// as the commit. So the position of data.db and that of the log can differ after a power cut. Then,
// and after each change of data.db that the stream does not have, a new epoch begins.

const (
	streamDir = "stream" // directory of the log, in the data directory
	streamKey = "copies" // purpose of the key of the installation, see DerivedKey
)

// commitKey is the key of the position in disk.MetaBucket.
var commitKey = []byte("commit")

// StreamOptions configure the commit stream.
type StreamOptions struct {
	Recipients []age.Recipient // keys that open the entries, beside that of the installation
}

// commitStream is the commit stream of an open database.
type commitStream struct {
	head   stream.Head                   // position of data.db; the zero Head if the stream does not have its last commit
	opened atomic.Pointer[stream.Head]   // position at which this process has turned the stream on
	left   atomic.Pointer[[]stream.Head] // ends of the epochs that this process has left, see FollowClock
	log    atomic.Pointer[stream.Log]    // nil while the stream is off
	rows   changedRows
	failed atomic.Pointer[error] // why no more entries are appended; nil while they are
}

// changedRows are the rows that a commit changes.
type changedRows struct {
	buckets []string
	at      map[rowName]int
	rows    []changedRow
}

type rowName struct {
	bucket int
	key    string
}

type changedRow struct {
	rowName
	value []byte // nil if it is deleted
	old   int64
}

func (r *changedRows) reset() {
	r.buckets = r.buckets[:0]
	clear(r.at)
	clear(r.rows)
	r.rows = r.rows[:0]
}

// counts returns the number of rows of each bucket.
func (r *changedRows) counts() []int {
	all := make([]int, len(r.buckets))
	for _, row := range r.rows {
		all[row.bucket]++
	}
	return all
}

// isOn reports whether entries are appended to the log of this directory.
func (s *commitStream) isOn() bool { return s.log.Load() != nil && s.failed.Load() == nil }

// isShared reports whether changes of a bucket are in the stream.
func isShared(bucket string) bool {
	return bucket != localBucket && !strings.HasSuffix(bucket, ".search.changes")
}

// begin returns the rows of the next commit; nil if they are not needed.
func (s *commitStream) begin(commits *commitLog) *changedRows {
	if !commits.inUse() && !s.isOn() {
		return nil
	}
	if s.rows.at == nil {
		s.rows.at = map[rowName]int{}
	}
	s.rows.reset()
	return &s.rows
}

// set notes the new value of a row before it is stored: nil if it is deleted.
func (r *changedRows) set(b *bbolt.Bucket, bucket string, key, value []byte) {
	if r == nil || !isShared(bucket) {
		return
	}
	r.note(bucket, key, value, func() []byte { return b.Get(key) })
}

// append notes a new row.
func (r *changedRows) append(bucket string, key, value []byte) {
	if r != nil {
		r.note(bucket, key, value, func() []byte { return nil })
	}
}

func (r *changedRows) note(bucket string, key, value []byte, before func() []byte) {
	i := len(r.buckets) - 1
	for i >= 0 && r.buckets[i] != bucket {
		i--
	}
	if i < 0 {
		i = len(r.buckets)
		r.buckets = append(r.buckets, bucket)
	}
	if at, known := r.at[rowName{i, string(key)}]; known {
		r.rows[at].value = value
		return
	}
	row := changedRow{rowName: rowName{i, string(key)}, value: value, old: stream.NoValue}
	if old := before(); old != nil {
		row.old = int64(disk.Checksum(bucket, key, old))
	}
	r.at[row.rowName] = len(r.rows)
	r.rows = append(r.rows, row)
}

// streamed is the entry of a commit.
type streamed struct {
	head   stream.Head
	begins bool                // whether it is the first one of an epoch, since the clock was set back
	log    *stream.Log         // log to append it to
	sealed chan *stream.Sealed // gets the entry, which is sealed while the commit is written; nil for none
	commit *stream.SealedEntry // entry for the log of commits; nil for none
}

// finish stores the position of the stream with the commit, and returns the entry.
func (s *commitStream) finish(tx *Tx) (out streamed, err error) {
	out.head = s.head
	rows := tx.changes.rows
	switch {
	case rows == nil && s.head.Epoch != "": // the stream will not have this commit
		out.head = stream.Head{}
		return out, tx.bucket(disk.MetaBucket).Delete(commitKey)
	case rows == nil || len(rows.rows) == 0 && !tx.changes.rebuild:
		return out, nil
	}
	head := s.head
	if tx.db.commits == nil && isAhead(head, tx.now) {
		head, out.begins = newEpoch(tx.now), true
	}
	e := &stream.Entry{
		Format:   stream.Format,
		Instance: tx.db.instance,
		Epoch:    head.Epoch,
		Number:   head.Number + 1,
		Prev:     head.Hash[:],
		Schema:   tx.db.schema.Version(),
		Time:     max(int64(tx.now), head.Time),
		Buckets:  make([]stream.Bucket, len(rows.buckets)),
		Stored:   digestBytes(tx.changes.stored),
		Released: digestBytes(tx.changes.released),
	}
	for i, name := range rows.buckets {
		e.Buckets[i] = stream.Bucket{Name: name, Sequence: tx.bucket(name).Sequence()}
	}
	for i, n := range rows.counts() {
		e.Buckets[i].Rows = make([]stream.Row, 0, n)
	}
	for _, row := range rows.rows {
		b := &e.Buckets[row.bucket]
		b.Rows = append(b.Rows, stream.Row{Key: []byte(row.key), Value: row.value, Old: row.old})
	}
	if tx.changes.rebuild {
		e.Buckets = append(e.Buckets, stream.Bucket{Name: disk.MetaBucket, Sequence: tx.bucket(disk.MetaBucket).Sequence()})
	}
	tx.db.commits.sign(e)
	text, err := e.Encode()
	if err != nil {
		return out, err
	}
	if err := putHead(tx, e.Head()); err != nil {
		return out, err
	}
	if tx.db.commits.inUse() {
		if out.commit, err = tx.db.commits.newCommitEntry(e, text, tx.changes.urgent); err != nil {
			return out, err
		}
	}
	s.seal(&out, e.Head(), text)
	return out, nil
}

// seal begins to encrypt an entry for the log of this directory, if it is on.
func (s *commitStream) seal(out *streamed, head stream.Head, text []byte) {
	out.head = head
	if s.isOn() {
		out.log, out.sealed = s.log.Load(), make(chan *stream.Sealed, 1)
		go func() { out.sealed <- out.log.Seal(out.head, text) }()
	}
}

// wait returns the entry; nil for none.
func (s *streamed) wait() *stream.Sealed {
	if s.sealed == nil {
		return nil
	}
	return <-s.sealed
}

func digestBytes(ds []blob.Digest) (out [][]byte) {
	for _, d := range ds {
		out = append(out, d[:])
	}
	return out
}

func putHead(tx *Tx, head stream.Head) error {
	payload, err := json.Marshal(head)
	if err != nil {
		return err
	}
	return tx.bucket(disk.MetaBucket).Put(commitKey, disk.Frame(disk.MetaBucket, commitKey, payload))
}

// streamHead returns the position of the stream in a file; the zero Head for none.
func (tx *Tx) streamHead() (head stream.Head, err error) {
	value := tx.bucket(disk.MetaBucket).Get(commitKey)
	if value == nil {
		return head, nil
	}
	payload, err := disk.Unframe(disk.MetaBucket, commitKey, value)
	if err == nil {
		err = json.Unmarshal(payload, &head)
	}
	if err != nil {
		return head, Damaged(disk.MetaBucket, string(commitKey), err)
	}
	return head, nil
}

// forgetStream removes the position of the stream in a transaction that changes the file without it.
func (tx *Tx) forgetStream() error { return tx.bucket(disk.MetaBucket).Delete(commitKey) }

// committed appends the entry of a commit to the log; nil for none.
func (s *commitStream) committed(out streamed, entry *stream.Sealed) {
	if out.begins {
		s.leave(stream.Head{Epoch: out.head.Epoch, Time: out.head.Time})
	}
	s.head = out.head
	if entry == nil {
		return
	}
	err := out.log.Append(entry)
	if err == nil {
		return
	}
	if disk.IsFull(err) { // what is here takes space from the data
		err = errors.Join(err, out.log.Clear())
	}
	s.failed.Store(&err)
}

// openStream reads the position of data.db and continues the stream, if it is to be on and secret.key
// is the key of the database. It runs before anything is written through Update.
func (db *DB) openStream() error {
	err := db.View(engine{}, func(tx *Tx) (err error) {
		if db.stream.head, err = tx.streamHead(); err == nil && db.keys != nil && !db.keys.unwritten {
			db.keys.current, err = tx.choose(db.keys)
		}
		return err
	})
	if err != nil || db.keys == nil || db.keys.current == nil {
		return err
	}
	return db.startStream()
}

// startStream turns the stream on if it is to be on and is not yet.
func (db *DB) startStream() error {
	if db.options.Stream == nil || db.keys.current == nil || db.stream.log.Load() != nil {
		return nil
	}
	return db.attachStream(*db.options.Stream)
}

// attachStream opens the log. If its position is another one than that of data.db, an epoch begins.
// The writer must not be running, or be kept away.
func (db *DB) attachStream(o StreamOptions) error {
	key, err := db.DerivedKey(streamKey)
	if err != nil {
		return err
	}
	server, err := seal.NewKey(key, "reeve-server", "")
	if err != nil {
		return err
	}
	log, err := stream.OpenLog(filepath.Join(db.dir, streamDir), stream.Options{
		Instance:   db.instance,
		Server:     server,
		Recipients: o.Recipients,
	})
	if err != nil {
		return fmt.Errorf("open the commit stream: %w", err)
	}
	head, last := db.stream.head, log.Head()
	switch {
	case db.commits != nil:
		if head != last {
			err = log.Clear() // others have gone on without it
		}
	case head.Epoch == "" || head != last && (head.Number != 0 || last.Epoch == head.Epoch):
		head, err = db.beginEpoch()
	}
	if err == nil {
		err = log.Begin(head)
	}
	if err != nil {
		return errors.Join(err, log.Close())
	}
	db.stream.head = head
	db.stream.opened.Store(&head)
	db.stream.failed.Store(nil)
	db.stream.log.Store(log)
	return nil
}

// SetStream turns the commit stream on, with these options, or off: nil. If it is on but has failed,
// it begins again.
func (db *DB) SetStream(o *StreamOptions) (err error) {
	if err := db.Healthy(); err != nil {
		return err
	}
	db.writing <- struct{}{}
	defer func() { <-db.writing }()
	if log := db.stream.log.Swap(nil); log != nil {
		if err := log.Close(); err != nil {
			return err
		}
	}
	if o == nil {
		return nil
	}
	return db.attachStream(*o)
}

// Stream returns the log of the commit stream, and why it gets no more entries. It is nil while the
// stream is off.
func (db *DB) Stream() (log *stream.Log, err error) {
	log = db.stream.log.Load()
	if failed := db.stream.failed.Load(); failed != nil {
		return log, *failed
	}
	return log, nil
}

func (db *DB) closeStream() error {
	log := db.stream.log.Load()
	if log == nil {
		return nil
	}
	return log.Close()
}
