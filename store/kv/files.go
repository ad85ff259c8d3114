package kv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"reeve/store/blob"
	"reeve/store/errs"
)

// files is the files database of a DB. It is opened in the background, because bbolt scans the
// whole file and only operations on files have to wait for it.
type files struct {
	ready    chan struct{} // closed once blobs or err is set
	blobs    *blob.Store
	remote   *blob.Remote // nil without Options.Files
	err      error
	warnings []string

	mu    sync.Mutex
	early []blob.Digest // digests to check that came before the file was open
}

// openFiles starts to open files.db. It is an error if the file is missing although data.db has
// records of files: the content was lost.
func (db *DB) openFiles() error {
	if !db.schema.hasFiles() {
		return nil
	}

	db.files = &files{ready: make(chan struct{})}
	options := blob.Options{
		Instance:   db.instance,
		Referenced: db.references,
		Limits:     db.fileLimits,
		Note:       db.noteBlob,
		Object:     db.object,
	}
	if storage := db.options.Files; storage != nil {
		db.files.remote = blob.NewRemote(storage.Storage, db.instance, db.contentKey)
		options.Remote, options.Cache = db.files.remote, storage.Cache
	}
	path := filepath.Join(db.dir, blob.FileName)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		n := 0
		err = db.View(engine{}, func(tx *Tx) (err error) {
			n, err = db.schema.countContent(tx, db.options.Files != nil)
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
		db.openBlobs(path, options)
		if db.commits != nil && db.files.remote != nil {
			db.checkObjects()
		}
	}()

	return nil
}

func (db *DB) openBlobs(path string, options blob.Options) {
	defer close(db.files.ready)
	defer func() { db.noteDamage(db.files.err) }()
	opened, warnings, err := blob.Open(path, options)
	db.files.mu.Lock()
	defer db.files.mu.Unlock()
	db.files.blobs, db.files.warnings, db.files.err = opened, warnings, err
	if opened != nil {
		opened.Suspect(db.files.early...)
	}
}

// checkObjects makes the sweeper check the contents that are objects: another node may have stored them while
// this one was away. It ends when the database is closed.
func (db *DB) checkObjects() {
	for after, more := ID(0), true; more; {
		var ds []blob.Digest
		err := db.View(engine{}, func(tx *Tx) error {
			rows, err := objectsAfter(tx, after, keepStep)
			for _, o := range rows {
				after = o.ID
				if d, err := o.digest(); err == nil && o.ReleasedAt == 0 {
					ds = append(ds, d)
				}
			}
			more = len(rows) == keepStep
			return err
		})
		if err != nil {
			return
		}
		db.files.check(ds)
	}
}

// bucketNeeded returns an error if records have contents that only the bucket has, and Options.Files
// does not name one.
func (db *DB) bucketNeeded() error {
	if db.options.Files != nil || !db.schema.hasObjects() {
		return nil
	}
	lacking := 0
	for after, more := ID(0), true; more; {
		var rows []*StoredObject
		err := db.View(engine{}, func(tx *Tx) (err error) {
			rows, err = objectsAfter(tx, after, keepStep)
			return err
		})
		if err != nil {
			return err
		}
		more = len(rows) == keepStep
		for _, o := range rows {
			after = o.ID
			if o.SHA256 == "" || o.ReleasedAt != 0 {
				continue
			}
			whole, err := db.isWhole(o)
			if err != nil {
				return err
			}
			if !whole {
				lacking++
			}
		}
	}
	if lacking == 0 {
		return nil
	}
	return fmt.Errorf("%s of files are only in the bucket that [files.s3] of the configuration has named: put these keys back; to do without them, run `reeve files move local` first",
		errs.Count(lacking, "content"))
}

func (db *DB) isWhole(o *StoredObject) (bool, error) {
	b, err := db.files.open()
	if err != nil {
		return false, err
	}
	d, err := o.digest()
	if err != nil {
		return false, err
	}
	return b.Whole(d)
}

// references reports whether a record refers to a blob. After a write failure it returns an
// error, because a deletion that is visible may not be on the disk.
func (db *DB) references(d blob.Digest) (used bool, err error) {
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

// check makes the sweeper check blobs after a commit that has removed references to them, or that applied
// entries which have added some.
func (f *files) check(ds []blob.Digest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.blobs == nil {
		f.early = append(f.early, ds...)
		return
	}
	f.blobs.Suspect(ds...)
}

// open waits until the files database is open and returns it.
func (f *files) open() (*blob.Store, error) {
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
	return f.blobs.Close()
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
func (db *DB) NewUpload() (*blob.Upload, error) {
	b, err := db.files.open()
	if err != nil {
		return nil, err
	}
	return b.Upload(), b.Room(0)
}

// OpenBlob returns a reader of the blob with this digest.
func (db *DB) OpenBlob(d blob.Digest) (*blob.Reader, error) {
	b, err := db.files.open()
	if err != nil {
		return nil, err
	}
	return b.Reader(d)
}

// HasBlob reports whether the blob with this digest is, or may be, in the files database.
func (db *DB) HasBlob(d blob.Digest) bool {
	_, err := db.OpenBlob(d)
	return !errs.Is(err, errs.NotFound)
}

// Thumb returns the thumbnail that is stored with a blob under a name, or nil if there is none.
func (db *DB) Thumb(d blob.Digest, name string) (picture []byte, err error) {
	b, err := db.files.open()
	if err != nil {
		return nil, err
	}
	return b.Thumb(d, name)
}

// SaveThumb stores a thumbnail with a blob under a name. It is deleted with the blob; if there is no
// such blob, nothing is stored.
func (db *DB) SaveThumb(d blob.Digest, name string, picture []byte) error {
	b, err := db.files.open()
	if err != nil {
		return err
	}
	return b.SaveThumb(d, name, picture)
}

// VerifyFiles adds faults in the files database to a report. It reads all content, while others
// read and write.
func (db *DB) VerifyFiles(report *Report) error {
	if db.files == nil {
		return nil // the schema has no collection with content
	}

	b, err := db.files.open()
	if err != nil {
		return err
	}

	defer b.Hold()()
	var refs []blobRef // read before the blobs are, which stay while they are held
	err = db.View(engine{}, func(tx *Tx) error {
		refs = tx.db.schema.blobRefs(tx)
		return nil
	})
	if err != nil {
		return err
	}

	sizes, err := b.Verify(context.Background(), report.fault)
	if err == nil {
		report.addFiles(sizes, refs)
	}

	return err
}

// inspectFiles is VerifyFiles for a file that no process has open.
func inspectFiles(ctx context.Context, path, instance string, refs []blobRef, filled bool,
	report *Report) error {
	sizes, err := blob.Inspect(ctx, path, instance, objectsOf(refs), filled, report.fault)
	if errors.Is(err, fs.ErrNotExist) && !slices.ContainsFunc(refs, func(r blobRef) bool { return r.object == nil }) {
		sizes, err = nil, nil
	}
	if err == nil {
		report.addFiles(sizes, refs)
	}
	return err
}

// addFiles adds the blobs of a files database, of which it gets the sizes, and a fault for each
// record whose blob is missing or has another size. Blobs without a record are not faults: the next
// start deletes them.
func (r *Report) addFiles(sizes map[blob.Digest]int64, refs []blobRef) {
	r.Blobs += len(sizes)
	for _, ref := range refs {
		size, found := sizes[ref.digest]
		if !found && ref.object != nil {
			size, found = ref.object.Size, true
		}
		switch {
		case !found:
			r.fault("%s %d: its bytes, %s, are missing in %s", ref.of.Noun(), ref.id, ref.digest,
				blob.FileName)
		case ref.size >= 0 && ref.size != size:
			r.fault("%s %d: it says %d bytes, there are %d", ref.of.Noun(), ref.id, ref.size, size)
		}
	}
}
