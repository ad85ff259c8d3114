package kv

import (
	"crypto/rand"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/stream"
)

// StreamOpened returns the position at which this process has turned the stream on; the zero Head while
// it is off.
func (db *DB) StreamOpened() stream.Head {
	if at := db.stream.opened.Load(); at != nil && db.stream.log.Load() != nil {
		return *at
	}
	return stream.Head{}
}

// LeaveEpoch begins an epoch in place of another one, which a process with the same data has continued
// since the position of StreamOpened: that of a copied directory, or this machine before it was set back
// to a snapshot. The entries in the log are removed: they would contradict those of that process.
func (db *DB) LeaveEpoch(epoch string) error {
	if err := db.Healthy(); err != nil {
		return err
	}
	db.writing <- struct{}{}
	defer func() { <-db.writing }()
	log := db.stream.log.Load()
	if log == nil || db.commits != nil || db.stream.head.Epoch != epoch {
		return nil
	}
	if err := log.Clear(); err != nil {
		return err
	}
	head, err := db.beginEpoch()
	if err == nil {
		err = log.Begin(head)
	}
	if err != nil {
		return err
	}
	db.stream.head = head
	db.stream.opened.Store(&head)
	return nil
}

// beginEpoch stores the beginning of an epoch.
func (db *DB) beginEpoch() (head stream.Head, err error) {
	head = stream.Head{Epoch: rand.Text(), Time: int64(db.clock())}
	err = disk.RecoverDamage(db.path, func() error {
		return db.bolt.Update(func(btx *bbolt.Tx) error {
			return putHead(&Tx{db: db, bolt: btx}, head)
		})
	})
	if err != nil {
		err = disk.Outcome(db.failed.StopUnlessFull(dataName, err), err)
	}
	return head, err
}
