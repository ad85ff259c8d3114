package server_test

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"testing"

	"reeve/auth"
	"reeve/server"
	"reeve/server/account"
	"reeve/server/openapi"
	"reeve/server/servertest"
	"reeve/server/setup"
	"reeve/server/web"
	"reeve/store"
)

// Tests that cover every route of the table.

func isPublic(rt *web.Route) bool  { return rt.Access == web.Public }
func isPrivate(rt *web.Route) bool { return rt.Access != web.Public }

func takesBody(rt *web.Route) bool {
	return rt.Input != nil && rt.Input.Body && conventional(rt)
}
func conventional(rt *web.Route) bool { return rt.Protocol == nil } // others follow their protocol
func refusesBody(rt *web.Route) bool {
	return rt.Input == nil || !rt.Input.Body && !rt.Input.Upload && rt.Input.Protocol == nil
}

// holder returns a caller who may use a route, in an instance made by everyone.
func holder(rt *web.Route) string {
	switch rt.Access {
	case web.AppOnly:
		return "customer"
	case web.MetricsToken:
		return "metrics"
	}
	return "owner"
}

// everyone returns an instance with every route, and a caller for each.
func everyone(t testing.TB) *servertest.Instance {
	t.Helper()
	return withEveryone.Clone(t)
}

var withEveryone = &servertest.Fixture{Prepare: func(in *servertest.Instance) {
	in.ShowPages()
	in.AppUser("customer")
}}

// wellFormed returns the token for a secret of 43 letters, with the correct checksum.
func wellFormed(secret string) string {
	sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(secret)))
	return "rv_" + secret + base64.RawURLEncoding.EncodeToString(sum)
}

func TestRoutes_RejectUnauthenticated(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.ShowPages()
	expired, idle, ended, disabled := in.Clerk("expired"), in.Clerk("idle"), in.Clerk("ended"), in.Clerk("disabled")
	in.Update(func(tx *store.Tx) error {
		for user, edit := range map[store.ID]func(*store.Session){
			expired.ID: func(s *store.Session) { s.ExpiresAt = tx.Now() },
			idle.ID:    func(s *store.Session) { s.LastUsed = tx.Now() - 31*60e6 },
		} {
			ids, err := store.SessionByUser.IDs(tx, user)
			if err != nil {
				return err
			}
			for _, id := range ids {
				if _, err := store.Sessions.UpdateQuietly(tx, id, func(s *store.Session) error {
					edit(s)
					return nil
				}); err != nil {
					return err
				}
			}
		}

		_, err := store.Users.Update(tx, disabled.ID, func(u *store.User) error {
			u.Status = false
			return nil
		})
		if err != nil {
			return err
		}

		ids, err := store.SessionByUser.IDs(tx, ended.ID)
		if err != nil {
			return err
		}

		return store.Sessions.Delete(tx, ids[0])
	})
	in.AppUser("customer")
	good := in.Tokens["owner"]
	for name, token := range map[string]string{
		"junk": "junk", "a token without its prefix": good[3:],
		"a token cut short":           good[:len(good)-1],
		"a token with another letter": good[:10] + string(good[10]^1) + good[11:],
		"a token twice":               good + good,
		"an unknown token":            wellFormed(strings.Repeat("A", 43)),
	} {
		in.Tokens[name] = token
	}

	codes := map[string]string{"expired": "session_expired", "idle": "session_expired"}
	servertest.EachRoute(t, in, isPrivate, func(in *servertest.Instance, rt *web.Route) {
		for who := range in.Tokens {
			if who == holder(rt) ||
				rt.Access == web.AnyRealm && (who == "nobody" || who == "customer") {
				continue
			}

			a := in.Call(rt.Method, servertest.URLOf(rt), "", who)
			code := codes[who]
			if code == "" || rt.Access == web.MetricsToken || !conventional(rt) && !rt.Page { // it has no sessions
				code = "unauthenticated"
			}

			challenge := "Bearer"
			if rt.ClientCredentials && who == "nobody" {
				challenge = `Basic realm="Reeve"`
			}
			if e := a.Envelope(); a.Code != 401 || e.ErrorCode != code || e.ShowType != 2 ||
				a.Header.Get("WWW-Authenticate") != challenge {
				in.T.Errorf("%s: %d %s", who, a.Code, a.Body)
			}
		}
		for _, header := range []string{"Basic YWRtaW46YWRtaW4=", "Bearer", good, "Token " + good} {
			if rt.Access == web.AnyRealm && strings.HasPrefix(header, "Basic ") {
				continue // not for this server
			}
			r := in.Request(rt.Method, servertest.URLOf(rt), "", "nobody")
			r.Header.Set("Authorization", header)
			if a := in.Send(r); a.Code != 401 || a.Envelope().ErrorCode != "unauthenticated" {
				in.T.Errorf("%s: %d %s", header, a.Code, a.Body)
			}
		}
	})
}

