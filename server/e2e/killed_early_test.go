package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A first start that is interrupted leaves a directory that can be started from, and a
// password that works after a complete start.
func TestKill_DuringFirstStart(t *testing.T) {
	t.Parallel()
	r := random(t)
	cut := 0
	for range size(3, 12, 150) {
		dir := filepath.Join(t.TempDir(), "data")
		words := []string{"--listen", "127.0.0.1:0", "--data", dir, "REEVE_ADMIN_PASSWORD="}
		for range 3 {
			early := begin(t, program(t, words...))
			time.Sleep(time.Duration(r.IntN(150_000)) * time.Microsecond) // any time
			early.kill()
			if early.log.String() == "" {
				cut++
			}
		}

		p := start(t, dir, "REEVE_ADMIN_PASSWORD=")
		if g := newClient(t, p).signIn(initialPassword(t, dir)); g.MustChangePassword != 1 {
			t.Errorf("the first sign-in answers %+v", g)
		}

		p.stop()
		if got := names(t, dir); !slices.Equal(got,
			[]string{"audit", "commit-mark", "data.db", "files.db", "initial-password", "instance",
				"reeve.pid", "secret.key"}) {
			t.Errorf("the kills have left %v", got)
		}
		if v := run(t, "verify", "--data", dir); v.code != 0 {
			t.Fatalf("%+v", v)
		}
	}

	t.Logf("%d of the starts were cut off before they said anything", cut)
}

// A backup is first written beside the database. An interrupted one must be removed, or
// repeated crashes fill the disk.
func TestKill_DuringBackupLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	group := c.group("bulk")
	for _, key := range strings.Fields("a b c d e f g h i j k l m n o p") { // large enough that the kill hits the writing
		c.define(group, key, "textarea", strings.Repeat(key, 60_000))
	}

	hit := false
	for attempt := 0; attempt < 20 && !hit; attempt++ {
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			c.do("GET", "/system/backup", "") // the kill is the expected cause
		}()

		for answered := false; !answered && !hit; {
			select {
			case <-gone:
				answered = true
			default:
				hit = slices.ContainsFunc(names(t, dir), func(name string) bool {
					return strings.HasPrefix(name, "backup-")
				})
			}
		}

		p.kill()
		<-gone
		hit = slices.ContainsFunc(names(t, dir), func(name string) bool {
			return strings.HasPrefix(name, "backup-")
		})

		p = start(t, dir)
		c.base = p.url
	}

	if !hit {
		t.Skip("no kill came in the middle of a backup")
	}

	p.stop()
	if got := names(t, dir); !slices.Equal(got,
		[]string{"audit", "commit-mark", "data.db", "files.db", "instance", "reeve.pid",
			"secret.key"}) {
		t.Errorf("after the next start there is still %v", got)
	}
}
