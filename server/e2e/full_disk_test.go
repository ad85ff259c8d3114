package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// On a full disk an administrator can sign in and delete, before and after a restart, and
// everything works again when there is space.
func TestFullDisk_LoginAndDelete(t *testing.T) {
	t.Parallel()
	at := smallDisk(t, 64)
	dir := filepath.Join(at, "data")
	p := start(t, dir)
	c := signedIn(t, p)
	reserve := filepath.Join(dir, "reserve")
	eventually(t, "the reserve is there", func() bool {
		info, err := os.Stat(reserve)
		return err == nil && info.Size() == 4<<20
	})
	for i := range 40 {
		c.want(200, "POST", "/admin/dept", fmt.Sprintf(`{"name":"Department %d"}`, i))
	}

	remove := ballast(t, at, 64<<20)

	full := 0
	for i := 0; full < 3 && i < 5000; i++ { // free pages in data.db are used first
		switch a := c.call("POST", "/admin/dept", fmt.Sprintf(`{"name":"More %d"}`, i)); a.status {
		case 200:
		case 507:
			full++
		default:
			t.Fatalf("%d %s", a.status, a.raw)
		}
	}

	if full == 0 {
		t.Fatal("the disk never was full")
	}

	probes := func(title string, writable int) {
		t.Helper()
		for path, want := range map[string]int{
			"/health/live": 200, "/health/ready": 200, "/health/ready?write=1": writable, "/health": 200,
		} {
			if a := newClient(t, p).call("GET", path, ""); a.status != want {
				t.Errorf("%s: GET %s answers %d %s, want %d", title, path, a.status, a.raw, want)
			}
		}
	}
	probes("full", 503)

	inAndOut := func(title string, first int) {
		t.Helper()
		for i := range 5 {
			c := signedIn(t, p) // a sign-in, its log record and its session
			c.want(200, "DELETE", fmt.Sprintf("/admin/dept/%d", first+i), "")
			c.want(200, "POST", "/admin/logout", "")
		}
		if body := string(signedIn(t, p).want(200, "GET", "/system/health", "").raw); !strings.Contains(body, `"name":"disk","state":"failed"`) {
			t.Errorf("%s: %s", title, body)
		}
	}
	inAndOut("full", 1)
	copies := signedIn(t, p)
	for _, path := range []string{"/system/backup", "/admin/list-export", "/system/audit-export"} {
		if a := copies.call("GET", path, ""); a.status != 200 || len(a.raw) == 0 {
			t.Errorf("%s on a full disk: %d %s", path, a.status, a.raw)
		}
	}

	p.kill()
	p = start(t, dir)
	probes("after a restart", 503)
	inAndOut("after a restart", 11)

	remove()
	c = signedIn(t, p)
	eventually(t, "writing goes on", func() bool {
		return c.call("POST", "/admin/dept", `{"name":"Room"}`).status == 200
	})
	eventually(t, "the reserve is back", func() bool {
		info, err := os.Stat(reserve)
		return err == nil && info.Size() == 4<<20
	})
	probes("with space", 200)
	p.stop()
	sound(t, dir)
}

// TestFullDisk_BackupWithoutCopy fills the disk that has both the data and the temporary files: a
// backup is made of data.db itself, and can be restored. It leaves nothing behind, and deleting
// goes on.
func TestFullDisk_BackupWithoutCopy(t *testing.T) {
	t.Parallel()
	at := smallDisk(t, 64)
	dir := filepath.Join(at, "data")
	cmd := program(t, "serve", "--listen", "127.0.0.1:0", "--data", dir)
	cmd.Env = append(cmd.Env, "TMPDIR="+at)
	p := begin(t, cmd)
	p.url = <-p.log.ready
	c := signedIn(t, p)
	reserve := filepath.Join(dir, "reserve")
	eventually(t, "the reserve is there", func() bool {
		info, err := os.Stat(reserve)
		return err == nil && info.Size() == 4<<20
	})
	for i := range 10 {
		c.want(200, "POST", "/admin/dept", fmt.Sprintf(`{"name":"Department %d"}`, i))
	}

	ballast(t, at, 64<<20)
	backup, to := filepath.Join(t.TempDir(), "backup.tar"), filepath.Join(t.TempDir(), "restored")
	if err := os.WriteFile(backup, c.want(200, "GET", "/system/backup", "").raw, 0o600); err != nil {
		t.Fatal(err)
	}

	for _, where := range []string{at, dir} {
		if left, err := filepath.Glob(filepath.Join(where, "backup-*")); err != nil || left != nil {
			t.Errorf("the backup left %q: %v", left, err)
		}
	}

	for i := range 10 {
		c.want(200, "DELETE", fmt.Sprintf("/admin/dept/%d", i+1), "")
	}

	p.stop()
	for _, words := range [][]string{{"restore", backup, "--data", to}, {"verify", "--data", to}} {
		if r := run(t, words...); r.code != 0 {
			t.Fatalf("%q: %+v", words, r)
		}
	}

	p = start(t, to)
	restored := signedIn(t, p)
	for i := range 10 {
		if a := restored.want(200, "GET", fmt.Sprintf("/admin/dept/%d", i+1), ""); !strings.Contains(string(a.raw), fmt.Sprintf(`"Department %d"`, i)) {
			t.Errorf("restored is %s", a.raw)
		}
	}

	p.stop()
}

// Monitoring does not use the reserved free space under a flood of anonymous requests, and
// frees its own when the database needs it.
func TestMonitoring_YieldsToDatabase(t *testing.T) {
	t.Parallel()
	at := smallDisk(t, 48)
	dir, config := filepath.Join(at, "data"), filepath.Join(t.TempDir(), "reeve.toml")
	const minFree = 16 << 20
	if err := os.WriteFile(config,
		fmt.Appendf(nil, "[monitor]\nmax_bytes = %d\nmin_free = %d\n", 40<<20, minFree), 0o600); err != nil {
		t.Fatal(err)
	}

	p := start(t, dir, "--config", config)
	c := signedIn(t, p)
	reserve := filepath.Join(dir, "reserve")
	eventually(t, "the reserve is there", func() bool {
		_, err := os.Stat(reserve)
		return err == nil
	})
	strangers := newClient(t, p)
	for i := range size(2_000, 10_000, 42_000) {
		strangers.call("POST", "/admin/dept",
			`{"name":"`+strings.Repeat("x", 900)+fmt.Sprint(i)+`"}`)
		if i%500 == 0 {
			if free := diskFree(t, at); free < minFree-(4<<20) { // events may be committed concurrently
				t.Fatalf("after %d requests %d bytes are free", i, free)
			}
		}
	}

	monitoring := func() (total int64) {
		files, err := os.ReadDir(filepath.Join(dir, "monitor"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if info, err := f.Info(); err == nil {
				total += info.Size()
			}
		}
		return total
	}
	eventually(t, "monitoring has written something", func() bool { return monitoring() > 1<<20 })
	before := monitoring()
	ballast(t, at, 48<<20)
	for i := range 200 {
		c.want(200, "POST", "/admin/dept", fmt.Sprintf(`{"name":"Department %d"}`, i))
	}

	if after := monitoring(); after >= before {
		t.Errorf("monitoring has %d bytes, had %d", after, before)
	}

	signedIn(t, p)
	p.stop()
	sound(t, dir)
}
