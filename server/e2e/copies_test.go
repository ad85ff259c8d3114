package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"reeve/store/disk/disktest"
	"reeve/store/s3/s3test"
)

// offsite is an installation with a target of copies, and the file of an identity.
type offsite struct {
	config, data, identity string
}

// newOffsite returns an installation with a configuration that has the table of a target.
func newOffsite(t testing.TB, table string) *offsite {
	t.Helper()
	dir := t.TempDir()
	o := &offsite{filepath.Join(dir, "config.toml"), filepath.Join(dir, "data"), filepath.Join(dir, "identity.txt")}
	noErr(t, os.WriteFile(o.config, []byte("[backup.offsite]\n"+table), 0o600))
	return o
}

func (o *offsite) run(t testing.TB, words ...string) result {
	t.Helper()
	return run(t, append(words, "--config", o.config, "--data", o.data)...)
}

func (o *offsite) must(t testing.TB, words ...string) result {
	t.Helper()
	r := o.run(t, words...)
	if r.code != 0 {
		t.Fatalf("%q: %+v", words, r)
	}
	return r
}

// proven waits until the first copy is proven, and the worker waits for the next.
func (o *offsite) proven(t testing.TB) {
	t.Helper()
	eventually(t, "the first copy to be proven", func() bool {
		out := o.must(t, "backup", "targets", "--json").out
		return strings.Contains(out, `"proven_at": "`) && strings.Contains(out, `"phase": "waiting"`)
	})
}

func directoryTable(t testing.TB) string { return fmt.Sprintf("path = %q\n", t.TempDir()) }

// TestCopies_RestoredOnNewMachine does what the manual says: one table and one command, and later a
// lost disk, for a bucket and a directory.
func TestCopies_RestoredOnNewMachine(t *testing.T) {
	t.Parallel()
	t.Run("directory", func(t *testing.T) {
		t.Parallel()
		restoredOnNewMachine(t, directoryTable(t))
	})
	t.Run("bucket", func(t *testing.T) {
		t.Parallel()
		s := s3test.Start(t)
		secret := filepath.Join(t.TempDir(), "secret")
		noErr(t, os.WriteFile(secret, []byte(s.SecretKey+"\n"), 0o600))
		restoredOnNewMachine(t, fmt.Sprintf("endpoint = %q\nbucket = \"bucket\"\nregion = \"us-east-1\"\nstyle = \"path\"\naccess_key = %q\nsecret_key = \"file:%s\"\n",
			s.URL, s.AccessKey, secret))
	})
}

