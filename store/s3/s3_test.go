package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"reeve/store/copies"
	"reeve/store/disk/disktest"
	"reeve/store/s3"
	"reeve/store/s3/s3test"
)

func put(t *testing.T, b copies.Target, name string, content []byte) {
	t.Helper()
	// The reader can't seek, as the one of a copy can't.
	if err := b.Put(t.Context(), name, int64(len(content)), io.MultiReader(bytes.NewReader(content))); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func get(t *testing.T, b copies.Target, name string) []byte {
	t.Helper()
	in, err := b.Get(t.Context(), name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer in.Close()
	content, err := io.ReadAll(in)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return content
}

func names(t *testing.T, b copies.Target, prefix string) string {
	t.Helper()
	all, err := b.List(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range all {
		names = append(names, fmt.Sprint(o.Name, " ", o.Size))
		if o.Modified.IsZero() {
			t.Errorf("%s has no time", o.Name)
		}
	}
	return strings.Join(names, ", ")
}

// TestBucket_Operations does the same with a bucket, with one below a prefix, and with a directory.
func TestBucket_Operations(t *testing.T) {
	server := s3test.Start(t)
	below := server.Options()
	below.Prefix = "/backup/reeve/"
	large := make([]byte, 20<<20) // more than one part
	rand.NewChaCha8([32]byte{}).Read(large)
	for name, b := range map[string]copies.Target{
		"bucket":    s3test.Bucket(t, server.Options()),
		"prefix":    s3test.Bucket(t, below),
		"directory": copies.Directory(t.TempDir()),
	} {
		t.Run(name, func(t *testing.T) {
			for object, content := range map[string][]byte{"a/b/empty": {}, "a/b/small": []byte("x"), "a/large": large} {
				put(t, b, object, content)
				if !bytes.Equal(get(t, b, object), content) {
					t.Errorf("%s is another one", object)
				}
				err := b.Put(t.Context(), object, 1, strings.NewReader("y"))
				if !errors.Is(err, copies.ErrExists) || !bytes.Equal(get(t, b, object), content) {
					t.Errorf("%s was replaced: %v", object, err)
				}
			}
			if err := b.Put(t.Context(), "a/large", int64(len(large)), bytes.NewReader(large)); !errors.Is(err, copies.ErrExists) {
				t.Errorf("a large object was replaced: %v", err)
			}
			if got := names(t, b, "a/b/"); got != "a/b/empty 0, a/b/small 1" {
				t.Errorf("list: %s", got)
			}
			if got := names(t, b, "c/"); got != "" {
				t.Errorf("list: %s", got)
			}
			if _, err := b.Get(t.Context(), "a/none"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("an absent object: %v", err)
			}
			for range 2 {
				if err := b.Delete(t.Context(), "a/b/small"); err != nil {
					t.Error(err)
				}
			}
			if got := names(t, b, "a/"); got != fmt.Sprintf("a/b/empty 0, a/large %d", len(large)) {
				t.Errorf("list: %s", got)
			}

			// Less than was announced, and an error in the middle, leave nothing.
			if err := b.Put(t.Context(), "a/short", 10, strings.NewReader("short")); err == nil {
				t.Error("a short object was stored")
			}
			broken := io.MultiReader(bytes.NewReader(large[:18<<20]), &failing{})
			if err := b.Put(t.Context(), "a/broken", int64(len(large)), broken); err == nil {
				t.Error("a broken object was stored")
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := b.Put(ctx, "a/cancelled", 1, strings.NewReader("x")); err == nil {
				t.Error("a cancelled object was stored")
			}
			if got := names(t, b, "a/"); got != fmt.Sprintf("a/b/empty 0, a/large %d", len(large)) {
				t.Errorf("list: %s", got)
			}
		})
	}
}

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, errors.New("broken") }

// TestBucket_ManyObjects lists more than one answer of a service has.
func TestBucket_ManyObjects(t *testing.T) {
	server := s3test.Start(t)
	dir := filepath.Join(server.Dir, "bucket", "many")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const n = 2500
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s3test.Bucket(t, server.Options()).List(t.Context(), "many/")
	if err != nil || len(all) != n {
		t.Errorf("%d objects, %v", len(all), err)
	}
}

// TestBucket_Faults checks what is said about a configuration that does not fit, and that it has no
// secrets.
func TestBucket_Faults(t *testing.T) {
	server := s3test.Start(t)
	for want, change := range map[string]func(*s3.Options){
		"does not accept access_key": func(o *s3.Options) { o.SecretKey = "another-secret" },
		"XAdminUserNotFound":         func(o *s3.Options) { o.AccessKey = "another" },
		"the bucket does not exist":  func(o *s3.Options) { o.Bucket = "missing" },
		"connection refused":         func(o *s3.Options) { o.Endpoint = "http://" + unused(t) },
	} {
		o := server.Options()
		change(&o)
		b := s3test.Bucket(t, o)
		_, listing := b.List(t.Context(), "")
		if _, err := b.Get(t.Context(), "a"); err == nil {
			t.Errorf("%s: an object was read", want)
		}
		for _, err := range []error{listing, b.Put(t.Context(), "a", 1, strings.NewReader("x"))} {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), o.SecretKey) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
	for want, change := range map[string]func(*s3.Options){
		"endpoint must be": func(o *s3.Options) { o.Endpoint = "s3.example.org" },
		"style must be":    func(o *s3.Options) { o.Style = "virtual" },
		"no such file":     func(o *s3.Options) { o.CA = filepath.Join(t.TempDir(), "missing.pem") },
	} {
		o := server.Options()
		change(&o)
		if _, err := s3.New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestBucket_RefusedUnread has a service break the connection while the content is sent, as one does that has
// refused it: its answer is lost with the connection.
func TestBucket_RefusedUnread(t *testing.T) {
	t.Parallel()
	const missing = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>NoSuchBucket</Code><Message>None.</Message></Error>`
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut {
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, missing)
			return
		}
		connection, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		connection.(*net.TCPConn).SetLinger(0)
		connection.Close()
	}))
	defer service.Close()
	b := s3test.Bucket(t, s3.Options{Endpoint: service.URL, Region: "us-east-1", Bucket: "missing", AccessKey: "a", SecretKey: "s", Style: "path"})
	for _, size := range []int64{1, 8 << 20} {
		if err := b.Put(t.Context(), "a", size, bytes.NewReader(make([]byte, size))); err == nil || err.Error() != "the bucket does not exist" {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// TestBucket_ClockWrong has a service answer as it does to requests of another time, which the one of
// the tests can't be made to get.
func TestBucket_ClockWrong(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>RequestTimeTooSkewed</Code><Message>The difference between the request time and the current time is too large.</Message></Error>`)
	}))
	defer service.Close()
	b := s3test.Bucket(t, s3.Options{Endpoint: service.URL, Region: "us-east-1", Bucket: "bucket", AccessKey: "a", SecretKey: "s", Style: "path"})
	_, listing := b.List(t.Context(), "")
	for _, err := range []error{listing, b.Put(t.Context(), "a", 1, strings.NewReader("x"))} {
		if err == nil || !strings.Contains(err.Error(), "the clock of this machine is wrong") {
			t.Error(err)
		}
	}
}

// TestBucket_Full fills the disk of a server. What is stored stays, and there is room again after a
// deletion.
func TestBucket_Full(t *testing.T) {
	server := s3test.StartIn(t, disktest.SmallDisk(t, "8m"))
	b := s3test.Bucket(t, server.Options())
	content := bytes.Repeat([]byte("content "), 1<<17)
	stored := 0
	var full error
	for ; full == nil && stored < 20; stored++ {
		full = b.Put(t.Context(), fmt.Sprint("object ", stored), int64(len(content)), bytes.NewReader(content))
	}
	stored--
	if full == nil || !strings.Contains(full.Error(), "the service answers 5") || stored < 2 {
		t.Fatalf("after %d objects: %v", stored, full)
	}
	all, err := b.List(t.Context(), "")
	if err != nil || len(all) != stored {
		t.Errorf("%d objects, not %d: %v", len(all), stored, err)
	}
	for _, o := range all {
		in, err := b.Get(t.Context(), o.Name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %d bytes, %v", o.Name, len(got), err)
		}
		in.Close()
	}
	if err := b.Delete(t.Context(), "object 0"); err != nil {
		t.Fatal(err)
	}
	put(t, b, "later", content)
}

// TestBucket_Locked stores in a bucket whose objects are locked for a day, and deletes: the service
// keeps what was stored.
func TestBucket_Locked(t *testing.T) {
	server := s3test.StartIn(t, t.TempDir(), "--versioning-dir", t.TempDir())
	o := server.Options()
	o.Bucket = "locked"
	client, err := minio.New(strings.TrimPrefix(server.URL, "http://"), &minio.Options{Creds: credentials.NewStaticV4(o.AccessKey, o.SecretKey, ""), Region: o.Region})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.MakeBucket(t.Context(), o.Bucket, minio.MakeBucketOptions{Region: o.Region, ObjectLocking: true}); err != nil {
		t.Fatal(err)
	}
	mode, days, unit := minio.Compliance, uint(1), minio.Days
	if err := client.SetObjectLockConfig(t.Context(), o.Bucket, &mode, &days, &unit); err != nil {
		t.Fatal(err)
	}
	b := s3test.Bucket(t, o)
	put(t, b, "copy", []byte("content"))
	if err := b.Put(t.Context(), "copy", 1, strings.NewReader("x")); !errors.Is(err, copies.ErrExists) {
		t.Errorf("another object was stored with the same name: %v", err)
	}
	if err := b.Delete(t.Context(), "copy"); err != nil {
		t.Logf("the service refuses the deletion: %v", err)
	}
	kept := 0
	for v := range client.ListObjects(t.Context(), o.Bucket, minio.ListObjectsOptions{WithVersions: true}) {
		if v.Err != nil {
			t.Fatal(v.Err)
		}
		if v.IsDeleteMarker {
			continue
		}
		kept++
		if err := client.RemoveObject(t.Context(), o.Bucket, v.Key, minio.RemoveObjectOptions{VersionID: v.VersionID}); err == nil {
			t.Errorf("version %s of %s was deleted", v.VersionID, v.Key)
		}
	}
	if kept != 1 {
		t.Errorf("%d versions are kept", kept)
	}
}

func unused(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestBucket_NetworkCut cuts connections after some bytes in either direction. Nothing is stored
// unless all of it is.
func TestBucket_NetworkCut(t *testing.T) {
	server := s3test.Start(t)
	direct := s3test.Bucket(t, server.Options())
	content := bytes.Repeat([]byte("content "), 1<<17)
	put(t, direct, "there", content)
	stored := 0
	for _, after := range []int64{0, 100, 10_000, 500_000, 1 << 20} {
		o := server.Options()
		o.Endpoint = "http://" + cutting(t, strings.TrimPrefix(server.URL, "http://"), after)
		b := s3test.Bucket(t, o)
		name := fmt.Sprint("cut ", after)
		err := b.Put(t.Context(), name, int64(len(content)), io.MultiReader(bytes.NewReader(content)))
		if all, listErr := direct.List(t.Context(), name); listErr != nil || len(all) == 1 && all[0].Size != int64(len(content)) || err == nil && len(all) != 1 {
			t.Errorf("after %d bytes: %v, %v, %v", after, err, all, listErr)
		} else {
			stored += len(all)
		}
		if in, err := b.Get(t.Context(), "there"); err == nil {
			got, err := io.ReadAll(in)
			in.Close()
			if err == nil && !bytes.Equal(got, content) {
				t.Errorf("after %d bytes, %d bytes were read without an error", after, len(got))
			}
		}
	}
	if stored == 5 {
		t.Error("no connection was cut")
	}
}

// cutting returns the address of a proxy that cuts each connection after some bytes.
func cutting(t *testing.T, to string, after int64) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				server, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				defer server.Close()
				var left atomic.Int64
				left.Store(after)
				pass := func(dst, src net.Conn, done chan<- bool) {
					io.Copy(dst, io.LimitReader(src, left.Load()))
					done <- true
				}
				done := make(chan bool, 2)
				go pass(server, client, done)
				go pass(client, server, done)
				<-done
			}()
		}
	}()
	return l.Addr().String()
}

// TestPut_SentAgain drops the first connection of each object, whose content can be read only once.
func TestPut_SentAgain(t *testing.T) {
	server := s3test.Start(t)
	proxy := server.Proxy(t)
	o := server.Options()
	o.Endpoint = proxy.URL
	b := s3test.Bucket(t, o)
	known := map[string]bool{}
	proxy.Fail(func(r *http.Request) s3test.Failure {
		if r.Method != "PUT" || known[r.URL.Path] {
			return s3test.None
		}
		known[r.URL.Path] = true
		return s3test.Drop
	})
	for _, size := range []int{0, 1, 1 << 20} {
		name, content := fmt.Sprint("object ", size), bytes.Repeat([]byte("x"), size)
		if err := b.Put(t.Context(), name, int64(size), io.LimitReader(bytes.NewReader(content), int64(size))); err != nil {
			t.Error(err)
			continue
		}
		in, err := b.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d of %d bytes, %v", len(got), size, err)
		}
		in.Close()
	}
	if len(known) != 3 {
		t.Errorf("%v", known)
	}
}
