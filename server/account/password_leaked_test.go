package account_test

import (
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
	"reeve/server/servertest"
	"reeve/server/web"
)

// leakedSecret is a password that no other rule refuses.
const leakedSecret = "correct leaked battery"

// withLeaked gives an instance a list of leaked passwords, and returns a function that writes it
// again.
func withLeaked(t *testing.T, log *servertest.Log) (path string, option func(*servertest.Setup)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "leaked.txt")
	writeLeaked(t, path)
	list, err := breached.Open(path)
	servertest.Must(t, err)
	return path, func(su *servertest.Setup) {
		if su.Leaked = list; log != nil {
			su.Log = log
		}
	}
}

func writeLeaked(t *testing.T, path string) {
	t.Helper()
	servertest.Must(t,
		os.WriteFile(path, fmt.Appendf(nil, "%X:12\r\n", sha1.Sum([]byte(leakedSecret))), 0o600))
}

// passwordWay is a way in which a password is set.
type passwordWay struct {
	name, field string
	set         func(in *servertest.Instance, password string) *servertest.Reply
}

// passwordWays are all of them. Each can be used again after it was refused.
func passwordWays(in *servertest.Instance) []passwordWay {
	clerk, customer, linked := in.Clerk("ann"), in.AppUser("app"), in.AppUser("linked")
	in.OpenRegistration()
	in.Hosted()
	v := in.GuestBrowser()
	v.Post(pages.SignInPath, "username", "app", "password", servertest.OwnerPassword).Leads(pages.AccountPath)
	link, appLink, pageLink := resetLink(in, false, clerk.ID), resetLink(in, true, linked.ID), in.LinkFor(in.Guest("guest", ""), "owner")
	body := func(fields ...any) string {
		o := openapi.Object{}
		for i := 0; i < len(fields); i += 2 {
			o[fields[i].(string)] = fields[i+1]
		}
		return string(servertest.EncodeJSON(in.T, o))
	}
	call := func(method, url, as string,
		fields ...any) func(*servertest.Instance, string) *servertest.Reply {
		return func(in *servertest.Instance, password string) *servertest.Reply {
			return in.Call(method, url, body(append(fields, "password", password)...), as)
		}
	}

	change := func(url, as string) func(*servertest.Instance, string) *servertest.Reply {
		return func(in *servertest.Instance, password string) *servertest.Reply {
			return in.Call("PUT", url,
				body("old_password", servertest.OwnerPassword, "new_password", password), as)
		}
	}
	return []passwordWay{
		{"a new user", "password", call("POST", "/admin/list", "owner", "username", "new-user")},
		{"a new app user", "password",
			call("POST", "/user/list", "owner", "username", "new-app-user")},
		{"a registration", "password",
			call("POST", "/api/register", "nobody", "username", "registered")},
		{"a registration on a page", "",
			func(_ *servertest.Instance, password string) *servertest.Reply {
				return in.GuestBrowser().Post(pages.RegisterPath, "username", "on-a-page",
					"password",
					password, "password_again", password)
			}},
		{"a link", "password", call("POST", "/admin/password/link", "nobody", "token", link)},
		{"a link of an app user", "password",
			call("POST", "/api/password/link", "nobody", "token", appLink)},
		{"a link with its page", "",
			func(in *servertest.Instance, password string) *servertest.Reply {
				return in.Submit(pageLink, servertest.Passwords(password, password))
			}},
		{"the own one", "new_password", change("/admin/password", "owner")},
		{"the own one of an app user", "new_password", change("/api/user/password", "app")},
		{"the own one on a page", "",
			func(_ *servertest.Instance, password string) *servertest.Reply {
				return v.Post(pages.PasswordPath, "old_password", servertest.OwnerPassword,
					"new_password", password, "password_again", password)
			}},
		{"the one of a user", "password",
			call("PUT", fmt.Sprintf("/admin/list/%d/password", clerk.ID), "owner")},
		{"the one of an app user", "password",
			call("PUT", fmt.Sprintf("/user/list/%d/password", customer.ID), "owner")},
	}
}

