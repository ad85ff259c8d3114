package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"reeve/store/disk/disktest"
	"slices"
	"strings"
	"testing"
	"time"
)

// withEvents creates a stopped data directory with recorded events.
func withEvents(t *testing.T, dir string) {
	t.Helper()
	p := start(t, dir)
	c := signedIn(t, p)
	id := ""
	for range 50 {
		id = c.write()
	}
	eventually(t, "the last of them is kept", func() bool { return c.keeps(id) })
	p.stop()
}

// monitorFiles returns the files of monitoring, sorted; segments come first.
func monitorFiles(t *testing.T, dir string) (all []string) {
	t.Helper()
	for _, name := range names(t, filepath.Join(dir, "monitor")) {
		all = append(all, filepath.Join(dir, "monitor", name))
	}
	slices.Sort(all)
	return all
}

// changed returns a function that rewrites every file of monitoring.
func changed(change func(b []byte) []byte) func(t *testing.T, at string) {
	return func(t *testing.T, dir string) {
		for _, path := range monitorFiles(t, dir) {
			rewrite(t, path, change)
		}
	}
}

// instead replaces a path in the data directory by a directory.
func instead(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
}

// With any damage to the files of monitoring, the server starts and serves, logs the
// damage, and records events again.
func TestMonitoring_DamageStopsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	withEvents(t, dir)
	for name, tc := range map[string]struct {
		damage func(t *testing.T, dir string)
		silent bool // the remaining files are intact
	}{
		"a flipped bit in every page": {changed(func(b []byte) []byte {
			for at := 0; at < len(b); at += 4096 {
				b[at+9] ^= 0x40 // in the type of the page
			}
			return b
		}), false},
		"a flipped bit in every line": {changed(func(b []byte) []byte {
			for at := 40; at < len(b); at += 64 {
				b[at] ^= 1
			}
			return b
		}), false},
		"cut in the middle": {changed(func(b []byte) []byte {
			return b[:len(b)/2+17]
		}), false},
		"cut after two pages": {changed(func(b []byte) []byte { return b[:8192] }), false},
		"emptied":             {changed(func([]byte) []byte { return nil }), false},
		"something else": {changed(func(b []byte) []byte {
			return []byte(strings.Repeat("a letter to my aunt\n", len(b)/20))
		}), false},
		"removed": {func(t *testing.T, dir string) {
			instead(t, filepath.Join(dir, "monitor"))
		}, true},
		"a directory for events": {func(t *testing.T, dir string) {
			instead(t, monitorFiles(t, dir)[0])
		}, true},
		"a directory for counts": {func(t *testing.T, dir string) {
			instead(t, filepath.Join(dir, "monitor", "rows.db"))
		}, false},
		"a file of somebody else": {func(t *testing.T, dir string) {
			os.WriteFile(filepath.Join(dir, "monitor", "notes"), nil, 0o600)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ruined := copyDir(t, dir)
			tc.damage(t, ruined)
			p := start(t, ruined)
			c := signedIn(t, p)
			var id string
			eventually(t, "a new event is kept", func() bool {
				id = c.write()
				return c.keepsSoon(id)
			})
			if !tc.silent {
				eventually(t, "the log says what is wrong", func() bool {
					return strings.Contains(p.log.String(), "monitoring")
				})
				if got := p.log.messages(t, "warn"); len(got) == 0 || len(got) > 6 {
					t.Errorf("%d warnings are in the log: %q", len(got), got)
				}
				if _, parts, _ := c.systemHealth(); parts["monitor"] != "degraded" {
					t.Errorf("health: %v", parts)
				}
			}

			for _, kind := range []string{"request", "auth", "query", "cache", "redis"} {
				c.want(200, "GET", "/system/monitor/"+kind, "")
			}

			p.stop()
			if strings.Contains(p.log.String(), "goroutine ") {
				t.Errorf("something has panicked:\n%s", &p.log)
			}

			sound(t, ruined)
			p = start(t, ruined)
			c.base = p.url
			eventually(t, "it is there after another start", func() bool { return c.keeps(id) })
			p.stop()
		})
	}
}

// keepsSoon waits a little longer than monitoring takes to write, and reports whether the
// request was recorded.
func (c *client) keepsSoon(id string) bool {
	for range 200 {
		if c.keeps(id) {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// Any flipped bit in the files of monitoring affects nothing else.
func TestMonitoring_FlippedBitsStopNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	withEvents(t, dir)
	r := random(t)
	for range size(5, 20, 400) {
		ruined := copyDir(t, dir)
		changed(func(b []byte) []byte {
			for range 1 + r.IntN(20) {
				b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			}
			return b
		})(t, ruined)
		p := start(t, ruined)
		c := signedIn(t, p)
		id := c.write()
		for _, kind := range []string{"request", "auth", "query", "cache", "redis"} {
			c.want(200, "GET", "/system/monitor/"+kind+"?pageSize=1000", "")
		}

		c.want(200, "GET", "/system/monitor/stats", "")
		if !c.keepsSoon(id) { // its segment was damaged and removed
			id = c.write()
			eventually(t, "the next event is kept", func() bool { return c.keeps(id) })
		}

		p.stop()
		sound(t, ruined)
		if t.Failed() || strings.Contains(p.log.String(), "goroutine ") {
			t.Fatalf("%s", &p.log)
		}
	}
}

// Monitoring starts as soon as its directory can be used.
func TestMonitoring_WaitsForDirectory(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, at string) (mend func()){
		"a file in its place": func(t *testing.T, at string) func() {
			if err := os.WriteFile(at, []byte("a file"), 0o600); err != nil {
				t.Fatal(err)
			}
			return func() { os.Remove(at) }
		},
		"a disk that is only read": func(t *testing.T, at string) func() {
			monitorDisk(t, at, "size=16m")
			disktest.ReadOnly(t, at, true)
			return func() { disktest.ReadOnly(t, at, false) }
		},
		"a full disk": func(t *testing.T, at string) func() {
			monitorDisk(t, at, "size=16m")
			return ballast(t, at, 64<<20)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			mend := prepare(t, filepath.Join(dir, "monitor"))
			p := start(t, dir)
			c := signedIn(t, p)
			lost := c.write()
			eventually(t, "the log says what is wrong", func() bool {
				return strings.Contains(p.log.String(), "monitoring is losing events")
			})
			if c.keeps(lost) {
				t.Error("an event is kept where there is no room")
			}
			if state, parts, _ := c.systemHealth(); parts["monitor"] != "degraded" ||
				parts["database"] != "ok" {
				t.Errorf("%s: %v", state, parts)
			}

			mend()
			eventually(t, "an event is kept", func() bool { return c.keepsSoon(c.write()) })
			eventually(t, "the log says so", func() bool {
				return strings.Contains(p.log.String(), "monitoring records events again")
			})
			if n := len(p.log.messages(t, "warn")); n > 4 {
				t.Errorf("the log has %d warnings:\n%s", n, &p.log)
			}

			p.stop()
			sound(t, dir)
		})
	}
}

// monitorDisk mounts a separate file system for monitoring.
func monitorDisk(t *testing.T, at, options string) {
	t.Helper()
	if err := os.Mkdir(at, 0o700); err != nil {
		t.Fatal(err)
	}
	disktest.MountAt(t, at, options)
}
