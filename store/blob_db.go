package store

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

// files is the database's file of blobs, which is opened in the background: the
// larger it is, the longer bbolt walks through it, and nothing but files waits.
type files struct {
	ready    chan struct{} // closed when one of the next two is there
	blobs    *blobs
	err      error
	warnings []string

	mu    sync.Mutex
	early []Digest // released before it was open
}

// openFiles begins to open files.db. If data.db has files and theirs is missing,
// that is a loss and not a beginning.
func (db *DB) openFiles() error {
	if !hasFiles(db.schema) {
		return nil
	}
	db.files = &files{ready: make(chan struct{})}
	path := filepath.Join(db.dir, blobsName)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		n := 0
		err = db.View(System, func(tx *Tx) error {
			files, err := Files.Count(tx)
			avatars, err2 := Avatars.Count(tx)
			n = files + avatars
			return errors.Join(err, err2)
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
		opened, warnings, err := openBlobs(path, db.instance, db.references, db.fileLimits)
		db.files.mu.Lock()
		defer db.files.mu.Unlock()
		db.files.blobs, db.files.warnings, db.files.err = opened, warnings, err
		if opened != nil {
			opened.suspect(db.files.early...)
		}
	}()
	return nil
}

// references tells whether a record leads to a blob. Once writing has stopped nobody
// knows: a deletion that is seen may not be on the disk.
func (db *DB) references(d Digest) (used bool, err error) {
	if _, err := db.failed.since(); err != nil {
		return false, err
	}
	err = db.View(System, func(tx *Tx) error {
		files, err := FileByDigest.Count(tx, d.String())
		avatars, err2 := AvatarByDigest.Count(tx, d.String())
		used = files+avatars > 0
		return errors.Join(err, err2)
	})
	return used, err
}

func (db *DB) fileLimits() (quota, floor int64) {
	err := db.View(System, func(tx *Tx) error {
		quota, floor = int64(FileQuota.Get(tx))<<20, int64(FileFloor.Get(tx))<<20
		return nil
	})
	if err != nil {
		return 0, 0 // both come from memory
	}
	return quota, floor
}

// released has blobs looked at after a commit that took references away.
func (f *files) released(ds []Digest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.blobs == nil {
		f.early = append(f.early, ds...)
		return
	}
	f.blobs.suspect(ds...)
}

// open waits until the files can be used.
func (f *files) open() (*blobs, error) {
	<-f.ready
	if f.err != nil {
		return nil, errs.New(errs.Busy, "files cannot be used: their database could not be opened; the log of the start says why").
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

// FilesOpened waits until files can be used or never will be: the error says why,
// the warnings what was noticed and mended.
func (db *DB) FilesOpened() (warnings []string, err error) {
	if db.files == nil {
		return nil, nil
	}
	<-db.files.ready
	return db.files.warnings, db.files.err
}

// NewUpload begins to take the bytes of a file. Release must be called in the end.
func (db *DB) NewUpload() (*Upload, error) {
	b, err := db.files.open()
	if err != nil {
		return nil, err
	}
	return b.upload(), b.room(0)
}

// OpenBlob reads the bytes that have a digest.
func (db *DB) OpenBlob(d Digest) (*Blob, error) {
	b, err := db.files.open()
	if err != nil {
		return nil, err
	}
	return b.reader(d)
}

// Thumb returns a small picture that was kept with a blob under a name; nil when
// there is none.
func (db *DB) Thumb(d Digest, name string) (picture []byte, err error) {
	b, err := db.files.open()
	if err != nil {
		return nil, err
	}
	key := append(d[:], name...)
	return picture, b.view(func(btx *bbolt.Tx) error {
		payload, err := disk.Unframe(thumbBucket, key, btx.Bucket([]byte(thumbBucket)).Get(key))
		if err == nil { // one that is missing or damaged is made again
			picture = bytes.Clone(payload)
		}
		return nil
	})
}

// KeepThumb keeps a small picture with a blob, as long as there is the blob.
func (db *DB) KeepThumb(d Digest, name string, picture []byte) error {
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