func restoredOnNewMachine(t *testing.T, table string) {
	o := newOffsite(t, table)
	p := start(t, o.data, "--config", o.config)
	c := signedIn(t, p)
	if _, parts, _ := c.systemHealth(); parts["backup"] == "failed" {
		t.Errorf("%v", parts)
	}
	noErr(t, os.Chmod(o.config, 0o640))
	o.must(t, "backup", "recipient", o.identity)
	if info, err := os.Stat(o.config); err != nil || info.Mode().Perm() != 0o640 {
		t.Error("the permissions of the configuration have changed", err, info.Mode())
	}
	o.proven(t)
	if state, parts, _ := c.systemHealth(); parts["backup"] != "ok" {
		t.Errorf("%s %v", state, parts)
	}
	c.keepsText("a.txt", "content of a file")
	c.create("/admin/dept", "name", "Sales")
	if r := o.must(t, "backup", "now", "offsite"); !strings.Contains(r.out, "stored and proven") {
		t.Errorf("%+v", r)
	}
	if info, err := os.Stat(o.identity); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(err, info.Mode())
	}
	secret, err := os.ReadFile(filepath.Join(o.data, "secret.key"))
	noErr(t, err)
	p.stop()
	if r := o.must(t, "backup", "now", "offsite"); !strings.Contains(r.out, "stored and proven") {
		t.Errorf("without a server: %+v", r)
	}
	if r := o.must(t, "backup", "targets"); !strings.Contains(r.out, "offsite") || strings.Contains(r.out, "failed") {
		t.Errorf("without a server: %+v", r)
	}

	noErr(t, os.RemoveAll(o.data)) // the disk has died
	if r := o.must(t, "backup", "list", "offsite"); strings.Count(r.out, "yes") < 1 {
		t.Errorf("%+v", r)
	}
	if r := o.must(t, "backup", "check", "offsite", "--identity", o.identity, "--temp", t.TempDir()); !strings.Contains(r.out, "1 file, no faults") {
		t.Errorf("%+v", r)
	}
	other := filepath.Join(t.TempDir(), "other.txt")
	noErr(t, os.WriteFile(other, []byte(run(t, "backup", "identity").out), 0o600))
	for words, want := range map[string]string{
		"restore offsite":                                           "--identity FILE",
		"restore offsite --identity " + other:                       "opens none of the copies",
		"restore offsite --copy x --identity " + o.identity:         "there is no copy x",
		"restore missing.tar --identity " + o.identity:              "no such file",
		"backup check offsite --identity " + o.config:               "age identities",
		"backup now offsite":                                        "there is no database",
		"backup recipient " + o.identity + " --data " + t.TempDir(): "there is no database",
	} {
		if r := o.run(t, strings.Fields(words)...); r.code == 0 || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v, want %s", words, r, want)
		}
	}
	entries, err := os.ReadDir(o.data)
	for _, e := range entries {
		if e.Name() != "reeve.pid" { // the lock
			t.Errorf("a refused restore has left %s", e.Name())
		}
	}
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}

	if r := o.must(t, "restore", "offsite", "--identity", o.identity); !strings.Contains(r.out, "restored") {
		t.Errorf("%+v", r)
	}
	if got, err := os.ReadFile(filepath.Join(o.data, "secret.key")); err != nil || string(got) != string(secret) {
		t.Error("secret.key is another one", err)
	}
	p = start(t, o.data, "--config", o.config)
	defer p.stop()
	c = signedIn(t, p)
	if files := c.filesAt("/file/list"); len(files) != 1 || c.textOf(files["a.txt"]) != "content of a file" {
		t.Errorf("%+v", files)
	}
	if body := string(c.want(200, "GET", "/admin/dept", "").raw); !strings.Contains(body, `"Sales"`) {
		t.Error(body)
	}
}

// TestCopies_SharedTarget keeps copies of two installations at one target, for one identity. A
// restore must be told which of them it is about.
func TestCopies_SharedTarget(t *testing.T) {
	t.Parallel()
	table := directoryTable(t)
	one := newOffsite(t, table)
	two := newOffsite(t, table)
	two.identity = one.identity
	var instances []string
	for i, o := range []*offsite{one, two} {
		p := start(t, o.data, "--config", o.config)
		o.must(t, "backup", "recipient", o.identity)
		o.proven(t)
		c := signedIn(t, p)
		c.create("/admin/dept", "name", fmt.Sprint("Office ", i))
		o.must(t, "backup", "now", "offsite")
		p.stop()
		for line := range strings.Lines(o.must(t, "backup", "list", "offsite").out) {
			if _, name, is := strings.Cut(line, " yes "); is {
				name, _, _ = strings.Cut(strings.TrimSpace(name), "/")
				if !slices.Contains(instances, name) {
					instances = append(instances, name)
				}
			}
		}
	}
	if len(instances) != 2 {
		t.Fatalf("%q", instances)
	}

	restored := &offsite{one.config, filepath.Join(t.TempDir(), "data"), one.identity}
	if r := restored.run(t, "restore", "offsite", "--identity", one.identity); r.code != 1 ||
		!strings.Contains(r.err, "several installations") || !strings.Contains(r.err, instances[0]) {
		t.Errorf("%+v", r)
	}
	restored.must(t, "restore", "offsite", "--identity", one.identity, "--copy", instances[0])
	q := start(t, restored.data, "--config", restored.config)
	defer q.stop()
	if body := string(signedIn(t, q).want(200, "GET", "/admin/dept", "").raw); !strings.Contains(body, "Office 0") {
		t.Error(body)
	}
}

