package server

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reeve/auth/breached"
	"reeve/server/openapi"
	"reeve/server/pages"
	"reeve/server/web"
)

// leakedSecret is a password that no other rule refuses.
const leakedSecret = "correct leaked battery"

// withLeaked gives an instance a list of leaked passwords, and returns a function that writes it again.
func withLeaked(t *testing.T, log *bytes.Buffer) (path string, option func(*setup)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "leaked.txt")
	writeLeaked(t, path)
	list, err := breached.Open(path)
	must(t, err)
	return path, func(su *setup) {
		if su.leaked = list; log != nil {
			su.log = log
		}
	}
}

func writeLeaked(t *testing.T, path string) {
	t.Helper()
	must(t, os.WriteFile(path, fmt.Appendf(nil, "%X:12\r\n", sha1.Sum([]byte(leakedSecret))), 0o600))
}

// passwordWay is a way in which a password is set.
type passwordWay struct {
	name, field string
	set         func(in *instance, password string) *reply
}

// passwordWays are all of them. Each can be used again after it was refused.
func passwordWays(in *instance) []passwordWay {
	clerk, customer, linked := in.clerk("ann"), in.appUser("app"), in.appUser("linked")
	in.openRegistration()
	in.hosted()
	v := in.guestBrowser()
	v.post(pages.SignInPath, "username", "app", "password", ownerPassword).leads(pages.AccountPath)
	link, appLink, pageLink := in.resetLink(false, clerk.ID), in.resetLink(true, linked.ID), in.linkFor(in.guest("guest", ""), "owner")
	body := func(fields ...any) string {
		o := openapi.Object{}
		for i := 0; i < len(fields); i += 2 {
			o[fields[i].(string)] = fields[i+1]
		}
		return string(encodeJSON(in.t, o))
	}
	call := func(method, url, as string, fields ...any) func(*instance, string) *reply {
		return func(in *instance, password string) *reply {
			return in.call(method, url, body(append(fields, "password", password)...), as)
		}
	}
	change := func(url, as string) func(*instance, string) *reply {
		return func(in *instance, password string) *reply {
			return in.call("PUT", url, body("old_password", ownerPassword, "new_password", password), as)
		}
	}
	return []passwordWay{
		{"a new user", "password", call("POST", "/admin/list", "owner", "username", "new-user")},
		{"a new app user", "password", call("POST", "/user/list", "owner", "username", "new-app-user")},
		{"a registration", "password", call("POST", "/api/register", "nobody", "username", "registered")},
		{"a registration on a page", "", func(_ *instance, password string) *reply {
			return in.guestBrowser().post(pages.RegisterPath, "username", "on-a-page", "password", password, "password_again", password)
		}},
		{"a link", "password", call("POST", "/admin/password/link", "nobody", "token", link)},
		{"a link of an app user", "password", call("POST", "/api/password/link", "nobody", "token", appLink)},
		{"a link with its page", "", func(in *instance, password string) *reply { return in.submit(pageLink, passwords(password, password)) }},
		{"the own one", "new_password", change("/admin/password", "owner")},
		{"the own one of an app user", "new_password", change("/api/user/password", "app")},
		{"the own one on a page", "", func(_ *instance, password string) *reply {
			return v.post(pages.PasswordPath, "old_password", ownerPassword, "new_password", password, "password_again", password)
		}},
		{"the one of a user", "password", call("PUT", fmt.Sprintf("/admin/list/%d/password", clerk.ID), "owner")},
		{"the one of an app user", "password", call("PUT", fmt.Sprintf("/user/list/%d/password", customer.ID), "owner")},
	}
}

