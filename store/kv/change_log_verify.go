package kv

import (
	"errors"
	"fmt"
	"path/filepath"

	"reeve/store/audit"
	"reeve/store/disk"
)

// VerifyLog verifies the change log of a data directory: its segments, and the entries in data.db
// unless a server is using it, then inUse is set. Each of the known heads must be in the log. An
// *audit.Altered error or damage says that the log is not as it was written; any other error, that
// it could not be verified.
func VerifyLog(dir string, known []audit.Head,
	options Options) (result audit.Result, inUse bool, err error) {
	var verifier audit.Verifier
	for _, head := range known {
		verifier.Expect(head)
	}

	if err := verifySegments(dir, &verifier); err != nil {
		return result, false, err
	}

	unlock, err := takeDirToRead(dir)
	if used := (*InUseError)(nil); errors.As(err, &used) {
		return verifier.Result(), true, verifier.Finish()
	}
	if err != nil {
		return result, false, err
	}

	defer func() { err = errors.Join(err, unlock()) }()
	err = verifyNewest(dir, &verifier, options)
	return verifier.Result(), false, err
}

// VerifyLog verifies the change log of an open database, like the function VerifyLog. No segment is
// added or dropped until it ends.
func (db *DB) VerifyLog(known []audit.Head) (audit.Result, error) {
	var verifier audit.Verifier
	for _, head := range known {
		verifier.Expect(head)
	}
	db.log.gate.Lock()
	defer db.log.gate.Unlock()
	if err := verifySegments(db.dir, &verifier); err != nil {
		return audit.Result{}, err
	}
	err := db.View(engine{}, func(tx *Tx) error { return verifyRows(tx, &verifier) })
	return verifier.Result(), err
}

// verifySegments adds the segments of a data directory.
func verifySegments(dir string, verifier *audit.Verifier) error {
	paths, err := segmentPaths(filepath.Join(dir, segmentsName))
	for _, path := range paths { // sorted by number, as their names are
		if err == nil {
			err = audit.VerifySegment(path, verifier)
		}
	}
	return err
}

// verifyNewest adds the entries in data.db, which follow those in segments.
func verifyNewest(dir string, verifier *audit.Verifier, options Options) error {
	return readOnly(filepath.Join(dir, dataName), options, func(tx *Tx) error {
		return verifyRows(tx, verifier)
	})
}

func verifyRows(tx *Tx, verifier *audit.Verifier) error {
	var failed error
	last := verifier.Result().Head.Seq
	err := tx.LogRows(last+1, func(row audit.Row) bool { // those before are in a segment, too
		failed = verifier.Add(row)
		return failed == nil
	})
	if err == nil && failed == nil {
		failed = verifier.Finish()
	}
	if end := tx.bucket(logBucket).Sequence(); err == nil && failed == nil &&
		verifier.Result().Head.Seq != end {
		failed = &audit.Altered{Err: fmt.Errorf("the entries from %d to %d are missing",
			verifier.Result().Head.Seq+1, end)}
	}

	return errors.Join(err, failed)
}

// reportLog adds to a report what is wrong with the change log of a data directory.
func reportLog(dir string, options Options, report *Report) error {
	if options.Schema.LogEntry == nil {
		return nil
	}
	var verifier audit.Verifier
	err := verifySegments(dir, &verifier)
	if err == nil {
		err = verifyNewest(dir, &verifier, options)
	}
	var altered *audit.Altered
	if damage := reportDamage(err); damage == nil && !errors.As(err, &altered) {
		return err
	}
	report.fault("change log: %s", disk.OneLine(err))
	return nil
}
