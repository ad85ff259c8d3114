package auth

import (
	"slices"
	"sync"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// passwordChecks finds the sessions to end because passwords were turned off for their users. They are
// refused from the next request on, see Session.passwordOff, and ended so that they can't be used again
// when passwords are turned on. A change is followed at the second tidying after it: for a minute at
// least, the answer says why a session is refused.
type passwordChecks struct {
	mu      sync.Mutex
	changed accountsChanged // changes since the last tidying

	// For tidying alone:
	before accountsChanged // changes until the last tidying
	rules  string          // store.PasswordRules at the last tidying
	due    bool            // whether the rules had changed then
}

// accountsChanged are the accounts that were changed.
type accountsChanged struct {
	some map[store.Account]bool
	all  bool // whether they are not known
}

// maxPasswordChecks is the number of accounts from which on all are checked.
const maxPasswordChecks = 1000

// newPasswordChecks returns checks for rules. What was changed before the last stop may not have been
// followed.
func newPasswordChecks(rules string) *passwordChecks {
	return &passwordChecks{
		changed: accountsChanged{some: map[store.Account]bool{}},
		before:  accountsChanged{all: true},
		rules:   rules,
	}
}

// note is called after each commit.
func (p *passwordChecks) note(c kv.Changes) {
	users, apps := c.Of(store.Users), c.Of(store.AppUsers)
	if len(users)+len(apps) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range users {
		p.changed.some[store.Account{ID: id}] = true
	}
	for id := range apps {
		p.changed.some[store.Account{App: true, ID: id}] = true
	}
	if len(p.changed.some) > maxPasswordChecks {
		p.changed.all = true
		clear(p.changed.some)
	}
}

// take returns the accounts to check: those that were changed by the last tidying, and not since. After
// a change of the rules, they are all accounts.
func (p *passwordChecks) take(rules string) (due accountsChanged) {
	p.mu.Lock()
	now := p.changed
	p.changed = accountsChanged{some: map[store.Account]bool{}}
	p.mu.Unlock()
	due = accountsChanged{p.before.some, p.before.all || p.due}
	for who := range now.some {
		delete(due.some, who)
	}
	p.before, p.due = now, false
	if rules != p.rules || now.all { // all are checked by the next tidying
		p.rules, p.due = rules, true
		return accountsChanged{}
	}
	return due
}

// endPasswordSessions ends the sessions that a password or a code by mail has opened, of people whose
// passwords are turned off.
func (a *Auth) endPasswordSessions() error {
	var due accountsChanged
	var ended []store.ID
	err := a.db.View(store.System, func(tx *store.Tx) error {
		due = a.passwords.take(store.PasswordRules(tx))
		if due.all {
			return passwordSessions(tx, &ended)
		}
		for who := range due.some {
			ids, err := store.SessionsOf(tx, who)
			if err != nil {
				return err
			}
			for _, id := range ids {
				if ends, err := endsWithPassword(tx, id); err != nil {
					return err
				} else if ends {
					ended = append(ended, id)
				}
			}
		}
		return nil
	})
	for ids := range slices.Chunk(ended, kv.MaxRecordsPerWrite) {
		if err != nil {
			break
		}
		err = a.db.Update(store.System, func(tx *store.Tx) error {
			for _, id := range ids {
				ends, err := endsWithPassword(tx, id)
				if err == nil && ends {
					err = store.Sessions.Delete(tx, id)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		a.passwords.due = true // try again
	}
	return err
}

// passwordSessions adds the sessions that end.
func passwordSessions(tx *store.Tx, ended *[]store.ID) error {
	for s, err := range store.Sessions.All(tx) {
		if err != nil {
			return err
		}
		if !s.EndsWithPasswords() {
			continue
		}
		if off, err := store.PasswordsOff(tx, s.Account()); err != nil {
			return err
		} else if off {
			*ended = append(*ended, s.ID)
		}
	}
	return nil
}

// endsWithPassword reports whether a session has to be ended; not one that is gone.
func endsWithPassword(tx *store.Tx, id store.ID) (bool, error) {
	s, err := store.Sessions.Get(tx, id)
	if errs.Is(err, errs.NotFound) || err == nil && !s.EndsWithPasswords() {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return store.PasswordsOff(tx, s.Account())
}
