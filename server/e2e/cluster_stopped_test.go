package e2e

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	nodes "reeve/server/cluster"
	"reeve/store"
	"reeve/store/etcd"
	"reeve/store/kv"
	"reeve/store/s3/s3test"
)

// preparing adds a job as a node does that prepares it, and returns its path.
func (c *cluster) preparing(from string) string {
	c.t.Helper()
	c.giveKey(from, "other")
	dir, bucket := c.data("other"), s3test.Bucket(c.t, c.s3.Options())
	n, err := nodes.Open(nodes.Options{Etcd: etcd.Options{Endpoints: []string{c.etcd[0].URL}}, Name: "other", Version: "test",
		Dir: dir, Bucket: bucket, Config: func() map[string]string { return nil }, Log: func(text string, err error) { c.t.Log(text, err) }})
	noErr(c.t, err)
	o := store.Options{Files: &kv.FileStorage{Storage: bucket, Cache: 1 << 20, Keep: time.Hour, Idle: true}}
	joining := o
	o.CommitLog = n.CommitLog()
	var db *store.DB
	noErr(c.t, n.Prepare(c.t.Context(), joining, func() (err error) {
		db, err = store.Open(dir, o)
		return err
	}))
	noErr(c.t, n.Attach(db))
	j := &store.Job{Kind: "setup", State: store.JobPreparing, UserID: 1, Username: "admin"}
	err = db.Update(store.System, func(tx *store.Tx) error { return store.Jobs.Create(tx, j) })
	noErr(c.t, errors.Join(err, db.Close(), n.Close()))
	return fmt.Sprint("/system/job/", j.ID)
}

// TestCluster_CommandsAtAStoppedNode: a command at a stopped node does what it is asked for as a node without duties
// does, and leaves what the nodes that run do to them.
func TestCluster_CommandsAtAStoppedNode(t *testing.T) {
	t.Parallel()
	s := newCluster(t, 1)
	s.more = fmt.Sprintf("[backup.offsite]\npath = %q\n", filepath.Join(t.TempDir(), "copies"))
	a, b := s.pair()
	c := signedIn(t, a)
	file := c.upload("some.txt", "some bytes")
	b.stop()
	for _, words := range [][]string{{"files", "move", "local"}, {"files", "move", "s3"}, {"files", "cancel"}, {"backup", "now", "offsite"}} {
		r, want := s.on("b", words...), fmt.Sprintf("it is stopped: run `reeve %s %s` at a node that runs", words[0], words[1])
		if r.code == 0 || !strings.Contains(r.err, want) {
			t.Errorf("%v: %d\n%s%s\nwant %s", words, r.code, r.out, r.err, want)
		}
	}
	c.want(200, "GET", file+"/content", "")

	job := s.preparing("a")
	c.has(job, `"state":"preparing"`)
	for i := range 3 {
		s.succeed("b", "setting", "set", "site.title", fmt.Sprint("Title ", i))
		eventually(t, "the other node has the setting", func() bool {
			return s.succeed("a", "setting", "get", "site.title") == fmt.Sprintf("Title %d\n", i)
		})
	}
	c.has(job, `"state":"preparing"`)
	if r := s.on("b", "doctor"); !strings.Contains(r.out, "cluster") || strings.Contains(r.out, "no contact") {
		t.Errorf("doctor: %+v", r)
	}
}
