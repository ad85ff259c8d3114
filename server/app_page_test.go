package server

import (
	"bytes"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reeve/server/pages"
	"reeve/server/web"
	"reeve/store"
)

// guestBrowser is a browser at the pages for app users, without scripts.
type guestBrowser struct {
	in       *instance
	cookies  map[string]string
	language string
}

func (in *instance) guestBrowser() *guestBrowser {
	return &guestBrowser{in: in, cookies: map[string]string{}, language: "en"}
}

// hosted turns the pages on, with other settings.
func (in *instance) hosted(settings ...string) {
	in.t.Helper()
	in.ok("PUT", "/system/setting", `{"values":{`+strings.Join(append(settings, `"app.pages":1`), ",")+`}}`, "owner")
}

func (v *guestBrowser) do(r *http.Request) *reply {
	v.in.t.Helper()
	r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	r.Header.Set("Accept-Language", v.language)
	for name, value := range v.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	a := v.in.send(r)
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode && c.SameSite != http.SameSiteStrictMode {
			v.in.t.Errorf("%s: cookie %s", a.sent, c)
		}
		if c.MaxAge < 0 {
			delete(v.cookies, c.Name)
		} else {
			v.cookies[c.Name] = c.Value
		}
	}
	return a
}

func (v *guestBrowser) get(path string) *reply {
	v.in.t.Helper()
	return v.do(v.in.request("GET", path, "", "nobody"))
}

// form builds the request with which a browser sends a form, from fields and their values.
func (v *guestBrowser) form(path string, fields ...string) *http.Request {
	v.in.t.Helper()
	values := url.Values{"confirm": {"1"}}
	for i := 0; i < len(fields); i += 2 {
		if !strings.HasSuffix(fields[i], "[]") {
			values.Del(fields[i])
		}
		values.Add(fields[i], fields[i+1])
	}
	r := v.in.request("POST", path, values.Encode(), "nobody")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://"+r.Host)
	return r
}

func (v *guestBrowser) post(path string, fields ...string) *reply {
	v.in.t.Helper()
	return v.do(v.form(path, fields...))
}

// leads fails unless the response leads to a path.
func (a *reply) leads(to string) {
	a.t.Helper()
	if got := a.Header.Get("Location"); a.Code != http.StatusSeeOther || got != to {
		a.t.Errorf("%s: %d to %q, want %q: %s", a.sent, a.Code, got, to, a.Body)
	}
}

// SignedIn returns a guestBrowser who has signed in as a new app user.
func (in *instance) signedIn(name string) *guestBrowser {
	in.t.Helper()
	in.appUser(name)
	v := in.guestBrowser()
	v.post(pages.SignInPath, "username", name, "password", ownerPassword).leads(pages.AccountPath)
	return v
}

func TestHostedPages_OffByDefault(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.appUser("ann")
	in.openRegistration()
	v := in.guestBrowser()
	v.cookies[sessionCookie(true, false)] = in.tokens["ann"]
	answer := func(a *reply) string {
		a.brief(404)
		return strings.ReplaceAll(a.Body, a.Header.Get("X-Request-Id"), "ID") + a.Header.Get("Allow") + a.Header.Get("Content-Type") + a.Header.Get("Set-Cookie")
	}
	unknown := answer(v.get("/app/nothing"))
	for _, rt := range pages.Routes(nil) {
		for _, method := range []string{"GET", "POST", "PUT", "HEAD", "OPTIONS"} {
			r := v.form(rt.Path, "username", "ann", "password", ownerPassword)
			if r.Method = method; method == "GET" {
				r = v.in.request(method, rt.Path, "", "nobody")
			}
			if got := answer(v.do(r)); got != unknown {
				t.Errorf("%s %s: %s, want %s", method, rt.Path, got, unknown)
			}
		}
	}
	in.hosted()
	v.get(pages.AccountPath).brief(200)
	v.do(in.request("PUT", pages.AccountPath, "", "nobody")).brief(405)
}

// TestHostedPages_NeedSession: browsers are sent to the sign-in page, programs get an error.
func TestHostedPages_NeedSession(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	for _, rt := range pages.Routes(nil) {
		if rt.Access != web.AppOnly {
			continue
		}
		v := in.guestBrowser()
		ask := func() *reply {
			if rt.Method == "POST" {
				return v.post(rt.Path, "id", "1", "password", ownerPassword, "new_password", "x", "password_again", "x", "old_password", "x")
			}
			return v.get(rt.Path)
		}
		ask().leads(pages.SignInPath)
		v.cookies[sessionCookie(true, false)] = in.tokens["owner"] // of the other realm
		ask().leads(pages.SignInPath)
		if len(v.cookies) > 0 {
			t.Errorf("%s keeps the cookie", rt.Name())
		}
	}
	in.call("GET", pages.AccountPath, "", "nobody").brief(401, `"errorCode":"unauthenticated"`)
}

