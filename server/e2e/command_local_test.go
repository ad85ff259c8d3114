package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/server/servertest"
)

// A commandStep is a command of a script that runs beside a server and without one.
type commandStep struct {
	words string // split at spaces; DIR is a directory of the test
	want  string // regular expression of the output, or of the error if code is not 0
	code  int
	alone int  // code without a server, if it differs
	found bool // whether the code is 2, with output: a check has found something
}

// commandScript has every command that works beside a running server.
var commandScript = []commandStep{
	{words: "status", want: `health: +(ok|checking)`},
	{words: "status --json", want: `"health": "ok"`},
	{words: "user list", want: `ID +USERNAME.*\n1 +admin .*enabled`},
	{words: "user list --search nobody", want: `^no users\n$`},
	{words: "user add anna --name Anna --email anna@example.org --role Owner", want: `username: anna\npassword: \S{20,}\n`},
	{words: "user add anna", want: `username: is already used`, code: 1},
	{words: "user add bert --role owners", want: `there is no role owners; there is Owner`, code: 1},
	{words: "user add bert --password-file DIR/password", want: `^username: bert\n$`},
	{words: "user list --role owner --json", want: `"username": "anna"`},
	{words: "user disable anna", want: `anna is disabled`},
	{words: "user disable admin", want: `last enabled user with the owner role`, code: 1},
	{words: "user enable anna", want: `anna is enabled`},
	{words: "user enable ana", want: `there is no user ana`, code: 1},
	{words: "user sessions anna", want: `^no sessions\n$`},
	{words: "user sign-out anna --json", want: `"ended": 0`},
	{words: "user reset anna --reason lost", want: `password: \S{20,}`},
	{words: "user reset", want: `usage: `, code: 1},
	{words: "user reset --owner", want: `username: a\w+\npassword: `},
	{words: "role list", want: `1 +Owner +all +enabled`},
	{words: "role grant bert Owner", want: `bert has the roles: Owner`},
	{words: "role revoke bert owner", want: `bert has the roles: -`},
	{words: "role revoke bert Nothing", want: `there is no role Nothing`, code: 1},
	{words: "key new deploy --role Owner", want: `owner role`, code: 1},
	{words: "key list", want: `^no API keys\n$`},
	{words: "key rotate deploy", want: `there is no API key deploy`, code: 1},
	{words: "key revoke deploy", want: `there is no API key deploy`, code: 1},
	{words: "setting list site", want: `site.title +input +Reeve`},
	{words: "setting set site.title Shop", want: `site.title is saved`},
	{words: "setting get site.title", want: `^Shop\n$`},
	{words: "setting get site.titel", want: `there is no setting site.titel; there is .*site.title`, code: 1},
	{words: "setting set site.titel x", want: `there is no setting`, code: 1},
	{words: "setting set security.session_hours many", want: `security.session_hours`, code: 1},
	{words: "flag list", want: `^no feature flags\n$`},
	{words: "flag get site.title", want: `not a flag`, code: 1},
	{words: "flag set site.title enabled", want: `not a flag`, code: 1},
	{words: "audit tail -n 2", want: `cli:\S+ +Save setting values: update setting`},
	{words: "audit tail -n 1 --json", want: `^{"seq":`},
	{words: "audit tail -n 5000", want: `--lines must be`, code: 1},
	{words: "audit undo 99999", want: `99999 not found`, code: 1},
	{words: "audit verify", want: `\d+ entries from 1 to \d+ intact`},
	{words: "audit verify --json", want: `"head": "\w+:\d+:`},
	{words: "verify", want: `no faults`},
	{words: "backup now DIR/b.tar", want: `b\.tar, [\d.]+ MiB`},
	{words: "backup now DIR/b.tar", want: `exists`, code: 1},
	{words: "backup list DIR", want: `b\.tar`},
	{words: "backup check DIR/b.tar", want: `\d+ records, 0 files, no faults`},
	{words: "backup check DIR/password", want: `.`, code: 2},
	{words: "backup now", want: `backup/reeve-\d+-\d+\.tar`},
	{words: "backup list local", want: `reeve-\d+-\d+\.tar`},
	{words: "backup list --json", want: `reeve-\d+-\d+\.tar`},
	{words: "files move s3", want: `files\.s3`, code: 1},
	{words: "files move local", want: `^in the data directory: 0 contents`},
	{words: "files move elsewhere", want: `s3 for the bucket`, code: 1},
	{words: "files cancel"},
	{words: "compact", want: `data\.db: [\d.]+ MiB before, [\d.]+ MiB after\nfiles\.db: `},
	{words: "compact --json", want: `"after_bytes": \d+`},
	{words: "support DIR/s.tar.gz", want: `s\.tar\.gz`},
	{words: "plan DIR/shop.toml", want: `\+ role Support\n    permissions: \["shop.order.refund"\]`, found: true},
	{words: "apply DIR/shop.toml --reason trial", want: `(?s)\+ permission shop.order.refund.*\napplied \d+ changes: entry \d+ of the change log \(trial\); to undo: reeve audit undo \d+\n$`},
	{words: "plan DIR/shop.toml", want: `^no changes\n$`},
	{words: "apply DIR/shop.toml", want: `^no changes\n$`},
	{words: "apply DIR/shop.toml --json", want: `^\{\n  "applied": 0,\n  "changes": \[\]\n\}\n$`},
	{words: "setting set site.title Other", want: `saved`},
	{words: "plan DIR/shop.toml", want: `^~ setting site.title\n    value: "Other" → "Shop"\n$`, found: true},
	{words: "export DIR/out", want: `wrote \d files`},
	{words: "plan DIR/out", want: `^no changes\n$`},
	{words: "types typescript", want: `\| "shop.order.refund"\n`},
	{words: "types go", want: `PermissionShopOrderRefund += "shop.order.refund" +// Refund`},
	{words: "types go DIR/shop.go --package shop", want: `wrote \d+ permissions and \d+ settings to `},
	{words: "types java", want: `types for go and typescript`, code: 1},
	{words: "types go --package A", want: `--package: "A"`, code: 1},
	{words: "plan DIR/bad.toml", want: `line 1, column`, code: 1},
	{words: "plan DIR/password", want: `password`, code: 1},
	{words: "log level", want: `^info\n|no server is running`, alone: 1},
	{words: "log level debug", want: `^debug\n|no server is running`, alone: 1},
	{words: "log level loud", want: `the level must be|no server is running`, code: 1},
	{words: "reload", want: `changed: nothing|no server is running`, alone: 1},
	{words: "top", want: `\d+ requests?, |no server is running`, alone: 1},
	{words: "event tail --type nope", want: `^reeve: --type: |no server is running`, code: 1},
	{words: "key new ci --role Support --network 10.0.0.0/8", want: `^rv_[\w-]{40,}\n$`},
	{words: "key list", want: `\n\d+ +ci +admin +Support +active`},
	{words: "key rotate ci --overlap-hours 1", want: `^rv_[\w-]{40,}\n$`},
	{words: "key revoke ci", want: `API key ci is deleted`},
	{words: "key revoke ci", want: `there is no API key ci`, code: 1},
	{words: "flag list", want: `\nshop\.new +new +.*"enabled":false`},
	{words: "flag get shop.new", want: `^disabled`},
	{words: "flag set shop.new enabled", want: `^shop\.new: enabled`},
	{words: "flag get shop.new --json", want: `"enabled": (1|true)`},
	{words: "plan DIR/shop.toml", want: `^~ setting shop.new\n    value: .*"enabled":true.* → .*"enabled":false`, found: true},
	{words: "flag set shop.new disabled", want: `^shop\.new: disabled`},
	{words: "backup identity", want: `AGE-SECRET-KEY-1`},
	{words: "backup recipient DIR/identity --config DIR/config.toml", want: `has a new identity: .*\nadded to backup.recipients in .*\nconfirmed: age1`},
	{words: "backup recipient DIR/identity --config DIR/config.toml", want: `^confirmed: age1`},
	{words: "doctor", want: `(?m)^ok +database `, found: true},
	{words: "key new x --expires never --role Support", want: `--expires: `, code: 1},
	{words: "key new x --network here --role Support", want: `--network: contains`, code: 1},
	{words: "key rotate x --overlap-hours -1", want: `there is no API key x`, code: 1},
	{words: "user add carl --email nowhere", want: `--email: `, code: 1},
	{words: "user add carl --password-file DIR/short", want: `--password-file: `, code: 1},
	{words: "flag get shop.beta", want: `there is no flag shop.beta; there is shop.new\n$`, code: 1},
	{words: "flag set shop.beta enabled", want: `there is no flag shop.beta; there is shop.new\n$`, code: 1},
	{words: "verify --json", want: `"faults": \[\]`},
	{words: "event tail", want: `no server is running`, alone: 1},
}

