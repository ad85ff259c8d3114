package providers_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"reeve/auth"
	"reeve/server/servertest"
	"reeve/store"
)

// A user who was told to change the password does not have to while passwords are off: programs that
// ask about the session, and signed links, get the same answer as a request of the user.
func TestPasswordsOff_ToldToChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connectOwner()
	clerk := w.Clerk("clerk", "file.list.query", "file.list.download")
	w.Tokens["program"] = w.KeyOf(w.Person("program", "auth.check", "auth.introspect"), servertest.ServiceKey)
	s := &store.Session{UserID: clerk.ID, IP: "192.0.2.1", Means: store.ByProvider}
	w.Update(func(tx *store.Tx) (err error) {
		w.Tokens["clerk"], err = auth.Open(tx, s)
		return err
	})
	signed := w.Link(w.Keep("owner", "x.txt", "signed for").ID, "", "clerk").URL
	w.Update(func(tx *store.Tx) error {
		_, err := store.Users.Update(tx, clerk.ID, func(u *store.User) error {
			u.MustChangePassword = true
			return nil
		})
		return err
	})
	check := func(what string, usable bool) {
		t.Helper()
		if a := w.Call("GET", "/file/list", "", "clerk"); (a.Code == 200) != usable {
			t.Errorf("%s: a request: %d %s", what, a.Code, a.Body)
		}
		if a := w.Call("GET", signed, "", "nobody"); (a.Code == 200) != usable {
			t.Errorf("%s: a signed link: %d %s", what, a.Code, a.Body)
		}
		active := fmt.Sprintf(`"active":%t`, usable)
		w.OK("POST", "/auth/check", fmt.Sprintf(`{"token":%q}`, w.Tokens["clerk"]), "program").Brief(200, active)
		w.OK("POST", "/auth/check", fmt.Sprintf(`{"user_id":%d}`, clerk.ID), "owner").Brief(200, active)
		r := httptest.NewRequest("POST", "/auth/introspect", strings.NewReader(url.Values{"token": {w.Tokens["clerk"]}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Authorization", "Bearer "+w.Tokens["program"])
		if a := w.Send(r); a.Code != http.StatusOK || !strings.Contains(a.Body, active) {
			t.Errorf("%s: introspection: %d %s", what, a.Code, a.Body)
		}
	}
	check("told", false)
	w.OK("PUT", fmt.Sprint("/admin/list/", clerk.ID), `{"password_sign_in":"off"}`, "owner")
	check("told, and passwords off", true)
	w.OK("PUT", fmt.Sprint("/admin/list/", clerk.ID), `{"password_sign_in":""}`, "owner")
	check("told, and passwords on again", false)
}
