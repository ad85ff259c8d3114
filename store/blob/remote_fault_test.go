package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/store/blob"
	"reeve/store/disk"
	"reeve/store/errs"
	"reeve/store/s3"
	"reeve/store/s3/s3test"
	"reeve/store/stall"
)

// TestRemote_Down checks each step of an upload and a read with each failure of the network.
func TestRemote_Down(t *testing.T) {
	k := keep(t, 1<<30)
	cached := k.mustSend([]byte("cached"))
	gone := k.mustSend(random(1, blob.ChunkSize+5))
	k.cache = 0
	n := 0
	for name, failure := range map[string]s3test.Failure{"drop": s3test.Drop, "lose": s3test.Lose, "error": s3test.Error} {
		for _, method := range []string{"PUT", "HEAD"} {
			k.proxy.Fail(func(r *http.Request) s3test.Failure {
				if r.Method == method {
					return failure
				}
				return s3test.None
			})
			n++
			data := []byte(fmt.Sprint("content ", n))
			d, err := k.send(data)
			stored := err == nil // an answer was lost, and the request sent again
			if !stored && (!errs.Is(err, errs.Busy) || errs.Of(err).Code != "bucket_unavailable") {
				t.Errorf("%s of %s: %v", name, method, err)
			}
			if stored && name == "drop" {
				t.Errorf("%s of %s: it is stored", name, method)
			}
			if c := k.remote.Contact(); !stored && c.Fault == nil {
				t.Errorf("%s of %s: the fault is not known", name, method)
			}
			k.proxy.Fail(nil)
			if again := k.mustSend(data); again != d {
				t.Error(again)
			}
			if c := k.remote.Contact(); c.Fault != nil {
				t.Errorf("the fault remains: %v", c.Fault)
			}
			k.same("after "+name, d, data)
		}
	}

	k.lose()
	k.same("fetched", cached, []byte("cached"))
	for _, failure := range []s3test.Failure{s3test.Drop, s3test.Lose, s3test.Error} {
		k.proxy.Fail(func(*http.Request) s3test.Failure { return failure })
		r, err := k.store.Reader(gone)
		if err != nil {
			t.Fatal(err)
		}
		if r.Size() != blob.ChunkSize+5 {
			t.Errorf("%d bytes", r.Size())
		}
		if got, err := io.ReadAll(r); len(got) > 0 || errs.Of(err).Code != "bucket_unavailable" {
			t.Errorf("failure %d: %d bytes, %v", failure, len(got), err)
		}
	}
	k.proxy.Fail(nil)
	k.same("it is back", gone, random(1, blob.ChunkSize+5))
}

// TestRemote_Hangs ends requests that are never answered, and answers all who wait.
func TestRemote_Hangs(t *testing.T) {
	k := keep(t, 1<<30)
	d := k.mustSend(random(1, 100))
	k.lose()
	k.remote.SetPatience(200*time.Millisecond, 100*time.Millisecond)
	k.proxy.Fail(func(*http.Request) s3test.Failure { return s3test.Hang })
	began := time.Now()
	if _, err := k.send([]byte("new")); errs.Of(err).Code != "bucket_unavailable" || !errors.Is(err, stall.ErrStalled) {
		t.Errorf("an upload: %v", err)
	}
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if got, err := k.read(d); len(got) > 0 || errs.Of(err).Code != "bucket_unavailable" {
				t.Errorf("a read: %d bytes, %v", len(got), err)
			}
		})
	}
	wg.Wait()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	k.proxy.Fail(nil)
	k.same("it is back", d, random(1, 100))
}