// TestLeakedPassword_Refused covers every way in which a password is set. While the list can't be
// read, every password is refused.
func TestLeakedPassword_Refused(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	path, leaked := withLeaked(t, &log)
	in := start(t, leaked)
	ways := passwordWays(in)
	before := in.dump()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			a := way.set(in.in(t), leakedSecret)
			if way.field == "" {
				a.brief(422, "appears in a list of leaked passwords; choose another one", "<form")
			} else {
				a.brief(422, `"errorCode":"password_breached"`, `"errors":{"`+way.field+`":"appears in a list of leaked passwords; choose another one"}`)
			}
		})
	}
	in.unchanged(before)

	must(t, os.Remove(path))
	log.Reset()
	for _, way := range ways {
		t.Run(way.name+", without the list", func(t *testing.T) {
			a := way.set(in.in(t), "a good password")
			if way.field == "" {
				a.brief(503, "list of leaked passwords can&#39;t be read")
			} else {
				a.brief(503, `"errorCode":"breached_list_unreadable"`, "tell the administrator")
			}
			if strings.Contains(a.Body, path) {
				t.Error("the answer has the path of the list")
			}
		})
	}
	in.unchanged(before)
	if n := strings.Count(log.String(), `"level":"error"`); n != 1 || !strings.Contains(log.String(), path) {
		t.Errorf("%d errors are logged: %s", n, log.String())
	}
	if state, parts := in.healthParts(); state != web.Degraded || parts["passwords"].State != web.Degraded || !strings.Contains(parts["passwords"].Text, "can't be read") {
		t.Errorf("%s: %+v", state, parts["passwords"])
	}
	in.ok("GET", "/health", "", "nobody")

	writeLeaked(t, path)
	if _, parts := in.healthParts(); parts["passwords"].State != web.Healthy {
		t.Errorf("%+v", parts["passwords"])
	}
	for i, way := range ways {
		if way.name == "the own one on a page" { // it was changed just now, in another way
			continue
		}
		t.Run(way.name+", a good one", func(t *testing.T) {
			if a := way.set(in.in(t), fmt.Sprintf("a good password %d", i)); a.Code != 200 && a.Code != 303 {
				t.Errorf("%d %s", a.Code, a.Body)
			}
		})
		if way.name == "the own one" {
			in.tokens["owner"] = in.signIn(1)
		}
	}
}

// TestLeakedPassword_DamagedList checks that the lookup that reads the damage finds it, and that
// the health check reports it until the list is replaced.
func TestLeakedPassword_DamagedList(t *testing.T) {
	t.Parallel()
	path, leaked := withLeaked(t, nil)
	in := start(t, leaked)
	lines := fmt.Sprintf("%040d:1\n%X:1\n", 0, sha1.Sum([]byte(leakedSecret)))
	must(t, os.WriteFile(path, []byte(lines+"damaged\n"), 0o600))
	in.call("PUT", "/admin/password", `{"old_password":"`+ownerPassword+`","new_password":"a good password"}`, "owner").brief(503)
	_, parts := in.healthParts()
	if p := parts["passwords"]; p.State != web.Degraded {
		t.Errorf("%+v", p)
	}
	must(t, os.WriteFile(path, []byte(lines), 0o600))
	must(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Second)))
	if _, parts := in.healthParts(); parts["passwords"].State != web.Healthy {
		t.Errorf("%+v", parts["passwords"])
	}
	in.ok("PUT", "/admin/password", `{"old_password":"`+ownerPassword+`","new_password":"a good password"}`, "owner")
}

// TestLeakedPassword_GeneratedNeedNoList checks that generated passwords are not looked up, since
// no one has used them before.
func TestLeakedPassword_GeneratedNeedNoList(t *testing.T) {
	t.Parallel()
	path, leaked := withLeaked(t, nil)
	in := start(t, leaked)
	must(t, os.Remove(path))
	id := in.clerk("ann").ID
	in.ok("PUT", fmt.Sprintf("/admin/list/%d/password", id), `{}`, "owner").brief(200, `"password":"`)
	in.ok("POST", "/admin/list", `{"username":"new"}`, "owner").brief(200, `"password":"`)
}
