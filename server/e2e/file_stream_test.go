package e2e

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// largeLimits allow files up to 2 GiB of any kind.
var largeLimits = values("file.image_megabytes", 2048, "file.audio_megabytes", 2048,
	"file.video_megabytes", 2048,
	"file.archive_megabytes", 2048, "file.document_megabytes", 2048, "file.other_megabytes", 2048)

// largeFile writes a file to the disk of the data directories of a test.
func largeFile(t testing.TB, size int64) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "large")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.Copy(f, payload{1, size}.reader()); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil { // or the disk writes it during a measurement
		t.Fatal(err)
	}
	return path
}

// copied returns how long cp takes to copy a file, including fsync of the copy.
func copied(t testing.TB, path string) time.Duration {
	t.Helper()
	to := path + ".copy"
	from := time.Now()
	if out, err := exec.Command("cp", path, to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v: %s", err, out)
	}

	f, err := os.Open(to)
	if err != nil {
		t.Fatal(err)
	}

	defer f.Close()
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}

	took := time.Since(from)
	if err := os.Remove(to); err != nil {
		t.Fatal(err)
	}

	return took
}

// sendFile uploads a file from the disk.
func (c *client) sendFile(path string, size int64) fileRecord {
	c.t.Helper()
	f, err := os.Open(path)
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	a, err := c.send("large", size, f)
	if err != nil || a.status != 200 {
		c.t.Fatalf("upload: %v %+v", err, a)
	}
	return records(c.t, a)[0]
}

// grown returns by how much the server's anonymous memory grew at most while do ran; 0 if
// the system does not report it.
func (p *process) grown(do func()) int64 {
	before := p.anonymous()
	most := before
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				most = max(most, p.anonymous())
			}
		}
	}()

	do()
	close(done)
	<-ended
	return most - before
}

// Limits of the memory that uploads and downloads may add, whatever their size. The files
// of these tests are larger, so that none fits into it. Each upload has a chunk of its own,
// and the garbage collector lets the heap double.
const (
	maxGrown     = 64 << 20
	maxManyGrown = 160 << 20 // for sixteen at the same time
)

func mib(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// A large file is transferred in memory that does not depend on its size.
func TestLargeFile_Streamed(t *testing.T) {
	bytes := int64(size(96, 192, 1024)) << 20
	path := largeFile(t, bytes)
	p := start(t, t.TempDir())
	c := signedIn(t, p)
	c.want(200, "PUT", "/system/setting", largeLimits)
	cp := copied(t, path)
	var f fileRecord
	var up, down time.Duration
	upGrown := p.grown(func() {
		from := time.Now()
		f = c.sendFile(path, bytes)
		up = time.Since(from)
	})

	downGrown := p.grown(func() {
		from := time.Now()
		if n, err := c.fetch(content(f.ID), io.Discard); err != nil || n != bytes {
			t.Errorf("%d of %d bytes came: %v", n, bytes, err)
		}
		down = time.Since(from)
	})

	c.mustHold(f)
	if want := digestOf(t, path); f.SHA256 != want {
		t.Errorf("the record says %s, the file has %s", f.SHA256, want)
	}
	if upGrown > maxGrown || downGrown > maxGrown {
		t.Errorf("memory grows by %s and %s", mib(upGrown), mib(downGrown))
	}

	rate := func(took time.Duration) float64 { return float64(bytes) / 1e6 / took.Seconds() }
	t.Logf("%s: cp %.0f MB/s; upload %.0f MB/s, %.2f of cp, memory grows by %s; download %.0f MB/s, %.2f of cp, memory grows by %s",
		mib(bytes), rate(cp), rate(up), rate(up)/rate(cp), mib(upGrown), rate(down),
		rate(down)/rate(cp), mib(downGrown))
}

// The memory does not depend on the number of simultaneous transfers either.
func TestLargeFile_ManyUploadsStreamed(t *testing.T) {
	const clients = 16
	each := int64(size(16, 24, 64)) << 20
	p := start(t, t.TempDir())
	c := signedIn(t, p)
	c.want(200, "PUT", "/system/setting", largeLimits)
	from := time.Now()
	grown := p.grown(func() {
		var wg sync.WaitGroup
		for i := range clients {
			wg.Go(func() {
				if a, err := c.send(fmt.Sprint("large", i), each,
					payload{uint64(i), each}.reader()); err != nil || a.status != 200 {
					t.Errorf("upload %d: %v %+v", i, err, a)
				}
			})
		}
		wg.Wait()
	})

	took := time.Since(from)
	for _, f := range c.listed("/file/list") {
		c.mustHold(f)
	}

	if grown > maxManyGrown {
		t.Errorf("memory grows by %s", mib(grown))
	}

	t.Logf("%d uploads of %s at the same time: %.0f MB/s together, memory grows by %s", clients,
		mib(each),
		float64(clients*each)/1e6/took.Seconds(), mib(grown))
}

// BenchmarkUpload compares uploads and downloads of a file with cp and fsync of the same
// file on the same disk, alternately.
func BenchmarkUpload(b *testing.B) {
	bytes := int64(256) << 20
	path := largeFile(b, bytes)
	p := start(b, b.TempDir())
	c := signedIn(b, p)
	c.want(200, "PUT", "/system/setting", largeLimits)
	var cp, up, down, cost []float64
	rate := func(took time.Duration) float64 { return float64(bytes) / 1e6 / took.Seconds() }
	var grown int64
	for b.Loop() {
		for range 5 {
			cp = append(cp, rate(copied(b, path)))
			grown = max(grown, p.grown(func() {
				from, used := time.Now(), cpuTime(b, p)
				f := c.sendFile(path, bytes)
				up = append(up, rate(time.Since(from)))
				cost = append(cost, (cpuTime(b, p)-used).Seconds()*(1<<30)/float64(bytes))
				from = time.Now()
				if n, err := c.fetch(content(f.ID), io.Discard); err != nil || n != bytes {
					b.Fatal(n, err)
				}
				down = append(down, rate(time.Since(from)))
				c.discard(f.ID)
			}))
		}
	}

	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(cp), "cp-MB/s")
	b.ReportMetric(median(up), "upload-MB/s")
	b.ReportMetric(median(down), "download-MB/s")
	b.ReportMetric(median(up)/median(cp), "upload-ratio")
	b.ReportMetric(median(down)/median(cp), "download-ratio")
	b.ReportMetric(median(cost), "upload-cpu-s/GiB")
	b.ReportMetric(float64(grown)/(1<<20), "grown-MiB")
}