// TestRemote_Damage damages objects in many ways. No reader gets other bytes.
func TestRemote_Damage(t *testing.T) {
	k := keep(t, 0)
	data := random(1, 2*blob.ChunkSize+100)
	d := k.mustSend(data)
	k.evicted()
	path := k.object(d)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flip := func(at int) []byte {
		out := bytes.Clone(whole)
		out[at] ^= 1
		return out
	}
	for name, damaged := range map[string][]byte{
		"header":         flip(30),
		"nonce":          flip(int(k.rows[d].Bytes) - len(data) - 16*33 - 5),
		"first chunk":    flip(1000),
		"middle":         flip(len(whole) / 2),
		"last byte":      flip(len(whole) - 1),
		"cut":            whole[:len(whole)-1],
		"cut to a chunk": whole[:len(whole)/2],
		"longer":         append(bytes.Clone(whole), 0),
		"empty":          {},
		"zeros":          make([]byte, len(whole)),
		"absent":         nil,
	} {
		k.fresh(func() {
			if damaged == nil {
				err = os.Remove(path)
			} else {
				err = os.WriteFile(path, damaged, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := k.read(d)
			if !bytes.HasPrefix(data, got) {
				t.Errorf("%s: other bytes", name)
			}
			if len(got) == len(data) && name != "longer" || err == nil && name != "longer" {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
			var damage *disk.Damaged
			if err != nil && !errors.As(err, &damage) && errs.Of(err).Code != "bucket_unavailable" {
				t.Errorf("%s: %v", name, err)
			}
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
		})
		k.same("repaired after "+name, d, data)
		k.evicted()
	}
}

// fresh runs fn with a store that has read nothing of the bucket.
func (k *kept) fresh(fn func()) {
	k.t.Helper()
	k.lose()
	fn()
	k.lose()
}

// TestRemote_WrongCredentials says what is wrong, and shows no secret.
func TestRemote_WrongCredentials(t *testing.T) {
	server := s3test.Start(t)
	for want, change := range map[string]func(*s3.Options){
		"does not accept access_key": func(o *s3.Options) { o.SecretKey = "another-secret" },
		"the bucket does not exist":  func(o *s3.Options) { o.Bucket = "missing" },
	} {
		o := server.Options()
		change(&o)
		r := blob.NewRemote(s3test.Bucket(t, o), instance, key)
		_, err := r.Store(t.Context(), 3, strings.NewReader("abc"), func() {})
		if err == nil || r.Contact().Fault == nil {
			t.Fatal("it was stored")
		}
		for _, text := range []string{err.Error(), r.Contact().Fault.Error(), errs.ForOperator(err).Error()} {
			if strings.Contains(text, o.SecretKey) {
				t.Error(text)
			}
		}
		if !strings.Contains(errs.ForOperator(err).Error()+r.Contact().Fault.Error(), want) {
			t.Errorf("%v", err)
		}
	}
}

// TestRemote_ReadBack checks that an object without a useful tag is read back, and that one that is
// another one counts as not stored.
func TestRemote_ReadBack(t *testing.T) {
	server := s3test.Start(t)
	bucket := &untagged{Storage: s3test.Bucket(t, server.Options())}
	r := blob.NewRemote(bucket, instance, key)
	for _, n := range []int{0, 100, 20 << 20} {
		data := random(1, n)
		o, err := r.Store(t.Context(), int64(n), bytes.NewReader(data), func() {})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.Read(t.Context(), o, 0, int64(n)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	bucket.damage = true
	if _, err := r.Store(t.Context(), 100, bytes.NewReader(random(1, 100)), func() {}); err == nil {
		t.Error("an object that is another one counts as stored")
	}
	n := 0
	if err := r.Walk(t.Context(), func(string, int64, time.Time) error { n++; return nil }); err != nil || n != 3 {
		t.Errorf("%d objects are left, %v", n, err)
	}
}

// TestRemote_ContentFails ends an upload whose content can't be read, with its error.
func TestRemote_ContentFails(t *testing.T) {
	server := s3test.Start(t)
	r := blob.NewRemote(s3test.Bucket(t, server.Options()), instance, key)
	broken := errors.New("the disk gave up")
	for _, n := range []int64{100, 20 << 20} {
		_, err := r.Store(t.Context(), n, io.MultiReader(bytes.NewReader(random(1, 50)), &failing{broken}), func() {})
		if !errors.Is(err, broken) {
			t.Errorf("%v", err)
		}
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// untagged is a bucket whose tags are of no use.
type untagged struct {
	blob.Storage
	damage bool
}

func (u *untagged) Stat(ctx context.Context, name string) (int64, string, error) {
	size, _, err := u.Storage.Stat(ctx, name)
	return size, "0123", err
}

func (u *untagged) Put(ctx context.Context, name string, size int64, content io.Reader) error {
	if !u.damage {
		return u.Storage.Put(ctx, name, size, content)
	}
	data, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	data[len(data)-1]++
	return u.Storage.Put(ctx, name, size, bytes.NewReader(data))
}
