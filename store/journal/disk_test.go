package journal

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"reeve/store/disk/disktest"
)

// TestJournal_SizeLimit floods small journals and checks the directory after
// every write.
func TestJournal_SizeLimit(t *testing.T) {
	for name, test := range map[string]struct {
		max    int64
		groups int
		body   int
		rows   bool
		stray  int64 // size of a foreign file
	}{
		"no limit given":         {0, 200, 700, false, 0},
		"4 MiB":                  {4 << 20, 200, 700, false, 0},
		"small events in groups": {4 << 20, 3000, 10, false, 0},
		"large events":           {5 << 20, 3, 200 << 10, false, 0},
		"one event each":         {4 << 20, 1, 50000, false, 0},
		"with rows":              {4 << 20, 200, 700, true, 0},
		"with a stray file":      {6 << 20, 200, 700, true, 2 << 20},
		"20 MiB":                 {20 << 20, 400, 5000, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if test.max > 8<<20 && disktest.Size(0, 1, 1) == 0 {
				t.Skip("it writes much: CI=true runs this")
			}

			dir, r := t.TempDir(), disktest.Random(t)
			limit := max(test.max, 4<<20)
			disktest.WriteFile(t, filepath.Join(dir, "stray"), make([]byte, test.stray))
			disktest.WriteFile(t, filepath.Join(dir, segmentName(1)), make([]byte, 1<<20)) // damaged: set aside
			j := Open(dir, Options{MaxBytes: test.max})
			defer j.Close()
			written, gone := int64(0), 0
			for step := 0; written < int64(disktest.Size(2, 4, 20))*limit || step < 50; step++ {
				var groups []Group
				for g := range test.groups {
					groups = append(groups,
						Group{fmt.Sprint(r.Uint64(), g),
							[]Event{event("a", strings.Repeat("x", test.body))}})
					written += int64(test.body + 100)
				}

				mustAppend(t, j, groups)
				bounded(t, dir, limit)
				if test.rows {
					rows := map[string][]byte{}
					for range 40 {
						rows[fmt.Sprint(r.IntN(100000))] = make([]byte, 1000)
					}
					if j.SetRows("minute", rows) != nil { // they have reached their quarter
						gone++
						bounded(t, dir, limit)
						if err := j.DeleteRows("minute", "5"); err != nil {
							t.Fatal(err)
						}
					}
					bounded(t, dir, limit)
				}
			}

			stats := j.Stats()
			if stats.Bytes < limit/3 || stats.Dropped != 0 || stats.Events == 0 ||
				len(newest(j, "a", 0, 1e6)) != int(stats.Events) {
				t.Errorf("%+v", stats)
			}
			if test.rows && limit < 10<<20 && gone == 0 {
				t.Error("the rows never reached their limit")
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*"+asideSuffix)); len(left) != 0 {
				t.Errorf("%q has outlived everything younger", left)
			}
		})
	}
}

func bounded(t *testing.T, dir string, limit int64) {
	t.Helper()
	if n := bytesOf(t, dir); n > limit {
		t.Fatalf("%d bytes on the disk, allowed are %d: %v", n, limit, snapshotSizes(t, dir))
	}
}

func bytesOf(t testing.TB, dir string) (total int64) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			total += info.Size()
		}
	}
	return total
}

func snapshotSizes(t *testing.T, dir string) (sizes []string) {
	for name, b := range disktest.Snapshot(t, dir) {
		sizes = append(sizes, fmt.Sprint(name, " ", len(b)))
	}
	slices.Sort(sizes)
	return sizes
}

func TestJournal_SmallerLimit(t *testing.T) {
	dir := t.TempDir()
	j := openJournal(t, dir, Options{MaxBytes: 64 << 20})
	rows := map[string][]byte{}
	for i := range 3000 {
		rows[fmt.Sprint(i)] = make([]byte, 1000)
	}

	if err := j.SetRows("minute", rows); err != nil {
		t.Fatal(err)
	}

	for range 200 {
		mustAppend(t, j, oneGroup("", event("a", strings.Repeat("x", 100<<10))))
	}

	if err := j.Close(); err != nil {
		t.Fatal(err)
	}

	j = Open(dir, Options{})
	defer j.Close()
	bounded(t, dir, 4<<20)
	if w := j.Stats().Warnings; len(w) != 1 || !strings.Contains(w[0], "rows.db") {
		t.Errorf("warnings %q", w)
	}

	mustAppend(t, j, oneGroup("g", event("a", "x")))
	disktest.Equal(t, "written afterwards", bodies(j.Group("g")), "a:x")
	bounded(t, dir, 4<<20)
}

