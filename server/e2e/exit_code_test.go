package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// finding is a fault that a check finds: with the exit code 2, and a text.
type finding struct {
	words  string                          // of the command; DIR is a directory with its files
	ruin   func(t *testing.T, data string) // makes the fault; nil for one that is in DIR
	beside bool                            // whether a server runs on the data then
	says   string                          // regular expression of the output
}

// findings are faults of each command whose exit code says that it has found something.
var findings = []finding{
	{"plan DIR/shop.toml", nil, false, `\+ role Support`},
	{"plan DIR/shop.toml", nil, true, `\+ role Support`},
	{"doctor REEVE_SERVER__TLS_CERT=DIR/cert REEVE_SERVER__TLS_KEY=DIR/key", nil, false, `failed +certificate +has expired`},
	{"doctor REEVE_SERVER__TLS_CERT=DIR/cert REEVE_SERVER__TLS_KEY=DIR/key", nil, true, `failed +certificate +has expired`},
	{"doctor --json REEVE_SERVER__TLS_CERT=DIR/cert REEVE_SERVER__TLS_KEY=DIR/key", nil, false, `"state": "failed",\s+"text": "has expired`},
	{"doctor", ruinRole, false, `failed +database +.*role \d+ is damaged.*\n.*reeve restore`},
	{"backup check DIR/damaged.tar", nil, false, `.`},
	{"backup check DIR/damaged.tar", nil, true, `.`},
	{"backup check DIR/shop.toml --json", nil, false, `.`},
	{"verify", ruinRole, false, `role \d+ is damaged`},
	{"verify --json", ruinRole, false, `role \d+ is damaged`},
	{"verify", ruinLogin, true, `login_log \d+ is damaged`},
	{"verify --json", ruinLogin, true, `login_log \d+ is damaged`},
	{"verify", loseData, false, `data\.db is missing`},
	{"verify", loseFiles, false, `files\.db is missing`},
	{"verify", ruinContent, false, `chunk 0 of place`},
	{"verify", ruinContent, true, `chunk 0 of place`},
	{"verify --json", ruinContent, true, `chunk 0 of place`},
	{"audit verify", ruinLog, false, `the change log .* is not as it was written`},
	{"audit verify --json", ruinLog, false, `the change log .* is not as it was written`},
	{"audit verify --head nowhere:1:" + strings.Repeat("0", 64), nil, true, `the change log .* is not as it was written`},
	{"audit verify DIR/log.jsonl", nil, true, `the change log is not as it was written`},
}

// loseData removes the database.
func loseData(t *testing.T, data string) { noErr(t, os.Remove(filepath.Join(data, "data.db"))) }

// loseFiles removes the database of files.
func loseFiles(t *testing.T, data string) { noErr(t, os.Remove(filepath.Join(data, "files.db"))) }

// ruinRole flips a bit of a record.
func ruinRole(t *testing.T, data string) { flipRecord(t, data, "role", lastRecords(t, data)["role"]) }

// ruinLogin is ruinRole for a record without which a server starts.
func ruinLogin(t *testing.T, data string) {
	flipRecord(t, data, "login_log", lastRecords(t, data)["login_log"])
}

// ruinContent overwrites the beginning of the content of the file that exitCodeData has.
func ruinContent(t *testing.T, data string) {
	rewrite(t, filepath.Join(data, "files.db"), func(b []byte) []byte {
		return bytes.ReplaceAll(b, payload{0, 100_000}.bytes()[:64], make([]byte, 64))
	})
}

// ruinLog alters an entry of the change log.
func ruinLog(t *testing.T, data string) {
	rewrite(t, filepath.Join(data, "data.db"), func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte(`"seq":3,`), []byte(`"seq":8,`))
	})
}

// TestExitCode_ChecksThatFind gives each command that the table of exit codes names for 2 real faults,
// beside a server and without one; without a fault, its code is 0. Errors have 1.
func TestExitCode_ChecksThatFind(t *testing.T) {
	t.Parallel()
	row := regexp.MustCompile(`(?m)^\| 2 \|.*$`).FindString(readText(t, "../../embed/manual/commands.md"))
	var documented, tried []string
	for _, m := range regexp.MustCompile("`([a-z ]+)`").FindAllStringSubmatch(row, -1) {
		documented = append(documented, m[1])
	}
	for _, f := range findings {
		tried = append(tried, regexp.MustCompile(`^[a-z]+( (verify|check))?`).FindString(f.words))
	}
	slices.Sort(documented)
	slices.Sort(tried)
	if tried = slices.Compact(tried); len(documented) < 5 || !slices.Equal(documented, tried) {
		t.Errorf("the manual has the code 2 for %q, and the test tries %q", documented, tried)
	}

	at, data := t.TempDir(), t.TempDir()
	withFiles(t, data, 100_000)
	for name, text := range map[string]string{
		"shop.toml":  "permissions.\"shop.order.refund\" = \"Refund\"\nroles.Support.permissions = [\"shop.order.refund\"]\n",
		"empty.toml": "",
	} {
		noErr(t, os.WriteFile(filepath.Join(at, name), []byte(text), 0o600))
	}
	cert, key, _ := certificateUntil(t, time.Now().Add(-time.Minute))
	noErr(t, os.Rename(cert, filepath.Join(at, "cert")))
	noErr(t, os.Rename(key, filepath.Join(at, "key")))
	p := start(t, data)
	c := signedIn(t, p)
	noErr(t, os.WriteFile(filepath.Join(at, "log.jsonl"), bytes.Replace(c.want(200, "GET", "/system/audit-export", "").raw,
		[]byte(`"seq":3,`), []byte(`"seq":8,`), 1), 0o600))
	backup := c.want(200, "GET", "/system/backup", "").raw
	noErr(t, os.WriteFile(filepath.Join(at, "whole.tar"), backup, 0o600))
	backup[len(backup)/2] ^= 4
	noErr(t, os.WriteFile(filepath.Join(at, "damaged.tar"), backup, 0o600))
	p.stop()

	command := func(t *testing.T, words, data string) result {
		t.Helper()
		return run(t, append(strings.Fields(strings.ReplaceAll(words, "DIR", at)), "--data", data)...)
	}
	for _, f := range findings {
		name := f.words
		if f.beside {
			name += " beside a server"
		}
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			t.Parallel()
			ruined := copyDir(t, data)
			if f.ruin != nil {
				f.ruin(t, ruined)
			}
			if f.beside {
				start(t, ruined)
			}
			r := command(t, f.words, ruined)
			if r.code != 2 || !regexp.MustCompile(f.says).MatchString(r.out+r.err) || strings.Contains(r.err, "goroutine ") {
				t.Errorf("%+v, want 2 and %s", r, f.says)
			}
		})
	}
	for words, want := range map[string]int{
		"plan DIR/empty.toml": 0, "backup check DIR/whole.tar": 0, "verify": 0, "audit verify": 0,
		"plan DIR/none.toml": 1, "backup check DIR/none.tar": 1, "audit verify DIR/none.jsonl": 1,
		"verify --data DIR/none": 1, "audit verify --data DIR/none": 1, "doctor --data DIR/none": 1,
	} {
		t.Run(strings.ReplaceAll(words, "/", "_"), func(t *testing.T) {
			t.Parallel()
			var r result
			if strings.Contains(words, "--data") {
				r = run(t, strings.Fields(strings.ReplaceAll(words, "DIR", at))...)
			} else {
				r = command(t, words, copyDir(t, data))
			}
			if r.code != want || want == 1 && (r.err == "" || r.out != "") {
				t.Errorf("%+v, want %d", r, want)
			}
		})
	}
}
