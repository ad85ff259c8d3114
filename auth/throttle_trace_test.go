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
)

// observe makes an attempt and returns the operations reported for it.
func (in *instance) observe(a Attempt) (told []string) {
	in.t.Helper()
	a.Observe = func(o CounterOp) {
		if o.Took < 0 || o.Took > time.Minute {
			in.t.Errorf("%s took %s", o, o.Took)
		}
		told = append(told, fmt.Sprintf("%s = %d", o, o.Value))
	}
	if _, err := in.Login(a); err != nil && errs.Of(err).Kind != errs.Unauthenticated && errs.Of(err).Kind != errs.TooMany {
		in.t.Fatal(err)
	}
	return told
}

func TestThrottleTrace_RedisCommands(t *testing.T) {
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
			"INCR throttle:addr:10.0.0.1 EX 900 = 1", "INCR throttle:name+addr:alice|10.0.0.1 EX 900 = 1",
			"GET throttle:known:alice|10.0.0.1 = 0", "INCR throttle:name:alice EX 900 = 1"}},
		{"one too many", Attempt{Username: "alice", Password: "canary", Addr: addr}, []string{
			"INCR throttle:addr:10.0.0.1 EX 900 = 2", "INCR throttle:name+addr:alice|10.0.0.1 EX 900 = 2"}},
		{"a success", Attempt{Username: "admin", Password: password, Addr: addr}, []string{
			"INCR throttle:addr:10.0.0.1 EX 900 = 3", "INCR throttle:name+addr:admin|10.0.0.1 EX 900 = 1",
			"GET throttle:known:admin|10.0.0.1 = 0", "INCR throttle:name:admin EX 900 = 1",
			"DEL throttle:name+addr:admin|10.0.0.1 = 0", "DECR throttle:name+addr:admin|10.0.0.1 = 0", "DECR throttle:addr:10.0.0.1 = 2",
			"DECR throttle:name:admin = 0", "DEL throttle:known:admin|10.0.0.1 = 0", "INCR throttle:known:admin|10.0.0.1 EX 2592000 = 1"}},
		{"the app's realm and a network", Attempt{App: true, Username: odd, Password: "canary", Addr: netip.MustParseAddr("2001:db8::1")}, []string{
			"INCR throttle:addr:2001:db8::/64 EX 900 = 1", "INCR throttle:app:name+addr:" + unknown + "|2001:db8::/64 EX 900 = 1",
			"GET throttle:app:known:" + unknown + "|2001:db8::/64 = 0", "INCR throttle:app:name:" + unknown + " EX 900 = 1",
			"INCR throttle:app:name+addr:@" + unknown + "|2001:db8::/64 EX 900 = 1",
			"GET throttle:app:known:@" + unknown + "|2001:db8::/64 = 0", "INCR throttle:app:name:@" + unknown + " EX 900 = 1"}},
	} {
		if diff := cmp.Diff(tc.want, in.observe(tc.a)); diff != "" {
			t.Errorf("%s, - want, + got:\n%s", tc.name, diff)
		}
	}
	in.now = in.now.Add(899*time.Second + time.Millisecond)
	if got := in.observe(Attempt{Username: "alice", Password: "canary", Addr: addr}); len(got) == 0 || got[0] != "INCR throttle:addr:10.0.0.1 EX 1 = 3" {
		t.Errorf("shortly before the end: %q", got)
	}
}

func TestThrottleTrace_Registration(t *testing.T) {
	in := start(t)
	in.set("app.registration", "1")
	var told []string
	a := Attempt{Password: password, Addr: home, Observe: func(o CounterOp) { told = append(told, o.String()) }}
	if _, err := in.Register(&store.AppUser{Username: "new", Status: true}, a); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"INCR throttle:register:192.0.2.1 EX 900"}, told); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
}

func TestThrottleTrace_LongNamesTruncated(t *testing.T) {
	for _, name := range []string{strings.Repeat("x", 1000), strings.Repeat("é", 1000), "x" + strings.Repeat("日", 1000), strings.Repeat("\xff", 1000), strings.Repeat("\x00", 1000)} {
		for _, kind := range []string{"pair app 10.0.0.1 ", "name app ", "known password:admin 10.0.0.1 "} {
			key := displayKey(kind + name)
			if len(key) > 64+len("throttle:password:admin:known:|10.0.0.1") || len(key) < 60 || strings.ToValidUTF8(key, "") != key {
				t.Errorf("%d bytes: %q", len(key), key)
			}
		}
	}
}

func TestThrottleTrace_OffAllocatesNothing(t *testing.T) {
	w := tracedCounters{counters: newCounters(time.Now)}
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
