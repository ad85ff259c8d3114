package auth

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"reeve/store"
	"reeve/store/errs"
)

// notices returns the kinds of the first user's notices, with their addresses.
func (in *instance) notices() (all []string) {
	in.t.Helper()
	in.view(func(tx *store.Tx) error {
		u, err := store.Users.Get(tx, FirstUser)
		must(in.t, err)
		for _, n := range u.Notices {
			all = append(all, n.Kind+" "+n.IP)
		}
		return nil
	})
	return all
}

func TestSignInNotice_NewDeviceOrNetwork(t *testing.T) {
	in := start(t)
	device := in.device("admin", "192.0.2.1")
	signIn := func(device, addr string) string {
		g, err := in.with(device, "admin", password, addr)
		must(t, err)
		return g.Device
	}
	for _, c := range []struct {
		what, addr string
		want       []string
	}{
		{"the first sign-in", "", nil},
		{"the same device and address", "192.0.2.1", nil},
		{"another address of the network", "192.0.2.77", nil},
		{"another network", "198.51.100.1", []string{"new_network 198.51.100.1"}},
		{"back in the first network", "192.0.2.1", nil},
		{"again in the other network", "198.51.100.9", nil},
		{"an IPv6 network", "2001:db8:1:2::1", []string{"new_network 2001:db8:1:2::1"}},
		{"the same /48", "2001:db8:1:99::1", nil},
	} {
		if c.addr != "" {
			signIn(device, c.addr)
		}
		if got := in.notices(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
		in.update(func(tx *store.Tx) error {
			return store.DropNotices(tx, FirstUser, tx.Now(), 0, 0)
		})
	}

	other := signIn("", "192.0.2.1")
	if got := in.notices(); !slices.Equal(got, []string{"new_device 192.0.2.1"}) {
		t.Errorf("another device in the same network: %q", got)
	}

	signIn(other, "192.0.2.1")
	if got := in.notices(); len(got) != 1 {
		t.Errorf("the other device again: %q", got)
	}

	for i := range 30 {
		signIn("", fmt.Sprintf("203.0.113.%d", i+1))
	}

	if got := in.notices(); len(got) != 10 || got[8] != "new_device 203.0.113.8" ||
		got[9] != "new_device 203.0.113.30" {
		t.Errorf("after many: %q", got)
	}
}

// TestSignInNotice_Programs signs in without a cookie: from a network of the user's devices this is
// no news.
func TestSignInNotice_Programs(t *testing.T) {
	in := start(t)
	in.device("admin", "192.0.2.1")
	for addr, want := range map[string][]string{
		"192.0.2.9":    nil,
		"198.51.100.1": {"new_network 198.51.100.1"},
	} {
		_, err := in.Login(Attempt{
			Username: "admin",
			Password: password,
			Addr:     netip.MustParseAddr(addr),
			Program:  true,
		})
		must(t, err)
		if got := in.notices(); !slices.Equal(got, want) {
			t.Errorf("from %s: %q, want %q", addr, got, want)
		}
		in.update(func(tx *store.Tx) error {
			return store.DropNotices(tx, FirstUser, tx.Now(), 0, 0)
		})
	}
}

// TestSignInNotice_AfterAllDevicesEnded covers a password reset by an attacker who reads the user's
// mail.
func TestSignInNotice_AfterAllDevicesEnded(t *testing.T) {
	in := start(t)
	in.device("admin", "192.0.2.1")
	in.update(func(tx *store.Tx) error {
		return store.EndSessions(tx, store.Account{ID: FirstUser}, 0)
	})
	in.device("admin", "192.0.2.1")
	if got := in.notices(); !slices.Equal(got, []string{"new_device 192.0.2.1"}) {
		t.Errorf("%q", got)
	}
}

func TestSession_KnowsDevice(t *testing.T) {
	in := start(t)
	g, err := in.with("", "admin", password, "192.0.2.1")
	must(t, err)
	var s *Session
	in.view(func(tx *store.Tx) error {
		s, err = in.Authenticate(tx, g.Token, home)
		return err
	})
	if d := in.devices(); len(d) != 1 || s.DeviceID != d[0].ID || d[0].IP != "192.0.2.1" ||
		d[0].LastUsed == 0 {
		t.Errorf("session %+v, devices %+v", s, d)
	}

	in.device("admin", "192.0.2.2")
	in.update(func(tx *store.Tx) error { // as a change of the password does
		return store.EndSessions(tx, store.Account{ID: FirstUser}, s.ID)
	})
	if d := in.devices(); len(d) != 1 || d[0].ID != s.DeviceID {
		t.Errorf("left are %+v", d)
	}

	in.update(func(tx *store.Tx) error { return store.ForgetDevice(tx, s.DeviceID) })
	in.view(func(tx *store.Tx) error {
		if _, err := in.Authenticate(tx, g.Token, home); kindOf(err) != errs.Unauthenticated {
			t.Errorf("the session of a forgotten device: %v", err)
		}
		return nil
	})
}

// TestSession_BoundToNetwork checks that the setting binds sessions of users, and never those of
// app users.
func TestSession_BoundToNetwork(t *testing.T) {
	in := start(t)
	in.appUser(store.AppUser{Username: "ann", Status: true}, password)
	app, err := in.Login(Attempt{App: true, Username: "ann", Password: password, Addr: home})
	must(t, err)
	for _, c := range []struct {
		opened, used string
		same         bool
	}{
		{"192.0.2.1", "192.0.2.1", true}, {"192.0.2.1", "192.0.2.254", true},
		{"192.0.2.1", "192.0.3.1", false}, {"192.0.2.1", "2001:db8::1", false},
		{"2001:db8:1::1", "2001:db8:1:ffff::2", true}, {"2001:db8:1::1", "2001:db8:2::1", false},
		{"192.0.2.1", "::ffff:192.0.2.9", true},
	} {
		g, err := in.with("", "admin", password, c.opened)
		must(t, err)
		for _, bound := range []string{"0", "1"} {
			in.set("security.session_network", bound)
			in.view(func(tx *store.Tx) error {
				for token, want := range map[string]bool{
					g.Token:   c.same || bound == "0",
					app.Token: true,
				} {
					_, err := in.Authenticate(tx, token, netip.MustParseAddr(c.used))
					if (err == nil) != want ||
						err != nil && errs.Of(err).Code != "session_network" {
						t.Errorf("opened from %s, used from %s, bound %s: %v", c.opened, c.used,
							bound, err)
					}
				}
				_, err := in.Authenticate(tx, g.Token, netip.MustParseAddr(c.opened))
				return err // the refusal has not ended it
			})
		}
	}
}
