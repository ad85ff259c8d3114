package providers_test

import (
	"testing"
	"time"

	"reeve/store"
)

// A personal key of a person without a password can't be used when the last sign-in with a provider
// was too long ago, until the next one.
func TestPersonalKey_SignInDue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	who := w.browser().known()
	var key struct {
		Token string `json:"token"`
	}
	w.OK("POST", "/admin/account/key", `{"name":"script"}`, "person").Data(&key)
	w.Tokens["script"] = key.Token
	state := func(code int, want string) {
		t.Helper()
		if a := w.Call("GET", "/admin/info", "", "script"); a.Code != code {
			t.Errorf("%d %s, want %d", a.Code, a.Body, code)
		}
		w.OK("GET", "/admin/key?personal=1", "", "owner").Brief(200, `"state":"`+want+`"`)
	}
	days := func(n string) { w.Set("security.provider_key_days", n) }
	since := func(ago time.Duration) {
		w.Update(func(tx *store.Tx) error {
			all, err := store.IdentitiesOf(tx, store.Account{ID: who.Info.ID})
			if err != nil {
				return err
			}
			_, err = store.Identities.UpdateQuietly(tx, all[0].ID, func(i *store.Identity) error {
				i.LastLogin = tx.Now().Add(-ago)
				return nil
			})
			return err
		})
	}
	state(200, "active")

	since(10*24*time.Hour - time.Minute)
	days("10")
	state(200, "active")
	days("9")
	state(401, "sign_in_due")
	days("0")
	state(200, "active")
	days("9")
	state(401, "sign_in_due")
	w.browser().known()
	state(200, "active")

	// A password is another way in.
	since(9 * 24 * time.Hour)
	days("8")
	state(401, "sign_in_due")
	w.Update(func(tx *store.Tx) error {
		return store.SetHash(tx, store.Account{ID: who.Info.ID}, "not used", false, 0)
	})
	state(200, "active")

	// A role turns passwords off.
	var role store.ID
	w.Update(func(tx *store.Tx) error {
		r := &store.Role{Name: "Without passwords", Status: true}
		err := store.Roles.Create(tx, r)
		role = r.ID
		if err == nil {
			_, err = store.Users.UpdateQuietly(tx, who.Info.ID, func(u *store.User) error {
				u.RoleIDs = append(u.RoleIDs, role)
				return nil
			})
		}
		return err
	})
	set := func(status, off store.Flag) {
		w.Update(func(tx *store.Tx) error {
			_, err := store.Roles.UpdateQuietly(tx, role, func(r *store.Role) error {
				r.Status, r.PasswordOff = status, off
				return nil
			})
			return err
		})
	}
	state(200, "active")
	set(true, true)
	state(401, "sign_in_due")
	set(false, true)
	state(200, "active")
}
