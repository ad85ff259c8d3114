package server_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"reeve/server/account"
	"reeve/server/servertest"
	"reeve/store"
)

// TestManual_SessionLifetimes checks that the manual has the defaults of the settings, and a reason
// for each.
func TestManual_SessionLifetimes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../embed/manual/security.md")
	servertest.Must(t, err)
	_, section, found := strings.Cut(string(text), "\n## Lifetimes of sessions\n")
	if !found {
		t.Fatal("the manual has no section of them")
	}

	for _, c := range []struct {
		of   *store.NumberSetting
		unit string
	}{{store.SessionIdleMinutes, "minutes"}, {store.SessionHours, "hours"},
		{store.ReauthMinutes, "minutes"}, {store.AppSessionIdleHours, "hours"},
		{store.AppSessionDays, "days"}} {
		_, row, found := strings.Cut(section,
			"| `"+c.of.Name()+"` | "+c.of.Default+" "+c.unit+" | ")
		if reason, _, _ := strings.Cut(row, "|"); !found || len(reason) < 30 {
			t.Errorf("the manual does not explain %s: %s %s", c.of.Name(), c.of.Default, c.unit)
		}
	}
}

// TestConfirmation_ReplacesToken checks that the previous token is accepted for a minute, for
// requests in progress.
func TestConfirmation_ReplacesToken(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	confirm := func(as string) (out account.ReauthDone) {
		in.OK("POST", "/admin/reauth", `{"password":"`+servertest.OwnerPassword+`"}`, as).Data(&out)
		return out
	}

	first := in.Tokens["owner"]
	in.Tokens["first"], in.Tokens["second"] = first, confirm("owner").Token
	if in.Tokens["second"] == first || in.Tokens["second"] == "" {
		t.Fatal("the token has not changed")
	}

	for range 2 {
		in.OK("GET", "/admin/info", "", "first")
		in.OK("GET", "/admin/info", "", "second")
	}

	in.Call("POST", "/admin/reauth", `{"password":"`+servertest.OwnerPassword+`"}`, "first").Brief(409, "token_replaced")
	in.Tokens["third"] = confirm("second").Token
	in.Call("GET", "/admin/info", "", "first").Brief(401) // only one former token
	in.OK("GET", "/admin/info", "", "second")
	in.OK("GET", "/admin/info", "", "third")
	servertest.Must(t, in.DB.View(store.System, func(tx *store.Tx) error {
		for token, err := range store.SessionTokens.All(tx) {
			servertest.Must(t, err)
			if left := token.EndsAt.Std().Sub(tx.Now().Std()); token.EndsAt != 0 &&
				(left <= 0 || left > time.Minute) {
				t.Errorf("a former token ends in %s", left)
			}
		}
		return nil
	}))
	in.EndFormerTokens()
	in.Call("GET", "/admin/info", "", "second").Brief(401)
	in.OK("GET", "/admin/info", "", "third")
	in.Lists("/admin/session", "current", "third", "1") // one session all the time
	in.OK("POST", "/admin/logout", "", "third")
	in.Call("GET", "/admin/info", "", "third").Brief(401)

	// In a cookie.
	in.Tokens["cookie"] = servertest.InCookie + in.SignIn(1)
	r := in.Request("POST", "/admin/reauth", `{"password":"`+servertest.OwnerPassword+`"}`,
		"cookie")
	r.Header.Set("Origin", "http://"+r.Host)
	a := in.Send(r)
	a.Brief(200, `"token":""`)
	c := servertest.CookieNamed((&http.Response{Header: a.Header}).Cookies(),
		servertest.SessionCookie(false, false))
	if c == nil || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode ||
		servertest.InCookie+c.Value == in.Tokens["cookie"] {
		t.Fatalf("cookie %v", c)
	}

	in.Tokens["renewed"] = servertest.InCookie + c.Value
	in.OK("GET", "/admin/info", "", "renewed")
}

// TestConfirmation_ReplacedTokenHasNoProof checks that the thief of a replaced token can't use the
// user's confirmation.
func TestConfirmation_ReplacedTokenHasNoProof(t *testing.T) {
	t.Parallel()
	in := withGoodBodies(t)
	in.Stale("admin")
	in.Tokens["stolen"] = in.Tokens["owner"]
	in.Reauth("owner")
	before := in.Dump()
	for _, name := range sensitive {
		rt := routeNamed(t, name)
		url, body := goodRequest(&rt)
		in.Call(rt.Method, url, body, "stolen").Brief(403, "reauth_required")
	}

	in.Call("POST", "/admin/reauth", `{"password":"`+servertest.OwnerPassword+`"}`, "stolen").Brief(409, "token_replaced")
	in.Unchanged(before)
	in.OK("GET", "/admin/info", "", "stolen") // what is under way goes on
	in.OK("PUT", "/admin/list/2/password", goodBodies()["PUT /admin/list/:id/password"].body,
		"owner")
}

// TestConfirmation_Concurrent: one of them replaces the token.
func TestConfirmation_Concurrent(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	replies := make(chan *servertest.Reply)
	for range 4 {
		go func() {
			replies <- in.Call("POST", "/admin/reauth",
				`{"password":"`+servertest.OwnerPassword+`"}`, "owner")
		}()
	}

	confirmed := 0
	for range 4 {
		if a := <-replies; a.Code == http.StatusOK {
			var out account.ReauthDone
			a.Data(&out)
			confirmed++
			in.Tokens["renewed"] = out.Token
		} else if a.Envelope().ErrorCode != "token_replaced" {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	}

	if confirmed != 1 {
		t.Errorf("%d have replaced it", confirmed)
	}

	in.OK("GET", "/system/backup", "", "renewed")
}

// TestStream_EndsWithToken checks that a stream ends once its token is no longer accepted.
func TestStream_EndsWithToken(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	url := in.Live() + "/system/event?types=dict.*"
	stolen := in.Listen(url, "owner")
	in.Reauth("owner")
	own := in.Listen(url, "owner")
	in.Create("/system/dict", `{"code":"a","name":"A"}`)
	stolen.Gets("dict.changed")
	in.EndFormerTokens()
	in.Create("/system/dict", `{"code":"b","name":"B"}`)
	if kind, _ := stolen.Next(); kind != "" {
		t.Errorf("event %s", kind)
	}
	own.Gets("dict.changed", "dict.changed")
}

func TestLogin_EndsBrowserSession(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Member("other", 0)
	for _, name := range []string{"admin", "other"} {
		in.Tokens["former"] = servertest.InCookie + in.SignIn(1)
		r := in.Request("POST", "/admin/login",
			fmt.Sprintf(`{"username":%q,"password":%q,"cookie":1}`, name, servertest.OwnerPassword), "former")
		r.Header.Set("Origin", "http://"+r.Host)
		if a := in.Handled(r); a.StatusCode != 200 {
			t.Fatalf("%d", a.StatusCode)
		}
		in.Call("GET", "/admin/info", "", "former").Brief(401)
		in.OK("GET", "/admin/info", "", "owner") // another browser
	}

	in.Tokens["former"] = servertest.InCookie + in.SignIn(1)
	r := in.Request("POST", "/admin/login", `{"username":"admin","password":"wrong","cookie":1}`,
		"former")
	r.Header.Set("Origin", "http://"+r.Host)
	in.Handled(r)
	in.OK("GET", "/admin/info", "", "former") // the sign-in has failed
}