func TestCommands_RunningAndStopped(t *testing.T) {
	t.Parallel()
	t.Run("running", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		p := start(t, dir)
		runCommands(t, dir, true)
		for _, level := range []string{"debug", "info"} {
			if r := run(t, "log", "level", level, "--data", dir); r.code != 0 || r.out != level+"\n" {
				t.Errorf("%+v", r)
			}
			newClient(t, p).call("GET", "/at/"+level, "")
		}
		p.stop()
		if log := p.log.String(); !strings.Contains(log, `"path":"/at/debug"`) || strings.Contains(log, `"path":"/at/info"`) {
			t.Errorf("the log does not have the requests at the level debug alone: %s", log)
		}
	})
	t.Run("stopped", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		start(t, dir).stop()
		runCommands(t, dir, false)
		start(t, dir).stop()
	})
}

func runCommands(t *testing.T, data string, running bool) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "password"), []byte("a long pass phrase\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	for name, text := range map[string]string{
		"shop.toml": "permissions.\"shop.order.refund\" = \"Refund\"\nroles.Support.permissions = [\"shop.order.refund\"]\nsettings.\"site.title\" = \"Shop\"\n" +
			"setting_groups.shop.title = \"Shop\"\nflags.\"shop.new\" = false\n",
		"config.toml": "",
		"bad.toml":    "roles = [\n",
		"short":       "x\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	for _, step := range commandScript {
		if running && step.words == "event tail" {
			continue // it has a test of its own, because it does not end
		}
		want := step.code
		if !running && step.alone != 0 {
			want = step.alone
		}
		r := run(t, append(strings.Fields(strings.ReplaceAll(step.words, "DIR", dir)), "--data", data)...)
		text := r.out
		if want != 0 {
			text = r.err
		}
		if step.found && (step.words != "doctor" || r.code != 0) { // which looks at the machine, too
			want = 2
		}
		if r.code != want || !regexp.MustCompile(step.want).MatchString(text) {
			t.Errorf("%s (running: %v): %+v, want %d and %s", step.words, running, r, want, step.want)
		}
		if step.words == "backup now DIR/b.tar" && want == 0 { // beside a server, there are the socket and the lock, too
			out, err := exec.Command("tar", "-tf", filepath.Join(dir, "b.tar")).Output()
			noErr(t, err)
			if files := strings.Fields(string(out)); len(files) < 2 || slices.ContainsFunc(files, func(name string) bool {
				return regexp.MustCompile(`\.(sock|pid)$`).MatchString(name)
			}) {
				t.Errorf("a backup (running: %v) has %q", running, files)
			}
		}
		if want == 0 && strings.Contains(step.words, "--json") && !json.Valid([]byte(r.out)) {
			t.Errorf("%s: no JSON: %s", step.words, r.out)
		}
	}
}

