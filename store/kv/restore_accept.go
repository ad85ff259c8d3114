package kv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"reeve/store/audit"
	"reeve/store/blob"
	"reeve/store/disk"
)

// accept migrates and verifies the staged data.db and prepares it for its first start.
func (in *staging) accept() (err error) {
	path := in.path(dataName)
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return errors.Join(err, errors.New("it is empty"))
	}

	db := &DB{path: path, schema: in.options.Schema, options: in.options, clock: clockNow}
	if err := db.openFile(); err != nil {
		return in.blame(err)
	}

	defer func() { err = errors.Join(err, db.bolt.Close()) }()
	if len(db.warnings) > 0 {
		return fmt.Errorf("it is damaged: %s", db.warnings[0])
	}
	var meta fileMeta
	if in.joins {
		err = db.isBase(in.entries == nil)
	}
	if err == nil && in.entries == nil {
		err = in.compare(db)
	}
	if err == nil && (!in.joins || in.entries != nil) {
		err = db.migrate(false)
	}
	if err != nil {
		return in.blame(err)
	}

	var head audit.Head
	var rights json.RawMessage
	err = db.View(engine{}, func(tx *Tx) error {
		report := tx.Verify()
		if err := report.err("it"); err != nil {
			return err
		}
		in.records = report.Records

		install, err := Installs.Get(tx, 1)
		if err != nil {
			return err
		}

		in.instance, db.instance = install.Name, install.Name
		if err := in.lookAtSecrets(tx); err != nil {
			return err
		}
		if db.schema.hasFiles() {
			in.refs = db.schema.blobRefs(tx)
		}
		if meta, err = readMeta(tx); err == nil && db.schema.LogEntry != nil {
			if head, err = tx.readHead(meta); err == nil && !in.joins {
				rights = in.lookAtRights(tx, head)
			}
			in.head = &head
		}

		return err
	})
	if err == nil {
		err = in.dropNewerSegments(head.Seq)
	}
	if err != nil {
		return in.blame(err)
	}

	mark := commitMark{Instance: in.instance}
	if in.joins {
		return writeMark(in.dir, mark)
	}
	meta.Withdrawn, meta.Cluster = rights, false
	meta.Restored, meta.Generation = true, db.newGeneration() // Salvaged stays, if a copy is restored that was never started
	meta.Replaced = db.headIn(filepath.Join(filepath.Dir(in.dir), dataName))
	err = db.bolt.Update(func(btx *bbolt.Tx) error {
		mark.Commit = uint64(btx.ID())
		tx := &Tx{db: db, bolt: btx, changes: newChanges()}
		return errors.Join(tx.forgetStream(), writeMeta(tx, meta))
	})
	if err != nil {
		return err
	}

	return writeMark(in.dir, mark) // the existing mark is for the data that is replaced
}

// compare returns an error unless data.db has the records, and the newest entry of the change log, that are expected.
func (in *staging) compare(db *DB) error {
	if len(in.expected) == 0 {
		return nil
	}
	return db.View(engine{}, func(tx *Tx) error {
		meta, err := readMeta(tx)
		if err != nil || meta.Schema != db.schema.Version() {
			return err
		}
		head, err := tx.head()
		if err != nil {
			return err
		}
		report := tx.Verify()
		if err := report.err("it"); err != nil {
			return err
		}
		for _, want := range in.expected {
			if want.Records > 0 && want.Records != report.Records {
				return fmt.Errorf("it has %d records, not %d as its manifest says", report.Records, want.Records)
			}
			if want.LogHead != nil && (head == nil || *head != *want.LogHead) {
				return fmt.Errorf("its change log ends with %s, not with %s as its manifest says", nameHead(head), nameHead(want.LogHead))
			}
		}
		return nil
	})
}

func nameHead(h *audit.Head) string {
	if h == nil {
		return "no entry"
	}
	return fmt.Sprintf("entry %d, %x", h.Seq, h.Hash[:8])
}

// dropNewerSegments removes staged segments of the change log that have entries beyond the staged
// data.db, which a directory can have: their numbers will be used again.
func (in *staging) dropNewerSegments(newest uint64) error {
	dir := in.path(segmentsName)
	if there, err := disk.Exists(dir); err != nil || !there {
		return err
	}
	log, _, err := audit.Open(dir)
	if err != nil {
		return err
	}
	for _, s := range log.Segments() {
		if s.Last > newest {
			err = errors.Join(err, os.Remove(s.Path))
		}
	}
	return errors.Join(err, log.Close())
}

