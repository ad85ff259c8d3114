package auth

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// counterUse is a text like set throttle:addr:10.0.0.1 = 1.
func counterUse(e kv.CacheEvent) string { return fmt.Sprintf("%s %s = %d", e.Op, e.Key, e.Size) }

// observe makes an attempt and returns the uses of counters reported for it.
func (in *instance) observe(a Attempt) (told []string) {
	in.t.Helper()
	a.Observe = func(e kv.CacheEvent) {
		if e.Cache != "throttle" || e.Began.IsZero() || e.Took < 0 || e.Took > time.Minute {
			in.t.Errorf("%+v", e)
		}
		told = append(told, counterUse(e))
	}
	if _, err := in.Login(a); err != nil && errs.Of(err).Kind != errs.Unauthenticated &&
		errs.Of(err).Kind != errs.TooMany {
		in.t.Fatal(err)
	}
	return told
}

func TestThrottleEvents_Attempts(t *testing.T) {
	in := start(t)
	in.set("security.login_tries", "1")
	in.update(func(tx *store.Tx) error { return addUser(tx, "alice", password) })
	addr, odd := netip.MustParseAddr("10.0.0.1"), "a \n\"b"
	unknown := "#" + in.fingerprint(odd)
	for _, tc := range []struct {
		name string
		a    Attempt
		want []string
	}{
		{"a wrong password", Attempt{Username: "Alice", Password: "canary", Addr: addr}, []string{
			"set throttle:addr:10.0.0.1 = 1", "set throttle:name+addr:alice|10.0.0.1 = 1",
			"miss throttle:known:alice|10.0.0.1 = 0", "set throttle:name:alice = 1"}},
		{"one too many", Attempt{Username: "alice", Password: "canary", Addr: addr}, []string{
			"set throttle:addr:10.0.0.1 = 2", "set throttle:name+addr:alice|10.0.0.1 = 2"}},
		{"a success", Attempt{Username: "admin", Password: password, Addr: addr}, []string{
			"set throttle:addr:10.0.0.1 = 3", "set throttle:name+addr:admin|10.0.0.1 = 1",
			"miss throttle:known:admin|10.0.0.1 = 0", "set throttle:name:admin = 1",
			"forget throttle:name+addr:admin|10.0.0.1 = 0",
			"set throttle:name+addr:admin|10.0.0.1 = 0", "set throttle:addr:10.0.0.1 = 2",
			"set throttle:name:admin = 0", "forget throttle:known:admin|10.0.0.1 = 0",
			"set throttle:known:admin|10.0.0.1 = 1"}},
		{"the app's realm and a network", Attempt{
			App:      true,
			Username: odd,
			Password: "canary",
			Addr:     netip.MustParseAddr("2001:db8::1"),
		}, []string{
			"set throttle:addr:2001:db8::/64 = 1",
			"set throttle:app:name+addr:" + unknown + "|2001:db8::/64 = 1",
			"miss throttle:app:known:" + unknown + "|2001:db8::/64 = 0",
			"set throttle:app:name:" + unknown + " = 1",
			"set throttle:app:name+addr:@" + unknown + "|2001:db8::/64 = 1",
			"miss throttle:app:known:@" + unknown + "|2001:db8::/64 = 0",
			"set throttle:app:name:@" + unknown + " = 1"}},
	} {
		if diff := cmp.Diff(tc.want, in.observe(tc.a)); diff != "" {
			t.Errorf("%s, - want, + got:\n%s", tc.name, diff)
		}
	}
}

func TestThrottleEvents_KindsWithoutRealm(t *testing.T) {
	for key, want := range map[string]string{
		"addr 10.0.0.1":      "throttle:addr:10.0.0.1",
		"link 10.0.0.1":      "throttle:link:10.0.0.1",
		"forgot 2001:db8::1": "throttle:forgot:2001:db8::1",
		"change 7":           "throttle:change:7",
	} {
		if got := displayKey(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

func TestThrottleEvents_Registration(t *testing.T) {
	in := start(t)
	in.set("app.registration", "1")
	var told []string
	a := Attempt{Password: password, Addr: home, Observe: func(e kv.CacheEvent) {
		told = append(told, counterUse(e))
	}}
	if _, err := in.Register(&store.AppUser{Username: "new", Status: true}, a); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"set throttle:register:192.0.2.1 = 1"}, told); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
}

func TestThrottleEvents_LongNamesTruncated(t *testing.T) {
	for _, name := range []string{strings.Repeat("x", 1000), strings.Repeat("é", 1000),
		"x" + strings.Repeat("日", 1000), strings.Repeat("\xff", 1000),
		strings.Repeat("\x00", 1000)} {
		for _, kind := range []string{"pair app 10.0.0.1 ", "name app ",
			"known password:admin 10.0.0.1 "} {
			key := displayKey(kind + name)
			if len(key) > 64+len("throttle:password:admin:known:|10.0.0.1") || len(key) < 60 ||
				strings.ToValidUTF8(key, "") != key {
				t.Errorf("%d bytes: %q", len(key), key)
			}
		}
	}
}

func TestThrottleEvents_OffAllocatesNothing(t *testing.T) {
	w := observedCounters{counters: newCounters(time.Now)}
	w.add("addr 10.0.0.1", 1, time.Hour)
	n := testing.AllocsPerRun(100, func() {
		w.add("addr 10.0.0.1", 1, time.Hour)
		w.get("addr 10.0.0.1")
		w.drop("addr 10.0.0.2")
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
