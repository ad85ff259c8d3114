package e2e

import (
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Canaries are texts that must not be found in the log and, if they are secret and not just
// private, in the files.
const (
	canaryWrong   = "canary-wrong-password"
	canaryFirst   = "canary-first-password"
	canaryNew     = "canary-new-password"
	canaryRefused = "canary-refused-password"
	canarySecret  = "canary-secret-setting"
	canarySecond  = "canary-second-secret"
	canaryQuery   = "canary-query-string"
	canaryToken   = "canary-made-up-token"
	canaryField   = "canary-typed-as-a-field" // monitoring can't know what this and the next one are
	canarySought  = "canary-sought-for"
	canaryName    = "canary-typed-as-a-name" // users type passwords into the wrong field
)

func TestSecrets_NotInFilesOrOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "REEVE_LOG__LEVEL=debug", "REEVE_ADMIN_PASSWORD="+canaryFirst)
	c := newClient(t, p)
	sent := 0
	say := func(status int, method, path, body string) *answer {
		t.Helper()
		sent++
		return c.want(status, method, path, body)
	}
	login := func(status int, name, password string) {
		t.Helper()
		say(status, "POST", "/admin/login", object("username", name, "password", password))
	}

	login(401, "admin", canaryWrong)
	login(401, canaryName, canaryWrong)
	say(400, "POST", "/admin/login?password="+canaryQuery,
		object("username", "admin", "password", canaryFirst))
	say(400, "POST", "/admin/login", `{"username":"admin","password":"`+canaryWrong)
	say(400, "POST", "/admin/login",
		`{"username":"admin","password":"`+canaryWrong+`","`+canaryField+`":1}`)
	say(422, "POST", "/admin/login", `{"username":"admin","password":["`+canaryWrong+`"]}`)
	say(413, "POST", "/admin/login",
		`{"username":"admin","password":"`+canaryWrong+`","pad":"`+strings.Repeat("x", 1<<20)+`"}`)
	c.extra["Content-Type"] = "text/plain"
	login(415, "admin", canaryWrong)
	delete(c.extra, "Content-Type")

	sent++
	first := c.signIn(canaryFirst).Token
	sent++
	second := c.signIn(canaryFirst).Token
	say(422, "PUT", "/admin/password",
		object("old_password", canaryWrong, "new_password", canaryRefused))
	say(422, "PUT", "/admin/password", object("old_password", canaryFirst, "new_password", "short"))
	say(200, "PUT", "/admin/password",
		object("old_password", canaryFirst, "new_password", canaryNew))
	for _, bad := range []string{first, canaryToken, "rv_" + canaryToken, second + canaryToken} {
		c.token = bad
		say(401, "GET", "/system/setting", "")
	}

	c.token = second

	sent += 2
	group := c.group("hidden")
	id := c.define(group, "key", "secret", canarySecret)
	say(200, "PUT", "/system/setting", values("hidden.key", canarySecond))
	say(200, "PUT", fmt.Sprintf("/system/setting/%d", id), object("values", canarySecret))
	say(422, "PUT", "/system/setting",
		values("hidden.key", canarySecret, "hidden.none", canarySecret))
	say(422, "PUT", "/system/setting",
		values("hidden.key", map[string]any{canarySecret: canarySecret}))
	say(409, "POST", "/system/setting", define(group, "key", "secret", canarySecret))
	for _, path := range []string{
		"/system/setting?keywordSearch=" + canaryQuery,
		"/system/setting?keywordSearch=" + canarySought, fmt.Sprintf("/system/setting/%d", id),
		"/system/setting-value", "/system/setting-group?keywordSearch=" + canaryQuery,
		"/admin/info", "/openapi.json",
	} {
		if a := say(200, "GET", path, ""); strings.Contains(string(a.raw), "canary") {
			t.Errorf("GET %s answers %s", path, a.raw)
		}
	}

	for status, path := range map[int]string{
		400: "/system/setting?token=" + canaryQuery,
		404: "/nowhere?token=" + canaryQuery,
	} {
		say(status, "GET", path, "")
	}

	say(405, "DELETE", "/admin/login?token="+canaryQuery, "")
	say(200, "GET", "/system/backup", "")
	sent++
	third := c.signIn(canaryNew).Token
	say(200, "POST", "/admin/logout", "")
	p.stop()

	tokens := []string{first, second, third}
	for _, token := range append(tokens, canaryWrong, canaryFirst, canaryNew, canaryRefused,
		canarySecret, canarySecond, canaryQuery, canaryToken, canaryName, canaryField,
		canarySought, "Bearer") {
		if at := strings.Index(p.log.String(), token); at >= 0 {
			t.Errorf("%q is in the log: %.300s", token, p.log.String()[max(0, at-200):])
		}
	}

	lines := 0
	for _, entry := range p.log.entries(t) {
		if entry["message"] == "request" {
			lines++
			if entry["level"] != "debug" || entry["method"] == nil || entry["path"] == nil ||
				entry["status"] == nil || entry["request"] == nil {
				t.Errorf("a request's line is %v", entry)
			}
		}
	}

	if lines != sent {
		t.Errorf("%d requests have %d lines in the log", sent, lines)
	}

	kept := snapshot(t, dir)
	maps.Copy(kept, snapshot(t, filepath.Join(dir, "monitor")))
	for name, content := range kept {
		for _, secret := range append(tokens, canaryWrong, canaryFirst, canaryNew, canaryRefused,
			canarySecret, canarySecond) {
			for form, text := range map[string]string{
				"":                  secret,
				"in base64 ":        strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(secret)), "=")[:12],
				"without its head ": strings.TrimPrefix(secret, "rv_"),
			} {
				if strings.Contains(content, text) {
					t.Errorf("%q is %sin %s", secret, form, name)
				}
			}
		}
	}

	b, err := os.ReadFile(filepath.Join(dir, "data.db"))
	if err != nil || !strings.Contains(string(b), `"hidden"`) {
		t.Errorf("the search finds nothing at all (%v)", err)
	}
}

