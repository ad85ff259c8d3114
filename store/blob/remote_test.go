package blob_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/store/blob"
	"reeve/store/s3/s3test"
)

// kept is a files database with a bucket, and the rows of the objects.
type kept struct {
	t      *testing.T
	server *s3test.Server
	proxy  *s3test.Proxy
	path   string
	cache  int64
	store  *blob.Store
	remote *blob.Remote

	mu   sync.Mutex
	rows map[blob.Digest]blob.Object
	free map[blob.Digest]bool // contents that no record has
	note error
}

const instance = "INSTANCE"

func key(number uint64) (uint64, []byte, error) {
	return max(1, number), bytes.Repeat([]byte{7}, 32), nil
}

func keep(t *testing.T, cache int64) *kept {
	t.Helper()
	k := &kept{
		t:      t,
		server: s3test.Start(t),
		path:   filepath.Join(t.TempDir(), blob.FileName),
		cache:  cache,
		rows:   map[blob.Digest]blob.Object{},
		free:   map[blob.Digest]bool{},
	}
	k.proxy = k.server.Proxy(t)
	k.open()
	t.Cleanup(func() { k.store.Close() })
	return k
}

func (k *kept) open() {
	k.t.Helper()
	o := k.server.Options()
	o.Endpoint = k.proxy.URL
	k.remote = blob.NewRemote(s3test.Bucket(k.t, o), instance, key)
	var err error
	k.store, _, err = blob.Open(k.path, blob.Options{
		Instance: instance,
		Referenced: func(d blob.Digest) (bool, error) {
			k.mu.Lock()
			defer k.mu.Unlock()
			return !k.free[d], nil
		},
		Note: func(_ blob.Digest, err error) {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.note = err
		},
		Remote: k.remote,
		Object: func(d blob.Digest) (blob.Object, bool, error) {
			k.mu.Lock()
			defer k.mu.Unlock()
			o, found := k.rows[d]
			return o, found, nil
		},
		Cache: k.cache,
	})
	if err != nil {
		k.t.Fatal(err)
	}
}

// reopen closes the file and opens it again, without what is in memory.
func (k *kept) reopen() {
	k.t.Helper()
	if err := k.store.Close(); err != nil {
		k.t.Fatal(err)
	}
	k.open()
}

// lose removes files.db, as a restore of the records alone does.
func (k *kept) lose() {
	k.t.Helper()
	if err := errors.Join(k.store.Close(), os.Remove(k.path)); err != nil {
		k.t.Fatal(err)
	}
	k.open()
}

func random(seed byte, n int) []byte {
	data := make([]byte, n)
	rand.NewChaCha8([32]byte{seed}).Read(data)
	return data
}

// send uploads a content as a request does. The row is stored unless there is an error.
func (k *kept) send(data []byte) (blob.Digest, error) {
	k.t.Helper()
	u := k.store.Upload()
	defer u.Release()
	if _, err := u.Write(data); err != nil {
		k.t.Fatal(err)
	}
	d, err := u.Finish()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := u.Send(k.t.Context(), func() {}); err != nil {
		k.mu.Lock()
		k.free[d] = true
		k.mu.Unlock()
		return d, err
	}
	sent, ok := k.store.Sent(d)
	if !ok {
		k.t.Fatal("there is no object")
	}
	k.mu.Lock()
	k.rows[d] = sent.Object
	delete(k.free, d)
	k.mu.Unlock()
	return d, nil
}

func (k *kept) mustSend(data []byte) blob.Digest {
	k.t.Helper()
	d, err := k.send(data)
	if err != nil {
		k.t.Fatal(err)
	}
	return d
}

func (k *kept) read(d blob.Digest) ([]byte, error) {
	r, err := k.store.Reader(d)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func (k *kept) same(what string, d blob.Digest, want []byte) {
	k.t.Helper()
	if got, err := k.read(d); err != nil || !bytes.Equal(got, want) {
		k.t.Errorf("%s: %d bytes of %d: %v", what, len(got), len(want), err)
	}
}

// objects returns the paths of the files of the contents in the bucket.
func (k *kept) objects() (paths []string) {
	k.t.Helper()
	err := filepath.WalkDir(filepath.Join(k.server.Dir, "bucket", instance), func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.Contains(path, "/content/") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		k.t.Fatal(err)
	}
	return paths
}

func (k *kept) object(d blob.Digest) string {
	return filepath.Join(k.server.Dir, "bucket", k.rows[d].Name)
}

// evicted waits until the cache is within its bound.
func (k *kept) evicted() {
	k.t.Helper()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		bytes, bound := k.store.Cached()
		if bytes <= bound {
			return
		}
		if time.Since(began) > time.Minute {
			k.t.Fatalf("%d bytes are cached, more than %d", bytes, bound)
		}
	}
}

// count returns the number of requests that begin with a text.
func count(seen []string, prefix string) (n int) {
	for _, s := range seen {
		if strings.HasPrefix(s, prefix) {
			n++
		}
	}
	return n
}