// lookAtSecrets finds the key of the backup, in it or in the data directory, and the secret
// values that must be entered again.
func (in *staging) lookAtSecrets(tx *Tx) error {
	ring, err := readKeyring(in.dir)
	if err != nil {
		return fmt.Errorf("its %s does not hold 64 hexadecimal digits", keyName)
	}

	key, err := tx.choose(ring)
	if err != nil {
		return err
	}
	if in.wrongKey = ring != nil && key == nil; key == nil {
		ring, err = readKeyring(filepath.Dir(in.dir))
		if err != nil { // a damaged file is moved away, like a key of another database
			ring = nil
		}
		if key, err = tx.choose(ring); err != nil {
			return err
		}
		in.keepKey = key != nil
	}
	if key == nil {
		ring = nil
	}

	in.unopened, _, err = tx.undecryptable(ring)
	return err
}

// settleKey leaves out a key of the backup that does not fit it, and moves away an existing key
// that does not fit it either. Then the next start creates a new one.
func (in *staging) settleKey() error {
	isKey := func(name string) bool { return name == keyName }
	in.aside = slices.DeleteFunc(in.aside, isKey)
	if !in.keepKey {
		in.aside = append(in.aside, keyName)
	}
	if !in.wrongKey {
		return nil
	}
	in.names = slices.DeleteFunc(in.names, isKey)
	return os.Remove(in.path(keyName))
}

// checkBlobs verifies the staged files database, and that it has the content of every record. filled is
// that of blob.Inspect.
func (in *staging) checkBlobs(filled bool) error {
	if !in.options.Schema.hasFiles() {
		return nil
	}
	report := &Report{}
	refs := slices.DeleteFunc(slices.Clone(in.refs), func(r blobRef) bool { return in.missing[r.digest] != nil })
	err := inspectFiles(context.Background(), in.path(blob.FileName), in.instance, refs, filled, report)
	return errors.Join(in.blame(err), report.err("it"))
}

// blame rewrites an error about a staged file, which is about to be removed, to an error about
// the backup.
func (in *staging) blame(err error) error {
	if d := (*disk.Damaged)(nil); errors.As(err, &d) {
		d.Where = strings.Replace(d.Where, in.dir+string(filepath.Separator), "its ", 1)
		if d.Do == "" {
			d.Do = "restore another backup"
		}
	}
	return err
}

// endRestore ends all sessions at the first start after a restore, and begins the new generation of
// the change log.
func (db *DB) endRestore() error {
	var meta fileMeta
	err := db.View(engine{}, func(tx *Tx) (err error) {
		meta, err = readMeta(tx)
		return err
	})
	if err != nil || !meta.Restored {
		return err
	}

	details := map[string]any{"replaced": meta.Replaced}
	if meta.Salvaged {
		details["salvaged"] = true // records may be missing without entries
	}

	rights := meta.Withdrawn
	meta.Restored, meta.Salvaged, meta.Replaced, meta.Withdrawn = false, false, nil, nil
	err = disk.RecoverDamage(db.path, func() error {
		return db.bolt.Update(func(btx *bbolt.Tx) error {
			tx := &Tx{db: db, actor: engine{}, now: db.clock(), bolt: btx, changes: newChanges()}
			n, err := db.schema.withdraw(tx, rights)
			if err := errors.Join(err, db.schema.restored(tx), db.forgetIndexes(tx), tx.keepReleased()); err != nil {
				return err
			}
			if n > 0 {
				details["withdrawn"] = n
			}
			tx.changes.log = db.log.begin()
			if db.log != nil {
				tx.LogAction("restore", details)
			}
			return errors.Join(tx.writeEntry(), tx.finishLog(), writeMeta(tx, meta))
		})
	})
	if err == nil {
		db.log.committed()
	}

	return err
}

// headIn returns the head of the change log in a data.db that no process writes to; nil if it
// cannot be read.
func (db *DB) headIn(path string) (head *audit.Head) {
	if db.schema.LogEntry == nil {
		return nil
	}
	err := readOnly(path, db.options, func(tx *Tx) (err error) {
		head, err = tx.head()
		return err
	})
	if err != nil {
		return nil // the replaced file may be missing, damaged or of another version
	}
	return head
}

// head returns the head of the change log; nil in a file from before there was one.
func (tx *Tx) head() (*audit.Head, error) {
	meta, err := readMeta(tx)
	if err != nil || meta.Generation == "" {
		return nil, err
	}
	last, err := tx.readHead(meta)
	return &last, err
}