// TestCommands_OfAnotherUser runs commands on the data of another user.
func TestCommands_OfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		unless(t, "only root can start a process of another user")
	}
	dir := t.TempDir()
	start(t, dir).stop()
	for _, words := range []string{"status", "user list", "verify", "serve --listen 127.0.0.1:0", "backup recipient id.txt"} {
		cmd := program(t, append(strings.Fields(words), "--data", dir)...)
		for _, path := range []string{cmd.Dir, filepath.Dir(binary)} { // which the user must reach
			for ; path != "/"; path = filepath.Dir(path) {
				if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o055 != 0o055 {
					noErr(t, os.Chmod(path, info.Mode().Perm()|0o055))
				}
			}
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if r := finish(t, cmd); r.code != 1 || !strings.Contains(r.err, "is the data of another user") {
			t.Errorf("%s: %+v", words, r)
		}
	}
}

// TestCopies_SurviveKills kills a server at random moments while it makes copies, and restores while
// they write the data directory. A restore always ends with the old or the new data.
func TestCopies_SurviveKills(t *testing.T) {
	t.Parallel()
	o := newOffsite(t, directoryTable(t))
	p := start(t, o.data, "--config", o.config)
	o.must(t, "backup", "recipient", o.identity)
	o.proven(t)
	p.stop()
	least := 0                 // files in the newest copy
	copying, restoring := 0, 0 // kills while a copy was made, and while one was restored
	rounds := disktest.Size(3, 15, 100)
	for i := 0; i < rounds || (copying == 0 || restoring == 0) && i < 10*rounds; i++ {
		p := start(t, o.data, "--config", o.config)
		c := signedIn(t, p)
		name := fmt.Sprint("file", i)
		c.keepsText(name, "content of "+name)
		c.want(200, "POST", "/system/backup-file", `{"target":"offsite"}`)
		pause(t, time.Duration(rand.IntN(60))*time.Millisecond)
		if said := string(c.want(200, "GET", "/system/backup-target", "").raw); strings.Contains(said, `"phase":"storing"`) || strings.Contains(said, `"phase":"proving"`) {
			copying++
		}
		p.kill()

		restored := &offsite{o.config, filepath.Join(t.TempDir(), "data"), o.identity}
		r := program(t, "restore", "offsite", "--identity", o.identity, "--config", o.config, "--data", restored.data)
		killed := begin(t, r)
		pause(t, time.Duration(rand.IntN(80))*time.Millisecond)
		killed.kill()
		if killed.within(t, restored.data) {
			restoring++
		}
		restored.must(t, "restore", "offsite", "--identity", o.identity)
		q := start(t, restored.data, "--config", restored.config)
		c = signedIn(t, q)
		files := c.filesAt("/file/list?pageSize=100")
		if len(files) < least || len(files) > i+1 {
			t.Errorf("round %d: %d files, at least %d were in a copy", i, len(files), least)
		}
		least = len(files)
		for _, f := range files {
			if got := c.textOf(f); got != "content of "+f.Name {
				t.Errorf("round %d: %s is %q", i, f.Name, got)
			}
		}
		q.kill()
	}
	if copying == 0 || restoring == 0 {
		t.Errorf("%d kills in a copy, %d in a restore", copying, restoring)
	}
	t.Logf("%d kills in a copy, %d in a restore", copying, restoring)
	if r := o.must(t, "verify"); !strings.Contains(r.out, "no faults") {
		t.Errorf("%+v", r)
	}
}

// within reports whether a restore was killed after it had begun to write its directory.
func (p *process) within(t *testing.T, dir string) bool {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	return p.cmd.ProcessState.ExitCode() < 0 && len(left) > 0
}

// textOf returns the content of a file.
func (c *client) textOf(f filed) string {
	c.t.Helper()
	return string(c.want(200, "GET", fmt.Sprintf("/file/list/%d/content", f.ID), "").raw)
}

// pause waits, to choose a moment.
func pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
		t.Fatal(errors.New("the test has ended"))
	}
}
