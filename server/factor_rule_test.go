package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"reeve/server/account"
	"reeve/store"
)

// due returns until when a user must set up a second factor.
func (in *instance) due(as string) store.Time {
	in.t.Helper()
	var out struct {
		Due store.Time `json:"factor_due"`
	}
	in.ok("GET", "/admin/info", "", as).data(&out)
	return out.Due
}

// signInAs signs a user in with ownerPassword, and keeps the token under a name.
func (in *instance) signInAs(name, as string) {
	in.t.Helper()
	var out account.LoginOut
	in.login(name, ownerPassword).data(&out)
	if out.Token == "" {
		in.t.Fatalf("%s has no session", name)
	}
	in.tokens[as] = out.Token
}

// overdue ends the days in which a user could set up a second factor.
func (in *instance) overdue(name string) {
	in.update(func(tx *store.Tx) error {
		u, err := store.UserByName.Get(tx, name)
		if err == nil {
			_, err = store.Users.UpdateQuietly(tx, u.ID, func(u *store.User) error { u.FactorDue = tx.Now().Add(-time.Second); return nil })
		}
		return err
	})
}

func TestSecondFactor_RequiredByRole(t *testing.T) {
	t.Parallel()
	in := start(t)
	role := in.role("Staff", nil, "admin.role.query")
	in.member("ada", 0, role)
	in.member("bob", 0)
	path := fmt.Sprint("/admin/role/", role)
	in.call("PUT", path, `{"require_factor":1}`, "owner").brief(409, "factor_first")
	in.call("PUT", "/system/setting", `{"values":{"security.require_factor":"all"}}`, "owner").brief(409, "factor_first")
	in.setUpFactor("owner")
	in.stale("admin")
	in.call("PUT", path, `{"require_factor":1}`, "owner").brief(403, "reauth_required")
	in.update(func(tx *store.Tx) error { // the codes of the test are used up
		s, err := store.SessionsOf(tx, store.Account{ID: 1})
		for _, id := range s {
			_, err = store.Sessions.UpdateQuietly(tx, id, func(s *store.Session) error { s.ProvedAt = tx.Now(); return nil })
		}
		return err
	})
	in.ok("PUT", path, `{"require_factor":1}`, "owner").brief(200, `"require_factor":1`)

	if at := in.due("ada"); at != 0 {
		t.Errorf("a session that was open: due %v", at)
	}
	in.signInAs("ada", "ada")
	if left := time.Until(in.due("ada").Std()); left > 7*24*time.Hour || left < 7*24*time.Hour-time.Minute {
		t.Errorf("%v are left", left)
	}
	first := in.due("ada")
	in.signInAs("ada", "ada")
	if again := in.due("ada"); again != first {
		t.Errorf("another sign-in moves the day: %v, %v", first, again)
	}
	in.ok("GET", "/admin/role", "", "ada")
	in.signInAs("bob", "bob")
	if at := in.due("bob"); at != 0 {
		t.Errorf("somebody without the role: due %v", at)
	}

	in.overdue("ada")
	in.call("GET", "/admin/role", "", "ada").brief(403, "factor_required")
	in.call("PUT", "/admin/info", `{"nickname":"Ada"}`, "ada").brief(403, "factor_required")
	in.ok("GET", "/admin/info", "", "ada")
	in.ok("GET", "/admin/account/passkey", "", "ada")
	in.setUpFactor("ada")
	in.ok("GET", "/admin/role", "", "ada")
	if at := in.due("ada"); at != 0 {
		t.Errorf("with a second factor: due %v", at)
	}
	in.ok("DELETE", "/admin/account/totp", "", "ada")
	in.call("GET", "/admin/role", "", "ada").brief(403, "factor_required") // at once
	p := newAuthenticator()
	id, _ := in.addPasskey(p, "", "ada")
	in.ok("GET", "/admin/role", "", "ada")
	in.ok("DELETE", fmt.Sprint("/admin/account/passkey/", id), "", "ada")
	in.call("GET", "/admin/role", "", "ada").brief(403, "factor_required")
	in.ok("PUT", path, `{"require_factor":0}`, "owner")
	in.ok("GET", "/admin/role", "", "ada") // at once, too
}

