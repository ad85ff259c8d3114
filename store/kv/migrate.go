package kv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// Migration upgrades a file from one schema version to the next. Migrations may only be appended to
// Schema.Migrations. A migration that reads or writes records must declare copies of their types as
// they are now, and collections of these without indexes: the types will change, and the migration
// would then lose or reject fields. Only Reindex, Rekey and OutdateTexts are called on the current
// collections, because index entries must be those of the current program.
type Migration struct {
	Title string
	Run   func(tx *Tx) error
}

// MigrationState is how far a migration is.
type MigrationState struct {
	From, To int    // versions of the schema
	Step     int    // version that is being made; From while the file is copied
	Records  uint64 // number of records in the file that have totals
	Read     uint64 // number of records that the steps have read to build their indexes again
	Ended    bool   // whether it has ended
	Err      error  // why it has ended without success
}

// migrating tells how far the migration is. It does nothing without one.
func (db *DB) migrating(change func(*MigrationState)) {
	if db.migration == nil {
		return
	}
	change(db.migration)
	if db.options.Migrating != nil {
		db.options.Migrating(*db.migration)
	}
}

// countRecords sets the number of records in the collections that the file has totals of. Damaged ones
// are left out: the verification after the migration reports them.
func (db *DB) countRecords(m *MigrationState) {
	m.Records = 0
	db.View(engine{}, func(tx *Tx) error {
		tx.bucket(disk.MetaBucket) // begins the bbolt transaction
		if tx.bolt.Bucket([]byte(countBucket)) == nil {
			return nil
		}
		for _, t := range db.schema.Tables {
			if counted, _, err := decodeTotals(tx, countBucket, t.Name()); err == nil {
				m.Records += counted.records
			}
		}
		return nil
	})
}

// migrate upgrades the file to the program's schema. Each migration runs in one transaction,
// which also stores its number. If keep is true, a copy of the file is made first. A newer file is
// an error that names both versions.
func (db *DB) migrate(keep bool) (err error) {
	var meta fileMeta
	err = db.View(engine{}, func(tx *Tx) (err error) {
		meta, err = readMeta(tx)
		return err
	})
	if err != nil {
		return err
	}
	if err := db.schema.knows(meta, db.path, db.options.Version); err != nil {
		return err
	}
	if meta.Schema == db.schema.Version() {
		return nil
	}
	db.migration = &MigrationState{From: meta.Schema, To: db.schema.Version(), Step: meta.Schema}
	defer func() {
		db.migrating(func(m *MigrationState) { m.Ended, m.Err = true, err })
		db.migration = nil
	}()
	db.migrating(db.countRecords)
	if keep {
		kept := filepath.Join(db.dir, fmt.Sprintf("%s%d", keptHead, meta.Schema))
		if err := db.copyTo(context.Background(), kept); err != nil {
			return fmt.Errorf("copy %s before migrating it: %w", db.path, err)
		}
		db.warnings = append(db.warnings,
			fmt.Sprintf("the data is migrated from schema %d to %d; the original file is kept as %s", meta.Schema, db.schema.Version(), kept))
	}

	for number := meta.Schema + 1; number <= db.schema.Version(); number++ {
		step, writer := db.schema.Migrations[number-2], meta.Version
		db.options.progress("migrate", int64(number), int64(db.schema.Version()))
		db.migrating(func(m *MigrationState) { m.Step = number })
		err := disk.RecoverDamage(db.path, func() error {
			return db.bolt.Update(func(btx *bbolt.Tx) error {
				tx := &Tx{db: db, actor: engine{}, now: db.clock(), bolt: btx,
					changes: newChanges()}
				if err := db.makeBuckets(tx); err != nil {
					return err
				}
				if err := errors.Join(tx.forgetStream(), step.Run(tx)); err != nil {
					return err
				}
				meta.Schema, meta.Version = number, db.options.Version
				meta.Suspects, meta.MoreSuspects = append(meta.Suspects, tx.suspected...), meta.MoreSuspects || tx.moreSuspected
				if meta.Generation == "" {
					meta.Generation = db.newGeneration()
				}
				return writeMeta(tx, meta)
			})
		})
		if d := (*disk.Damaged)(nil); errors.As(err, &d) { // not `reeve verify`: it needs a file of the current schema
			d.Do = fmt.Sprintf("restore a sound backup with `reeve restore FILE`, or use the file as it is with reeve %s", writer)
		}
		if err != nil {
			return fmt.Errorf("migrate %s to schema %d (%s): %w; nothing of this step was kept",
				db.path, number, step.Title, err)
		}
	}

	db.migrating(db.countRecords)
	return nil
}