// TestHostedPages_OtherOriginsRejected sends forms of other origins with and without a cookie.
func TestHostedPages_OtherOriginsRejected(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted(`"app.registration":1`, `"security.login_tries":50`)
	in.turnMailOn()
	v := in.signedIn("ann")
	fields := []string{"username", "bea", "password", ownerPassword, "password_again", ownerPassword, "old_password", ownerPassword, "new_password", "another long one", "nickname", "Evil", "id", "1"}
	for _, rt := range pages.Routes(nil) {
		if rt.Method != "POST" {
			continue
		}
		for _, headers := range []map[string]string{
			{"Origin": "https://evil.example.org"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
		} {
			r := v.form(rt.Path, fields...)
			for name, value := range headers {
				r.Header.Set(name, value)
			}
			a := v.do(r)
			if a.brief(403, "<h1>Something went wrong</h1>", "of another origin"); a.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s %v: %v", rt.Name(), headers, a.Header)
			}
		}
	}
	in.lists("/user/list", "username", "owner", "ann")
	in.lists("/system/mail", "purpose", "owner")
	v.get(pages.AccountPath).brief(200, "<dd>Not set</dd>")
	r := v.form(pages.ProfilePath, "nickname", "Ann")
	r.Header.Del("Origin")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	v.do(r).leads(pages.AccountPath + "?done=profile")
}

