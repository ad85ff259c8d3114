package audit

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

func TestRoundTrip(t *testing.T) {
	dir, r := filepath.Join(t.TempDir(), "audit"), disktest.Random(t)
	c := newChain().random(t, r, 300, true)
	l := openLog(t, dir)
	write(t, l, c.rows, 45)
	check := func(l *Log) {
		t.Helper()
		all, err := oldest(l, 0, math.MaxInt)
		must(t, err)
		same(t, "oldest", all, c.rows)
		all, err = oldest(l, 100, 50)
		must(t, err)
		same(t, "50 from 100", all, c.rows[99:149])
		all, err = newest(l, Query{}, 0, math.MaxInt)
		must(t, err)
		same(t, "newest", all, reversed(c.rows))
		for _, want := range c.rows {
			row, err := l.Get(want.Seq)
			must(t, err)
			same(t, "get", []Row{row}, []Row{want})
		}

		for _, seq := range []uint64{0, 301, math.MaxUint64} {
			if _, err := l.Get(seq); !errs.Is(err, errs.NotFound) {
				t.Errorf("entry %d: %v", seq, err)
			}
		}

		disktest.Equal(t, "head", l.Head(), c.head)
		data, err := l.Checkpoint(46)
		must(t, err)
		disktest.Equal(t, "checkpoint", string(data), "checkpoint 46")
		if _, err := l.Checkpoint(47); !errs.Is(err, errs.NotFound) {
			t.Errorf("checkpoint of no segment: %v", err)
		}
	}
	check(l)
	check(openLog(t, dir))
	checkInfos(t, l, c)
	result, err := VerifyFiles(reversedPaths(segmentPaths(t, dir)), []Head{c.head})
	must(t, err)
	disktest.Equal(t, "result", result, Result{1, 300, c.head})
	for path, file := range disktest.Snapshot(t, dir) {
		if !strings.HasPrefix(file, "-rw------- ") {
			t.Errorf("%s has the mode %.10s", path, file)
		}
	}

	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info.Mode(), err)
	}
}

func reversedPaths(paths []string) []string {
	slices.Reverse(paths)
	return paths
}

// checkInfos compares the descriptions of segments of 45 rows with the rows.
func checkInfos(t *testing.T, l *Log, c *chain) {
	t.Helper()
	infos := l.Segments()
	disktest.Equal(t, "segments", len(infos), 7)
	for i, got := range infos {
		rows := c.rows[45*i : min(45*i+45, len(c.rows))]
		file, err := os.Stat(got.Path)
		must(t, err)
		want := Info{
			Path:  filepath.Join(l.dir, segmentName(rows[0].Seq)),
			First: rows[0].Seq,
			Last:  rows[len(rows)-1].Seq,
			From:  math.MaxInt64,
			Bytes: file.Size(),
		}
		for k, row := range rows {
			e, err := row.Decode()
			must(t, err)
			at, err := time.Parse(time.RFC3339Nano, e.At)
			must(t, err)
			want.From, want.To = min(want.From, at.UnixMicro()), max(want.To, at.UnixMicro())
			if e.Action == "denied" {
				want.Denials += int64(len(row.Text))
			}
			if k == 0 {
				want.Prev = e.Prev
			}
		}

		want.Head, err = HeadOf(rows[len(rows)-1].Text)
		must(t, err)
		disktest.Equal(t, "segment", got, want)
	}
}

func TestWriteSegment_LargeEntries(t *testing.T) {
	dir, c := t.TempDir(), newChain()
	for range 5 {
		c.add(t, Entry{Actor: Actor{Kind: "system"}, Reason: strings.Repeat("r", 3<<20)})
	}

	l := openLog(t, dir)
	checkpoint := bytes.Repeat([]byte("checkpoint "), 300_000)
	info, err := l.Write(values(c.rows), checkpoint)
	must(t, err)
	all, err := newest(l, Query{}, 0, 9)
	must(t, err)
	same(t, "newest", all, reversed(c.rows))
	data, err := l.Checkpoint(1)
	if err != nil || !bytes.Equal(data, checkpoint) {
		t.Errorf("checkpoint of %d bytes, %v", len(data), err)
	}
	if size := int64(15<<20 + len(checkpoint)); info.Bytes < size || info.Bytes > 2*size { // pages of large values are written twice
		t.Errorf("the file has %d bytes for %d", info.Bytes, size)
	}
}

