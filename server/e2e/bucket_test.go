package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/store/s3/s3test"
)

// bucketed is an installation whose contents of files are in a bucket.
type bucketed struct {
	offsite
	server *s3test.Server
	proxy  *s3test.Proxy
	table  string
}

// newBucketed returns an installation. It has no bucket in its configuration if on is false.
func newBucketed(t *testing.T, cache int64, on bool) *bucketed {
	t.Helper()
	s := s3test.Start(t)
	secret := filepath.Join(t.TempDir(), "secret")
	noErr(t, os.WriteFile(secret, []byte(s.SecretKey+"\n"), 0o600))
	b := &bucketed{offsite: *newOffsite(t, directoryTable(t)), server: s, proxy: s.Proxy(t)}
	b.table = fmt.Sprintf("[files.s3]\nendpoint = %q\nbucket = \"bucket\"\nregion = \"us-east-1\"\npath_style = true\naccess_key = %q\nsecret_key = \"file:%s\"\ncache = %d\n",
		b.proxy.URL, s.AccessKey, secret, cache)
	noErr(t, os.WriteFile(b.config, nil, 0o600))
	if on {
		noErr(t, os.WriteFile(b.config, []byte(b.table), 0o600))
	}
	return b
}

func (b *bucketed) start(t *testing.T) (*process, *client) {
	t.Helper()
	p := start(t, b.data, "--config", b.config)
	return p, signedIn(t, p)
}

// objects returns the sizes of the objects that have contents, by path.
func (b *bucketed) objects(t *testing.T) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	noErr(t, filepath.WalkDir(filepath.Join(b.server.Dir, "bucket"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.Contains(path, "/content/") {
			info, infoErr := e.Info()
			if err = infoErr; err == nil {
				all[path] = info.Size()
			}
		}
		return err
	}))
	return all
}

// ranged requests a range of a file.
func (c *client) ranged(f fileRecord, from, to int64) (int, []byte) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), "GET", c.base+fmt.Sprintf("/file/list/%d/content", f.ID), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, to))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, body
}

func (c *client) keepsBytes(name string, p payload) fileRecord {
	c.t.Helper()
	a, err := c.send(name, p.size, p.reader())
	if err != nil || a.status != 200 {
		c.t.Fatalf("upload %s: %v %+v", name, err, a)
	}
	return into[struct{ Data []fileRecord }](c.t, a).Data[0]
}

func (c *client) contentOf(f fileRecord) []byte {
	c.t.Helper()
	return c.want(200, "GET", fmt.Sprintf("/file/list/%d/content", f.ID), "").raw
}

// TestBucket_UploadDownloadRange uploads to a bucket, loses files.db, and reads whole files and ranges.
func TestBucket_UploadDownloadRange(t *testing.T) {
	t.Parallel()
	b := newBucketed(t, 4<<20, true)
	p, c := b.start(t)
	payloads := []payload{{1, 0}, {2, 1}, {3, 100_000}, {4, 1<<20 + 5}, {5, 20 << 20}}
	var files []fileRecord
	for i, content := range payloads {
		files = append(files, c.keepsBytes(fmt.Sprint("file", i), content))
	}
	if got := b.objects(t); len(got) != len(payloads) {
		t.Errorf("%v", got)
	}
	check := func() {
		t.Helper()
		for i, f := range files {
			want := payloads[i].bytes()
			if got := c.contentOf(f); !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes of %d", f.Name, len(got), len(want))
			}
			if n := int64(len(want)); n > 10 {
				for _, r := range [][2]int64{{0, 0}, {n / 2, n/2 + 5}, {n - 3, n - 1}, {n / 3, n - 1}} {
					if code, got := c.ranged(f, r[0], r[1]); code != 206 || !bytes.Equal(got, want[r[0]:r[1]+1]) {
						t.Errorf("%s: bytes %v: %d, %d bytes", f.Name, r, code, len(got))
					}
				}
			}
		}
	}
	check()
	if _, parts, _ := c.systemHealth(); parts["files"] != "ok" {
		t.Errorf("%v", parts)
	}
	if info := string(c.want(200, "GET", "/system/info", "").raw); strings.Contains(info, b.server.SecretKey) {
		t.Error("the secret is shown")
	}
	p.stop()
	b.must(t, "verify")

	noErr(t, os.Remove(filepath.Join(b.data, "files.db"))) // only the records are left
	p, c = b.start(t)
	check()
	p.stop()

	// Without the configuration, the start is refused.
	noErr(t, os.WriteFile(b.config, nil, 0o600))
	if r := b.run(t, "serve", "--listen", "127.0.0.1:0"); r.code == 0 || !strings.Contains(r.err, "reeve files move local") {
		t.Errorf("%+v", r)
	}
	noErr(t, os.WriteFile(b.config, []byte(b.table), 0o600))
	b.must(t, "files", "move", "local")
	noErr(t, os.WriteFile(b.config, nil, 0o600))
	p, c = b.start(t)
	check()
	p.stop()
}

