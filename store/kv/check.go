package kv

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"reeve/store/disk"
	"reeve/store/errs"
)

// Open verifies the totals of every collection. Large collections are verified in the background,
// so that the start does not wait for them.

// largeFrom is the number of records from which a collection is large.
const largeFrom = 50_000

// maxWarnings is the maximum number of broken records of one collection that are logged.
const maxWarnings = 10

// backgroundCheck verifies the large collections while the database is in use.
type backgroundCheck struct {
	stopped  atomic.Bool
	done     chan struct{}
	warnings []string // complete once done is closed
	discard  []Table  // tables with broken records to delete
	damage   error    // first broken record
}

// runCheck verifies the totals of the small collections and starts verifying the others. A
// broken record is only a warning, because reading it returns an error, unless a cache needs it.
func (db *DB) runCheck() error {
	from := uint64(largeFrom)
	if n := db.options.checkFrom; n > 0 {
		from = n
	}

	var now, later []Table
	err := db.View(engine{}, func(tx *Tx) error {
		for _, t := range db.schema.Tables {
			said, err := readTotals(tx, t.Name())
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

	broken, err := db.checkTotals(now)
	if err != nil {
		return err
	}

	for _, t := range now {
		if len(broken[t]) > 0 && slices.ContainsFunc(db.schema.Caches, func(c AnyCache) bool {
			return c.reads(t)
		}) {
			return broken[t][0]
		}
		if err := db.tellBroken(t, broken[t]); err != nil {
			return err
		}
	}

	db.checkInBackground(later)
	return nil
}

// tellBroken adds warnings about the broken records of one collection, and keeps them for the
// health report. Those of a disposable collection are deleted.
func (db *DB) tellBroken(t Table, broken []error) error {
	if len(broken) == 0 {
		return nil
	}
	if db.commits != nil { // see needsCopy
		return broken[0]
	}
	if t.table().disposable {
		db.warnings = append(db.warnings, removedText(t, broken))
		return db.Update(engine{}, t.table().discardBroken)
	}
	db.warnings = append(db.warnings, db.brokenTexts(broken)...)
	return nil
}

// removedText is the warning about broken records that were deleted.
func removedText(t Table, broken []error) string {
	text := disk.OneLine(broken[0]) + "; it was removed"
	if n := len(broken) - 1; n > 0 {
		text += fmt.Sprintf(", and so were %d others of %s", n, t.Name())
	}
	return text
}

// brokenTexts returns the warnings about the broken records of one collection, and keeps them for
// the health report.
func (db *DB) brokenTexts(broken []error) (texts []string) {
	for _, err := range broken[:min(len(broken), maxWarnings)] {
		texts = append(texts, disk.OneLine(err))
		db.noteDamage(err)
	}
	return texts
}

// checkTotals verifies the totals of collections, several buckets at the same time, and
// returns the broken records by collection. A wrong totals is an error: any record may be an
// older version.
func (db *DB) checkTotals(tables []Table) (broken map[Table][]error, err error) {
	type part struct {
		of     Table
		bucket string
	}
	var parts []part
	for _, t := range tables {
		for _, bucket := range t.Buckets() {
			parts = append(parts, part{t, bucket})
		}
	}

	var mu sync.Mutex
	var next atomic.Int32
	sums := map[Table]totals{}
	broken = map[Table][]error{}
	work := func() error {
		for i := int(next.Add(1)) - 1; i < len(parts); i = int(next.Add(1)) - 1 {
			p := parts[i]
			err := db.View(engine{}, func(tx *Tx) error {
				got, bad := bucketTotals(tx, p.bucket, p.bucket == p.of.Name(), &atomic.Bool{})
				mu.Lock()
				defer mu.Unlock()
				sum := sums[p.of]
				sums[p.of] = sum.plus(got)
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

	return broken, db.View(engine{}, func(tx *Tx) error {
		for _, t := range tables {
			if err := checkTotals(tx, t.Name(), sums[t], broken[t]); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkInBackground starts verifying the totals of large collections, in one read transaction
// that begins before it returns. It reports the result to Options.Checked. If a totals is wrong,
// any record may be an older version: writing stops, so that no change is based on one.
func (db *DB) checkInBackground(tables []Table) {
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
		err := db.View(engine{}, func(tx *Tx) error {
			tx.bucket(countBucket) // begins the transaction, so that it does not see later writes
			begin()
			for _, t := range tables {
				if err := c.table(tx, t); err != nil {
					return err
				}
			}
			return nil
		})
		if damage := cmp.Or(err, c.damage); db.commits != nil && damage != nil && !c.stopped.Load() {
			db.commits.refuse(damage) // see needsCopy
			c.discard = nil
		}
		for _, t := range c.discard {
			err = errors.Join(err, db.Update(engine{}, t.table().discardBroken))
		}
		if err != nil && !c.stopped.Load() {
			c.warnings = append(c.warnings, errs.ForOperator(err).Error())
			reason := errs.New(errs.Busy, "writes have stopped: %s; restore a backup",
				disk.OneLine(err)).
				Coded("writing_stopped").Because(err)
			db.failed.Stop(reason)
		}
		if db.options.Checked != nil {
			db.options.Checked(c.warnings)
		}
	}()

	<-begun
}

// table verifies the totals of one collection.
func (c *backgroundCheck) table(tx *Tx, t Table) error {
	var sum totals
	var broken []error
	for _, bucket := range t.Buckets() {
		got, bad := bucketTotals(tx, bucket, bucket == t.Name(), &c.stopped)
		sum = sum.plus(got)
		broken = append(broken, bad...)
	}

	if c.stopped.Load() {
		return nil
	}
	if len(broken) > 0 {
		c.damage = cmp.Or(c.damage, broken[0])
	}
	if t.table().disposable && len(broken) > 0 {
		c.discard = append(c.discard, t)
		c.warnings = append(c.warnings, removedText(t, broken))
	} else {
		c.warnings = append(c.warnings, tx.db.brokenTexts(broken)...)
	}

	return checkTotals(tx, t.Name(), sum, broken)
}

// close stops the check and waits until its goroutine has ended.
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
