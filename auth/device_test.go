package auth

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// with signs in from an address with a device token.
func (in *instance) with(device, username, password, addr string) (*Grant, error) {
	return in.Login(Attempt{
		Username: username,
		Password: password,
		Addr:     netip.MustParseAddr(addr),
		Device:   device,
	})
}

// device signs in, which must succeed, and returns the device token.
func (in *instance) device(username, addr string) string {
	in.t.Helper()
	g, err := in.with("", username, password, addr)
	must(in.t, err)
	return g.Device
}

// devices returns the stored devices.
func (in *instance) devices() (all []*store.Device) {
	in.t.Helper()
	in.view(func(tx *store.Tx) error {
		for d, err := range store.Devices.All(tx) {
			must(in.t, err)
			all = append(all, d)
		}
		return nil
	})
	return all
}

// crowd uses up the attempts of an address.
func (in *instance) crowd(addr string) {
	in.t.Helper()
	for i := range 5*triesPerAddress + 1 {
		in.wrong(1, fmt.Sprint("stranger", i), addr)
	}
}

// kindOf returns the kind of a failed attempt.
func kindOf(err error) errs.Kind {
	if err == nil {
		return fine
	}
	return errs.Of(err).Kind
}

func TestDevice_KnownHasSeparateLimit(t *testing.T) {
	in := start(t)
	in.update(func(tx *store.Tx) error { return addUser(tx, "other", password) })
	const proxy = "203.0.113.1"
	device := in.device("admin", proxy)
	in.crowd(proxy)
	if _, err := in.with("", "admin", password, proxy); kindOf(err) != errs.TooMany {
		t.Fatalf("a stranger: %v", err)
	}

	for range 3 {
		g, err := in.with(device, "admin", password, proxy)
		if err != nil || g.Device != device || g.Token == "" {
			t.Fatalf("the known device: %v", err)
		}
	}

	other := "x"
	if device[10] == 'x' {
		other = "y"
	}

	for name, use := range map[string][2]string{
		"somebody else's": {device, "other"}, "a name that nobody has": {device, "nobody"},
		"one cut short":           {device[:len(device)-1], "admin"},
		"one with another letter": {device[:10] + other + device[11:], "admin"},
		"one never issued":        {strings.Clone(firstToken()), "admin"},
	} {
		if _, err := in.with(use[0], use[1], password, proxy); kindOf(err) != errs.TooMany {
			t.Errorf("%s: %v", name, err)
		}
	}

	if _, err := in.with(device, "admin", "wrong password", proxy); err != errWrong {
		t.Errorf("the device is no factor: %v", err)
	}
	if _, err := in.Login(Attempt{
		App:      true,
		Username: "admin",
		Password: password,
		Addr:     netip.MustParseAddr(proxy),
		Device:   device,
	}); kindOf(err) != errs.TooMany {
		t.Errorf("the other realm: %v", err)
	}
}

func firstToken() string { token, _ := newToken(tokenPrefix); return token }

func TestDevice_StoredHashedAndBounded(t *testing.T) {
	in := start(t)
	var first string
	for i := range 20 {
		token := in.device("admin", "192.0.2.1")
		if i == 0 {
			first = token
		}
	}

	if _, err := in.with(first, "admin", password, "192.0.2.1"); err != nil { // most recently used, so not the next to end
		t.Fatal(err)
	}

	in.device("admin", "192.0.2.1")
	all := in.devices()
	if len(all) != 20 {
		t.Errorf("%d devices", len(all))
	}

	found := false
	for _, d := range all {
		hash, _, _ := hashToken(first)
		found = found || d.Hash == hash.String()
		if d.UserID != FirstUser || d.AppUserID != 0 || strings.Contains(d.Hash, tokenPrefix) {
			t.Errorf("%+v", d)
		}
	}

	if !found {
		t.Error("the device used last has been ended")
	}
}

