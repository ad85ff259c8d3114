package store

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

	"reeve/store/disk"
)

// backupPattern names a copy of data.db on its way into a backup.
const backupPattern = "backup-*.tmp"

// Backup is a backup that is ready to be written, as often as one likes: see
// archive.go for what it looks like. As long as it is not closed, no bytes of files
// are deleted.
type Backup struct {
	manifest manifest
	text     []byte   // of the manifest
	data     *os.File // a copy of data.db that has no name any more
	key      []byte   // of secret.key; nil if it is left out
	blobs    *blobs
	size     int64
	release  func()
}

// Backup makes a consistent copy of the records in the data directory, syncs and
// verifies it, and holds the bytes of the files that it refers to. It runs while
// others read and write. Close must be called in the end.
//
// The copy has secret.key only if withKey is true, which is for a backup that is
// encrypted: with it, whoever reads the backup reads every secret value.
func (db *DB) Backup(withKey bool) (*Backup, error) {
	b := &Backup{release: func() {}}
	err := b.prepare(db, withKey)
	if err == nil {
		return b, nil
	}
	if disk.IsFull(err) {
		err = errFull(err)
	}
	return nil, errors.Join(err, b.Close())
}

func (b *Backup) prepare(db *DB, withKey bool) (err error) {
	if db.files != nil {
		if b.blobs, err = db.files.open(); err != nil {
			return err
		}
		b.release = b.blobs.hold() // before the copy is made: whatever it refers to stays
	}
	refs, err := b.copyData(db)
	if err != nil {
		return err
	}
	if withKey {
		if b.key, err = os.ReadFile(filepath.Join(db.dir, keyName)); err != nil {
			return err
		}
	}
	b.manifest = manifest{Format: archiveFormat, Version: db.options.Version, Instance: db.instance, Time: db.clock()}
	if err := b.list(refs); err != nil {
		return err
	}
	if b.text, err = b.manifest.encode(); err != nil {
		return err
	}
	b.size, err = b.manifest.size(b.text)
	return err
}

// copyData makes the copy of data.db and says who refers to which bytes in it.
func (b *Backup) copyData(db *DB) (refs []blobRef, err error) {
	f, err := os.CreateTemp(db.dir, backupPattern)
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
		b.data, err = os.Open(path)
	}
	// Once open it needs no name, and no crash from here on leaves it behind.
	return refs, errors.Join(err, os.Remove(path))
}

// list fills in the entries of the manifest.
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
				return fmt.Errorf("%s %d: %w", r.noun, r.id, err)
			}
			size = blob.Size()
			sizes[r.digest] = size
		}
		if r.size >= 0 && r.size != size {
			return fmt.Errorf("%s %d: it says %d bytes, there are %d", r.noun, r.id, r.size, size)
		}
	}
	b.manifest.Entries = []archiveEntry{{dataName, n, Digest(sum.Sum(nil))}}
	if b.key != nil {
		b.manifest.Entries = append(b.manifest.Entries, archiveEntry{keyName, int64(len(b.key)), sha256.Sum256(b.key)})
	}
	for _, d := range slices.SortedFunc(maps.Keys(sizes), func(x, y Digest) int { return bytes.Compare(x[:], y[:]) }) {
		b.manifest.Entries = append(b.manifest.Entries, archiveEntry{archiveFiles + d.String(), sizes[d], d})
	}
	return nil
}

// Size is how many bytes WriteTo writes.
func (b *Backup) Size() int64 { return b.size }

// WriteTo writes the archive. Everything is held against its digest on the way; an
// error leaves what was written without its end.
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
	blob, err := b.blobs.reader(e.SHA256)
	if err != nil {
		return err
	}
	return e.copyExact(out, blob)
}

// Close frees what the backup holds.
func (b *Backup) Close() error {
	b.release()
	b.release = func() {}
	if b.data == nil {
		return nil
	}
	return b.data.Close()
}

// countWriter counts what is written.
type countWriter struct {
	w io.Writer
	n int64
}

func (c *countWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// copyTo writes a consistent copy to path, whole or not at all.
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

// keepError keeps the first error of a writer, of which bbolt passes on the text alone.
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
