package kv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"go.etcd.io/bbolt"

	"reeve/store/audit"
	"reeve/store/blob"
	"reeve/store/disk"
)

// Salvaged reports the copied and the lost data of Salvage.
type Salvaged struct {
	Records int      // number of records in the copy
	Blobs   int      // number of blobs in the copy
	Lost    []string // descriptions of losses
	Outside []string // records that were found outside the tree of the database
	Changed []string // descriptions of changes that made the records consistent
}

// Salvage copies everything sound from a damaged data directory to a new one that verifies. No
// server may be using dir, and to must be empty or missing. Records are read from the tree of
// the newest sound meta page. Only where that tree cannot be read, pages outside it are
// searched, which may have older versions of records, and deleted ones. Indexes and counts are
// built again, and references to lost records are removed. The next start ends all sessions.
func Salvage(dir, to string, options Options) (report *Salvaged, err error) {
	if _, err := os.Stat(filepath.Join(dir, dataName)); err != nil && !restorePending(dir) {
		return nil, err
	}
	if entries, err := os.ReadDir(to); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("%s is not empty; name a new directory", to)
	}

	lock, _, err := takeDir(dir)
	if err != nil {
		return nil, err
	}

	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if err := makeDir(to); err != nil {
		return nil, err
	}

	newLock, err := lockDir(to)
	if err != nil {
		return nil, err
	}

	defer func() { err = errors.Join(err, newLock.Unlock()) }()
	s := &Salvaging{dir: dir, to: to, report: &Salvaged{}, tables: map[string]*salvagedTable{}}
	if err := s.room(); err != nil {
		return nil, err
	}

	final := filepath.Join(to, dataName)
	s.db = &DB{
		path:    final + ".new",
		dir:     to,
		schema:  options.Schema,
		options: options,
		clock:   clockNow,
	}

	if err := s.run(); err != nil {
		return nil, fmt.Errorf("salvage %s: %w", dir, err)
	}
	if err := errors.Join(disk.MoveFile(s.db.path, final), s.finish()); err != nil {
		return nil, err
	}

	return s.report, s.verify(final)
}

// Salvaging is a run of Salvage. Hooks of a schema report to it what they change.
type Salvaging struct {
	dir, to string
	db      *DB // new database
	report  *Salvaged
	pages   *loosePages
	tables  map[string]*salvagedTable
	meta    fileMeta
	newest  Time // newest updated_at of a record in the tree
	batch   *bbolt.Tx

	logRows     []audit.Row // readable entries of the change log
	logSequence uint64      // number of its last entry
	puts        int
}

// Lost reports data that cannot be recovered.
func (s *Salvaging) Lost(format string, args ...any) {
	s.report.Lost = append(s.report.Lost, fmt.Sprintf(format, args...))
}

// Changed reports a change that makes the records consistent.
func (s *Salvaging) Changed(format string, args ...any) {
	s.report.Changed = append(s.report.Changed, fmt.Sprintf(format, args...))
}

// room returns an error if the copies do not fit on the disk.
func (s *Salvaging) room() error {
	need := int64(0)
	for _, name := range []string{dataName, blob.FileName} {
		if info, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			need += info.Size()
		}
	}
	return disk.NeedSpace(s.to, need)
}

// run makes the new data.db and files.db, under the temporary name of s.db.
func (s *Salvaging) run() (err error) {
	if err := s.copyKey(); err != nil {
		return err
	}

	pages, roots, err := openLoose(filepath.Join(s.dir, dataName), int64(os.Getpagesize()))
	if err != nil {
		return err
	}

	s.pages = pages
	defer func() { err = errors.Join(err, pages.f.Close()) }()
	if err := s.db.openFile(); err != nil {
		return err
	}

	defer func() { err = errors.Join(err, s.db.bolt.Bolt().Sync(), s.db.bolt.Close()) }()
	s.db.bolt.Bolt().NoSync = true // it is not used before it is complete
	err = s.db.bolt.Update(func(btx *bbolt.Tx) error {
		return s.db.makeBuckets(&Tx{db: s.db, bolt: btx, changes: newChanges()})
	})
	if err == nil {
		err = s.copyRecords(roots)
	}
	if err == nil {
		err = s.repair()
	}
	if err != nil {
		return err
	}

	s.db.bolt.Bolt().NoSync = false
	return s.db.migrate(false)
}

// copyKey copies the key file, if it is valid.
func (s *Salvaging) copyKey() error {
	text, err := os.ReadFile(filepath.Join(s.dir, keyName))
	if err == nil {
		_, err = parseKeyring(text)
	}
	if err != nil {
		s.Lost("%s: %v; secret settings must be entered again", keyName, err)
		return nil
	}
	return errors.Join(disk.WriteFile(filepath.Join(s.to, keyName), text), disk.SyncDir(s.to))
}

// finish writes the commit mark and the instance marker of the new directory.
func (s *Salvaging) finish() error {
	f, err := os.Open(filepath.Join(s.to, dataName))
	if err != nil {
		return err
	}
	meta, _, err := disk.ReadMetas(f, false)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return errors.Join(
		writeMark(s.to, commitMark{Instance: s.db.instance, Commit: meta.Txid}),
		disk.WriteFile(filepath.Join(s.to, markerName), []byte(s.db.instance+"\n")),
		disk.SyncDir(s.to))
}

// verify is VerifyDir without the lock, which is already held.
func (s *Salvaging) verify(path string) error {
	report, refs, instance, err := inspect(path, s.db.options)
	if err == nil && s.db.schema.hasFiles() {
		err = inspectFiles(context.Background(), filepath.Join(s.to, blob.FileName), instance, refs, false, report)
	}
	s.report.Records, s.report.Blobs = report.Records, report.Blobs
	slices.SortStableFunc(s.report.Changed, cmp.Compare[string])
	return errors.Join(err, report.err("the copy in "+s.to))
}