// TestRoutes_RequireExactPermission covers sessions and, at the small size for a third of the
// routes, each other credential.
func TestRoutes_RequireExactPermission(t *testing.T) {
	t.Parallel()
	chosen := third(t)
	eachCredential(t, func(t *testing.T, c servertest.Credential) {
		testPermissions(t, c, func() bool { return chosen() || c == servertest.BySessionToken })
	})
}

// clerkWith returns the name of a user who has exactly these permissions.
func clerkWith(in *servertest.Instance, name string, keys ...string) string {
	if in.Tokens[name] == "" {
		in.Clerk(name, keys...)
	}
	return name
}

func testPermissions(t *testing.T, c servertest.Credential, chosen func() bool) {
	in := servertest.Start(t)
	in.Credential = c
	in.Clerk("without")
	keys := slices.Sorted(maps.Keys(server.Keys()))
	chooses := func(rt *web.Route) bool { return servertest.NeedsKey(rt) && chosen() }
	servertest.EachRoute(t, in, chooses, func(here *servertest.Instance, rt *web.Route) {
		access := rt.Access
		if c.IsKey() {
			access = cmp.Or(rt.KeyAccess, access)
		}

		with := clerkWith(in, "with "+access, access)
		clerkWith(in, "with all but "+access,
			slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
				return key == access
			})...)
		here = in.In(here.T)
		if c.Refuses(rt) {
			here.Call(rt.Method, servertest.URLOf(rt), "", with).Brief(403,
				`"errorCode":"key_not_allowed"`)
			return
		}

		for _, who := range []string{"without", "with all but " + access} {
			a := here.Call(rt.Method, servertest.URLOf(rt), "", who)
			if e := a.Envelope(); a.Code != 403 || e.ErrorCode != "denied" || e.ShowType != 4 ||
				!strings.Contains(e.Msg, "permission "+access+" ") {
				here.T.Errorf("%s: %d %s", who, a.Code, a.Body)
			}
		}

		if access == store.UnattendedBackup { // TestAPIKey_DownloadsBackup
			return
		}
		if a := here.Call(rt.Method, servertest.URLOf(rt), "", with); a.Code == 401 ||
			a.Code == 403 && a.Envelope().ErrorCode != "owner_required" {
			here.T.Errorf("with the permission: %d %s", a.Code, a.Body)
		}
	})
}

func TestRoutes_SignedInAcceptAnyUser(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.OK("PUT", "/system/setting", `{"values":{"app.second_factor":1}}`, "owner")
	servertest.EachRoute(t, in, func(rt *web.Route) bool {
		return rt.Access == web.SignedIn || rt.Access == web.AppOnly
	}, func(in *servertest.Instance, rt *web.Route) {
		who := "of " + strings.ToLower(rt.Method+rt.Path)
		if rt.Access == web.AppOnly {
			in.AppUser(who)
		} else {
			in.Clerk(who)
		}
		if a := in.Call(rt.Method, servertest.URLOf(rt), "", who); a.Code == 401 || a.Code == 403 {
			in.T.Errorf("%d %s", a.Code, a.Body)
		}
	})
}

