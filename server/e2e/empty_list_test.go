package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

type emptyList struct {
	words, line string
	running     bool // whether it needs a running server
}

// emptyLists are the commands that list something, with arguments for which there is nothing, and the
// line that they print. AT is a directory of the test.
var emptyLists = []emptyList{
	{"user list --search nobody", "no users", false},
	{"user sessions anna", "no sessions", false},
	{"key list", "no API keys", false},
	{"setting list none", "no settings", false},
	{"flag list", "no feature flags", false},
	{"backup list", "no backups", false},
	{"backup list local", "no backups", false},
	{"backup list AT", "no backups", false},
	{"backup list offsite --config AT/target.toml", "no copies", false},
	{"backup targets", "no targets of copies", false},
}

// TestLists_WithoutElements runs each command that lists something where there is nothing to list: beside a
// server and without one it prints one line, with --json an empty array, and succeeds.
func TestLists_WithoutElements(t *testing.T) {
	t.Parallel()
	at, dir := t.TempDir(), t.TempDir()
	noErr(t, os.Mkdir(filepath.Join(at, "offsite"), 0o700))
	noErr(t, os.WriteFile(filepath.Join(at, "target.toml"), fmt.Appendf(nil, "[backup.offsite]\npath = %q\n", filepath.Join(at, "offsite")), 0o600))
	p := start(t, dir, "REEVE_BACKUP__LOCAL=false")
	if r := run(t, "user", "add", "anna", "--data", dir); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	command := func(words string) result {
		return run(t, append(strings.Fields(strings.ReplaceAll(words, "AT", at)), "--data", dir, "REEVE_BACKUP__LOCAL=false")...)
	}

	for _, running := range []bool{true, false} {
		if !running {
			p.stop()
		}
		for _, list := range emptyLists {
			text, values := command(list.words), command(list.words+" --json")
			if list.running && !running {
				for _, r := range []result{text, values} {
					if r.code != 1 || !strings.Contains(r.err, "no server is running") || r.out != "" {
						t.Errorf("%s: %+v", list.words, r)
					}
				}
				continue
			}
			var array []any
			err := json.Unmarshal([]byte(values.out), &array)
			if text.code != 0 || text.out != list.line+"\n" || text.err != "" {
				t.Errorf("%s (running: %v): %+v, want %s", list.words, running, text, list.line)
			}
			if values.code != 0 || err != nil || array == nil || len(array) != 0 {
				t.Errorf("%s --json (running: %v): %+v", list.words, running, values)
			}
		}
		for words, want := range map[string]string{
			"user sign-out anna":        `^no sessions to end\n$`,
			"user sign-out anna --json": `^{\s*"ended": 0\s*}\n$`,
			"audit tail -n 0":           `^$`,
			"audit tail -n 0 --json":    `^$`,
		} {
			if r := command(words); r.code != 0 || !regexp.MustCompile(want).MatchString(r.out) {
				t.Errorf("%s (running: %v): %+v, want %s", words, running, r, want)
			}
		}
	}

	dir = t.TempDir()
	p = start(t, dir) // which no client has asked anything
	if r := command("top"); r.code != 0 || r.out != "0 requests, 0 writes and 0 passwords waiting\n\nno requests in the last 5 minutes\n" {
		t.Errorf("%+v", r)
	}
	var now struct {
		Now    struct{ Requests []any }
		Routes []any
	}
	r := command("top --json")
	if err := json.Unmarshal([]byte(r.out), &now); r.code != 0 || err != nil || now.Now.Requests == nil || now.Routes == nil ||
		len(now.Now.Requests)+len(now.Routes) != 0 {
		t.Errorf("%+v %v", r, err)
	}
	p.stop()

	// No command that lists something is forgotten. There is always a role: that of owners.
	for _, name := range regexp.MustCompile(`(?m)^  ([a-z]+ (?:list|sessions|targets))\b`).FindAllStringSubmatch(run(t, "--help").out, -1) {
		if name[1] != "role list" && !slices.ContainsFunc(emptyLists, func(l emptyList) bool { return strings.HasPrefix(l.words, name[1]) }) {
			t.Errorf("reeve %s was not tried", name[1])
		}
	}
}
