package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reeve/store"
)

// manualServer is a server in the directory reeve of a machine, as the manual has it: with a configuration and a
// target.
type manualServer struct {
	*offsite
	machine, usb, target string
}

func newManualServer(t *testing.T) *manualServer {
	t.Helper()
	machine, usb, target := t.TempDir(), t.TempDir(), t.TempDir()
	dir := filepath.Join(machine, "reeve")
	noErr(t, os.Mkdir(dir, 0o700))
	noErr(t, os.WriteFile(filepath.Join(dir, "config.toml"), fmt.Appendf(nil, "[server]\nlisten = %q\n[backup.offsite]\npath = %q\n", freeAddress(t), target), 0o600))
	return &manualServer{&offsite{filepath.Join(dir, "config.toml"), filepath.Join(dir, "data"), filepath.Join(usb, "reeve-identity.txt")}, machine, usb, target}
}

// serveIn runs `reeve serve` in a directory.
func serveIn(t *testing.T, dir string, words ...string) *process {
	t.Helper()
	cmd := program(t, append([]string{"serve"}, words...)...)
	cmd.Dir = dir
	p := begin(t, cmd)
	p.ready()
	return p
}

func (m *manualServer) dir() string { return filepath.Dir(m.config) }

// in runs a command in a directory; it must succeed.
func (m *manualServer) in(t *testing.T, dir string, words ...string) string {
	t.Helper()
	cmd := program(t, words...)
	cmd.Dir = dir
	r := finish(t, cmd)
	if r.code != 0 {
		t.Fatalf("%q: %+v", words, r)
	}
	return r.out
}

// TestManualOneThing brings a department back that a user has deleted, as the page says: with undo and, as if that were
// not possible, with the state before the deletion, beside the running server.
func TestManualOneThing(t *testing.T) {
	t.Parallel()
	m := newManualServer(t)
	p := serveIn(t, m.dir())
	defer p.stop()
	c := signedIn(t, p)
	c.want(200, "PUT", "/system/setting", `{"values":{"backup.ship_seconds":"1"}}`)
	m.must(t, "backup", "recipient", m.identity)
	m.proven(t)
	id := c.create("/admin/dept", "name", "Sales", "code", "sales", "leader", "Ann Lee")
	removed := func() string {
		t.Helper()
		c.want(200, "DELETE", fmt.Sprint("/admin/dept/", id), "")
		var entry struct{ Seq json.Number }
		noErr(t, json.Unmarshal([]byte(m.must(t, "audit", "tail", "-n", "1", "--json").out), &entry))
		return entry.Seq.String()
	}
	sales := func() string {
		t.Helper()
		for _, d := range into[struct{ Data []map[string]any }](t, c.want(200, "GET", "/admin/dept", "")).Data {
			if d["name"] == "Sales" {
				return fmt.Sprint(d["id"], d["code"], d["leader"])
			}
		}
		return ""
	}
	whole := sales()
	number := removed()
	if got := sales(); got != "" || !strings.HasSuffix(whole, "salesAnn Lee") {
		t.Fatalf("%s, and after its deletion %s", whole, got)
	}
	if tail := m.must(t, "audit", "tail", "-n", "100").out; !strings.Contains(tail, number) {
		t.Errorf("%s is not in %s", number, tail)
	}
	m.must(t, "audit", "undo", number)
	if got := sales(); got != whole {
		t.Errorf("after undo %s, want %s", got, whole)
	}

	number = removed()
	c.create("/admin/dept", "name", "Made since")
	c.allStored()
	address := freeAddress(t)
	runBlock(t, m.dir(), manualBlock(t, "backups.md", "TestManualOneThing", "--before"), "/media/usb", m.usb, "4711", number,
		"reeve serve --config before.toml --data before --listen 127.0.0.1:8081", "true") // begun here
	q := serveIn(t, m.machine, "--config", "before.toml", "--data", "before", "--listen", address)
	if body := string(signedIn(t, q).want(200, "GET", "/admin/dept", "").raw); !strings.Contains(body, `"Sales"`) || strings.Contains(body, "Made since") {
		t.Errorf("before the deletion: %s", body)
	}
	m.in(t, m.machine, "export", "setup", "--config", "before.toml", "--data", "before")
	q.stop()
	if !strings.Contains(m.must(t, "backup", "list", "offsite").out, "yes") {
		t.Error("the second server has changed the target")
	}
	kept := filepath.Join(m.machine, "setup", "departments.toml")
	if text := readText(t, kept); !strings.Contains(text, "Sales") {
		t.Fatal(text)
	}
	plan := program(t, "plan", kept)
	plan.Dir = m.dir()
	if r := finish(t, plan); r.code != 2 || !strings.Contains(r.out, "Sales") || strings.Contains(r.out, "Made since") {
		t.Errorf("%+v", r)
	}
	m.in(t, m.dir(), "apply", kept)
	if got := sales(); !strings.HasSuffix(got, "salesAnn Lee") {
		t.Errorf("after apply %s, want %s", got, whole)
	}
	if body := string(c.want(200, "GET", "/admin/dept", "").raw); !strings.Contains(body, "Made since") {
		t.Errorf("what was made since is gone: %s", body)
	}
}

