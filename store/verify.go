package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"

	"reeve/store/disk"
	"reeve/store/errs"
)

// Report is what Verify found.
type Report struct {
	Records int      // records looked at
	Blobs   int      // files looked at, the same bytes once
	Notes   []string // what is not damage and should be known
	Faults  []string // each names a bucket and a key
	More    int      // faults beyond maxFaults
}

// maxFaults keeps the report of a ruined file readable.
const maxFaults = 1000

func (r *Report) fault(format string, args ...any) {
	if len(r.Faults) == maxFaults {
		r.More++
		return
	}
	r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
}

// err is the report as an error about what was looked at; nil without faults.
func (r *Report) err(what string) error {
	if len(r.Faults) == 0 {
		return nil
	}
	return fmt.Errorf("%s is damaged (%s), the first: %s", what, errs.Count(len(r.Faults)+r.More, "fault"), r.Faults[0])
}

// Verify goes through everything: every record and its checksum, indexes both
// ways, references, trees, counts. It reads the whole file, in one view. bbolt's
// own check reads pages that a writer changes, so it runs only in a write. The pages of
// other files have been checked by pageWalk, which terminates on any damage; bbolt's check
// does not.
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
	for _, t := range tx.db.schema.tables {
		if err := disk.RecoverDamage(tx.db.path, func() error { t.verify(tx, report); return nil }); err != nil {
			report.fault("%s", disk.OneLine(err))
		}
	}
	return report
}

func (c *Collection[T]) verify(tx *Tx, report *Report) {
	got, broken := bucketTally(tx, c.name, true, &atomic.Bool{})
	for _, bucket := range c.buckets()[1:] {
		entries, _ := bucketTally(tx, bucket, false, &atomic.Bool{})
		got.sum += entries.sum
	}
	if err := checkTally(tx, c.name, got, broken); err != nil {
		report.fault("%s", disk.OneLine(err))
	}
	last := ID(0)
	for v, err := range c.All(tx) {
		report.Records++
		if err != nil {
			report.fault("%s", disk.OneLine(err))
			continue
		}
		last = c.rec(v).ident().ID
		for _, x := range c.indexes {
			x.verifyRecord(tx, last, v, report)
		}
	}
	if next := tx.bucket(c.name).Sequence(); next < uint64(last) {
		report.fault("%s: the next id, %d, is already used", c.name, next+1)
	}
	for _, x := range c.indexes {
		x.verifyEntries(tx, report)
	}
	if c.search != nil {
		c.search.verify(tx, report)
	}
	for _, check := range c.checks {
		check(tx, report)
	}
}

// verifyRecord looks for the record's entries, and for what it refers to.
func (x *index[T]) verifyRecord(tx *Tx, id ID, v *T, report *Report) {
	for _, key := range x.keys(v) {
		if x.target != nil && !x.loose {
			if to := ID(binary.BigEndian.Uint64(key)); !x.target.Exists(tx, to) {
				report.fault("%s %d: %s leads to %s %d, which does not exist", x.of.name, id, x.field, x.target.tableName(), to)
			}
		}
		if x.unique {
			if !bytes.Equal(tx.bucket(x.bucket).Get(key), idKey(id)) {
				report.fault("%s: %s %d is missing", x.bucket, x.of.name, id)
			}
			continue
		}
		if tx.bucket(x.bucket).Get(slices.Concat(key, idKey(id))) == nil {
			report.fault("%s: %s %d is missing", x.bucket, x.of.name, id)
		}
	}
}

// verifyEntries looks for entries that no record stands behind, and counts what
// the heads say is there.
func (x *index[T]) verifyEntries(tx *Tx, report *Report) {
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
			} else if _, err := x.get(tx, k, ID(binary.BigEndian.Uint64(value))); err != nil {
				report.fault("%s", disk.OneLine(err))
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
		if _, err := x.get(tx, head, ID(binary.BigEndian.Uint64(k[len(k)-8:]))); err != nil {
			report.fault("%s", disk.OneLine(err))
		}
	}
	close()
}
