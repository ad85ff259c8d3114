package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// filled creates a stopped data directory with a setting whose value can be found in the
// file, and returns the setting's ID.
func filled(t testing.TB, dir, value string) int64 {
	t.Helper()
	p := start(t, dir)
	c := signedIn(t, p)
	id := c.define(c.group("filled"), "known", "input", value)
	p.stop()
	return id
}

// rewrite changes the content of a file.
func rewrite(t testing.TB, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(b), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// copyDir copies a data directory and returns the copy.
func copyDir(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}

	err := filepath.WalkDir(to, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o600) // the copy must be readable for others, too
		if entry.IsDir() {
			mode = 0o700
		}
		return os.Chmod(path, mode)
	})
	if err != nil {
		t.Fatal(err)
	}

	return to
}

// sane checks that a run on damaged data ended with an error of its own: without a panic or
// a signal, and with a message.
func sane(t testing.TB, r result) {
	t.Helper()
	saneWith(t, r, 1)
}

// faulty is sane for a check that has found damage.
func faulty(t testing.TB, r result) {
	t.Helper()
	saneWith(t, r, 2)
}

func saneWith(t testing.TB, r result, code int) {
	t.Helper()
	if r.code != code || r.err == "" || strings.Contains(r.err+r.out, "goroutine ") {
		t.Errorf("%+v, want %d and a message", r, code)
	}
}

func TestVerify_NamesDamage(t *testing.T) {
	t.Parallel()
	dir, value := t.TempDir(), "a value that can be found"
	id := filled(t, dir, value)
	clean := run(t, "verify", "--data", dir)
	if clean.code != 0 || !strings.Contains(clean.out, " files, no faults") {
		t.Fatalf("before the damage: %+v", clean)
	}

	before := snapshot(t, dir)
	run(t, "verify", "--data", dir)
	sameFiles(t, before, snapshot(t, dir))

	rewrite(t, filepath.Join(dir, "data.db"), func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte(value), []byte(strings.ToUpper(value)))
	})
	r := run(t, "verify", "--data", dir)
	faulty(t, r)
	if !strings.Contains(r.out, fmt.Sprintf("setting %d", id)) {
		t.Errorf("it does not name setting %d: %+v", id, r)
	}

	r = run(t, "serve", "--listen", "127.0.0.1:0", "--data", dir)
	sane(t, r)
	if !strings.Contains(r.err, "change_log") { // which has the value, too, and is read first
		t.Errorf("the start does not name the change log: %+v", r)
	}
}

func TestDamage_FoundAndNotServed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	filled(t, dir, "a value that can be found")
	page := os.Getpagesize()
	for name, change := range map[string]func([]byte) []byte{
		"cut after four pages": func(b []byte) []byte { return b[:4*page] },
		"cut inside a page":    func(b []byte) []byte { return b[:page*3+17] },
		"one byte":             func(b []byte) []byte { return b[:1] },
		"both meta pages ruined": func(b []byte) []byte {
			return append(make([]byte, 2*page), b[2*page:]...)
		},
		"all pages but the metas": func(b []byte) []byte {
			return append(b[:2*page:2*page], make([]byte, len(b)-2*page)...)
		},
		"something else": func(b []byte) []byte {
			return bytes.Repeat([]byte("this is a letter to my aunt\n"), len(b)/28)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ruined := copyDir(t, dir)
			rewrite(t, filepath.Join(ruined, "data.db"), change)
			before := snapshot(t, ruined)
			faulty(t, run(t, "verify", "--data", ruined))
			sane(t, run(t, "serve", "--listen", "127.0.0.1:0", "--data", ruined))
			sane(t, run(t, "user", "reset", "--owner", "--data", ruined))
			sameFiles(t, before, snapshot(t, ruined))
		})
	}
}

// Every flipped bit is either detected or without effect, and never causes a signal or a
// panic.
func TestFlippedBits_NeverCrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	filled(t, dir, "a value that can be found")
	r := random(t)
	found := 0
	flips := size(10, 40, 800)
	ruined := copyDir(t, dir)
	for range flips {
		var at, bit int
		flip := func(b []byte) []byte { b[at] ^= 1 << bit; return b }
		rewrite(t, filepath.Join(ruined, "data.db"), func(b []byte) []byte {
			at, bit = r.IntN(len(b)), r.IntN(8)
			return flip(b)
		})
		v := run(t, "verify", "--data", ruined)
		if v.code != 0 {
			found++
			faulty(t, v)
		} else if !strings.Contains(v.out, "no faults") {
			t.Errorf("%+v", v)
		}
		if t.Failed() {
			t.Fatalf("with bit %d of byte %d flipped", bit, at)
		}

		rewrite(t, filepath.Join(ruined, "data.db"), flip)
	}

	t.Logf("%d of %d flips were found; the others hit what is not in use", found, flips)
	if v := run(t, "verify", "--data", ruined); v.code != 0 {
		t.Errorf("with everything flipped back: %+v", v)
	}
}

func TestMissingDatabase_StartRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	filled(t, dir, "x")
	for name, change := range map[string]func(path string) error{
		"removed": os.Remove,
		"emptied": func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lost := copyDir(t, dir)
			path := filepath.Join(lost, "data.db")
			if err := change(path); err != nil {
				t.Fatal(err)
			}

			before := snapshot(t, lost)
			for _, words := range []string{"serve --listen 127.0.0.1:0", "user reset --owner"} {
				r := run(t, append(strings.Fields(words), "--data", lost)...)
				sane(t, r)
				if !strings.Contains(r.err, path) || !strings.Contains(r.err, "reeve restore") ||
					strings.Count(r.err, "\n") != 1 {
					t.Errorf("%s: %+v, want one line that names the file and the way out", words, r)
				}
			}

			faulty(t, run(t, "verify", "--data", lost))
			sameFiles(t, before, snapshot(t, lost))
		})
	}

	t.Run("an empty file without a marker", func(t *testing.T) {
		t.Parallel()
		lost := t.TempDir()
		if err := os.WriteFile(filepath.Join(lost, "data.db"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		sane(t, run(t, "serve", "--listen", "127.0.0.1:0", "--data", lost))
	})
}

// A server whose data.db is overwritten under it answers that it can't, and ends when it is asked to.
func TestDamage_UnderRunningServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	f, err := os.OpenFile(filepath.Join(dir, "data.db"), os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt(bytes.Repeat([]byte("junk"), os.Getpagesize()/2), 0)
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}

	for _, request := range [][3]string{
		{"POST", "/admin/login", object("username", "admin", "password", password)},
		{"GET", "/admin/list", ""}, {"PUT", "/admin/info", object("nickname", "New")},
		{"GET", "/system/health", ""}, {"GET", "/health/ready", ""},
	} {
		if a := c.call(request[0], request[1], request[2]); a.status != 500 && a.status != 503 && request[1] != "/system/health" {
			t.Errorf("%v: %d %s", request, a.status, a.raw)
		}
	}
	for _, command := range []string{"status", "doctor"} {
		sane(t, run(t, command, "--data", dir))
	}
	p.signal(syscall.SIGTERM)
	p.wait()
}
