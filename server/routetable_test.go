package server

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
	"reeve/server/account"
	"reeve/server/openapi"
	"reeve/server/web"
	"reeve/store"
)

// Tests that cover every route of the table.

// urlOf fills in a route's path with IDs that do not exist.
func urlOf(rt *web.Route) string {
	segments := strings.Split(rt.Path, "/")
	for i, s := range segments {
		if strings.HasPrefix(s, ":") {
			segments[i] = "999999"
		}
	}
	return strings.Join(segments, "/")
}

// eachRoute runs a test for every route that meets a condition.
func eachRoute(t *testing.T, in *instance, when func(*web.Route) bool, test func(in *instance, rt *web.Route)) {
	t.Helper()
	ran := 0
	for _, rt := range routes() {
		if when == nil || when(&rt) {
			ran++
			t.Run(rt.Name(), func(t *testing.T) { test(in.in(t), &rt) })
		}
	}
	if ran == 0 {
		t.Error("no route is of this kind")
	}
}

func isPublic(rt *web.Route) bool     { return rt.Access == web.Public }
func isPrivate(rt *web.Route) bool    { return rt.Access != web.Public }
func needsKey(rt *web.Route) bool     { return !rt.Open() }
func takesBody(rt *web.Route) bool    { return rt.Input != nil && rt.Input.Body && conventional(rt) }
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
func everyone(t testing.TB) *instance {
	t.Helper()
	return withEveryone.clone(t)
}

var withEveryone = &fixture{prepare: func(in *instance) {
	in.showPages()
	in.appUser("customer")
}}

// showPages turns on the routes that a setting hides.
func (in *instance) showPages() {
	in.t.Helper()
	id := in.setting("app.pages")
	in.update(func(tx *store.Tx) error {
		_, err := store.Settings.Update(tx, id, func(s *store.Setting) error { s.Values = "1"; return nil })
		return err
	})
}

// wellFormed returns the token for a secret of 43 letters, with the correct checksum.
func wellFormed(secret string) string {
	sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(secret)))
	return "rv_" + secret + base64.RawURLEncoding.EncodeToString(sum)
}

func TestRoutes_RejectUnauthenticated(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.showPages()
	expired, idle, ended, disabled := in.clerk("expired"), in.clerk("idle"), in.clerk("ended"), in.clerk("disabled")
	in.update(func(tx *store.Tx) error {
		for user, edit := range map[store.ID]func(*store.Session){
			expired.ID: func(s *store.Session) { s.ExpiresAt = tx.Now() },
			idle.ID:    func(s *store.Session) { s.LastUsed = tx.Now() - 31*60e6 },
		} {
			ids, err := store.SessionByUser.IDs(tx, user)
			if err != nil {
				return err
			}
			for _, id := range ids {
				if _, err := store.Sessions.UpdateQuietly(tx, id, func(s *store.Session) error { edit(s); return nil }); err != nil {
					return err
				}
			}
		}
		_, err := store.Users.Update(tx, disabled.ID, func(u *store.User) error { u.Status = false; return nil })
		if err != nil {
			return err
		}
		ids, err := store.SessionByUser.IDs(tx, ended.ID)
		if err != nil {
			return err
		}
		return store.Sessions.Delete(tx, ids[0])
	})
	in.appUser("customer")
	good := in.tokens["owner"]
	for name, token := range map[string]string{
		"junk": "junk", "a token without its prefix": good[3:], "a token cut short": good[:len(good)-1],
		"a token with another letter": good[:10] + string(good[10]^1) + good[11:], "a token twice": good + good,
		"an unknown token": wellFormed(strings.Repeat("A", 43)),
	} {
		in.tokens[name] = token
	}
	codes := map[string]string{"expired": "session_expired", "idle": "session_expired"}
	eachRoute(t, in, isPrivate, func(in *instance, rt *web.Route) {
		for who := range in.tokens {
			if who == holder(rt) || rt.Access == web.AnyRealm && (who == "nobody" || who == "customer") {
				continue
			}
			a := in.call(rt.Method, urlOf(rt), "", who)
			code := codes[who]
			if code == "" || rt.Access == web.MetricsToken || !conventional(rt) && !rt.Page { // it has no sessions
				code = "unauthenticated"
			}
			challenge := "Bearer"
			if rt.ClientCredentials && who == "nobody" {
				challenge = `Basic realm="Reeve"`
			}
			if e := a.envelope(); a.Code != 401 || e.ErrorCode != code || e.ShowType != 2 || a.Header.Get("WWW-Authenticate") != challenge {
				in.t.Errorf("%s: %d %s", who, a.Code, a.Body)
			}
		}
		for _, header := range []string{"Basic YWRtaW46YWRtaW4=", "Bearer", good, "Token " + good} {
			if rt.Access == web.AnyRealm && strings.HasPrefix(header, "Basic ") {
				continue // not for this server
			}
			r := in.request(rt.Method, urlOf(rt), "", "nobody")
			r.Header.Set("Authorization", header)
			if a := in.send(r); a.Code != 401 || a.envelope().ErrorCode != "unauthenticated" {
				in.t.Errorf("%s: %d %s", header, a.Code, a.Body)
			}
		}
	})
}

