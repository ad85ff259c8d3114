package kv

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"go.etcd.io/bbolt"

	"reeve/store/audit"
	"reeve/store/disk"
	"reeve/store/errs"
)

// backupPattern matches the temporary copy of data.db that a backup is made from.
const backupPattern = "backup-*.tmp"

// Backup is a prepared backup. It can be written any number of times; archive.go documents the
// format. While it is open, no content of files is deleted.
type Backup struct {
	manifest manifest
	text     []byte      // encoded manifest
	data     *os.File    // copy of data.db, already unlinked
	segments []*os.File  // of the change log, in the order of the manifest
	key      []byte      // content of secret.key; nil if not included
	logHead  *audit.Head // of the copy
	blobs    *blobs
	size     int64
	release  func()
}

// Why a copy, and not a stream from a read transaction: the archive begins with the SHA-256 of data.db, so the
// same bytes would have to be read twice, and pages that the snapshot does not use change between the two, since
// writers reuse them. And the transaction would stay open as long as the client downloads, during which no page
// that a deletion frees can be reused: on a full disk nothing could be deleted any more.

// Backup makes a consistent copy of data.db in the data directory, syncs and verifies it, and
// keeps the content of the files that it refers to from being deleted. Reads and writes
// continue meanwhile. The caller must call Close.
//
// The backup includes secret.key only if withKey is true. Set it only for a backup that is
// encrypted, because the key reveals every secret value.
func (db *DB) Backup(withKey bool) (*Backup, error) {
	b := &Backup{release: func() {}}
	err := b.prepare(db, withKey)
	if err == nil {
		return b, nil
	}
	if disk.IsFull(err) {
		size := int64(0)
		if info, statErr := os.Stat(db.path); statErr == nil {
			size = info.Size()
		}
		err = errs.New(errs.Full, "the disk is full: a backup begins with a copy of data.db, %d MiB, and neither the data directory nor the directory for temporary files (TMPDIR) has room for it; free disk space, or start the server with TMPDIR on another disk", size>>20+1).Because(err)
	}
	return nil, errors.Join(err, b.Close())
}

func (b *Backup) prepare(db *DB, withKey bool) (err error) {
	if db.files != nil {
		if b.blobs, err = db.files.open(); err != nil {
			return err
		}
		b.release = b.blobs.hold() // before the copy is made, so that no blob it refers to is deleted
	}
	refs, err := b.copyRecords(db)
	if err != nil {
		return err
	}
	if withKey {
		if b.key, err = os.ReadFile(filepath.Join(db.dir, keyName)); err != nil {
			return err
		}
	}
	b.manifest = manifest{Format: archiveFormat, Version: db.options.Version, Instance: db.instance, Time: db.clock()}
	b.manifest.LogHead = b.logHead
	if err := b.list(refs); err != nil {
		return err
	}
	if b.text, err = b.manifest.encode(); err != nil {
		return err
	}
	b.size, err = b.manifest.size(b.text)
	return err
}

// copyRecords copies data.db, and opens the segments of the change log that belong to the copy: none
// is added or dropped meanwhile, so that the log in the archive has neither a gap nor entries that are
// newer than the copy.
func (b *Backup) copyRecords(db *DB) (refs []blobRef, err error) {
	if db.log == nil {
		return b.copyData(db)
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
	return b.copyData(db)
}

// copyData makes and verifies the copy of data.db and returns the references to blobs in it. Without
// space in the data directory, the copy is in the directory for temporary files.
func (b *Backup) copyData(db *DB) (refs []blobRef, err error) {
	refs, err = b.copyDataIn(db, db.dir)
	if disk.IsFull(err) {
		refs, err = b.copyDataIn(db, os.TempDir())
	}
	return refs, err
}

func (b *Backup) copyDataIn(db *DB, dir string) (refs []blobRef, err error) {
	f, err := os.CreateTemp(dir, backupPattern)
	if err != nil {
		return nil, err
	}
	path := f.Name()
	if err = errors.Join(f.Close(), db.copyTo(path)); err == nil {
		var report *Report
		if report, refs, _, err = inspect(path, db.options); err == nil {
			err = report.err("the database")
		}
		if err != nil {
			err = fmt.Errorf("verify the backup: %w", err)
		}
	}
	if err == nil {
		b.logHead = db.headIn(path)
		b.data, err = os.Open(path)
	}
	// Unlinked while it is open, so that a crash leaves no file behind.
	return refs, errors.Join(err, os.Remove(path))
}

// list sets the entries of the manifest.
func (b *Backup) list(refs []blobRef) error {
	sum := sha256.New()
	n, err := io.Copy(sum, b.data)
	if err != nil {
		return err
	}
	sizes := map[Digest]int64{}
	for _, r := range refs {
		size, known := sizes[r.digest]
		if !known {
			blob, err := b.blobs.reader(r.digest)
			if err != nil {
				return fmt.Errorf("%s %d: %w", r.of.Noun(), r.id, err)
			}
			size = blob.Size()
			sizes[r.digest] = size
		}
		if r.size >= 0 && r.size != size {
			return fmt.Errorf("%s %d: it says %d bytes, there are %d", r.of.Noun(), r.id, r.size, size)
		}
	}
	b.manifest.Entries = []archiveEntry{{dataName, n, Digest(sum.Sum(nil))}}
	if b.key != nil {
		b.manifest.Entries = append(b.manifest.Entries, archiveEntry{keyName, int64(len(b.key)), sha256.Sum256(b.key)})
	}
	for _, f := range b.segments {
		sum := sha256.New()
		n, err := io.Copy(sum, f)
		if err != nil {
			return err
		}
		b.manifest.Entries = append(b.manifest.Entries, archiveEntry{archiveAudit + filepath.Base(f.Name()), n, Digest(sum.Sum(nil))})
	}
	for _, d := range slices.SortedFunc(maps.Keys(sizes), func(x, y Digest) int { return bytes.Compare(x[:], y[:]) }) {
		b.manifest.Entries = append(b.manifest.Entries, archiveEntry{archiveFiles + d.String(), sizes[d], d})
	}
	return nil
}

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
		return e.copyExact(out, io.NewSectionReader(b.data, 0, e.Size))
	case keyName:
		return e.copyExact(out, bytes.NewReader(b.key))
	}
	for _, f := range b.segments {
		if e.Name == archiveAudit+filepath.Base(f.Name()) {
			return e.copyExact(out, io.NewSectionReader(f, 0, e.Size))
		}
	}
	blob, err := b.blobs.reader(e.SHA256)
	if err != nil {
		return err
	}
	return e.copyExact(out, blob)
}

// Close frees the copy of data.db and lets unreferenced content be deleted again. It can be
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

// copyTo writes a consistent copy of data.db to path, atomically.
func (db *DB) copyTo(path string) error {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	out := &keepError{w: f}
	err = disk.RecoverDamage(db.path, func() error {
		return db.bolt.View(func(btx *bbolt.Tx) error {
			db.stats.begin(btx)
			defer db.stats.end(btx)
			_, err := btx.WriteTo(out)
			return err
		})
	})
	if err = errors.Join(err, out.err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path+".new"))
	}
	return disk.MoveFile(path+".new", path)
}

// keepError records the first error of a writer. bbolt returns only its text, so that errors.Is
// would not find a full disk.
type keepError struct {
	w   io.Writer
	err error
}

func (k *keepError) Write(b []byte) (int, error) {
	n, err := k.w.Write(b)
	if k.err == nil {
		k.err = err
	}
	return n, err
}
