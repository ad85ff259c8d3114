package pages_test

import (
	"strings"
	"testing"

	"reeve/server/mails"
	"reeve/server/pages"
	"reeve/server/servertest"
	"reeve/store"
)

func TestAccountPage(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	v := in.SignedIn("ann")
	v.Get(pages.AccountPath).Brief(200, "<dd>ann</dd>", "<dd>Not set</dd>",
		`href="/app/account/profile"`, `href="/app/account/password"`,
		`href="/app/account/sessions"`, `href="/app/account/delete"`, `action="/app/sign-out"`)
	v.Get(pages.AccountPath + "?done=deleted").Brief(200)
	if a := v.Get(pages.AccountPath + "?done=deleted&utm_source=x"); strings.Contains(a.Body,
		"Account deleted") {
		t.Error("the page tells what another page has done")
	}

	v.Post(pages.SignOutPath).Leads(pages.SignInPath + "?done=signed_out")
	if v.Cookies[servertest.SessionCookie(true, false)] != "" {
		t.Error("the cookie remains")
	}

	v.Get(pages.SignInPath+"?done=signed_out").Brief(200, `role="status">You have signed out.`)
	v.Get(pages.AccountPath).Leads(pages.SignInPath)
	in.Lists("/system/session?app_user_id=1", "id", "owner",
		in.Column("/system/session?app_user_id=1", "id", "owner")...)
	v.Post(pages.SignOutPath).Leads(pages.SignInPath)
}

func TestProfilePage(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	in.AppGuest("other", "taken@example.org")
	in.AppUser("ann")
	v := in.GuestBrowser()
	v.Post(pages.SignInPath, "username", "ann", "password", servertest.OwnerPassword).Leads(pages.AccountPath)
	v.Post(pages.ProfilePath, "nickname", "Ann", "mobile", "+49 170 1234567", "email", "",
		"password", "").Leads(pages.AccountPath + "?done=profile")
	v.Get(pages.AccountPath+"?done=profile").Brief(200, "Profile saved.", "<dd>Ann</dd>",
		"<dd>+49 170 1234567</dd>")
	v.Get(pages.ProfilePath).Brief(200, `value="Ann"`, `autocomplete="tel"`, `autocomplete="email"`)

	a := v.Post(pages.ProfilePath, "nickname", "Anna", "mobile", "", "email", "ann@example.org",
		"password", "")
	a.Brief(422, "Current password: is required to change the email address", `value="Anna"`,
		`value="ann@example.org"`)
	a = v.Post(pages.ProfilePath, "nickname", "Anna", "mobile", "", "email", "ann@example.org",
		"password", "wrong password")
	if a.Brief(422, "Current password: is not the current password"); strings.Contains(a.Body,
		"wrong password") {
		t.Error("the page repeats the password")
	}

	v.Post(pages.ProfilePath, "nickname", "Anna", "mobile", "", "email", "taken@example.org",
		"password", servertest.OwnerPassword).Brief(409, "Email address: ")
	v.Get(pages.AccountPath).Brief(200, "<dd>Ann</dd>")
	v.Post(pages.ProfilePath, "nickname", "", "mobile", "", "email", "ann@example.org", "password",
		servertest.OwnerPassword).Leads(pages.AccountPath + "?done=profile")
	v.Get(pages.AccountPath).Brief(200, "ann@example.org (not confirmed)")
	in.OK("GET", "/user/list/2", "", "owner").Brief(200, `"nickname":""`, `"mobile":""`,
		`"email":"ann@example.org"`)
	v.Post(pages.ProfilePath, "role_ids", "1", "status", "0", "username", "root").Leads(pages.AccountPath + "?done=profile") // other fields are ignored
	in.OK("GET", "/user/list/2", "", "owner").Brief(200, `"username":"ann"`, `"status":1`,
		`"role_ids":[]`, `"email":"ann@example.org"`)
}