// TestManualMove moves an installation to a new machine in both ways of the page: with a copy of its files, after which
// people stay signed in, and with a restore, after which they don't. secret.key comes along, so authenticator apps and
// secret settings work.
func TestManualMove(t *testing.T) {
	t.Parallel()
	m := newManualServer(t)
	old := serveIn(t, m.dir())
	c := signedIn(t, old)
	m.must(t, "backup", "recipient", m.identity)
	m.proven(t)
	c.want(200, "PUT", "/system/setting", values("mail.password", "a mail password"))
	c.keepsText("plan.txt", "content of a file")
	c.create("/admin/list", "username", "bea", "password", password, "role_ids", []int{1})
	bea := signedInAs(t, old, "bea")
	secret := into[struct{ Secret string }](t, bea.want(200, "POST", "/admin/account/totp", "")).Secret
	bea.want(200, "PUT", "/admin/account/totp", object("otp", codeOf(t, secret, false)))
	key := newClient(t, old)
	key.token = into[struct{ Token string }](t, c.want(200, "POST", "/admin/account/key", `{"name":"script"}`)).Token
	key.want(200, "GET", "/admin/info", "")
	if out := m.must(t, "backup", "now", "offsite").out; !strings.Contains(out, "stored and proven") {
		t.Error(out)
	}
	old.stop() // which stores the last commits

	signIn := func(p *process, code string) int {
		t.Helper()
		fresh := newClient(t, p)
		first := into[struct {
			LoginToken string `json:"login_token"`
		}](t, fresh.want(200, "POST", "/admin/login", object("username", "bea", "password", password)))
		return fresh.call("POST", "/admin/login/totp", object("login_token", first.LoginToken, "otp", code)).status
	}
	secrets := func(data string) (app, mail string) {
		t.Helper()
		db, err := store.Open(data, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		noErr(t, db.View(store.System, func(tx *store.Tx) error {
			u, err := store.UserByName.Get(tx, "bea")
			noErr(t, err)
			factor, err := store.TOTPOf(tx, store.Account{ID: u.ID})
			noErr(t, err)
			app, err = factor.Reveal(tx)
			noErr(t, err)
			mail, err = store.MailPassword.Get(tx)
			return err
		}))
		return app, mail
	}

	copied := filepath.Join(t.TempDir(), "reeve")
	noErr(t, os.CopyFS(copied, os.DirFS(m.dir())))
	noErr(t, os.Chmod(filepath.Join(copied, "data"), 0o700))
	p := serveIn(t, copied)
	for _, signed := range []*client{c, bea, key} {
		signed.base = p.url
		signed.want(200, "GET", "/admin/info", "")
	}
	if files := c.filesAt("/file/list"); len(files) != 1 || c.textOf(files["plan.txt"]) != "content of a file" {
		t.Errorf("%+v", files)
	}
	if status := signIn(p, codeOf(t, secret, true)); status != 200 {
		t.Errorf("with the authenticator app: %d", status)
	}
	p.stop()

	// The other way, on a machine that has the configuration and the identity alone.
	machine := t.TempDir()
	noErr(t, os.WriteFile(filepath.Join(machine, "config.toml"), []byte(readText(t, m.config)), 0o600))
	restored := &offsite{filepath.Join(machine, "config.toml"), filepath.Join(machine, "data"), m.identity}
	runBlock(t, machine, manualBlock(t, "backups.md", "TestManualBackups", "reeve serve"), "/media/usb", m.usb, "reeve serve", "true")
	p = serveIn(t, machine)
	for _, signed := range []*client{c, bea, key} {
		signed.base = p.url
		signed.want(401, "GET", "/admin/info", "")
	}
	again := signedIn(t, p)
	if files := again.filesAt("/file/list"); len(files) != 1 || again.textOf(files["plan.txt"]) != "content of a file" {
		t.Errorf("%+v", files)
	}
	keys := into[struct {
		Data []struct{ Name, State string }
	}](t, again.want(200, "GET", "/admin/account/key", ""))
	if len(keys.Data) != 1 || keys.Data[0].State != "paused" {
		t.Errorf("%+v", keys)
	}
	if _, parts, _ := again.systemHealth(); parts["secrets"] != "ok" {
		t.Errorf("%v", parts)
	}
	p.stop()
	for _, data := range []string{filepath.Join(copied, "data"), restored.data} {
		if app, mail := secrets(data); app != secret || mail != "a mail password" {
			t.Errorf("%s: %q, %q", data, app, mail)
		}
	}
}

// TestManualMalware restores an installation whose files and newest copy were encrypted on the machine, as the page
// says: on a clean machine, from an older copy with all commits until a moment before that.
func TestManualMalware(t *testing.T) {
	t.Parallel()
	m := newManualServer(t)
	p := serveIn(t, m.dir())
	c := signedIn(t, p)
	c.want(200, "PUT", "/system/setting", values("backup.ship_seconds", 1, "mail.password", "a mail password"))
	m.must(t, "backup", "recipient", m.identity)
	m.proven(t)
	c.keepsText("plan.txt", "content of a file")
	c.create("/admin/dept", "name", "Sales")
	c.allStored()
	before := time.Now()
	c.create("/admin/dept", "name", "Made by the attacker")
	m.must(t, "backup", "now", "offsite")
	p.stop()
	encrypt := func(path string) {
		t.Helper()
		rewrite(t, path, func(text []byte) []byte {
			rand.NewChaCha8([32]byte{}).Read(text)
			return text
		})
	}
	for _, name := range []string{"data.db", "files.db", "secret.key"} {
		encrypt(filepath.Join(m.data, name))
	}
	names := func(o *offsite) (all []string) { // the newest first
		t.Helper()
		for line := range strings.Lines(o.must(t, "backup", "list", "offsite").out) {
			if fields := strings.Fields(line); len(fields) > 0 && strings.Contains(fields[len(fields)-1], "/copies/") {
				all = append(all, fields[len(fields)-1])
			}
		}
		return all
	}

	machine := t.TempDir()
	noErr(t, os.WriteFile(filepath.Join(machine, "config.toml"), []byte(readText(t, m.config)), 0o600))
	clean := &offsite{filepath.Join(machine, "config.toml"), filepath.Join(machine, "data"), m.identity}
	copies := names(clean)
	if len(copies) != 2 {
		t.Fatalf("%q: %s", copies, clean.must(t, "backup", "list", "offsite").out)
	}
	check := []string{"backup", "check", "offsite", "--identity", m.identity}
	newest := filepath.Join(m.target, copies[0])
	encrypt(newest + ".data")
	if r := clean.run(t, check...); r.code == 0 || !strings.Contains(r.err, "--copy") {
		t.Errorf("with other records: %+v", r)
	}
	encrypt(newest + ".manifest")
	encrypt(newest + ".proof")
	if r := clean.run(t, check...); r.code != 0 || !strings.Contains(r.err, "is newer than those that this identity opens") {
		t.Errorf("with all of the newest copy encrypted: %+v", r)
	}
	r := clean.must(t, "restore", "offsite", "--identity", m.identity, "--copy", copies[1], "--at", before.UTC().Format(time.RFC3339Nano))
	if !strings.Contains(r.out, "applied since: ") {
		t.Errorf("%+v", r)
	}
	if r := clean.must(t, "secret", "rotate"); !strings.Contains(r.out, "secret.key") {
		t.Errorf("%+v", r)
	}
	p = serveIn(t, machine)
	defer p.stop()
	c = signedIn(t, p)
	if files := c.filesAt("/file/list"); len(files) != 1 || c.textOf(files["plan.txt"]) != "content of a file" {
		t.Errorf("%+v", files)
	}
	if body := string(c.want(200, "GET", "/admin/dept", "").raw); !strings.Contains(body, `"Sales"`) || strings.Contains(body, "attacker") {
		t.Error(body)
	}
	if _, parts, _ := c.systemHealth(); parts["secrets"] != "ok" {
		t.Errorf("%v", parts)
	}
}