// otherCommands are commands that are not in commandScript, with the test that runs them.
var otherCommands = map[string]string{
	"serve":           "TestService_ReportsToSupervisor",
	"health":          "TestHealth_Draining",
	"restore":         "TestRestore_KeepsReplacedData",
	"backup restore":  "TestBackupRestore_LikeRestore",
	"backup targets":  "TestStream_Commands",
	"salvage":         "TestSalvage_AfterRefusedStart",
	"secret rotate":   "TestEncryptedBackup_EndToEnd",
	"sdk":             "TestTypes_TyposFail",
	"config":          "TestConfig_PrintsExample",
	"version":         "TestVersion_Output",
	"licenses":        "TestLicenses_PrintsNotice",
	"help":            "TestHelp_Manual",
	"dev":             "TestDev_Faults",
	"completion":      "TestCompletion_Shells",
	"cluster init":    "TestCluster",
	"cluster status":  "TestCluster",
	"cluster leave":   "TestCluster",
	"cluster join":    "TestCluster_Epochs",
	"cluster restore": "TestCluster_Epochs",
	"cluster upgrade": "TestCluster_Epochs",
}

// commandTests returns the text of each test of the command line, by name.
func commandTests(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"*_test.go", "../cli/*_test.go", "../../embed/release/*_test.go"} {
		paths, err := filepath.Glob(pattern)
		noErr(t, err)
		for _, path := range paths {
			for _, m := range regexp.MustCompile(`(?ms)^func (Test\w+)\(.*?^}`).FindAllStringSubmatch(readText(t, path), -1) {
				all[m[1]] += m[0] // two packages can have tests of one name
			}
		}
	}
	return all
}

