package kv

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

	"reeve/store/audit"
	"reeve/store/blob"
	"reeve/store/disk"
	"reeve/store/errs"
)

// The files of a data directory.
const (
	dataName   = "data.db"    // records
	markerName = "instance"   // marks that a database was created here, so that a missing one is recognized as lost
	lockName   = "reeve.pid"  // locked by the process whose ID it has
	keyName    = "secret.key" // key of the secret values
)

// fileMeta describes a database file. It is stored framed under MetaKey in MetaBucket.
type fileMeta struct {
	Schema   int    `json:"schema"`
	Version  string `json:"version"`            // version of the program that migrated it to this schema
	Restored bool   `json:"restored"`           // restored and not started since: its sessions are to be ended
	Salvaged bool   `json:"salvaged,omitempty"` // Restored by a salvage, which can lose records

	Suspects     []suspect `json:"suspects,omitempty"`      // records that may clash, see DB.Clashes
	MoreSuspects bool      `json:"more_suspects,omitempty"` // there were more than maxSuspects

	Generation string      `json:"generation,omitempty"` // generation of the change log; "" before schema 13
	Replaced   *audit.Head `json:"replaced,omitempty"`   // head of the data that the restore has replaced

	Cluster bool `json:"cluster,omitempty"` // whether the data are those of a log of commits, see Options.CommitLog

	Withdrawn json.RawMessage `json:"withdrawn,omitempty"` // rights to be withdrawn at the first start after a restore, see Schema.Withdrawn
}

// Open opens the database in dir. It creates and seeds one if dir has never had any. The error
// is one line that says what to do: the file is in use, missing or empty where a database was,
// newer than the program, or damaged.
func Open(dir string, options Options) (*DB, error) {
	db := &DB{
		dir:     dir,
		path:    filepath.Join(dir, dataName),
		options: options,
		schema:  options.Schema,
		clock:   options.Clock,
		process: strings.ToLower(rand.Text()[:16]),
		caches:  map[AnyCache]*atomic.Pointer[cached]{},
		jobs:    make(chan *job, maxBatch),
		written: make(chan struct{}),
		writing: make(chan struct{}, 1),
		commits: newCommitLog(options.CommitLog),
	}
	db.stats.prepare()
	if db.clock == nil {
		db.clock = clockNow
	}

	for _, c := range db.schema.Caches {
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
		return nil, errors.Join(db.needsCopy(err), lock.Unlock())
	}

	go db.write()
	if err := db.start(); err != nil {
		return nil, errors.Join(errs.ForOperator(db.needsCopy(err)), db.Close())
	}

	return db, nil
}

// needsCopy adds ErrOtherCopy to an error of damaged records of one of several nodes: another copy replaces them, and
// what only this node has lost is deleted nowhere.
func (db *DB) needsCopy(err error) error {
	if damage := (*disk.Damaged)(nil); db.commits != nil && errors.As(err, &damage) {
		return fmt.Errorf("%w: %w", ErrOtherCopy, err)
	}
	return err
}

// HasDatabase reports whether a database was ever created in dir.
func HasDatabase(dir string) bool {
	_, data := os.Stat(filepath.Join(dir, dataName))
	_, marker := os.Stat(filepath.Join(dir, markerName))
	return data == nil || marker == nil || restorePending(dir)
}

// prepare creates the database if there is none, and loads the secret key.
func (db *DB) prepare() error {
	info, err := os.Stat(db.path)
	_, marker := os.Stat(filepath.Join(db.dir, markerName))
	switch {
	case err == nil && info.Size() == 0:
		return fmt.Errorf("%s is empty: it was cut off or never written; restore a backup with `reeve restore FILE`, or remove the file and %s to start with an empty database",
			db.path, filepath.Join(db.dir, markerName))
	case errors.Is(err, fs.ErrNotExist) && db.commits != nil:
		return fmt.Errorf("%w: there are none in %s", ErrOtherCopy, db.dir)
	case errors.Is(err, fs.ErrNotExist) && marker == nil:
		return fmt.Errorf("%s is missing though %s says that a database was made here; restore a backup with `reeve restore FILE`, or remove %[2]s to start with an empty database",
			db.path, filepath.Join(db.dir, markerName))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}

	if db.keys, err = readKeyring(db.dir); err != nil {
		return err
	}
	if info == nil {
		if left := unfinishedRestore(db.dir); left != "" {
			return fmt.Errorf("a restore to %s was interrupted before it changed anything: run it again, or remove %s to start with an empty database", db.dir, left)
		}
		for _, name := range []string{keyName, blob.FileName} {
			if there, err := disk.Exists(filepath.Join(db.dir, name)); err != nil || there {
				return errors.Join(err,
					fmt.Errorf("%s and %s are missing though %s is there: a database was here; restore a backup with `reeve restore FILE`, or remove %[3]s to start with an empty one",
						db.path, markerName, filepath.Join(db.dir, name)))
			}
		}
	}
	if err := sweepDir(db.dir); err != nil {
		return err
	}
	if info == nil {
		db.keys = newKeyring() // written after the database: a key without a database means that one was lost
		return db.create()
	}

	return nil
}

