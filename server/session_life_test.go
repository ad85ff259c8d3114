package server

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"reeve/server/account"
	"reeve/store"
)

// TestManual_SessionLifetimes checks that the manual has the defaults of the settings, and a reason
// for each.
func TestManual_SessionLifetimes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../embed/manual/security.md")
	must(t, err)
	_, section, found := strings.Cut(string(text), "\n## Lifetimes of sessions\n")
	if !found {
		t.Fatal("the manual has no section of them")
	}
	for _, c := range []struct {
		of   *store.NumberSetting
		unit string
	}{{store.SessionIdleMinutes, "minutes"}, {store.SessionHours, "hours"}, {store.ReauthMinutes, "minutes"}, {store.AppSessionIdleHours, "hours"}, {store.AppSessionDays, "days"}} {
		_, row, found := strings.Cut(section, "| `"+c.of.Name()+"` | "+c.of.Default+" "+c.unit+" | ")
		if reason, _, _ := strings.Cut(row, "|"); !found || len(reason) < 30 {
			t.Errorf("the manual does not explain %s: %s %s", c.of.Name(), c.of.Default, c.unit)
		}
	}
}

// TestConfirmation_ReplacesToken checks that the previous token is accepted for a minute, for
// requests in progress.
func TestConfirmation_ReplacesToken(t *testing.T) {
	t.Parallel()
	in := start(t)
	confirm := func(as string) (out account.ReauthDone) {
		in.ok("POST", "/admin/reauth", `{"password":"`+ownerPassword+`"}`, as).data(&out)
		return out
	}
	first := in.tokens["owner"]
	in.tokens["first"], in.tokens["second"] = first, confirm("owner").Token
	if in.tokens["second"] == first || in.tokens["second"] == "" {
		t.Fatal("the token has not changed")
	}
	for range 2 {
		in.ok("GET", "/admin/info", "", "first")
		in.ok("GET", "/admin/info", "", "second")
	}
	in.call("POST", "/admin/reauth", `{"password":"`+ownerPassword+`"}`, "first").brief(409, "token_replaced")
	in.tokens["third"] = confirm("second").Token
	in.call("GET", "/admin/info", "", "first").brief(401) // only one former token
	in.ok("GET", "/admin/info", "", "second")
	in.ok("GET", "/admin/info", "", "third")
	must(t, in.db.View(store.System, func(tx *store.Tx) error {
		for token, err := range store.SessionTokens.All(tx) {
			must(t, err)
			if left := token.EndsAt.Std().Sub(tx.Now().Std()); token.EndsAt != 0 && (left <= 0 || left > time.Minute) {
				t.Errorf("a former token ends in %s", left)
			}
		}
		return nil
	}))
	in.endFormerTokens()
	in.call("GET", "/admin/info", "", "second").brief(401)
	in.ok("GET", "/admin/info", "", "third")
	in.lists("/admin/session", "current", "third", "1") // one session all the time
	in.ok("POST", "/admin/logout", "", "third")
	in.call("GET", "/admin/info", "", "third").brief(401)

	// In a cookie.
	in.tokens["cookie"] = inCookie + in.signIn(1)
	r := in.request("POST", "/admin/reauth", `{"password":"`+ownerPassword+`"}`, "cookie")
	r.Header.Set("Origin", "http://"+r.Host)
	a := in.send(r)
	a.brief(200, `"token":""`)
	c := cookieNamed((&http.Response{Header: a.Header}).Cookies(), sessionCookie(false, false))
	if c == nil || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || inCookie+c.Value == in.tokens["cookie"] {
		t.Fatalf("cookie %v", c)
	}
	in.tokens["renewed"] = inCookie + c.Value
	in.ok("GET", "/admin/info", "", "renewed")
}

// TestConfirmation_ReplacedTokenHasNoProof checks that the thief of a replaced token can't use the
// user's confirmation.
func TestConfirmation_ReplacedTokenHasNoProof(t *testing.T) {
	t.Parallel()
	in := withGoodBodies(t)
	in.stale("admin")
	in.tokens["stolen"] = in.tokens["owner"]
	in.reauth("owner")
	before := in.dump()
	for _, name := range sensitive {
		rt := routeNamed(t, name)
		url, body := goodRequest(&rt)
		in.call(rt.Method, url, body, "stolen").brief(403, "reauth_required")
	}
	in.call("POST", "/admin/reauth", `{"password":"`+ownerPassword+`"}`, "stolen").brief(409, "token_replaced")
	in.unchanged(before)
	in.ok("GET", "/admin/info", "", "stolen") // what is under way goes on
	in.ok("PUT", "/admin/list/2/password", goodBodies()["PUT /admin/list/:id/password"].body, "owner")
}

// TestConfirmation_Concurrent: one of them replaces the token.
func TestConfirmation_Concurrent(t *testing.T) {
	t.Parallel()
	in := start(t)
	replies := make(chan *reply)
	for range 4 {
		go func() { replies <- in.call("POST", "/admin/reauth", `{"password":"`+ownerPassword+`"}`, "owner") }()
	}
	confirmed := 0
	for range 4 {
		if a := <-replies; a.Code == http.StatusOK {
			var out account.ReauthDone
			a.data(&out)
			confirmed++
			in.tokens["renewed"] = out.Token
		} else if a.envelope().ErrorCode != "token_replaced" {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	}
	if confirmed != 1 {
		t.Errorf("%d have replaced it", confirmed)
	}
	in.ok("GET", "/system/backup", "", "renewed")
}

// endFormerTokens ends the minute in which tokens are accepted that were replaced.
func (in *instance) endFormerTokens() {
	in.t.Helper()
	in.update(func(tx *store.Tx) error {
		for token, err := range store.SessionTokens.All(tx) {
			if err == nil && token.EndsAt != 0 {
				_, err = store.SessionTokens.Update(tx, token.ID, func(t *store.SessionToken) error { t.EndsAt = tx.Now(); return nil })
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// TestStream_EndsWithToken checks that a stream ends once its token is no longer accepted.
func TestStream_EndsWithToken(t *testing.T) {
	t.Parallel()
	in := start(t)
	url := in.live() + "/system/event?types=dict.*"
	stolen := in.listen(url, "owner")
	in.reauth("owner")
	own := in.listen(url, "owner")
	in.create("/system/dict", `{"code":"a","name":"A"}`)
	stolen.gets("dict.changed")
	in.endFormerTokens()
	in.create("/system/dict", `{"code":"b","name":"B"}`)
	if kind, _ := stolen.next(); kind != "" {
		t.Errorf("event %s", kind)
	}
	own.gets("dict.changed", "dict.changed")
}

func TestLogin_EndsBrowserSession(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.member("other", 0)
	for _, name := range []string{"admin", "other"} {
		in.tokens["former"] = inCookie + in.signIn(1)
		r := in.request("POST", "/admin/login", fmt.Sprintf(`{"username":%q,"password":%q,"cookie":1}`, name, ownerPassword), "former")
		r.Header.Set("Origin", "http://"+r.Host)
		if a := in.handled(r); a.StatusCode != 200 {
			t.Fatalf("%d", a.StatusCode)
		}
		in.call("GET", "/admin/info", "", "former").brief(401)
		in.ok("GET", "/admin/info", "", "owner") // another browser
	}
	in.tokens["former"] = inCookie + in.signIn(1)
	r := in.request("POST", "/admin/login", `{"username":"admin","password":"wrong","cookie":1}`, "former")
	r.Header.Set("Origin", "http://"+r.Host)
	in.handled(r)
	in.ok("GET", "/admin/info", "", "former") // the sign-in has failed
}