// TestCommands_AllInScript checks that no command is forgotten, and that the tests of otherCommands are
// there and have the words of the command.
func TestCommands_AllInScript(t *testing.T) {
	t.Parallel()
	r := run(t, "--help")
	list, _, _ := strings.Cut(r.out, "\nFlags:")
	tests, listed := commandTests(t), map[string]bool{}
	for line := range strings.Lines(list) {
		m := regexp.MustCompile(`^  ([a-z-]+(?: [a-z-]+)?) `).FindStringSubmatch(line)
		if m == nil {
			m = regexp.MustCompile(`^  ([a-z-]+) `).FindStringSubmatch(line)
		}
		if m == nil {
			continue
		}
		name := m[1]
		listed[name] = true
		in := slices.ContainsFunc(commandScript, func(s commandStep) bool {
			return s.words == name || strings.HasPrefix(s.words, name+" ")
		})
		other := otherCommands[name]
		switch {
		case in && other != "":
			t.Errorf("reeve %s is in the script, and in otherCommands", name)
		case in:
		case other == "":
			t.Errorf("no test runs reeve %s", name)
		case !regexp.MustCompile(`"` + strings.ReplaceAll(name, " ", `(", "| )`) + `[ "]`).MatchString(tests[other]):
			t.Errorf("%s does not run reeve %s (there: %v)", other, name, tests[other] != "")
		}
	}
	for name := range otherCommands {
		if !listed[name] {
			t.Errorf("there is no command reeve %s", name)
		}
	}
	if len(listed) < 40 {
		t.Errorf("only %d commands were found in:\n%s", len(listed), list)
	}
}

// TestEventTail_PrintsChanges follows the events while another command makes one.
func TestEventTail_PrintsChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	tail := begin(t, program(t, "event", "tail", "--data", dir))
	log := begin(t, program(t, "audit", "tail", "-f", "-n", "0", "--data", dir))
	names := []string{"a", "b"}
	eventually(t, "the events to be printed", func() bool {
		for i := range names {
			names[i] += "x"
			run(t, "user", "add", "user"+names[i], "--data", dir)
		}
		return strings.Contains(tail.out.String(), "user.created") && strings.Contains(log.out.String(), "create user")
	})
	p.stop()
	tail.wait() // the stream has ended
	log.kill()
}

// TestAuditUndo_NamesRecords undoes changes of records that have changed since or are gone.
func TestAuditUndo_NamesRecords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, dir).stop()
	must := func(words ...string) string {
		t.Helper()
		r := run(t, append(words, "--data", dir)...)
		if r.code != 0 {
			t.Fatalf("%v: %+v", words, r)
		}
		return r.out
	}
	last := func() string {
		var e struct{ Seq json.Number }
		noErr(t, json.Unmarshal([]byte(must("audit", "tail", "-n", "1", "--json")), &e))
		return e.Seq.String()
	}
	must("user", "add", "anna")
	must("setting", "set", "site.title", "A")
	setting := last()
	must("setting", "set", "site.title", "B")
	must("user", "disable", "anna")
	user := last()
	must("user", "enable", "anna")
	for seq, want := range map[string]string{
		setting: `setting Title \(\d+\) values: is now "B"`,
		user:    `user anna \(2\) status: is now`,
	} {
		r := run(t, "audit", "undo", seq, "--data", dir)
		if r.code != 1 || !regexp.MustCompile(want).MatchString(r.err) {
			t.Errorf("%+v, want %s", r, want)
		}
	}

	c := signedIn(t, start(t, dir))
	c.want(200, "DELETE", "/admin/list/2", "")
	if out := must("audit", "undo", last()); !strings.Contains(out, "not brought back: password") {
		t.Errorf("an undone deletion: %s", out)
	}
}

