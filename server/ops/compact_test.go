package ops_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"reeve/auth"
	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/disk/disktest"
)

// compaction is the state of a compaction in a response.
type compaction struct {
	State     string     `json:"state"`
	Done      int64      `json:"done_bytes"`
	Total     int64      `json:"total_bytes"`
	StartedAt store.Time `json:"started_at"`
	EndedAt   store.Time `json:"ended_at"`
	Files     []struct {
		Name   string `json:"name"`
		Before int64  `json:"before_bytes"`
		After  int64  `json:"after_bytes"`
		Paused int64  `json:"paused_ms"`
	} `json:"files"`
	Error string `json:"error"`
}

func compactionOf(in *servertest.Instance, method, as string) (c compaction) {
	in.T.Helper()
	in.OK(method, "/system/compact", "", as).Data(&c)
	return c
}

// keepCompact compacts in the background, as a server that runs does, until the test ends.
func keepCompact(t *testing.T, in *servertest.Instance) {
	ctx, cancel := context.WithCancel(context.Background())
	var kept sync.WaitGroup
	kept.Go(func() { in.Server.Ops.KeepCompact(in.Server.Server, ctx) })
	t.Cleanup(func() { cancel(); kept.Wait() })
}

// compacted waits for the end of a compaction. Its progress only grows.
func compacted(t *testing.T, in *servertest.Instance) (c compaction) {
	t.Helper()
	servertest.Until(t, "the compaction ends", func() bool {
		before := c
		c = compactionOf(in, "GET", "owner")
		if c.Done < before.Done || c.Done > c.Total {
			t.Errorf("%d of %d bytes after %d of %d", c.Done, c.Total, before.Done, before.Total)
		}
		return c.State != "running"
	})
	return c
}

// waste makes free pages: settings that are deleted.
func waste(in *servertest.Instance) {
	for range 10 {
		var ids []store.ID
		in.Update(func(tx *store.Tx) error {
			for i := range 50 {
				d := &store.Dept{Name: fmt.Sprint("Department ", i), Phone: strings.Repeat("5", 5000)}
				if err := store.Depts.Create(tx, d); err != nil {
					return err
				}
				ids = append(ids, d.ID)
			}
			return nil
		})
		in.Update(func(tx *store.Tx) error {
			for _, id := range ids {
				if err := store.Depts.Delete(tx, id); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func TestCompact_StateAndResult(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk", "system.compact")
	in.Clerk("other", "system.info", "system.backup")
	waste(in)
	for _, method := range []string{"GET", "POST"} {
		in.Call(method, "/system/compact", "", "nobody").Brief(401)
		in.Call(method, "/system/compact", "", "other").Brief(403, "system.compact")
	}
	in.OK("GET", "/system/compact", "", "clerk").Brief(200, `"state":"none"`, `"started_at":null`, `"ended_at":null`,
		`"files":[]`)

	if c := compactionOf(in, "POST", "clerk"); c.State != "running" || c.StartedAt == 0 || len(c.Files) > 0 {
		t.Errorf("it begins with %+v", c)
	}
	in.Call("POST", "/system/compact", "", "owner").Brief(409, "already running")
	in.OK("GET", "/system/compact", "", "clerk").Brief(200, `"state":"running"`, `"ended_at":null`)

	before := in.State()
	keepCompact(t, in)
	c := compacted(t, in)
	if c.State != "done" || c.EndedAt < c.StartedAt || c.Error != "" || c.Total == 0 || c.Done != c.Total || len(c.Files) != 2 {
		t.Fatalf("%+v", c)
	}
	for i, name := range []string{"data.db", "files.db"} {
		info, err := os.Stat(filepath.Join(in.Dir, name))
		servertest.Must(t, err)
		if f := c.Files[i]; f.Name != name || f.Before < f.After || f.After != info.Size() || f.Paused < 0 {
			t.Errorf("%s has %d bytes: %+v", name, info.Size(), f)
		}
	}
	if f := c.Files[0]; f.After >= f.Before { // how much depends on how much of the change log was moved before
		t.Errorf("nothing was given back: %+v", f)
	}
	disktest.Equal(t, "state", in.State(), before)
}

// TestCompact_OutlivesRequest ends a request before the compaction that it asks for.
func TestCompact_OutlivesRequest(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	in.Send(in.Request("POST", "/system/compact", "", "owner").WithContext(ctx)).Brief(200, `"state":"running"`)
	cancel()
	keepCompact(t, in)
	if c := compacted(t, in); c.State != "done" {
		t.Errorf("%+v", c)
	}
	compactionOf(in, "POST", "owner") // the next one can begin
	if c := compacted(t, in); c.State != "done" {
		t.Errorf("%+v", c)
	}
}

// TestFullDisk_CompactSaysSo compacts without room for a copy: the reason is reported in the
// language of each reader, and nothing has changed.
func TestFullDisk_CompactSaysSo(t *testing.T) {
	at := disktest.SmallDisk(t, "64m")
	dir := filepath.Join(at, "data")
	servertest.Must(t, os.Mkdir(dir, 0o700))
	in := servertest.Open(t, dir)
	in.Tokens["owner"] = in.SignIn(auth.FirstUser)
	for i := range 40 {
		in.Update(func(tx *store.Tx) (err error) {
			for j := range 100 {
				d := &store.Dept{Name: fmt.Sprint("Department ", i, " ", j), Phone: strings.Repeat("5", 500)}
				err = errors.Join(err, store.Depts.Create(tx, d))
			}
			return err
		})
	}
	_, err := in.DB.FilesOpened()
	servertest.Must(t, err)
	keepCompact(t, in)
	free, _, err := in.DB.DiskFree()
	servertest.Must(t, err)
	remove := disktest.Fill(t, at, int(free)-1<<20) // what remains is for the entry in the change log

	compactionOf(in, "POST", "owner")
	c := compacted(t, in)
	if c.State != "failed" || !strings.Contains(c.Error, "free") || len(c.Files) > 0 || c.EndedAt == 0 {
		t.Errorf("%+v", c)
	}
	r := in.Request("GET", "/system/compact", "", "owner")
	r.Header.Set("Accept-Language", "zh")
	in.Send(r).Brief(200, "磁盘")
	left, err := filepath.Glob(filepath.Join(dir, "*.compact.new"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}

	remove()
	compactionOf(in, "POST", "owner")
	if c := compacted(t, in); c.State != "done" || c.Error != "" {
		t.Errorf("with room: %+v", c)
	}
}
