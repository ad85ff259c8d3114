package kv

import (
	"errors"
	"fmt"
	"path/filepath"

	"reeve/store/audit"
)

// VerifyLog verifies the change log of a data directory: its segments, and the entries in data.db
// unless a server is using it, then inUse is set. Each of the known heads must be in the log.
func VerifyLog(dir string, known []audit.Head, options Options) (result audit.Result, inUse bool, err error) {
	var verifier audit.Verifier
	for _, head := range known {
		verifier.Expect(head)
	}
	paths, err := segmentPaths(filepath.Join(dir, segmentsName))
	if err != nil {
		return result, false, err
	}
	for _, path := range paths { // sorted by number, as their names are
		if err := audit.VerifySegment(path, &verifier); err != nil {
			return result, false, err
		}
	}
	lock, _, err := takeDir(dir)
	if used := (*InUseError)(nil); errors.As(err, &used) {
		return verifier.Result(), true, verifier.Finish()
	}
	if err != nil {
		return result, false, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	err = readOnly(filepath.Join(dir, dataName), options, func(tx *Tx) error {
		var failed error
		last := verifier.Result().Head.Seq
		err := tx.LogRows(last+1, func(row audit.Row) bool { // those before are in a segment, too
			failed = verifier.Add(row)
			return failed == nil
		})
		if err == nil && failed == nil {
			failed = verifier.Finish()
		}
		if end := tx.bucket(logBucket).Sequence(); err == nil && failed == nil && verifier.Result().Head.Seq != end {
			failed = fmt.Errorf("the entries from %d to %d are missing", verifier.Result().Head.Seq+1, end)
		}
		return errors.Join(err, failed)
	})
	return verifier.Result(), false, err
}