// TestWriteSegment_Refusals checks that nothing is left of a segment that is refused.
func TestWriteSegment_Refusals(t *testing.T) {
	r := disktest.Random(t)
	c := newChain().random(t, r, 30, false)
	other := newChain().random(t, r, 30, false)
	broken := errors.New("the source is broken")
	with := func(rows []Row, i int, row Row) []Row {
		rows = slices.Clone(rows)
		rows[i] = row
		return rows
	}

	later := c.rows[20:]
	for name, test := range map[string]struct {
		rows []Row
		want string
	}{
		"no rows": {nil, "there are no entries"},
		"a gap": {slices.Delete(slices.Clone(later), 3, 4),
			"entry 24 is missing"},
		"a row twice": {slices.Insert(slices.Clone(later), 3, later[2]),
			"entry 23 occurs twice"},
		"out of order": {reversed(later), "entry 29 is out of order"},
		"another number": {with(later, 3, Row{Seq: 24, Text: later[4].Text}),
			"entry 24 was altered: it has the number 25"},
		"another chain":          {other.rows[20:], "entry 21 does not continue"},
		"a row of another chain": {with(later, 3, other.rows[23]), "entry 24 was altered"},
		"the last of another chain": {with(later, 9, other.rows[29]),
			"entry 29 or entry 30 was altered"},
		"not JSON": {with(later, 0, Row{Seq: 21, Text: []byte("{")}),
			"entry 21 was altered: it cannot be read"},
		"entries that are there":       {c.rows[10:25], "entry 11 is in two segments"},
		"the same number, fewer":       {c.rows[:10], "has other entries: 1 to 20"},
		"the same number, other chain": {other.rows[:20], "has other entries: 1 to 20"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := openLog(t, dir)
			write(t, l, c.rows[:20], 20)
			before := disktest.Snapshot(t, dir)
			if _, err := l.Write(values(test.rows), nil); err == nil ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			disktest.Equal(t, "files", disktest.Snapshot(t, dir), before)
			write(t, l, later, 10)
		})
	}

	l := openLog(t, t.TempDir())
	_, err := l.Write(func(yield func(Row, error) bool) {
		_ = yield(c.rows[0], nil) && yield(Row{}, broken)
	}, nil)
	if !errors.Is(err, broken) || len(disktest.Snapshot(t, l.dir)) > 0 {
		t.Errorf("a source that breaks: %v", err)
	}
}

// TestCrashes has the files that a crash leaves at every step of a write.
func TestCrashes(t *testing.T) {
	r := disktest.Random(t)
	c := newChain().random(t, r, 40, false)
	dir := t.TempDir()
	path, err := WriteSegment(dir, values(c.rows[:20]), nil)
	must(t, err)
	whole := disktest.ReadFile(t, path)
	for name, size := range map[string]int{
		"before the first write": 0,
		"in the middle":          len(whole) / 2,
		"before the rename":      len(whole),
	} {
		t.Run(name, func(t *testing.T) {
			disktest.WriteFile(t, filepath.Join(dir, newName), whole[:size])
			l := openLog(t, dir)
			disktest.Equal(t, "files", len(disktest.Snapshot(t, dir)), 1)
			disktest.WriteFile(t, filepath.Join(dir, newName), whole[:size]) // a write that failed
			if _, err := l.Write(values(c.rows[:20]), nil); err != nil {
				t.Errorf("write the same again: %v", err)
			}
			disktest.Equal(t, "files", len(disktest.Snapshot(t, dir)), 1)
			disktest.Equal(t, "segments", len(l.Segments()), 1)
		})
	}

	t.Run("after the rename", func(t *testing.T) {
		l := openLog(t, dir)
		later, err := WriteSegment(dir, values(c.rows[20:]), nil)
		must(t, err)
		disktest.Equal(t, "head before", l.Head().Seq, 20)
		must(t, errors.Join(l.Add(later), l.Add(later)))
		all, err := oldest(l, 1, 99)
		must(t, err)
		same(t, "all", all, c.rows)
		if l.Add(filepath.Join(t.TempDir(), filepath.Base(later))) == nil {
			t.Error("a segment of another directory was added")
		}
	})
	t.Run("a damaged segment is not taken for the same", func(t *testing.T) {
		b := bytes.Clone(whole)
		b[bytes.Index(b, c.rows[7].Text)+100] ^= 1
		disktest.WriteFile(t, path, b)
		if _, err := WriteSegment(dir, values(c.rows[:20]), nil); err == nil ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("got %v", err)
		}
	})
}

