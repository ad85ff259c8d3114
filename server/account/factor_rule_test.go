package account_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"reeve/server/account"
	"reeve/server/servertest"
	"reeve/store"
)

// due returns until when a user must set up a second factor.
func due(in *servertest.Instance, as string) store.Time {
	in.T.Helper()
	var out struct {
		Due store.Time `json:"factor_due"`
	}
	in.OK("GET", "/admin/info", "", as).Data(&out)
	return out.Due
}

// signInAs signs a user in with OwnerPassword, and keeps the token under a name.
func signInAs(in *servertest.Instance, name, as string) {
	in.T.Helper()
	var out account.LoginOut
	in.Login(name, servertest.OwnerPassword).Data(&out)
	if out.Token == "" {
		in.T.Fatalf("%s has no session", name)
	}
	in.Tokens[as] = out.Token
}

// overdue ends the days in which a user could set up a second factor.
func overdue(in *servertest.Instance, name string) {
	in.Update(func(tx *store.Tx) error {
		u, err := store.UserByName.Get(tx, name)
		if err == nil {
			_, err = store.Users.UpdateQuietly(tx, u.ID, func(u *store.User) error {
				u.FactorDue = tx.Now().Add(-time.Second)
				return nil
			})
		}
		return err
	})
}

func TestSecondFactor_RequiredByRole(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	role := in.Role("Staff", nil, "admin.role.query")
	in.Member("ada", 0, role)
	in.Member("bob", 0)
	path := fmt.Sprint("/admin/role/", role)
	in.Call("PUT", path, `{"require_factor":1}`, "owner").Brief(409, "factor_first")
	in.Call("PUT", "/system/setting", `{"values":{"security.require_factor":"all"}}`, "owner").Brief(409, "factor_first")
	in.SetUpFactor("owner")
	in.Stale("admin")
	in.Call("PUT", path, `{"require_factor":1}`, "owner").Brief(403, "reauth_required")
	in.Update(func(tx *store.Tx) error { // the codes of the test are used up
		s, err := store.SessionsOf(tx, store.Account{ID: 1})
		for _, id := range s {
			_, err = store.Sessions.UpdateQuietly(tx, id, func(s *store.Session) error {
				s.ProvedAt = tx.Now()
				return nil
			})
		}
		return err
	})
	in.OK("PUT", path, `{"require_factor":1}`, "owner").Brief(200, `"require_factor":1`)

	if at := due(in, "ada"); at != 0 {
		t.Errorf("a session that was open: due %v", at)
	}

	signInAs(in, "ada", "ada")
	if left := time.Until(due(in, "ada").Std()); left > 7*24*time.Hour ||
		left < 7*24*time.Hour-time.Minute {
		t.Errorf("%v are left", left)
	}

	first := due(in, "ada")
	signInAs(in, "ada", "ada")
	if again := due(in, "ada"); again != first {
		t.Errorf("another sign-in moves the day: %v, %v", first, again)
	}

	in.OK("GET", "/admin/role", "", "ada")
	signInAs(in, "bob", "bob")
	if at := due(in, "bob"); at != 0 {
		t.Errorf("somebody without the role: due %v", at)
	}

	overdue(in, "ada")
	in.Call("GET", "/admin/role", "", "ada").Brief(403, "factor_required")
	in.Call("PUT", "/admin/info", `{"nickname":"Ada"}`, "ada").Brief(403, "factor_required")
	in.OK("GET", "/admin/info", "", "ada")
	in.OK("GET", "/admin/account/passkey", "", "ada")
	in.SetUpFactor("ada")
	in.OK("GET", "/admin/role", "", "ada")
	if at := due(in, "ada"); at != 0 {
		t.Errorf("with a second factor: due %v", at)
	}

	in.OK("DELETE", "/admin/account/totp", "", "ada")
	in.Call("GET", "/admin/role", "", "ada").Brief(403, "factor_required") // at once
	p := servertest.NewAuthenticator()
	id, _ := in.AddPasskey(p, "", "ada")
	in.OK("GET", "/admin/role", "", "ada")
	in.OK("DELETE", fmt.Sprint("/admin/account/passkey/", id), "", "ada")
	in.Call("GET", "/admin/role", "", "ada").Brief(403, "factor_required")
	in.OK("PUT", path, `{"require_factor":0}`, "owner")
	in.OK("GET", "/admin/role", "", "ada") // at once, too
}

