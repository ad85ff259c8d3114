package backup_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reeve/server/backup"
	"reeve/server/servertest"
	"reeve/server/target"
	"reeve/store/disk"
	"reeve/store/disk/disktest"
	"reeve/store/s3"
	"reeve/store/s3/s3test"
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
