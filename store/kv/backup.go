package kv

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"reeve/store/audit"
	"reeve/store/blob"
	"reeve/store/stream"
)

// backupPattern matches the temporary copy of data.db that a backup is made from.
const backupPattern = "backup-*.tmp"

// Backup is a prepared backup. It can be written any number of times; archive.go documents the
// format. While it is open, no content of files is deleted.
type Backup struct {
	manifest manifest
	text     []byte      // encoded manifest
	data     snapshot    // copy of data.db
	segments []*os.File  // files of the change log, in the order of the manifest
	key      []byte      // content of secret.key; nil if not included
	records  int         // number of records in the copy
	logHead  *audit.Head // head of the copy
	stream   stream.Head // position of the copy in the commit stream
	blobs    *blob.Store
	apart    bool // whether the archive lacks the content of files
	size     int64
	release  func()
}

// data.db is copied, unless no place has room for a copy: then it is read from the file itself, by
// a liveData. That transaction stays open while the client downloads data.db, during which writers
// can't reuse the pages that it can reach, and can't extend the memory map of the file. So it is
// the exception, and gives way to writes.

// snapshot is data.db at one moment. It reads the same bytes any number of times.
type snapshot interface {
	io.ReaderAt
	io.Closer
}

// Backup makes a consistent copy of data.db in the data directory, syncs and verifies it, and
// keeps the content of the files that it refers to from being deleted. Reads and writes continue.
// The caller must call Close.
//
// If no place has room for the copy, the backup can be written only once, and fails when ctx ends
// or a write has to wait for it, see liveData.
//
// The backup includes secret.key only if withKey is true. Set it only for a backup that is
// encrypted, because the key reveals every secret value.
func (db *DB) Backup(ctx context.Context, withKey bool) (*Backup, error) {
	return db.backup(withKey, func(b *Backup) ([]blobRef, error) { return b.copyData(ctx, db) })
}

// BackupRecords is Backup for an archive that lacks the content of files, see Contents.
func (db *DB) BackupRecords(ctx context.Context, withKey bool) (*Backup, error) {
	return db.backup(withKey, func(b *Backup) ([]blobRef, error) {
		b.apart = true
		return b.copyData(ctx, db)
	})
}

// backup is Backup with the function that sets the snapshot and the head of the log in it, and
// returns the references to blobs in it.
func (db *DB) backup(withKey bool, take func(*Backup) ([]blobRef, error)) (*Backup, error) {
	b := &Backup{release: func() {}}
	if err := b.prepare(db, withKey, take); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Backup) prepare(db *DB, withKey bool, take func(*Backup) ([]blobRef, error)) (err error) {
	if db.files != nil {
		if b.blobs, err = db.files.open(); err != nil {
			return err
		}
		b.release = b.blobs.Hold() // before the copy is made, so that no blob it refers to is deleted
	}

	refs, err := b.takeRecords(db, take)
	if err != nil {
		return err
	}
	if withKey {
		if b.key, err = os.ReadFile(filepath.Join(db.dir, keyName)); err != nil {
			return err
		}
	}

	b.manifest = manifest{
		Format:   archiveFormat,
		Version:  db.options.Version,
		Instance: db.instance,
		Time:     db.clock(),
	}

	if b.apart {
		b.manifest.Format = apartFormat
	}

	b.manifest.LogHead, b.manifest.Records = b.logHead, b.records
	if err := b.list(refs); err != nil {
		return err
	}
	if b.text, err = b.manifest.encode(); err != nil {
		return err
	}

	b.size, err = b.manifest.size(b.text)
	return err
}

// takeRecords takes the snapshot, and opens the segments of the change log that belong to it: none
// is added or dropped between the two, so that the log in the archive has neither a gap nor entries
// that are newer than the snapshot.
func (b *Backup) takeRecords(db *DB,
	take func(*Backup) ([]blobRef, error)) (refs []blobRef, err error) {
	if db.log == nil {
		return take(b)
	}
	db.log.gate.Lock()
	defer db.log.gate.Unlock()
	for _, s := range db.log.segments.Segments() {
		f, err := os.Open(s.Path)
		if err != nil {
			return nil, err
		}
		b.segments = append(b.segments, f)
	}
	return take(b)
}

// readHeads reads the position of the copy in the change log and in the commit stream.
func (b *Backup) readHeads(path string, db *DB) error {
	return readOnly(path, db.options, func(tx *Tx) error { return b.headsIn(tx) })
}

func (b *Backup) headsIn(tx *Tx) (err error) {
	if tx.db.schema.LogEntry != nil {
		if b.logHead, err = tx.head(); err != nil {
			return err
		}
	}
	b.stream, err = tx.streamHead()
	return err
}

