package auth

import (
	"maps"
	"slices"
	"strings"
	"time"

	"reeve/store"
	"reeve/store/errs"
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
	if missing, err := a.unlockIn(tx, a.counters.takeUnlocked()); err == nil {
		a.counters.addUnlocked(missing)
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

// Several reports whether there can be lock-outs that this server does not see, because it is one of
// several nodes.
func (a *Auth) Several() bool { return a.several() }

// noteUnlocked notes accounts that a commit of any node has unlocked.
func (c *counters) noteUnlocked(changes kv.Changes) {
	changed := changes.Of(store.Unlocks)
	if len(changed) > 0 {
		c.addUnlocked(slices.Collect(maps.Keys(changed)))
	}
}

func (c *counters) addUnlocked(rows []store.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.of) > 0 { // otherwise no account has a count that is to be dropped
		c.unlocked = append(c.unlocked, rows...)
	}
}

// unlock ends the lock-outs of accounts that were unlocked since the last call: it drops the counts of
// their failed sign-ins. Those of client addresses, from which others sign in too, remain. Call it outside
// of transactions, so that the rows are seen.
func (a *Auth) unlock() error {
	changed := a.counters.takeUnlocked()
	if len(changed) == 0 {
		return nil
	}
	return a.db.View(store.System, func(tx *store.Tx) error {
		_, err := a.unlockIn(tx, changed) // those that are missing were deleted with their account
		return err
	})
}

// unlockIn drops the counts of the accounts of rows, and returns the rows that the transaction does not
// see.
func (a *Auth) unlockIn(tx *store.Tx, rows []store.ID) (missing []store.ID, err error) {
	for _, id := range rows {
		u, err := store.Unlocks.Get(tx, id)
		switch {
		case errs.Is(err, errs.NotFound):
			missing = append(missing, id)
		case err != nil:
			return nil, err
		default:
			a.counters.dropOf(u.Account())
		}
	}
	return missing, nil
}

func (c *counters) takeUnlocked() []store.ID {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := c.unlocked
	c.unlocked = nil
	return changed
}

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
		out.count(c.all[key], who, c.share(tries*triesPerName), now)
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
			out.count(c.all[key], who, c.share(tries), now) {
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