var sizes = []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, blob.ChunkSize - 1, blob.ChunkSize, blob.ChunkSize + 1, 3*blob.ChunkSize + 77, 20 << 20}

// TestRemote_EverySize reads contents of many sizes from objects alone, whole and in ranges.
func TestRemote_EverySize(t *testing.T) {
	k := keep(t, 1<<30)
	contents := map[blob.Digest][]byte{}
	for i, n := range sizes {
		data := random(byte(i), n)
		contents[k.mustSend(data)] = data
	}
	if seen := k.proxy.Seen(); count(seen, "GET /bucket/"+instance) > 0 {
		t.Errorf("objects were read back although their tags prove them: %q", seen)
	}
	k.lose()
	r := rand.New(rand.NewPCG(1, 2))
	for d, data := range contents {
		for range 10 {
			if len(data) == 0 {
				break
			}
			from := r.IntN(len(data))
			n := 1 + r.IntN(len(data)-from)
			in, err := k.store.Reader(d)
			if err != nil {
				t.Fatal(err)
			}
			if in.Size() != int64(len(data)) {
				t.Errorf("%d bytes, want %d", in.Size(), len(data))
			}
			in.Seek(int64(from), io.SeekStart)
			got := make([]byte, n)
			if _, err := io.ReadFull(in, got); err != nil || !bytes.Equal(got, data[from:from+n]) {
				t.Errorf("%d bytes from %d of %d: %v", n, from, len(data), err)
			}
		}
		k.same("again", d, data)
	}
	k.proxy.Seen()
	for d, data := range contents {
		k.same("cached", d, data)
	}
	if seen := k.proxy.Seen(); len(seen) > 0 {
		t.Errorf("what is cached was asked for: %q", seen)
	}
	stored, _ := k.store.Stored()
	total := int64(0)
	for _, n := range sizes {
		total += int64(n)
	}
	if stored != total {
		t.Errorf("%d bytes are stored, want %d", stored, total)
	}
}

// TestRemote_Requests counts the requests of an upload and of a read.
func TestRemote_Requests(t *testing.T) {
	k := keep(t, 1<<30)
	data := random(1, 3*blob.ChunkSize)
	d := k.mustSend(data)
	if seen := k.proxy.Seen(); len(seen) != 2 {
		t.Errorf("an upload: %q", seen)
	}
	k.mustSend(data) // the same content: the object is only looked for
	if seen := k.proxy.Seen(); len(seen) != 1 || len(k.objects()) != 1 {
		t.Errorf("the same content: %q", seen)
	}
	k.lose()
	k.same("from the bucket", d, data)
	if seen := k.proxy.Seen(); len(seen) != 4 { // three chunks, and the end
		t.Errorf("a read: %q", seen)
	}
}

// TestRemote_NothingReadable checks that the bucket shows neither contents nor digests, and that
// objects can't be exchanged.
func TestRemote_NothingReadable(t *testing.T) {
	k := keep(t, 0)
	secret := bytes.Repeat([]byte("salary of the director "), 5000)
	a, b := k.mustSend(secret), k.mustSend(append([]byte("x"), secret[1:]...))
	for _, path := range k.objects() {
		stored, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(stored, []byte("director")) || bytes.Contains(stored, a[:]) || strings.Contains(path, a.String()) ||
			bytes.Contains(stored, []byte(a.String())) {
			t.Errorf("%s shows its content", path)
		}
	}
	k.evicted()
	one, two := k.object(a), k.object(b)
	if err := errors.Join(os.Rename(one, one+".x"), os.Rename(two, one), os.Rename(one+".x", two)); err != nil {
		t.Fatal(err)
	}
	for _, d := range []blob.Digest{a, b} {
		if got, err := k.read(d); err == nil || len(got) > 0 {
			t.Errorf("an exchanged object is read: %d bytes, %v", len(got), err)
		}
	}
}

// TestRemote_Evicts bounds the cache, and keeps what was used last.
func TestRemote_Evicts(t *testing.T) {
	const chunk = blob.ChunkSize
	k := keep(t, 3*chunk)
	var all []blob.Digest
	for i := range 6 {
		all = append(all, k.mustSend(random(byte(i), chunk)))
	}
	k.evicted()
	k.proxy.Seen()
	for i := 5; i >= 3; i-- {
		k.same("cached", all[i], random(byte(i), chunk))
	}
	if seen := k.proxy.Seen(); len(seen) > 0 {
		t.Errorf("the last ones are not cached: %q", seen)
	}
	k.same("the first one", all[0], random(0, chunk))
	k.evicted() // of 5, which was used first of the three
	k.proxy.Seen()
	for _, i := range []int{0, 3, 4} {
		k.same("cached", all[i], random(byte(i), chunk))
	}
	if seen := k.proxy.Seen(); len(seen) > 0 {
		t.Errorf("what was used last is not cached: %q", seen)
	}
	k.reopen()
	if bytes, _ := k.store.Cached(); bytes != 3*chunk {
		t.Errorf("after a start, %d bytes are cached", bytes)
	}
	big := random(9, 8*chunk) // larger than the cache
	d := k.mustSend(big)
	for range 2 {
		k.same("larger than the cache", d, big)
	}
	k.evicted()
}