func TestRoutes_PublicIgnoreInvalidToken(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Tokens["junk"] = "junk"
	var names []string
	servertest.EachRoute(t, in, isPublic, func(in *servertest.Instance, rt *web.Route) {
		names = append(names, rt.Name())
		for _, who := range []string{"nobody", "junk"} {
			if a := in.Call(rt.Method, servertest.URLOf(rt), "", who); (a.Code == 401 || a.Code == 403) && a.Envelope().ErrorCode != "unknown_origin" && rt.Path != "/api/challenge" { // it is off
				in.T.Errorf("%s: %d %s", who, a.Code, a.Body)
			}
		}
	})
	slices.Sort(names)
	if want := []string{"GET /.reeve/callback", "GET /.reeve/sign-out", "GET /.well-known/authzen-configuration", "GET /admin/login/passkey", "GET /api/challenge",
		"GET /api/dict", "GET /api/field", "GET /api/home", "GET /api/login/passkey", "GET /app/forgot", "GET /app/register",
		"GET /app/sign-in", "GET /app/sign-in/code", "GET /app/sign-in/email", "GET /app/sign-in/email/code", "GET /app/sign-in/passkey", "GET /app/sign-in/provider", "GET /app/sign-out", "GET /auth/provider",
		"GET /auth/provider/:name/callback", "GET /auth/provider/:name/sign-in", "GET /auth/provider/:name/start", "GET /auth/verify", "GET /file/signed/:id",
		"GET /health", "GET /health/live", "GET /health/ready", "GET /link/:token",
		"GET /media/:key", "GET /sdk", "GET /setup.schema.json", "POST /.reeve/sign-out", "POST /admin/login", "POST /admin/login/passkey",
		"POST /admin/login/provider", "POST /admin/login/totp", "POST /admin/password/forgot", "POST /admin/password/link",
		"POST /admin/verify",
		"POST /api/login", "POST /api/login/code", "POST /api/login/email",
		"POST /api/login/email-code", "POST /api/login/passkey", "POST /api/login/totp", "POST /api/password/forgot",
		"POST /api/password/link", "POST /api/register", "POST /api/verify", "POST /app/forgot",
		"POST /app/register", "POST /app/sign-in", "POST /app/sign-in/code", "POST /app/sign-in/email", "POST /app/sign-in/email/code", "POST /app/sign-in/passkey", "POST /auth/provider/:name/logout", "POST /auth/provider/:name/sign-in", "POST /link/:token"}; !slices.Equal(names, want) {
		t.Errorf("public are %q, want %q", names, want)
	}
}

func TestRoutes_UsableBeforePasswordChange(t *testing.T) {
	t.Parallel()
	in := everyone(t)
	in.Update(func(tx *store.Tx) error {
		if _, err := store.AppUsers.Update(tx, 1, func(u *store.AppUser) error {
			u.MustChangePassword = true
			return nil
		}); err != nil {
			return err
		}
		_, err := store.Users.Update(tx, auth.FirstUser, func(u *store.User) error {
			u.MustChangePassword = true
			return nil
		})
		return err
	})
	open := []string{"GET /admin/info", "PUT /admin/password", "POST /admin/logout",
		"GET /api/user", "PUT /api/user/password", "POST /api/logout", "GET /app/account/password",
		"POST /app/account/password", "POST /app/sign-out", "GET /metrics"}
	servertest.EachRoute(t, in, isPrivate, func(in *servertest.Instance, rt *web.Route) {
		in.Tokens["owner"] = in.SignIn(auth.FirstUser)
		in.Tokens["customer"] = in.AppSignIn(1)
		a := in.Call(rt.Method, servertest.URLOf(rt), "", holder(rt))
		if refused := a.Code == 403; refused == slices.Contains(open, rt.Name()) {
			in.T.Errorf("%d %s", a.Code, a.Body)
		}
		if a.Code == 403 && conventional(rt) {
			a.Brief(403, `"errorCode":"password_change_required"`, `"showType":4`)
		}
	})
}