// TestDoctor_ListsParts: the code depends on the machine, since a file system in memory is a finding; that
// there is no backup is one anywhere.
func TestDoctor_ListsParts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, dir).stop()
	r := run(t, "doctor", "--data", dir)
	for _, part := range []string{"database", "sync", "file system", "backup", "certificate", "proxies", "configuration"} {
		if !regexp.MustCompile(`(?m)^(ok|degraded) +` + part + ` `).MatchString(r.out) {
			t.Errorf("nothing about %s in:\n%s", part, r.out)
		}
	}
	if r.code != 2 || !strings.Contains(r.out, "there has been none") || !strings.Contains(r.out, "→ name a target of copies") {
		t.Errorf("%+v", r)
	}
}

// TestDoctor_FindsFaults makes faults around a server, which doctor finds beside it and without it.
func TestDoctor_FindsFaults(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(servertest.OpenDir(t), "data")
	cert, key, _ := certificateUntil(t, time.Now().Add(-time.Minute))
	environment := []string{"REEVE_SERVER__TLS_CERT=" + cert, "REEVE_SERVER__TLS_KEY=" + key,
		"REEVE_SERVER__TRUSTED_PROXIES=10.0.0.0/8,0.0.0.0/1,::/0"}
	p := start(t, dir, environment...)
	const wide = "server.trusted_proxies has "
	if warned := strings.Join(p.log.messages(t, "warn"), "\n"); !strings.Contains(warned, wide+"0.0.0.0/1:") ||
		!strings.Contains(warned, wide+"::/0:") || strings.Contains(warned, "10.0.0.0") {
		t.Errorf("at start it warns %s", warned)
	}
	noErr(t, os.Chmod(dir, 0o755))
	noErr(t, os.Chmod(filepath.Join(dir, "secret.key"), 0o644))
	for _, beside := range []bool{true, false} {
		if !beside {
			p.stop()
		}
		cmd := program(t, append(environment, "doctor", "--data", dir)...)
		noErr(t, os.Chmod(dir, 0o755)) // which program has changed
		r := finish(t, cmd)
		for _, want := range []string{
			`degraded +permissions +other users of this machine may read or change .*secret\.key: run .chmod go=`,
			`failed +certificate +has expired at .*\n.*→ renew it`,
			`degraded +proxies +` + wide + `0\.0\.0\.0/1, ::/0: .*\n.*→ name the addresses`,
		} {
			if r.code != 2 || !regexp.MustCompile(want).MatchString(r.out) {
				t.Errorf("beside a server: %v: %d, without %s:\n%s", beside, r.code, want, r.out)
			}
		}
	}
	if !nightly() {
		return
	}
	ahead := program(t, "user", "add", "anna", "--data", dir)
	ahead.Path = otherClocks(t)
	ahead.Env = append(ahead.Env, clockVar+"=3600")
	if r := finish(t, ahead); r.code != 0 {
		t.Fatalf("an hour ahead: %+v", r)
	}
	if r := run(t, "doctor", "--data", dir); !regexp.MustCompile(`degraded +clock +records have timestamps (59m|1h0m)`).MatchString(r.out) {
		t.Errorf("after an hour ahead: %+v", r)
	}
}

// TestDoctor_OtherVersion asks with a program of another version than that of the running server.
func TestDoctor_OtherVersion(t *testing.T) {
	t.Parallel()
	at, dir := t.TempDir(), t.TempDir()
	source, err := filepath.Abs("../../main.go")
	noErr(t, err)
	text := readText(t, source)
	other := regexp.MustCompile(`const version = "[\d.]+"`).ReplaceAllString(text, `const version = "0.0.1"`)
	if other == text {
		t.Fatal("main.go has no version")
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{source: filepath.Join(at, "main.go")}})
	noErr(t, err)
	noErr(t, os.WriteFile(filepath.Join(at, "overlay.json"), overlay, 0o600))
	noErr(t, os.WriteFile(filepath.Join(at, "main.go"), []byte(other), 0o600))
	build := exec.Command("go", "build", "-overlay", filepath.Join(at, "overlay.json"), "-o", filepath.Join(at, "reeve"), "reeve")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	start(t, dir)
	if r := run(t, "doctor", "--data", dir); !regexp.MustCompile(`(?m)^ok +version +[\d.]+`).MatchString(r.out) {
		t.Errorf("with the same program: %+v", r)
	}
	cmd := program(t, "doctor", "--data", dir)
	cmd.Path = filepath.Join(at, "reeve")
	if r := finish(t, cmd); r.code != 2 ||
		!regexp.MustCompile(`(?m)^degraded +version +the server is [\d.]+\S*, this program 0\.0\.1\S*\n +→ restart the server to run the installed version$`).MatchString(r.out) {
		t.Errorf("with another one: %+v", r)
	}
}

