package pages_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reeve/server/mails"
	"reeve/server/pages"
	"reeve/server/servertest"
	"reeve/store"
)

const (
	shop     = "https://shop.example.org"
	callback = shop + "/.reeve/app"
	state    = "state-of-this-browser"
	verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
)

// returnTo returns the parameters of a product that sends a browser here, without those that are "".
func returnTo(to string, changes ...string) string {
	sum := sha256.Sum256([]byte(verifier))
	v := url.Values{
		"to":                    {to},
		"state":                 {state},
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(sum[:])},
		"code_challenge_method": {"S256"},
	}
	for i := 0; i < len(changes); i += 2 {
		v.Set(changes[i], changes[i+1])
	}
	return "?" + v.Encode()
}

func shops(in *servertest.Instance, more ...string) {
	in.Hosted(append(more, `"app.return_origins":"https://shop.example.org, http://localhost:3000 http://127.0.0.1:3000"`)...)
}

// back returns the code with which a browser returns to callback.
func back(a *servertest.Reply) string {
	a.T.Helper()
	address, err := url.Parse(a.Header.Get("Location"))
	servertest.Must(a.T, err)
	q := address.Query()
	if a.Code != 303 || !strings.HasPrefix(a.Header.Get("Location"), callback+"?") || q.Get("state") != state || len(q) != 2 {
		a.T.Fatalf("%s: %d to %s: %s", a.Sent, a.Code, address, a.Body)
	}
	if a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("Referrer-Policy") != "no-referrer" {
		a.T.Errorf("%v", a.Header)
	}
	return q.Get("code")
}

func exchange(in *servertest.Instance, code string, changes ...string) *servertest.Reply {
	body := map[string]string{"code_token": code, "code_verifier": verifier, "to": callback, "state": state}
	for i := 0; i < len(changes); i += 2 {
		body[changes[i]] = changes[i+1]
	}
	text, err := json.Marshal(body)
	servertest.Must(in.T, err)
	return in.Call("POST", "/api/login/code", string(text), "nobody")
}

// signsIn exchanges a code, and fails unless its token is that of a user.
func signsIn(in *servertest.Instance, code, username string) (token string) {
	in.T.Helper()
	a := exchange(in, code)
	a.Brief(200, `"must_change_password":0`)
	var out struct{ Data struct{ Token string } }
	servertest.Must(in.T, json.Unmarshal([]byte(a.Body), &out))
	in.Tokens["product"] = out.Data.Token
	in.OK("GET", "/api/user", "", "product").Brief(200, `"username":"`+username+`"`)
	return out.Data.Token
}

func TestReturn_AfterPassword(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	shops(in)
	in.AppUser("ann")
	v := in.GuestBrowser()
	page := pages.SignInPath + returnTo(callback)
	a := v.Get(page)
	a.Brief(200, "<form")
	if csp := a.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "form-action 'self' "+shop+";") {
		t.Error(csp)
	}
	v.Post(page, "username", "ann", "password", "wrong password").Brief(422, "<form")
	v.Post(page, "username", "ann", "password", servertest.OwnerPassword).Leads(page)
	code := back(v.Get(page))
	signsIn(in, code, "ann")
	v.Get(pages.AccountPath).Brief(200, "<dd>ann</dd>")

	// A second use ends the session of the product, not that of the browser.
	exchange(in, code).Brief(403, `"errorCode":"return_code"`)
	in.Call("GET", "/api/user", "", "product").Brief(401)
	signsIn(in, back(v.Get(page)), "ann") // goes on at once
	in.OK("POST", "/api/logout", "", "product")
	v.Get(pages.AccountPath).Brief(200)
}

func TestReturn_AfterRegistration(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	shops(in, `"app.registration":1`)
	v := in.GuestBrowser()
	page := pages.SignInPath + returnTo(callback)
	link := regexp.MustCompile(`href="(/app/register[^"]*)"`).FindStringSubmatch(v.Get(page).Body)
	if link == nil {
		t.Fatal("no link to register")
	}
	register := strings.ReplaceAll(link[1], "&amp;", "&")
	v.Get(register).Brief(200, strings.ReplaceAll(page, "&", "&amp;"))
	v.Post(register, "username", "bea", "password", servertest.NewSecret, "password_again", "x").Brief(422)
	v.Post(register, "username", "bea", "password", servertest.NewSecret, "password_again", servertest.NewSecret).Leads(page)
	signsIn(in, back(v.Get(page)), "bea")
}

