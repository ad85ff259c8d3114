package server

import (
	"strings"
	"testing"

	"reeve/server/pages"
	"reeve/store"
)

func TestAccountPage(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	v := in.signedIn("ann")
	v.get(pages.AccountPath).brief(200, "<dd>ann</dd>", "<dd>Not set</dd>", `href="/app/account/profile"`, `href="/app/account/password"`, `href="/app/account/sessions"`, `href="/app/account/delete"`, `action="/app/sign-out"`)
	v.get(pages.AccountPath + "?done=deleted").brief(200)
	if a := v.get(pages.AccountPath + "?done=deleted&utm_source=x"); strings.Contains(a.Body, "Account deleted") {
		t.Error("the page tells what another page has done")
	}
	v.post(pages.SignOutPath).leads(pages.SignInPath + "?done=signed_out")
	if v.cookies[sessionCookie(true, false)] != "" {
		t.Error("the cookie remains")
	}
	v.get(pages.SignInPath+"?done=signed_out").brief(200, `role="status">You have signed out.`)
	v.get(pages.AccountPath).leads(pages.SignInPath)
	in.lists("/system/session?app_user_id=1", "id", "owner", in.column("/system/session?app_user_id=1", "id", "owner")...)
	v.post(pages.SignOutPath).leads(pages.SignInPath)
}

func TestProfilePage(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	in.appGuest("other", "taken@example.org")
	in.appUser("ann")
	v := in.guestBrowser()
	v.post(pages.SignInPath, "username", "ann", "password", ownerPassword).leads(pages.AccountPath)
	v.post(pages.ProfilePath, "nickname", "Ann", "mobile", "+49 170 1234567", "email", "", "password", "").leads(pages.AccountPath + "?done=profile")
	v.get(pages.AccountPath+"?done=profile").brief(200, "Profile saved.", "<dd>Ann</dd>", "<dd>+49 170 1234567</dd>")
	v.get(pages.ProfilePath).brief(200, `value="Ann"`, `autocomplete="tel"`, `autocomplete="email"`)

	a := v.post(pages.ProfilePath, "nickname", "Anna", "mobile", "", "email", "ann@example.org", "password", "")
	a.brief(422, "Current password: is required to change the email address", `value="Anna"`, `value="ann@example.org"`)
	a = v.post(pages.ProfilePath, "nickname", "Anna", "mobile", "", "email", "ann@example.org", "password", "wrong password")
	if a.brief(422, "Current password: is not the current password"); strings.Contains(a.Body, "wrong password") {
		t.Error("the page repeats the password")
	}
	v.post(pages.ProfilePath, "nickname", "Anna", "mobile", "", "email", "taken@example.org", "password", ownerPassword).brief(409, "Email address: ")
	v.get(pages.AccountPath).brief(200, "<dd>Ann</dd>")
	v.post(pages.ProfilePath, "nickname", "", "mobile", "", "email", "ann@example.org", "password", ownerPassword).leads(pages.AccountPath + "?done=profile")
	v.get(pages.AccountPath).brief(200, "ann@example.org (not confirmed)")
	in.ok("GET", "/user/list/2", "", "owner").brief(200, `"nickname":""`, `"mobile":""`, `"email":"ann@example.org"`)
	v.post(pages.ProfilePath, "role_ids", "1", "status", "0", "username", "root").leads(pages.AccountPath + "?done=profile") // other fields are ignored
	in.ok("GET", "/user/list/2", "", "owner").brief(200, `"username":"ann"`, `"status":1`, `"role_ids":[]`, `"email":"ann@example.org"`)
}

