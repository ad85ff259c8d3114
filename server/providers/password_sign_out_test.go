package providers_test

import (
	"fmt"
	"net/http"
	"testing"

	"reeve/auth"
	"reeve/server/servertest"
	"reeve/store"
)

// Who signs out, or signs in again in the same browser, while passwords are off ends the session: it does
// not come back with them.
func TestPasswordsOff_SignOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"app_users":1`)
	w.connectOwner()
	w.AppUser("bob")
	for app, person := range map[bool]store.ID{false: w.Clerk("clerk", "admin.list.query").ID, true: w.AppUser("ann").ID} {
		set := func(value string) {
			t.Helper()
			people := store.ByRealm(app, "/admin/list/", "/user/list/")
			w.OK("PUT", fmt.Sprint(people, person), `{"password_sign_in":"`+value+`"}`, "owner")
		}
		open := func(means string) (token string) {
			s := &store.Session{IP: "192.0.2.1", Means: means}
			s.UserID, s.AppUserID = store.Account{App: app, ID: person}.IDs()
			w.Update(func(tx *store.Tx) (err error) { token, err = auth.Open(tx, s); return err })
			return token
		}
		name := w.Server.SessionCookie(app, false)
		ways := map[string]func(token string){
			"sign-out": func(token string) {
				w.Tokens["leaving"] = token
				w.OK("POST", store.ByRealm(app, "/admin/logout", "/api/logout"), "", "leaving")
			},
			"sign-out with a cookie": func(token string) {
				r := w.Request("POST", store.ByRealm(app, "/admin/logout", "/api/logout"), "", "nobody")
				r.AddCookie(&http.Cookie{Name: name, Value: token})
				w.Send(r).Brief(200)
			},
			"another sign-in": func(token string) {
				body := fmt.Sprintf(`{"username":"admin","password":%q,"cookie":1}`, servertest.OwnerPassword)
				if app {
					body = fmt.Sprintf(`{"username":"bob","password":%q,"cookie":1}`, servertest.OwnerPassword)
				}
				r := w.Request("POST", store.ByRealm(app, "/admin/login", "/api/login"), body, "nobody")
				r.AddCookie(&http.Cookie{Name: name, Value: token})
				if a := w.Handled(r); a.StatusCode != 200 {
					t.Errorf("another sign-in: %d", a.StatusCode)
				}
			},
		}
		for way, leave := range ways {
			token := open(store.ByPassword)
			w.Tokens["back"] = token
			set("off")
			leave(token)
			set("")
			if a := w.Call("GET", store.ByRealm(app, "/admin/info", "/api/user"), "", "back"); a.Code != 401 {
				t.Errorf("%s, app users %t: the session is back: %d", way, app, a.Code)
			}
		}
	}
}
