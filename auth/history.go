package auth

import (
	"net/netip"
	"strings"
	"time"

	"golang.org/x/crypto/bcrypt"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// usedPasswords are the hashes of passwords that a user may not choose again.
type usedPasswords struct {
	who     store.Account
	limit   int      // the setting password_history; 0 accepts every password
	present string   // "" for no password
	earlier []string // those before it, the newest first; at most limit
}

func usedPasswordsOf(tx *store.Tx, who store.Account) (*usedPasswords, error) {
	used := &usedPasswords{who: who, limit: store.PasswordHistory.Get(tx)}
	h, err := store.HashOf(tx, who)
	switch {
	case errs.Is(err, errs.NotFound):
		return used, nil
	case err != nil:
		return nil, err
	}
	used.present, used.earlier = h.Hash, h.Earlier[:min(used.limit, len(h.Earlier))]
	return used, nil
}

// all returns the hashes that a new password is compared with if it may be the current one.
func (u *usedPasswords) all() []string {
	if u.limit == 0 || u.present == "" {
		return nil
	}
	return append([]string{u.present}, u.earlier...)
}

// refusal returns the error about a password that was used before.
func (u *usedPasswords) refusal(field string) error {
	if u.limit == 1 {
		return errs.Field(errs.Invalid, field, "must not be your last password").Coded("password_used")
	}
	return errs.Field(errs.Invalid, field, "must not be one of your last %d passwords", u.limit).Coded("password_used")
}

// unchanged returns a Conflict if the password was changed since u was read.
func (u *usedPasswords) unchanged(tx *store.Tx) error {
	hash, err := store.StoredHash(tx, u.who)
	if err == nil && hash != u.present {
		err = errs.New(errs.Conflict, "the password was changed in another session; try again").Coded("stale")
	}
	return err
}

// checkUnused returns an error if one of the hashes, some or all of u, is the hash of a new
// password.
//
// It costs up to 11 comparisons. A flood of them is limited like one of wrong passwords. Each waits
// for a slot of the hasher, which accounts and networks share fairly. After login_tries refusals
// within the window, nothing is compared. An accepted password needs the current one, or uses up
// the link.
func (a *Auth) checkUnused(p hashCaller, u *usedPasswords, hashes []string, addr netip.Addr,
	field, password string, observe func(kv.CacheEvent)) error {
	if len(hashes) == 0 {
		return nil
	}

	var at *throttleCheck
	var tries int
	err := a.db.View(store.Anonymous, func(tx *store.Tx) error {
		window := time.Duration(store.LoginWindowMinutes.Get(tx)) * time.Minute
		tries = store.LoginTries.Get(tx)
		at = newThrottleCheck(observedCounters{a.counters, observe}, "used:"+realm(u.who.App),
			u.who.ID.String(), addr, window)
		at.addr = "" // others at this address have nothing to do with it
		return nil
	})
	if err != nil {
		return err
	}
	if wait := at.begin(tries, func() bool { return false }); wait > 0 {
		return a.tooMany(throttledPassword, wait)
	}

	for _, hash := range hashes {
		if !verifiable(hash) {
			continue // imported by a version that knew more algorithms, or allowed higher costs
		}
		same, err := a.hasher.compare(p, hash, password)
		if err != nil {
			at.withdraw()
			return err
		}
		if same {
			return u.refusal(field)
		}
	}

	at.succeeded()
	return nil
}

// verifiable reports whether compare knows the form of a hash.
func verifiable(hash string) bool {
	if text, imported := strings.CutPrefix(hash, store.ImportedHash); imported {
		_, fault := parseImported(text)
		return fault.Empty()
	}
	_, err := bcrypt.Cost([]byte(hash))
	return err == nil
}