// knows returns an error for a file that a newer program has written. The error names the copy
// from before the migration that this program can use, if there is one.
func (s *Schema) knows(meta fileMeta, path, version string) error {
	if meta.Schema > s.Version() {
		dir := filepath.Dir(path)
		if filepath.Base(dir) == stagingName { // a restore names the backup
			dir, path = filepath.Dir(dir), "its "+dataName
		}

		copies, err := keptCopies(dir)
		if err != nil {
			return err
		}

		back := "restore a backup that this version has made with `" + restoreCommand(dir, "FILE") + "`"
		for _, kept := range copies { // the last one with a known schema is the newest
			if kept.Schema <= s.Version() {
				back = fmt.Sprintf("go back to %s, the data as it was before the migration of %s, with `%s`",
					kept.Name, kept.At.UTC().Format(time.DateTime),
					restoreCommand(dir, filepath.Join(dir, kept.Name)))
			}
		}

		return fmt.Errorf("%s was written by reeve %s (schema %d); this is reeve %s, which knows schema %d: use that version or a newer one, or %s",
			path, meta.Version, meta.Schema, version, s.Version(), back)
	}
	if meta.Schema < 1 {
		return fmt.Errorf("%s has schema %d, which does not exist: it is damaged or of another program; restore a backup with `reeve restore FILE`", path, meta.Schema)
	}
	return nil
}

// findBuckets returns an error that names the collections and indexes that the file
// lacks. When its schema is this program's, the usual reason is a missing migration.
func (db *DB) findBuckets(tx *Tx) error {
	tx.bucket(disk.MetaBucket) // begins the bbolt transaction
	var missing []string
	for _, name := range db.schema.bucketNames() {
		if tx.bolt.Bucket([]byte(name)) != nil {
			continue
		}
		kind := "collection"
		if strings.Contains(name, ".") {
			kind = "index"
		}
		missing = append(missing, "no "+kind+" "+name)
	}

	if missing == nil {
		return nil
	}

	return fmt.Errorf("the file has schema %d and %s: if you have changed the program, append a migration to store/schema.go; if not, restore a backup with `reeve restore FILE`",
		db.schema.Version(), strings.Join(missing, ", "))
}

// restoreCommand is the command line that restores a backup to a data directory.
func restoreCommand(dir, backup string) string {
	return "reeve restore --data " + shellWord(dir) + " " + shellWord(backup)
}

// shellWord quotes a path for a shell if necessary.
func shellWord(path string) string {
	if !strings.ContainsFunc(path, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(`/\:._-+=@`, r)
	}) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

func readMeta(tx *Tx) (fileMeta, error) {
	var meta fileMeta
	value := tx.bucket(disk.MetaBucket).Get(disk.MetaKey)
	payload, err := disk.Unframe(disk.MetaBucket, disk.MetaKey, value)
	if err == nil {
		err = json.Unmarshal(payload, &meta)
	}
	if err != nil {
		return meta, Damaged(disk.MetaBucket, string(disk.MetaKey), err)
	}
	return meta, nil
}

func (c *collection) reindex(tx *Tx) error {
	for _, bucket := range c.buckets()[1:] {
		if err := tx.bolt.DeleteBucket([]byte(bucket)); err != nil {
			return err
		}
		if _, err := tx.bolt.CreateBucket([]byte(bucket)); err != nil {
			return err
		}
	}

	tx.wrote = true
	var t totals
	for v, err := range c.all(tx) {
		if err != nil {
			return err
		}
		id := v.ident().ID
		if t.records++; t.records%progressEvery == 0 {
			tx.db.migrating(func(m *MigrationState) { m.Read += progressEvery })
		}
		t.sum += uint64(disk.FrameSum(tx.bucket(c.name).Get(idKey(id))))
		if err := c.updateIndexes(tx, id, nil, v, &t.sum); err != nil {
			return err
		}
	}

	if c.search != nil { // its list of changes is empty now
		if err := encodeTotals(tx, localBucket, c.name, totals{}); err != nil {
			return err
		}
	}
	return writeTotals(tx, c.name, t)
}