// list sets the entries of the manifest.
func (b *Backup) list(refs []blobRef) error {
	sum := sha256.New()
	n, err := io.Copy(sum, io.NewSectionReader(b.data, 0, math.MaxInt64))
	if err != nil {
		return err
	}

	sizes := map[blob.Digest]int64{}
	for _, r := range refs {
		size, known := sizes[r.digest]
		if !known {
			content, err := b.blobs.Reader(r.digest)
			if err != nil {
				return fmt.Errorf("%s %d: %w", r.of.Noun(), r.id, err)
			}
			size = content.Size()
			sizes[r.digest] = size
		}
		if r.size >= 0 && r.size != size {
			return fmt.Errorf("%s %d: it says %d bytes, there are %d", r.of.Noun(), r.id, r.size,
				size)
		}
	}

	b.manifest.Entries = []archiveEntry{{dataName, n, blob.Digest(sum.Sum(nil))}}
	if b.key != nil {
		b.manifest.Entries = append(b.manifest.Entries,
			archiveEntry{keyName, int64(len(b.key)), sha256.Sum256(b.key)})
	}

	for _, f := range b.segments {
		sum := sha256.New()
		n, err := io.Copy(sum, f)
		if err != nil {
			return err
		}
		b.manifest.Entries = append(b.manifest.Entries,
			archiveEntry{archiveAudit + filepath.Base(f.Name()), n, blob.Digest(sum.Sum(nil))})
	}

	for _, c := range contentsOf(sizes) {
		if b.apart {
			b.manifest.Apart = append(b.manifest.Apart, c)
			continue
		}
		b.manifest.Entries = append(b.manifest.Entries,
			archiveEntry{archiveFiles + c.SHA256.String(), c.Size, c.SHA256})
	}

	return nil
}

// Contents returns the content of files that the archive of BackupRecords lacks, sorted by digest.
func (b *Backup) Contents() []Content { return b.manifest.Apart }

// Files returns the number of contents of files in the backup.
func (b *Backup) Files() int {
	return len(b.manifest.Entries) - b.manifest.files() + len(b.manifest.Apart)
}

// Open returns a reader of a content of Contents.
func (b *Backup) Open(c Content) (io.Reader, error) {
	r, err := b.blobs.Reader(c.SHA256)
	if err != nil {
		return nil, err
	}
	return r.Passing(), nil
}

// Time returns the time of the backup.
func (b *Backup) Time() Time { return b.manifest.Time }

// Records returns the number of records in the backup.
func (b *Backup) Records() int { return b.records }

// LogHead returns the newest entry of the change log in the backup.
func (b *Backup) LogHead() *audit.Head { return b.logHead }

// StreamHead returns the position of the backup in the commit stream; the zero Head if no entry
// continues it.
func (b *Backup) StreamHead() stream.Head { return b.stream }

// Size returns the number of bytes that WriteTo writes.
func (b *Backup) Size() int64 { return b.size }

// WriteTo writes the archive and checks every entry against its digest while it does so. After
// an error the output lacks the end of the archive, so that it cannot pass for a complete one.
func (b *Backup) WriteTo(w io.Writer) (int64, error) {
	counted := &countWriter{w: w}
	out := tar.NewWriter(counted)
	err := out.WriteHeader(b.manifest.ownHeader(b.text))
	if err == nil {
		_, err = out.Write(b.text)
	}
	for i := 0; i < len(b.manifest.Entries) && err == nil; i++ {
		err = b.writeEntry(out, b.manifest.Entries[i])
	}
	if err == nil {
		err = out.Close()
	}
	return counted.n, err
}

func (b *Backup) writeEntry(out *tar.Writer, e archiveEntry) error {
	if err := out.WriteHeader(b.manifest.header(e)); err != nil {
		return err
	}

	switch e.Name {
	case dataName:
		err := e.copyExact(out, io.NewSectionReader(b.data, 0, e.Size))
		if live, ok := b.data.(*liveData); ok {
			err = errors.Join(err, live.Close()) // the transaction is not needed any more
		}
		return err
	case keyName:
		return e.copyExact(out, bytes.NewReader(b.key))
	}

	for _, f := range b.segments {
		if e.Name == archiveAudit+filepath.Base(f.Name()) {
			return e.copyExact(out, io.NewSectionReader(f, 0, e.Size))
		}
	}

	content, err := b.blobs.Reader(e.SHA256)
	if err != nil {
		return err
	}

	return e.copyExact(out, content.Passing())
}

// Close frees the snapshot of data.db and lets unreferenced content be deleted again. It can be
// called more than once.
func (b *Backup) Close() error {
	b.release()
	b.release = func() {}
	var err error
	for _, f := range b.segments {
		err = errors.Join(err, f.Close())
	}
	b.segments = nil
	if b.data == nil {
		return err
	}
	return errors.Join(err, b.data.Close())
}

// countWriter counts the bytes that are written to w.
type countWriter struct {
	w io.Writer
	n int64
}

func (c *countWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