func TestPasswordPage(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	v := in.SignedIn("ann")
	in.Tokens["second"] = in.AppSignIn(1)
	change := func(old, secret, again string) *servertest.Reply {
		return v.Post(pages.PasswordPath, "old_password", old, "new_password", secret,
			"password_again", again)
	}

	v.Get(pages.PasswordPath).Brief(200, `value="ann" autocomplete="username" readonly hidden`,
		`autocomplete="current-password"`, `autocomplete="new-password"`)
	change("wrong password", servertest.NewSecret, servertest.NewSecret).Brief(422,
		"Current password: is not the current password")
	change(servertest.OwnerPassword, servertest.NewSecret, "another").Brief(422,
		"Passwords don&#39;t match.")
	change(servertest.OwnerPassword, "password123", "password123").Brief(422, "New password: ",
		"too common")
	change(servertest.OwnerPassword, servertest.OwnerPassword, servertest.OwnerPassword).Brief(422,
		"must differ from the current password")
	if a := change("", "", ""); a.Code != 422 || strings.Contains(a.Body, servertest.NewSecret) {
		t.Errorf("%d %s", a.Code, a.Body)
	}

	in.OK("GET", "/api/user", "", "second")
	change(servertest.OwnerPassword, servertest.NewSecret, servertest.NewSecret).Leads(pages.AccountPath + "?done=password")
	v.Get(pages.AccountPath+"?done=password").Brief(200, "Password changed.")
	in.Call("GET", "/api/user", "", "second").Brief(401)
	in.GuestBrowser().Post(pages.SignInPath, "username", "ann", "password", servertest.NewSecret).Leads(pages.AccountPath)
}

func TestPasswordPage_RateLimit(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted(`"security.login_tries":3`)
	v := in.SignedIn("ann")
	for range 2 {
		v.Post(pages.PasswordPath, "old_password", "wrong password", "new_password",
			servertest.NewSecret, "password_again", servertest.NewSecret).Brief(422)
	}
	v.Post(pages.DeletionPath, "password", "wrong password").Brief(422) // all checks of the password count together
	v.Post(pages.PasswordPath, "old_password", servertest.OwnerPassword, "new_password",
		servertest.NewSecret, "password_again", servertest.NewSecret).Brief(429,
		"Too many attempts", "<form")
	v.Post(pages.DeletionPath, "password", servertest.OwnerPassword).Brief(429)
}

// TestHostedPages_PasswordMustBeChanged checks that no other page is shown before the change.
func TestHostedPages_PasswordMustBeChanged(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	in.AppUser("ann")
	in.Update(func(tx *store.Tx) error {
		_, err := store.AppUsers.Update(tx, 1, func(u *store.AppUser) error {
			u.MustChangePassword = true
			return nil
		})
		return err
	})
	v := in.GuestBrowser()
	v.Post(pages.SignInPath, "username", "ann", "password", servertest.OwnerPassword).Leads(pages.AccountPath)
	for _, path := range []string{pages.AccountPath, pages.ProfilePath, pages.SessionsPath,
		pages.DeletionPath} {
		v.Get(path).Leads(pages.PasswordPath)
		if path != pages.AccountPath {
			v.Post(path, "nickname", "Ann", "id", "1", "password", servertest.OwnerPassword).Leads(pages.PasswordPath)
		}
	}

	page := v.Get(pages.PasswordPath)
	if page.Brief(200, "Set a new password to continue.", `action="/app/sign-out"`); strings.Contains(page.Body, `href="/app/account"`) {
		t.Error("the page leads away")
	}

	v.Post(pages.PasswordPath, "old_password", servertest.OwnerPassword, "new_password",
		servertest.NewSecret, "password_again", servertest.NewSecret).Leads(pages.AccountPath + "?done=password")
	v.Get(pages.AccountPath).Brief(200, "<dd>Not set</dd>")
}

func TestSessionsPage(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	v := in.SignedIn("ann")
	other := in.GuestBrowser()
	other.Post(pages.SignInPath, "username", "ann", "password", servertest.OwnerPassword).Leads(pages.AccountPath)
	in.AppUser("bob")
	page := v.Get(pages.SessionsPath)
	page.Brief(200, "This device", "Last active: ", "UTC", "Unknown device")
	if n := strings.Count(page.Body, "<form"); n != 2 { // that of AppUser and that of other
		t.Errorf("%d forms: %s", n, page.Body)
	}

	all := in.Column("/api/session", "id", "ann")
	v.Post(pages.SessionsPath, "id", in.Column("/api/session", "id", "bob")[0]).Leads(pages.SessionsPath + "?done=session") // as if it had ended
	in.OK("GET", "/api/user", "", "bob")
	for _, id := range []string{"", "x", "-1", "0", "99999999999999999999", "1 2"} {
		v.Post(pages.SessionsPath, "id", id).Brief(422, `role="alert"`)
	}

	newest := all[0] // of other
	v.Post(pages.SessionsPath, "id", newest).Leads(pages.SessionsPath + "?done=session")
	v.Get(pages.SessionsPath+"?done=session").Brief(200, "Session ended.")
	other.Get(pages.AccountPath).Leads(pages.SignInPath)
	if len(other.Cookies) != 1 { // that of the device
		t.Errorf("cookies %v", other.Cookies)
	}

	v.Post(pages.SessionsPath, "id", newest).Leads(pages.SessionsPath + "?done=session")
	v.Post(pages.SessionsPath, "id", all[1]).Leads(pages.SessionsPath + "?done=session") // its own
	v.Get(pages.SessionsPath + "?done=session").Leads(pages.SignInPath)
}