// TestBucket_Down stops the bucket: what is cached can be read, the rest is a clear error, an upload
// leaves nothing, and it works again afterwards.
func TestBucket_Down(t *testing.T) {
	t.Parallel()
	b := newBucketed(t, 2<<20, true)
	p, c := b.start(t)
	defer func() { p.stop() }()
	old := c.keepsBytes("old", payload{1, 5 << 20})
	cached := c.keepsBytes("cached", payload{2, 1000})
	eventually(t, "the old file to be evicted", func() bool {
		return c.partlyCached()
	})
	before := len(b.objects(t))
	for _, failure := range []s3test.Failure{s3test.Drop, s3test.Error} {
		b.proxy.Fail(func(*http.Request) s3test.Failure { return failure })
		if got := c.contentOf(cached); !bytes.Equal(got, payload{2, 1000}.bytes()) {
			t.Errorf("%d bytes of what is cached", len(got))
		}
		a := c.call("GET", fmt.Sprintf("/file/list/%d/content", old.ID), "")
		if a.status != 503 || !strings.Contains(string(a.raw), "bucket_unavailable") {
			t.Errorf("%d %.200s", a.status, a.raw)
		}
		up, err := c.send("new", 3, strings.NewReader("new"))
		if err != nil || up.status != 503 || !strings.Contains(string(up.raw), "bucket_unavailable") {
			t.Errorf("%v %+v", err, up)
		}
		if _, parts, _ := c.systemHealth(); parts["files"] != "degraded" {
			t.Errorf("%v", parts)
		}
		b.proxy.Fail(nil)
		if files := c.filesAt("/file/list"); len(files) != 2 {
			t.Errorf("%v", files)
		}
		if got := c.contentOf(old); !bytes.Equal(got, payload{1, 5 << 20}.bytes()) {
			t.Errorf("%d bytes when it is back", len(got))
		}
		c.contentOf(cached) // the large file has taken its place
		if _, parts, _ := c.systemHealth(); parts["files"] != "ok" {
			t.Errorf("%v", parts)
		}
		eventually(t, "the file to be evicted", func() bool { return c.partlyCached() })
	}
	if got := len(b.objects(t)); got != before {
		t.Errorf("%d objects, before %d", got, before)
	}
}

// partlyCached reports whether the cache of 2 MiB is nearly full, and not more than that.
func (c *client) partlyCached() bool {
	n := c.cachedBytes()
	return n > 1<<20 && n <= 2<<20
}

// cachedBytes returns the bytes of contents in the cache.
func (c *client) cachedBytes() int64 {
	c.t.Helper()
	out := into[struct {
		Parts []struct {
			Name    string
			Figures map[string]int64
		}
	}](c.t, c.want(200, "GET", "/system/health", ""))
	for _, p := range out.Parts {
		if p.Name == "files" {
			return p.Figures["cached_bytes"]
		}
	}
	return -1
}

