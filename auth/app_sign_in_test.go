package auth

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// appUser creates an app user with a password.
func (in *instance) appUser(u store.AppUser, password string) store.ID {
	in.t.Helper()
	in.update(func(tx *store.Tx) error {
		u.ID = 0
		if err := store.AppUsers.Create(tx, &u); err != nil {
			return err
		}
		hash, err := HashPassword(tx, password, testCost)
		if err != nil {
			return err
		}
		return store.SetHash(tx, store.Account{App: true, ID: u.ID}, hash, false, 0)
	})
	return u.ID
}

// tryApp signs in as an app user, and returns whom the session is of, the kind of the error and the
// number of comparisons.
func (in *instance) tryApp(typed, password, addr string) (who store.ID, kind errs.Kind, compared int64) {
	in.t.Helper()
	before := in.hasher.compared.Load()
	g, err := in.Login(Attempt{
		App:      true,
		Username: typed,
		Password: password,
		Addr:     netip.MustParseAddr(addr),
	})
	compared = in.hasher.compared.Load() - before
	if err != nil {
		return 0, errs.Of(err).Kind, compared
	}
	return in.holds(g.Token).Actor.ID, fine, compared
}

func TestAppUserLogin_ByEmailOrMobile(t *testing.T) {
	in := start(t)
	const verified = true
	ann := in.appUser(store.AppUser{
		Username:      "ann",
		Email:         "Ann@Example.org",
		EmailVerified: verified,
		Mobile:        "+1 (555) 010-20",
		Status:        true,
	}, password)

	in.appUser(store.AppUser{
		Username: "bob",
		Email:    "bob@example.org",
		Mobile:   "555-111",
		Status:   true,
	}, password)
	cat := in.appUser(store.AppUser{Username: "555111", Mobile: "777 1", Status: true}, password)
	in.appUser(store.AppUser{Username: "dan", Mobile: "(777) 2", Status: true}, password)
	in.appUser(store.AppUser{Username: "eve", Mobile: "7772"}, password)
	in.appUser(store.AppUser{
		Username:      "off",
		Email:         "off@example.org",
		EmailVerified: verified,
		Mobile:        "888",
	}, password)
	in.appUser(store.AppUser{
		Username:      "fay",
		Email:         "fay@example.org",
		EmailVerified: verified,
		Status:        true,
	}, "another of fay")
	in.appUser(store.AppUser{Username: "gus", Mobile: "", Status: true}, password)
	for i, c := range []struct {
		name, typed string
		want        store.ID // 0 if nobody may sign in
	}{
		{"the username", "Ann", ann}, {"a verified address", "ann@example.ORG", ann},
		{"an address with blanks", " ann@example.org ", ann},
		{"a number", "+1 (555) 010-20", ann}, {"a number without separators", "+155501020", ann},
		{"a number, separated otherwise", "+1-555-01020", ann},
		{"a number without its plus", "155501020", 0}, {"part of a number", "010-20", 0},
		{"an address that is not verified", "bob@example.org", 0},
		{"a number that is a username of somebody else", "555111", cat},
		{"the same, written as a number", "555-111", 0},
		{"a number of two, one of them disabled", "7772", 0},
		{"the number of a disabled one", "888", 0},
		{"the address of a disabled one", "off@example.org", 0},
		{"another password", "fay@example.org", 0}, {"nothing", "", 0},
		{"only separators", "(-) ", 0}, {"an unknown address", "x@example.org", 0},
		{"an unknown number", "999", 0},
	} {
		who, kind, compared := in.tryApp(c.typed, password, fmt.Sprintf("203.0.113.%d", i+1))
		if c.name == "the same, written as a number" {
			if kind != fine || who != ann+1 {
				t.Errorf("%s: user %d, %v", c.name, who, kind)
			}
			continue
		}
		want := errs.Unauthenticated
		if c.want != 0 {
			want = fine
		}
		if who != c.want || kind != want || compared != 1 {
			t.Errorf("%s: user %d, %v after %d comparisons", c.name, who, kind, compared)
		}
	}
}

