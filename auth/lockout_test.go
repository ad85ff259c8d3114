package auth

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reeve/store"
	"reeve/store/disk/disktest"
	"reeve/store/errs"
	"reeve/store/kv"
)

// lockout returns the lock-out of an account, with its times as durations from now.
func (in *instance) lockout(who store.Account, username string) (l *Lockout) {
	in.t.Helper()
	in.view(func(tx *store.Tx) error { l = in.Auth.Lockout(tx, who, username); return nil })
	if l != nil {
		l.Since, l.Until = l.Since-kv.TimeOf(in.now), l.Until-kv.TimeOf(in.now)
	}
	return l
}

const quarter = store.Time(15 * time.Minute / time.Microsecond)

func TestLockout_FromOneNetwork(t *testing.T) {
	in := start(t)
	admin := store.Account{ID: FirstUser}
	in.wrong(4, "admin", "203.0.113.1")
	if l := in.lockout(admin, "admin"); l != nil {
		t.Errorf("locked out before the limit: %+v", l)
	}

	in.now = in.now.Add(5 * time.Minute)
	in.wrong(3, "Admin", "203.0.113.1")
	in.wrong(1, "nobody", "203.0.113.1")
	minute := store.Time(time.Minute / time.Microsecond)
	want := &Lockout{
		Tries:    7,
		Since:    -5 * minute,
		Until:    10 * minute,
		Networks: []string{"203.0.113.1"},
	}
	if diff := cmp.Diff(want, in.lockout(admin, "admin")); diff != "" {
		t.Error(diff)
	}
	if l := in.lockout(store.Account{App: true, ID: FirstUser}, "admin"); l != nil {
		t.Errorf("the app user with the same ID: %+v", l)
	}

	in.update(func(tx *store.Tx) error { return addUser(tx, "eve", password) })
	in.unlocked(store.Account{ID: 2})
	if kind, _, _ := in.try("admin", password, "203.0.113.1"); kind != errs.TooMany {
		t.Errorf("unlocked with another account: %v", kind)
	}

	in.unlocked(admin)
	if kind, _, err := in.try("admin", password, "203.0.113.1"); kind != fine ||
		in.lockout(admin, "admin") != nil {
		t.Errorf("after unlocking: %v, %+v", err, in.lockout(admin, "admin"))
	}

	in.wrong(5, "admin", "203.0.113.1")
	if in.lockout(admin, "admin") == nil {
		t.Error("not locked out again")
	}

	in.now = in.now.Add(15 * time.Minute)
	if l := in.lockout(admin, "admin"); l != nil {
		t.Errorf("after its end: %+v", l)
	}
}

// TestLockout_Everywhere has more client networks than are looked at.
func TestLockout_Everywhere(t *testing.T) {
	in := start(t)
	admin := store.Account{ID: FirstUser}
	for i := range maxLookedAt + 50 {
		in.wrong(1, "admin", fmt.Sprintf("198.51.%d.%d", i/250, i%250+1))
	}
	want := &Lockout{Tries: maxLookedAt + 50, Until: quarter, Everywhere: true}
	if diff := cmp.Diff(want, in.lockout(admin, "admin")); diff != "" {
		t.Error(diff)
	}
	in.unlocked(admin)
	if kind, _, err := in.try("admin", password, "203.0.113.7"); kind != fine ||
		len(in.counters.of) != 0 {
		t.Errorf("after unlocking: %v, %v", err, in.counters.of)
	}
}

// TestLockout_AppUserByEachName counts the attempts with all names of an app user together.
func TestLockout_AppUserByEachName(t *testing.T) {
	in := start(t)
	id := in.appUser(store.AppUser{
		Username:      "ann",
		Email:         "ann@example.org",
		EmailVerified: true,
		Mobile:        "555",
		Status:        true,
	}, password)
	ann := store.Account{App: true, ID: id}
	names := []string{"ann", "ann@example.org", "555"}
	for i := range 15 { // five with each name, so that each is at its limit
		in.tryApp(names[i%3], "wrong password", "203.0.113.1")
	}

	want := &Lockout{Tries: 15, Until: quarter, Networks: []string{"203.0.113.1"}}
	if diff := cmp.Diff(want, in.lockout(ann, "ann")); diff != "" {
		t.Error(diff)
	}

	in.unlocked(ann)
	for _, name := range names {
		if who, kind, _ := in.tryApp(name, password, "203.0.113.1"); who != id {
			t.Errorf("%s after unlocking: %v", name, kind)
		}
	}
}

func TestLockout_SecondFactor(t *testing.T) {
	in := start(t)
	admin := store.Account{ID: FirstUser}
	addr := netip.MustParseAddr("203.0.113.1")
	for range 5 {
		if _, err := in.beginFactor(signInFactor, admin, addr, false, nil); err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{sessionFactor, passkeyFactor} { // neither prevents a sign-in
			if _, err := in.beginFactor(kind, store.Account{ID: 9}, addr, false, nil); err != nil {
				t.Fatal(err)
			}
		}
	}

	want := &Lockout{Tries: 5, Until: quarter, Networks: []string{"203.0.113.1"}}
	if diff := cmp.Diff(want, in.lockout(admin, "admin")); diff != "" {
		t.Error(diff)
	}
	if l := in.lockout(store.Account{ID: 9}, "nine"); l != nil {
		t.Errorf("codes in a session lock out: %+v", l)
	}

	in.unlocked(admin)
	if _, err := in.beginFactor(signInFactor, admin, addr, false, nil); err != nil {
		t.Error(err)
	}
}

// TestCounters_IndexByAccount compares the keys by account with the counters, over random
// operations.
func TestCounters_IndexByAccount(t *testing.T) {
	random := disktest.Random(t)
	now := time.Now()
	c := newCounters(func() time.Time { return now })
	for range 5000 {
		key, who := fmt.Sprint("pair ", random.IntN(40)), store.Account{
			App: random.IntN(2) == 0,
			ID:  store.ID(random.IntN(5) + 1),
		}
		switch random.IntN(8) {
		case 0:
			c.drop(key)
		case 1:
			c.dropOf(who)
		case 2:
			now = now.Add(time.Second)
		case 3:
			c.sweep()
		case 4:
			c.add(key, -1, time.Minute)
		case 5:
			c.own(key, who)
		default:
			c.add(key, 1, time.Duration(random.IntN(20)+1)*time.Second)
		}

		want := map[store.Account]map[string]struct{}{}
		for key, e := range c.all {
			if e.of.ID != 0 && want[e.of] == nil {
				want[e.of] = map[string]struct{}{}
			}
			if e.of.ID != 0 {
				want[e.of][key] = struct{}{}
			}
		}

		if diff := cmp.Diff(want, c.of); diff != "" {
			t.Fatal(diff)
		}
	}
}