// TestRoutes_RequireExactPermission covers sessions and, at the small size for a third of the
// routes, each other credential.
func TestRoutes_RequireExactPermission(t *testing.T) {
	t.Parallel()
	chosen := third(t)
	eachCredential(t, func(t *testing.T, c credential) {
		testPermissions(t, c, func() bool { return chosen() || c == bySessionToken })
	})
}

// clerkWith returns the name of a user who has exactly these permissions.
func (in *instance) clerkWith(name string, keys ...string) string {
	if in.tokens[name] == "" {
		in.clerk(name, keys...)
	}
	return name
}

func testPermissions(t *testing.T, c credential, chosen func() bool) {
	in := start(t)
	in.credential = c
	in.clerk("without")
	keys := slices.Sorted(maps.Keys(Keys()))
	chooses := func(rt *web.Route) bool { return needsKey(rt) && chosen() }
	eachRoute(t, in, chooses, func(here *instance, rt *web.Route) {
		access := rt.Access
		if c.isKey() {
			access = cmp.Or(rt.KeyAccess, access)
		}
		with := in.clerkWith("with "+access, access)
		in.clerkWith("with all but "+access, slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return key == access })...)
		here = in.in(here.t)
		if c.refuses(rt) {
			here.call(rt.Method, urlOf(rt), "", with).brief(403, `"errorCode":"key_not_allowed"`)
			return
		}
		for _, who := range []string{"without", "with all but " + access} {
			a := here.call(rt.Method, urlOf(rt), "", who)
			if e := a.envelope(); a.Code != 403 || e.ErrorCode != "denied" || e.ShowType != 4 || !strings.Contains(e.Msg, "permission "+access+" ") {
				here.t.Errorf("%s: %d %s", who, a.Code, a.Body)
			}
		}
		if access == store.UnattendedBackup { // TestAPIKey_DownloadsBackup
			return
		}
		if a := here.call(rt.Method, urlOf(rt), "", with); a.Code == 401 || a.Code == 403 {
			here.t.Errorf("with the permission: %d %s", a.Code, a.Body)
		}
	})
}

func TestRoutes_SignedInAcceptAnyUser(t *testing.T) {
	t.Parallel()
	in := start(t)
	eachRoute(t, in, func(rt *web.Route) bool { return rt.Access == web.SignedIn || rt.Access == web.AppOnly }, func(in *instance, rt *web.Route) {
		who := "of " + strings.ToLower(rt.Method+rt.Path)
		if rt.Access == web.AppOnly {
			in.appUser(who)
		} else {
			in.clerk(who)
		}
		if a := in.call(rt.Method, urlOf(rt), "", who); a.Code == 401 || a.Code == 403 {
			in.t.Errorf("%d %s", a.Code, a.Body)
		}
	})
}

func TestRoutes_PublicIgnoreInvalidToken(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.tokens["junk"] = "junk"
	var names []string
	eachRoute(t, in, isPublic, func(in *instance, rt *web.Route) {
		names = append(names, rt.Name())
		for _, who := range []string{"nobody", "junk"} {
			if a := in.call(rt.Method, urlOf(rt), "", who); (a.Code == 401 || a.Code == 403) && a.envelope().ErrorCode != "unknown_origin" && rt.Path != "/api/challenge" { // it is off
				in.t.Errorf("%s: %d %s", who, a.Code, a.Body)
			}
		}
	})
	slices.Sort(names)
	if want := []string{"GET /.reeve/callback", "GET /admin/login/passkey", "GET /api/challenge", "GET /api/dict", "GET /api/field", "GET /api/home", "GET /app/forgot", "GET /app/register", "GET /app/sign-in", "GET /app/sign-in/code", "GET /auth/verify", "GET /file/signed/:id", "GET /health", "GET /link/:token", "GET /media/:key", "GET /sdk", "POST /admin/login", "POST /admin/login/passkey", "POST /admin/login/totp", "POST /admin/password/forgot", "POST /admin/password/link", "POST /admin/verify",
		"POST /api/login", "POST /api/login/totp", "POST /api/password/forgot", "POST /api/password/link", "POST /api/register", "POST /api/verify", "POST /app/forgot", "POST /app/register", "POST /app/sign-in", "POST /app/sign-in/code", "POST /link/:token"}; !slices.Equal(names, want) {
		t.Errorf("public are %q, want %q", names, want)
	}
}

