package kv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"reeve/store/blob"
	"reeve/store/disk"
)

// VerifyDir verifies the databases and the change log of a data directory. No server may be using
// it. It changes nothing, except that it completes an interrupted restore. A file that cannot be
// opened is a fault in the report; a file with another schema is an error.
func VerifyDir(dir string, options Options) (report *Report, err error) {
	path := filepath.Join(dir, dataName)
	if _, err := os.Stat(path); err != nil && !restorePending(dir) {
		marker := filepath.Join(dir, markerName)
		if made, _ := disk.Exists(marker); made && errors.Is(err, fs.ErrNotExist) {
			return &Report{Faults: []string{fmt.Sprintf("%s is missing though %s says that a database was made here", path, marker)}}, nil
		}
		return nil, err
	}

	unlock, err := takeDirToRead(dir)
	if err != nil {
		return nil, err
	}

	defer func() { err = errors.Join(err, unlock()) }()
	report, refs, instance, err := inspect(path, options)
	if err == nil {
		err = verifyMark(dir, instance, report)
	}
	if err == nil {
		err = verifySecrets(dir, instance, options, report)
	}
	if err == nil {
		err = reportLog(dir, options, report)
	}
	if err == nil && options.Schema.hasFiles() {
		path := filepath.Join(dir, blob.FileName)
		err = inspectFiles(context.Background(), path, instance, refs, false, report)
		if errors.Is(err, fs.ErrNotExist) {
			report.fault("%s is missing though records name files in it", path)
			err = nil
		}
	}
	if damage := reportDamage(err); damage != nil {
		damage.Faults = append(damage.Faults, report.Faults...)
		return damage, nil
	}

	return report, err
}

// inspect verifies a database file and returns its references to blobs and the name of its
// installation.
func inspect(path string,
	options Options) (report *Report, refs []blobRef, instance string, err error) {
	report = &Report{}
	warnings, err := disk.CheckPages(path, false)
	if err != nil {
		return report, nil, "", err
	}
	err = readOnly(path, options, func(tx *Tx) (err error) {
		report, refs, instance, err = tx.inspect()
		report.Faults = append(report.Faults, warnings...)
		return err
	})
	return report, refs, instance, err
}

// inspect is the function inspect within its transaction.
func (tx *Tx) inspect() (report *Report, refs []blobRef, instance string, err error) {
	db, report := tx.db, &Report{}
	meta, err := readMeta(tx)
	if err != nil {
		return report, nil, "", err
	}
	if err := db.schema.knows(meta, db.path, db.options.Version); err != nil {
		return report, nil, "", err
	}
	if meta.Schema < db.schema.Version() {
		return report, nil, "",
			fmt.Errorf("%s has schema %d, older than this program's %d: start the server once, which migrates it, then verify", db.path, meta.Schema, db.schema.Version())
	}

	report = tx.Verify()
	if install, err := Installs.Get(tx, 1); err == nil {
		instance = install.Name
		if db.schema.hasFiles() {
			refs = db.schema.blobRefs(tx)
		}
	}

	return report, refs, instance, nil
}

// fileOnly returns a database for reading a file only, without anything that Open begins.
func fileOnly(path string, options Options) *DB {
	return &DB{path: path, schema: options.Schema, options: options, clock: clockNow}
}

// readOnly runs fn on a database file that no process writes to.
func readOnly(path string, options Options, fn func(*Tx) error) error {
	db := fileOnly(path, options)
	if err := db.bolt.Open(path, disk.BoltOptions(true)); err != nil {
		return err
	}
	return errors.Join(db.View(engine{}, fn), db.bolt.Close())
}

// reportDamage returns a report with an error that is damage; nil for any other error.
func reportDamage(err error) *Report {
	var d *disk.Damaged
	if !errors.As(err, &d) {
		return nil
	}
	return &Report{Faults: []string{disk.OneLine(err)}}
}
