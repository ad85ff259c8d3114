package pages_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"reeve/server/mails"
	"reeve/server/pages"
	"reeve/server/servertest"
	"reeve/store"
)

func TestSignInPage(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	in.AppUser("ann")
	v := in.GuestBrowser()
	page := v.Get(pages.SignInPath)
	page.Brief(200, "<h1>Sign in</h1>", `lang="en"`, `<label for="username">`,
		`autocomplete="username"`, `autocomplete="current-password"`, "required", "autofocus")
	if strings.Contains(page.Body, "/app/forgot") || strings.Contains(page.Body, "/app/register") ||
		strings.Contains(page.Body, "<script") {
		t.Errorf("the page leads to what is off: %s", page.Body)
	}

	for name, password := range map[string]string{
		"ann":         "hunter2hunter2",
		"nobody-here": "hunter2hunter2",
	} {
		a := v.Post(pages.SignInPath, "username", name, "password", password)
		a.Brief(422, "Wrong username or password", `role="alert"`, `value="`+name+`"`)
		if strings.Contains(a.Body, "hunter2") || len(v.Cookies) > 0 ||
			a.Header.Get("WWW-Authenticate") != "" {
			t.Errorf("%v %s", a.Header, a.Body)
		}
	}

	v.Post(pages.SignInPath, "username", "", "password", "").Brief(422,
		"Username, email address or mobile number: is required", "<form")
	v.Post(pages.SignInPath).Brief(422, "<form")
	v.Post(pages.SignInPath, "username", "ANN", "password", servertest.OwnerPassword).Leads(pages.AccountPath)
	if v.Cookies[servertest.SessionCookie(true, false)] == "" ||
		v.Cookies[servertest.DeviceCookie(true)] == "" || len(v.Cookies) != 2 {
		t.Errorf("cookies %v", v.Cookies)
	}

	v.Get(pages.AccountPath).Brief(200, "<h1>Your account</h1>", "<dd>ann</dd>")
	in.OK("GET", "/system/loginlog", "", "owner").Brief(200, `"realm":"app"`)

	in.TurnMailOn()
	in.OpenRegistration()
	v = in.GuestBrowser()
	v.Language = "zh-CN"
	v.Get(pages.SignInPath).Brief(200, `lang="zh-CN"`, "<h1>登录</h1>", `href="/app/forgot"`,
		`href="/app/register"`)
	v.Post(pages.SignInPath, "username", "ann", "password", "hunter2hunter2").Brief(422, "用户名或密码错误")
}

func TestSignInPage_RateLimitOfLogin(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted(`"security.login_tries":3`)
	in.AppUser("ann")
	v := in.GuestBrowser()
	for range 2 {
		v.Post(pages.SignInPath, "username", "ann", "password", "wrong password").Brief(422)
	}

	in.Call("POST", "/api/login", `{"username":"ann","password":"wrong password"}`, "nobody").Brief(401) // both count together
	a := v.Post(pages.SignInPath, "username", "ann", "password", servertest.OwnerPassword)
	if a.Brief(429, "Too many attempts", "<form", `value="ann"`); a.Header.Get("Retry-After") == "" {
		t.Errorf("%v", a.Header)
	}

	in.Tokens["clean"] = ""
	in.Call("POST", "/api/login", `{"username":"ann","password":"`+servertest.OwnerPassword+`"}`,
		"clean").Brief(429)
}

