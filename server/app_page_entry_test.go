package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"reeve/server/mails"
	"reeve/server/pages"
	"reeve/store"
)

const newSecret = "long enough it is"

// register sends the form of a registration.
func (v *guestBrowser) register(username, email string, more ...string) *reply {
	v.in.t.Helper()
	return v.post(pages.RegisterPath, append([]string{"username", username, "email", email, "nickname", "", "password", newSecret, "password_again", newSecret}, more...)...)
}

func TestSignInPage(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	in.appUser("ann")
	v := in.guestBrowser()
	page := v.get(pages.SignInPath)
	page.brief(200, "<h1>Sign in</h1>", `lang="en"`, `<label for="username">`, `autocomplete="username"`, `autocomplete="current-password"`, "required", "autofocus")
	if strings.Contains(page.Body, "/app/forgot") || strings.Contains(page.Body, "/app/register") || strings.Contains(page.Body, "<script") {
		t.Errorf("the page leads to what is off: %s", page.Body)
	}
	for name, password := range map[string]string{"ann": "hunter2hunter2", "nobody-here": "hunter2hunter2"} {
		a := v.post(pages.SignInPath, "username", name, "password", password)
		a.brief(422, "Wrong username or password", `role="alert"`, `value="`+name+`"`)
		if strings.Contains(a.Body, "hunter2") || len(v.cookies) > 0 || a.Header.Get("WWW-Authenticate") != "" {
			t.Errorf("%v %s", a.Header, a.Body)
		}
	}
	v.post(pages.SignInPath, "username", "", "password", "").brief(422, "Username, email address or mobile number: is required", "<form")
	v.post(pages.SignInPath).brief(422, "<form")
	v.post(pages.SignInPath, "username", "ANN", "password", ownerPassword).leads(pages.AccountPath)
	if v.cookies[sessionCookie(true, false)] == "" || v.cookies[deviceCookie(true)] == "" || len(v.cookies) != 2 {
		t.Errorf("cookies %v", v.cookies)
	}
	v.get(pages.AccountPath).brief(200, "<h1>Your account</h1>", "<dd>ann</dd>")
	in.ok("GET", "/system/loginlog", "", "owner").brief(200, `"realm":"app"`)

	in.turnMailOn()
	in.openRegistration()
	v = in.guestBrowser()
	v.language = "zh-CN"
	v.get(pages.SignInPath).brief(200, `lang="zh-CN"`, "<h1>登录</h1>", `href="/app/forgot"`, `href="/app/register"`)
	v.post(pages.SignInPath, "username", "ann", "password", "hunter2hunter2").brief(422, "用户名或密码错误")
}

func TestSignInPage_RateLimitOfLogin(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted(`"security.login_tries":3`)
	in.appUser("ann")
	v := in.guestBrowser()
	for range 2 {
		v.post(pages.SignInPath, "username", "ann", "password", "wrong password").brief(422)
	}
	in.call("POST", "/api/login", `{"username":"ann","password":"wrong password"}`, "nobody").brief(401) // both count together
	a := v.post(pages.SignInPath, "username", "ann", "password", ownerPassword)
	if a.brief(429, "Too many attempts", "<form", `value="ann"`); a.Header.Get("Retry-After") == "" {
		t.Errorf("%v", a.Header)
	}
	in.tokens["clean"] = ""
	in.call("POST", "/api/login", `{"username":"ann","password":"`+ownerPassword+`"}`, "clean").brief(429)
}

func TestRegistrationPage(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted(`"site.contact":"help@example.org"`)
	v := in.guestBrowser()
	v.get(pages.RegisterPath).brief(403, "<h1>Registration is closed</h1>", "help@example.org")
	v.register("ann", "").brief(403, "<h1>Registration is closed</h1>")
	in.lists("/user/list", "username", "owner")

	in.openRegistration()
	page := v.get(pages.RegisterPath)
	page.brief(200, "<h1>Create an account</h1>", `minlength="8"`, `maxlength="32"`)
	if strings.Contains(page.Body, "<script") || strings.Contains(page.Body, "altcha") {
		t.Error("the page has a script without a challenge")
	}
	v.post(pages.RegisterPath, "username", "ann", "password", newSecret, "password_again", "another").brief(422, "Passwords don&#39;t match.", `value="ann"`)
	v.post(pages.RegisterPath, "username", "ann", "password", newSecret).brief(422, "Passwords don&#39;t match.")
	v.post(pages.RegisterPath, "username", "ann", "password", "short", "password_again", "short").brief(422, "Password: must be 8 to 1024 bytes")
	v.post(pages.RegisterPath, "username", "ann", "password", "password123", "password_again", "password123").brief(422, "too common")
	v.post(pages.RegisterPath, "username", "an n", "email", "nowhere", "password", newSecret, "password_again", newSecret).brief(422, "Username: must contain only", `value="nowhere"`)
	in.lists("/user/list", "username", "owner")
	v.register("ann", "").leads(pages.AccountPath)
	v.get(pages.AccountPath).brief(200, "<dd>ann</dd>")
	in.guestBrowser().register("ANN", "").brief(409, "Username: ", `value="ANN"`)
	in.guestBrowser().register("bob", "bob@example.org", "nickname", "Bob").leads(pages.AccountPath)
	in.ok("GET", "/user/list/2", "", "owner").brief(200, `"nickname":"Bob"`, `"email":"bob@example.org"`, `"email_verified":0`)
}