func TestReturn_AfterSecondFactor(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	shops(in, `"app.second_factor":1`)
	u := in.AppUser("ann")
	in.Tokens["ann"] = in.AppSignIn(u.ID)
	app, _ := in.SetUpAppFactor("ann")
	v := in.GuestBrowser()
	query := returnTo(callback)
	v.Post(pages.SignInPath+query, "username", "ann", "password", servertest.OwnerPassword).Leads(pages.CodePath + query)
	v.Get(pages.CodePath+query).Brief(200, strings.ReplaceAll(pages.SignInPath+query, "&", "&amp;"))
	v.Post(pages.CodePath+query, "otp", "000000").Brief(422, "<form")
	v.Post(pages.CodePath+query, "otp", app.Code()).Leads(pages.SignInPath + query)
	signsIn(in, back(v.Get(pages.SignInPath+query)), "ann")
	v.Post(pages.CodePath+query, "otp", "000000").Leads(pages.SignInPath + "?done=expired&" + query[1:])
}

func TestReturn_PasswordMustBeChanged(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	shops(in)
	in.AppUser("ann")
	in.Update(func(tx *store.Tx) error {
		_, err := store.AppUsers.Update(tx, 1, func(u *store.AppUser) error {
			u.MustChangePassword = true
			return nil
		})
		return err
	})
	v := in.GuestBrowser()
	query := returnTo(callback)
	v.Post(pages.SignInPath+query, "username", "ann", "password", servertest.OwnerPassword).Leads(pages.SignInPath + query)
	v.Get(pages.SignInPath + query).Leads(pages.PasswordPath + query)
	v.Get(pages.PasswordPath+query).Brief(200, "<form")
	v.Post(pages.PasswordPath+query, "old_password", servertest.OwnerPassword, "new_password", servertest.NewSecret,
		"password_again", servertest.NewSecret).Leads(pages.SignInPath + query)
	signsIn(in, back(v.Get(pages.SignInPath+query)), "ann")
}

func TestReturn_RefusedAddresses(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	shops(in)
	v := in.SignedIn("ann")
	for name, to := range map[string]string{
		"other host":          "https://evil.example.org/.reeve/app",
		"other scheme":        "http://shop.example.org/.reeve/app",
		"other port":          "https://shop.example.org:8443/.reeve/app",
		"default port":        "https://shop.example.org:443/.reeve/app",
		"other local port":    "http://localhost:3001/",
		"capital letters":     "https://SHOP.example.org/.reeve/app",
		"host behind":         "https://shop.example.org.evil.example/",
		"host without path":   "https://shop.example.org",
		"subdomain":           "https://a.shop.example.org/",
		"user":                "https://shop.example.org@evil.example/",
		"user of the host":    "https://user@shop.example.org/",
		"user and password":   "https://shop.example.org:x@evil.example/",
		"fragment":            callback + "#x",
		"empty fragment":      callback + "#",
		"two slashes":         shop + "//evil.example/",
		"backslash":           shop + "\\evil.example",
		"backslash in front":  "https:\\\\shop.example.org/",
		"no scheme":           "//shop.example.org/",
		"path":                "/app/account",
		"path with backslash": "/\\evil.example",
		"script":              "javascript:alert(1)//https://shop.example.org/",
		"data":                "data:text/html,x",
		"line break":          callback + "\r\nSet-Cookie: a=b",
		"tab":                 callback + "\t",
		"space":               callback + " x",
		"null":                callback + "\x00",
		"not ASCII":           callback + "/ä",
		"quotation mark":      callback + `"x`,
		"bad escape":          callback + "%zz",
		"code of another":     callback + "?code=rv_r_x",
		"state of another":    callback + "?a=b&state=x",
		"long":                callback + strings.Repeat("x", 500),
	} {
		for _, path := range []string{pages.SignInPath, pages.RegisterPath, pages.CodePath, pages.ForgotPath,
			pages.SignOutPath, pages.PasswordPath, pages.ProviderPath} {
			a := v.Get(path + returnTo(to))
			if a.Header.Get("Location") != "" || a.Code != 403 && a.Code != 422 {
				t.Errorf("%s %s: %d to %q", name, path, a.Code, a.Header.Get("Location"))
			}
			if csp := a.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "form-action 'self';") {
				t.Errorf("%s %s: %s", name, path, csp)
			}
		}
		a := v.Post(pages.SignInPath+returnTo(to), "username", "ann", "password", servertest.OwnerPassword)
		if a.Header.Get("Location") != "" || a.Code != 403 && a.Code != 422 {
			t.Errorf("%s, form: %d to %q", name, a.Code, a.Header.Get("Location"))
		}
	}

	for name, c := range map[string][]string{
		"no state":          {"state", ""},
		"short state":       {"state", "short"},
		"long state":        {"state", strings.Repeat("x", 129)},
		"odd state":         {"state", "state of this browser"},
		"no challenge":      {"code_challenge", ""},
		"plain challenge":   {"code_challenge", "x"},
		"no method":         {"code_challenge_method", ""},
		"plain":             {"code_challenge_method", "plain"},
		"method in letters": {"code_challenge_method", "s256"},
	} {
		a := v.Get(pages.SignInPath + returnTo(callback, c...))
		if a.Brief(422, "<h1>Something went wrong</h1>"); a.Header.Get("Location") != "" {
			t.Errorf("%s: %v", name, a.Header)
		}
	}

	in.OK("PUT", "/system/setting", `{"values":{"app.return_origins":""}}`, "owner")
	v.Get(pages.SignInPath + returnTo(callback)).Brief(403)
	v.Get(pages.SignInPath + "?utm_source=mail").Brief(200)
}

