package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/store/s3/s3test"
)

// backupBytes is the size of the files in the benchmarks of backups.
const backupBytes = 1 << 30

// withGigabyte returns an installation with files of backupBytes, and its server.
func withGigabyte(b *testing.B, table string) (*offsite, *process, *client) {
	b.Helper()
	o := newOffsite(b, table)
	p := start(b, o.data, "--config", o.config)
	c := signedIn(b, p)
	const size = 16 << 20
	for i := range backupBytes / size {
		c.keepsBytes(fmt.Sprint("file", i), payload{uint64(i), size})
	}
	return o, p, c
}

// pacedRequests sends reads and writes at a fixed pace on some connections until stop is closed, and
// returns how long each took, shortest first.
func pacedRequests(b *testing.B, p *process, token string, ids []int64, stop <-chan struct{}) (all []time.Duration) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for i, id := range ids {
		w, err := dial(p)
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			defer w.conn.Close()
			var took []time.Duration
			for n := i; ; n++ {
				select {
				case <-stop:
					mu.Lock()
					defer mu.Unlock()
					all = append(all, took...)
					return
				case <-time.After(20 * time.Millisecond):
				}
				request := rawRequest(p, "/admin/dept", token)
				if n%2 == 0 {
					request = rawPut(p, fmt.Sprint("/admin/dept/", id), token, object("name", fmt.Sprint("text ", id, n)))
				}
				from := time.Now()
				if status, _, err := w.ask(request); err != nil || status != 200 {
					b.Errorf("%d (%v)", status, err)
					return
				}
				took = append(took, time.Since(from))
			}
		})
	}
	wg.Wait()
	slices.Sort(all)
	return all
}

// BenchmarkBackupLatency compares how long requests take while the first copy of 1 GiB is made with how
// long they take before and after it.
func BenchmarkBackupLatency(b *testing.B) {
	o, p, c := withGigabyte(b, directoryTable(b))
	var ids []int64
	for i := range 8 {
		ids = append(ids, c.create("/admin/dept", "name", fmt.Sprint("Department ", i)))
	}
	p99 := func(until func()) float64 {
		stop := make(chan struct{})
		go func() {
			defer close(stop)
			until()
		}()
		all := pacedRequests(b, p, c.token, ids, stop)
		b.Logf("%d requests, median %v, p99 %v", len(all), all[len(all)/2], all[len(all)*99/100])
		return all[len(all)*99/100].Seconds()
	}
	quiet := func() { time.Sleep(15 * time.Second) }
	for b.Loop() {
		before := p99(quiet)
		during := p99(func() {
			o.must(b, "backup", "recipient", o.identity)
			o.proven(b)
		})
		after := p99(quiet)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(1000*during, "p99-ms")
		b.ReportMetric(2*during/(before+after), "ratio")
		if b.N > 1 {
			b.Fatal("it can run once: -benchtime 1x")
		}
	}
}

// BenchmarkBackupRestore compares the restore of 1 GiB from a bucket with copying and verifying the same
// bytes. Like the restored ones, the copied files are on the disk at the end.
func BenchmarkBackupRestore(b *testing.B) {
	s := s3test.Start(b)
	o, p, _ := withGigabyte(b, bucketTable(b, s, s.URL))
	o.must(b, "backup", "recipient", o.identity)
	o.proven(b)
	p.stop()
	for b.Loop() {
		restored := &offsite{o.config, filepath.Join(b.TempDir(), "data"), o.identity}
		from := time.Now()
		restored.must(b, "restore", "offsite", "--identity", o.identity)
		restore := time.Since(from)

		from = time.Now()
		copies := filepath.Join(b.TempDir(), "copied")
		noErr(b, os.CopyFS(copies, os.DirFS(restored.data)))
		written := time.Since(from)
		noErr(b, filepath.WalkDir(copies, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			return errors.Join(f.Sync(), f.Close())
		}))
		synced := time.Since(from)
		if r := restored.must(b, "verify"); !strings.Contains(r.out, "no faults") {
			b.Errorf("%+v", r)
		}
		copied := time.Since(from)
		b.ReportMetric(0, "ns/op")
		b.Logf("copied in %v, synced in %v, verified in %v", written, synced-written, copied-synced)
		b.ReportMetric(restore.Seconds(), "restore-s")
		b.ReportMetric(restore.Seconds()/copied.Seconds(), "ratio")
	}
}
