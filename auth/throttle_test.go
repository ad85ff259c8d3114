package auth

import (
	"fmt"
	"testing"
	"time"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// wrong fails to sign in n times and returns the number of comparisons.
func (in *instance) wrong(n int, username, addr string) (compared int64) {
	in.t.Helper()
	for range n {
		_, c, err := in.try(username, "wrong password", addr)
		if err == nil {
			in.t.Errorf("a wrong password of %s is let in", username)
		}
		compared += c
	}
	return compared
}

func TestRateLimit_NoComparisonBeyond(t *testing.T) {
	for _, username := range []string{"admin", "nobody"} {
		in := start(t)
		if n := in.wrong(12, username, "203.0.113.1"); n != 5 {
			t.Errorf("%s: %d comparisons for 12 attempts", username, n)
		}

		kind, compared, err := in.try(username, password, "203.0.113.1")
		if e := errs.Of(err); kind != errs.TooMany || compared != 0 || e.RetryAfter <= 0 ||
			e.RetryAfter > 15*time.Minute {
			t.Errorf("%s, the right password: %v after %d comparisons", username, err, compared)
		}
		if n := in.wrong(1, username, "203.0.113.2"); n != 1 {
			t.Errorf("%s: another address is refused", username)
		}

		in.now = in.now.Add(15*time.Minute - time.Second)
		if n := in.wrong(1, username, "203.0.113.1"); n != 0 {
			t.Errorf("%s: let in before the window has ended", username)
		}

		in.now = in.now.Add(time.Second)
		if n := in.wrong(6, username, "203.0.113.1"); n != 5 {
			t.Errorf("%s: %d comparisons in a new window", username, n)
		}
	}
}

func TestRateLimit_Settings(t *testing.T) {
	in := start(t)
	in.set("security.login_tries", "2")
	in.set("security.login_window_minutes", "5")
	if n := in.wrong(9, "admin", "203.0.113.1"); n != 2 {
		t.Errorf("%d comparisons, want 2", n)
	}
	in.now = in.now.Add(5 * time.Minute)
	if kind, _, err := in.try("admin", password, "203.0.113.1"); kind != fine {
		t.Error(err)
	}
}

func TestRateLimit_SuccessClearsCounters(t *testing.T) {
	in := start(t)
	for range 6 {
		if n := in.wrong(4, "admin", "203.0.113.1"); n != 4 {
			t.Fatalf("%d comparisons of 4", n)
		}
		if kind, _, err := in.try("admin", password, "203.0.113.1"); kind != fine {
			t.Fatal(err)
		}
	}
}

// TestRateLimit_OthersAreNotLockedOut uses up the limit by name from many addresses.
func TestRateLimit_OthersAreNotLockedOut(t *testing.T) {
	in := start(t)
	in.enter("admin", password)
	flood := func(addr string, n int) (compared int64) {
		for i := range n {
			compared += in.wrong(1, "admin", fmt.Sprintf(addr, i+1))
		}
		return compared
	}
	if n := flood("198.51.100.%d", 40); n != 5*triesPerName {
		t.Errorf("%d comparisons from everywhere, want %d", n, 5*triesPerName)
	}
	if kind, compared, _ := in.try("admin", password, "203.0.113.77"); kind != errs.TooMany ||
		compared != 0 {
		t.Errorf("a strange address is let try: %v", kind)
	}
	if kind, _, err := in.try("admin", password, home.String()); kind != fine {
		t.Errorf("the user's own address: %v", err)
	}
	if n := in.wrong(9, "admin", home.String()); n != 5 {
		t.Errorf("%d comparisons from the user's own address, want 5", n)
	}

	in.restart(testCost) // clears the counters; the address is still known from login_ip
	if n := flood("198.51.101.%d", 40); n != 5*triesPerName {
		t.Errorf("%d comparisons after a restart", n)
	}
	if kind, _, err := in.try("admin", password, home.String()); kind != fine {
		t.Errorf("the user's own address after a restart: %v", err)
	}
}

// TestRateLimit_UnknownNameIsNotExempt: only a successful sign-in makes an address known.
func TestRateLimit_UnknownNameIsNotExempt(t *testing.T) {
	in := start(t)
	for i := range 40 {
		in.wrong(1, "nobody", fmt.Sprintf("198.51.100.%d", i+1))
	}
	if n := in.wrong(1, "nobody", home.String()); n != 0 {
		t.Error("an address is let try a name beyond its limit")
	}
}

func TestRateLimit_AddressOverAllNames(t *testing.T) {
	in := start(t)
	var compared int64
	for i := range 80 {
		compared += in.wrong(1, fmt.Sprintf("name%d", i), "203.0.113.1")
	}
	if compared != 5*triesPerAddress {
		t.Errorf("%d comparisons, want %d", compared, 5*triesPerAddress)
	}
}

// TestRateLimit_AddressIsNotLockedOut: from an address that has used up its attempts, one is let through every
// three seconds, for any username. People who share the address can sign in, and guessing remains slow.
func TestRateLimit_AddressIsNotLockedOut(t *testing.T) {
	in := start(t)
	const shared = "203.0.113.1"
	for i := range 60 {
		in.wrong(1, fmt.Sprintf("name%d", i), shared)
	}
	kind, _, err := in.try("admin", password, shared)
	if e := errs.Of(err); kind != errs.TooMany || e.RetryAfter <= 0 || e.RetryAfter > addressPause {
		t.Errorf("beyond the limit of the address: %v", err)
	}
	in.now = in.now.Add(addressPause)
	if kind, _, err := in.try("admin", password, shared); kind != fine {
		t.Errorf("after a pause: %v", err)
	}

	var compared int64
	begin, n := in.now, 0
	for in.now.Sub(begin) < 10*time.Minute {
		n++
		compared += in.wrong(1, fmt.Sprintf("other%d", n), shared)
		in.now = in.now.Add(500 * time.Millisecond)
	}
	if most := int64(10 * time.Minute / addressPause); compared > most || compared < most-2 {
		t.Errorf("%d comparisons in ten minutes, want at most %d", compared, most)
	}
	in.now = in.now.Add(15 * time.Minute)
	if n := in.wrong(1, "name", shared); n != 1 {
		t.Error("refused in a new window")
	}
}

func TestRateLimit_IPv6Subscriber(t *testing.T) {
	in := start(t)
	var compared int64
	for i := range 20 {
		compared += in.wrong(1, "admin", fmt.Sprintf("2001:db8:0:1:%x::%x", i*997, i+1))
	}
	if compared != 5 {
		t.Errorf("%d comparisons from one /64, want 5", compared)
	}
	if n := in.wrong(1, "admin", "2001:db8:0:2::1"); n != 1 {
		t.Error("the next /64 is refused")
	}
}

func TestRateLimit_BusyHasherNotCounted(t *testing.T) {
	in := start(t)
	release := in.hasher.queue.fill()
	for range disktest.Size(8, 20, 20) { // more than wrong passwords would be allowed
		if kind, compared, err := in.try("admin", password, "203.0.113.1"); kind != errs.Busy ||
			compared != 0 {
			t.Fatalf("%v after %d comparisons", err, compared)
		}
	}
	release()
	if kind, _, err := in.try("admin", password, "203.0.113.1"); kind != fine {
		t.Error(err)
	}
}

func TestCounters_Bound(t *testing.T) {
	now := time.Now()
	c := newCounters(func() time.Time { return now })
	for i := range maxCounters + 5000 {
		c.add(fmt.Sprint(i), 1, time.Minute)
	}
	if n := len(c.all); n != maxCounters {
		t.Errorf("%d counters, want %d", n, maxCounters)
	}
	now = now.Add(time.Minute)
	c.sweep()
	if n := len(c.all); n != 0 {
		t.Errorf("%d counters are left when all have ended", n)
	}
}

func TestCounters_Window(t *testing.T) {
	now := time.Now()
	c := newCounters(func() time.Time { return now })
	step := func(d int, wait time.Duration, n int, left time.Duration) {
		t.Helper()
		now = now.Add(wait)
		if gotN, gotLeft := c.add("k", d, time.Minute); gotN != n || gotLeft != left {
			t.Errorf("%d with %s left, want %d with %s", gotN, gotLeft, n, left)
		}
	}
	step(-1, 0, 0, 0)
	step(1, 0, 1, time.Minute)
	step(1, 20*time.Second, 2, 40*time.Second)
	step(-1, 20*time.Second, 1, 20*time.Second)
	step(1, 20*time.Second, 1, time.Minute) // the window has ended: a new counter
	step(1, 0, 2, time.Minute)
	step(-5, 0, 0, 0) // no counter is left
	step(1, 0, 1, time.Minute)
	if n := c.get("k"); n != 1 {
		t.Errorf("get %d", n)
	}

	c.drop("k")
	if n := c.get("k"); n != 0 {
		t.Errorf("get %d after drop", n)
	}
}

// TestCounters_ExpiredAreSwept: expired counters are removed from memory.
func TestCounters_ExpiredAreSwept(t *testing.T) {
	in := start(t)
	in.wrong(1, "admin", "203.0.113.1")
	in.now = in.now.Add(time.Hour)
	must(t, in.tidy())
	if n := len(in.counters.all); n != 0 {
		t.Errorf("%d counters are left", n)
	}
}