// TestLeakedPassword_Refused covers every way in which a password is set. While the list can't be
// read, every password is refused.
func TestLeakedPassword_Refused(t *testing.T) {
	t.Parallel()
	var log servertest.Log
	path, leaked := withLeaked(t, &log)
	in := servertest.Start(t, leaked)
	ways := passwordWays(in)
	before := in.Dump()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			a := way.set(in.In(t), leakedSecret)
			if way.field == "" {
				a.Brief(422, "appears in a list of leaked passwords; choose another one", "<form")
			} else {
				a.Brief(422, `"errorCode":"password_breached"`,
					`"errors":{"`+way.field+`":"appears in a list of leaked passwords; choose another one"}`)
			}
		})
	}

	in.Unchanged(before)

	servertest.Must(t, os.Remove(path))
	log.Reset()
	for _, way := range ways {
		t.Run(way.name+", without the list", func(t *testing.T) {
			a := way.set(in.In(t), "a good password")
			if way.field == "" {
				a.Brief(503, "list of leaked passwords can&#39;t be read")
			} else {
				a.Brief(503, `"errorCode":"breached_list_unreadable"`, "tell the administrator")
			}
			if strings.Contains(a.Body, path) {
				t.Error("the answer has the path of the list")
			}
		})
	}

	in.Unchanged(before)
	if n := strings.Count(log.String(), `"level":"error"`); n != 1 ||
		!strings.Contains(log.String(), path) {
		t.Errorf("%d errors are logged: %s", n, log.String())
	}
	if state, parts := in.HealthParts(); state != web.Degraded ||
		parts["passwords"].State != web.Degraded ||
		!strings.Contains(parts["passwords"].Text, "can't be read") {
		t.Errorf("%s: %+v", state, parts["passwords"])
	}

	in.OK("GET", "/health", "", "nobody")

	writeLeaked(t, path)
	if _, parts := in.HealthParts(); parts["passwords"].State != web.Healthy {
		t.Errorf("%+v", parts["passwords"])
	}

	for i, way := range ways {
		if way.name == "the own one on a page" { // it was changed just now, in another way
			continue
		}
		t.Run(way.name+", a good one", func(t *testing.T) {
			if a := way.set(in.In(t), fmt.Sprintf("a good password %d", i)); a.Code != 200 &&
				a.Code != 303 {
				t.Errorf("%d %s", a.Code, a.Body)
			}
		})
		if way.name == "the own one" {
			in.Tokens["owner"] = in.SignIn(1)
		}
	}
}

// TestLeakedPassword_DamagedList checks that the lookup that reads the damage finds it, and that
// the health check reports it until the list is replaced.
func TestLeakedPassword_DamagedList(t *testing.T) {
	t.Parallel()
	path, leaked := withLeaked(t, nil)
	in := servertest.Start(t, leaked)
	lines := fmt.Sprintf("%040d:1\n%X:1\n", 0, sha1.Sum([]byte(leakedSecret)))
	servertest.Must(t, os.WriteFile(path, []byte(lines+"damaged\n"), 0o600))
	in.Call("PUT", "/admin/password",
		`{"old_password":"`+servertest.OwnerPassword+`","new_password":"a good password"}`,
		"owner").Brief(503)
	_, parts := in.HealthParts()
	if p := parts["passwords"]; p.State != web.Degraded {
		t.Errorf("%+v", p)
	}

	servertest.Must(t, os.WriteFile(path, []byte(lines), 0o600))
	servertest.Must(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Second)))
	if _, parts := in.HealthParts(); parts["passwords"].State != web.Healthy {
		t.Errorf("%+v", parts["passwords"])
	}

	in.OK("PUT", "/admin/password",
		`{"old_password":"`+servertest.OwnerPassword+`","new_password":"a good password"}`, "owner")
}

// TestLeakedPassword_GeneratedNeedNoList checks that generated passwords are not looked up, since
// no one has used them before.
func TestLeakedPassword_GeneratedNeedNoList(t *testing.T) {
	t.Parallel()
	path, leaked := withLeaked(t, nil)
	in := servertest.Start(t, leaked)
	servertest.Must(t, os.Remove(path))
	id := in.Clerk("ann").ID
	in.OK("PUT", fmt.Sprintf("/admin/list/%d/password", id), `{}`, "owner").Brief(200,
		`"password":"`)
	in.OK("POST", "/admin/list", `{"username":"new"}`, "owner").Brief(200, `"password":"`)
}