// TestHostedPages_SessionEndsMeanwhile: no form has an effect, and the browser is sent to the
// sign-in page.
func TestHostedPages_SessionEndsMeanwhile(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	v := in.SignedIn("ann")
	cookies := v.Cookies[servertest.SessionCookie(true, false)]
	in.Update(func(tx *store.Tx) error {
		return store.EndSessions(tx, store.Account{App: true, ID: 1}, 0)
	})
	before := in.Dump()
	for path, fields := range map[string][]string{
		pages.ProfilePath: {"nickname", "Ann"},
		pages.PasswordPath: {"old_password", servertest.OwnerPassword, "new_password",
			servertest.NewSecret, "password_again", servertest.NewSecret},
		pages.SessionsPath: {"id", "1"},
		pages.DeletionPath: {"password", servertest.OwnerPassword}, pages.SignOutPath: {},
	} {
		v.Cookies[servertest.SessionCookie(true, false)] = cookies
		v.Post(path, fields...).Leads(pages.SignInPath)
		v.Cookies[servertest.SessionCookie(true, false)] = cookies
		if path != pages.SignOutPath {
			v.Get(path).Leads(pages.SignInPath)
		}
	}

	in.Unchanged(before)
}

func TestDeletionPage(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted(`"app.delete_account":0`)
	v := in.SignedIn("ann")
	if a := v.Get(pages.AccountPath); strings.Contains(a.Body, pages.DeletionPath) {
		t.Error("the account leads to the deletion")
	}

	for _, a := range []*servertest.Reply{v.Get(pages.DeletionPath),
		v.Post(pages.DeletionPath, "password", servertest.OwnerPassword)} {
		if a.Brief(403, "You can&#39;t delete your account yourself"); strings.Contains(a.Body,
			"<form") {
			t.Error("there is a form")
		}
	}

	in.Hosted(`"app.delete_account":1`)
	v.Get(pages.DeletionPath).Brief(200, "<form", `class="danger"`)
	v.Post(pages.DeletionPath, "password", "").Brief(422, "Password: is required")
	v.Post(pages.DeletionPath, "password", "wrong password").Brief(422,
		"Password: is not the current password")
	v.Post(pages.DeletionPath, "password", servertest.OwnerPassword).Leads(pages.SignInPath + "?done=deleted")
	v.Get(pages.SignInPath+"?done=deleted").Brief(200, "Account deleted.")
	if len(v.Cookies) != 1 { // that of the device
		t.Errorf("cookies %v", v.Cookies)
	}

	v.Post(pages.SignInPath, "username", "ann", "password", servertest.OwnerPassword).Brief(422,
		"Wrong username or password")
	in.Lists("/user/list", "username", "owner")
}

// TestAccountPage_VerifiesAddress mails a link to an address that is not confirmed, and offers that only
// then.
func TestAccountPage_VerifiesAddress(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	v := in.SignedIn("ann")
	const button = `action="` + pages.VerifyPath + `"`
	v.Get(pages.AccountPath).Lacks(button) // no address
	in.OK("PUT", "/user/list/1", `{"email":"ann@example.org"}`, "owner")
	v.Get(pages.AccountPath).Lacks(button) // no mail
	v.Post(pages.VerifyPath).Brief(409, `role="alert"`, "mail")
	box := in.OpenMailbox()
	v.Get(pages.AccountPath).Brief(200, button)
	in.GuestBrowser().Post(pages.VerifyPath).Leads(pages.SignInPath)
	v.Post(pages.VerifyPath).Leads(pages.AccountPath + "?done=verification_sent")
	sent := v.Get(pages.AccountPath + "?done=verification_sent")
	sent.Brief(200, "We have sent a link")
	sent.Lacks(button)
	in.SendMails()
	v.Post(mails.LinkPath+box.Last(t, "ann@example.org").Token(t)).Brief(200, "Email address confirmed.")
	confirmed := v.Get(pages.AccountPath)
	confirmed.Brief(200, "ann@example.org (confirmed)")
	confirmed.Lacks(button)
}