// TestRemote_EvictsNothingMissing keeps chunks whose object is not there, was never there, or can't be
// asked for.
func TestRemote_EvictsNothingMissing(t *testing.T) {
	k := keep(t, 1<<30)
	data := random(1, blob.ChunkSize)
	missing := k.mustSend(data)
	other := k.mustSend(random(2, blob.ChunkSize))
	if err := os.Remove(k.object(missing)); err != nil {
		t.Fatal(err)
	}
	local := k.store.Upload()
	local.Write(random(3, 100))
	onlyLocal, err := local.Finish()
	if err != nil {
		t.Fatal(err)
	}
	local.Release()
	k.cache = 0
	k.reopen()
	k.evicted()
	k.same("the object is missing", missing, data)
	k.same("no object", onlyLocal, random(3, 100))
	k.same("the object is there", other, random(2, blob.ChunkSize))
	k.mu.Lock()
	note := k.note
	k.mu.Unlock()
	if note == nil || !strings.Contains(note.Error(), "it is not there; the content is still in files.db") {
		t.Error(note)
	}

	// The same bytes are uploaded again: a new object takes the place of the missing one.
	k.mustSend(data)
	k.lose()
	k.same("replaced", missing, data)
}

// TestRemote_Concurrent reads and uploads at once, with a small cache and deletions.
func TestRemote_Concurrent(t *testing.T) {
	const chunk = blob.ChunkSize
	k := keep(t, 2*chunk)
	var all []blob.Digest
	var contents [][]byte
	for i := range 4 {
		contents = append(contents, random(byte(i), chunk*(1+i)+i))
		all = append(all, k.mustSend(contents[i]))
	}
	k.proxy.Seen()
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 1))
			for range 30 {
				i := r.IntN(len(all))
				if r.IntN(10) == 0 {
					if _, err := k.send(contents[i]); err != nil {
						t.Error(err)
					}
					continue
				}
				if got, err := k.read(all[i]); err != nil || !bytes.Equal(got, contents[i]) {
					t.Errorf("content %d: %d bytes: %v", i, len(got), err)
				}
			}
		})
	}
	wg.Wait()
	k.evicted()
}

// TestRemote_ReadTwice: readers that want the same chunk at once share one request.
func TestRemote_ReadTwice(t *testing.T) {
	k := keep(t, 1<<30)
	data := random(1, blob.ChunkSize)
	d := k.mustSend(data)
	k.lose()
	k.proxy.Seen()
	reach := make(chan struct{})
	k.proxy.After(func(*http.Request) { <-reach })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got, err := k.read(d); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d bytes: %v", len(got), err)
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	close(reach)
	wg.Wait()
	k.proxy.After(nil)
	if n := count(k.proxy.Seen(), "GET"); n > 2 {
		t.Errorf("%d requests", n)
	}
}

// TestRemote_Fetch brings a content back, and keeps it while it is pinned.
func TestRemote_Fetch(t *testing.T) {
	k := keep(t, 0)
	data := random(1, 3*blob.ChunkSize)
	d := k.mustSend(data)
	k.evicted()
	release, err := k.store.Fetch(t.Context(), d, func() {})
	if err != nil {
		t.Fatal(err)
	}
	k.mu.Lock()
	delete(k.rows, d)
	k.mu.Unlock()
	k.store.Cache(d)
	release()
	for range 20 {
		k.store.Sweep()
	}
	if err := os.RemoveAll(filepath.Join(k.server.Dir, "bucket", instance)); err != nil {
		t.Fatal(err)
	}
	k.reopen()
	k.same("brought back", d, data)
	if sum := sha256.Sum256(data); blob.Digest(sum) != d {
		t.Error(d)
	}
}

// TestVerify_PartlyCached accepts a file whose contents are partly in the bucket, and finds damage in
// the chunks that are there.
func TestVerify_PartlyCached(t *testing.T) {
	k := keep(t, blob.ChunkSize)
	d := k.mustSend(random(1, 3*blob.ChunkSize))
	k.evicted()
	faults := []string{}
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	sizes, err := k.store.Verify(t.Context(), fault)
	if err != nil || len(faults) > 0 || sizes[d] != 3*blob.ChunkSize {
		t.Errorf("%v, %q, %v", sizes, faults, err)
	}
	if err := k.store.Close(); err != nil {
		t.Fatal(err)
	}
	object := func(d blob.Digest) (o blob.Object, found bool, err error) {
		o, found = k.rows[d]
		return o, found, nil
	}
	if _, err = blob.Inspect(t.Context(), k.path, instance, object, false, fault); err != nil || len(faults) > 0 {
		t.Errorf("%q, %v", faults, err)
	}
	if _, err = blob.Inspect(t.Context(), k.path, instance, nil, false, fault); err != nil || len(faults) != 1 {
		t.Errorf("without the bucket: %q, %v", faults, err)
	}
	k.open()
}