func TestJournal_KeepsOtherFiles(t *testing.T) {
	dir := t.TempDir()
	others := map[string]string{
		"notes.txt":           "x",
		"00.db":               "y",
		"other.db.damaged":    "z",
		"ffffffffffffffff.db": "w",
	}
	for name, text := range others {
		disktest.WriteFile(t, filepath.Join(dir, name), []byte(text))
	}

	disktest.WriteFile(t, filepath.Join(dir, "large"), make([]byte, 4<<20))
	j := Open(dir, Options{})
	defer j.Close()
	if j.Append(oneGroup("", event("a", "x"))) == nil ||
		j.SetRows("minute", map[string][]byte{"k": nil}) == nil {
		t.Error("written though others take all the room")
	}

	disktest.Equal(t, "dropped", []uint64{j.Stats().Dropped, j.Stats().DroppedRows}, []uint64{1, 1})
	files := disktest.Snapshot(t, dir)
	for name, text := range others {
		if !strings.HasSuffix(files[name], " "+text) {
			t.Errorf("%s is %q", name, files[name])
		}
	}

	disktest.Equal(t, "files", len(files), len(others)+1)
}

// TestJournal_WithoutDirectory has a file in place of the directory.
func TestJournal_WithoutDirectory(t *testing.T) {
	clock, dir := newTestClock(), filepath.Join(t.TempDir(), "monitor")
	disktest.WriteFile(t, dir, []byte("in the way"))
	j := Open(dir, Options{Now: clock.now})
	defer j.Close()
	try := func() error {
		return errors.Join(j.Append(oneGroup("g", event("a", "x"), event("a", "y"))),
			j.SetRows("minute", map[string][]byte{"k": []byte("v")}))
	}
	if try() == nil || len(newest(j, "a", 0, 9)) != 0 || len(j.Group("g")) != 0 {
		t.Error("a journal without a directory has stored something")
	}

	for key := range j.Rows("minute", "", "~") {
		t.Errorf("it has the row %s", key)
	}

	disktest.Equal(t, "dropped", []uint64{j.Stats().Dropped, j.Stats().DroppedRows}, []uint64{2, 1})
	disktest.Equal(t, "warnings", len(j.Stats().Warnings), 1)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}

	clock.forward(9 * time.Second)
	if err := try(); !errors.Is(err, errPaused) {
		t.Errorf("after 9 s: %v", err)
	}

	clock.forward(time.Second)
	if err := try(); err != nil {
		t.Errorf("after 10 s: %v", err)
	}

	disktest.Equal(t, "stored", bodies(j.Group("g")), "a:x a:y")
}

// TestJournal_DirectoryRemoved checks that the journal continues in a new
// directory.
func TestJournal_DirectoryRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "monitor")
	j := Open(dir, Options{})
	defer j.Close()
	for _, name := range []string{"before", "after"} {
		mustAppend(t, j, oneGroup(name, event("a", name)))
		if err := j.SetRows("minute", map[string][]byte{name: []byte("v")}); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Rename(dir, dir+name), j.Expire()); err != nil {
			t.Fatal(err)
		}
		disktest.Equal(t, "files left", len(disktest.Snapshot(t, dir)), 0)
		disktest.Equal(t, "of a directory that is gone", bodies(newest(j, "a", 0, 9)), "")
		disktest.Equal(t, "files that were written", len(disktest.Snapshot(t, dir+name)), 2)
	}
}

func TestJournal_FullDisk(t *testing.T) {
	at, clock := disktest.SmallDisk(t, "1m"), newTestClock()
	dir := filepath.Join(at, "monitor")
	for _, room := range []int{0, 8 << 10, 40 << 10, 200 << 10} {
		removed := disktest.Fill(t, at, 1<<20-room)
		j := Open(dir, Options{Now: clock.now})
		stored, files := 0, 0
		for i := range 60 {
			clock.forward(retryPause)
			if j.Append(oneGroup(fmt.Sprint("g ", i), event("a", strings.Repeat("x", 20<<10)))) == nil {
				stored++
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			files = max(files, len(entries))
		}

		disktest.Equal(t, "dropped", int(j.Stats().Dropped), 60-stored)
		disktest.Equal(t, "there", len(newest(j, "a", 0, 99)), stored)
		if stored == 60 || room >= 200<<10 && stored == 0 {
			t.Errorf("with %d bytes of room %d were stored", room, stored)
		}
		if w := j.Stats().Warnings; len(w) > 1 || files > 1 {
			t.Errorf("with %d bytes of room: warnings %q, %d files", room, w, files)
		}

		removed()
		clock.forward(retryPause)
		mustAppend(t, j, oneGroup("later", event("a", "x")))
		disktest.Equal(t, "after room was made", bodies(j.Group("later")), "a:x")
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}

		j = openJournal(t, dir, Options{Now: clock.now})
		disktest.Equal(t, "after a start", len(newest(j, "a", 0, 99)), stored+1)
		if err := errors.Join(j.Close(), os.RemoveAll(dir)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestJournal_UnwritableFilesSetAside limits the size of files of this process such
// that only a new file can grow.
func TestJournal_UnwritableFilesSetAside(t *testing.T) {
	if !disktest.InOwnProcess(t) {
		return
	}

	dir := t.TempDir()
	j := openJournal(t, dir, Options{MaxBytes: 512 << 20})
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}

	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 16 << 20, Max: old.Max}); err != nil {
		t.Fatal(err)
	}

	var failed error
	for i := range 1000 {
		failed = errors.Join(failed,
			j.Append(oneGroup(fmt.Sprint("g", i), event("a", strings.Repeat("x", 50<<10)))))
		failed = errors.Join(failed,
			j.SetRows("minute", map[string][]byte{fmt.Sprint(i): make([]byte, 60<<10)}))
	}

	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}

	stats := j.Stats()
	if failed != nil || stats.Dropped != 0 || len(stats.Warnings) < 3 {
		t.Errorf("failed: %v, stats %+v", failed, stats)
	}

	disktest.Equal(t, "the last", len(j.Group("g999")), 1)
	if aside, err := filepath.Glob(filepath.Join(dir, "*"+asideSuffix)); err != nil ||
		len(aside) != 1 {
		t.Errorf("set aside: %q %v", aside, err)
	}
}

