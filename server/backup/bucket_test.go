package backup_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"reeve/server/backup"
	"reeve/server/servertest"
	"reeve/server/target"
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
		size  string // of the disk of the server; "" for any
	}{
		"wrong credentials": {func(_ *s3test.Proxy, o *s3.Options) { o.Endpoint, o.SecretKey = "", "another-secret" }, "does not accept access_key", ""},
		"missing bucket":    {func(_ *s3test.Proxy, o *s3.Options) { o.Endpoint, o.Bucket = "", "missing" }, "the bucket does not exist", ""},
		"no connection":     {failing(s3test.Drop), "onnection", ""},
		"errors":            {failing(s3test.Error), "the service answers 500", ""},
		"hanging":           {failing(s3test.Hang), "", ""}, // nothing is said for as long as it may be slow
		"full":              {func(_ *s3test.Proxy, o *s3.Options) { o.Endpoint = "" }, "the service answers 5", "160k"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if test.size != "" {
				dir = disktest.SmallDisk(t, test.size)
			}
			server := s3test.StartIn(t, dir)
			proxy := server.Proxy(t)
			good := server.Options()
			good.Endpoint = proxy.URL
			bad := good
			if test.fault(proxy, &bad); bad.Endpoint == "" {
				bad.Endpoint = server.URL // the proxy would end a connection before its answer
			}
			k := newKept(t)
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
			if test.size != "" {
				return
			}

			proxy.Fail(nil)
			begun := time.Now()
			if k.run(set(good)); name == "no connection" || name == "errors" || name == "hanging" {
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
			if state, text := k.health(); state != "ok" {
				t.Error(state, text, time.Since(begun))
			}
		})
	}
}
