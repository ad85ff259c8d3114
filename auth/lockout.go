package auth

import (
	"slices"
	"strings"
	"time"

	"reeve/store"
	"reeve/store/fold"
	"reeve/store/kv"
)

// Lockout is why an account can't sign in now: its password or second factor was wrong too often.
// Known devices, and with Everywhere also addresses of earlier sign-ins, are not subject to it.
type Lockout struct {
	Tries      int // attempts that failed or were refused, of the counter that has most
	Since      store.Time
	Until      store.Time
	Everywhere bool     // the limit of the account is reached; otherwise only that of some networks
	Networks   []string // client networks that are at their limit, at most maxLockedNetworks; nil with Everywhere
}

const (
	maxLockedNetworks = 10
	// maxLookedAt bounds the counters of an account that are read. An account with more has reached
	// its limit from everywhere, which is looked at first: the failures from all its networks count
	// towards it.
	maxLookedAt = 256
)

// Lockout returns the lock-out of an account; nil if there is none. It reads the counters of this
// account only.
func (a *Auth) Lockout(tx *store.Tx, who store.Account, username string) *Lockout {
	if !a.counters.hasOf(who) {
		return nil // as nearly always, also for each row of a list
	}
	tries := store.LoginTries.Get(tx)
	name := fold.Key(username)
	if who.App {
		name = accountMark + who.ID.String()
	}
	wide := []string{"name " + realm(who.App) + " " + name,
		"name " + signInFactor + ":" + realm(who.App) + " " + who.ID.String()}
	return a.counters.lockout(who, wide, tries)
}

// Unlock ends the lock-out of an account: it drops the counts of its failed sign-ins. Those of
// client addresses, from which others sign in too, remain.
func (a *Auth) Unlock(who store.Account) { a.counters.dropOf(who) }

// own makes a counter one of an account, as those of its failed sign-ins are.
func (c *counters) own(key string, who store.Account) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.all[key]
	if !ok || e.of == who {
		return
	}
	c.disown(key, e.of)
	e.of = who
	c.all[key] = e
	if c.of[who] == nil {
		c.of[who] = map[string]struct{}{}
	}
	c.of[who][key] = struct{}{}
}

// disown removes a counter from those of an account. c.mu must be locked.
func (c *counters) disown(key string, who store.Account) {
	if delete(c.of[who], key); len(c.of[who]) == 0 {
		delete(c.of, who)
	}
}

// dropOf drops the counters of an account.
func (c *counters) dropOf(who store.Account) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.of[who] {
		c.remove(key)
	}
}

// hasOf reports whether an account has counters.
func (c *counters) hasOf(who store.Account) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.of[who]) > 0
}

// lockout returns the lock-out of an account. wide are the keys of its counters that apply
// everywhere.
func (c *counters) lockout(who store.Account, wide []string, tries int) *Lockout {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, out := c.now(), &Lockout{}
	for _, key := range wide {
		out.count(c.all[key], who, tries*triesPerName, now)
	}

	if out.Everywhere = out.Tries > 0; out.Everywhere {
		return out
	}

	looked := 0
	for key := range c.of[who] {
		if looked++; looked > maxLookedAt {
			break
		}
		if rest, pair := strings.CutPrefix(key, "pair "); pair &&
			out.count(c.all[key], who, tries, now) {
			network := strings.SplitN(rest, " ", 3)[1]
			if len(out.Networks) < maxLockedNetworks && !slices.Contains(out.Networks, network) {
				out.Networks = append(out.Networks, network)
			}
		}
	}

	if out.Tries == 0 {
		return nil
	}

	slices.Sort(out.Networks)
	return out
}

// count adds a counter that has reached its limit, and reports whether it has.
func (l *Lockout) count(e counter, who store.Account, limit int, now time.Time) bool {
	if e.of != who || e.n < limit || !now.Before(e.ends) {
		return false
	}
	l.Tries = max(l.Tries, e.n)
	l.Until = max(l.Until, kv.TimeOf(e.ends))
	if since := kv.TimeOf(e.begins); l.Since == 0 || since < l.Since {
		l.Since = since
	}
	return true
}
