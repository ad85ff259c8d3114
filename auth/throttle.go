package auth

import (
	"net/netip"
	"sync"
	"time"

	"reeve/store"
)

// counters is a small in-memory store of expiring counters, like INCR and EXPIRE of
// Redis. It is lost at a restart and bounded in size.
type counters struct {
	mu  sync.Mutex
	all map[string]counter
	of  map[store.Account]map[string]struct{} // keys of the counters of an account, see own
	now func() time.Time

	nodes    func() int // see Options.Nodes
	unlocked []store.ID // rows of store.Unlocks that commits have changed since the last sign-in
}

type counter struct {
	n      int
	begins time.Time
	ends   time.Time
	of     store.Account // account whose attempts are counted; zero if none
}

// maxCounters bounds the memory to a few tens of megabytes. When the store is full and
// nothing has expired, an arbitrary counter is dropped.
const maxCounters = 100_000

func newCounters(now func() time.Time) *counters {
	return &counters{
		all: map[string]counter{},
		of:  map[store.Account]map[string]struct{}{},
		now: now,
	}
}

// share returns the part of a limit that this node allows, at least 1. All nodes together allow less than
// one attempt more for each node.
func (c *counters) share(limit int) int {
	if c.nodes == nil {
		return limit
	}
	n := max(1, c.nodes())
	return max(1, (limit+n-1)/n)
}

// add adds d to a counter and returns its value and remaining life. A counter starts
// with its first add and lives for window.
func (c *counters) add(key string, d int, window time.Duration) (n int, left time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	e, ok := c.all[key]
	if !ok || !now.Before(e.ends) {
		if d < 0 {
			return 0, 0
		}
		c.makeRoom(now)
		c.remove(key)
		e = counter{begins: now, ends: now.Add(window)}
	}
	if e.n += d; e.n <= 0 {
		c.remove(key)
		return 0, 0
	}

	c.all[key] = e
	return e.n, e.ends.Sub(now)
}

// get returns the value of a counter, 0 if it has expired.
func (c *counters) get(key string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.all[key]; ok && c.now().Before(e.ends) {
		return e.n
	}
	return 0
}

func (c *counters) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
}

// remove deletes a counter. c.mu must be locked.
func (c *counters) remove(key string) {
	c.disown(key, c.all[key].of)
	delete(c.all, key)
}

// sweep drops expired counters.
func (c *counters) sweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expire(c.now())
}

func (c *counters) expire(now time.Time) {
	for key, e := range c.all {
		if !now.Before(e.ends) {
			c.remove(key)
		}
	}
}

func (c *counters) makeRoom(now time.Time) {
	if len(c.all) < maxCounters {
		return
	}
	for key := range c.all { // an arbitrary one: searching for the oldest would cost more under a flood
		c.remove(key)
		break
	}
}

// Limits of attempts in one window, as multiples of the setting login_tries, which
// limits one name from one address: for one name from any address, and for one address. Each of several
// nodes allows its share, see counters.share.
const (
	triesPerName    = 4
	triesPerAddress = 10
)

// addressPause is the time between two attempts from an address that has used up its own. They are not
// refused until the end of the window, because many people can share an address: otherwise one of them
// could lock out all others. A client that needs more passes on the addresses of its own clients.
const addressPause = 3 * time.Second

// knownFor is how long an address from which a user has signed in is exempt from the
// limit by name, so that no one can lock out another user.
const knownFor = 30 * 24 * time.Hour

// throttleCheck is the rate-limit state of one attempt.
type throttleCheck struct {
	c      observedCounters
	pair   string
	name   string
	addr   string // "" for no limit by address
	known  string
	window time.Duration
	who    store.Account // account whose sign-ins are counted; zero if none
	exempt bool          // the counter of the name was not incremented
	device bool          // known device: nothing is counted

	addressFull func() // called when the address reaches its limit
}

// newThrottleCheck returns the check of one attempt. realm must not contain blanks.
func newThrottleCheck(c observedCounters, realm, name string, addr netip.Addr,
	window time.Duration) *throttleCheck {
	where := Network(addr)
	return &throttleCheck{
		c:      c,
		window: window,
		pair:   "pair " + realm + " " + where + " " + name,
		name:   "name " + realm + " " + name,
		addr:   "addr " + where,
		known:  "known " + realm + " " + where + " " + name,
	}
}

// begin counts the attempt before any slow work, so that a burst cannot pass together.
// It returns how long to wait; 0 means proceed. known is called only when the limit by
// name is reached.
func (a *throttleCheck) begin(tries int, known func() bool) time.Duration {
	if a.device {
		return 0
	}

	var wait time.Duration
	check := func(key string, limit int) bool {
		n, left := a.c.add(key, 1, a.window)
		if a.who.ID != 0 {
			a.c.own(key, a.who)
		}
		if n > limit {
			wait = max(wait, left)
		}
		return n > limit
	}
	// Check the address first: once it is over its limit, a flood of names from it adds few
	// counters, and so displaces few.
	if a.addr != "" {
		if wait := a.countAddress(a.c.share(tries * triesPerAddress)); wait > 0 {
			return wait
		}
	}
	if check(a.pair, a.c.share(tries)) {
		return wait
	}
	if a.c.get(a.known) > 0 {
		a.exempt = true
		return 0
	}
	if check(a.name, a.c.share(tries*triesPerName)) && known() {
		a.exempt, wait = true, 0
	}

	return wait
}

// countAddress counts the attempt for the address, and returns how long to wait.
func (a *throttleCheck) countAddress(limit int) time.Duration {
	n, _ := a.c.add(a.addr, 1, a.window)
	if n >= limit && a.addressFull != nil {
		a.addressFull()
	}
	if n < limit {
		return 0
	}
	first, left := a.c.add("pause "+a.addr, 1, addressPause)
	if n == limit || first == 1 {
		return 0
	}
	return left
}

// succeeded clears the counters of the failed attempts and remembers the address.
func (a *throttleCheck) succeeded() {
	a.c.drop(a.pair)
	a.withdraw()
	a.c.drop(a.known)
	a.c.add(a.known, 1, knownFor) // restarts the life of the counter
}

// withdraw undoes the count of an attempt that succeeded or was not decided.
func (a *throttleCheck) withdraw() {
	if a.device {
		return
	}
	a.c.add(a.pair, -1, a.window)
	if a.addr != "" {
		a.c.add(a.addr, -1, a.window)
	}
	if !a.exempt {
		a.c.add(a.name, -1, a.window)
	}
}

// Network returns the text that identifies one client address: an IPv4 address, or the
// /64 network that one IPv6 subscriber has.
func Network(addr netip.Addr) string {
	if addr.Is6() {
		if p, err := addr.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return addr.String()
}
