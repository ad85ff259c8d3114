package e2e

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"reeve/store/disk/disktest"
	"reeve/store/s3/s3test"
)

// TestCopies_Idle leaves a server alone whose commits are stored each second: while nothing is written,
// it sends no request to the bucket, and writes neither records nor commits. The next write is stored.
func TestCopies_Idle(t *testing.T) {
	t.Parallel()
	s := s3test.Start(t)
	proxy := s.Proxy(t)
	o := newOffsite(t, bucketTable(t, s, proxy.URL))
	_, c := o.streaming(t)
	o.must(t, "backup", "recipient", o.identity)
	o.proven(t)
	c.create("/admin/dept", "name", "Sales")
	c.allStored()
	stream := filepath.Join(o.data, "stream")
	before, data := disktest.Snapshot(t, stream), disktest.ReadFile(t, filepath.Join(o.data, "data.db"))
	if len(before) == 0 {
		t.Fatal("there is no commit stream")
	}
	proxy.Seen()
	pause(t, time.Duration(disktest.Size(4, 6, 60))*time.Second)
	if seen := proxy.Seen(); len(seen) > 0 {
		t.Errorf("requests while nothing is written: %q", seen)
	}
	if !maps.Equal(disktest.Snapshot(t, stream), before) || !bytes.Equal(disktest.ReadFile(t, filepath.Join(o.data, "data.db")), data) {
		t.Error("something is written")
	}

	c.create("/admin/dept", "name", "Research")
	c.allStored()
	if !slices.ContainsFunc(proxy.Seen(), func(r string) bool { return r[:4] == "PUT " }) {
		t.Error("a write is not stored")
	}
}
