package kv

import (
	"errors"
	"fmt"
	"path/filepath"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/errs"
	"reeve/store/stream"
)

// A data directory whose records belong to a log of commits says so (fileMeta.Cluster), so that no
// program changes it without that log.

// errMember is the error for a directory whose records belong to a log of commits, without that log.
var errMember = errs.New(errs.Conflict,
	"the data belong to a cluster, without whose configuration they are not changed: see several-nodes in the manual")

// errNoMember is the error for a log of commits and a directory whose records belong to none.
var errNoMember = errs.New(errs.Conflict,
	"the data belong to no cluster: to take those of the cluster, empty the data directory except for secret.key; to begin a cluster with them, run `reeve cluster init`")

// BeginCommitLog begins an epoch for a log of commits: the records as they are now are the state before
// its first entry. The database must be closed afterwards, and opened with the log.
func (db *DB) BeginCommitLog() (head stream.Head, err error) {
	if db.commits != nil {
		return head, errs.New(errs.Conflict, "the data already belong to a cluster")
	}
	if err := db.SetStream(nil); err != nil {
		return head, err
	}
	db.writing <- struct{}{}
	defer func() { <-db.writing }()
	if head, err = db.beginEpoch(); err != nil {
		return head, err
	}
	db.stream.head = head
	err = db.setMember(true)
	db.failed.Stop(errMember)
	return head, err
}

// checkMember returns an error for data that must not be changed with the options of the database.
func (db *DB) checkMember() error {
	var meta fileMeta
	err := db.View(engine{}, func(tx *Tx) (err error) {
		meta, err = readMeta(tx)
		return err
	})
	switch {
	case err != nil:
		return err
	case !meta.Cluster && db.commits != nil:
		return errNoMember
	case !meta.Cluster:
		return nil
	case db.options.LeaveCommitLog:
		return db.setMember(false)
	case db.commits == nil:
		return errMember
	case meta.Schema < db.schema.Version():
		return fmt.Errorf("%w: they have schema %d, and this program has %d", ErrOtherCopy, meta.Schema, db.schema.Version())
	}
	return nil
}

// setMember stores whether the data belong to a log of commits.
func (db *DB) setMember(member bool) error {
	return disk.RecoverDamage(db.path, func() error {
		return db.bolt.Update(func(btx *bbolt.Tx) error {
			tx := &Tx{db: db, bolt: btx, changes: newChanges()}
			meta, err := readMeta(tx)
			if err != nil {
				return err
			}
			if !member {
				if err := tx.forgetStream(); err != nil {
					return err
				}
			}
			meta.Cluster = member
			return writeMeta(tx, meta)
		})
	})
}

// CommitPosition returns the position of the data of a directory, which no server uses, in the log of commits;
// the zero Head if they have none.
func CommitPosition(dir string, options Options) (head stream.Head, err error) {
	unlock, err := takeDirToRead(dir)
	if err != nil {
		return head, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return head, readOnly(filepath.Join(dir, dataName), options, func(tx *Tx) error {
		meta, err := readMeta(tx)
		if err == nil && meta.Cluster { // otherwise it is that of the commits which a single server ships
			head, err = tx.streamHead()
		}
		return err
	})
}

// isBase returns an error for data from which no node of a log of commits can start. current is whether they
// must have the schema of this program.
func (db *DB) isBase(current bool) error {
	return db.View(engine{}, func(tx *Tx) error {
		meta, err := readMeta(tx)
		if err != nil {
			return err
		}
		head, err := tx.streamHead()
		switch {
		case err != nil:
			return err
		case !meta.Cluster || head.Epoch == "":
			return errors.New("it is no base copy of a cluster")
		case current && meta.Schema > db.schema.Version():
			return fmt.Errorf("the cluster has schema %d, written by reeve %s, and this program has %d: install reeve %s or a newer version with this schema on this machine, as the other nodes have",
				meta.Schema, meta.Version, db.schema.Version(), meta.Version)
		case current && meta.Schema < db.schema.Version():
			return fmt.Errorf("the cluster has schema %d, and this program has %d: all nodes need one version; `reeve cluster upgrade` makes the cluster that of this program", meta.Schema, db.schema.Version())
		}
		return nil
	})
}