// TestSecondFactor_RemovedMustBeReplaced checks that a removed factor must be replaced at once, if
// one is required.
func TestSecondFactor_RemovedMustBeReplaced(t *testing.T) {
	t.Parallel()
	in := start(t)
	role := in.role("Staff", func(r *store.Role) { r.RequireFactor = true }, "admin.role.query")
	ada := in.member("ada", 0, role)
	in.setUpFactor("ada")
	in.ok("DELETE", fmt.Sprintf("/admin/list/%d/factor", ada), "", "owner")
	in.call("GET", "/admin/role", "", "ada").brief(403, "factor_required")
	in.signInAs("ada", "again")
	in.call("GET", "/admin/role", "", "again").brief(403, "factor_required")
	in.setUpFactor("again")
	in.ok("GET", "/admin/role", "", "again")
}

func TestSecondFactor_RequiredBySetting(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.member("bob", 0)
	in.setUpFactor("owner")
	in.ok("PUT", "/system/setting", `{"values":{"security.require_factor":"owners","security.factor_grace_days":0}}`, "owner")
	in.signInAs("bob", "bob")
	if at := in.due("bob"); at != 0 {
		t.Errorf("somebody who is no owner: due %v", at)
	}
	in.ok("PUT", "/system/setting", `{"values":{"security.require_factor":"all"}}`, "owner")
	in.signInAs("bob", "bob")
	in.call("POST", "/admin/avatar", "", "bob").brief(403, "factor_required")
	in.newKey("checker", "/admin/key", `{"name":"checker","role_ids":[`+fmt.Sprint(in.role("Checker", nil, "auth.check", "auth.introspect"))+`]}`, "owner")
	in.ok("POST", "/auth/check", fmt.Sprintf(`{"token":%q,"permissions":["x.y"],"explain":1}`, in.tokens["bob"]), "checker").brief(200, "factor_required")
	in.ok("PUT", "/system/setting", `{"values":{"security.require_factor":"nobody"}}`, "owner")
	if at := in.due("bob"); at != 0 {
		t.Errorf("once it is off: due %v", at)
	}
}

// TestSecondFactor_RemovalNotice checks that the user is notified at the next sign-in and by mail,
// unless the user removed the factor.
func TestSecondFactor_RemovalNotice(t *testing.T) {
	t.Parallel()
	in := start(t)
	box := in.openMailbox()
	ada := in.member("ada", 0)
	in.ok("PUT", fmt.Sprint("/admin/list/", ada), `{"email":"ada@example.org"}`, "owner")
	in.setUpFactor("ada")
	in.ok("DELETE", "/admin/account/totp", "", "ada")
	in.ok("GET", "/admin/info", "", "ada").brief(200, `"notices":[]`)
	in.setUpFactor("ada")
	in.ok("DELETE", fmt.Sprintf("/admin/list/%d/factor", ada), "", "owner")
	var out struct{ Notices []store.Notice }
	in.ok("GET", "/admin/info", "", "ada").data(&out)
	if len(out.Notices) != 1 || out.Notices[0].Kind != store.FactorRemoved {
		t.Fatalf("notices: %+v", out.Notices)
	}
	in.sendMails()
	if _, text := box.last(t, "ada@example.org").text(t); !strings.Contains(text, "second factor of your account ada") || !strings.Contains(text, "was removed") {
		t.Errorf("the mail: %s", text)
	}
	in.call("PUT", "/admin/account/notice", `{}`, "ada").names(422, "until")
	in.ok("PUT", "/admin/account/notice", fmt.Sprintf(`{"until":%q}`, out.Notices[0].At.Add(-time.Second)), "ada")
	in.ok("GET", "/admin/info", "", "ada").brief(200, store.FactorRemoved)
	in.ok("PUT", "/admin/account/notice", fmt.Sprintf(`{"until":%q}`, out.Notices[0].At), "ada")
	in.ok("GET", "/admin/info", "", "ada").brief(200, `"notices":[]`)
}
