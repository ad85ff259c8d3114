package kv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"reeve/store/blob"
	"reeve/store/disk"
	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

func ignore(int64, int64) {}

// mustCompact compacts an open database.
func mustCompact(t testing.TB, db *DB) []Compacted {
	t.Helper()
	done, err := db.Compact(t.Context(), ignore)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// noCopy checks that no copy of a compaction is left.
func noCopy(t testing.TB, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "*"+disk.CompactSuffix))
	if err != nil || len(left) > 0 {
		t.Errorf("%q is left, %v", left, err)
	}
}

// during runs act while db is being compacted, when more than some bytes were copied.
func during(t testing.TB, db *DB, ctx context.Context, bytes int64, act func()) error {
	t.Helper()
	var once sync.Once
	_, err := db.Compact(ctx, func(done, _ int64) {
		if done > bytes {
			once.Do(act)
		}
	})
	return err
}

// An open database gives back what an offline compaction of the same data does.
func TestLiveCompact_FreesSpace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, want := withFiles(t, dir)
	wasteSpace(t, db)
	db.files.blobs.Sweep()
	copied := filepath.Join(t.TempDir(), "copy")
	noErr(t, os.CopyFS(copied, os.DirFS(dir))) // nothing writes
	noErr(t, os.Remove(filepath.Join(copied, lockName)))
	offline, err := Compact(copied, Options{Schema: &office})
	noErr(t, err)

	var last, total int64
	done, err := db.Compact(t.Context(), func(done, all int64) {
		if done < last || done > all {
			t.Errorf("%d of %d after %d", done, all, last)
		}
		last, total = done, all
	})
	noErr(t, err)
	if last < total*9/10 || len(done) != 2 {
		t.Errorf("%d of %d bytes in %v", last, total, done)
	}

	for i, one := range done {
		if one.Name != offline[i].Name || one.After > offline[i].After*11/10 || one.After >= one.Before {
			t.Errorf("%v, offline %v", one, offline[i])
		}
	}

	noCopy(t, dir)
	sameData(t, db, want)
	mustVerify(t, db)
	mustPut(t, db, "later", randomData(t, 3*blob.ChunkSize))
	update(t, db, func(tx *Tx) error { return Depts.Create(tx, &Dept{Name: "later"}) })
	shut(t, db)
	db = open(t, dir, Options{Schema: &office})
	disktest.Equal(t, "warnings", db.Warnings(), nil)
	disktest.Equal(t, "the id goes on", allOf(t, db, Depts)[0].ID, 2001)
}

// TestLiveCompact_Concurrent uploads, reads and deletes, while the database is compacted again and
// again.
func TestLiveCompact_Concurrent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, _ := withFiles(t, dir)
	var mu sync.Mutex
	known, stop := map[ID][]byte{}, make(chan struct{})
	var work sync.WaitGroup
	worker := func(do func(r *rand.Rand)) {
		r := disktest.Random(t)
		work.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					do(r)
				}
			}
		})
	}

	for range 2 {
		worker(func(r *rand.Rand) { // a file
			data := bytes.Repeat([]byte{byte(r.IntN(256)), byte(r.IntN(256))}, 1+r.IntN(blob.ChunkSize))
			f, err := putFile(db, fmt.Sprint("file ", r.Uint64()), data)
			if err != nil {
				t.Error(err)
				return
			}

			mu.Lock()
			known[f.ID] = data
			n := len(known)
			mu.Unlock()
			if got, err := readBlob(db, f.Digest); err != nil || !bytes.Equal(got, data) {
				t.Errorf("file %d differs: %v", f.ID, err)
			}
			if n > 8 {
				err := db.Update(System, func(tx *Tx) error { return Files.Delete(tx, f.ID) })
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				delete(known, f.ID)
				mu.Unlock()
			}
		})
	}

	var names []string
	worker(func(r *rand.Rand) { // departments
		name := fmt.Sprint("dept ", len(names), strings.Repeat(" x", r.IntN(500)))
		var id ID
		err := db.Update(System, func(tx *Tx) error {
			d := &Dept{Name: name}
			err := Depts.Create(tx, d)
			id = d.ID
			return err
		})
		if err == nil && r.IntN(3) == 0 {
			err = db.Update(System, func(tx *Tx) error { return Depts.Delete(tx, id) })
		} else {
			names = append(names, name)
		}
		if err != nil {
			t.Error(err)
		}
	})

	done := 0
	for range disktest.Size(8, 10, 200) {
		switch _, err := db.Compact(t.Context(), ignore); {
		case err == nil:
			done++
		case !errs.Is(err, errs.Busy):
			t.Error(err)
		}
	}

	close(stop)
	work.Wait()
	if done == 0 {
		t.Error("no compaction has succeeded")
	}

	check := func(db *DB) {
		t.Helper()
		mustVerify(t, db)
		var got []string
		for _, d := range allOf(t, db, Depts) {
			got = append(got, d.Name)
		}
		disktest.Equal(t, "departments", len(got), len(names))
		for _, name := range names {
			if !slices.Contains(got, name) {
				t.Errorf("%.20s is missing", name)
			}
		}

		for id, data := range known {
			var f File
			view(t, db, func(tx *Tx) error {
				found, err := Files.Get(tx, id)
				if err == nil {
					f = *found
				}
				return err
			})
			if got, err := readBlob(db, f.Digest); err != nil || !bytes.Equal(got, data) {
				t.Errorf("file %d differs: %v", id, err)
			}
		}
	}
	check(db)
	shut(t, db)
	check(open(t, dir, Options{Schema: &office}))
}

