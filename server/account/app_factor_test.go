package account_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"reeve/server/account"
	"reeve/server/pages"
	"reeve/server/servertest"
	"reeve/store"
)

// withAppFactors lets app users set up a second factor, and signs one in.
func withAppFactors(in *servertest.Instance, name string) *store.AppUser {
	in.T.Helper()
	in.OK("PUT", "/system/setting", `{"values":{"app.second_factor":1}}`, "owner")
	u := in.AppUser(name)
	in.Tokens[name] = in.AppSignIn(u.ID)
	return u
}

func TestAppUserSecondFactor_BySetting(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	u := in.AppUser("ann")
	in.Tokens["ann"] = in.AppSignIn(u.ID)
	begin, otp := `{"password":"`+servertest.OwnerPassword+`"}`, func(code string) string {
		return `{"otp":"` + code + `"}`
	}

	in.OK("GET", "/api/user/totp", "", "ann").Brief(200, `"enabled":0`, `"recovery_codes":0`,
		`"allowed":0`)
	in.Call("POST", "/api/user/totp", begin, "ann").Brief(403, "second_factor_off")
	in.Call("PUT", "/api/user/totp", otp("123456"), "ann").Brief(403, "second_factor_off")
	in.OK("PUT", "/system/setting", `{"values":{"app.second_factor":1}}`, "owner")

	in.Call("POST", "/api/user/totp", `{"password":"wrong"}`, "ann").Names(422, "password")
	in.Call("POST", "/api/user/totp", `{}`, "ann").Names(422, "password")
	in.Call("POST", "/api/user/totp", begin, "owner").Brief(401)
	in.Call("PUT", "/api/user/totp", otp("123456"), "ann").Brief(409, "totp_not_begun")
	in.Call("DELETE", "/api/user/totp", otp("123456"), "ann").Brief(409, "no_factor")
	in.Call("POST", "/api/user/recovery", otp("123456"), "ann").Brief(409, "no_factor")
	app, recovery := in.SetUpAppFactor("ann")
	in.OK("GET", "/api/user/totp", "", "ann").Brief(200, `"enabled":1`, `"recovery_codes":10`,
		`"allowed":1`)
	in.OK("GET", "/user/list/1", "", "owner").Brief(200, `"second_factor":1`)

	token := in.AppFirstStep("ann", "")
	in.Call("POST", "/admin/login/totp", fmt.Sprintf(`{"login_token":%q,"otp":%q}`, token, recovery[0]), "nobody").Brief(401, "sign_in_again") // another realm
	code := app.Code()
	second := func(token, code string) *servertest.Reply {
		return in.Call("POST", "/api/login/totp",
			fmt.Sprintf(`{"login_token":%q,"otp":%q}`, token, code), "nobody")
	}
	second(token, "000000").Brief(401, "wrong_code")
	second(token, code).Brief(200, `"token":"rv_`)
	second(in.AppFirstStep("ann", ""), code).Brief(401, "wrong_code") // each code works once
	second(in.AppFirstStep("ann", ""), recovery[0]).Brief(200)

	// Turned off again, nobody loses the factor, and it can be removed.
	in.OK("PUT", "/system/setting", `{"values":{"app.second_factor":0}}`, "owner")
	second(in.AppFirstStep("ann", ""), recovery[1]).Brief(200)
	var renewed account.RecoveryCodesOut
	in.Call("POST", "/api/user/recovery", otp("000000"), "ann").Names(422, "otp")
	in.OK("POST", "/api/user/recovery", otp(recovery[2]), "ann").Data(&renewed)
	in.Call("DELETE", "/api/user/totp", otp(recovery[3]), "ann").Names(422, "otp") // replaced
	in.OK("DELETE", "/api/user/totp", otp(renewed.Codes[0]), "ann")
	in.Call("POST", "/api/login", `{"username":"ann","password":"`+servertest.OwnerPassword+`"}`,
		"nobody").Brief(200, `"token":"rv_`)
	in.OK("GET", "/api/user/totp", "", "ann").Brief(200, `"enabled":0`, `"recovery_codes":0`,
		`"allowed":0`)
}

