package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
)

// chain makes entries that follow each other.
type chain struct {
	rows    []Row
	entries []Entry // of the rows
	times   []int64 // of the rows, Unix microseconds
	head    Head
	at      time.Time
}

func newChain() *chain {
	return &chain{head: Head{Generation: "g1"}, at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
}

// add appends an entry, at the time of the chain.
func (c *chain) add(t testing.TB, e Entry) {
	t.Helper()
	e.Link = Link{c.head.Seq + 1, c.head.Generation, c.head.Hash,
		c.at.Format("2006-01-02T15:04:05.000000Z07:00")}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	c.rows, c.entries, c.times = append(c.rows, Row{Seq: e.Seq, Text: text}), append(c.entries, e), append(c.times, c.at.UnixMicro())
	if c.head, err = HeadOf(text); err != nil {
		t.Fatal(err)
	}
}

// Names of which some are prefixes of others, with zero bytes in them.
var (
	testKinds       = []string{"user", "app_user", "system", "user\x00"}
	testCollections = []string{"dict", "dict_item", "dict\x00",
		"dict\x00\x00\x00\x00\x00\x00\x00\x00\x01"}
	testOperations = []string{"update", "delete"}
)

// random appends n random entries. If back is true, the clock is sometimes set back.
func (c *chain) random(t testing.TB, r *rand.Rand, n int, back bool) *chain {
	t.Helper()
	for range n {
		c.at = c.at.Add(time.Duration(r.IntN(3)) * time.Second)
		if back && r.IntN(5) == 0 {
			c.at = c.at.Add(-time.Duration(r.IntN(4)) * time.Second)
		}

		e := Entry{
			Actor:     Actor{Kind: testKinds[r.IntN(4)], ID: r.Uint64N(3)},
			Operation: Operation{Title: strings.Repeat("x", r.IntN(5))},
			Reason:    strings.Repeat("x", r.IntN(300)),
		}
		if r.IntN(3) == 0 {
			e.Operation.Method, e.Operation.Route = "PUT", "/admin/"+e.Operation.Title
		}
		if r.IntN(10) == 0 {
			e.Action = "denied"
		}

		for range r.IntN(4) {
			e.Changes = append(e.Changes, Change{
				Collection: testCollections[r.IntN(4)],
				ID:         r.Uint64N(4),
				Operation:  testOperations[r.IntN(2)],
			})
		}

		if r.IntN(20) == 0 {
			c.head.Generation = fmt.Sprint("g", r.IntN(1000))
		}

		c.add(t, e)
	}
	return c
}

func values(rows []Row) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// openLog opens a log, which must have no warnings. It is closed with the test.
func openLog(t testing.TB, dir string) *Log {
	t.Helper()
	l, warnings, err := Open(dir)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// write writes rows as segments of size rows.
func write(t testing.TB, l *Log, rows []Row, size int) {
	t.Helper()
	for part := range slices.Chunk(rows, size) {
		if _, err := l.Write(values(part), fmt.Append(nil, "checkpoint ", part[0].Seq)); err != nil {
			t.Fatal(err)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newest returns at most n rows of Newest.
func newest(l *Log, q Query, before uint64, n int) (rows []Row, err error) {
	err = l.Newest(q, before, func(row Row) bool {
		rows = append(rows, row)
		return len(rows) < n
	})
	return rows, err
}

func oldest(l *Log, from uint64, n int) (rows []Row, err error) {
	err = l.Oldest(from, func(row Row) bool {
		rows = append(rows, row)
		return len(rows) < n
	})
	return rows, err
}

// same reports an error unless rows are equal; it shows only the numbers.
func same(t testing.TB, what string, got, want []Row) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b Row) bool {
		return a.Seq == b.Seq && bytes.Equal(a.Text, b.Text)
	}) {
		t.Errorf("%s: got %v, want %v", what, seqs(got), seqs(want))
	}
}

func seqs(rows []Row) (list []uint64) {
	for _, row := range rows {
		list = append(list, row.Seq)
	}
	return list
}

func reversed(rows []Row) []Row {
	rows = slices.Clone(rows)
	slices.Reverse(rows)
	return rows
}

// forge writes a segment as an attacker does: the checksums, indexes and description fit the
// rows, which need not be a chain.
func forge(t testing.TB, path string, rows []Row) {
	t.Helper()
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}

	options := disk.BoltOptions(false)
	options.NoSync, options.NoGrowSync = true, true
	bolt, err := openBolt(path, options)
	must(t, err)
	bolt.AllocSize = growBytes
	b := &builder{bolt: bolt, meta: meta{Format: format}}
	for _, row := range rows {
		e, err := Row{Seq: headOf(t, row).Seq, Text: row.Text}.Decode()
		must(t, err)
		keys, err := e.keys()
		must(t, err)
		row.Keys = &keys
		must(t, b.put(row, e.Prev))
	}

	head, err := HeadOf(rows[len(rows)-1].Text)
	must(t, err)
	must(t, errors.Join(b.finish(head, nil), bolt.Close()))
}

// segmentPaths returns the segments in a directory.
func segmentPaths(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"+segmentSuffix))
	must(t, err)
	return paths
}

func copyDir(t testing.TB, from, to string) {
	t.Helper()
	must(t, errors.Join(os.RemoveAll(to), os.MkdirAll(to, 0o700)))
	for _, path := range segmentPaths(t, from) {
		disktest.WriteFile(t, filepath.Join(to, filepath.Base(path)), disktest.ReadFile(t, path))
	}
}
