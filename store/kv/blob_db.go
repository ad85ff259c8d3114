package kv

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/errs"
)

// files is the files database of a DB. It is opened in the background, because bbolt scans the
// whole file and only operations on files have to wait for it.
type files struct {
	ready    chan struct{} // closed once blobs or err is set
	blobs    *blobs
	err      error
	warnings []string

	mu    sync.Mutex
	early []Digest // digests that were released before the file was open
}

// openFiles starts to open files.db. It is an error if the file is missing although data.db has
// records of files: the content was lost.
func (db *DB) openFiles() error {
	if !db.schema.hasFiles() {
		return nil
	}
	db.files = &files{ready: make(chan struct{})}
	path := filepath.Join(db.dir, blobsName)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		n := 0
		err = db.View(engine{}, func(tx *Tx) (err error) {
			n, err = db.schema.countContent(tx)
			return err
		})
		if err == nil && n > 0 {
			err = fmt.Errorf("%s is missing though %s has %s; put it back, or restore a backup with `reeve restore FILE`", path, dataName, errs.Count(n, "file"))
		}
	case err == nil && info.Size() == 0:
		err = fmt.Errorf("%s is empty: it was cut off or never written; put it back, restore a backup with `reeve restore FILE`, or remove it if there were no files", path)
	}
	if err != nil {
		close(db.files.ready)
		return err
	}
	go func() {
		defer close(db.files.ready)
		defer func() { db.noteDamage(db.files.err) }()
		opened, warnings, err := openBlobs(path, db.instance, db.references, db.fileLimits)
		db.files.mu.Lock()
		defer db.files.mu.Unlock()
		db.files.blobs, db.files.warnings, db.files.err = opened, warnings, err
		if opened != nil {
			opened.note = db.noteBlob
			for _, b := range opened.broken {
				db.noteBlob(b.digest, b.err)
			}
			opened.suspect(db.files.early...)
		}
	}()
	return nil
}

// references reports whether a record refers to a blob. After a write failure it returns an
// error, because a deletion that is visible may not be on the disk.
func (db *DB) references(d Digest) (used bool, err error) {
	if _, err := db.failed.Since(); err != nil {
		return false, err
	}
	err = db.View(engine{}, func(tx *Tx) error {
		n, err := db.schema.refersTo(tx, d)
		used = n > 0
		return err
	})
	return used, err
}

func (db *DB) fileLimits() (quota, floor int64) {
	if db.schema.FileLimits == nil {
		return 0, 0
	}
	err := db.View(engine{}, func(tx *Tx) error {
		quota, floor = db.schema.FileLimits(tx)
		return nil
	})
	if err != nil {
		return 0, 0 // the limits are read from a cache
	}
	return quota, floor
}

// released makes the sweeper check blobs after a commit that removed references to them.
func (f *files) released(ds []Digest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.blobs == nil {
		f.early = append(f.early, ds...)
		return
	}
	f.blobs.suspect(ds...)
}

// open waits until the files database is open and returns it.
func (f *files) open() (*blobs, error) {
	<-f.ready
	if f.err != nil {
		return nil, errs.New(errs.Busy,
			"files are unavailable: the files database could not be opened; see the server log").
			Coded("files_unavailable").Because(f.err)
	}
	return f.blobs, nil
}

func (f *files) close() error {
	if f == nil {
		return nil
	}
	if <-f.ready; f.blobs == nil {
		return nil
	}
	return f.blobs.close()
}

// FilesOpened waits until the files database is open or could not be opened. It returns warnings
// about damage and repairs, and the reason if it is unusable.
func (db *DB) FilesOpened() (warnings []string, err error) {
	if db.files == nil {
		return nil, nil
	}
	<-db.files.ready
	return db.files.warnings, db.files.err
}

// NewUpload starts an upload, or returns Full if the quota or the disk is exhausted. The caller
// must call Release.
func (db *DB) NewUpload() (*Upload, error) {
	b, err := db.files.open()
	if err != nil {
		return nil, err
	}
	return b.upload(), b.room(0)
}

// OpenBlob returns a reader of the blob with this digest.
func (db *DB) OpenBlob(d Digest) (*Blob, error) {
	b, err := db.files.open()
	if err != nil {
		return nil, err
	}
	return b.reader(d)
}

// Thumb returns the thumbnail that is stored with a blob under a name, or nil if there is none.
func (db *DB) Thumb(d Digest, name string) (picture []byte, err error) {
	b, err := db.files.open()
	if err != nil {
		return nil, err
	}
	key := append(d[:], name...)
	return picture, b.view(func(btx *bbolt.Tx) error {
		payload, err := disk.Unframe(thumbBucket, key, btx.Bucket([]byte(thumbBucket)).Get(key))
		if err == nil { // the caller computes a missing or damaged one again
			picture = bytes.Clone(payload)
		}
		return nil
	})
}

// SaveThumb stores a thumbnail with a blob under a name. It is deleted with the blob; if there
// is no such blob, nothing is stored.
func (db *DB) SaveThumb(d Digest, name string, picture []byte) error {
	b, err := db.files.open()
	if err == nil {
		err = b.room(int64(len(picture)))
	}
	if err != nil {
		return err
	}
	key := append(d[:], name...)
	return b.update(func(btx *bbolt.Tx) error {
		if btx.Bucket([]byte(blobBucket)).Get(d[:]) == nil {
			return nil
		}
		return btx.Bucket([]byte(thumbBucket)).Put(key, disk.Frame(thumbBucket, key, picture))
	})
}