// create creates a database under a temporary name and renames it once it is complete, so that
// a crash leaves either no database or a complete one.
func (db *DB) create() error {
	final := db.path
	db.path += ".new"
	defer func() { db.path = final }()
	if err := db.openFile(); err != nil {
		return err
	}

	err := db.bolt.Update(func(btx *bbolt.Tx) error {
		tx := &Tx{db: db, actor: engine{}, now: db.clock(), bolt: btx, changes: newChanges()}
		return disk.RecoverDamage(db.path, func() error { return db.fill(tx) })
	})
	if err = errors.Join(err, db.bolt.Close()); err != nil {
		return errors.Join(fmt.Errorf("create %s: %w", final, err), os.Remove(db.path))
	}

	db.created = true
	return disk.MoveFile(db.path, final)
}

// fill creates the buckets, the description and the seed data of a new file.
func (db *DB) fill(tx *Tx) error {
	if err := db.makeBuckets(tx); err != nil {
		return err
	}
	if err := writeMeta(tx, fileMeta{
		Schema:     db.schema.Version(),
		Version:    db.options.Version,
		Generation: db.newGeneration(),
	}); err != nil {
		return err
	}

	db.instance = rand.Text()
	if err := Installs.Create(tx, &Install{
		Name:        db.instance,
		PasswordKey: randomBytes(48),
		SecretKeyID: db.keys.current.id,
	}); err != nil {
		return err
	}
	if db.options.Seed != nil {
		return db.options.Seed(tx)
	}

	return nil
}

// makeBuckets creates missing buckets. It runs only for a new file and after a migration: at
// any other start, a missing bucket is damage.
func (db *DB) makeBuckets(tx *Tx) error {
	for _, name := range db.schema.bucketNames() {
		if _, err := tx.bolt.CreateBucketIfNotExists([]byte(name)); err != nil {
			return err
		}
	}

	counted := []string{}
	if db.schema.LogEntry != nil {
		counted = append(counted, logBucket)
	}

	for _, t := range db.schema.Tables {
		counted = append(counted, t.Name())
	}

	for _, name := range counted {
		if tx.bucket(countBucket).Get([]byte(name)) == nil {
			if err := writeTotals(tx, name, totals{}); err != nil {
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

// openFile checks the pages, because bbolt trusts them, and then opens the file.
func (db *DB) openFile() error {
	warnings, err := disk.CheckPages(db.path, true)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	db.warnings = append(db.warnings, warnings...)
	options := disk.BoltOptions(false)
	options.NoStatistics = false // for the number of free pages
	return db.bolt.Open(db.path, options)
}

// start brings an opened file up to this version of the program: migrations, end of a restore,
// caches, upgrade, key, and instance marker.
func (db *DB) start() error {
	if err := db.readInstance(); err != nil {
		return err
	}
	if err := db.openMark(); err != nil {
		return err
	}
	if err := db.checkMember(); err != nil {
		return err
	}
	if err := db.migrate(true); err != nil {
		return err
	}
	if err := db.openLog(); err != nil {
		return err
	}
	if err := db.endRestore(); err != nil {
		return err
	}

	err := db.View(engine{}, db.findBuckets)
	if err == nil {
		err = db.openStream()
	}
	if err == nil {
		err = db.runCheck()
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", db.path, err)
	}

	err = db.View(engine{}, func(tx *Tx) error {
		for _, c := range db.schema.Caches {
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
	if err := db.openCommitLog(); err != nil {
		return fmt.Errorf("follow the log of commits, which `reeve doctor` examines: %w", err)
	}
	if db.options.Upgrade != nil && !db.created {
		if err := db.Update(engine{}, db.options.Upgrade); err != nil {
			return fmt.Errorf("upgrade %s: %w", db.path, err)
		}
	}

	db.openReserve()
	if err := db.settleKey(); err != nil {
		return err
	}
	if err := db.startStream(); err != nil { // the data is not worse for it
		db.Warn(fmt.Sprintf("the commit stream is off: %s", disk.OneLine(err)))
	}
	if err := db.openFiles(); err != nil {
		return err
	}
	if err := db.bucketNeeded(); err != nil {
		return err
	}
	db.startKeeper()
	if err := db.mark(); err != nil {
		return err
	}

	db.openIndexer()
	db.startLog()
	db.started = true
	return nil
}

// readInstance reads the name of the installation, which a migration may need.
func (db *DB) readInstance() error {
	return db.View(engine{}, func(tx *Tx) error {
		install, err := Installs.Get(tx, 1)
		if err == nil {
			db.instance = install.Name
		}
		return err
	})
}

// mark writes the instance marker, last, once the database is known to be complete.
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

// makeDir creates a data directory and its missing parents, durably. The parent is also synced
// if an earlier start may have ended before it did so.
func makeDir(dir string) error {
	made, err := disk.MakeDir(dir)
	if err == nil && len(made) == 0 && !HasDatabase(dir) {
		err = disk.SyncDir(filepath.Dir(filepath.Clean(dir)))
	}
	return err
}
