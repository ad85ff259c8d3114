package account_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"reeve/auth"
	"reeve/server/servertest"
	"reeve/server/web"
)

// foreignHeaders are values of Authorization that a proxy in front asks browsers for.
var foreignHeaders = []string{"", " ", "Basic YWRtaW46YWRtaW4=", "Negotiate YIIJ",
	`Digest username="admin"`, "basic"}

// TestForeignAuthorization_AnswersAsWithoutIt covers every route, with a session in a cookie and
// without.
func TestForeignAuthorization_AnswersAsWithoutIt(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.ShowPages()
	clerk, customer := in.Clerk("clerk"), in.AppUser("customer")
	servertest.EachRoute(t, in, nil, func(in *servertest.Instance, rt *web.Route) {
		ask := func(cookie bool, header ...string) string {
			r := in.Request(rt.Method, servertest.URLOf(rt), "", "nobody")
			if cookie { // a new session, since the route may end it
				token := ""
				if rt.Access == web.AppOnly {
					token = in.AppSignIn(customer.ID)
				} else {
					token = in.SignIn(clerk.ID)
				}
				servertest.Authorize(r, servertest.InCookie+token)
			}
			if len(header) > 0 {
				r.Header["Authorization"] = header
			}

			a := in.Handled(r)
			body, err := io.ReadAll(a.Body)
			servertest.Must(in.T, err)
			var failed struct{ ErrorCode string }
			json.Unmarshal(body, &failed) // a page and a file are no JSON, and the status says enough about them
			return a.Status + " " + a.Header.Get("WWW-Authenticate") + " " + failed.ErrorCode
		}
		for _, cookie := range []bool{false, true} {
			want := ask(cookie)
			for _, header := range foreignHeaders {
				if rt.ClientCredentials && strings.HasPrefix(strings.ToLower(header), "basic ") {
					continue // see TestIntrospection_ClientSecret
				}
				if got := ask(cookie, header); got != want {
					in.T.Errorf("cookie %v, %q: %s, want %s", cookie, header, got, want)
				}
			}
		}
	})
}

// TestForeignAuthorization_DoesNotHideTheToken checks that a second header has the token, whatever
// the first one has.
func TestForeignAuthorization_DoesNotHideTheToken(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for _, headers := range [][]string{{"Basic eDp5", "Bearer " + in.Tokens["owner"]},
		{"", "bearer  " + in.Tokens["owner"] + " "}} {
		r := in.Request("GET", "/admin/info", "", "nobody")
		r.Header["Authorization"] = headers
		if a := in.Send(r); a.Code != 200 {
			t.Errorf("%q: %d %s", headers, a.Code, a.Body)
		}
	}
}

// TestForeignAuthorization_CookieNeedsOrigin: the header of a proxy does not make a request of
// another site harmless.
func TestForeignAuthorization_CookieNeedsOrigin(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	r := pageRequest("PUT", "/admin/info", `{"nickname":"x"}`, "https://evil.example", &http.Cookie{
		Name:  servertest.SessionCookie(false, false),
		Value: in.SignIn(auth.FirstUser),
	})
	r.Header.Set("Authorization", "Basic eDp5")
	if answer := in.Handled(r); answer.StatusCode != 403 {
		t.Errorf("%d", answer.StatusCode)
	}
}