// TestAppUserLogin_OneLimitPerAccount covers every name of an account, alone and together.
func TestAppUserLogin_OneLimitPerAccount(t *testing.T) {
	names := []string{"ann", "ann@example.org", "555 1", "5551", "(555)1"}
	for _, c := range []struct {
		name, addr string
		limit      int64
	}{{"from one address", "203.0.113.1", 5}, {"from many", "198.51.100.%d", 5 * triesPerName}} {
		t.Run(c.name, func(t *testing.T) {
			in := start(t)
			in.set("security.login_tries", "5")
			in.appUser(store.AppUser{
				Username:      "ann",
				Email:         "ann@example.org",
				EmailVerified: true,
				Mobile:        "555-1",
				Status:        true,
			}, password)
			before := len(in.logged(store.LoginFailed))
			for i := range 60 {
				addr := c.addr
				if strings.Contains(addr, "%") {
					addr = fmt.Sprintf(addr, i+1)
				}
				in.tryApp(names[i%len(names)], "wrong", addr)
			}

			var tried int64
			for _, row := range in.logged(store.LoginFailed)[before:] {
				if row.Username != "ann" || row.Fingerprint != "" || row.AppUserID != 1 {
					t.Errorf("%+v", row)
				}
				if row.Reason == "wrong_password" {
					tried++
				}
			}

			if tried != c.limit {
				t.Errorf("%d passwords were compared with that of the account, want %d", tried,
					c.limit)
			}
		})
	}
}

// TestAppUserLogin_LimitsRevealNoAccount checks that after attempts with one name, another name of
// the same person is answered like an unknown one, even with the right password.
func TestAppUserLogin_LimitsRevealNoAccount(t *testing.T) {
	names := []string{"ann", "ann@example.org", "5551"}
	for _, first := range names {
		in := start(t)
		in.appUser(store.AppUser{
			Username:      "ann",
			Email:         "ann@example.org",
			EmailVerified: true,
			Mobile:        "5551",
			Status:        true,
		}, password)
		for range 5 {
			in.tryApp(first, "wrong", "203.0.113.1")
		}

		for _, other := range append(names, "nobody@example.org") {
			for i := range 7 {
				who, kind, compared := in.tryApp(other, password, "203.0.113.1")
				want, wantCompared := errs.Unauthenticated, int64(1)
				if other == first || i >= 5 {
					want, wantCompared = errs.TooMany, 0
				}
				if who != 0 || kind != want || compared != wantCompared {
					t.Errorf("after %s, %s: attempt %d is answered %v after %d comparisons", first,
						other, i+1, kind, compared)
				}
			}
			in.counters.drop("addr 203.0.113.1")
		}

		if who, kind, _ := in.tryApp("ann@example.org", password, "203.0.113.2"); who != 1 ||
			kind != fine {
			t.Errorf("after %s: another address can't sign in: %v", first, kind)
		}
	}
}

// TestAppUserLogin_OtherNamesNotStored covers unknown names, and names of an account other than its
// username.
func TestAppUserLogin_OtherNamesNotStored(t *testing.T) {
	in := start(t)
	in.appUser(store.AppUser{
		Username:      "ann",
		Email:         "canary@example.org",
		EmailVerified: true,
		Mobile:        "5551",
		Status:        true,
	}, password)
	in.appUser(store.AppUser{Username: "bob", Email: "canary@example.net", Status: true}, password)
	var told []string
	for _, typed := range []string{"canary@example.org", "canary@example.net", "canary-555"} {
		for _, p := range []string{"wrong", "wrong", password} {
			in.Login(Attempt{App: true, Username: typed, Password: p, Addr: home,
				Observe: func(e kv.CacheEvent) {
					told = append(told, counterUse(e))
				}})
		}
	}

	must(t, in.tidy())
	in.view(func(tx *store.Tx) error {
		for row, err := range store.LoginLogs.All(tx) {
			must(t, err)
			text, err := json.Marshal(row)
			must(t, err)
			told = append(told, string(text))
		}
		return nil
	})
	for _, text := range told {
		if strings.Contains(text, "canary") {
			t.Errorf("told: %s", text)
		}
	}

	for typed, want := range map[string]string{
		"canary@example.org": "ann",
		"555-1":              "ann",
		"Ann":                "Ann",
		"canary@example.net": "#" + in.fingerprint("canary@example.net"),
	} {
		if got := in.LoggableName(true, typed); got != want {
			t.Errorf("%s is shown as %s", typed, got)
		}
	}
}