func TestRoutes_UsableBeforePasswordChange(t *testing.T) {
	t.Parallel()
	in := everyone(t)
	in.update(func(tx *store.Tx) error {
		if _, err := store.AppUsers.Update(tx, 1, func(u *store.AppUser) error { u.MustChangePassword = true; return nil }); err != nil {
			return err
		}
		_, err := store.Users.Update(tx, auth.FirstUser, func(u *store.User) error { u.MustChangePassword = true; return nil })
		return err
	})
	open := []string{"GET /admin/info", "PUT /admin/password", "POST /admin/logout", "GET /api/user", "PUT /api/user/password", "POST /api/logout", "GET /app/account/password", "POST /app/account/password", "POST /app/sign-out", "GET /metrics"}
	eachRoute(t, in, isPrivate, func(in *instance, rt *web.Route) {
		in.tokens["owner"] = in.signIn(auth.FirstUser)
		in.tokens["customer"] = in.appSignIn(1)
		a := in.call(rt.Method, urlOf(rt), "", holder(rt))
		if refused := a.Code == 403; refused == slices.Contains(open, rt.Name()) {
			in.t.Errorf("%d %s", a.Code, a.Body)
		}
		if a.Code == 403 && conventional(rt) {
			a.brief(403, `"errorCode":"password_change_required"`, `"showType":4`)
		}
	})
}

func TestRoutes_RejectUnknownParameters(t *testing.T) {
	t.Parallel()
	in := everyone(t)
	strict := func(rt *web.Route) bool { return conventional(rt) && (rt.Input == nil || !rt.Input.AnyQuery) }
	eachRoute(t, in, strict, func(in *instance, rt *web.Route) {
		for query, field := range map[string]string{
			"nonsense=1": "nonsense", "nonsense=": "nonsense", "nonsense": "nonsense", "Page=1": "Page", "token=abc": "token",
			"nonsense[]=1&nonsense[]=2": "nonsense[]", "id=1": "id",
		} {
			a := in.call(rt.Method, urlOf(rt)+"?"+query, "", holder(rt))
			if a.Code != 400 || a.envelope().Errors[field] == "" {
				in.t.Errorf("%s: %d %s", query, a.Code, a.Body)
			}
		}
		in.call(rt.Method, urlOf(rt)+"?a=%zz", "", holder(rt)).brief(400)
		in.call(rt.Method, urlOf(rt)+"?a=1;b=2", "", holder(rt)).brief(400)
	})
}

func TestRoutes_RejectUnknownFields(t *testing.T) {
	t.Parallel()
	in := everyone(t)
	before := in.dump()
	eachRoute(t, in, takesBody, func(in *instance, rt *web.Route) {
		a := in.call(rt.Method, urlOf(rt), `{"nonsense":1,"hash":"x","__proto__":{}}`, holder(rt))
		for _, field := range []string{"nonsense", "hash", "__proto__"} {
			if a.Code != 400 || a.envelope().Errors[field] == "" {
				in.t.Errorf("%s is not named: %d %s", field, a.Code, a.Body)
			}
		}
		for _, f := range rt.Input.Fields {
			if f.From != "json" {
				continue
			}
			upper := strings.ToUpper(f.Name[:1]) + f.Name[1:]
			a := in.call(rt.Method, urlOf(rt), fmt.Sprintf(`{%q:"x"}`, upper), holder(rt))
			if a.Code != 400 || !strings.Contains(a.envelope().Errors[upper], f.Name) {
				in.t.Errorf("%s: %d %s", upper, a.Code, a.Body)
			}
		}
	})
	in.unchanged(before)
}