func TestDropAndPrune(t *testing.T) {
	const day = 24 * time.Hour
	c := newChain()
	begin := c.at
	for range 10 { // one segment of 10 entries a day
		for range 10 {
			c.add(t, Entry{Actor: Actor{Kind: "system"}})
		}
		c.at = c.at.Add(day)
	}

	for name, test := range map[string]struct {
		maxAge, minAge time.Duration
		maxSegments    int64
		dropped        int
		blocked        bool
	}{
		"no limits":                   {0, 0, 0, 0, false},
		"nothing is too old":          {20 * day, 0, 0, 0, false},
		"by age":                      {6*day + time.Hour, 0, 0, 4, false},
		"just not too old":            {6 * day, 0, 0, 4, false},
		"all are too old":             {time.Hour, 0, 0, 10, false},
		"by size":                     {0, day / 2, 3, 7, false},
		"by size, all":                {0, day / 2, -1, 10, false},
		"by size, some are too young": {0, 4*day + time.Hour, 3, 6, true},
		"by size, all are too young":  {0, 30 * day, 3, 0, true},
		"by age below the minimum":    {4*day + time.Hour, 30 * day, 0, 6, false},
		"by age, then by size":        {8*day + time.Hour, 4*day + time.Hour, 3, 6, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			l := openLog(t, dir)
			write(t, l, c.rows, 10)
			infos, maxBytes := l.Segments(), int64(0)
			if test.maxSegments != 0 {
				maxBytes = max(1, test.maxSegments*infos[0].Bytes)
			}

			dropped, blocked, err := l.Prune(begin.Add(10*day), test.maxAge, test.minAge, maxBytes)
			must(t, err)
			disktest.Equal(t, "dropped", len(dropped), test.dropped)
			disktest.Equal(t, "blocked", blocked, test.blocked)
			disktest.Equal(t, "left", l.Segments(), infos[test.dropped:])
			disktest.Equal(t, "files", len(segmentPaths(t, dir)), 10-test.dropped)
			all, err := oldest(l, 0, 999)
			must(t, err)
			same(t, "entries left", all, c.rows[10*test.dropped:])
			if test.dropped > 0 {
				if _, err := l.Get(1); !errs.Is(err, errs.NotFound) {
					t.Errorf("entry 1: %v", err)
				}
			}
		})
	}

	l := openLog(t, t.TempDir())
	write(t, l, c.rows, 10)
	if l.Drop(11) == nil || len(l.Segments()) != 10 {
		t.Error("a segment that is not the oldest was dropped")
	}
}

func TestLog_FewOpenFiles(t *testing.T) {
	c := newChain().random(t, disktest.Random(t), 60, false)
	dir := t.TempDir()
	write(t, openLog(t, dir), c.rows, 4)
	l := openLog(t, dir)
	open := func() (n int) {
		for _, s := range l.segments {
			if s.bolt != nil {
				n++
			}
		}
		return n
	}
	disktest.Equal(t, "after the start", open(), 0)
	_, err := newest(l, Query{}, 0, 3)
	must(t, err)
	disktest.Equal(t, "after a page", open(), 1)
	for range 2 {
		all, err := newest(l, Query{}, 0, 99)
		must(t, err)
		same(t, "all", all, reversed(c.rows))
		disktest.Equal(t, "after everything was read", open(), maxOpen)
	}

	must(t, l.Close())
	_, err = newest(l, Query{}, 0, 1)
	_, getErr := l.Get(1)
	disktest.Equal(t, "after Close", []error{err, getErr, l.Oldest(0, nil)},
		[]error{errClosed, errClosed, errClosed})
}
