package auth

import (
	"net/netip"
	"sync"
	"time"
)

// counters is a small expiring store in memory: what another program would keep
// in Redis with INCR and EXPIRE. It is lost at a restart and bounded in size.
type counters struct {
	mu  sync.Mutex
	all map[string]counter
	now func() time.Time
}

type counter struct {
	n    int
	ends time.Time
}

// maxCounters bounds the store to a few tens of megabytes. When it is full and
// nothing has expired, an arbitrary entry makes room.
const maxCounters = 100_000

func newCounters(now func() time.Time) *counters {
	return &counters{all: map[string]counter{}, now: now}
}

// add moves a counter by d and returns it with the time until it ends. A counter
// begins with its first move and lives for window.
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
		e = counter{ends: now.Add(window)}
	}
	if e.n += d; e.n <= 0 {
		delete(c.all, key)
		return 0, 0
	}
	c.all[key] = e
	return e.n, e.ends.Sub(now)
}

// get returns a counter, 0 when it has ended.
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
	delete(c.all, key)
}

// sweep drops what has ended.
func (c *counters) sweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expire(c.now())
}

func (c *counters) expire(now time.Time) {
	for key, e := range c.all {
		if !now.Before(e.ends) {
			delete(c.all, key)
		}
	}
}

func (c *counters) makeRoom(now time.Time) {
	if len(c.all) < maxCounters {
		return
	}
	for key := range c.all { // one in arbitrary order: walking them all here would be a lever for a flood
		delete(c.all, key)
		break
	}
}

// The limits of attempts in one window, as multiples of the setting login_tries:
// of one name from one address, of one name from anywhere, of one address.
const (
	triesPerName    = 4
	triesPerAddress = 10
)

// knownFor is how long an address from which a user has signed in is spared the
// limit by name, so that nobody can lock another out.
const knownFor = 30 * 24 * time.Hour

// attempt is one try to sign in, as throttling sees it.
type attempt struct {
	c      watched
	pair   string
	name   string
	addr   string // "" for no limit by address
	known  string
	window time.Duration
	spared bool // the name's counter was not moved
	device bool // from a known device: nothing is counted

	addressFull func() // called when the address is at its limit
}

// newAttempt makes one; realm has no blanks.
func newAttempt(c watched, realm, name string, addr netip.Addr, window time.Duration) *attempt {
	where := Network(addr)
	return &attempt{
		c: c, window: window,
		pair: "pair " + realm + " " + where + " " + name, name: "name " + realm + " " + name,
		addr: "addr " + where, known: "known " + realm + " " + where + " " + name,
	}
}

// begin counts the attempt before anything slow is done for it, so that a burst
// cannot slip through together; it returns how long to wait, 0 for go on. known
// is asked only when the limit by name is reached.
func (a *attempt) begin(tries int, known func() bool) time.Duration {
	if a.device {
		return 0
	}
	var wait time.Duration
	check := func(key string, limit int) bool {
		n, left := a.c.add(key, 1, a.window)
		if key == a.addr && n >= limit && a.addressFull != nil {
			a.addressFull()
		}
		if n > limit {
			wait = max(wait, left)
		}
		return n > limit
	}
	// The address first: once it is refused, a flood of names from it adds no
	// counters and so pushes nobody's out.
	if a.addr != "" && check(a.addr, tries*triesPerAddress) || check(a.pair, tries) {
		return wait
	}
	if a.c.get(a.known) > 0 {
		a.spared = true
		return 0
	}
	if check(a.name, tries*triesPerName) && known() {
		a.spared, wait = true, 0
	}
	return wait
}

// succeeded forgets what led up to a success and remembers the address.
func (a *attempt) succeeded() {
	a.c.drop(a.pair)
	a.withdraw()
	a.c.drop(a.known)
	a.c.add(a.known, 1, knownFor) // from now on, not from the first time
}

// withdraw takes back an attempt that was not one, or was a success.
func (a *attempt) withdraw() {
	if a.device {
		return
	}
	a.c.add(a.pair, -1, a.window)
	if a.addr != "" {
		a.c.add(a.addr, -1, a.window)
	}
	if !a.spared {
		a.c.add(a.name, -1, a.window)
	}
}

// Network returns what counts as one address: an IPv4 address, or the /64 that one
// IPv6 subscriber has.
func Network(addr netip.Addr) string {
	if addr.Is6() {
		if p, err := addr.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return addr.String()
}
