package kv

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"reeve/store/audit"
)

// A restore brings back what was withdrawn since: users who were disabled, passwords that were changed,
// keys that were deleted. Where the data that is replaced goes on from the state that is restored, it
// shows what that is, and the first start withdraws it again (Schema.Withdraw).

// lookAtRights compares the rights in the restored state, whose change log ends at head, with those in
// the data directory.
func (in *staging) lookAtRights(tx *Tx, head audit.Head) (what json.RawMessage) {
	if in.options.ReturnRights || tx.db.schema.Withdrawn == nil {
		return nil
	}
	dir := in.replacedDir()
	if dir == "" {
		return nil
	}
	err := readOnly(filepath.Join(dir, dataName), in.options, func(replaced *Tx) error {
		later, err := replaced.goesOnFrom(dir, in.instance, head)
		if err != nil || !later {
			return err
		}
		what, in.withdrawn, err = tx.db.schema.Withdrawn(replaced, tx)
		return err
	})
	if err != nil { // it may be damaged, of another version, or have gone on from another state
		in.rightsUnread, in.withdrawn = err, nil
		return nil
	}
	return what
}

// replacedDir returns the directory of the data that was in use last, "" for none: the data directory
// or, while it has what was restored and not started since, the newest one that a restore has kept.
func (in *staging) replacedDir() string {
	dir := filepath.Dir(in.dir)
	kept, _ := filepath.Glob(filepath.Join(dir, keptPrefix+"*")) // the pattern is valid
	slices.Sort(kept)
	slices.Reverse(kept)
	for _, dir := range append([]string{dir}, kept...) {
		path, started := filepath.Join(dir, dataName), true
		if _, err := os.Stat(path); err != nil {
			continue
		}
		err := readOnly(path, in.options, func(tx *Tx) error {
			meta, err := readMeta(tx)
			started = !meta.Restored
			return err
		})
		if started || err != nil {
			return dir
		}
	}
	return ""
}

// goesOnFrom reports whether a data directory has a later state of an installation than one whose change
// log ends at head. It is an error if it has gone on from another state.
func (tx *Tx) goesOnFrom(dir, instance string, head audit.Head) (bool, error) {
	meta, err := readMeta(tx)
	if err != nil {
		return false, err
	}
	if meta.Schema != tx.db.schema.Version() {
		return false, fmt.Errorf("it has schema %d, not %d", meta.Schema, tx.db.schema.Version())
	}
	install, err := Installs.Get(tx, 1)
	if err != nil || install.Name != instance {
		return false, err
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
	if err == nil && sha256.Sum256(text) != head.Hash {
		err = errors.New("it has gone on from another state")
	}
	return err == nil, err
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