// A stored secret can't be read, so its type is checked before it is stored.
func TestSecretSettings_FitType(t *testing.T) {
	t.Parallel()
	c := signedIn(t, start(t, t.TempDir()))
	group := c.group("hidden")
	id := c.define(group, "key", "secret", canarySecret)
	for name, value := range map[string]string{
		"a NUL character": "a\x00b",
		"more than 4 KiB": strings.Repeat("x", 4097),
	} {
		for what, a := range map[string]*answer{
			"created": c.call("POST", "/system/setting", define(group, "another", "secret", value)),
			"changed": c.call("PUT", fmt.Sprintf("/system/setting/%d", id),
				object("values", value)),
			"saved": c.call("PUT", "/system/setting", values("hidden.key", value)),
		} {
			if a.status != 422 {
				t.Errorf("%s %s: %.100s", what, name, a.raw)
			}
		}
	}
}

func TestSecretSettings_NeedKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	id := c.define(c.group("hidden"), "key", "secret", canarySecret)
	p.stop()
	if err := os.Remove(filepath.Join(dir, "secret.key")); err != nil {
		t.Fatal(err)
	}

	p = start(t, dir)
	if warnings := p.log.messages(t, "warn"); len(warnings) != 1 ||
		!strings.Contains(warnings[0], "secret.key") {
		t.Errorf("the warnings are %q", warnings)
	}

	c.base = p.url
	c.want(200, "GET", "/system/setting", "") // only the secrets are lost
	c.want(200, "PUT", fmt.Sprintf("/system/setting/%d", id), object("values", canarySecond))
	p.stop()
	if v := run(t, "verify", "--data", dir); v.code != 0 {
		t.Errorf("%+v", v)
	}
}
