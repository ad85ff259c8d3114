package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"reeve/store/s3/s3test"
)

// TestCopies_ObjectLock keeps copies and commits in a bucket whose objects are locked for a day, with delete = false:
// they are made and proven, nothing is deleted and nothing fails, and the latest state is restored. Someone with the
// access key can delete no version. After all objects were deleted and replaced, the way of the manual restores them.
func TestCopies_ObjectLock(t *testing.T) {
	t.Parallel()
	s := s3test.StartIn(t, t.TempDir(), "--versioning-dir", t.TempDir())
	client, err := minio.New(strings.TrimPrefix(s.URL, "http://"), &minio.Options{Creds: credentials.NewStaticV4(s.AccessKey, s.SecretKey, ""), Region: "us-east-1"})
	noErr(t, err)
	const bucket = "locked"
	noErr(t, client.MakeBucket(t.Context(), bucket, minio.MakeBucketOptions{Region: "us-east-1", ObjectLocking: true}))
	mode, days, unit := minio.Compliance, uint(1), minio.Days
	noErr(t, client.SetObjectLockConfig(t.Context(), bucket, &mode, &days, &unit))
	// versions returns the versions of all objects, and the number of marks that one was deleted.
	versions := func() (all []minio.ObjectInfo, deleted int) {
		for v := range client.ListObjects(t.Context(), bucket, minio.ListObjectsOptions{WithVersions: true, Recursive: true}) {
			noErr(t, v.Err)
			if v.IsDeleteMarker {
				deleted++
			} else {
				all = append(all, v)
			}
		}
		return all, deleted
	}

	table := strings.Replace(bucketTable(t, s, s.URL), `bucket = "bucket"`, `bucket = "locked"`, 1)
	o := newOffsite(t, table+"delete = false\n")
	p, c := o.streaming(t)
	o.must(t, "backup", "recipient", o.identity)
	o.proven(t)
	c.want(200, "PUT", "/system/setting", `{"values":{"backup.hourly":"0","backup.daily":"1","backup.weekly":"0","backup.monthly":"0"}}`)
	for i := range 3 { // which would replace one another
		c.keepsText(fmt.Sprintf("file %d.txt", i), fmt.Sprint("content of file ", i))
		if r := o.must(t, "backup", "now", "offsite"); !strings.Contains(r.out, "stored and proven") {
			t.Errorf("%+v", r)
		}
	}
	c.create("/admin/dept", "name", "Sales")
	c.allStored()
	if state, parts, _ := c.systemHealth(); parts["backup"] != "ok" {
		t.Errorf("%s %v", state, parts)
	}
	out := into[struct {
		Data []struct {
			Deletes     int
			Error       string
			CommitError string `json:"commit_error"`
			Copies      int
		}
	}](t, c.want(200, "GET", "/system/backup-target", ""))
	if s := out.Data[0]; s.Deletes != 0 || s.Error != "" || s.CommitError != "" || s.Copies < 4 {
		t.Errorf("%+v", s)
	}
	p.stop()
	all, deleted := versions()
	names := map[string]int{}
	for _, v := range all {
		names[v.Key]++
	}
	for name, n := range names {
		if n > 1 {
			t.Errorf("%s has %d versions", name, n)
		}
	}
	if deleted > 0 || len(names) < 15 {
		t.Errorf("%d objects, %d were deleted", len(names), deleted)
	}

	// What malware can do with the access key.
	for _, v := range all {
		if err := client.RemoveObject(t.Context(), bucket, v.Key, minio.RemoveObjectOptions{VersionID: v.VersionID}); err == nil {
			t.Errorf("version %s of %s was deleted", v.VersionID, v.Key)
		}
	}
	if left, _ := versions(); len(left) != len(all) {
		t.Errorf("%d of %d versions are left", len(left), len(all))
	}
	restores := func(table string) {
		t.Helper()
		restored := newOffsite(t, table)
		restored.must(t, "restore", "offsite", "--identity", o.identity)
		q := start(t, restored.data)
		defer q.stop()
		c := signedIn(t, q)
		files := c.filesAt("/file/list?pageSize=100")
		for _, f := range files {
			if got := c.textOf(f); got != "content of "+strings.TrimSuffix(f.Name, ".txt") {
				t.Errorf("%s is %q", f.Name, got)
			}
		}
		if len(files) != 3 {
			t.Errorf("%+v", files)
		}
		if body := string(c.want(200, "GET", "/admin/dept", "").raw); !strings.Contains(body, `"Sales"`) {
			t.Error(body)
		}
	}
	restores(table)

	// A plain deletion, and another object with the same name, succeed and hide the versions.
	refused := func(want string) {
		t.Helper()
		if r := newOffsite(t, table).run(t, "restore", "offsite", "--identity", o.identity); r.code == 0 || !strings.Contains(r.err, want) {
			t.Errorf("%+v, want %s", r, want)
		}
	}
	for _, v := range all {
		noErr(t, client.RemoveObject(t.Context(), bucket, v.Key, minio.RemoveObjectOptions{}))
	}
	refused("there are no copies")
	for _, v := range all {
		_, err := client.PutObject(t.Context(), bucket, v.Key, strings.NewReader("encrypted"), 9, minio.PutObjectOptions{})
		noErr(t, err)
	}
	refused("this identity opens none of the copies")

	// What the manual says: the last versions from before the attack, with the same names in a new bucket. This service
	// gives a replaced version the time of its replacement, so the list from before says which they are.
	if now, deleted := versions(); len(now) != 2*len(all) || deleted != len(all) {
		t.Errorf("%d versions and %d deletions of %d objects", len(now), deleted, len(all))
	}
	noErr(t, client.MakeBucket(t.Context(), "clean", minio.MakeBucketOptions{Region: "us-east-1"}))
	for _, v := range all {
		_, err := client.CopyObject(t.Context(), minio.CopyDestOptions{Bucket: "clean", Object: v.Key},
			minio.CopySrcOptions{Bucket: bucket, Object: v.Key, VersionID: v.VersionID})
		noErr(t, err)
	}
	restores(strings.Replace(table, strconv.Quote(bucket), `"clean"`, 1))
}