func TestRoutes_RejectUnknownParameters(t *testing.T) {
	t.Parallel()
	in := everyone(t)
	strict := func(rt *web.Route) bool {
		return conventional(rt) && (rt.Input == nil || !rt.Input.AnyQuery)
	}
	servertest.EachRoute(t, in, strict, func(in *servertest.Instance, rt *web.Route) {
		for query, field := range map[string]string{
			"nonsense=1": "nonsense", "nonsense=": "nonsense", "nonsense": "nonsense",
			"Page=1": "Page", "token=abc": "token",
			"nonsense[]=1&nonsense[]=2": "nonsense[]", "id=1": "id",
		} {
			a := in.Call(rt.Method, servertest.URLOf(rt)+"?"+query, "", holder(rt))
			if a.Code != 400 || a.Envelope().Errors[field] == "" {
				in.T.Errorf("%s: %d %s", query, a.Code, a.Body)
			}
		}
		in.Call(rt.Method, servertest.URLOf(rt)+"?a=%zz", "", holder(rt)).Brief(400)
		in.Call(rt.Method, servertest.URLOf(rt)+"?a=1;b=2", "", holder(rt)).Brief(400)
	})
}

func TestRoutes_RejectUnknownFields(t *testing.T) {
	t.Parallel()
	in := everyone(t)
	before := in.Dump()
	servertest.EachRoute(t, in, takesBody, func(in *servertest.Instance, rt *web.Route) {
		a := in.Call(rt.Method, servertest.URLOf(rt), `{"nonsense":1,"hash":"x","__proto__":{}}`,
			holder(rt))
		for _, field := range []string{"nonsense", "hash", "__proto__"} {
			if a.Code != 400 || a.Envelope().Errors[field] == "" {
				in.T.Errorf("%s is not named: %d %s", field, a.Code, a.Body)
			}
		}
		for _, f := range rt.Input.Fields {
			if f.From != "json" {
				continue
			}
			upper := strings.ToUpper(f.Name[:1]) + f.Name[1:]
			a := in.Call(rt.Method, servertest.URLOf(rt), fmt.Sprintf(`{%q:"x"}`, upper),
				holder(rt))
			if a.Code != 400 || !strings.Contains(a.Envelope().Errors[upper], f.Name) {
				in.T.Errorf("%s: %d %s", upper, a.Code, a.Body)
			}
		}
	})
	in.Unchanged(before)
}

func TestRoutes_WithoutFieldsRejectBody(t *testing.T) {
	t.Parallel()
	in := everyone(t)
	before := in.Dump()
	servertest.EachRoute(t, in, refusesBody, func(in *servertest.Instance, rt *web.Route) {
		a := in.Call(rt.Method, servertest.URLOf(rt), `{"page":1}`, holder(rt))
		if e := a.Envelope(); a.Code != 400 || rt.Method != "GET" && e.Errors["page"] == "" {
			in.T.Errorf("%d %s", a.Code, a.Body)
		}
		if rt.Method == "GET" {
			in.Call(rt.Method, servertest.URLOf(rt), `{}`, holder(rt)).Brief(400,
				"must not have a body")
		}
	})
	in.Unchanged(before)
}

func TestRoutes_OtherMethodsReturnAllow(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.ShowPages()
	takes := map[string][]string{}
	for _, rt := range server.Routes() {
		takes[rt.Path] = append(takes[rt.Path], rt.Method)
		if rt.Method == "GET" {
			takes[rt.Path] = append(takes[rt.Path], "HEAD")
		}
	}

	for path, methods := range takes {
		for _, method := range []string{"PATCH", "OPTIONS", "HEAD", "TRACE", "BREW"} {
			if slices.Contains(methods, method) {
				continue
			}

			a := in.Call(method, servertest.URLOf(&web.Route{Path: path}), "", "owner")
			if method == "HEAD" &&
				in.Call("GET", servertest.URLOf(&web.Route{Path: path}), "", "owner").Code != 405 {
				continue // a parameter of another path fits, and so it does for GET
			}

			got := strings.Split(a.Header.Get("Allow"), ", ")
			for _, m := range methods {
				if !slices.Contains(got, m) {
					t.Errorf("%s %s: Allow %q does not name %s", method, path, got, m)
				}
			}

			if slices.Contains(got, method) {
				t.Errorf("%s %s: Allow %q names what is refused", method, path, got)
			}
			if a.Code != 405 || a.Envelope().ErrorCode != "method_not_allowed" {
				t.Errorf("%s %s: %d %s", method, path, a.Code, a.Body)
			}
		}
	}
}

