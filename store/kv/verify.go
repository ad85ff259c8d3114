package kv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"

	"reeve/store/disk"
	"reeve/store/errs"
)

// Report is the result of Verify.
type Report struct {
	Records int      // number of records read
	Blobs   int      // number of blobs read; files with the same content share one
	Notes   []string // remarks that are not damage
	Faults  []string // each names a bucket and a key
	More    int      // number of faults beyond maxFaults
}

// maxFaults is the maximum length of Report.Faults, to keep the report of a badly damaged file
// readable.
const maxFaults = 1000

func (r *Report) fault(format string, args ...any) {
	if len(r.Faults) == maxFaults {
		r.More++
		return
	}
	r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
}

// Faulty is the error about verified data that has faults.
type Faulty struct{ text string }

func (f *Faulty) Error() string { return f.text }

// err returns the report as a *Faulty about the verified file; nil if there are no faults.
func (r *Report) err(what string) error {
	if len(r.Faults) == 0 {
		return nil
	}
	return &Faulty{fmt.Sprintf("%s is damaged (%s), the first: %s", what,
		errs.Count(len(r.Faults)+r.More, "fault"), r.Faults[0])}
}

// Verify checks everything in data.db: every record and its checksum, that records and index
// entries match in both directions, references, trees, counts. It reads the whole file in one
// transaction. bbolt's own check of the pages reads pages that a writer changes, so it runs only
// in a write function. The pages of other files have been checked by pageWalk before, which,
// unlike bbolt's check, terminates on any damage.
func (tx *Tx) Verify() *Report {
	report := &Report{}
	tx.bucket(disk.MetaBucket)
	if tx.changes != nil {
		err := disk.RecoverDamage(tx.db.path, func() error {
			for err := range tx.bolt.Check() {
				report.fault("%s: pages: %s", dataName, disk.OneLine(err))
			}
			return nil
		})
		if err != nil {
			report.fault("%s: pages: %s", dataName, disk.OneLine(err))
		}
	}

	known := tx.db.schema.bucketNames()
	cursor := tx.bolt.Cursor()
	for name, _ := cursor.First(); name != nil; name, _ = cursor.Next() {
		if !slices.Contains(known, string(name)) {
			report.fault("bucket %q is not of this program", name)
		}
	}

	if tx.db.schema.LogEntry != nil {
		if err := disk.RecoverDamage(tx.db.path, func() error {
			tx.verifyLog(report)
			return nil
		}); err != nil {
			report.fault("%s", disk.OneLine(err))
		}
	}

	for _, t := range tx.db.schema.Tables {
		if err := disk.RecoverDamage(tx.db.path, func() error {
			t.table().verify(tx, report)
			return nil
		}); err != nil {
			report.fault("%s", disk.OneLine(err))
		}
	}

	return report
}

// verify checks a collection: its totals, records, indexes, search texts and declared checks.
func (c *collection) verify(tx *Tx, report *Report) {
	stop := tx.db.options.stop
	if stop == nil {
		stop = &atomic.Bool{}
	}

	got, broken := bucketTotals(tx, c.name, true, stop)
	for _, bucket := range c.buckets()[1:] {
		entries, _ := bucketTotals(tx, bucket, false, stop)
		got.sum += entries.sum
	}

	if err := checkTotals(tx, c.name, got, broken); err != nil {
		report.fault("%s", disk.OneLine(err))
	}

	last, present := ID(0), make([]int, len(c.indexes))
	for v, err := range c.all(tx) {
		if report.Records++; stop.Load() {
			return
		}
		if report.Records%progressEvery == 0 {
			tx.db.options.progress("records verified", int64(report.Records), 0)
		}
		if err != nil {
			report.fault("%s", disk.OneLine(err))
			continue
		}
		last = v.ident().ID
		for i, x := range c.indexes {
			present[i] += x.verifyRecord(tx, last, v, report)
		}
	}

	if next := tx.bucket(c.name).Sequence(); next < uint64(last) {
		report.fault("%s: the next id, %d, is already used", c.name, next+1)
	}

	for i, x := range c.indexes {
		if stop.Load() {
			return
		}
		x.verifyEntries(tx, present[i], report)
	}

	if c.search != nil {
		c.search.verify(tx, report)
	}

	for _, check := range c.checks {
		check(tx, report)
	}
}

// verifyRecord checks that the index has an entry for each value of a record, and that the
// records exist that it refers to. It returns the number of entries that it found.
func (x *index) verifyRecord(tx *Tx, id ID, v record, report *Report) (present int) {
	for _, key := range x.keys(v) {
		if x.target != nil && !x.dangles {
			if to := ID(binary.BigEndian.Uint64(key)); !x.target.Exists(tx, to) {
				report.fault("%s %d: %s leads to %s %d, which does not exist", x.of.name, id,
					x.field, x.target.Name(), to)
			}
		}

		found := false
		if x.unique {
			found = bytes.Equal(tx.bucket(x.bucket).Get(key), idKey(id))
		} else {
			found = tx.bucket(x.bucket).Get(slices.Concat(key, idKey(id))) != nil
		}
		if !found {
			report.fault("%s: %s %d is missing", x.bucket, x.of.name, id)
			continue
		}

		present++
	}
	return present
}

// entries returns the number of entries of the index, without the count entries.
func (x *index) entries(tx *Tx) (n int) {
	cursor := tx.bucket(x.bucket).Cursor()
	for k, value := cursor.First(); k != nil; k, value = cursor.Next() {
		if x.unique || len(value) == 0 {
			n++
		}
	}
	return n
}

// verifyEntries checks that each entry of the index has a record with the value, and compares
// the count entries with the numbers of entries. present is the number of entries that verifyRecord
// has found. If there are no others, each has a record with the value, and the records need not be
// decoded again.
func (x *index) verifyEntries(tx *Tx, present int, report *Report) {
	allFound := x.entries(tx) == present
	var head []byte
	var said, counted uint64
	close := func() {
		if said != counted {
			report.fault("%s %x: %d entries, its count says %d", x.bucket, head, counted, said)
		}
		head, said, counted = nil, 0, 0
	}

	cursor := tx.bucket(x.bucket).Cursor()
	for k, value := cursor.First(); k != nil; k, value = cursor.Next() {
		if x.unique {
			if len(value) != 8 {
				report.fault("%s %x: %d bytes, not an id", x.bucket, k, len(value))
			} else if !allFound {
				x.verifyEntry(tx, k, value, report)
			}
			continue
		}
		if len(value) > 0 {
			close()
			n, err := x.count(tx, k)
			if err != nil {
				report.fault("%s", disk.OneLine(err))
			}
			head, said = bytes.Clone(k), n
			continue
		}
		if len(k) <= 8 || !bytes.Equal(k[:len(k)-8], head) {
			report.fault("%s %x: an entry without a count before it", x.bucket, k)
			continue
		}

		counted++
		if !allFound {
			x.verifyEntry(tx, head, k[len(k)-8:], report)
		}
	}

	close()
}

// verifyEntry checks that the record of an entry has the value that key encodes.
func (x *index) verifyEntry(tx *Tx, key, id []byte, report *Report) {
	if _, err := x.get(tx, key, ID(binary.BigEndian.Uint64(id))); err != nil {
		report.fault("%s", disk.OneLine(err))
	}
}