func TestAppUserSecondFactor_RemovedByAdmin(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	withAppFactors(in, "ann")
	box := in.OpenMailbox()
	in.Update(func(tx *store.Tx) error {
		return store.SetEmail(tx, store.Account{App: true, ID: 1}, "ann@example.org", true)
	})
	in.SetUpAppFactor("ann")
	in.Clerk("helper", "user.list.query", "user.list.factor")
	in.Clerk("other", "user.list.query")
	in.Call("DELETE", "/user/list/1/factor", "", "other").Brief(403, "user.list.factor")
	in.Call("DELETE", "/user/list/9/factor", "", "helper").Brief(404)
	in.OK("DELETE", "/user/list/1/factor", "", "helper")
	in.Call("DELETE", "/user/list/1/factor", "", "helper").Brief(404, "ann has no second factor")
	in.Call("POST", "/api/login", `{"username":"ann","password":"`+servertest.OwnerPassword+`"}`,
		"nobody").Brief(200, `"token":"rv_`)
	in.SendMails()
	if text := fmt.Sprint(box.Last(t, "ann@example.org")); !strings.Contains(text, "second factor") {
		t.Errorf("the mail is %s", text)
	}
}

func TestAppUserSecondFactor_WrongCodesLimited(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.OK("PUT", "/system/setting", `{"values":{"security.login_tries":3}}`, "owner")
	withAppFactors(in, "ann")
	in.SetUpAppFactor("ann")
	limited := 0
	for range 40 {
		if in.Call("DELETE", "/api/user/totp", `{"otp":"000000"}`, "ann").Code == 429 {
			limited++
		}
	}
	if limited < 30 {
		t.Errorf("%d of 40 wrong codes were refused without being compared", limited)
	}
}

// shownCodes returns what a page shows to copy.
func shownCodes(page *servertest.Reply) (codes []string) {
	for _, m := range regexp.MustCompile(`<li><code>([^<]*)</code>`).FindAllStringSubmatch(page.Body, -1) {
		codes = append(codes, html.UnescapeString(m[1]))
	}
	return codes
}

