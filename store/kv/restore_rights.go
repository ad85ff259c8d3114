package kv

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"reeve/store/audit"
)

// A restore brings back what was withdrawn since: users who were disabled, passwords that were changed,
// keys that were deleted. Where the data that is replaced goes on from the state that is restored, it
// shows what that is, and the first start withdraws it again (Schema.Withdraw).

// lookAtRights compares the rights in the restored state, whose change log ends at head, with those in
// the data directory.
func (in *staging) lookAtRights(tx *Tx, head audit.Head) (what json.RawMessage) {
	dir := filepath.Dir(in.dir)
	path := filepath.Join(dir, dataName)
	if in.options.ReturnRights || tx.db.schema.Withdrawn == nil {
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	err := readOnly(path, in.options, func(replaced *Tx) error {
		goesOn, err := replaced.goesOnFrom(dir, head)
		if err != nil || !goesOn {
			return err
		}
		what, in.withdrawn, err = tx.db.schema.Withdrawn(replaced, tx)
		return err
	})
	if err != nil { // it may be missing, damaged or of another version
		in.rightsUnread, in.withdrawn = err, nil
		return nil
	}
	return what
}

// goesOnFrom reports whether the change log of a data directory goes on from an entry.
func (tx *Tx) goesOnFrom(dir string, head audit.Head) (bool, error) {
	meta, err := readMeta(tx)
	if err != nil {
		return false, err
	}
	if meta.Schema != tx.db.schema.Version() {
		return false, fmt.Errorf("it has schema %d, not %d", meta.Schema, tx.db.schema.Version())
	}
	last, err := tx.readHead(meta)
	if err != nil || last.Seq <= head.Seq {
		return false, err
	}
	var text []byte
	err = tx.LogRows(head.Seq, func(row audit.Row) bool {
		if row.Seq == head.Seq {
			text = row.Text
		}
		return false
	})
	if err == nil && text == nil {
		text, err = segmentText(filepath.Join(dir, segmentsName), head.Seq)
	}
	return err == nil && sha256.Sum256(text) == head.Hash, err
}

// segmentText returns the text of an entry in the segments of a change log that no process writes to.
func segmentText(dir string, seq uint64) (text []byte, err error) {
	log, _, err := audit.Open(dir)
	if err != nil {
		return nil, err
	}
	row, err := log.Get(seq)
	return row.Text, errors.Join(err, log.Close())
}
