package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.etcd.io/bbolt"
)

// backupPattern names a backup on its way out.
const backupPattern = "backup-*.tmp"

// Backup writes a consistent copy of the database to a new file in the data
// directory, syncs it, verifies it, and returns its path; the caller removes it.
// It runs while others read and write.
func (db *DB) Backup() (path string, err error) {
	f, err := os.CreateTemp(db.dir, backupPattern)
	if err != nil {
		return "", err
	}
	path = f.Name()
	if err := errors.Join(f.Close(), db.copyTo(path)); err != nil {
		if diskFull(err) {
			err = errFull(err)
		}
		return "", errors.Join(err, os.Remove(path))
	}
	report, _, _, err := inspect(path, db.options)
	if err == nil && len(report.Faults) > 0 {
		err = fmt.Errorf("the database is damaged: %s", report.Faults[0])
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("verify the backup: %w", err), os.Remove(path))
	}
	return path, nil
}

// copyTo writes a consistent copy to path, whole or not at all.
func (db *DB) copyTo(path string) error {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	out := &keepError{w: f}
	err = guard(db.path, func() error {
		return db.bolt.View(func(btx *bbolt.Tx) error {
			_, err := btx.WriteTo(out)
			return err
		})
	})
	if err = errors.Join(err, out.err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path+".new"))
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
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

// VerifyDir verifies the database of a data directory, which no server may hold,
// and changes nothing. A file that cannot even be opened is a fault in the
// report; one of another schema is an error.
func VerifyDir(dir string, options Options) (report *Report, err error) {
	path := filepath.Join(dir, dataName)
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	report, refs, instance, err := inspect(path, options)
	if err == nil && hasFiles(options.schemaOr()) {
		err = inspectBlobs(filepath.Join(dir, blobsName), instance, refs, report)
	}
	if damage := reportDamage(err); damage != nil {
		damage.Faults = append(damage.Faults, report.Faults...)
		return damage, nil
	}
	return report, err
}

// inspect verifies a database file and says who refers to which bytes.
func inspect(path string, options Options) (report *Report, refs []blobRef, instance string, err error) {
	report = &Report{}
	warnings, err := checkPages(path, false)
	if err != nil {
		return report, nil, "", err
	}
	db := &DB{path: path, schema: options.schemaOr(), options: options, clock: clockNow}
	err = guard(path, func() (err error) {
		db.bolt, err = bbolt.Open(path, 0o600, boltOptions(true))
		return err
	})
	if err != nil {
		return report, nil, "", err
	}
	err = db.View(System, func(tx *Tx) error {
		meta, err := readMeta(tx)
		if err != nil {
			return err
		}
		if err := db.schema.knows(meta, path, options.Version); err != nil {
			return err
		}
		if meta.Schema < db.schema.version() {
			return fmt.Errorf("%s has schema %d, older than this program's %d: start the server once, which migrates it, then verify", path, meta.Schema, db.schema.version())
		}
		report = tx.Verify()
		report.Faults = append(report.Faults, warnings...)
		if install, err := Installs.Get(tx, 1); err == nil && hasFiles(db.schema) {
			instance, refs = install.Name, blobRefs(tx)
		}
		return nil
	})
	return report, refs, instance, errors.Join(err, db.bolt.Close())
}

// hasFiles tells whether a schema is the real one, or a test's without files.
func hasFiles(s *schema) bool { return slices.Contains(s.tables, table(Files)) }

// reportDamage makes a report of an error that is damage; nil for any other.
func reportDamage(err error) *Report {
	var d *Damaged
	if !errors.As(err, &d) {
		return nil
	}
	return &Report{Faults: []string{fmt.Sprintf("%s: %v", d.Where, d.Err)}}
}

// restoreName is a backup on its way in.
const restoreName = "restore.tmp"

// Restore puts a copy of a backup in the place of a data directory's database,
// which no server may hold. The backup is migrated and verified first, and a
// damaged or newer one is refused before anything is touched. What was there is
// kept under a name of its own, which is returned ("" if there was nothing). The
// next start signs everybody out: the backup may hold sessions that were ended
// after it was taken.
func Restore(dir, backup string, options Options) (kept string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	incoming := filepath.Join(dir, restoreName)
	err = copyFile(backup, incoming)
	if err == nil {
		err = acceptBackup(incoming, options)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("%s was not restored, nothing is changed: %w", backup, err), os.RemoveAll(incoming))
	}
	data := filepath.Join(dir, dataName)
	if _, err := os.Stat(data); err == nil {
		kept = data + ".before-restore-" + time.Now().UTC().Format("20060102T150405.000000")
		if err := os.Link(data, kept); err != nil {
			return "", fmt.Errorf("keep %s: %w", data, err)
		}
	}
	if err := os.Rename(incoming, data); err != nil {
		return kept, err
	}
	return kept, syncDir(dir)
}

// acceptBackup makes a backup's copy fit to be started from, or says why not.
func acceptBackup(path string, options Options) (err error) {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return errors.Join(err, errors.New("it is empty"))
	}
	db := &DB{path: path, schema: options.schemaOr(), options: options, clock: clockNow}
	if err := db.openFile(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.bolt.Close()) }()
	if len(db.warnings) > 0 {
		return fmt.Errorf("it is damaged: %s", db.warnings[0])
	}
	if err := db.migrate(false); err != nil {
		return err
	}
	var meta fileMeta
	err = db.View(System, func(tx *Tx) error {
		if report := tx.Verify(); len(report.Faults) > 0 {
			return fmt.Errorf("it is damaged (%d faults), the first: %s", len(report.Faults)+report.More, report.Faults[0])
		}
		meta, err = readMeta(tx)
		return err
	})
	if err != nil {
		return err
	}
	meta.Restored = true
	return db.bolt.Update(func(btx *bbolt.Tx) error {
		return writeMeta(&Tx{db: db, bolt: btx, changes: newChanges()}, meta)
	})
}

// endRestore ends the sessions of a backup that is started from for the first time.
func (db *DB) endRestore() error {
	var meta fileMeta
	err := db.View(System, func(tx *Tx) (err error) {
		meta, err = readMeta(tx)
		return err
	})
	if err != nil || !meta.Restored {
		return err
	}
	meta.Restored = false
	return guard(db.path, func() error {
		return db.bolt.Update(func(btx *bbolt.Tx) error {
			tx := &Tx{db: db, actor: System, now: db.clock(), bolt: btx, changes: newChanges()}
			if err := endAllSessions(tx); err != nil {
				return err
			}
			return writeMeta(tx, meta)
		})
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() // it was only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