func TestPasswordPage(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	v := in.signedIn("ann")
	in.tokens["second"] = in.appSignIn(1)
	change := func(old, secret, again string) *reply {
		return v.post(pages.PasswordPath, "old_password", old, "new_password", secret, "password_again", again)
	}
	v.get(pages.PasswordPath).brief(200, `value="ann" autocomplete="username" readonly hidden`, `autocomplete="current-password"`, `autocomplete="new-password"`)
	change("wrong password", newSecret, newSecret).brief(422, "Current password: is not the current password")
	change(ownerPassword, newSecret, "another").brief(422, "Passwords don&#39;t match.")
	change(ownerPassword, "password123", "password123").brief(422, "New password: ", "too common")
	change(ownerPassword, ownerPassword, ownerPassword).brief(422, "must differ from the current password")
	if a := change("", "", ""); a.Code != 422 || strings.Contains(a.Body, newSecret) {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	in.ok("GET", "/api/user", "", "second")
	change(ownerPassword, newSecret, newSecret).leads(pages.AccountPath + "?done=password")
	v.get(pages.AccountPath+"?done=password").brief(200, "Password changed.")
	in.call("GET", "/api/user", "", "second").brief(401)
	in.guestBrowser().post(pages.SignInPath, "username", "ann", "password", newSecret).leads(pages.AccountPath)
}

func TestPasswordPage_RateLimit(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted(`"security.login_tries":3`)
	v := in.signedIn("ann")
	for range 2 {
		v.post(pages.PasswordPath, "old_password", "wrong password", "new_password", newSecret, "password_again", newSecret).brief(422)
	}
	v.post(pages.DeletionPath, "password", "wrong password").brief(422) // all checks of the password count together
	v.post(pages.PasswordPath, "old_password", ownerPassword, "new_password", newSecret, "password_again", newSecret).brief(429, "Too many attempts", "<form")
	v.post(pages.DeletionPath, "password", ownerPassword).brief(429)
}

// TestHostedPages_PasswordMustBeChanged checks that no other page is shown before the change.
func TestHostedPages_PasswordMustBeChanged(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	in.appUser("ann")
	in.update(func(tx *store.Tx) error {
		_, err := store.AppUsers.Update(tx, 1, func(u *store.AppUser) error { u.MustChangePassword = true; return nil })
		return err
	})
	v := in.guestBrowser()
	v.post(pages.SignInPath, "username", "ann", "password", ownerPassword).leads(pages.AccountPath)
	for _, path := range []string{pages.AccountPath, pages.ProfilePath, pages.SessionsPath, pages.DeletionPath} {
		v.get(path).leads(pages.PasswordPath)
		if path != pages.AccountPath {
			v.post(path, "nickname", "Ann", "id", "1", "password", ownerPassword).leads(pages.PasswordPath)
		}
	}
	page := v.get(pages.PasswordPath)
	if page.brief(200, "Set a new password to continue.", `action="/app/sign-out"`); strings.Contains(page.Body, `href="/app/account"`) {
		t.Error("the page leads away")
	}
	v.post(pages.PasswordPath, "old_password", ownerPassword, "new_password", newSecret, "password_again", newSecret).leads(pages.AccountPath + "?done=password")
	v.get(pages.AccountPath).brief(200, "<dd>Not set</dd>")
}

func TestSessionsPage(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	v := in.signedIn("ann")
	other := in.guestBrowser()
	other.post(pages.SignInPath, "username", "ann", "password", ownerPassword).leads(pages.AccountPath)
	in.appUser("bob")
	page := v.get(pages.SessionsPath)
	page.brief(200, "This device", "Last active: ", "UTC", "Unknown device")
	if n := strings.Count(page.Body, "<form"); n != 2 { // that of AppUser and that of other
		t.Errorf("%d forms: %s", n, page.Body)
	}
	all := in.column("/api/session", "id", "ann")
	v.post(pages.SessionsPath, "id", in.column("/api/session", "id", "bob")[0]).leads(pages.SessionsPath + "?done=session") // as if it had ended
	in.ok("GET", "/api/user", "", "bob")
	for _, id := range []string{"", "x", "-1", "0", "99999999999999999999", "1 2"} {
		v.post(pages.SessionsPath, "id", id).brief(422, `role="alert"`)
	}
	newest := all[0] // of other
	v.post(pages.SessionsPath, "id", newest).leads(pages.SessionsPath + "?done=session")
	v.get(pages.SessionsPath+"?done=session").brief(200, "Session ended.")
	other.get(pages.AccountPath).leads(pages.SignInPath)
	if len(other.cookies) != 1 { // that of the device
		t.Errorf("cookies %v", other.cookies)
	}
	v.post(pages.SessionsPath, "id", newest).leads(pages.SessionsPath + "?done=session")
	v.post(pages.SessionsPath, "id", all[1]).leads(pages.SessionsPath + "?done=session") // its own
	v.get(pages.SessionsPath + "?done=session").leads(pages.SignInPath)
}

// TestHostedPages_SessionEndsMeanwhile: no form has an effect, and the browser is sent to the sign-in page.
func TestHostedPages_SessionEndsMeanwhile(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	v := in.signedIn("ann")
	cookies := v.cookies[sessionCookie(true, false)]
	in.update(func(tx *store.Tx) error { return store.EndSessions(tx, store.Account{App: true, ID: 1}, 0) })
	before := in.dump()
	for path, fields := range map[string][]string{
		pages.ProfilePath: {"nickname", "Ann"}, pages.PasswordPath: {"old_password", ownerPassword, "new_password", newSecret, "password_again", newSecret},
		pages.SessionsPath: {"id", "1"}, pages.DeletionPath: {"password", ownerPassword}, pages.SignOutPath: {},
	} {
		v.cookies[sessionCookie(true, false)] = cookies
		v.post(path, fields...).leads(pages.SignInPath)
		v.cookies[sessionCookie(true, false)] = cookies
		if path != pages.SignOutPath {
			v.get(path).leads(pages.SignInPath)
		}
	}
	in.unchanged(before)
}

func TestDeletionPage(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted(`"app.delete_account":0`)
	v := in.signedIn("ann")
	if a := v.get(pages.AccountPath); strings.Contains(a.Body, pages.DeletionPath) {
		t.Error("the account leads to the deletion")
	}
	for _, a := range []*reply{v.get(pages.DeletionPath), v.post(pages.DeletionPath, "password", ownerPassword)} {
		if a.brief(403, "You can&#39;t delete your account yourself"); strings.Contains(a.Body, "<form") {
			t.Error("there is a form")
		}
	}
	in.hosted(`"app.delete_account":1`)
	v.get(pages.DeletionPath).brief(200, "<form", `class="danger"`)
	v.post(pages.DeletionPath, "password", "").brief(422, "Password: is required")
	v.post(pages.DeletionPath, "password", "wrong password").brief(422, "Password: is not the current password")
	v.post(pages.DeletionPath, "password", ownerPassword).leads(pages.SignInPath + "?done=deleted")
	v.get(pages.SignInPath+"?done=deleted").brief(200, "Account deleted.")
	if len(v.cookies) != 1 { // that of the device
		t.Errorf("cookies %v", v.cookies)
	}
	v.post(pages.SignInPath, "username", "ann", "password", ownerPassword).brief(422, "Wrong username or password")
	in.lists("/user/list", "username", "owner")
}
