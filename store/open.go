package store

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/errs"
)

// The files of a data directory.
const (
	dataName   = "data.db"    // records
	markerName = "instance"   // says that a database was made here, so an empty place is a loss and not a beginning
	lockName   = "reeve.pid"  // locked by whom it names
	keyName    = "secret.key" // encrypts secret values
)

// fileMeta is what the file says of itself, framed in metaBucket under metaKey.
type fileMeta struct {
	Schema   int    `json:"schema"`
	Version  string `json:"version"`  // of the program that brought it to this schema
	Restored bool   `json:"restored"` // a backup nobody has started from: its sessions are to be ended
}

// Open opens the database in dir and makes it, seeded, when dir has never held
// one. It refuses, in one line that says what to do: a file in use, a missing or
// empty file where a database was, a newer file, a damaged one.
func Open(dir string, options Options) (*DB, error) {
	db := &DB{
		dir: dir, path: filepath.Join(dir, dataName), options: options,
		schema: options.schemaOr(), clock: options.clock,
		caches: map[anyCache]*atomic.Pointer[cached]{},
		jobs:   make(chan *job, maxBatch), written: make(chan struct{}),
	}
	db.stats.prepare()
	if db.clock == nil {
		db.clock = clockNow
	}
	for _, c := range db.schema.caches {
		db.caches[c] = &atomic.Pointer[cached]{}
	}
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	lock, warnings, err := takeDir(dir)
	if err != nil {
		return nil, err
	}
	db.lock, db.warnings = lock, warnings
	if err := db.prepare(); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	if err := db.openFile(); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	go db.write()
	if err := db.start(); err != nil {
		return nil, errors.Join(forOperator{err}, db.Close())
	}
	return db, nil
}

// forOperator is an error without the words that a client is told instead of it.
type forOperator struct{ error }

func (e forOperator) Error() string {
	return strings.ReplaceAll(e.error.Error(), errs.Of(errors.New("")).Msg+": ", "")
}

func (e forOperator) Unwrap() error { return e.error }

// HasDatabase tells whether a database was ever made in dir.
func HasDatabase(dir string) bool {
	_, data := os.Stat(filepath.Join(dir, dataName))
	_, marker := os.Stat(filepath.Join(dir, markerName))
	return data == nil || marker == nil || restorePending(dir)
}