func TestRegistrationPage(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted(`"site.contact":"help@example.org"`)
	v := in.GuestBrowser()
	v.Get(pages.RegisterPath).Brief(403, "<h1>Registration is closed</h1>", "help@example.org")
	v.Register("ann", "").Brief(403, "<h1>Registration is closed</h1>")
	in.Lists("/user/list", "username", "owner")

	in.OpenRegistration()
	page := v.Get(pages.RegisterPath)
	page.Brief(200, "<h1>Create an account</h1>", `minlength="8"`, `maxlength="32"`)
	if strings.Contains(page.Body, "<script") || strings.Contains(page.Body, "altcha") {
		t.Error("the page has a script without a challenge")
	}

	v.Post(pages.RegisterPath, "username", "ann", "password", servertest.NewSecret,
		"password_again", "another").Brief(422, "Passwords don&#39;t match.", `value="ann"`)
	v.Post(pages.RegisterPath, "username", "ann", "password", servertest.NewSecret).Brief(422,
		"Passwords don&#39;t match.")
	v.Post(pages.RegisterPath, "username", "ann", "password", "short", "password_again", "short").Brief(422, "Password: must be 8 to 1024 bytes")
	v.Post(pages.RegisterPath, "username", "ann", "password", "password123", "password_again",
		"password123").Brief(422, "too common")
	v.Post(pages.RegisterPath, "username", "an n", "email", "nowhere", "password",
		servertest.NewSecret, "password_again", servertest.NewSecret).Brief(422,
		"Username: must contain only", `value="nowhere"`)
	in.Lists("/user/list", "username", "owner")
	v.Register("ann", "").Leads(pages.AccountPath)
	v.Get(pages.AccountPath).Brief(200, "<dd>ann</dd>")
	in.GuestBrowser().Register("ANN", "").Brief(409, "Username: ", `value="ANN"`)
	in.GuestBrowser().Register("bob", "bob@example.org", "nickname", "Bob").Leads(pages.AccountPath)
	in.OK("GET", "/user/list/2", "", "owner").Brief(200, `"nickname":"Bob"`,
		`"email":"bob@example.org"`, `"email_verified":0`)
}

func TestRegistrationPage_Confirmation(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	box := in.Confirmed(`"app.registration_domains":"example.org"`)
	in.Hosted()
	in.AppGuest("resident", "known@example.org")
	v := in.GuestBrowser()
	v.Get(pages.RegisterPath).Brief(200, "Allowed email domains: example.org.",
		"We will send a confirmation link")
	v.Register("ann", "").Brief(422, "Email address: is required")
	v.Register("ann", "ann@example.net").Brief(422,
		"Email address: must be in one of these domains: example.org", `value="ann@example.net"`)
	v.Register("bob", "known@example.org").Leads(pages.RegisterPath + "?done=sent") // looks the same
	v.Register("ann", "ann@example.org").Leads(pages.RegisterPath + "?done=sent")
	if len(v.Cookies) > 0 {
		t.Errorf("signed in before the confirmation: %v", v.Cookies)
	}

	v.Get(pages.RegisterPath+"?done=sent").Brief(200, "<h1>Check your email</h1>",
		"within 24 hours")
	v.Post(pages.SignInPath, "username", "ann", "password", servertest.NewSecret).Brief(422,
		"Wrong username or password")
	in.SendMails()
	token := box.Last(t, "ann@example.org").Token(t)
	in.OK("GET", mails.LinkPath+token, "", "nobody")
	in.Submit(token, map[string][]string{"confirm": {"1"}}).Brief(200,
		`<a class="button" href="/app/sign-in">Sign in</a>`)
	v.Post(pages.SignInPath, "username", "ann@example.org", "password", servertest.NewSecret).Leads(pages.AccountPath)
	v.Get(pages.AccountPath).Brief(200, "ann@example.org (confirmed)")

	in.OK("PUT", "/system/setting", `{"values":{"mail.enabled":0}}`, "owner")
	v.Get(pages.RegisterPath).Brief(403, "This server does not send mail")
	v.Register("cat", "cat@example.org").Brief(403, "This server does not send mail")
}

