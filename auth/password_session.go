package auth

import (
	"slices"
	"sync"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// passwordChecks are the accounts whose passwords may have been turned off. Their sessions are refused
// from the next request on, see Session.passwordOff, and ended here, so that they can't be used again
// when passwords are turned on.
type passwordChecks struct {
	mu       sync.Mutex
	due      passwordCheck
	accounts map[store.Account]bool
}

// passwordCheck is how many accounts have to be checked.
type passwordCheck int

const (
	checkSome   passwordCheck = iota // those that are known
	checkByRule                      // and all, if a setting or a role turns passwords off
	checkAll
)

// maxPasswordChecks is the number of accounts from which on all are checked.
const maxPasswordChecks = 1000

func newPasswordChecks() *passwordChecks { // changes before the last stop may not have been followed
	return &passwordChecks{due: checkAll, accounts: map[store.Account]bool{}}
}

// changed is called after each commit.
func (p *passwordChecks) changed(c kv.Changes) {
	users, apps := c.Of(store.Users), c.Of(store.AppUsers)
	rules := len(c.Of(store.Settings))+len(c.Of(store.Roles))+len(c.Of(store.AppRoles)) > 0
	if !rules && len(users)+len(apps) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range users {
		p.accounts[store.Account{ID: id}] = true
	}
	for id := range apps {
		p.accounts[store.Account{App: true, ID: id}] = true
	}
	switch {
	case len(p.accounts) > maxPasswordChecks:
		p.due = checkAll
		clear(p.accounts)
	case rules:
		p.due = max(p.due, checkByRule)
	}
}

// take returns what has to be checked.
func (p *passwordChecks) take() (accounts map[store.Account]bool, due passwordCheck) {
	p.mu.Lock()
	defer p.mu.Unlock()
	accounts, due = p.accounts, p.due
	p.accounts, p.due = map[store.Account]bool{}, checkSome
	return accounts, due
}

// again makes the next check one of all accounts, after an error.
func (p *passwordChecks) again() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.due = checkAll
}

// endPasswordSessions ends the sessions that a password or a code by mail has opened, of people whose
// passwords are turned off.
func (a *Auth) endPasswordSessions() error {
	accounts, due := a.passwords.take()
	var ended []store.ID
	err := a.db.View(store.System, func(tx *store.Tx) error {
		in := func(app bool) bool { return due == checkAll || due == checkByRule && store.PasswordsOffByRule(tx, app) }
		if users, apps := in(false), in(true); users || apps {
			if err := passwordSessions(tx, users, apps, &ended); err != nil {
				return err
			}
		}
		for who := range accounts {
			if in(who.App) {
				continue
			}
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
		a.passwords.again()
	}
	return err
}

// passwordSessions adds the sessions that end, of all users, app users, or both.
func passwordSessions(tx *store.Tx, users, apps bool, ended *[]store.ID) error {
	for s, err := range store.Sessions.All(tx) {
		if err != nil {
			return err
		}
		who := s.Account()
		if !s.EndsWithPasswords() || !store.ByRealm(who.App, users, apps) {
			continue
		}
		if off, err := store.PasswordsOff(tx, who); err != nil {
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
