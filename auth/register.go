package auth

import (
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// Register creates an app user and signs the user in, if the settings allow registration. If they
// require that the address is confirmed, it queues the mail with the link instead, and returns no
// Grant. It is rate-limited by address before anything is hashed.
func (a *Auth) Register(u *store.AppUser, in Attempt) (*Grant, error) {
	if err := a.admitRegistration(u, in); err != nil {
		return nil, err
	}

	p := unknownCaller(in.Addr)
	p.timing = in.Hashing
	secret, err := a.newSecret(p, u.Username, "password", &in.Password)
	if errs.Is(err, errs.Busy) { // nothing was tried, and the client does it again
		a.counters.add(registrations(in), -1, time.Minute)
	}
	if err != nil {
		return nil, err
	}

	var g *Grant
	err = a.db.Update(store.System, func(tx *store.Tx) (err error) {
		g = nil // Update may run the function again
		created := *u
		confirm, err := in.mayRegister(tx, u) // the settings may have changed
		if err != nil {
			return err
		}
		if created.RoleIDs, err = store.DefaultAppRoles(tx); err != nil {
			return err
		}
		if confirm {
			return store.Register(tx, created, secret.Hash, in.Language)
		}
		g, err = register(tx, created, secret.Hash, in)
		return err
	})
	return g, err
}

// admitRegistration returns an error for a registration that the settings or the rate limit do not
// allow, or whose challenge is not solved. The costliest check is the last.
func (a *Auth) admitRegistration(u *store.AppUser, in Attempt) error {
	var wait time.Duration
	challenged := false
	err := a.db.View(store.Anonymous, func(tx *store.Tx) error {
		if _, err := in.mayRegister(tx, u); err != nil {
			return err
		}
		challenged = store.AppRegistrationChallenge.Get(tx)
		wait = a.countRegistration(tx, in)
		return nil
	})
	if err != nil {
		return err
	}
	if wait > 0 {
		return a.tooMany(throttledRegistration, wait)
	}
	if err := a.checkPolicy(u.Username, "password", in.Password); err != nil {
		return err // before the challenge, which can be used once
	}
	if !challenged {
		return nil
	}

	solved, err := a.challenges.check(in.Solution, a.counters.now())
	if err != nil {
		return err
	}
	return a.spendNow(solved, errSolution) // also for a registration that fails, or one solution would be good for many names
}

// mayRegister returns an error if the settings do not allow a registration. confirm reports whether
// the address has to be confirmed.
func (in *Attempt) mayRegister(tx *store.Tx, u *store.AppUser) (confirm bool, err error) {
	if err := store.CheckRegistration(tx, u.Email); err != nil {
		return false, err
	}
	confirm = store.RegistrationConfirmed(tx)
	if confirm && in.MailReady != nil {
		err = in.MailReady(tx)
	}
	return confirm, err
}

// countRegistration counts a registration and returns how long to wait; 0 means proceed.
func (a *Auth) countRegistration(tx *store.Tx, in Attempt) (wait time.Duration) {
	window := time.Duration(store.LoginWindowMinutes.Get(tx)) * time.Minute
	n, left := observedCounters{a.counters, in.Observe}.add(registrations(in), 1, window)
	limit := a.counters.share(store.LoginTries.Get(tx) * triesPerAddress)
	if n > limit {
		wait = left
	}
	if n >= limit && in.AddressFull != nil {
		in.AddressFull()
	}
	return wait
}

// registrations is the key of the counter of registrations from a network.
func registrations(in Attempt) string { return "register " + Network(in.Addr) }

// register creates an app user who can sign in at once, and opens a session.
func register(tx *store.Tx, u store.AppUser, hash string, in Attempt) (*Grant, error) {
	u.LoginIP, u.LoginTime = in.Addr.String(), tx.Now()
	if err := store.AppUsers.Create(tx, &u); err != nil {
		return nil, err
	}
	account := store.Account{App: true, ID: u.ID}
	if err := store.SetHash(tx, account, hash, false, 0); err != nil {
		return nil, err
	}
	return open(tx, account, in, &deviceUse{}, true, &loginProof{})
}
