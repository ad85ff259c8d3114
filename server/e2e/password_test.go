package e2e

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// initialPassword returns the password in the file that a first start writes.
func initialPassword(t testing.TB, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "initial-password")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, want it readable by its owner alone (%v)", path, info.Mode(), err)
	}

	name, rest, _ := strings.Cut(string(b), "\n")
	text, ok := strings.CutPrefix(strings.TrimSpace(rest), "password: ")
	if name != "username: admin" || !ok || len(text) < 16 {
		t.Fatalf("%s holds %q", path, b)
	}

	return text
}

// mustChange checks that a session whose password must be changed can do nothing else.
func mustChange(t *testing.T, c *client) {
	t.Helper()
	for _, path := range []string{"/system/setting", "/admin/rule/parent", "/system/backup"} {
		if a := c.want(403, "GET", path, ""); a.ErrorCode != "password_change_required" {
			t.Errorf("GET %s: %s", path, a.raw)
		}
	}
	c.want(200, "GET", "/admin/info", "")
}

func TestFirstPassword_Generated(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p := start(t, dir, "REEVE_ADMIN_PASSWORD=", "REEVE_LOG__LEVEL=debug")
	generated := initialPassword(t, dir)
	p.stop()
	second := start(t, dir, "REEVE_ADMIN_PASSWORD=too late to matter", "REEVE_LOG__LEVEL=debug")
	if again := initialPassword(t, dir); again != generated {
		t.Errorf("the second start has changed the password")
	}

	c := newClient(t, second)
	c.want(401, "POST", "/admin/login",
		object("username", "admin", "password", "too late to matter"))
	if g := c.signIn(generated); g.MustChangePassword != 1 {
		t.Errorf("%+v", g)
	}

	mustChange(t, c)
	c.want(422, "PUT", "/admin/password",
		object("old_password", generated, "new_password", generated))
	c.want(200, "PUT", "/admin/password",
		object("old_password", generated, "new_password", password))
	c.want(200, "GET", "/system/setting", "")
	if _, err := os.Stat(filepath.Join(dir, "initial-password")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is still there after the change: %v", err)
	}

	c.want(401, "POST", "/admin/login", object("username", "admin", "password", generated))
	if g := c.signIn(password); g.MustChangePassword != 0 {
		t.Errorf("%+v", g)
	}

	second.stop()
	for _, log := range []string{p.log.String(), p.out.String(), second.log.String(),
		second.out.String()} {
		if strings.Contains(log, generated) {
			t.Errorf("the password is in the log:\n%s", log)
		}
	}

	if !strings.Contains(p.log.String(), "initial-password") {
		t.Errorf("the log does not say where the password is:\n%s", &p.log)
	}
}

func TestFirstPassword_FromEnvironment(t *testing.T) {
	t.Parallel()
	file, marked := filepath.Join(t.TempDir(), "password"), filepath.Join(t.TempDir(), "marked")
	if err := errors.Join(os.WriteFile(file, []byte("from a file äöü\r\n"), 0o600),
		os.WriteFile(marked, []byte("\ufefffrom Windows\r\n"), 0o600)); err != nil {
		t.Fatal(err)
	}

	for name, tc := range map[string]struct {
		words    []string
		password string
	}{
		"given":           {[]string{"REEVE_ADMIN_PASSWORD=given to it"}, "given to it"},
		"exactly 8 bytes": {[]string{"REEVE_ADMIN_PASSWORD=1a7z:q-K"}, "1a7z:q-K"},
		"1024 bytes": {[]string{"REEVE_ADMIN_PASSWORD=" + strings.Repeat("x", 1024)},
			strings.Repeat("x", 1024)},
		"in a file": {[]string{"REEVE_ADMIN_PASSWORD=",
			"REEVE_ADMIN_PASSWORD_FILE=" + file}, "from a file äöü"},
		"in a marked file": {[]string{"REEVE_ADMIN_PASSWORD=",
			"REEVE_ADMIN_PASSWORD_FILE=" + marked}, "from Windows"},
		"with spaces in it": {[]string{"REEVE_ADMIN_PASSWORD= with spaces "}, " with spaces "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			p := start(t, dir, tc.words...)
			c := newClient(t, p)
			if g := c.signIn(tc.password); g.MustChangePassword != 0 {
				t.Errorf("%+v", g)
			}
			c.want(401, "POST", "/admin/login",
				object("username", "admin", "password", "#"+tc.password[1:]))
			if _, err := os.Stat(filepath.Join(dir, "initial-password")); !errors.Is(err,
				fs.ErrNotExist) {
				t.Errorf("there is a file with a password: %v", err)
			}
		})
	}
}

