package server

import (
	"strings"
	"testing"

	"reeve/store"
)

func TestAccountPage(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	v := in.signedIn("ann")
	v.get(accountPath).brief(200, "<dd>ann</dd>", "<dd>Not set</dd>", `href="/app/account/profile"`, `href="/app/account/password"`, `href="/app/account/sessions"`, `href="/app/account/delete"`, `action="/app/sign-out"`)
	v.get(accountPath + "?done=deleted").brief(200)
	if a := v.get(accountPath + "?done=deleted&utm_source=x"); strings.Contains(a.Body, "Account deleted") {
		t.Error("the page tells what another page has done")
	}
	v.post(signOutPath).leads(signInPath + "?done=signed_out")
	if v.cookies[sessionCookie(true, false)] != "" {
		t.Error("the cookie remains")
	}
	v.get(signInPath+"?done=signed_out").brief(200, `role="status">You have signed out.`)
	v.get(accountPath).leads(signInPath)
	in.lists("/system/session?app_user_id=1", "id", "owner", in.column("/system/session?app_user_id=1", "id", "owner")...)
	v.post(signOutPath).leads(signInPath)
}

func TestProfilePage(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	in.appGuest("other", "taken@example.org")
	in.appUser("ann")
	v := in.guestBrowser()
	v.post(signInPath, "username", "ann", "password", ownerPassword).leads(accountPath)
	v.post(profilePath, "nickname", "Ann", "mobile", "+49 170 1234567", "email", "", "password", "").leads(accountPath + "?done=profile")
	v.get(accountPath+"?done=profile").brief(200, "Profile saved.", "<dd>Ann</dd>", "<dd>+49 170 1234567</dd>")
	v.get(profilePath).brief(200, `value="Ann"`, `autocomplete="tel"`, `autocomplete="email"`)

	a := v.post(profilePath, "nickname", "Anna", "mobile", "", "email", "ann@example.org", "password", "")
	a.brief(422, "Current password: is required to change the email address", `value="Anna"`, `value="ann@example.org"`)
	a = v.post(profilePath, "nickname", "Anna", "mobile", "", "email", "ann@example.org", "password", "wrong password")
	if a.brief(422, "Current password: is not the current password"); strings.Contains(a.Body, "wrong password") {
		t.Error("the page repeats the password")
	}
	v.post(profilePath, "nickname", "Anna", "mobile", "", "email", "taken@example.org", "password", ownerPassword).brief(409, "Email address: ")
	v.get(accountPath).brief(200, "<dd>Ann</dd>")
	v.post(profilePath, "nickname", "", "mobile", "", "email", "ann@example.org", "password", ownerPassword).leads(accountPath + "?done=profile")
	v.get(accountPath).brief(200, "ann@example.org (not confirmed)")
	in.ok("GET", "/user/list/2", "", "owner").brief(200, `"nickname":""`, `"mobile":""`, `"email":"ann@example.org"`)
	v.post(profilePath, "role_ids", "1", "status", "0", "username", "root").leads(accountPath + "?done=profile") // other fields are ignored
	in.ok("GET", "/user/list/2", "", "owner").brief(200, `"username":"ann"`, `"status":1`, `"role_ids":[]`, `"email":"ann@example.org"`)
}

