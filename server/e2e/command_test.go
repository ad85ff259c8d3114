package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestVersion_Output(t *testing.T) {
	t.Parallel()
	r := run(t, "version")
	if r.code != 0 || !strings.HasPrefix(r.out, "reeve ") ||
		!strings.HasSuffix(r.out, runtime.GOOS+"/"+runtime.GOARCH+"\n") || r.err != "" {
		t.Errorf("%+v", r)
	}
}

func TestConfig_PrintsExample(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("../../config.example.toml")
	if err != nil {
		t.Fatal(err)
	}
	if r := run(t, "config"); r.code != 0 || r.out != string(want) {
		t.Errorf("reeve config (%d) and config.example.toml differ:\n%s\n%s", r.code, r.out, r.err)
	}

	path, err := filepath.Abs("../../config.example.toml")
	if err != nil {
		t.Fatal(err)
	}

	p := start(t, t.TempDir(), "--config", path)
	newClient(t, p).want(200, "GET", "/health", "")
	for _, line := range append(p.log.messages(t, "warn"), p.log.messages(t, "error")...) {
		t.Errorf("with the example the log says %q", line)
	}

	p.stop()
}

func TestLicenses_PrintsNotice(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("../../embed/NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	if r := run(t, "licenses"); r.code != 0 || r.out != string(want) || r.err != "" {
		t.Errorf("reeve licenses (%d) and NOTICE differ:\n%s\n%s", r.code, r.out, r.err)
	}
}

func TestWrongCommandLines(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ words, says string }{
		"unknown command":            {"srve", `"srve"`},
		"unknown part of a command":  {"audit verfy", `"verfy"`},
		"unknown flag":               {"--colour blue", "-colour"},
		"unknown flag of a command":  {"verify --fast", "-fast"},
		"flag without its value":     {"serve --data", "-data"},
		"argument too many":          {"verify here", "usage: reeve verify"},
		"argument missing":           {"restore", "usage: reeve restore TARGET|FILE"},
		"argument after the command": {"serve now", "usage: reeve serve"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := program(t, strings.Fields(tc.words)...)
			r := finish(t, cmd)
			if r.code != 1 || !strings.Contains(r.err, tc.says) || r.out != "" {
				t.Errorf("%+v, want 1 and %q", r, tc.says)
			}
			if got := names(t, cmd.Dir); len(got) != 0 {
				t.Errorf("it has left %v", got)
			}
		})
	}
}

func TestHelp_ListsCommands(t *testing.T) {
	t.Parallel()
	r := run(t, "--help")
	for _, word := range []string{"serve", "version", "verify", "restore TARGET|FILE", "compact",
		"user reset", "config", "-data", "-listen", "-config"} {
		if !strings.Contains(r.err+r.out, word) {
			t.Errorf("it does not tell of %s", word)
		}
	}
	if r.code != 0 {
		t.Errorf("%+v", r)
	}
}

func TestDataDirectory_OneProcessOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	backup := filepath.Join(t.TempDir(), "backup")
	if err := os.WriteFile(backup, c.want(200, "GET", "/system/backup", "").raw, 0o600); err != nil {
		t.Fatal(err)
	}

	before := snapshot(t, dir)
	for _, words := range []string{"restore " + backup, "secret rotate",
		"serve --listen 127.0.0.1:0"} {
		t.Run(words[:5], func(t *testing.T) {
			r := run(t, append(strings.Fields(words), "--data", dir)...)
			if r.code != 1 || !strings.Contains(r.err, fmt.Sprintf("process %d;", p.pid())) ||
				!strings.Contains(r.err, dir) {
				t.Errorf("%+v, want 1 and the process %d", r, p.pid())
			}
		})
	}

	after := snapshot(t, dir)
	delete(before, "commit-mark") // it follows the commit of the entry about the backup
	delete(after, "commit-mark")
	sameFiles(t, before, after)
	c.want(200, "GET", "/admin/info", "")
	p.kill()
	start(t, dir).stop() // files of the killed process do not prevent a start
}

// snapshot returns every file of a directory except those of monitoring, which a running
// server writes all the time, and the pid file, which names the last process that opened
// the directory.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && e.Name() == "monitor" && path != dir {
			return fs.SkipDir
		}
		if err != nil || e.IsDir() || e.Name() == "reeve.pid" || e.Type() == fs.ModeSocket ||
			strings.HasPrefix(e.Name(), "reserve") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return files
}

func sameFiles(t testing.TB, before, after map[string]string) {
	t.Helper()
	for name, content := range before {
		if got, ok := after[name]; !ok || got != content {
			t.Errorf("%s has changed (there: %t)", name, ok)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			t.Errorf("%s is new", name)
		}
	}
}