func TestFirstPassword_Refused(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty")
	common := filepath.Join(t.TempDir(), "common")
	if err := errors.Join(os.WriteFile(empty, []byte("\n"), 0o600),
		os.WriteFile(common, []byte("iloveyou\n"), 0o600)); err != nil {
		t.Fatal(err)
	}

	for name, tc := range map[string]struct {
		words []string
		says  string
	}{
		"too short": {[]string{"REEVE_ADMIN_PASSWORD=1234567"},
			"REEVE_ADMIN_PASSWORD: must be 8 to 1024 bytes"},
		"common": {[]string{"REEVE_ADMIN_PASSWORD=Password1"},
			"REEVE_ADMIN_PASSWORD: is too common; choose another password"},
		"common, in a file": {[]string{"REEVE_ADMIN_PASSWORD=",
			"REEVE_ADMIN_PASSWORD_FILE=" + common},
			"REEVE_ADMIN_PASSWORD_FILE: is too common; choose another password"},
		"too long": {[]string{"REEVE_ADMIN_PASSWORD=" + strings.Repeat("x",
			1025)}, "must be 8 to 1024 bytes"},
		"in a file that is not there": {[]string{"REEVE_ADMIN_PASSWORD=",
			"REEVE_ADMIN_PASSWORD_FILE=/nowhere/password"}, "/nowhere/password"},
		"given and in a file": {[]string{"REEVE_ADMIN_PASSWORD=given to it",
			"REEVE_ADMIN_PASSWORD_FILE=" + common},
			"REEVE_ADMIN_PASSWORD and REEVE_ADMIN_PASSWORD_FILE are both set"},
		"in an empty file": {[]string{"REEVE_ADMIN_PASSWORD=",
			"REEVE_ADMIN_PASSWORD_FILE=" + empty}, "REEVE_ADMIN_PASSWORD_FILE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			r := run(t, append(tc.words, "--listen", "127.0.0.1:0", "--data", dir)...)
			if r.code != 1 || !strings.Contains(r.err, tc.says) {
				t.Errorf("%+v, want 1 and %q", r, tc.says)
			}
			for _, name := range names(t, dir) {
				if strings.HasPrefix(name, "data.db") || name == "instance" ||
					name == "initial-password" {
					t.Errorf("it has left %s", name)
				}
			}
			start(t, dir).stop() // and a later start with a better one works
		})
	}
}

