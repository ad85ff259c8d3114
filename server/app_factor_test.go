package server

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"reeve/server/account"
	"reeve/server/pages"
	"reeve/store"
)

// withAppFactors lets app users set up a second factor, and signs one in.
func (in *instance) withAppFactors(name string) *store.AppUser {
	in.t.Helper()
	in.ok("PUT", "/system/setting", `{"values":{"app.second_factor":1}}`, "owner")
	u := in.appUser(name)
	in.tokens[name] = in.appSignIn(u.ID)
	return u
}

// setUpAppFactor sets up an authenticator app for an app user who is signed in with ownerPassword.
func (in *instance) setUpAppFactor(as string) (app *authenticator, recovery []string) {
	in.t.Helper()
	app = in.appOf(in.ok("POST", "/api/user/totp", `{"password":"`+ownerPassword+`"}`, as))
	var out account.RecoveryCodesOut
	in.ok("PUT", "/api/user/totp", `{"otp":"`+app.code()+`"}`, as).data(&out)
	if len(out.Codes) != 10 {
		in.t.Errorf("recovery codes: %q", out.Codes)
	}
	return app, out.Codes
}

// appFirstStep signs an app user in with the password, and returns the token for the second step.
func (in *instance) appFirstStep(name, device string) string {
	in.t.Helper()
	var out account.LoginOut
	in.ok("POST", "/api/login", fmt.Sprintf(`{"username":%q,"password":%q,"device_token":%q}`, name, ownerPassword, device), "nobody").data(&out)
	if out.Token != "" || out.LoginToken == "" || strings.Join(out.Methods, " ") != "otp recovery" {
		in.t.Errorf("the first step: %+v", out)
	}
	return out.LoginToken
}

func TestAppUserSecondFactor_BySetting(t *testing.T) {
	t.Parallel()
	in := start(t)
	u := in.appUser("ann")
	in.tokens["ann"] = in.appSignIn(u.ID)
	begin, otp := `{"password":"`+ownerPassword+`"}`, func(code string) string { return `{"otp":"` + code + `"}` }
	in.ok("GET", "/api/user/totp", "", "ann").brief(200, `"enabled":0`, `"recovery_codes":0`, `"allowed":0`)
	in.call("POST", "/api/user/totp", begin, "ann").brief(403, "second_factor_off")
	in.call("PUT", "/api/user/totp", otp("123456"), "ann").brief(403, "second_factor_off")
	in.ok("PUT", "/system/setting", `{"values":{"app.second_factor":1}}`, "owner")

	in.call("POST", "/api/user/totp", `{"password":"wrong"}`, "ann").names(422, "password")
	in.call("POST", "/api/user/totp", `{}`, "ann").names(422, "password")
	in.call("POST", "/api/user/totp", begin, "owner").brief(401)
	in.call("PUT", "/api/user/totp", otp("123456"), "ann").brief(409, "totp_not_begun")
	in.call("DELETE", "/api/user/totp", otp("123456"), "ann").brief(409, "no_factor")
	in.call("POST", "/api/user/recovery", otp("123456"), "ann").brief(409, "no_factor")
	app, recovery := in.setUpAppFactor("ann")
	in.ok("GET", "/api/user/totp", "", "ann").brief(200, `"enabled":1`, `"recovery_codes":10`, `"allowed":1`)
	in.ok("GET", "/user/list/1", "", "owner").brief(200, `"second_factor":1`)

	token := in.appFirstStep("ann", "")
	in.call("POST", "/admin/login/totp", fmt.Sprintf(`{"login_token":%q,"otp":%q}`, token, recovery[0]), "nobody").brief(401, "sign_in_again") // another realm
	code := app.code()
	second := func(token, code string) *reply {
		return in.call("POST", "/api/login/totp", fmt.Sprintf(`{"login_token":%q,"otp":%q}`, token, code), "nobody")
	}
	second(token, "000000").brief(401, "wrong_code")
	second(token, code).brief(200, `"token":"rv_`)
	second(in.appFirstStep("ann", ""), code).brief(401, "wrong_code") // each code works once
	second(in.appFirstStep("ann", ""), recovery[0]).brief(200)

	// Turned off again, nobody loses the factor, and it can be removed.
	in.ok("PUT", "/system/setting", `{"values":{"app.second_factor":0}}`, "owner")
	second(in.appFirstStep("ann", ""), recovery[1]).brief(200)
	var renewed account.RecoveryCodesOut
	in.call("POST", "/api/user/recovery", otp("000000"), "ann").names(422, "otp")
	in.ok("POST", "/api/user/recovery", otp(recovery[2]), "ann").data(&renewed)
	in.call("DELETE", "/api/user/totp", otp(recovery[3]), "ann").names(422, "otp") // replaced
	in.ok("DELETE", "/api/user/totp", otp(renewed.Codes[0]), "ann")
	in.call("POST", "/api/login", `{"username":"ann","password":"`+ownerPassword+`"}`, "nobody").brief(200, `"token":"rv_`)
	in.ok("GET", "/api/user/totp", "", "ann").brief(200, `"enabled":0`, `"recovery_codes":0`, `"allowed":0`)
}