// TestSecondFactor_RemovedMustBeReplaced checks that a removed factor must be replaced at once, if
// one is required.
func TestSecondFactor_RemovedMustBeReplaced(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	role := in.Role("Staff", func(r *store.Role) { r.RequireFactor = true }, "admin.role.query")
	ada := in.Member("ada", 0, role)
	in.SetUpFactor("ada")
	in.OK("DELETE", fmt.Sprintf("/admin/list/%d/factor", ada), "", "owner")
	in.Call("GET", "/admin/role", "", "ada").Brief(403, "factor_required")
	signInAs(in, "ada", "again")
	in.Call("GET", "/admin/role", "", "again").Brief(403, "factor_required")
	in.SetUpFactor("again")
	in.OK("GET", "/admin/role", "", "again")
}

func TestSecondFactor_RequiredBySetting(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Member("bob", 0)
	in.SetUpFactor("owner")
	in.OK("PUT", "/system/setting",
		`{"values":{"security.require_factor":"owners","security.factor_grace_days":0}}`, "owner")
	signInAs(in, "bob", "bob")
	if at := due(in, "bob"); at != 0 {
		t.Errorf("somebody who is no owner: due %v", at)
	}

	in.OK("PUT", "/system/setting", `{"values":{"security.require_factor":"all"}}`, "owner")
	signInAs(in, "bob", "bob")
	in.Call("POST", "/admin/avatar", "", "bob").Brief(403, "factor_required")
	in.NewKey("checker", "/admin/key",
		`{"name":"checker","role_ids":[`+fmt.Sprint(in.Role("Checker", nil, "auth.check",
			"auth.introspect"))+`]}`, "owner")
	in.OK("POST", "/auth/check",
		fmt.Sprintf(`{"token":%q,"permissions":["x.y"],"explain":1}`, in.Tokens["bob"]), "checker").Brief(200, "factor_required")
	in.OK("PUT", "/system/setting", `{"values":{"security.require_factor":"nobody"}}`, "owner")
	if at := due(in, "bob"); at != 0 {
		t.Errorf("once it is off: due %v", at)
	}
}

// TestSecondFactor_RemovalNotice checks that the user is notified at the next sign-in and by mail,
// unless the user removed the factor.
func TestSecondFactor_RemovalNotice(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	box := in.OpenMailbox()
	ada := in.Member("ada", 0)
	in.OK("PUT", fmt.Sprint("/admin/list/", ada), `{"email":"ada@example.org"}`, "owner")
	in.SetUpFactor("ada")
	in.OK("DELETE", "/admin/account/totp", "", "ada")
	in.OK("GET", "/admin/info", "", "ada").Brief(200, `"notices":[]`)
	in.SetUpFactor("ada")
	in.OK("DELETE", fmt.Sprintf("/admin/list/%d/factor", ada), "", "owner")
	var out struct{ Notices []store.Notice }
	in.OK("GET", "/admin/info", "", "ada").Data(&out)
	if len(out.Notices) != 1 || out.Notices[0].Kind != store.FactorRemoved {
		t.Fatalf("notices: %+v", out.Notices)
	}

	in.SendMails()
	if _, text := box.Last(t, "ada@example.org").Text(t); !strings.Contains(text,
		"second factor of your account ada") || !strings.Contains(text, "was removed") {
		t.Errorf("the mail: %s", text)
	}

	in.Call("PUT", "/admin/account/notice", `{}`, "ada").Names(422, "until")
	in.OK("PUT", "/admin/account/notice",
		fmt.Sprintf(`{"until":%q}`, out.Notices[0].At.Add(-time.Second)), "ada")
	in.OK("GET", "/admin/info", "", "ada").Brief(200, store.FactorRemoved)
	in.OK("PUT", "/admin/account/notice", fmt.Sprintf(`{"until":%q}`, out.Notices[0].At), "ada")
	in.OK("GET", "/admin/info", "", "ada").Brief(200, `"notices":[]`)
}