// A transaction that is open while the files are replaced reads what it read before, and does not
// delay the compaction; nor does another that begins and ends in it.
func TestLiveCompact_OpenReader(t *testing.T) {
	db, _ := withFiles(t, t.TempDir())
	wasteSpace(t, db)
	want := stateOf(t, db)
	view(t, db, func(tx *Tx) error {
		before := filesOf(tx)
		id := before[0].ID
		for range 3 {
			mustCompact(t, db)
			disktest.Equal(t, "state", stateOf(t, db), want)
			update(t, db, func(tx *Tx) error {
				f := before[0]
				f.Ident = Ident{}
				err := errors.Join(Files.Delete(tx, id), Files.Create(tx, &f))
				id = f.ID
				return err
			})
			disktest.Equal(t, "files of the open transaction", filesOf(tx), before)
			want = stateOf(t, db)
		}
		return nil
	})
}

func filesOf(tx *Tx) (files []File) {
	for f, err := range Files.All(tx) {
		if err == nil {
			files = append(files, *f)
		}
	}
	return files
}

func TestLiveCompact_Refusals(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, want := withFiles(t, dir)
	wasteSpace(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	if err := during(t, db, ctx, 0, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled compaction: %v", err)
	}

	noCopy(t, dir)
	err := during(t, db, t.Context(), 0, func() {
		if _, err := db.Compact(t.Context(), ignore); !errors.Is(err, errCompacting) {
			t.Errorf("a second one: %v", err)
		}
	})
	noErr(t, err)
	sameData(t, db, want)
	closed := make(chan error)
	err = during(t, db, t.Context(), 0, func() {
		db.compacting.mu.Lock()
		running := db.compacting.running
		db.compacting.mu.Unlock()
		go func() { closed <- db.Close() }()
		<-running.Done() // Close has begun
	})
	oneLine(t, err)
	if !errs.Is(err, errs.Busy) || !strings.Contains(err.Error(), "shutting down") {
		t.Errorf("when it is closed: %v", err)
	}

	noErr(t, <-closed)
	noCopy(t, dir)
	if _, err := db.Compact(t.Context(), ignore); !errs.Is(err, errs.Busy) {
		t.Errorf("after it is closed: %v", err)
	}
	sameData(t, open(t, dir, Options{Schema: &office}), want)
}

// Damage that only reading every record finds leaves the file as it is.
func TestLiveCompact_Damage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, _ := withFiles(t, dir)
	noErr(t, db.bolt.Update(func(btx *bbolt.Tx) error {
		return btx.Bucket([]byte("file")).Put(idKey(1), []byte("junk of some length"))
	}))
	before := disktest.ReadFile(t, db.path)
	_, err := db.Compact(t.Context(), ignore)
	oneLine(t, err)
	if err == nil || !strings.Contains(err.Error(), "file 1 is damaged") {
		t.Errorf("got %v", err)
	}
	if !bytes.Equal(disktest.ReadFile(t, db.path), before) {
		t.Error("the file was changed")
	}
	noCopy(t, dir)
	shut(t, db)
}

// A backup that reads data.db itself goes on while the file is replaced.
func TestLiveCompact_DuringBackups(t *testing.T) {
	db, _ := withFiles(t, t.TempDir())
	wasteSpace(t, db)
	want := stateOf(t, db)
	live := mustBackUpLive(t, db)
	copied, err := db.Backup(t.Context(), true)
	noErr(t, err)
	defer copied.Close()
	mustCompact(t, db)
	update(t, db, func(tx *Tx) error { return Depts.Create(tx, &Dept{Name: "later"}) })
	mustCompact(t, db)
	for name, b := range map[string]*Backup{"live": live, "copied": copied} {
		var archive bytes.Buffer
		if _, err := b.WriteTo(&archive); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		disktest.Equal(t, name, restoredState(t, archive.Bytes()), want)
	}
}