func TestAppUserSecondFactor_RemovedByAdmin(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.withAppFactors("ann")
	box := in.openMailbox()
	in.update(func(tx *store.Tx) error {
		return store.SetEmail(tx, store.Account{App: true, ID: 1}, "ann@example.org", true)
	})
	in.setUpAppFactor("ann")
	in.clerk("helper", "user.list.query", "user.list.factor")
	in.clerk("other", "user.list.query")
	in.call("DELETE", "/user/list/1/factor", "", "other").brief(403, "user.list.factor")
	in.call("DELETE", "/user/list/9/factor", "", "helper").brief(404)
	in.ok("DELETE", "/user/list/1/factor", "", "helper")
	in.call("DELETE", "/user/list/1/factor", "", "helper").brief(404, "ann has no second factor")
	in.call("POST", "/api/login", `{"username":"ann","password":"`+ownerPassword+`"}`, "nobody").brief(200, `"token":"rv_`)
	in.sendMails()
	if text := fmt.Sprint(box.last(t, "ann@example.org")); !strings.Contains(text, "second factor") {
		t.Errorf("the mail is %s", text)
	}
}

func TestAppUserSecondFactor_WrongCodesLimited(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.ok("PUT", "/system/setting", `{"values":{"security.login_tries":3}}`, "owner")
	in.withAppFactors("ann")
	in.setUpAppFactor("ann")
	limited := 0
	for range 40 {
		if in.call("DELETE", "/api/user/totp", `{"otp":"000000"}`, "ann").Code == 429 {
			limited++
		}
	}
	if limited < 30 {
		t.Errorf("%d of 40 wrong codes were refused without being compared", limited)
	}
}

// shownCodes returns what a page shows to copy.
func shownCodes(page *reply) (codes []string) {
	for _, m := range regexp.MustCompile(`<li><code>([^<]*)</code>`).FindAllStringSubmatch(page.Body, -1) {
		codes = append(codes, html.UnescapeString(m[1]))
	}
	return codes
}