// TestBucket_MoveThereAndBack moves existing contents to a bucket and back, beside the running server,
// interrupted by kills and failures.
func TestBucket_MoveThereAndBack(t *testing.T) {
	t.Parallel()
	b := newBucketed(t, 0, false)
	p, c := b.start(t)
	n := size(30, 80, 1000)
	var files []fileRecord
	for i := range n {
		files = append(files, c.keepsBytes(fmt.Sprint("file", i), payload{uint64(i), int64(i) * 7001}))
	}
	if r := b.run(t, "files", "move", "s3"); r.code == 0 || !strings.Contains(r.err, "files.s3") {
		t.Errorf("%+v", r)
	}
	p.stop()
	check := func() {
		t.Helper()
		for i, f := range files {
			if got := c.contentOf(f); !bytes.Equal(got, payload{uint64(i), int64(i) * 7001}.bytes()) {
				t.Fatalf("%s: %d bytes", f.Name, len(got))
			}
		}
	}

	noErr(t, os.WriteFile(b.config, []byte(b.table), 0o600))
	r := random(t)
	for _, to := range []string{"s3", "local"} {
		p, c = b.start(t)
		c.want(200, "POST", "/system/file-move", object("to", to))
		c.want(409, "POST", "/system/file-move", object("to", to))
		for range size(2, 4, 10) { // kill it in the middle; the next start continues
			pause(t, time.Duration(r.IntN(300))*time.Millisecond)
			p.kill()
			p, c = b.start(t)
			check()
		}
		eventually(t, "the end of the move", func() bool {
			return strings.Contains(string(c.want(200, "GET", "/system/job", "").raw), `"state":"done"`) &&
				!strings.Contains(string(c.want(200, "GET", "/system/job", "").raw), `"state":"running"`)
		})
		check()
		p.stop()
		b.must(t, "verify")
		if to == "s3" {
			if got := b.objects(t); len(got) < n {
				t.Errorf("%d objects of %d", len(got), n)
			}
		}
	}
	noErr(t, os.RemoveAll(filepath.Join(b.server.Dir, "bucket"))) // nothing needs it any more
	noErr(t, os.WriteFile(b.config, nil, 0o600))
	p, c = b.start(t)
	check()
	p.stop()
	b.must(t, "verify")
}

// moveJob is the progress of a move.
type moveJob struct {
	State       string
	Total, Done int
}

// moves returns the moves, the newest first.
func (c *client) moves(t *testing.T) []moveJob {
	t.Helper()
	return into[struct{ Data []moveJob }](t, c.want(200, "GET", "/system/job", "")).Data
}

// TestBucket_MoveCancelled cancels a move, and continues it after a failure of the bucket.
func TestBucket_MoveCancelled(t *testing.T) {
	t.Parallel()
	b := newBucketed(t, 0, false)
	p, c := b.start(t)
	var files []fileRecord
	for i := range 20 {
		files = append(files, c.keepsBytes(fmt.Sprint("file", i), payload{uint64(i), 10 << 20}))
	}
	p.stop()
	noErr(t, os.WriteFile(b.config, []byte(b.table), 0o600))
	p, c = b.start(t)
	defer func() { p.stop() }()
	b.proxy.Fail(func(r *http.Request) s3test.Failure {
		if r.Method == "PUT" && strings.Contains(r.URL.Path, "/content/") && len(b.objects(t)) > 8 {
			return s3test.Hang
		}
		return s3test.None
	})
	var wg sync.WaitGroup
	wg.Go(func() {
		if r := b.run(t, "files", "move", "s3"); r.code == 0 || !strings.Contains(r.err, "a user has ended it; of 20 contents, 6 moved") {
			t.Errorf("%+v", r)
		}
	})
	eventually(t, "some objects", func() bool { return len(b.objects(t)) > 8 })
	if job := c.moves(t)[0]; job != (moveJob{"running", 20, 6}) { // the first 64 MiB are one step
		t.Errorf("%+v", job)
	}
	c.want(200, "POST", "/admin/dept", object("name", "Other work goes on"))
	b.must(t, "files", "cancel")
	wg.Wait()
	b.proxy.Fail(nil)
	if r := b.must(t, "files", "move", "s3"); !strings.Contains(r.out, "in the bucket: 20 contents") {
		t.Errorf("%+v", r)
	}
	if r := b.must(t, "files", "move", "local"); !strings.Contains(r.out, "in the data directory: 20 contents") {
		t.Errorf("%+v", r)
	}
	if all := c.moves(t); all[0] != (moveJob{"done", 20, 20}) || all[1] != (moveJob{"done", 20, 20}) || all[2] != (moveJob{"failed", 20, 6}) {
		t.Errorf("%+v", all)
	}
	for i, f := range files {
		if got := c.contentOf(f); !bytes.Equal(got, payload{uint64(i), 10 << 20}.bytes()) {
			t.Errorf("%s: %d bytes", f.Name, len(got))
		}
	}
}

