package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"os/exec"
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

// pacedRequests sends requests at a fixed pace on some connections until stop is closed, and returns how
// long each took, shortest first.
func pacedRequests(b *testing.B, p *process, connections int, request func(connection, n int) []byte, stop <-chan struct{}) (all []time.Duration) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for i := range connections {
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
				from := time.Now()
				if status, _, err := w.ask(request(i, n)); err != nil || status != 200 {
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

// latencyDuring returns the 99th percentile of the requests that pacedRequests sends during work, and its
// ratio to that before and after.
func latencyDuring(b *testing.B, p *process, connections int, request func(connection, n int) []byte, work func()) (p99, ratio float64) {
	measure := func(until func()) float64 {
		stop := make(chan struct{})
		go func() {
			defer close(stop)
			until()
		}()
		all := pacedRequests(b, p, connections, request, stop)
		b.Logf("%d requests, median %v, p99 %v", len(all), all[len(all)/2], all[len(all)*99/100])
		return all[len(all)*99/100].Seconds()
	}
	quiet := func() { time.Sleep(15 * time.Second) }
	before, during, after := measure(quiet), measure(work), measure(quiet)
	return 1000 * during, 2 * during / (before + after)
}

// BenchmarkBackupLatency compares how long requests take while the first copy of 1 GiB is made with how
// long they take before and after it. If REEVE_TEST_POCKETBASE is the program of PocketBase, it does the
// same with its backup, which is neither encrypted nor read back.
func BenchmarkBackupLatency(b *testing.B) {
	o, p, c := withGigabyte(b, directoryTable(b))
	var ids []int64
	for i := range 8 {
		ids = append(ids, c.create("/admin/dept", "name", fmt.Sprint("Department ", i)))
	}
	for b.Loop() {
		if b.N > 1 {
			b.Fatal("it can run once: -benchtime 1x")
		}
		b.ReportMetric(0, "ns/op")
		var took time.Duration
		p99, ratio := latencyDuring(b, p, len(ids), func(i, n int) []byte {
			if (n+i)%2 == 0 {
				return rawPut(p, fmt.Sprint("/admin/dept/", ids[i]), c.token, object("name", fmt.Sprint("text ", i, " ", n)))
			}
			return rawRequest(p, "/admin/dept", c.token)
		}, func() {
			from := time.Now()
			o.must(b, "backup", "recipient", o.identity)
			o.proven(b)
			took = time.Since(from)
		})
		b.ReportMetric(p99, "p99-ms")
		b.ReportMetric(ratio, "ratio")
		b.ReportMetric(took.Seconds(), "copy-s")
		p.stop()
		if peer := os.Getenv("REEVE_TEST_POCKETBASE"); peer != "" {
			latencyOfPocketBase(b, peer)
		}
	}
}

// latencyOfPocketBase is BenchmarkBackupLatency for PocketBase.
func latencyOfPocketBase(b *testing.B, program string) {
	dir, address := b.TempDir(), freeAddress(b)
	const email, password = "owner@example.org", "a password of the owner"
	if out, err := exec.Command(program, "superuser", "upsert", email, password, "--dir", dir).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(program, "serve", "--http", address, "--dir", dir)
	noErr(b, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	p, token := &process{url: "http://" + address}, ""
	ask := func(path, kind string, body io.Reader) (got struct{ ID, Token string }) {
		b.Helper()
		request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, p.url+path, body)
		noErr(b, err)
		request.Header.Set("Content-Type", kind)
		request.Header.Set("Authorization", token)
		response, err := http.DefaultClient.Do(request)
		noErr(b, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode >= 300 {
			b.Fatalf("%s: %d %s (%v)", path, response.StatusCode, text, err)
		}
		if len(text) > 0 {
			noErr(b, json.Unmarshal(text, &got))
		}
		return got
	}
	eventually(b, "PocketBase to listen", func() bool {
		conn, err := net.Dial("tcp", address)
		return err == nil && conn.Close() == nil
	})
	const inJSON = "application/json"
	token = ask("/api/collections/_superusers/auth-with-password", inJSON, strings.NewReader(object("identity", email, "password", password))).Token
	ask("/api/collections", inJSON, strings.NewReader(`{"name":"docs","type":"base","fields":[{"name":"doc","type":"file","maxSize":33554432}]}`))
	ask("/api/collections", inJSON, strings.NewReader(`{"name":"depts","type":"base","fields":[{"name":"name","type":"text"}]}`))
	const size = 16 << 20
	for i := range backupBytes / size {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		part, err := form.CreateFormFile("doc", "file")
		noErr(b, err)
		_, err = io.Copy(part, payload{uint64(i), size}.reader())
		noErr(b, errors.Join(err, form.Close()))
		ask("/api/collections/docs/records", form.FormDataContentType(), &body)
	}
	var ids []string
	for i := range 8 {
		ids = append(ids, ask("/api/collections/depts/records", inJSON, strings.NewReader(object("name", fmt.Sprint("Department ", i)))).ID)
	}
	var took time.Duration
	p99, ratio := latencyDuring(b, p, len(ids), func(i, n int) []byte {
		if (n+i)%2 == 0 {
			put := rawPut(p, "/api/collections/depts/records/"+ids[i], token, object("name", fmt.Sprint("text ", i, " ", n)))
			return append([]byte("PATCH"), bytes.TrimPrefix(put, []byte("PUT"))...)
		}
		return rawRequest(p, "/api/collections/depts/records", token)
	}, func() {
		from := time.Now()
		ask("/api/backups", inJSON, strings.NewReader(`{"name":"copy.zip"}`))
		took = time.Since(from)
	})
	b.ReportMetric(p99, "pocketbase-p99-ms")
	b.ReportMetric(ratio, "pocketbase-ratio")
	b.ReportMetric(took.Seconds(), "pocketbase-copy-s")
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