func TestFirstUser_ChosenName(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	for username, says := range map[string]string{
		"ab":                    "must be 3 to 32 characters",
		"ops lead":              "must contain only letters",
		strings.Repeat("a", 33): "must be 3 to 32 characters",
	} {
		r := run(t, "REEVE_ADMIN_USERNAME="+username, "--listen", "127.0.0.1:0", "--data", dir)
		if r.code != 1 || !strings.Contains(r.err, "REEVE_ADMIN_USERNAME") ||
			!strings.Contains(r.err, says) {
			t.Errorf("%q: %+v, want 1 and %q", username, r, says)
		}
		if _, err := os.Stat(filepath.Join(dir, "data.db")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: it has left a database: %v", username, err)
		}
	}

	r := run(t, "REEVE_ADMIN_USERNAME=ops.lead", "REEVE_ADMIN_PASSWORD=ops.lead", "--listen",
		"127.0.0.1:0", "--data", dir)
	if r.code != 1 || !strings.Contains(r.err, "REEVE_ADMIN_PASSWORD: must not be the username") {
		t.Errorf("%+v", r)
	}

	p := start(t, dir, "REEVE_ADMIN_USERNAME= ops.lead ", "REEVE_ADMIN_PASSWORD=")
	b, err := os.ReadFile(filepath.Join(dir, "initial-password"))
	if err != nil {
		t.Fatal(err)
	}

	generated, ok := strings.CutPrefix(strings.TrimSpace(string(b)),
		"username: ops.lead\npassword: ")
	if !ok {
		t.Fatalf("the file has %q", b)
	}

	c := newClient(t, p)
	c.want(401, "POST", "/admin/login", object("username", "admin", "password", generated))
	c.token = into[grant](t,
		c.want(200, "POST", "/admin/login", object("username", "ops.lead", "password", generated))).Token
	c.want(200, "PUT", "/admin/password",
		object("old_password", generated, "new_password", password))
	if a := c.want(200, "GET", "/admin/list", ""); !bytes.Contains(a.raw, []byte(`"total":1,`)) ||
		bytes.Contains(a.raw, []byte(`"username":"admin"`)) {
		t.Errorf("there are others: %s", a.raw)
	}

	p.stop()
	if warnings := p.log.messages(t, "warn"); len(warnings) != 0 {
		t.Errorf("warnings: %q", warnings)
	}

	start(t, dir, "REEVE_ADMIN_USERNAME=somebody.else") // is ignored
}

// TestFirstPassword_LookedUp checks that the program does not start if the list of leaked passwords
// is missing, damaged, or contains the first password.
func TestFirstPassword_LookedUp(t *testing.T) {
	t.Parallel()
	dir, list := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "list")
	serve := func(words ...string) result {
		return run(t,
			append(words, "REEVE_AUTH__BREACHED_PASSWORDS="+list, "--listen", "127.0.0.1:0",
				"--data", dir)...)
	}

	refused := func(r result, want string) {
		t.Helper()
		if r.code != 1 || !strings.Contains(r.err, want) {
			t.Errorf("%+v, want 1 and %q", r, want)
		}
		if _, err := os.Stat(filepath.Join(dir, "data.db")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it has left a database: %v", err)
		}
	}
	refused(serve("REEVE_ADMIN_PASSWORD="+password),
		"auth.breached_passwords: the list of leaked passwords "+list+": no such file or directory")
	for text, want := range map[string]string{
		"":           "it is empty",
		"hello\n":    "a line does not have the form",
		"B:1\nA:1\n": "a line does not have the form",
	} {
		if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		refused(serve("REEVE_ADMIN_PASSWORD="+password),
			"auth.breached_passwords: the list of leaked passwords "+list+": "+want)
	}

	if err := os.WriteFile(list, fmt.Appendf(nil, "%X:1\r\n", sha1.Sum([]byte("a leaked one"))),
		0o600); err != nil {
		t.Fatal(err)
	}

	refused(serve("REEVE_ADMIN_PASSWORD=a leaked one"),
		"REEVE_ADMIN_PASSWORD: appears in a list of leaked passwords; choose another one")
	p := start(t, dir, "REEVE_AUTH__BREACHED_PASSWORDS="+list)
	c := newClient(t, p)
	c.signIn(password)
	if a := c.want(422, "PUT", "/admin/password",
		object("old_password", password, "new_password", "a leaked one")); a.ErrorCode != "password_breached" {
		t.Errorf("%s", a.raw)
	}

	p.stop()
	if err := os.Remove(list); err != nil {
		t.Fatal(err)
	}
	// Who has no access needs no list to get it back.
	if r := run(t, "user", "reset", "--owner", "REEVE_AUTH__BREACHED_PASSWORDS="+list, "--data", dir); r.code != 0 || !strings.Contains(r.out, "password: ") {
		t.Errorf("%+v", r)
	}
}