func TestRegistrationPage_Challenge(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted(`"app.registration":1`, `"app.registration_challenge":1`)
	v := in.GuestBrowser()
	v.Get(pages.RegisterPath).Brief(200, `<script nonce="`, "<noscript>", "Turn on JavaScript",
		`name="altcha"`)
	v.Register("ann", "").Brief(422, "We couldn&#39;t verify that you are human.", `value="ann"`)
	v.Register("ann", "", "altcha", "bm9uc2Vuc2U=").Brief(422,
		"We couldn&#39;t verify that you are human.")
	in.Lists("/user/list", "username", "owner")
	solution := in.SolvedChallenge()
	v.Register("ann", "", "altcha", solution).Leads(pages.AccountPath)
	if a := in.GuestBrowser().Register("bob", "", "altcha", solution); a.Code != 422 ||
		strings.Contains(a.Body, solution) {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

func TestRegistrationPage_RateLimit(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted(`"app.registration":1`, `"security.login_tries":3`)
	for i := range 31 {
		a := in.GuestBrowser().Register(fmt.Sprint("user.", i), "")
		if i < 30 {
			a.Leads(pages.AccountPath)
		} else {
			a.Brief(429, "Too many attempts", "<form")
		}
	}
}

func TestForgotPage(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted(`"site.contact":"help@example.org"`)
	v := in.GuestBrowser()
	for _, a := range []*servertest.Reply{v.Get(pages.ForgotPath),
		v.Post(pages.ForgotPath, "username", "ann")} {
		if a.Brief(403, "Contact your administrator to reset your password.", "help@example.org"); strings.Contains(a.Body, "<form") {
			t.Error("there is a form without mail")
		}
	}

	box := in.OpenMailbox()
	ann := in.AppUser("ann")
	in.Update(func(tx *store.Tx) error {
		return store.SetEmail(tx, store.Account{App: true, ID: ann.ID}, "ann@example.org", true)
	})
	v.Get(pages.ForgotPath).Brief(200, "<h1>Reset your password</h1>", "<form")
	known, unknown := v.Post(pages.ForgotPath, "username", "ann"), v.Post(pages.ForgotPath,
		"username", "somebody")
	known.Leads(pages.ForgotPath + "?done=sent")
	unknown.Leads(pages.ForgotPath + "?done=sent")
	known.Header.Del("X-Request-Id")
	unknown.Header.Del("X-Request-Id")
	if fmt.Sprint(known.Header) != fmt.Sprint(unknown.Header) {
		t.Errorf("known: %v, unknown: %v", known.Header, unknown.Header)
	}

	v.Get(pages.ForgotPath+"?done=sent").Brief(200, "<h1>Check your email</h1>",
		"If the account exists")
	v.Post(pages.ForgotPath, "username", "").Brief(422, "Username or email address: is required")
	servertest.Until(t, "the mail is sent", func() bool {
		in.SendMails()
		return len(box.All()) == 1
	})
	token := box.Last(t, "ann@example.org").Token(t)
	in.Submit(token, servertest.Passwords(servertest.NewSecret, servertest.NewSecret)).Brief(200,
		`href="/app/sign-in"`)
	v.Post(pages.SignInPath, "username", "ann", "password", servertest.NewSecret).Leads(pages.AccountPath)
}

func TestForgotPage_RateLimit(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted(`"security.login_tries":3`)
	in.TurnMailOn()
	v := in.GuestBrowser()
	for range 30 {
		v.Post(pages.ForgotPath, "username", "ann").Leads(pages.ForgotPath + "?done=sent")
	}
	v.Post(pages.ForgotPath, "username", "ann").Brief(429, "Too many attempts", `value="ann"`)
}

// TestLinkPage_LeadsToSignIn checks that link pages lead to the sign-in page only if it is enabled.
func TestLinkPage_LeadsToSignIn(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.AppUser("ann")
	for _, on := range []bool{false, true} {
		if on {
			in.Hosted()
		}
		link := servertest.NewTestLink(store.PasswordReset, true, 1)
		in.Plant(link, "")
		in.OK("GET", mails.LinkPath+link.Token, "", "nobody")
		secret := "a good password " + time.Now().String()
		a := in.Submit(link.Token, servertest.Passwords(secret, secret))
		if a.Brief(200, "<h1>Done</h1>"); strings.Contains(a.Body, `href="/app/sign-in"`) != on ||
			strings.Contains(a.Body, "/console/") {
			t.Errorf("on %t: %s", on, a.Body)
		}
	}
}