func TestDevice_Ends(t *testing.T) {
	const proxy = "203.0.113.1"
	for _, tc := range []struct {
		name string
		end  func(in *instance, device string)
	}{
		{"ten failures", func(in *instance, device string) {
			for i := range store.MaxDeviceFailures {
				if _, err := in.with(device, "admin", "wrong password", "198.51.100.7"); err != errWrong {
					in.t.Fatalf("failure %d: %v", i+1, err)
				}
			}
		}},
		{"a password reset", func(in *instance, _ string) {
			hash, err := in.hasher.hash(newPasswords, password)
			must(in.t, err)
			in.update(func(tx *store.Tx) error {
				return store.SetHash(tx, store.Account{ID: FirstUser}, hash, false, 0)
			})
		}},
		{"recovery", func(in *instance, _ string) {
			_, err := in.Recover(store.System, password)
			must(in.t, err)
		}},
		{"disabling", func(in *instance, _ string) { // as the routes do it
			in.update(func(tx *store.Tx) error { return addUser(tx, "other", password) })
			for _, status := range []store.Flag{false, true} {
				in.user(FirstUser, func(u *store.User) { u.Status = status })
				in.update(func(tx *store.Tx) error {
					return store.EndSessions(tx, store.Account{ID: FirstUser}, 0)
				})
			}
		}},
		{"90 days", func(in *instance, _ string) {
			in.update(func(tx *store.Tx) error {
				for _, d := range in.devices() {
					if left := d.ExpiresAt.Std().Sub(tx.Now().Std()); left > store.DeviceLife ||
						left < store.DeviceLife-time.Hour {
						in.t.Errorf("it lives for %s", left)
					}
					if _, err := store.Devices.UpdateQuietly(tx, d.ID, func(d *store.Device) error {
						d.ExpiresAt = tx.Now()
						return nil
					}); err != nil {
						return err
					}
				}
				return nil
			})
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := start(t)
			device := in.device("admin", proxy)
			in.crowd(proxy)
			if _, err := in.with(device, "admin", password, proxy); err != nil {
				t.Fatalf("before: %v", err)
			}
			tc.end(in, device)
			if _, err := in.with(device, "admin", password, proxy); kindOf(err) != errs.TooMany {
				t.Errorf("after: %v", err)
			}
			must(t, in.tidy())
			if n := len(in.devices()); n != 0 {
				t.Errorf("%d devices are left", n)
			}
		})
	}
}

// TestDevice_BurstBound checks that concurrent attempts are counted together.
func TestDevice_BurstBound(t *testing.T) {
	in := start(t)
	const proxy = "203.0.113.1"
	device := in.device("admin", proxy)
	in.crowd(proxy)
	before := in.hasher.compared.Load()
	var wg sync.WaitGroup
	for range 60 {
		wg.Go(func() {
			if _, err := in.with(device, "admin", "wrong password", proxy); err == nil {
				t.Error("a wrong password is let in")
			}
		})
	}

	wg.Wait()
	if n := in.hasher.compared.Load() - before; n == 0 || n > store.MaxDeviceFailures {
		t.Errorf("%d comparisons in a burst with one device", n)
	}
	if n := in.counters.get("device " + in.hashOf(device)); n != 0 {
		t.Errorf("%d attempts are in progress", n)
	}
}

func (in *instance) hashOf(token string) string {
	hash, _, _ := hashToken(token)
	return hash.String()
}

func TestDevice_DeletedWithUser(t *testing.T) {
	in := start(t)
	in.update(func(tx *store.Tx) error { return addUser(tx, "other", password) })
	in.device("other", "192.0.2.1")
	in.update(func(tx *store.Tx) error { return store.Users.Delete(tx, 2) })
	if n := len(in.devices()); n != 0 {
		t.Errorf("%d devices are left", n)
	}
}

// TestPasswordChange_NotBlockedByAddress checks that a user with a session can
// change the password although the address has used up its attempts.
func TestPasswordChange_NotBlockedByAddress(t *testing.T) {
	in := start(t)
	s := in.holds(in.enter("admin", password))
	in.crowd(home.String())
	must(t, in.ChangePassword(s, home, password, "another password"))
}

// TestRateLimit_AddressReported: the server uses this to detect a reverse proxy that is
// not configured as trusted.
func TestRateLimit_AddressReported(t *testing.T) {
	in := start(t)
	told := 0
	for i := range 5*triesPerAddress + 1 {
		in.Login(Attempt{Username: fmt.Sprint("x", i), Password: "wrong", Addr: home,
			AddressFull: func() {
				told++
			}})
		if want := max(0, i+2-5*triesPerAddress); told != want {
			t.Fatalf("after %d attempts it was told %d times", i+1, told)
		}
	}
}