func TestHostedPages_SecondFactor(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	in.AppUser("ann")
	v := in.GuestBrowser()
	signIn := func() *servertest.Reply {
		return v.Post(pages.SignInPath, "username", "ann", "password", servertest.OwnerPassword)
	}
	signIn().Leads(pages.AccountPath)
	if a := v.Get(pages.AccountPath); strings.Contains(a.Body, pages.AuthenticatorPath) {
		t.Error("the account leads to the authenticator app while it is off")
	}

	v.Get(pages.AuthenticatorPath).Brief(403, "Authenticator apps are not in use here")
	v.Post(pages.AuthenticatorPath, "password", servertest.OwnerPassword).Brief(403)

	in.OK("PUT", "/system/setting", `{"values":{"app.second_factor":1}}`, "owner")
	v.Get(pages.AccountPath).Brief(200, `href="`+pages.AuthenticatorPath+`"`)
	v.Get(pages.AuthenticatorPath).Brief(200, "<h1>Authenticator app</h1>", `name="password"`)
	v.Post(pages.AuthenticatorPath, "password", "wrong").Brief(422,
		"Current password: is not the current password")
	made := v.Post(pages.AuthenticatorPath, "password", servertest.OwnerPassword)
	made.Brief(200, `<svg class="qr" role="img" aria-label="QR code of the secret"`,
		`action="`+pages.ConfirmAppPath+`"`, `autocomplete="one-time-code"`, `inputmode="numeric"`)
	secrets := shownCodes(made)
	if len(secrets) != 1 {
		t.Fatalf("the page shows %q", secrets)
	}
	if got := made.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control %s", got)
	}

	app := &servertest.Authenticator{
		T:      t,
		Secret: strings.ReplaceAll(secrets[0], " ", ""),
		Next:   time.Now(),
	}

	if a := v.Get(pages.AuthenticatorPath); strings.Contains(a.Body, secrets[0]) ||
		strings.Contains(a.Body, "<svg") {
		t.Error("the secret is shown again")
	}

	v.Post(pages.ConfirmAppPath, "otp", "000000").Brief(422,
		"6-digit code that the app shows: is wrong")
	confirmed := v.Post(pages.ConfirmAppPath, "otp", app.Code())
	confirmed.Brief(200, "<h1>Recovery codes</h1>", "They are shown only once.")
	recovery := shownCodes(confirmed)
	if len(recovery) != 10 {
		t.Fatalf("the page shows %q", recovery)
	}

	v.Get(pages.AuthenticatorPath).Brief(200, "Recovery codes left: 10",
		`href="`+pages.RenewCodesPath+`"`, `href="`+pages.RemoveAppPath+`"`)

	v.Post(pages.SignOutPath).Leads(pages.SignInPath + "?done=signed_out")
	v.Post(pages.CodePath, "otp", app.Code()).Leads(pages.SignInPath + "?done=expired") // no sign-in is pending
	signIn().Leads(pages.CodePath)
	if v.Cookies[servertest.SessionCookie(true, false)] != "" {
		t.Fatal("the password alone is enough")
	}

	v.Get(pages.AccountPath).Leads(pages.SignInPath)
	v.Get(pages.CodePath).Brief(200, "<h1>Sign in</h1>", "second factor", `name="otp"`)
	v.Post(pages.CodePath, "otp", "000000").Brief(422,
		"Code from the app, or a recovery code: is wrong")
	v.Post(pages.CodePath, "otp", "").Brief(422, "is required")
	pending := v.Cookies[servertest.PendingCookie]
	v.Post(pages.CodePath, "otp", recovery[0]).Leads(pages.AccountPath)
	v.Get(pages.AccountPath).Brief(200, "<dd>ann</dd>")
	if v.Cookies[servertest.PendingCookie] != "" {
		t.Errorf("cookies %v", v.Cookies)
	}

	other := in.GuestBrowser()
	other.Cookies[servertest.PendingCookie] = pending
	other.Post(pages.CodePath, "otp", recovery[1]).Leads(pages.SignInPath + "?done=expired")
	other.Get(pages.SignInPath+"?done=expired").Brief(200, "This sign-in has expired.")

	v.Post(pages.RenewCodesPath, "otp", "nothing").Brief(422, "is wrong")
	renewed := shownCodes(v.Post(pages.RenewCodesPath, "otp", recovery[2]))
	if len(renewed) != 10 || renewed[0] == recovery[0] {
		t.Fatalf("the page shows %q", renewed)
	}

	in.Flush()
	for _, path := range []string{"/system/monitor/request?pageSize=1000",
		"/system/monitor/auth?pageSize=1000", "/system/monitor/query?pageSize=1000",
		"/system/audit?pageSize=1000", "/system/audit-export"} {
		in.OK("GET", path, "", "owner").Lacks(append(append(renewed, recovery...), app.Secret,
			secrets[0], pending)...)
	}

	v.Post(pages.RemoveAppPath, "otp", recovery[3]).Brief(422, "is wrong")
	v.Post(pages.RemoveAppPath, "otp", renewed[1]).Leads(pages.AccountPath + "?done=factor_removed")
	v.Get(pages.AccountPath+"?done=factor_removed").Brief(200, "Authenticator app turned off.")
	v.Post(pages.SignOutPath)
	signIn().Leads(pages.AccountPath)
	v.Language = "zh-CN"
	v.Get(pages.AuthenticatorPath).Brief(200, "<h1>身份验证器</h1>")
}

// TestHostedPages_WrongCodesEndLogin checks that the fifth wrong code ends the sign-in.
func TestHostedPages_WrongCodesEndLogin(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	withAppFactors(in, "ann")
	in.SetUpAppFactor("ann")
	v := in.GuestBrowser()
	v.Post(pages.SignInPath, "username", "ann", "password", servertest.OwnerPassword).Leads(pages.CodePath)
	for range 5 {
		v.Post(pages.CodePath, "otp", "000000")
	}
	v.Post(pages.CodePath, "otp", "000000").Leads(pages.SignInPath + "?done=expired")
}
