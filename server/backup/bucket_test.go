package backup_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reeve/auth"
	"reeve/server/backup"
	"reeve/server/servertest"
	"reeve/server/target"
	"reeve/store"
	"reeve/store/disk"
	"reeve/store/disk/disktest"
	"reeve/store/kv"
	"reeve/store/s3"
	"reeve/store/s3/s3test"

	"filippo.io/age"
)

// TestBucket_FaultsAreSaid has a bucket with a fault as a target: its state and the health say what it is, without
// the secret, and a copy is made and proven once it is mended. A directory beside it gets its copies at once.
func TestBucket_FaultsAreSaid(t *testing.T) {
	t.Parallel()
	failing := func(how s3test.Failure) func(*s3test.Proxy, *s3.Options) {
		return func(p *s3test.Proxy, _ *s3.Options) { p.Fail(func(*http.Request) s3test.Failure { return how }) }
	}
	for name, test := range map[string]struct {
		fault func(*s3test.Proxy, *s3.Options)
		want  string
		free  int // bytes that are free on the disk of the server until it is mended; 0 for any
	}{
		"wrong credentials": {func(_ *s3test.Proxy, o *s3.Options) { o.Endpoint, o.SecretKey = "", "another-secret" }, "does not accept access_key", 0},
		"missing bucket":    {func(_ *s3test.Proxy, o *s3.Options) { o.Endpoint, o.Bucket = "", "missing" }, "the bucket does not exist", 0},
		"no connection":     {failing(s3test.Drop), "onnection", 0},
		"errors":            {failing(s3test.Error), "the service answers 500", 0},
		"hanging":           {failing(s3test.Hang), "", 0}, // nothing is said for as long as it may be slow
		"full":              {func(_ *s3test.Proxy, o *s3.Options) { o.Endpoint = "" }, "the service answers 5", 160 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, ballast := t.TempDir(), ""
			if test.free > 0 {
				dir = disktest.SmallDisk(t, "32m")
			}
			server := s3test.StartIn(t, dir)
			if test.free > 0 {
				ballast = filepath.Join(dir, "ballast")
				free, err := disk.FreeSpace(dir)
				servertest.Must(t, err)
				servertest.Must(t, os.WriteFile(ballast, make([]byte, int(free)-test.free), 0o600))
			}
			proxy := server.Proxy(t)
			good := server.Options()
			good.Endpoint = proxy.URL
			bad := good
			if test.fault(proxy, &bad); bad.Endpoint == "" {
				bad.Endpoint = server.URL // the proxy would end a connection before its answer
			}
			k := newKept(t)
			k.Set("backup.ship_seconds", "1")
			set := func(o s3.Options) target.Set {
				return target.Set{Targets: []target.Config{{Name: "bucket", S3: o}, {Name: "nas", Path: t.TempDir()}}}
			}
			k.run(set(bad))
			states := func() (bucket, nas targetState) {
				var out struct{ Data []targetState }
				k.OK("GET", "/system/backup-target", "", "owner").Data(&out)
				return out.Data[0], out.Data[1]
			}
			servertest.Until(t, "the directory has a proven copy", func() bool {
				_, nas := states()
				return nas.ProvenAt != nil
			})
			if test.want != "" {
				var bucket targetState
				servertest.Until(t, "a fault is said", func() bool {
					bucket, _ = states()
					return bucket.Error != "" && bucket.Phase == backup.Waiting && bucket.Attempts > 0
				})
				if !strings.Contains(bucket.Error, test.want) || strings.Contains(bucket.Error, bad.SecretKey) || bucket.ProvenAt != nil {
					t.Errorf("%+v", bucket)
				}
				if state, text := k.health(); state != "degraded" || !strings.Contains(text, "bucket") {
					t.Error(state, text)
				}
			}
			k.Dept("While the bucket fails", 0)
			asked := time.Now()
			servertest.Until(t, "the directory has all commits", func() bool {
				_, nas := states()
				return nas.StoredAt != nil && nas.StoredAt.After(asked)
			})
			if ballast != "" {
				servertest.Must(t, os.Remove(ballast))
			}

			proxy.Fail(nil)
			begun := time.Now()
			if k.run(set(good)); name == "no connection" || name == "errors" || name == "hanging" || name == "full" {
				k.OK("POST", "/system/backup-file", `{"target":"bucket"}`, "owner")
			}
			var bucket targetState
			defer func() {
				if t.Failed() {
					t.Logf("%+v", bucket)
				}
			}()
			servertest.Until(t, "the bucket has a proven copy", func() bool {
				bucket, _ = states()
				return bucket.ProvenAt != nil && bucket.Error == "" && bucket.Phase == backup.Waiting
			})
			servertest.Until(t, "the bucket has all commits", func() bool {
				bucket, _ = states()
				return bucket.StoredAt != nil && bucket.CommitError == ""
			})
			if state, text := k.health(); state != "ok" {
				t.Error(state, text, time.Since(begun))
			}
		})
	}
}

// metered is the content of a request that comes as slowly as a test allows.
type metered struct {
	io.ReadCloser
	gone    <-chan struct{} // closed when the client has given up
	permits <-chan struct{} // one for each read; closed for any number
}

func (m *metered) Read(p []byte) (int, error) {
	select {
	case <-m.permits:
		return m.ReadCloser.Read(p[:min(len(p), 4<<10)])
	case <-m.gone:
		return 0, io.ErrUnexpectedEOF
	}
}

