package pages_test

import (
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reeve/server/pages"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

func TestHostedPages_OffByDefault(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.AppUser("ann")
	in.OpenRegistration()
	v := in.GuestBrowser()
	v.Cookies[servertest.SessionCookie(true, false)] = in.Tokens["ann"]
	answer := func(a *servertest.Reply) string {
		a.Brief(404)
		return strings.ReplaceAll(a.Body, a.Header.Get("X-Request-Id"), "ID") + a.Header.Get("Allow") + a.Header.Get("Content-Type") + a.Header.Get("Set-Cookie")
	}
	unknown := answer(v.Get("/app/nothing"))
	for _, rt := range pages.Routes(nil) {
		for _, method := range []string{"GET", "POST", "PUT", "HEAD", "OPTIONS"} {
			r := v.Form(rt.Path, "username", "ann", "password", servertest.OwnerPassword)
			if r.Method = method; method == "GET" {
				r = v.In.Request(method, rt.Path, "", "nobody")
			}
			if got := answer(v.Do(r)); got != unknown {
				t.Errorf("%s %s: %s, want %s", method, rt.Path, got, unknown)
			}
		}
	}

	in.Hosted()
	v.Get(pages.AccountPath).Brief(200)
	v.Do(in.Request("PUT", pages.AccountPath, "", "nobody")).Brief(405)
}

// TestHostedPages_NeedSession: browsers are sent to the sign-in page, programs get an error.
func TestHostedPages_NeedSession(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	for _, rt := range pages.Routes(nil) {
		if rt.Access != web.AppOnly {
			continue
		}

		v := in.GuestBrowser()
		ask := func() *servertest.Reply {
			if rt.Method == "POST" {
				return v.Post(rt.Path, "id", "1", "password", servertest.OwnerPassword,
					"new_password", "x", "password_again", "x", "old_password", "x")
			}
			return v.Get(rt.Path)
		}
		ask().Leads(pages.SignInPath)
		v.Cookies[servertest.SessionCookie(true, false)] = in.Tokens["owner"] // of the other realm
		ask().Leads(pages.SignInPath)
		if len(v.Cookies) > 0 {
			t.Errorf("%s keeps the cookie", rt.Name())
		}
	}

	in.Call("GET", pages.AccountPath, "", "nobody").Brief(401, `"errorCode":"unauthenticated"`)
}

// TestHostedPages_OtherOriginsRejected sends forms of other origins with and without a cookie.
func TestHostedPages_OtherOriginsRejected(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted(`"app.registration":1`, `"security.login_tries":50`)
	in.TurnMailOn()
	v := in.SignedIn("ann")
	fields := []string{"username", "bea", "password", servertest.OwnerPassword, "password_again",
		servertest.OwnerPassword, "old_password", servertest.OwnerPassword, "new_password",
		"another long one", "nickname", "Evil", "id", "1"}
	for _, rt := range pages.Routes(nil) {
		if rt.Method != "POST" {
			continue
		}
		for _, headers := range []map[string]string{
			{"Origin": "https://evil.example.org"}, {"Origin": "null"},
			{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
		} {
			r := v.Form(rt.Path, fields...)
			for name, value := range headers {
				r.Header.Set(name, value)
			}
			a := v.Do(r)
			if a.Brief(403, "<h1>Something went wrong</h1>", "of another origin"); a.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s %v: %v", rt.Name(), headers, a.Header)
			}
		}
	}

	in.Lists("/user/list", "username", "owner", "ann")
	in.Lists("/system/mail", "purpose", "owner")
	v.Get(pages.AccountPath).Brief(200, "<dd>Not set</dd>")
	r := v.Form(pages.ProfilePath, "nickname", "Ann")
	r.Header.Del("Origin")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	v.Do(r).Leads(pages.AccountPath + "?done=profile")
}

func TestHostedPages_MalformedForms(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	v := in.SignedIn("ann")
	for name, change := range map[string]func(*http.Request){
		"JSON":      func(r *http.Request) { r.Header.Set("Content-Type", "application/json") },
		"too large": func(r *http.Request) {},
	} {
		body := "password=" + strings.Repeat("x", web.MaxForm)
		if name == "JSON" {
			body = `{"password":"x"}`
		}

		r := in.Request("POST", pages.DeletionPath, body, "nobody")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept", "text/html")
		change(r)
		for key, value := range v.Cookies {
			r.AddCookie(&http.Cookie{Name: key, Value: value})
		}

		if a := in.Send(r); a.Code != 415 && a.Code != 413 ||
			!strings.Contains(a.Body, "<h1>Something went wrong</h1>") {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
	}

	long := strings.Repeat("x", 1025)
	v.Post(pages.DeletionPath, "password", long).Brief(422, "<form", `role="alert"`)
	v.Post(pages.ProfilePath, "nickname", strings.Repeat("n", 65)).Brief(422, "Display name: ",
		`aria-invalid="true"`)
	v.Post(pages.ProfilePath, "nickname", "a\nb").Brief(422,
		"Display name: must not contain line breaks")
	v.Post(pages.ProfilePath, "mobile", "call me").Brief(422,
		"Mobile number: must be a phone number", `value="call me"`)
	r := v.Form(pages.ProfilePath, "nickname", "Ann")
	r.Body = http.NoBody
	r.ContentLength = 0
	v.Do(r).Brief(415)
	two := in.Request("POST", pages.ProfilePath, "nickname=a&nickname=b", "nobody")
	two.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	v.Do(two).Brief(422, "must be given once")
	v.Get(pages.AccountPath).Brief(200, "<dd>Not set</dd>")
}

// TestHostedPages_EscapeInput has hostile input in texts and in attributes.
func TestHostedPages_EscapeInput(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	const evil = `"><script>alert(1)</script>{content}`
	in.Hosted(`"site.title":"\"><script>alert(1)</script>{content}"`,
		`"site.contact":"\"><script>alert(1)</script>{content}"`, `"app.registration":1`)
	v := in.SignedIn("ann")
	v.Post(pages.ProfilePath, "nickname", evil).Leads(pages.AccountPath + "?done=profile")
	in.Update(func(tx *store.Tx) error {
		ids, err := store.SessionByAppUser.IDs(tx, 1)
		if err != nil {
			return err
		}
		_, err = store.Sessions.UpdateQuietly(tx, ids[0], func(s *store.Session) error {
			s.Browser, s.OS = evil, evil
			return nil
		})
		return err
	})
	answers := []*servertest.Reply{v.Post(pages.SignInPath, "username", evil, "password", evil),
		v.Post(pages.RegisterPath, "username", evil, "email", evil, "nickname", evil, "password",
			"x", "password_again", "x")}
	for _, rt := range pages.Routes(nil) {
		if rt.Method == "GET" {
			answers = append(answers, v.Get(rt.Path), v.Get(rt.Path+"?done="+url.QueryEscape(evil)))
		}
	}

	for _, a := range answers {
		if strings.Contains(a.Body, "<script") || strings.Contains(a.Body, `""`) ||
			strings.Count(a.Body, "<main>") != 1 || !strings.Contains(a.Body, "&lt;script&gt;") {
			t.Errorf("%s: %d %s", a.Sent, a.Code, a.Body)
		}
	}

	answers[1].Brief(422, "Username: must be 3 to 32 characters", `value="&#34;&gt;&lt;script&gt;`)
}

// TestHostedPages_SecretsAreNotRecorded searches the log, monitoring, the login log and the change
// log.
func TestHostedPages_SecretsAreNotRecorded(t *testing.T) {
	t.Parallel()
	var log servertest.Log
	in := servertest.Start(t, func(su *servertest.Setup) { su.Log = &log })
	in.Hosted(`"app.registration":1`, `"security.login_tries":50`)
	v := in.GuestBrowser()
	const mark = "Zq7Xk9Wv"
	secret := func(n string) string { return mark + " is a secret " + n }
	v.Post(pages.SignInPath, "username", secret("as a name"), "password", secret("0"))
	v.Post(pages.RegisterPath, "username", "ann", "email", "", "nickname", "", "password",
		secret("1"), "password_again", secret("1")).Leads(pages.AccountPath)
	v.Post(pages.RegisterPath, "username", secret("as a name"), "password", secret("1"),
		"password_again", secret("2"))
	v.Post(pages.ProfilePath, "email", "ann@example.org", "password", secret("1")).Leads(pages.AccountPath + "?done=profile")
	v.Post(pages.ProfilePath, "email", "bea@example.org", "password", secret("3")).Brief(422)
	v.Post(pages.PasswordPath, "old_password", secret("1"), "new_password", secret("2"),
		"password_again", secret("2")).Leads(pages.AccountPath + "?done=password")
	v.Post(pages.DeletionPath, "password", secret("1")).Brief(422)
	cookie := v.Cookies[servertest.SessionCookie(true, false)]
	v.Post(pages.DeletionPath, "password", secret("2")).Leads(pages.SignInPath + "?done=deleted")
	kept := func(where, text string) {
		if strings.Contains(text, mark) || strings.Contains(text, cookie) {
			t.Errorf("%s has a secret: %s", where, text)
		}
	}

	in.Flush()
	in.OK("GET", "/system/monitor/request?pageSize=1000", "", "owner").Brief(200,
		`"/app/account/delete"`, `"wrong_password"`, `"wrong_credentials"`)
	for _, path := range []string{"/system/monitor/request?pageSize=1000",
		"/system/monitor/auth?pageSize=1000", "/system/monitor/cache?pageSize=1000",
		"/system/loginlog?pageSize=1000", "/system/audit?pageSize=1000"} {
		kept(path, in.OK("GET", path, "", "owner").Body)
	}

	in.OK("GET", "/system/monitor/auth?pageSize=1000", "", "owner").Brief(200,
		`"type":"password_changed"`, `"type":"login_failed"`, `"type":"logout"`)
	if kept("the log", log.String()); !strings.Contains(log.String(),
		`"route":"/app/account/delete"`) {
		t.Error("nothing was logged")
	}
}

// TestHostedPages_Texts checks that every text exists in both languages.
func TestHostedPages_Texts(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	all := in.Server.Pages.Texts
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
			if en.String() == "" || zh.String() == "" ||
				strings.Count(en.String(), "%") != strings.Count(zh.String(), "%") ||
				en.String() == zh.String() {
				t.Errorf("%s: %q, %q", path, en, zh)
			}
		}
	}
	compare("", reflect.ValueOf(*all["en"]), reflect.ValueOf(*all["zh"]))
}