func TestRoutes_WithoutFieldsRejectBody(t *testing.T) {
	t.Parallel()
	in := everyone(t)
	before := in.dump()
	eachRoute(t, in, refusesBody, func(in *instance, rt *web.Route) {
		a := in.call(rt.Method, urlOf(rt), `{"page":1}`, holder(rt))
		if e := a.envelope(); a.Code != 400 || rt.Method != "GET" && e.Errors["page"] == "" {
			in.t.Errorf("%d %s", a.Code, a.Body)
		}
		if rt.Method == "GET" {
			in.call(rt.Method, urlOf(rt), `{}`, holder(rt)).brief(400, "must not have a body")
		}
	})
	in.unchanged(before)
}

func TestRoutes_OtherMethodsReturnAllow(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.showPages()
	takes := map[string][]string{}
	for _, rt := range routes() {
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
			a := in.call(method, urlOf(&web.Route{Path: path}), "", "owner")
			if method == "HEAD" && in.call("GET", urlOf(&web.Route{Path: path}), "", "owner").Code != 405 {
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
			if a.Code != 405 || a.envelope().ErrorCode != "method_not_allowed" {
				t.Errorf("%s %s: %d %s", method, path, a.Code, a.Body)
			}
		}
	}
}

func TestRoutes_UnknownPaths(t *testing.T) {
	t.Parallel()
	in := start(t)
	for _, url := range []string{"/", "/admin", "/admin/info/", "/Admin/info", "//admin/info", "/admin/../admin/info", "/system/setting/1/2", "/%61dmin/rulex", "/favicon.ico"} {
		for _, who := range []string{"nobody", "owner"} {
			in.call("GET", url, "", who).brief(404, `"errorCode":"not_found"`, `"showType":2`)
		}
	}
}

// TestRoutes_BodyLimit checks that a route accepts exactly the documented number of bytes. At the
// small size, a third of the routes are also sent bodies in chunks.
func TestRoutes_BodyLimit(t *testing.T) {
	t.Parallel()
	in := everyone(t)
	small := map[string]bool{
		"POST /admin/login": true, "PUT /admin/password": true, "PUT /admin/list/:id/password": true, "PUT /user/list/:id/password": true,
		"POST /api/login": true, "PUT /api/user/password": true, "DELETE /api/user": true,
		"POST /admin/password/forgot": true, "POST /admin/password/link": true, "POST /admin/verify": true, "POST /admin/email": true,
		"POST /api/password/forgot": true, "POST /api/password/link": true, "POST /api/verify": true, "POST /api/user/email": true,
		"POST /admin/login/totp": true, "PUT /admin/account/totp": true,
		"POST /api/login/totp": true, "POST /api/user/totp": true, "PUT /api/user/totp": true, "DELETE /api/user/totp": true, "POST /api/user/recovery": true,
	}
	medium := map[string]int64{"POST /admin/login/passkey": account.MaxAssertion, "POST /admin/account/passkey": account.MaxCredential, "POST /admin/reauth": account.MaxAssertion}
	chosen := third(t)
	eachRoute(t, in, func(rt *web.Route) bool { return rt.Method != "GET" && !rt.Input.Upload && conventional(rt) }, func(in *instance, rt *web.Route) {
		want := int64(1 << 20)
		if small[rt.Name()] || !rt.Input.Body {
			want = 4 << 10
		} else if rt.Name() == "POST /api/register" {
			want = web.MaxForm
		} else if bytes := medium[rt.Name()]; bytes != 0 {
			want = bytes
		}
		if _, op := findOperation(rt.Method, urlOf(rt)); rt.Input.Body {
			if got := op["requestBody"].(openapi.Object)["x-max-bytes"]; fmt.Sprint(got) != fmt.Sprint(want) {
				in.t.Errorf("the document says %v, want %d", got, want)
			}
		}
		ways := []bool{false, true}
		if !chosen() {
			ways = ways[:1]
		}
		for extra, fits := range map[int64]bool{0: true, 1: false} {
			for _, chunked := range ways {
				r := in.request(rt.Method, urlOf(rt), `{"no":1}`+strings.Repeat(" ", int(want+extra)-8), holder(rt))
				if chunked {
					r.ContentLength = -1
				}
				if a := in.send(r); (a.Code != 413) != fits || fits && a.Code != 400 {
					in.t.Errorf("a body of %d bytes, chunked %t: %d %s", want+extra, chunked, a.Code, a.Body)
				}
			}
		}
	})
}
