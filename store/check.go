package store

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"reeve/store/disk"
	"reeve/store/errs"
)

// Opening the database verifies the tally of every collection. Large collections are
// verified in the background, so that the start does not wait for them.

// largeFrom is the number of records from which a collection is large.
const largeFrom = 50_000

// maxWarnings limits the broken records of one collection that are logged.
const maxWarnings = 10

// backgroundCheck verifies the large collections while the database is in use.
type backgroundCheck struct {
	stopped  atomic.Bool
	done     chan struct{}
	warnings []string // complete once done is closed
}

// lookThrough verifies the tallies. Reading a broken record returns an error, so one does
// not prevent the start, unless a cache needs it.
func (db *DB) lookThrough() error {
	from := uint64(largeFrom)
	if n := db.options.checkFrom; n > 0 {
		from = n
	}
	var now, later []table
	err := db.View(System, func(tx *Tx) error {
		for _, t := range db.schema.tables {
			said, err := readTally(tx, t.tableName())
			if err != nil {
				return err
			}
			if said.records < from {
				now = append(now, t)
			} else {
				later = append(later, t)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	broken, err := db.checkTallies(now)
	if err != nil {
		return err
	}
	for _, t := range now {
		if len(broken[t]) > 0 && slices.ContainsFunc(db.schema.caches, func(c anyCache) bool { return c.reads(t) }) {
			return broken[t][0]
		}
		db.warnings = append(db.warnings, brokenTexts(broken[t])...)
	}
	db.checkInBackground(later)
	return nil
}

// brokenTexts returns the log lines about the broken records of one collection.
func brokenTexts(broken []error) (texts []string) {
	for _, err := range broken[:min(len(broken), maxWarnings)] {
		texts = append(texts, err.Error())
	}
	return texts
}

// checkTallies holds the tallies of collections against what lies there, a bucket in
// each of several transactions at the same time, and returns the broken records by
// collection. A wrong tally is an error: it means that anything may be old.
func (db *DB) checkTallies(tables []table) (broken map[table][]error, err error) {
	type part struct {
		of     table
		bucket string
	}
	var parts []part
	for _, t := range tables {
		for _, bucket := range t.buckets() {
			parts = append(parts, part{t, bucket})
		}
	}
	var mu sync.Mutex
	var next atomic.Int32
	sums := map[table]tally{}
	broken = map[table][]error{}
	work := func() error {
		for i := int(next.Add(1)) - 1; i < len(parts); i = int(next.Add(1)) - 1 {
			p := parts[i]
			err := db.View(System, func(tx *Tx) error {
				got, bad := bucketTally(tx, p.bucket, p.bucket == p.of.tableName(), &atomic.Bool{})
				mu.Lock()
				defer mu.Unlock()
				sum := sums[p.of]
				sums[p.of] = tally{sum.records + got.records, sum.sum + got.sum}
				broken[p.of] = append(broken[p.of], bad...)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	errs := make([]error, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = work() })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return broken, db.View(System, func(tx *Tx) error {
		for _, t := range tables {
			if err := checkTally(tx, t.tableName(), sums[t], broken[t]); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkInBackground starts verifying the tallies of large collections in one read
// transaction, which begins before it returns, and reports the result to Options.Checked.
// A wrong tally means that any record may be an older version: writing stops, so that no
// change is based on one.
func (db *DB) checkInBackground(tables []table) {
	c := &backgroundCheck{done: make(chan struct{})}
	db.check = c
	if len(tables) == 0 {
		close(c.done)
		return
	}
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	go func() {
		defer close(c.done)
		defer begin()
		err := db.View(System, func(tx *Tx) error {
			tx.bucket(countBucket) // begins the transaction: later writes are not seen
			begin()
			for _, t := range tables {
				if err := c.table(tx, t); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil && !c.stopped.Load() {
			c.warnings = append(c.warnings, forOperator{err}.Error())
			reason := errs.New(errs.Busy, "writing has stopped: %s; restore a backup", disk.OneLine(err)).
				Coded("writing_stopped").Because(err)
			db.failed.CompareAndSwap(nil, &stop{reason, time.Now()})
		}
		if db.options.Checked != nil {
			db.options.Checked(c.warnings)
		}
	}()
	<-begun
}

// table verifies the tally of one collection.
func (c *backgroundCheck) table(tx *Tx, t table) error {
	var sum tally
	var broken []error
	for _, bucket := range t.buckets() {
		got, bad := bucketTally(tx, bucket, bucket == t.tableName(), &c.stopped)
		sum = tally{sum.records + got.records, sum.sum + got.sum}
		broken = append(broken, bad...)
	}
	if c.stopped.Load() {
		return nil
	}
	c.warnings = append(c.warnings, brokenTexts(broken)...)
	return checkTally(tx, t.tableName(), sum, broken)
}

// close stops the check and waits for its end.
func (c *backgroundCheck) close() {
	if c != nil {
		c.stopped.Store(true)
		<-c.done
	}
}

// Checking reports whether large collections are still being verified. If one turns out to
// be damaged, Healthy returns an error.
func (db *DB) Checking() bool {
	select {
	case <-db.check.done:
		return false
	default:
		return true
	}
}