// With every amount of free space, a compaction fails with Full and changes nothing, or succeeds,
// and writes are possible during both.
func TestFullDisk_LiveCompact(t *testing.T) {
	at := disktest.SmallDisk(t, "8m")
	dir := filepath.Join(at, "data")
	db := open(t, dir, Options{Schema: &office})
	mustPut(t, db, "some", randomData(t, 500<<10))
	largeDepts(t, db, 100)
	refused, want := 0, stateOf(t, db)
	for room := 0; ; room += 64 {
		remove := disktest.Fill(t, at, 8<<20)
		noErr(t, os.Truncate(filepath.Join(at, "ballast"),
			max(0, sizeOf(t, filepath.Join(at, "ballast"))-int64(room)<<10)))
		_, err := db.Compact(t.Context(), ignore)
		remove()
		noCopy(t, dir)
		disktest.Equal(t, "state", stateOf(t, db), want)
		if err == nil {
			break
		}

		refused++
		oneLine(t, err)
		if !errs.Is(err, errs.Full) {
			t.Errorf("with %d KiB of room: %v", room, err)
		}
		if room > 8<<10 {
			t.Fatalf("it never fits: %v", err)
		}
	}
	if refused == 0 {
		t.Error("it always fits")
	}
	mustVerify(t, db)
}

// A compaction whose copy takes the space that a write needs gives way.
func TestFullDisk_LiveCompactGivesWay(t *testing.T) {
	at := disktest.SmallDisk(t, "64m")
	dir := filepath.Join(at, "data")
	db := open(t, dir, Options{Schema: &office})
	for range 25 {
		update(t, db, func(tx *Tx) error {
			for range 100 {
				if err := Depts.Create(tx, &Dept{Name: strings.Repeat("name ", 700)}); err != nil {
					return err
				}
			}
			return nil
		})
	}

	var written sync.WaitGroup
	err := during(t, db, t.Context(), 6<<20, func() {
		disktest.Fill(t, at, 64<<20)
		db.compacting.mu.Lock()
		running := db.compacting.running
		db.compacting.mu.Unlock()
		written.Go(func() {
			err := db.Update(System, func(tx *Tx) error {
				for range 100 {
					if err := Depts.Create(tx, &Dept{Name: strings.Repeat("more ", 700)}); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		<-running.Done()
	})
	written.Wait()
	oneLine(t, err)
	if !errors.Is(err, errGaveWayFull) {
		t.Errorf("got %v", err)
	}
	noCopy(t, dir)
}

// compactAlways compacts a database again and again, until the process is killed.
func compactAlways(db *DB) {
	for {
		if _, err := db.Compact(context.Background(), ignore); err != nil && !errs.Is(err, errs.Busy) {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

// The longest time for which writes wait while the file is replaced, and the slowest write during a
// compaction, compared with the median of writes without one.
func BenchmarkLiveCompact_Pause(b *testing.B) {
	for _, records := range []int{1000, 30_000} {
		b.Run(fmt.Sprint(records), func(b *testing.B) {
			db := open(b, b.TempDir(), Options{Schema: &office})
			for range records / 100 {
				update(b, db, func(tx *Tx) error {
					for range 100 {
						if err := Depts.Create(tx, &Dept{Name: strings.Repeat("name ", 100)}); err != nil {
							return err
						}
					}
					return nil
				})
			}

			write := func() time.Duration {
				began := time.Now()
				update(b, db, func(tx *Tx) error {
					_, err := Depts.Update(tx, 1, func(d *Dept) error {
						d.Name = fmt.Sprint(began)
						return nil
					})
					return err
				})
				return time.Since(began)
			}
			var alone, beside []time.Duration
			for range 200 {
				alone = append(alone, write())
			}

			var paused time.Duration
			for b.Loop() {
				var done atomic.Bool
				go func() {
					defer done.Store(true)
					paused = max(paused, mustCompact(b, db)[0].Paused)
				}()
				for !done.Load() {
					beside = append(beside, write())
				}
			}

			slices.Sort(alone)
			slices.Sort(beside)
			median := alone[len(alone)/2]
			b.ReportMetric(float64(paused)/float64(median), "pause/median")
			b.ReportMetric(float64(beside[len(beside)-1])/float64(median), "worst/median")
			b.ReportMetric(float64(beside[len(beside)*99/100])/float64(median), "p99/median")
			b.ReportMetric(float64(median.Microseconds()), "median-µs")
		})
	}
}
