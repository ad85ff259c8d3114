package people_test

import (
	"fmt"
	"slices"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

type signInState struct {
	Refused []string
	Failed  int64
	Reason  string `json:"failed_reason"`
	Lockout *struct{ Tries int }
}

// TestSignInState_NamesWhatKeepsOut brings people of both realms into every state in which they can't
// sign in, tries to, and compares it with what administrators are told. Each state is ended again.
func TestSignInState_NamesWhatKeepsOut(t *testing.T) {
	t.Parallel()
	for _, realm := range []struct{ list, login string }{
		{"/admin/list", "/admin/login"}, {"/user/list", "/api/login"},
	} {
		in := servertest.Start(t)
		id := in.Made(realm.list, `{"username":"ann","password":"correct horse 1"}`)
		at := fmt.Sprint(realm.list, "/", id)
		state := func() (s signInState) {
			in.OK("GET", at+"/sign-in", "", "owner").Data(&s)
			return s
		}
		tell := func(want ...string) {
			t.Helper()
			enters := in.Call("POST", realm.login, `{"username":"ann","password":"correct horse 1"}`, "nobody").Code == 200
			if s := state(); !slices.Equal(s.Refused, append([]string{}, want...)) || enters != (len(want) == 0) {
				t.Errorf("%s: refused %q, want %q; signs in: %t", realm.list, s.Refused, want, enters)
			}
		}
		change := func(body string) { t.Helper(); in.OK("PUT", at, body, "owner") }

		tell()
		change(`{"status":0}`)
		tell("disabled")
		if s := state(); s.Failed != 1 || s.Reason != "disabled" {
			t.Errorf("%s: failed sign-ins: %+v", realm.list, s)
		}
		change(`{"status":1}`)
		tell()
		if s := state(); s.Failed != 0 {
			t.Errorf("%s: failed sign-ins after one that succeeded: %+v", realm.list, s)
		}
		passwords := func(to string) {
			in.Update(func(tx *store.Tx) (err error) {
				if realm.list == "/user/list" {
					_, err = store.AppUsers.Update(tx, id, func(u *store.AppUser) error { u.PasswordSignIn = to; return nil })
				} else {
					_, err = store.Users.Update(tx, id, func(u *store.User) error { u.PasswordSignIn = to; return nil })
				}
				return err
			})
		}
		passwords(store.PasswordOff)
		tell("password_off")
		passwords(store.PasswordOn)
		tell()

		var bob struct{ ID store.ID }
		in.OK("POST", realm.list, `{"username":"bob","invite":"link"}`, "owner").Data(&bob)
		at = fmt.Sprint(realm.list, "/", bob.ID)
		if s := state(); !slices.Equal(s.Refused, []string{"invited"}) {
			t.Errorf("%s: after an invitation: %q", realm.list, s.Refused)
		}
		in.Update(func(tx *store.Tx) error {
			l, err := store.LinkOf(tx, store.Invitation, store.Account{App: realm.list == "/user/list", ID: bob.ID})
			servertest.Must(t, err)
			return store.Links.Delete(tx, l.ID)
		})
		if s := state(); !slices.Equal(s.Refused, []string{"no_password"}) {
			t.Errorf("%s: without an invitation: %q", realm.list, s.Refused)
		}
	}
}

// TestSignInState_OfOthers is for those who may read the person, within their data scope.
func TestSignInState_OfOthers(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	mine, other := in.Dept("Mine", 0), in.Dept("Other", 0)
	near, far := in.Member("near", mine), in.Member("far", other)
	in.Member("desk", mine, in.Role("Desk", func(r *store.Role) {
		r.DataScope = store.ScopeDept
	}, "admin.list.query"))
	in.Member("none", mine, in.Role("None", nil))
	in.OK("GET", fmt.Sprintf("/admin/list/%d/sign-in", near), "", "desk")
	in.Call("GET", fmt.Sprintf("/admin/list/%d/sign-in", far), "", "desk").Brief(404)
	in.Call("GET", fmt.Sprintf("/admin/list/%d/sign-in", near), "", "none").Brief(403)
}