func TestReturn_OtherAddressesAllowed(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	shops(in)
	v := in.SignedIn("ann")
	for to, want := range map[string]string{
		callback + "?lang=de":         callback + "?lang=de&code=",
		"http://localhost:3000/a/b":   "http://localhost:3000/a/b?code=",
		"http://127.0.0.1:3000/":      "http://127.0.0.1:3000/?code=",
		shop + "/a%20b":               shop + "/a%20b?code=",
		shop + "/?to=https://evil.ex": shop + "/?to=https://evil.ex&code=",
	} {
		a := v.Get(pages.SignInPath + returnTo(to))
		if got := a.Header.Get("Location"); a.Code != 303 || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %d to %q", to, a.Code, got)
		}
	}
}

func TestReturn_ExchangeRefused(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	shops(in)
	v := in.SignedIn("ann")
	page := pages.SignInPath + returnTo(callback)
	for _, c := range [][2]string{
		{"to", "http://localhost:3000/.reeve/app"},
		{"to", callback + "?x"},
		{"state", state + "x"},
		{"code_verifier", strings.Repeat("x", 43)},
		{"code_token", "rv_r_" + strings.Repeat("x", 49)},
	} {
		code := back(v.Get(page))
		exchange(in, code, c[0], c[1]).Brief(403, `"errorCode":"return_code"`)
		if c[0] != "code_token" {
			exchange(in, code).Brief(403) // it was used
		}
	}

	code := back(v.Get(page))
	exchange(in, code, "to", "https://evil.example.org/").Brief(403, `"errorCode":"unknown_origin"`)
	exchange(in, code, "code_verifier", "short").Brief(422)
	in.OK("PUT", "/system/setting", `{"values":{"app.return_origins":"http://localhost:3000"}}`, "owner")
	exchange(in, code).Brief(403, `"errorCode":"unknown_origin"`)
	shops(in)

	in.OK("PUT", "/user/list/1/status", `{"status":0}`, "owner")
	exchange(in, code).Brief(403, `"errorCode":"return_code"`)
}

func TestReturn_SignOut(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	shops(in)
	v := in.SignedIn("ann")
	page := pages.SignOutPath + "?" + url.Values{"to": {shop + "/bye"}}.Encode()
	v.Get(page).Brief(200, "<h1>Sign out</h1>", "<form")
	v.Get(pages.AccountPath).Brief(200)
	v.Post(page).Leads(page)
	v.Get(page).Leads(shop + "/bye")
	v.Post(page).Leads(page) // again, without a session
	v.Get(pages.AccountPath).Leads(pages.SignInPath)
	v.Get(pages.SignOutPath).Brief(200, "<form")
}