// slow makes a proxy pass on contents of requests as slowly as a test allows. The functions allow a little more, and
// any amount.
func slow(p *s3test.Proxy) (more, all func()) {
	permits := make(chan struct{}, 1)
	p.Fail(func(r *http.Request) s3test.Failure {
		r.Body = &metered{r.Body, r.Context().Done(), permits}
		return s3test.None
	})
	return func() {
		select {
		case permits <- struct{}{}:
		default:
		}
	}, sync.OnceFunc(func() { close(permits) })
}

// TestBucket_Slow has a bucket that takes bytes very slowly as a target. The state says what is being stored and how
// much of it, without an error; health says so once there should be a proven copy, and once commits have been on their
// way for too long.
func TestBucket_Slow(t *testing.T) {
	t.Parallel()
	identity, err := age.GenerateX25519Identity()
	servertest.Must(t, err)
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	k := keptIn(t, servertest.Start(t, func(s *servertest.Setup) {
		s.Clock = func() store.Time { return kv.TimeOf(now()) }
	}), identity)
	k.Server.Backups.SetClock(now)
	k.Set("backup.ship_seconds", "1")
	for i := range 5 {
		k.Keep("owner", fmt.Sprint(i, ".txt"), strings.Repeat(fmt.Sprint("content ", i), 10_000))
	}
	server := s3test.Start(t)
	proxy := server.Proxy(t)
	more, all := slow(proxy)
	defer all()
	o := server.Options()
	o.Endpoint = proxy.URL
	k.run(target.Set{Targets: []target.Config{{Name: "bucket", S3: o}}})

	var last targetState
	for range 4 {
		before := last.Done
		last = k.until("the copy goes on", func(s targetState) bool {
			more()
			return s.Done > before
		})
		if last.Phase != backup.Storing || last.Total < last.Done || last.Error != "" || last.Copies > 0 || last.Attempts != 1 {
			t.Errorf("%+v", last)
		}
	}
	if state, text := k.health(); state != "ok" || text != "there is no copy at bucket yet" {
		t.Error(state, text)
	}
	ahead.Store(int64(27 * time.Hour))
	k.Tokens["owner"] = k.SignIn(auth.FirstUser)
	if state, text := k.health(); state != "degraded" || text != "there is no proven copy at bucket" {
		t.Error(state, text)
	}
	if s := k.target(); s.Phase != backup.Storing || s.Unproven != 1 || s.Error != "" {
		t.Errorf("%+v", s)
	}
	all()
	k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == backup.Waiting })
	stored := func() {
		t.Helper()
		asked := now()
		k.until("all commits are stored", func(s targetState) bool { return s.StoredAt != nil && s.StoredAt.After(asked) })
	}
	stored()
	if state, text := k.health(); state != "ok" {
		t.Error(state, text)
	}

	_, all = slow(proxy)
	defer all()
	proxy.Seen()
	k.Dept("While it is slow", 0)
	servertest.Until(t, "the commit is being sent", func() bool {
		return slices.ContainsFunc(proxy.Seen(), func(request string) bool {
			return strings.HasPrefix(request, "PUT ") && strings.Contains(request, "/stream/")
		})
	})
	if state, text := k.health(); state != "ok" {
		t.Error(state, text)
	}
	ahead.Add(int64(11 * time.Minute))
	if state, text := k.health(); state != "degraded" || !strings.HasPrefix(text, "commits have been on their way to bucket since 20") {
		t.Error(state, text)
	}
	if s := k.target(); s.CommitError != "" || s.StoredAt.After(now().Add(-10*time.Minute)) {
		t.Errorf("%+v", s)
	}
	all()
	servertest.Until(t, "it is stored", func() bool {
		state, _ := k.health()
		return state == "ok"
	})
	stored()
}

// TestBucket_ReplacesObjects has a service as a target that replaces an object although the request forbids it, which
// some do: a warning says so. Copies are made and proven all the same.
func TestBucket_ReplacesObjects(t *testing.T) {
	t.Parallel()
	const warning = "the target replaces objects although it is told not to"
	for _, replaces := range []bool{false, true} {
		server := s3test.Start(t)
		proxy := server.Proxy(t)
		direct := s3test.Bucket(t, server.Options())
		replaced := atomic.Int64{}
		proxy.Fail(func(r *http.Request) s3test.Failure {
			if name, is := strings.CutPrefix(r.URL.Path, "/bucket/"); is && replaces && r.Header.Get("If-None-Match") != "" {
				if there, err := direct.List(r.Context(), name); err != nil {
					t.Error(err)
				} else if len(there) > 0 {
					replaced.Add(1)
					if err := direct.Delete(r.Context(), name); err != nil {
						t.Error(err)
					}
				}
			}
			return s3test.None
		})
		k := newKept(t)
		o := server.Options()
		o.Endpoint = proxy.URL
		k.run(target.Set{Targets: []target.Config{{Name: "bucket", S3: o}}})
		s := k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == backup.Waiting })
		if said := slices.Contains(s.Warnings, warning); said != replaces || (replaced.Load() == 1) != replaces || s.Error != "" {
			t.Errorf("replaces %v: %d, %+v", replaces, replaced.Load(), s)
		}
	}
}