func TestPasswordPage(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	v := in.signedIn("ann")
	in.tokens["second"] = in.appSignIn(1)
	change := func(old, secret, again string) *reply {
		return v.post(passwordPath, "old_password", old, "new_password", secret, "password_again", again)
	}
	v.get(passwordPath).brief(200, `value="ann" autocomplete="username" readonly hidden`, `autocomplete="current-password"`, `autocomplete="new-password"`)
	change("wrong password", newSecret, newSecret).brief(422, "Current password: is not the current password")
	change(ownerPassword, newSecret, "another").brief(422, "Passwords don&#39;t match.")
	change(ownerPassword, "password123", "password123").brief(422, "New password: ", "too common")
	change(ownerPassword, ownerPassword, ownerPassword).brief(422, "must differ from the current password")
	if a := change("", "", ""); a.Code != 422 || strings.Contains(a.Body, newSecret) {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	in.ok("GET", "/api/user", "", "second")
	change(ownerPassword, newSecret, newSecret).leads(accountPath + "?done=password")
	v.get(accountPath+"?done=password").brief(200, "Password changed.")
	in.call("GET", "/api/user", "", "second").brief(401)
	in.guestBrowser().post(signInPath, "username", "ann", "password", newSecret).leads(accountPath)
}

func TestPasswordPageIsRateLimited(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted(`"security.login_tries":3`)
	v := in.signedIn("ann")
	for range 2 {
		v.post(passwordPath, "old_password", "wrong password", "new_password", newSecret, "password_again", newSecret).brief(422)
	}
	v.post(deletionPath, "password", "wrong password").brief(422) // all checks of the password count together
	v.post(passwordPath, "old_password", ownerPassword, "new_password", newSecret, "password_again", newSecret).brief(429, "Too many attempts", "<form")
	v.post(deletionPath, "password", ownerPassword).brief(429)
}

// TestAPasswordThatMustBeChanged lets the person see nothing else before.
func TestAPasswordThatMustBeChanged(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	in.appUser("ann")
	in.update(func(tx *store.Tx) error {
		_, err := store.AppUsers.Update(tx, 1, func(u *store.AppUser) error { u.MustChangePassword = true; return nil })
		return err
	})
	v := in.guestBrowser()
	v.post(signInPath, "username", "ann", "password", ownerPassword).leads(accountPath)
	for _, path := range []string{accountPath, profilePath, sessionsPath, deletionPath} {
		v.get(path).leads(passwordPath)
		if path != accountPath {
			v.post(path, "nickname", "Ann", "id", "1", "password", ownerPassword).leads(passwordPath)
		}
	}
	page := v.get(passwordPath)
	if page.brief(200, "Set a new password to continue.", `action="/app/sign-out"`); strings.Contains(page.Body, `href="/app/account"`) {
		t.Error("the page leads away")
	}
	v.post(passwordPath, "old_password", ownerPassword, "new_password", newSecret, "password_again", newSecret).leads(accountPath + "?done=password")
	v.get(accountPath).brief(200, "<dd>Not set</dd>")
}

func TestSessionsPage(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	v := in.signedIn("ann")
	other := in.guestBrowser()
	other.post(signInPath, "username", "ann", "password", ownerPassword).leads(accountPath)
	in.appUser("bob")
	page := v.get(sessionsPath)
	page.brief(200, "This device", "Last active: ", "UTC", "Unknown device")
	if n := strings.Count(page.Body, "<form"); n != 2 { // that of appUser and that of other
		t.Errorf("%d forms: %s", n, page.Body)
	}
	all := in.column("/api/session", "id", "ann")
	v.post(sessionsPath, "id", in.column("/api/session", "id", "bob")[0]).leads(sessionsPath + "?done=session") // as if it had ended
	in.ok("GET", "/api/user", "", "bob")
	for _, id := range []string{"", "x", "-1", "0", "99999999999999999999", "1 2"} {
		v.post(sessionsPath, "id", id).brief(422, `role="alert"`)
	}
	newest := all[0] // of other
	v.post(sessionsPath, "id", newest).leads(sessionsPath + "?done=session")
	v.get(sessionsPath+"?done=session").brief(200, "Session ended.")
	other.get(accountPath).leads(signInPath)
	if len(other.cookies) != 1 { // that of the device
		t.Errorf("cookies %v", other.cookies)
	}
	v.post(sessionsPath, "id", newest).leads(sessionsPath + "?done=session")
	v.post(sessionsPath, "id", all[1]).leads(sessionsPath + "?done=session") // its own
	v.get(sessionsPath + "?done=session").leads(signInPath)
}

// TestASessionThatEndsMeanwhile: no form has an effect, and the browser is sent to the sign-in page.
func TestASessionThatEndsMeanwhile(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	v := in.signedIn("ann")
	cookies := v.cookies[sessionCookie(true, false)]
	in.update(func(tx *store.Tx) error { return store.EndSessions(tx, store.Account{App: true, ID: 1}, 0) })
	before := in.dump()
	for path, fields := range map[string][]string{
		profilePath: {"nickname", "Ann"}, passwordPath: {"old_password", ownerPassword, "new_password", newSecret, "password_again", newSecret},
		sessionsPath: {"id", "1"}, deletionPath: {"password", ownerPassword}, signOutPath: {},
	} {
		v.cookies[sessionCookie(true, false)] = cookies
		v.post(path, fields...).leads(signInPath)
		v.cookies[sessionCookie(true, false)] = cookies
		if path != signOutPath {
			v.get(path).leads(signInPath)
		}
	}
	in.unchanged(before)
}

func TestDeletionPage(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted(`"app.delete_account":0`)
	v := in.signedIn("ann")
	if a := v.get(accountPath); strings.Contains(a.Body, deletionPath) {
		t.Error("the account leads to the deletion")
	}
	for _, a := range []*reply{v.get(deletionPath), v.post(deletionPath, "password", ownerPassword)} {
		if a.brief(403, "You can&#39;t delete your account yourself"); strings.Contains(a.Body, "<form") {
			t.Error("there is a form")
		}
	}
	in.hosted(`"app.delete_account":1`)
	v.get(deletionPath).brief(200, "<form", `class="danger"`)
	v.post(deletionPath, "password", "").brief(422, "Password: is required")
	v.post(deletionPath, "password", "wrong password").brief(422, "Password: is not the current password")
	v.post(deletionPath, "password", ownerPassword).leads(signInPath + "?done=deleted")
	v.get(signInPath+"?done=deleted").brief(200, "Account deleted.")
	if len(v.cookies) != 1 { // that of the device
		t.Errorf("cookies %v", v.cookies)
	}
	v.post(signInPath, "username", "ann", "password", ownerPassword).brief(422, "Wrong username or password")
	in.lists("/user/list", "username", "owner")
}