// TestReturn_AfterMail: in the browser that a product has sent, the link of a mail leads to the product,
// and so does the sign-in page after a sign-out.
func TestReturn_AfterMail(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	box := in.Confirmed()
	shops(in)
	const next, link = `class="button" href="` + shop + `/">Continue to shop.example.org</a>`, `href="` + shop + `/"`
	v, other := in.GuestBrowser(), in.GuestBrowser()
	mailed := func() (page string) {
		t.Helper()
		in.ResolveRequests()
		in.SendMails()
		return mails.LinkPath + box.Last(t, "ann@example.org").Token(t)
	}
	path := pages.RegisterPath + returnTo(callback)
	v.Get(path).Brief(200)
	v.Post(path, "username", "ann", "email", "ann@example.org", "nickname", "", "password",
		servertest.NewSecret, "password_again", servertest.NewSecret).Brief(303)
	page := mailed()
	v.Get(page).Lacks(shop)
	v.Post(page).Brief(200, next)

	path = pages.ForgotPath + returnTo(callback)
	reset := func(v interface {
		Post(path string, fields ...string) *servertest.Reply
	}) *servertest.Reply {
		other.Post(path, "username", "ann").Brief(303)
		return v.Post(mailed(), "password", servertest.NewSecret+"!", "password_again", servertest.NewSecret+"!")
	}
	reset(v).Brief(200, next)
	delete(other.Cookies, servertest.Marked.ProductCookie())
	page = ""
	other.Post(strings.TrimSuffix(path, returnTo(callback)), "username", "ann").Brief(303)
	if a := other.Post(mailed(), "password", servertest.NewSecret, "password_again", servertest.NewSecret); a.Code != 200 || strings.Contains(a.Body, shop) {
		t.Errorf("in another browser: %d %s", a.Code, a.Body)
	}

	other.Get(pages.SignInPath).Lacks(shop)
	other.Get(pages.SignOutPath + "?to=" + shop + "/bye").Leads(shop + "/bye") // without a session
	other.Get(pages.SignInPath).Lacks(link)
	v.Get(pages.SignInPath).Brief(200, link)
	v.Get(pages.SignInPath + returnTo(callback)).Lacks(link) // which it goes to by itself
	for _, stranger := range []string{"https://evil.example", shop + ".evil.example", "javascript:alert(1)", shop + "/path", ""} {
		v.Cookies[servertest.Marked.ProductCookie()] = stranger
		v.Get(pages.SignInPath).Lacks("Continue to")
	}
	v.Cookies[servertest.Marked.ProductCookie()] = shop
	in.OK("PUT", "/system/setting", `{"values":{"app.return_origins":""}}`, "owner")
	v.Get(pages.SignInPath).Lacks("Continue to")
}

// TestReturn_NothingRecorded searches the log and the monitoring for codes, verifiers and tokens.
func TestReturn_NothingRecorded(t *testing.T) {
	t.Parallel()
	var log servertest.Log
	in := servertest.Start(t, func(su *servertest.Setup) { su.Log = &log })
	shops(in)
	v := in.SignedIn("ann")
	page := pages.SignInPath + returnTo(callback)
	good, bad := back(v.Get(page)), back(v.Get(page))
	token := signsIn(in, good, "ann")
	exchange(in, bad, "to", callback+"?code_token="+bad).Brief(403)
	exchange(in, bad, "code_token", bad+"x").Brief(403)
	in.Call("POST", "/api/login/code?code="+bad, `{"code":"`+bad+`"}`, "nobody")
	in.Flush()
	recorded := in.OK("GET", "/system/monitor/request?pageSize=1000", "", "owner").Body
	if !strings.Contains(recorded, "/api/login/code") || !strings.Contains(recorded, pages.SignInPath) {
		t.Fatal("nothing is recorded")
	}
	files, err := os.ReadDir(filepath.Join(in.Dir, "monitor"))
	servertest.Must(t, err)
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(in.Dir, "monitor", f.Name()))
		servertest.Must(t, err)
		recorded += string(b)
	}
	for what, secret := range map[string]string{"code": good, "unused code": bad, "verifier": verifier, "token": token} {
		if strings.Contains(recorded, secret) || strings.Contains(log.String(), secret) {
			t.Errorf("the %s is recorded", what)
		}
	}
}

func TestReturnOrigins_Values(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for _, bad := range []string{"http://shop.example.org", "https://shop.example.org/", "https://*.example.org", "shop.example.org",
		"https://shop.example.org:443", "https://a;b", "https://user@shop.example.org", "http://192.168.1.7:3000", "http://localhost.example.org"} {
		in.Call("PUT", "/system/setting", `{"values":{"app.return_origins":"https://ok.example.org `+bad+`"}}`, "owner").Brief(422, `"values.app.return_origins":`)
	}
	in.OK("PUT", "/system/setting", `{"values":{"app.return_origins":"https://a.example:8443 http://[::1]:3000,http://localhost"}}`, "owner")
}
