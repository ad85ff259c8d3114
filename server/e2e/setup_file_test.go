package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/server/setup"
)

// TestApply_BadFiles applies files that are damaged, too large, or not what they should be: the error
// names the file and the place, and nothing has changed.
func TestApply_BadFiles(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, data)
	c := signedIn(t, p)
	entries := func() string { return string(c.want(200, "GET", "/system/audit?pageSize=1", "").Data) }
	const key = "roles.R = {}\nkeys.k = { roles = [\"R\"], secret_file = \"%s\" }\n"
	lines := func(n int, format string) string {
		var b strings.Builder
		b.WriteString("[roles]\n")
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, test := range map[string]struct{ text, want string }{
		"not TOML":                 {"roles = [\n", "shop.toml: line "},
		"invalid UTF-8":            {"roles.\"A\xff\" = {}\n", "shop.toml: line 1, column 9"},
		"UTF-16":                   {"\xff\xfer\x00=\x00", "shop.toml: line 1"},
		"same key twice":           {"roles.A = {}\nroles.A = {}\n", "shop.toml: line 2, column"},
		"number too large":         {"roles.A.sort = 9223372036854775808\n", "shop.toml: line 1, column 16"},
		"keys that differ in case": {"roles.A = {}\nroles.a = {}\n", "shop.toml: line 2 roles.a: is given twice"},
		"array of tables":          {"[[roles]]\nsort = 1\n", "shop.toml: line 1 roles: must be a table"},
		"unknown table":            {"role.A = {}\n", "shop.toml: line 1 role: unknown table; did you mean roles"},
		"unknown field":            {"roles.A.descibe = \"\"\n", "shop.toml: line 1 roles.A.descibe: unknown field"},
		"infinite number":          {"roles.A.sort = inf\n", "shop.toml: line 1 roles.A.sort: must be a finite number"},
		"no number in an array":    {"roles.A.permissions = [nan]\n", `shop.toml: line 1 roles.A.permissions\[0\]: must be a finite number`},
		"fraction":                 {"roles.A.sort = 1.5\n", "shop.toml: line 1 roles.A.sort: must be an integer"},
		"date":                     {"flags.\"a.b\".title = 2030-01-01\n", "shop.toml: line 1 flags.a.b.title: must not be a date"},
		"time":                     {"roles.A.sort = 07:32:00\n", "shop.toml: line 1 roles.A.sort: must not be a date"},
		"date and time":            {"flags.\"a.b\".title = 2030-01-01T00:00:00Z\n", "shop.toml: line 1 flags.a.b.title: must not be a time"},
		"date of expiry":           {"roles.R = {}\nkeys.k = { roles = [\"R\"], secret_file = \"s\", expires_at = 2030-01-01 }\n", "shop.toml: line 2 keys.k.expires_at: must not be a date"},
		"deep tables":              {"roles" + strings.Repeat(".a", 2000) + " = 1\n", "shop.toml: line 1 roles.a.a.a"},
		"deep arrays":              {"roles.A.permissions = " + strings.Repeat("[", 500) + strings.Repeat("]", 500), "is nested deeper than"},
		"large file":               {"#" + strings.Repeat("x", 8<<20), "shop.toml has more than 8388608 bytes"},
		"large body":               {"settings.\"a.b\" = { type = \"textarea\", value = \"" + strings.Repeat("<", 3<<19) + "\" }", "the files have more than 8388608 bytes as JSON, without comments"},
		"many objects":             {lines(100_000, "\"R%d\" = {sort = 1}\n"), "shop.toml: the file must have at most 200000 values"},
		"many values":              {lines(200_000, "R%d = {}\n"), "shop.toml: the file must have at most 200000 values"},
		"terminal control":         {"\"ro\\u001b[2Jles\" = {}\n", "shop.toml: line 1 ro .2Jles: unknown table"},

		"link":                    {fmt.Sprintf(key, "link"), "shop.toml: line 2 keys.k.secret_file: .*link is not a regular file"},
		"link to nothing":         {fmt.Sprintf(key, "dangling"), "shop.toml: line 2 keys.k.secret_file: .*dangling is not a regular file"},
		"directory":               {fmt.Sprintf(key, "folder"), "shop.toml: line 2 keys.k.secret_file: .*folder is not a regular file"},
		"readable by others":      {fmt.Sprintf(key, "open"), "shop.toml: line 2 keys.k.secret_file: .*open can be read by other users"},
		"missing directory":       {fmt.Sprintf(key, "no/such"), "shop.toml: line 2 keys.k.secret_file: .*no such file or directory"},
		"other content":           {fmt.Sprintf(key, "junk"), "shop.toml: line 2 keys.k.secret_file: .*junk has no API key"},
		"large secret":            {fmt.Sprintf(key, "large"), "shop.toml: line 2 keys.k.secret_file: .*large has more than"},
		"no path":                 {fmt.Sprintf(key, ""), "shop.toml: line 2 keys.k.secret_file: must be the path of a file"},
		"number as path":          {"keys.k = { roles = [], secret_file = 7 }\n", "shop.toml: line 1 keys.k.secret_file: must be the path of a file"},
		"secret of a role":        {"roles.R.secret_file = \"s\"\n", "shop.toml: line 1 roles.R.secret_file: unknown field"},
		"secret in the file":      {"keys.k = { roles = [], secret_file = \"s\", secret = \"x\" }\n", "shop.toml: line 1 keys.k.secret: a secret must not be in the file"},
		"file of two keys":        {"roles.R = {}\nkeys.a = { roles = [\"R\"], secret_file = \"s\" }\nkeys.\"b/c\" = { roles = [\"R\"], secret_file = \"folder/../s\" }\n", "shop.toml: line 3 keys.b/c.secret_file: .*/s is the file of .*shop.toml: keys.a, too"},
		"file of key and webhook": {fmt.Sprintf(key, "s") + "webhooks.w = { url = \"https://example.org/\", types = [\"user.*\"], secret_file = \"s\" }\n", "line 3 webhooks.w.secret_file: .*/s is the file of .*shop.toml: keys.k, too"},
		"unknown reference":       {"settings.\"a.b\" = { secret = \"vault:x\" }\n", "shop.toml: line 1 settings.a.b: a secret must be \"env:NAME\""},
		"variable not set":        {"settings.\"a.b\" = { type = \"secret\", value = { secret = \"env:NOT_SET\" } }\n", "shop.toml: line 1 settings.a.b.value: the environment variable NOT_SET is not set"},
		"client secret not set":   {"providers.p = { title = \"P\", client_secret = { secret = \"env:NOT_SET\" } }\n", "shop.toml: line 1 providers.p.client_secret: the environment variable NOT_SET is not set"},
		"secret of a plain text":  {"settings.\"site.title\" = { secret = \"env:HOME\" }\n", "shop.toml: line 1 settings.site.title.value: must be the value itself"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			noErr(t, os.Symlink("/etc/hostname", filepath.Join(dir, "link")))
			noErr(t, os.Symlink("nothing", filepath.Join(dir, "dangling")))
			noErr(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
			for file, text := range map[string]string{"open": "x", "junk": "x", "large": strings.Repeat("x", 1<<17), "shop.toml": test.text} {
				noErr(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
			}
			noErr(t, os.Chmod(filepath.Join(dir, "open"), 0o644))
			there, before := names(t, dir), entries()

			r := run(t, "apply", filepath.Join(dir, "shop.toml"), "--data", data)
			sane(t, r)
			if !regexp.MustCompile(test.want).MatchString(r.err) || len(r.err) > 2000 || strings.Contains(r.err, "\x1b") {
				t.Errorf("%.500q, want %s", r.err, test.want)
			}
			if left := names(t, dir); !slices.Equal(left, there) {
				t.Errorf("there is %q", left)
			}
			if now := entries(); now != before {
				t.Errorf("something has changed: %.300s", now)
			}
		})
	}
	p.stop()
}

// TestApply_FileOfSecret applies keys whose names are no names of files, twice, with the empty file
// that a kill can leave, and from an export.
func TestApply_FileOfSecret(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	p := start(t, data)
	file := filepath.Join(dir, "shop.toml")
	noErr(t, os.WriteFile(file, []byte("\xef\xbb\xbfroles.R.permissions = [\"system.setting.query\"]\n"+
		"keys.\"a/b\" = { roles = [\"R\"], secret_file = \"first\" }\n"+
		"keys.a-b = { roles = [\"R\"], secret_file = \"second\", expires_at = 2026-12-31T00:00:00Z }\n"), 0o600))
	noErr(t, os.WriteFile(filepath.Join(dir, "first"), nil, 0o600))
	applied(t, data, file)
	for _, name := range []string{"first", "second"} {
		secret, err := os.ReadFile(filepath.Join(dir, name))
		noErr(t, err)
		c := newClient(t, p)
		c.token = strings.TrimSpace(string(secret))
		c.want(200, "GET", "/system/setting", "")
	}
	out := filepath.Join(dir, "out")
	if r := run(t, "export", out, "--data", data); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	p.stop()

	empty := t.TempDir()
	start(t, empty).stop()
	applied(t, empty, out)
	if secrets, err := filepath.Glob(filepath.Join(out, "keys-*.secret")); err != nil || len(secrets) != 2 {
		t.Errorf("the export has led to the files %q, %v", secrets, err)
	}
}

// TestApply_ProviderOfFiles applies a sign-in provider whose client secret is in a file, and its export
// in an empty installation, where the secret comes from the file again.
func TestApply_ProviderOfFiles(t *testing.T) {
	t.Parallel()
	const secret = "a secret of the provider"
	data, dir := t.TempDir(), t.TempDir()
	p := start(t, data)
	file := filepath.Join(dir, "shop.toml")
	text := "roles.Seller = {}\ndepartments.Sales = {}\n\n[providers.corp]\ntitle = \"Corp\"\nkind = \"keycloak\"\n" +
		"issuer = \"https://id.example.org/realms/r\"\nclient_id = \"reeve\"\nclient_secret = { secret = \"file:client\" }\n\n" +
		"[[providers.corp.mappings]]\nclaim = \"groups\"\nvalue = \"sales\"\nroles = [\"Seller\"]\ndepartment = \"Sales\"\n"
	noErr(t, os.WriteFile(file, []byte(text), 0o600))
	noErr(t, os.WriteFile(filepath.Join(dir, "client"), []byte(secret+"\n"), 0o600))
	applied(t, data, file)
	if r := run(t, "plan", file, "--data", data); r.code != 0 || strings.Contains(r.out+r.err, secret) {
		t.Errorf("the second time: %+v", r)
	}
	want := `"has_secret":1`
	if all := string(signedIn(t, p).want(200, "GET", "/system/provider", "").Data); !strings.Contains(all, want) || strings.Contains(all, secret) {
		t.Errorf("%s, want %s", all, want)
	}

	out := filepath.Join(dir, "out")
	if r := run(t, "export", out, "--data", data); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	p.stop()
	exported, err := os.ReadFile(filepath.Join(out, "providers.toml"))
	noErr(t, err)
	if strings.Contains(string(exported), secret) || !strings.Contains(string(exported), "'unset'") {
		t.Errorf("the export is %s", exported)
	}

	empty, again := t.TempDir(), filepath.Join(dir, "again")
	start(t, empty).stop()
	applied(t, empty, out)
	if r := run(t, "export", again, "--data", empty); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	for _, name := range names(t, out) {
		first, err := os.ReadFile(filepath.Join(out, name))
		noErr(t, err)
		second, err := os.ReadFile(filepath.Join(again, name))
		noErr(t, err)
		if string(first) != string(second) {
			t.Errorf("%s: exported %s, then %s", name, first, second)
		}
	}
	r := run(t, "plan", file, "--data", empty)
	if r.code != 2 || !strings.Contains(r.out, "client_secret: changed (secret)") || strings.Contains(r.out, secret) {
		t.Errorf("with the file of the secret: %+v", r)
	}
}

// TestApply_FileOfGuide does with the setup file of the manual's guide what the manual promises of one:
// applied again it changes nothing, a change in the console is what plan finds, and one undo takes all
// of it back.
func TestApply_FileOfGuide(t *testing.T) {
	t.Parallel()
	text := guideBlock(t, "toml shop.toml")
	if n := strings.Count(text, "\n"); n > 25 {
		t.Errorf("it has %d lines", n)
	}
	data, dir := t.TempDir(), t.TempDir()
	file, config := filepath.Join(dir, "shop.toml"), filepath.Join(dir, "config.toml")
	noErr(t, os.WriteFile(file, []byte(text), 0o600))
	noErr(t, os.WriteFile(config, []byte("[server]\nlisten = \"127.0.0.1:0\"\n[webhooks]\nallow = [\"127.0.0.1\"]\n"), 0o600))
	p := begin(t, program(t, "serve", "--config", config, "--data", data))
	p.ready()
	c := signedIn(t, p)
	command := func(code int, words ...string) string {
		t.Helper()
		cmd := program(t, append(words, "--config", config, "--data", data)...)
		cmd.Env = append(cmd.Env, "STRIPE_KEY=sk_test_1")
		r := finish(t, cmd)
		if r.code != code {
			t.Fatalf("%q: %+v", words, r)
		}
		return r.out
	}
	type entry struct {
		Seq    int64
		Reason string
		Actor  struct{ Name string }
	}
	last := func() (raw string, e entry) {
		t.Helper()
		raw = command(0, "audit", "tail", "-n", "1", "--json")
		noErr(t, json.Unmarshal([]byte(raw), &e))
		return raw, e
	}

	before := command(2, "plan", file)
	command(0, "apply", file, "--reason", "opening of the shop")
	raw, made := last()
	if made.Reason != "opening of the shop" || !strings.Contains(raw, `"cli:`) {
		t.Errorf("the change log has %s", raw)
	}
	for _, what := range []string{"apply", "plan"} {
		if out := command(0, what, file); out != "no changes\n" {
			t.Errorf("%s again: %s", what, out)
		}
	}
	if raw, e := last(); e.Seq != made.Seq {
		t.Errorf("the second time has written %s", raw)
	}

	c.want(200, "PUT", "/system/setting", `{"values":{"payment.vat_rate":"21"}}`)
	if out := command(2, "plan", file); out != "~ setting payment.vat_rate\n    value: 21 → 20\n" {
		t.Errorf("after a change: %s", out)
	}
	command(0, "apply", file)
	if out := command(0, "plan", file); out != "no changes\n" {
		t.Errorf("applied after a change: %s", out)
	}
	_, e := last()
	command(0, "audit", "undo", fmt.Sprint(e.Seq))
	_, e = last()
	command(0, "audit", "undo", fmt.Sprint(e.Seq)) // of the undo: the value of the file
	command(0, "audit", "undo", fmt.Sprint(made.Seq))
	if after := command(2, "plan", file); after != before {
		t.Errorf("after the undo it would do %s, before it was applied %s", after, before)
	}
	p.stop()
}

// TestApply_OriginsAndCredentials sets origins, which apply at once, and a secret that a service manager
// hands to the command.
func TestApply_OriginsAndCredentials(t *testing.T) {
	t.Parallel()
	data, dir, credentials := t.TempDir(), t.TempDir(), t.TempDir()
	p := start(t, data, "REEVE_FORWARD_AUTH__URL=http://localhost:8080")
	file := filepath.Join(dir, "shop.toml")
	noErr(t, os.WriteFile(file, []byte("[settings]\n\"security.cors_origins\" = \"https://shop.example.org\"\n"+
		"\"security.forward_origins\" = \"http://shop.localhost\"\n"+
		"\"payment.key\" = { title = \"Key\", type = \"secret\", value = { secret = \"credential:stripe\" } }\n"), 0o600))
	apply := func(what, directory string) result {
		cmd := program(t, what, file, "--data", data)
		if directory != "" {
			cmd.Env = append(cmd.Env, "CREDENTIALS_DIRECTORY="+directory)
		}
		return finish(t, cmd)
	}
	if r := apply("apply", ""); r.code != 1 || !strings.Contains(r.err, "line 4 settings.payment.key.value: there is no credential stripe") {
		t.Errorf("without credentials: %+v", r)
	}
	if r := apply("apply", credentials); r.code != 1 || !strings.Contains(r.err, "settings.payment.key") {
		t.Errorf("without the credential: %+v", r)
	}
	noErr(t, os.WriteFile(filepath.Join(credentials, "stripe"), []byte("sk_live_1\n"), 0o600))
	if r := apply("apply", credentials); r.code != 0 || strings.Contains(r.out+r.err, "sk_live_1") {
		t.Fatalf("%+v", r)
	}
	if r := apply("plan", credentials); r.code != 0 {
		t.Errorf("applied again: %+v", r)
	}

	c := newClient(t, p)
	eventually(t, "the origins to be known", func() bool {
		c.extra = map[string]string{"Origin": "https://shop.example.org"}
		shared := c.call("GET", "/api/home", "").header.Get("Access-Control-Allow-Origin")
		c.extra = map[string]string{"X-Forwarded-Proto": "http", "X-Forwarded-Host": "shop.localhost",
			"X-Forwarded-Uri": "/", "X-Forwarded-Method": "GET"}
		return shared == "https://shop.example.org" && c.call("GET", "/auth/verify", "").status == 401
	})

	noErr(t, os.WriteFile(filepath.Join(credentials, "stripe"), []byte("sk_live_2\n"), 0o600))
	if r := apply("plan", credentials); r.code != 2 || r.out != "~ setting payment.key\n    value: changed (secret)\n" {
		t.Errorf("with another credential: %+v", r)
	}
	p.stop()
}

// TestExport_AppliedIsSame exports random states, of which the files are planned without a change, applies
// the files to an empty installation, and exports that.
func TestExport_AppliedIsSame(t *testing.T) {
	t.Parallel()
	r := random(t)
	const public = "REEVE_SERVER__PUBLIC_URL=https://reeve.example.org" // without which no provider can be used
	empty := t.TempDir()
	start(t, empty, public).stop()
	for range size(2, 10, 30) {
		dir := t.TempDir()
		file := filepath.Join(dir, "random.toml")
		text := randomFile(t, r, dir)
		noErr(t, os.WriteFile(file, text, 0o600))

		exported := func(file, name string) (texts map[string]string) {
			t.Helper()
			data, out := filepath.Join(dir, "data "+name), filepath.Join(dir, name)
			noErr(t, os.CopyFS(data, os.DirFS(empty)))
			for _, words := range [][]string{{"apply", file}, {"export", out}, {"plan", out}} {
				if r := run(t, append(words, "--data", data, public)...); r.code != 0 {
					t.Fatalf("%q: %+v\n%s", words, r, text)
				}
			}
			texts = map[string]string{}
			for _, name := range names(t, out) {
				if strings.HasSuffix(name, ".toml") {
					texts[name] = readText(t, filepath.Join(out, name))
				}
			}
			return texts
		}
		first := exported(file, "first")
		second := exported(filepath.Join(dir, "first"), "second")
		if len(first) < 8 || !maps.Equal(first, second) {
			t.Fatalf("exported %q, then %q", first, second)
		}
	}
}

// randomFile returns a random setup as a file, whose secrets are in files in a directory.
func randomFile(t *testing.T, r *rand.Rand, dir string) []byte {
	t.Helper()
	values := servertest.RandomSetup(r)
	for _, table := range setup.SecretTables() {
		i := 0
		for _, row := range values[table.Name].(map[string]any) {
			row := row.(map[string]any)
			delete(row, "secret")
			row["secret_file"] = fmt.Sprint(table.Name, i)
			i++
		}
	}
	noErr(t, os.WriteFile(filepath.Join(dir, "text"), []byte("s3cr3t"), 0o600))
	noErr(t, os.WriteFile(filepath.Join(dir, "url"), []byte("https://example.org/s3cr3t"), 0o600))
	text, err := setup.TOML(values)
	noErr(t, err)
	return regexp.MustCompile(`secret = ['"](https:)?[^'"]*['"]`).ReplaceAllFunc(text, func(match []byte) []byte {
		if bytes.Contains(match, []byte("https:")) {
			return []byte("secret = 'file:url'")
		}
		return []byte("secret = 'file:text'")
	})
}

// TestExport_EmptyInstallation exports an installation without objects of its own: its files can be
// planned and applied, and a later export replaces them.
func TestExport_EmptyInstallation(t *testing.T) {
	t.Parallel()
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	start(t, data).stop()
	command := func(want string, words ...string) {
		t.Helper()
		if r := run(t, append(words, "--data", data)...); r.code != 0 || !strings.HasPrefix(r.out, want) {
			t.Errorf("%q: %+v, want %s", words, r, want)
		}
	}
	command("wrote 1 file to ", "export", out)
	if files := names(t, out); !slices.Equal(files, []string{"settings.toml"}) {
		t.Errorf("it wrote %q", files)
	}
	command("no changes\n", "plan", out)
	command("no changes\n", "apply", out)

	file := filepath.Join(t.TempDir(), "shop.toml")
	noErr(t, os.WriteFile(file, []byte("roles.Support = {}\n"), 0o600))
	command("+ role Support\n", "apply", file)
	command("wrote 1 file to ", "export", out)
	if files := names(t, out); !slices.Equal(files, []string{"roles.toml"}) {
		t.Errorf("the second export wrote %q", files)
	}
	if r := run(t, "plan", t.TempDir(), "--data", data); r.code != 1 || !strings.Contains(r.err, "has no files that end with .toml") {
		t.Errorf("an empty directory: %+v", r)
	}
}

// TestApply_SaysHowToUndo applies a small setup and one that needs a job. The entry that the command
// names undoes each.
func TestApply_SaysHowToUndo(t *testing.T) {
	t.Parallel()
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "shop.toml")
	p := start(t, data)
	hint := regexp.MustCompile(`\napplied (\d+) changes?: entry (\d+) of the change log; to undo: reeve audit undo (\d+)\n$`)
	for _, n := range []int{1, 250} {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "roles.\"R%d of %d\" = { sort = %[1]d, permissions = [\"system.info\"] }\n", i, n)
		}
		noErr(t, os.WriteFile(file, []byte(text.String()), 0o600))
		before := changesIn(t, data, file)
		if before != n {
			t.Fatalf("%d changes are planned, want %d", before, n)
		}

		r := run(t, "apply", file, "--data", data)
		found := hint.FindStringSubmatch(r.out)
		if r.code != 0 || found == nil || found[1] != fmt.Sprint(n) || found[2] != found[3] {
			t.Fatalf("%d roles: code %d, %.300s", n, r.code, r.out[max(0, len(r.out)-300):])
		}
		if r := run(t, "audit", "undo", found[2], "--data", data); r.code != 0 {
			t.Fatalf("undo: %+v", r)
		}
		if after := changesIn(t, data, file); after != n {
			t.Errorf("after the undo %d changes are planned, want %d", after, n)
		}

		r = run(t, "apply", file, "--json", "--data", data)
		var done struct{ Applied, Entry int }
		noErr(t, json.Unmarshal([]byte(r.out), &done))
		if r.code != 0 || done.Applied != n || done.Entry == 0 {
			t.Errorf("JSON: code %d, %+v", r.code, done)
		}
	}
	p.stop()
}

// TestApply_LargeInstallation applies, exports and plans 10,000 permissions beside a running server.
func TestApply_LargeInstallation(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	p := start(t, data)
	file, out := filepath.Join(dir, "shop.toml"), filepath.Join(dir, "out")
	var text strings.Builder
	text.WriteString("[permissions]\n")
	for i := range 10_000 {
		fmt.Fprintf(&text, "\"shop.part%d.read%d\" = { name = \"Permission to read the part %[1]d of the shop\", sort = %[2]d, status = false }\n", i/100, i)
	}
	noErr(t, os.WriteFile(file, []byte(text.String()), 0o600))
	r := run(t, "apply", file, "--data", data)
	if r.code != 0 || !strings.Contains(r.out, "\napplied 10101 changes: entry ") {
		t.Fatalf("code %d, %s, %.300s", r.code, r.err, r.out[max(0, len(r.out)-300):])
	}
	if r := run(t, "export", out, "--data", data); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	for _, path := range []string{file, out} {
		if r := run(t, "plan", path, "--data", data); r.code != 0 {
			t.Errorf("%s: code %d, %s, %.300s", path, r.code, r.err, r.out)
		}
	}
	p.stop()
}