// TestBucket_KilledDuringUploads kills the server during uploads to a bucket. Each acknowledged file
// can be read from the bucket alone.
func TestBucket_KilledDuringUploads(t *testing.T) {
	t.Parallel()
	b := newBucketed(t, 1<<20, true)
	r := random(t)
	var mu sync.Mutex
	acked := map[int64]payload{}
	next := uint64(0)
	for range size(3, 6, 30) {
		p, c := b.start(t)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					mu.Lock()
					next++
					content := payload{next, int64(next%7) * 300_000}
					mu.Unlock()
					a, err := c.send(fmt.Sprint("file", content.seed), content.size, content.reader())
					if err != nil || a.status != 200 {
						return
					}
					f := into[struct{ Data []fileRecord }](t, a).Data[0]
					mu.Lock()
					acked[f.ID] = content
					mu.Unlock()
				}
			})
		}
		pause(t, time.Duration(100+r.IntN(700))*time.Millisecond)
		p.kill()
		wg.Wait()
	}
	noErr(t, os.Remove(filepath.Join(b.data, "files.db")))
	p, c := b.start(t)
	for id, content := range acked {
		if got := c.contentOf(fileRecord{ID: id}); !bytes.Equal(got, content.bytes()) {
			t.Errorf("file %d: %d bytes of %d", id, len(got), content.size)
		}
	}
	p.stop()
	b.must(t, "verify")
	t.Logf("%d acknowledged files", len(acked))
	if len(acked) < 10 {
		t.Error("too few files were acknowledged")
	}
}

// TestBucket_RestoreNamesMissing restores a copy to a new bucket: files whose contents neither it nor the copy has
// are named, by `backup check`, too.
func TestBucket_RestoreNamesMissing(t *testing.T) {
	t.Parallel()
	b, target := newBucketed(t, 4<<20, true), t.TempDir()
	copies := fmt.Sprintf("[backup.offsite]\npath = %q\n", target)
	noErr(t, os.WriteFile(b.config, []byte(copies+b.table), 0o600))
	p, c := b.start(t)
	b.must(t, "backup", "recipient", b.identity)
	for i := range 7 {
		c.keepsText(fmt.Sprintf("lost %d.txt", i), fmt.Sprint("content ", i))
	}
	b.must(t, "backup", "now", "offsite")
	p.stop()

	other := newBucketed(t, 4<<20, true)
	config, err := os.ReadFile(b.config)
	noErr(t, err)
	noErr(t, os.WriteFile(other.config, []byte(strings.Split(string(config), "[files.s3]")[0]+other.table), 0o600))
	all, err := filepath.Glob(filepath.Join(target, "*", "*", "*", "files", "*"))
	noErr(t, err)
	for _, path := range all {
		if !strings.HasSuffix(path, ".index") {
			noErr(t, os.Remove(path))
		}
	}
	want := `7 files are missing or damaged: file 1 "lost 0.txt", file 2 "lost 1.txt", file 3 "lost 2.txt", file 4 "lost 3.txt", file 5 "lost 4.txt" and 2 more`
	if r := other.run(t, "backup", "check", "offsite", "--identity", b.identity, "--temp", t.TempDir()); r.code != 2 || !strings.Contains(r.err, want) {
		t.Errorf("%+v", r)
	}
	want = strings.Replace(want, "are missing or damaged:", "are missing: they could not be read, and the records name them:", 1)
	if r := other.must(t, "restore", "offsite", "--identity", b.identity); !strings.Contains(r.out, want) {
		t.Errorf("%+v", r)
	}
	p, _ = other.start(t)
	p.stop()

	// The bucket that has them is enough.
	again := &offsite{b.config, filepath.Join(t.TempDir(), "data"), b.identity}
	if r := again.must(t, "restore", "offsite", "--identity", b.identity); strings.Contains(r.out, "missing") {
		t.Errorf("%+v", r)
	}
}
