package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamage_EveryCommandSaysWhatToDo runs each command that opens a data directory on damage of
// each kind. It succeeds, or its message names the damaged file in the right directory and a next
// step; it has no text that is meant for clients.
func TestDamage_EveryCommandSaysWhatToDo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	withFiles(t, dir, 100, 3<<20)
	p := start(t, dir)
	c := signedIn(t, p)
	backup := filepath.Join(t.TempDir(), "backup.tar")
	if err := os.WriteFile(backup, c.want(200, "GET", "/system/backup", "").raw, 0o600); err != nil {
		t.Fatal(err)
	}

	p.stop()
	last := lastRecords(t, dir)
	kinds := map[string]func(t *testing.T, dir string){
		"a record": func(t *testing.T, dir string) { flipRecord(t, dir, "role", last["role"]) },
		"another record": func(t *testing.T, dir string) {
			flipRecord(t, dir, "user", last["user"])
		},
		"the change log": func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, "data.db"), func(b []byte) []byte {
				return bytes.ReplaceAll(b, []byte(`"seq":3,`), []byte(`"seq":8,`))
			})
		},
		"data.db": func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, "data.db"), func(b []byte) []byte {
				return append(make([]byte, 8192), b[8192:]...)
			})
		},
		"files.db": func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, "files.db"), func(b []byte) []byte {
				return append(make([]byte, 128<<10), b[128<<10:]...)
			})
		},
		"a blob": func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, "files.db"), func(b []byte) []byte {
				return bytes.ReplaceAll(b, payload{1, 3 << 20}.bytes()[:64], make([]byte, 64))
			})
		},
	}
	for kind, ruin := range kinds {
		for _, words := range []string{"verify", "audit verify", "compact", "secret rotate",
			"user reset --owner", "salvage NEWDIR"} {
			t.Run(kind+"/"+words, func(t *testing.T) {
				t.Parallel()
				ruined := copyDir(t, dir)
				ruin(t, ruined)
				args := strings.Fields(strings.ReplaceAll(words, "NEWDIR",
					filepath.Join(t.TempDir(), "new")))
				saysWhatToDo(t, ruined, run(t, append(args, "--data", ruined)...), words)
			})
		}
	}

	t.Run("a backup", func(t *testing.T) {
		t.Parallel()
		rewrite(t, backup, func(b []byte) []byte { b[len(b)/2] ^= 4; return b })
		to := copyDir(t, dir)
		r := run(t, "restore", backup, "--data", to)
		if text := r.out + r.err; r.code != 1 || !strings.Contains(text, backup) ||
			strings.Contains(text, "restore.tmp") ||
			strings.Contains(text, "internal server error") {
			t.Errorf("%+v", r)
		}
	})
}

// saysWhatToDo checks the messages of a command on damaged data.
func saysWhatToDo(t *testing.T, dir string, r result, words string) {
	t.Helper()
	text := r.out + r.err
	if strings.Contains(text, "internal server error") || strings.Contains(text, "goroutine ") {
		t.Errorf("a text for clients or a panic: %+v", r)
	}
	if r.code == 0 { // it works beside the damage
		return
	}
	if !strings.Contains(r.err, "reeve salvage") && !strings.Contains(r.err, "reeve restore") {
		t.Errorf("no next step: %+v", r)
	}
	if !strings.Contains(r.err, dir) {
		t.Errorf("it does not name the directory %s: %+v", dir, r)
	}
	if words == "verify" && !strings.Contains(r.out, ".db") {
		t.Errorf("it does not name the file: %+v", r)
	}
}