// TestFirstPassword_LeavesEnvironment reads the environment of the process as the system shows it:
// the password can't be read there later.
func TestFirstPassword_LeavesEnvironment(t *testing.T) {
	t.Parallel()
	const given, kept = "taken from the environment", "REEVE_LOG__LEVEL=debug"
	file := filepath.Join(t.TempDir(), "a-path-of-a-file")
	if err := os.WriteFile(file, []byte(given), 0o600); err != nil {
		t.Fatal(err)
	}

	for name, words := range map[string][]string{
		"the password": {"REEVE_ADMIN_PASSWORD=" + given, kept},
		"the file":     {"REEVE_ADMIN_PASSWORD=", "REEVE_ADMIN_PASSWORD_FILE=" + file, kept},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, filepath.Join(t.TempDir(), "data"), words...)
			newClient(t, p).signIn(given)
			shown, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid()))
			if errors.Is(err, fs.ErrNotExist) {
				t.Skip("this system does not show the environment of a process")
			}
			if err != nil || !strings.Contains(string(shown), kept) ||
				strings.Contains(string(shown), given) || strings.Contains(string(shown), file) {
				t.Errorf("%q, %v", shown, err)
			}
		})
	}
}

func TestRecover_NewOwnerPassword(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	p.stop()
	r := run(t, "user", "reset", "--owner", "--data", dir)
	var given string
	for line := range strings.Lines(r.out) {
		if text, ok := strings.CutPrefix(line, "password: "); ok {
			given = strings.TrimSpace(text)
		}
	}
	if r.code != 0 || !strings.Contains(r.out, "username: admin\n") || given == "" ||
		strings.Contains(r.err, given) {
		t.Fatalf("%+v", r)
	}

	p = start(t, dir)
	c.base = p.url
	c.want(401, "GET", "/admin/info", "")
	c.want(401, "POST", "/admin/login", object("username", "admin", "password", password))
	if g := c.signIn(given); g.MustChangePassword != 1 {
		t.Errorf("%+v", g)
	}

	mustChange(t, c)
	c.want(200, "PUT", "/admin/password",
		object("old_password", given, "new_password", "another one altogether"))
	c.want(200, "GET", "/system/setting", "")
	p.stop()
	if v := run(t, "verify", "--data", dir); v.code != 0 {
		t.Errorf("%+v", v)
	}
}

func TestRecover_ForgottenFirstPassword(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, dir, "REEVE_ADMIN_PASSWORD=").stop()
	initialPassword(t, dir)
	if r := run(t, "user", "reset", "--owner", "--data", dir); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(dir, "initial-password")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file with a password that no longer works is still there: %v", err)
	}
}

func TestRecover_MakesNoDatabase(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"no directory":                  "",
		"a directory of something else": "letter.txt",
		"only a key":                    "secret.key",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			if file != "" {
				if err := errors.Join(os.Mkdir(dir, 0o700),
					os.WriteFile(filepath.Join(dir, file), []byte(strings.Repeat("0", 64)), 0o600)); err != nil {
					t.Fatal(err)
				}
			}

			r := run(t, "user", "reset", "--owner", "--data", dir)
			if r.code != 1 || !strings.Contains(r.err, "no database") || r.out != "" {
				t.Errorf("%+v", r)
			}
			if strings.Count(r.err, "\n") != 1 {
				t.Errorf("it takes more than a line to say so: %q", r.err)
			}
			if _, err := os.Stat(filepath.Join(dir, "data.db")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("there is a database now: %v", err)
			}
		})
	}
}

// The removal of the initial password is synced, so that a power cut does not restore it.
func TestFirstPassword_RemovalIsSynced(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p := start(t, dir, "REEVE_ADMIN_PASSWORD=")
	generated := initialPassword(t, dir)
	c := newClient(t, p)
	c.signIn(generated)
	takeBack := inject(t, p, "fsync:error=EIO", dir)
	c.want(500, "PUT", "/admin/password",
		object("old_password", generated, "new_password", password))
	takeBack()
	p.stop()
	// The state that a power cut could leave without the sync: the file exists again.
	path := filepath.Join(dir, "initial-password")
	for _, content := range []string{"username: admin\npassword: " + generated + "\n", "",
		"username"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		p = start(t, dir)
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a file with a password that no longer works is still there: %v", err)
		}
		p.stop()
	}
}