// prepare makes the database unless there is one, and loads the secret key.
func (db *DB) prepare() error {
	info, err := os.Stat(db.path)
	_, marker := os.Stat(filepath.Join(db.dir, markerName))
	switch {
	case err == nil && info.Size() == 0:
		return fmt.Errorf("%s is empty: it was cut off or never written; restore a backup with `reeve restore FILE`, or remove the file and %s to begin anew",
			db.path, filepath.Join(db.dir, markerName))
	case errors.Is(err, fs.ErrNotExist) && marker == nil:
		return fmt.Errorf("%s is missing though %s says that a database was made here; restore a backup with `reeve restore FILE`, or remove %[2]s to begin anew",
			db.path, filepath.Join(db.dir, markerName))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if db.keys, err = readKeyring(db.dir); err != nil {
		return err
	}
	if info == nil {
		for _, name := range []string{keyName, blobsName} {
			if there, err := disk.Exists(filepath.Join(db.dir, name)); err != nil || there {
				return errors.Join(err, fmt.Errorf("%s and %s are missing though %s is there: a database was here; restore a backup with `reeve restore FILE`, or remove %[3]s to start with an empty one",
					db.path, markerName, filepath.Join(db.dir, name)))
			}
		}
	}
	if err := sweepDir(db.dir); err != nil {
		return err
	}
	if info == nil {
		db.keys = newKeyring() // written when the database is there: alone it would say that one was lost
		return db.create()
	}
	return nil
}

// create makes a database under another name and gives it its own only when it
// is complete, so a crash leaves either nothing or all of it.
func (db *DB) create() error {
	final := db.path
	db.path += ".new"
	defer func() { db.path = final }()
	if err := db.openFile(); err != nil {
		return err
	}
	err := db.bolt.Update(func(btx *bbolt.Tx) error {
		tx := &Tx{db: db, actor: System, now: db.clock(), bolt: btx, changes: newChanges()}
		return disk.RecoverDamage(db.path, func() error { return db.fill(tx) })
	})
	if err = errors.Join(err, db.bolt.Close()); err != nil {
		return errors.Join(fmt.Errorf("create %s: %w", final, err), os.Remove(db.path))
	}
	db.created = true
	return disk.MoveFile(db.path, final)
}

// fill gives a new file its buckets, its name and its seed.
func (db *DB) fill(tx *Tx) error {
	if err := db.makeBuckets(tx); err != nil {
		return err
	}
	if err := writeMeta(tx, fileMeta{Schema: db.schema.version(), Version: db.options.Version}); err != nil {
		return err
	}
	db.instance = rand.Text()
	if err := Installs.Create(tx, &Install{Name: db.instance, PasswordKey: randomBytes(48), SecretKeyID: db.keys.current.id}); err != nil {
		return err
	}
	if db.options.Seed != nil {
		return db.options.Seed(tx)
	}
	return nil
}

// makeBuckets creates the buckets that are not there. It runs only for a new
// file and after a migration: at any other start a missing bucket is damage.
func (db *DB) makeBuckets(tx *Tx) error {
	for _, name := range db.schema.bucketNames() {
		if _, err := tx.bolt.CreateBucketIfNotExists([]byte(name)); err != nil {
			return err
		}
	}
	for _, t := range db.schema.tables {
		if tx.bucket(countBucket).Get([]byte(t.tableName())) == nil {
			if err := writeTally(tx, t.tableName(), tally{}); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeMeta(tx *Tx, meta fileMeta) error {
	payload, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	return tx.put(disk.MetaBucket, disk.MetaKey, disk.Frame(disk.MetaBucket, disk.MetaKey, payload))
}

// openFile looks through the pages first, because bbolt trusts them, and then
// opens the file.
func (db *DB) openFile() error {
	warnings, err := disk.CheckPages(db.path, true)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	db.warnings = append(db.warnings, warnings...)
	err = disk.RecoverDamage(db.path, func() (err error) {
		options := disk.BoltOptions(false)
		options.NoStatistics = false // they know how much of the file is free
		db.bolt, err = bbolt.Open(db.path, 0o600, options)
		return err
	})
	if err != nil {
		return fmt.Errorf("open %s: %w", db.path, err)
	}
	return nil
}

// start brings an opened file up to this program: version, migrations, upgrade,
// caches, marker.
func (db *DB) start() error {
	if err := db.readInstance(); err != nil {
		return err
	}
	if err := db.openMark(); err != nil {
		return err
	}
	if err := db.migrate(true); err != nil {
		return err
	}
	if err := db.endRestore(); err != nil {
		return err
	}
	err := db.View(System, db.findBuckets)
	if err == nil {
		err = db.lookThrough()
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", db.path, err)
	}
	err = db.View(System, func(tx *Tx) error {
		for _, c := range db.schema.caches {
			value, err := c.compute(tx)
			if err != nil {
				return err
			}
			db.swap(c, value)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("open %s: %w", db.path, err)
	}
	if db.options.Upgrade != nil && !db.created {
		if err := db.Update(System, db.options.Upgrade); err != nil {
			return fmt.Errorf("upgrade %s: %w", db.path, err)
		}
	}
	db.openReserve()
	if err := db.settleKey(); err != nil {
		return err
	}
	if err := db.openFiles(); err != nil {
		return err
	}
	if err := db.mark(); err != nil {
		return err
	}
	db.openIndexer()
	db.started = true
	return nil
}

// readInstance reads the database's name, which a migration may need.
func (db *DB) readInstance() error {
	return db.View(System, func(tx *Tx) error {
		install, err := Installs.Get(tx, 1)
		if err == nil {
			db.instance = install.Name
		}
		return err
	})
}

// mark writes the instance marker, last, once the database is known to be whole.
func (db *DB) mark() error {
	path := filepath.Join(db.dir, markerName)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := disk.WriteFile(path, []byte(db.instance+"\n")); err != nil {
		return err
	}
	return disk.SyncDir(db.dir)
}

// makeDir creates a data directory and the parents that are missing, durably. The
// parent is synced, too, if an earlier start may have ended before it did so.
func makeDir(dir string) error {
	made := []string{}
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if there, err := disk.Exists(at); err != nil {
			return err
		} else if there {
			break
		}
		made = append(made, at)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if len(made) == 0 && !HasDatabase(dir) {
		made = append(made, filepath.Clean(dir))
	}
	for _, at := range made {
		if err := disk.SyncDir(filepath.Dir(at)); err != nil {
			return err
		}
	}
	return nil
}