func TestHostedPages_MalformedForms(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	v := in.signedIn("ann")
	for name, change := range map[string]func(*http.Request){
		"JSON":      func(r *http.Request) { r.Header.Set("Content-Type", "application/json") },
		"too large": func(r *http.Request) {},
	} {
		body := "password=" + strings.Repeat("x", web.MaxForm)
		if name == "JSON" {
			body = `{"password":"x"}`
		}
		r := in.request("POST", pages.DeletionPath, body, "nobody")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept", "text/html")
		change(r)
		for key, value := range v.cookies {
			r.AddCookie(&http.Cookie{Name: key, Value: value})
		}
		if a := in.send(r); a.Code != 415 && a.Code != 413 || !strings.Contains(a.Body, "<h1>Something went wrong</h1>") {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
	}
	long := strings.Repeat("x", 1025)
	v.post(pages.DeletionPath, "password", long).brief(422, "<form", `role="alert"`)
	v.post(pages.ProfilePath, "nickname", strings.Repeat("n", 65)).brief(422, "Display name: ", `aria-invalid="true"`)
	v.post(pages.ProfilePath, "nickname", "a\nb").brief(422, "Display name: must not contain line breaks")
	v.post(pages.ProfilePath, "mobile", "call me").brief(422, "Mobile number: must be a phone number", `value="call me"`)
	r := v.form(pages.ProfilePath, "nickname", "Ann")
	r.Body = http.NoBody
	r.ContentLength = 0
	v.do(r).brief(415)
	two := in.request("POST", pages.ProfilePath, "nickname=a&nickname=b", "nobody")
	two.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	v.do(two).brief(422, "must be given once")
	v.get(pages.AccountPath).brief(200, "<dd>Not set</dd>")
}

// TestHostedPages_EscapeInput has hostile input in texts and in attributes.
func TestHostedPages_EscapeInput(t *testing.T) {
	t.Parallel()
	in := start(t)
	const evil = `"><script>alert(1)</script>{content}`
	in.hosted(`"site.title":"\"><script>alert(1)</script>{content}"`, `"site.contact":"\"><script>alert(1)</script>{content}"`, `"app.registration":1`)
	v := in.signedIn("ann")
	v.post(pages.ProfilePath, "nickname", evil).leads(pages.AccountPath + "?done=profile")
	in.update(func(tx *store.Tx) error {
		ids, err := store.SessionByAppUser.IDs(tx, 1)
		if err != nil {
			return err
		}
		_, err = store.Sessions.UpdateQuietly(tx, ids[0], func(s *store.Session) error { s.Browser, s.OS = evil, evil; return nil })
		return err
	})
	answers := []*reply{v.post(pages.SignInPath, "username", evil, "password", evil), v.post(pages.RegisterPath, "username", evil, "email", evil, "nickname", evil, "password", "x", "password_again", "x")}
	for _, rt := range pages.Routes(nil) {
		if rt.Method == "GET" {
			answers = append(answers, v.get(rt.Path), v.get(rt.Path+"?done="+url.QueryEscape(evil)))
		}
	}
	for _, a := range answers {
		if strings.Contains(a.Body, "<script") || strings.Contains(a.Body, `""`) || strings.Count(a.Body, "<main>") != 1 || !strings.Contains(a.Body, "&lt;script&gt;") {
			t.Errorf("%s: %d %s", a.sent, a.Code, a.Body)
		}
	}
	answers[1].brief(422, "Username: must be 3 to 32 characters", `value="&#34;&gt;&lt;script&gt;`)
}

// TestHostedPages_SecretsAreNotRecorded searches the log, monitoring, the login log and the change
// log.
func TestHostedPages_SecretsAreNotRecorded(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	in := start(t, func(su *setup) { su.log = &log })
	in.hosted(`"app.registration":1`, `"security.login_tries":50`)
	v := in.guestBrowser()
	const mark = "Zq7Xk9Wv"
	secret := func(n string) string { return mark + " is a secret " + n }
	v.post(pages.SignInPath, "username", secret("as a name"), "password", secret("0"))
	v.post(pages.RegisterPath, "username", "ann", "email", "", "nickname", "", "password", secret("1"), "password_again", secret("1")).leads(pages.AccountPath)
	v.post(pages.RegisterPath, "username", secret("as a name"), "password", secret("1"), "password_again", secret("2"))
	v.post(pages.ProfilePath, "email", "ann@example.org", "password", secret("1")).leads(pages.AccountPath + "?done=profile")
	v.post(pages.ProfilePath, "email", "bea@example.org", "password", secret("3")).brief(422)
	v.post(pages.PasswordPath, "old_password", secret("1"), "new_password", secret("2"), "password_again", secret("2")).leads(pages.AccountPath + "?done=password")
	v.post(pages.DeletionPath, "password", secret("1")).brief(422)
	cookie := v.cookies[sessionCookie(true, false)]
	v.post(pages.DeletionPath, "password", secret("2")).leads(pages.SignInPath + "?done=deleted")
	kept := func(where, text string) {
		if strings.Contains(text, mark) || strings.Contains(text, cookie) {
			t.Errorf("%s has a secret: %s", where, text)
		}
	}
	in.flush()
	in.ok("GET", "/system/monitor/request?pageSize=1000", "", "owner").brief(200, `"/app/account/delete"`, `"wrong_password"`, `"wrong_credentials"`)
	for _, path := range []string{"/system/monitor/request?pageSize=1000", "/system/monitor/auth?pageSize=1000", "/system/monitor/cache?pageSize=1000", "/system/loginlog?pageSize=1000", "/system/audit?pageSize=1000"} {
		kept(path, in.ok("GET", path, "", "owner").Body)
	}
	in.ok("GET", "/system/monitor/auth?pageSize=1000", "", "owner").brief(200, `"type":"password_changed"`, `"type":"login_failed"`, `"type":"logout"`)
	if kept("the log", log.String()); !strings.Contains(log.String(), `"route":"/app/account/delete"`) {
		t.Error("nothing was logged")
	}
}

// TestHostedPages_Texts checks that every text exists in both languages.
func TestHostedPages_Texts(t *testing.T) {
	t.Parallel()
	in := start(t)
	all := in.server.pages.Texts
	if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, []string{"en", "zh"}) {
		t.Fatalf("languages %q", got)
	}
	var compare func(path string, en, zh reflect.Value)
	compare = func(path string, en, zh reflect.Value) {
		switch en.Kind() {
		case reflect.Struct:
			for i := range en.NumField() {
				compare(path+"."+en.Type().Field(i).Name, en.Field(i), zh.Field(i))
			}
		case reflect.Map:
			if en.Len() == 0 || en.Len() != zh.Len() {
				t.Errorf("%s has %d and %d texts", path, en.Len(), zh.Len())
			}
			for _, key := range en.MapKeys() {
				if other := zh.MapIndex(key); other.IsValid() {
					compare(path+"."+key.String(), en.MapIndex(key), other)
				} else {
					t.Errorf("%s lacks %s", path, key)
				}
			}
		default:
			if en.String() == "" || zh.String() == "" || strings.Count(en.String(), "%") != strings.Count(zh.String(), "%") || en.String() == zh.String() {
				t.Errorf("%s: %q, %q", path, en, zh)
			}
		}
	}
	compare("", reflect.ValueOf(*all["en"]), reflect.ValueOf(*all["zh"]))
}
