package auth

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reeve/store"
)

// counted returns the sign-in counts that are not 0, by "realm result".
func (in *instance) counted() map[string]uint64 {
	counted := map[string]uint64{}
	for _, l := range in.Stats().Logins {
		if l.Count > 0 {
			counted[l.Realm+" "+l.Result] = l.Count
		}
	}
	return counted
}

func TestStats_LoginsByResult(t *testing.T) {
	in := start(t)
	in.set("security.login_tries", "2")
	in.enter("admin", password)
	in.wrong(4, "nobody", "203.0.113.1")
	in.Login(Attempt{App: true, Username: "admin", Password: password, Addr: home}) // the name exists in the other realm only
	release := in.hasher.queue.fill()
	in.try("admin", password, "192.0.2.1")
	release()
	want := map[string]uint64{
		"admin success":     1,
		"admin failed":      2,
		"admin throttled":   2,
		"admin unavailable": 1,
		"app failed":        1,
	}
	if diff := cmp.Diff(want, in.counted()); diff != "" {
		t.Errorf("logins (- want, + got)\n%s", diff)
	}
	if n := len(in.Stats().Logins); n != 8 {
		t.Errorf("%d pairs of realm and result, want 8", n)
	}
}

func TestStats_ThrottledAttempts(t *testing.T) {
	in := start(t)
	in.set("security.login_tries", "1")
	in.set("app.registration", "1")
	in.wrong(3, "admin", "203.0.113.1")
	s := in.holds(in.enter("admin", password))
	for range 3 {
		if err := in.ChangePassword(s, home, "not the old one", "another password"); err == nil {
			t.Error("a wrong password was taken")
		}
	}

	for i := range triesPerAddress + 1 {
		u := &store.AppUser{Username: "customer" + string(rune('a'+i)), Status: true}
		in.Register(u, Attempt{
			App:      true,
			Username: u.Username,
			Password: "short",
			Addr:     netip.MustParseAddr("203.0.113.9"),
		})
	}

	want := map[string]uint64{
		"login":           2,
		"password":        2,
		"registration":    1,
		"forgot_password": 0,
		"link":            0,
		"challenge":       0,
		"own_change":      0,
		"second_factor":   0,
		"sign_in_code":    0,
	}
	if diff := cmp.Diff(want, in.Stats().Throttled); diff != "" {
		t.Errorf("throttled (- want, + got)\n%s", diff)
	}
}

func TestStats_SessionsInMemory(t *testing.T) {
	in := start(t)
	in.update(func(tx *store.Tx) error {
		u := &store.AppUser{Username: "customer", Status: true}
		return store.AppUsers.Create(tx, u)
	})
	open := func(s *store.Session) (token string) {
		in.update(func(tx *store.Tx) (err error) {
			token, err = Open(tx, s)
			return err
		})
		in.holds(token)
		return token
	}
	app := open(&store.Session{AppUserID: 1})
	open(&store.Session{UserID: 1})
	open(&store.Session{UserID: 1})
	// Opening a session changes no user, so all three are still cached.
	if diff := cmp.Diff(map[string]int{"admin": 2, "app": 1}, in.Stats().Sessions); diff != "" {
		t.Errorf("sessions (- want, + got)\n%s", diff)
	}

	must(t, in.Logout(in.holds(app)))
	in.user(1, func(u *store.User) { u.Nickname = "renamed" })
	if diff := cmp.Diff(map[string]int{"admin": 0, "app": 0}, in.Stats().Sessions); diff != "" {
		t.Errorf("sessions after they ended or their user changed (- want, + got)\n%s", diff)
	}
}
