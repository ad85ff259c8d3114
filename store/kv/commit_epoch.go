package kv

import (
	"crypto/rand"
	"time"

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
	head, err := db.replaceEpoch(log)
	if err == nil {
		db.stream.head = head
		db.stream.opened.Store(&head)
	}
	return err
}

// replaceEpoch begins an epoch in place of another one. The writer is kept away.
func (db *DB) replaceEpoch(log *stream.Log) (head stream.Head, err error) {
	if head, err = db.beginEpoch(); err == nil {
		err = log.Begin(head)
	}
	return head, err
}

// clockStep is how far the clock may be behind the last commit before an epoch begins: entries of one epoch
// never go back in time, so the later ones would have times that are too late.
const clockStep = 2 * time.Minute

// isAhead reports whether the clock was set back since a position of the stream.
func isAhead(head stream.Head, now Time) bool {
	return head.Epoch != "" && Time(head.Time) > now.Add(clockStep)
}

// FollowClock begins an epoch if the clock was set back by minutes since the last commit, which does so by
// itself. Nodes of a cluster don't: their commits have one order, and their times are never set back.
func (db *DB) FollowClock() error {
	log := db.stream.log.Load()
	if log == nil || db.commits != nil || db.stream.failed.Load() != nil || !isAhead(log.Head(), db.clock()) {
		return nil
	}
	if err := db.Healthy(); err != nil {
		return err
	}
	db.writing <- struct{}{}
	defer func() { <-db.writing }()
	if !isAhead(db.stream.head, db.clock()) {
		return nil
	}
	head, err := db.replaceEpoch(log)
	if err == nil {
		db.stream.leave(head)
		db.stream.head = head
	}
	return err
}

// leave notes that an epoch begins in place of the one with the last commit.
func (s *commitStream) leave(begin stream.Head) {
	before := s.ends()
	left := append(before[:len(before):len(before)], s.head)
	s.left.Store(&left)
	s.opened.Store(&begin)
}

func (s *commitStream) ends() []stream.Head {
	if left := s.left.Load(); left != nil {
		return *left
	}
	return nil
}

// StreamLeft returns the last positions of the epochs that this process has left since the clock was set back,
// in their order. All that they lead to is earlier than what follows, whatever its time.
func (db *DB) StreamLeft() []stream.Head { return db.stream.ends() }

func newEpoch(now Time) stream.Head { return stream.Head{Epoch: rand.Text(), Time: int64(now)} }

// beginEpoch stores the beginning of an epoch.
func (db *DB) beginEpoch() (head stream.Head, err error) {
	head = newEpoch(db.clock())
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