func TestHostedPages_SecondFactor(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	in.appUser("ann")
	v := in.guestBrowser()
	signIn := func() *reply { return v.post(pages.SignInPath, "username", "ann", "password", ownerPassword) }
	signIn().leads(pages.AccountPath)
	if a := v.get(pages.AccountPath); strings.Contains(a.Body, pages.AuthenticatorPath) {
		t.Error("the account leads to the authenticator app while it is off")
	}
	v.get(pages.AuthenticatorPath).brief(403, "Authenticator apps are not in use here")
	v.post(pages.AuthenticatorPath, "password", ownerPassword).brief(403)

	in.ok("PUT", "/system/setting", `{"values":{"app.second_factor":1}}`, "owner")
	v.get(pages.AccountPath).brief(200, `href="`+pages.AuthenticatorPath+`"`)
	v.get(pages.AuthenticatorPath).brief(200, "<h1>Authenticator app</h1>", `name="password"`)
	v.post(pages.AuthenticatorPath, "password", "wrong").brief(422, "Current password: is not the current password")
	made := v.post(pages.AuthenticatorPath, "password", ownerPassword)
	made.brief(200, `<svg class="qr" role="img" aria-label="QR code of the secret"`, `action="`+pages.ConfirmAppPath+`"`, `autocomplete="one-time-code"`, `inputmode="numeric"`)
	secrets := shownCodes(made)
	if len(secrets) != 1 {
		t.Fatalf("the page shows %q", secrets)
	}
	if got := made.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control %s", got)
	}
	app := &authenticator{t, strings.ReplaceAll(secrets[0], " ", ""), time.Now()}
	if a := v.get(pages.AuthenticatorPath); strings.Contains(a.Body, secrets[0]) || strings.Contains(a.Body, "<svg") {
		t.Error("the secret is shown again")
	}
	v.post(pages.ConfirmAppPath, "otp", "000000").brief(422, "6-digit code that the app shows: is wrong")
	confirmed := v.post(pages.ConfirmAppPath, "otp", app.code())
	confirmed.brief(200, "<h1>Recovery codes</h1>", "They are shown only once.")
	recovery := shownCodes(confirmed)
	if len(recovery) != 10 {
		t.Fatalf("the page shows %q", recovery)
	}
	v.get(pages.AuthenticatorPath).brief(200, "Recovery codes left: 10", `href="`+pages.RenewCodesPath+`"`, `href="`+pages.RemoveAppPath+`"`)

	v.post(pages.SignOutPath).leads(pages.SignInPath + "?done=signed_out")
	v.post(pages.CodePath, "otp", app.code()).leads(pages.SignInPath + "?done=expired") // no sign-in is pending
	signIn().leads(pages.CodePath)
	if v.cookies[sessionCookie(true, false)] != "" {
		t.Fatal("the password alone is enough")
	}
	v.get(pages.AccountPath).leads(pages.SignInPath)
	v.get(pages.CodePath).brief(200, "<h1>Sign in</h1>", "second factor", `name="otp"`)
	v.post(pages.CodePath, "otp", "000000").brief(422, "Code from the app, or a recovery code: is wrong")
	v.post(pages.CodePath, "otp", "").brief(422, "is required")
	pending := v.cookies[pendingCookie]
	v.post(pages.CodePath, "otp", recovery[0]).leads(pages.AccountPath)
	v.get(pages.AccountPath).brief(200, "<dd>ann</dd>")
	if v.cookies[pendingCookie] != "" {
		t.Errorf("cookies %v", v.cookies)
	}
	other := in.guestBrowser()
	other.cookies[pendingCookie] = pending
	other.post(pages.CodePath, "otp", recovery[1]).leads(pages.SignInPath + "?done=expired")
	other.get(pages.SignInPath+"?done=expired").brief(200, "This sign-in has expired.")

	v.post(pages.RenewCodesPath, "otp", "nothing").brief(422, "is wrong")
	renewed := shownCodes(v.post(pages.RenewCodesPath, "otp", recovery[2]))
	if len(renewed) != 10 || renewed[0] == recovery[0] {
		t.Fatalf("the page shows %q", renewed)
	}
	in.flush()
	for _, path := range []string{"/system/monitor/request?pageSize=1000", "/system/monitor/auth?pageSize=1000", "/system/monitor/query?pageSize=1000", "/system/audit?pageSize=1000", "/system/audit-export"} {
		in.ok("GET", path, "", "owner").lacks(append(append(renewed, recovery...), app.secret, secrets[0], pending)...)
	}
	v.post(pages.RemoveAppPath, "otp", recovery[3]).brief(422, "is wrong")
	v.post(pages.RemoveAppPath, "otp", renewed[1]).leads(pages.AccountPath + "?done=factor_removed")
	v.get(pages.AccountPath+"?done=factor_removed").brief(200, "Authenticator app turned off.")
	v.post(pages.SignOutPath)
	signIn().leads(pages.AccountPath)
	v.language = "zh-CN"
	v.get(pages.AuthenticatorPath).brief(200, "<h1>身份验证器</h1>")
}

// TestHostedPages_WrongCodesEndLogin checks that the fifth wrong code ends the sign-in.
func TestHostedPages_WrongCodesEndLogin(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	in.withAppFactors("ann")
	in.setUpAppFactor("ann")
	v := in.guestBrowser()
	v.post(pages.SignInPath, "username", "ann", "password", ownerPassword).leads(pages.CodePath)
	for range 5 {
		v.post(pages.CodePath, "otp", "000000")
	}
	v.post(pages.CodePath, "otp", "000000").leads(pages.SignInPath + "?done=expired")
}