// TestSupport_NamesNoOne looks for people and secrets in a report, in which requests and mails of them
// have failed.
func TestSupport_NamesNoOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "REEVE_METRICS__TOKEN=canary-metrics-token", "REEVE_SERVER__TRUSTED_PROXIES=127.0.0.1")
	c := newClient(t, p)
	c.extra["X-Forwarded-For"] = "203.0.113.77"
	c.signIn(password)
	c.want(200, "POST", "/admin/list", object("username", "canaryname", "nickname", "Canary Person", "email", "canary@example.org",
		"mobile", "+15550123457", "role_ids", []int{1}, "password", "canary pass phrase"))
	c.want(200, "PUT", "/system/setting", values("mail.enabled", true, "mail.host", "127.0.0.1", "mail.port", 1,
		"mail.security", "none", "mail.from", "reeve@example.org", "mail.username", "canarymail", "mail.password", "canary-mail-password"))
	apiKey := into[struct{ Token string }](t, c.want(200, "POST", "/admin/account/key", `{"name":"canarykey"}`)).Token
	c.call("POST", "/admin/password/forgot", `{"email":"canary@example.org"}`)
	c.call("GET", "/admin/list?keywordSearch=canaryname", "")
	for range 12 {
		newClient(t, p).call("POST", "/admin/login", `{"username":"canaryname","password":"wrong canary"}`)
	}
	eventually(t, "the mail to fail", func() bool {
		return strings.Contains(string(c.want(200, "GET", "/system/health", "").raw), `"name":"mail","state":"degraded"`)
	})

	report := filepath.Join(t.TempDir(), "report.tar.gz")
	for _, beside := range []bool{true, false} {
		if !beside {
			p.stop()
			noErr(t, os.Remove(report))
		}
		if r := run(t, "support", report, "--data", dir, "REEVE_METRICS__TOKEN=canary-metrics-token"); r.code != 0 {
			t.Fatalf("%+v", r)
		}
		out, err := exec.Command("tar", "-xzOf", report).Output()
		noErr(t, err)
		text := strings.ToLower(string(out))
		if !strings.Contains(text, `"name": "mail"`) || !strings.Contains(text, `"key": "metrics.token"`) {
			t.Errorf("it lacks the health or the configuration: %s", out)
		}
		for _, canary := range []string{"canary", "5550123457", "203.0.113.77", c.token, apiKey, password, strings.TrimPrefix(c.token, "rv_")} {
			if at := strings.Index(text, strings.ToLower(canary)); at >= 0 {
				t.Errorf("beside a server: %v: it has %q: %s", beside, canary, text[max(0, at-200):min(len(text), at+100)])
			}
		}
	}
}

// TestServe_AppliesSetup starts a new installation and an existing one with setup files, and one
// with a file that has a fault.
func TestServe_AppliesSetup(t *testing.T) {
	t.Parallel()
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "shop.toml")
	setup := "permissions.\"shop.order.refund\" = \"Refund\"\nroles.Support.permissions = [\"shop.order.refund\"]\n" +
		"[keys.shop]\nroles = [\"Support\"]\nsecret_file = \"shop.key\"\n"
	if err := os.WriteFile(file, []byte(setup), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		p := start(t, dir, "--apply", file)
		key := strings.TrimSpace(readText(t, filepath.Join(filepath.Dir(file), "shop.key")))
		c := newClient(t, p)
		c.token = key
		c.want(403, "GET", "/admin/list", "") // known, without the permission
		p.stop()
		if r := run(t, "plan", file, "--data", dir); r.code != 0 || r.out != "no changes\n" {
			t.Errorf("%+v", r)
		}
	}

	if err := os.WriteFile(file, []byte("roles.Support.permissions = [\"no.such\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, "serve", "--listen", "127.0.0.1:0", "--data", dir, "--apply", file)
	if r.code != 1 || !strings.Contains(r.err, "roles.Support.permissions[0]") {
		t.Errorf("%+v", r)
	}
}