func TestRoutes_UnknownPaths(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for _, url := range []string{"/", "/admin", "/admin/info/", "/Admin/info", "//admin/info",
		"/admin/../admin/info", "/system/setting/1/2", "/%61dmin/rulex", "/favicon.ico"} {
		for _, who := range []string{"nobody", "owner"} {
			in.Call("GET", url, "", who).Brief(404, `"errorCode":"not_found"`, `"showType":2`)
		}
	}
}

// TestRoutes_BodyLimit checks that a route accepts exactly the documented number of bytes. At the
// small size, a third of the routes are also sent bodies in chunks.
func TestRoutes_BodyLimit(t *testing.T) {
	t.Parallel()
	in := everyone(t)
	small := map[string]bool{
		"POST /admin/login": true, "PUT /admin/password": true,
		"PUT /admin/list/:id/password": true, "PUT /user/list/:id/password": true,
		"POST /api/login": true, "PUT /api/user/password": true, "DELETE /api/user": true,
		"POST /admin/password/forgot": true, "POST /admin/password/link": true,
		"POST /admin/verify": true, "POST /admin/email": true,
		"POST /api/password/forgot": true, "POST /api/password/link": true,
		"POST /api/verify": true, "POST /api/user/email": true,
		"POST /admin/login/totp": true, "PUT /admin/account/totp": true,
		"POST /api/login/code": true, "POST /api/login/email": true, "POST /api/login/email-code": true,
		"POST /api/login/totp": true, "POST /api/user/totp": true, "PUT /api/user/totp": true,
		"DELETE /api/user/totp": true, "POST /api/user/recovery": true,
		"POST /auth/login": true, "POST /auth/login/totp": true,
		"POST /auth/login/email": true, "POST /auth/login/email-code": true,
		"DELETE /api/user/passkey": true,
	}

	medium := map[string]int64{
		"POST /admin/login/passkey":   account.MaxAssertion,
		"POST /admin/account/passkey": account.MaxCredential,
		"POST /api/login/passkey":     account.MaxAssertion,
		"POST /api/user/passkey":      account.MaxCredential,
		"POST /admin/reauth":          account.MaxAssertion,
		"POST /system/setup/plan":     setup.MaxBody,
		"POST /system/setup/apply":    setup.MaxBody,
	}

	chosen := third(t)
	servertest.EachRoute(t, in, func(rt *web.Route) bool {
		return rt.Method != "GET" && !rt.Input.Upload && conventional(rt)
	}, func(in *servertest.Instance, rt *web.Route) {
		want := int64(1 << 20)
		if small[rt.Name()] || !rt.Input.Body {
			want = 4 << 10
		} else if rt.Name() == "POST /api/register" {
			want = web.MaxForm
		} else if bytes := medium[rt.Name()]; bytes != 0 {
			want = bytes
		}
		if _, op := servertest.FindOperation(rt.Method, servertest.URLOf(rt)); rt.Input.Body {
			if got := op["requestBody"].(openapi.Object)["x-max-bytes"]; fmt.Sprint(got) != fmt.Sprint(want) {
				in.T.Errorf("the document says %v, want %d", got, want)
			}
		}

		ways := []bool{false, true}
		if !chosen() {
			ways = ways[:1]
		}

		for extra, fits := range map[int64]bool{0: true, 1: false} {
			for _, chunked := range ways {
				r := in.Request(rt.Method, servertest.URLOf(rt),
					`{"no":1}`+strings.Repeat(" ", int(want+extra)-8), holder(rt))
				if chunked {
					r.ContentLength = -1
				}
				if a := in.Send(r); (a.Code != 413) != fits || fits && a.Code != 400 {
					in.T.Errorf("a body of %d bytes, chunked %t: %d %s", want+extra, chunked,
						a.Code, a.Body)
				}
			}
		}
	})
}