// TestJournal_ReadersDuringDeletion reads while a flood removes the segments.
func TestJournal_ReadersDuringDeletion(t *testing.T) {
	j := openJournal(t, t.TempDir(), Options{})
	groups := func(n int) (groups []Group) {
		for i := range 100 {
			groups = append(groups,
				Group{fmt.Sprint(n, " ", i),
					[]Event{event("a", strings.Repeat("x", 2000)), event("b", "y")}})
		}
		return groups
	}
	mustAppend(t, j, groups(0))
	done := make(chan struct{})
	var readers sync.WaitGroup
	walks := make([]int, 4)
	for r := range 4 {
		readers.Go(func() {
			for kind := string("abab"[r]); ; walks[r]++ {
				select {
				case <-done:
					return
				default:
				}

				last := uint64(1 << 60)
				j.Newest(kind, 0, func(e Event) bool {
					if e.ID >= last || e.Kind != kind ||
						len(e.Body) != map[string]int{"a": 2000, "b": 1}[kind] {
						t.Errorf("%s %d after %d with %d bytes", e.Kind, e.ID, last, len(e.Body))
						return false
					}
					last = e.ID
					return true
				})
				j.Get(kind, last)
				j.Group(fmt.Sprint(walks[r], " 1"))
				j.Stats()
			}
		})
	}

	for n := range disktest.Size(30, 200, 2000) {
		mustAppend(t, j, groups(n))
		if n%10 == 0 {
			if err := j.Expire(); err != nil {
				t.Error(err)
			}
		}
	}

	close(done)
	readers.Wait()
	stats := j.Stats()
	if slices.Min(walks) == 0 || stats.Damaged != 0 || len(stats.Warnings) != 0 ||
		stats.Events >= 6000 {
		t.Errorf("walks %v, stats %+v", walks, stats)
	}
}

// BenchmarkJournal appends batches of 500 events of 700 bytes, then reads them.
func BenchmarkJournal(b *testing.B) {
	dir := b.TempDir()
	fill := func(j *Journal, n int) {
		groups, body := make([]Group, 250), strings.Repeat("x", 690)
		for range n {
			for i := range groups {
				groups[i] = Group{fmt.Sprintf("%x", time.Now().UnixNano()*7919+int64(i)),
					[]Event{event("request", body), event("query", body)}}
			}
			mustAppend(b, j, groups)
		}
	}
	b.Run("append", func(b *testing.B) {
		j := openJournal(b, dir, Options{MaxBytes: 256 << 20})
		fill(j, 1)
		b.ResetTimer()
		fill(j, b.N)
		b.ReportMetric(500*float64(b.N)/b.Elapsed().Seconds(), "events/s")
	})
	j := openJournal(b, dir, Options{MaxBytes: 256 << 20})
	for j.Stats().Bytes < 225<<20 {
		fill(j, 10)
	}

	if err := j.Close(); err != nil {
		b.Fatal(err)
	}

	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			if err := openJournal(b, dir, Options{MaxBytes: 256 << 20}).Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("newest", func(b *testing.B) {
		j, n := openJournal(b, dir, Options{MaxBytes: 256 << 20}), 0
		b.ResetTimer()
		for b.Loop() {
			j.Newest("request", 0, func(Event) bool { n++; return true })
		}
		b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
		b.ReportMetric(float64(j.Stats().Events), "events")
	})
}