func TestRegistrationPage_Confirmation(t *testing.T) {
	t.Parallel()
	in := start(t)
	box := in.confirmed(`"app.registration_domains":"example.org"`)
	in.hosted()
	in.appGuest("resident", "known@example.org")
	v := in.guestBrowser()
	v.get(pages.RegisterPath).brief(200, "Allowed email domains: example.org.", "We will send a confirmation link")
	v.register("ann", "").brief(422, "Email address: is required")
	v.register("ann", "ann@example.net").brief(422, "Email address: must be in one of these domains: example.org", `value="ann@example.net"`)
	v.register("bob", "known@example.org").leads(pages.RegisterPath + "?done=sent") // looks the same
	v.register("ann", "ann@example.org").leads(pages.RegisterPath + "?done=sent")
	if len(v.cookies) > 0 {
		t.Errorf("signed in before the confirmation: %v", v.cookies)
	}
	v.get(pages.RegisterPath+"?done=sent").brief(200, "<h1>Check your email</h1>", "within 24 hours")
	v.post(pages.SignInPath, "username", "ann", "password", newSecret).brief(422, "Wrong username or password")
	in.sendMails()
	token := box.last(t, "ann@example.org").token(t)
	in.ok("GET", mails.LinkPath+token, "", "nobody")
	in.submit(token, map[string][]string{"confirm": {"1"}}).brief(200, `<a class="button" href="/app/sign-in">Sign in</a>`)
	v.post(pages.SignInPath, "username", "ann@example.org", "password", newSecret).leads(pages.AccountPath)
	v.get(pages.AccountPath).brief(200, "ann@example.org (confirmed)")

	in.ok("PUT", "/system/setting", `{"values":{"mail.enabled":0}}`, "owner")
	v.get(pages.RegisterPath).brief(403, "This server does not send mail")
	v.register("cat", "cat@example.org").brief(403, "This server does not send mail")
}

func TestRegistrationPage_Challenge(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted(`"app.registration":1`, `"app.registration_challenge":1`)
	v := in.guestBrowser()
	v.get(pages.RegisterPath).brief(200, `<script nonce="`, "<noscript>", "Turn on JavaScript", `name="altcha"`)
	v.register("ann", "").brief(422, "We couldn&#39;t verify that you are human.", `value="ann"`)
	v.register("ann", "", "altcha", "bm9uc2Vuc2U=").brief(422, "We couldn&#39;t verify that you are human.")
	in.lists("/user/list", "username", "owner")
	solution := in.solvedChallenge()
	v.register("ann", "", "altcha", solution).leads(pages.AccountPath)
	if a := in.guestBrowser().register("bob", "", "altcha", solution); a.Code != 422 || strings.Contains(a.Body, solution) {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

func TestRegistrationPage_RateLimit(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted(`"app.registration":1`, `"security.login_tries":3`)
	for i := range 31 {
		a := in.guestBrowser().register(fmt.Sprint("user.", i), "")
		if i < 30 {
			a.leads(pages.AccountPath)
		} else {
			a.brief(429, "Too many attempts", "<form")
		}
	}
}

func TestForgotPage(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted(`"site.contact":"help@example.org"`)
	v := in.guestBrowser()
	for _, a := range []*reply{v.get(pages.ForgotPath), v.post(pages.ForgotPath, "username", "ann")} {
		if a.brief(403, "Contact your administrator to reset your password.", "help@example.org"); strings.Contains(a.Body, "<form") {
			t.Error("there is a form without mail")
		}
	}
	box := in.openMailbox()
	ann := in.appUser("ann")
	in.update(func(tx *store.Tx) error {
		return store.SetEmail(tx, store.Account{App: true, ID: ann.ID}, "ann@example.org", true)
	})
	v.get(pages.ForgotPath).brief(200, "<h1>Reset your password</h1>", "<form")
	known, unknown := v.post(pages.ForgotPath, "username", "ann"), v.post(pages.ForgotPath, "username", "somebody")
	known.leads(pages.ForgotPath + "?done=sent")
	unknown.leads(pages.ForgotPath + "?done=sent")
	known.Header.Del("X-Request-Id")
	unknown.Header.Del("X-Request-Id")
	if fmt.Sprint(known.Header) != fmt.Sprint(unknown.Header) {
		t.Errorf("known: %v, unknown: %v", known.Header, unknown.Header)
	}
	v.get(pages.ForgotPath+"?done=sent").brief(200, "<h1>Check your email</h1>", "If the account exists")
	v.post(pages.ForgotPath, "username", "").brief(422, "Username or email address: is required")
	until(t, "the mail is sent", func() bool { in.sendMails(); return len(box.all()) == 1 })
	token := box.last(t, "ann@example.org").token(t)
	in.submit(token, passwords(newSecret, newSecret)).brief(200, `href="/app/sign-in"`)
	v.post(pages.SignInPath, "username", "ann", "password", newSecret).leads(pages.AccountPath)
}

func TestForgotPage_RateLimit(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted(`"security.login_tries":3`)
	in.turnMailOn()
	v := in.guestBrowser()
	for range 30 {
		v.post(pages.ForgotPath, "username", "ann").leads(pages.ForgotPath + "?done=sent")
	}
	v.post(pages.ForgotPath, "username", "ann").brief(429, "Too many attempts", `value="ann"`)
}

// TestLinkPage_LeadsToSignIn checks that link pages lead to the sign-in page only if it is enabled.
func TestLinkPage_LeadsToSignIn(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.appUser("ann")
	for _, on := range []bool{false, true} {
		if on {
			in.hosted()
		}
		link := newTestLink(store.PasswordReset, true, 1)
		in.plant(link, "")
		in.ok("GET", mails.LinkPath+link.token, "", "nobody")
		secret := "a good password " + time.Now().String()
		a := in.submit(link.token, passwords(secret, secret))
		if a.brief(200, "<h1>Done</h1>"); strings.Contains(a.Body, `href="/app/sign-in"`) != on || strings.Contains(a.Body, "/console/") {
			t.Errorf("on %t: %s", on, a.Body)
		}
	}
}
