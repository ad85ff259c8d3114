// Package auth says who is asking and whether to believe it: passwords, tokens,
// sessions, throttling, and where a request really comes from. What a caller may
// do follows from the store's rules (store.Actor); auth fills the actor in. It
// knows nothing of HTTP or configuration.
package auth

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// FirstUser is the user that a new database has.
const FirstUser store.ID = 1

// Options are what auth needs to be told.
type Options struct {
	Cost int // of bcrypt, 4 to 31
	// InitialFile holds the first user's generated password, and is removed when
	// that user changes it.
	InitialFile string
	// Common are passwords that nobody may have, in lower case.
	Common map[string]bool
	// LoginLogDays and LoginLogRows take the place of the settings that say how much of
	// the login log is kept; 0 leaves it to them.
	LoginLogDays, LoginLogRows int
}

// Auth is ready after New and works on one database.
type Auth struct {
	db        store.Watched
	options   Options
	hasher    *hasher
	sessions  *sessions
	counters  *counters
	throttled *throttled
	held      *held
	stats     *stats
	initial   *atomic.Bool // the initial file may be there

	fingerprints []byte // the key of fingerprint
}

// On returns the same Auth that reaches the store through another handle.
func (a *Auth) On(db store.Watched) *Auth {
	other := *a
	other.db = db
	return &other
}

// New prepares auth for a database that nobody uses yet.
func New(db *store.DB, options Options) (*Auth, error) {
	a := &Auth{db: db.Watched(nil).For("sign-in housekeeping", nil), options: options, sessions: newSessions(), counters: newCounters(time.Now), throttled: &throttled{}, held: newHeld(), stats: newStats(), initial: &atomic.Bool{}}
	a.initial.Store(options.InitialFile != "")
	err := db.View(store.System, func(tx *store.Tx) error {
		install, err := store.Installs.Get(tx, 1)
		if err == nil {
			a.hasher = newHasher(install.PasswordKey, options.Cost)
			a.fingerprints = fingerprintKey(install.PasswordKey)
		}
		return err
	})
	db.OnCommit(a.sessions.forget)
	return a, err
}

// Run keeps the sessions tidy until ctx ends: last uses are written, expired
// sessions deleted. fail is told what went wrong.
func (a *Auth) Run(ctx context.Context, fail func(error)) {
	tick, room := time.NewTicker(saveEvery), time.NewTicker(heldEvery)
	defer tick.Stop()
	defer room.Stop()
	for {
		select {
		case <-ctx.Done():
			if err := a.tidy(); err != nil {
				fail(err)
			}
			return
		case <-tick.C:
			if err := a.tidy(); err != nil {
				fail(err)
			}
		case <-room.C:
			if a.held.empty() {
				continue
			}
			if err := a.storeHeld(); err != nil && !errs.Is(err, errs.Full) {
				fail(err)
			}
		}
	}
}

func (a *Auth) tidy() error {
	a.counters.sweep()
	used := a.saveUse(a.sessions.unsaved(store.TimeOf(time.Now())))
	all := slices.Collect(maps.Values(a.throttled.take()))
	err := a.logRows(all)
	if errs.Is(err, errs.Full) {
		for _, row := range all {
			a.held.note(row)
		}
	}
	return errors.Join(used, err, a.trim())
}

// saveUse stores when sessions were last used.
func (a *Auth) saveUse(due map[store.ID]store.Time) error {
	for ids := range slices.Chunk(slices.Collect(maps.Keys(due)), store.MaxRecords) {
		err := a.db.Update(store.System, func(tx *store.Tx) error {
			for _, id := range ids {
				_, err := store.Sessions.Touch(tx, id, func(s *store.Session) error {
					s.LastUsed = max(s.LastUsed, due[id])
					return nil
				})
				if err != nil && !errs.Is(err, errs.NotFound) {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// trim deletes old rows of the login log, expired devices, and expired sessions with
// their tokens, in steps: a quarter of the step's records each for devices and for
// sessions that are expired, idle and idle in the app.
func (a *Auth) trim() error {
	for more := true; more; {
		err := a.db.Update(store.System, func(tx *store.Tx) (err error) {
			days := cmp.Or(a.options.LoginLogDays, store.LoginLogDays.Get(tx))
			rows := cmp.Or(a.options.LoginLogRows, store.LoginLogRows.Get(tx))
			before := tx.Now().Add(-time.Duration(days) * 24 * time.Hour)
			if more, err = store.TrimLoginLog(tx, before, rows, store.MaxRecords); err != nil || more {
				return err
			}
			more, err = store.EndExpiredSessions(tx, tx.Now().Add(-idleLimit(tx, false)), tx.Now().Add(-idleLimit(tx, true)), store.MaxRecords/8)
			if err != nil || more {
				return err
			}
			more, err = store.EndExpiredDevices(tx, store.MaxRecords/4)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ChangePassword replaces the signed-in user's password and ends the user's
// other sessions. The old one is throttled like a login.
func (a *Auth) ChangePassword(s *Session, addr netip.Addr, oldPassword, newPassword string) error {
	if err := a.checkPolicy(s.Actor.Username, "new_password", newPassword); err != nil {
		return err
	}
	if oldPassword == newPassword {
		return errs.Field(errs.Invalid, "new_password", "must be another one")
	}
	hash, err := a.confirm(s, addr, "old_password", oldPassword)
	if err != nil {
		return err
	}
	fresh, err := a.hasher.hash(knownAs(s.account), newPassword)
	if err != nil {
		return err
	}
	err = a.db.Update(s.Actor, func(tx *store.Tx) error {
		stored, err := store.HashOf(tx, s.account)
		if err == nil && stored.Hash != hash {
			err = errs.New(errs.Conflict, "the password has just been changed from elsewhere").Coded("stale")
		}
		if err != nil {
			return err
		}
		return store.SetHash(tx, s.account, fresh, false, s.ID)
	})
	if err == nil {
		err = a.ForgetInitial(s.account)
	}
	return err
}

// Confirm checks the signed-in user's password again, before a change for which a
// session is not enough. It is throttled together with ChangePassword.
func (a *Auth) Confirm(s *Session, addr netip.Addr, password string) error {
	_, err := a.confirm(s, addr, "password", password)
	return err
}

// confirm compares the password of the signed-in user and returns its hash; field is
// that of the input.
func (a *Auth) confirm(s *Session, addr netip.Addr, field, password string) (hash string, err error) {
	var at *attempt
	var tries int
	err = a.db.View(s.Actor, func(tx *store.Tx) error {
		window := time.Duration(store.LoginWindowMinutes.Get(tx)) * time.Minute
		tries = store.LoginTries.Get(tx)
		at = newAttempt(watched{counters: a.counters}, "password:"+realm(s.Actor.App), s.Actor.ID.String(), addr, window)
		at.addr = "" // strangers at this address do not keep a user with a session from it
		h, err := store.HashOf(tx, s.account)
		if err == nil {
			hash = h.Hash
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if wait := at.begin(tries, func() bool { return false }); wait > 0 {
		return "", a.tooMany(throttledPassword, wait)
	}
	same, err := a.hasher.compare(knownAs(s.account), hash, password)
	if err != nil {
		at.withdraw()
		return "", err
	}
	if !same {
		return "", errs.Field(errs.Invalid, field, "is not the present password").Coded("wrong_password")
	}
	at.succeeded()
	return hash, nil
}

// HashPassword hashes a password for a database that is only being made and has
// no Auth yet; tx is the transaction that makes it.
func HashPassword(tx *store.Tx, password string, cost int) (string, error) {
	install, err := store.Installs.Get(tx, 1)
	if err != nil {
		return "", err
	}
	return newHasher(install.PasswordKey, cost).hash(newPasswords, password)
}

// Recover gives the first enabled user with the owner role a new password that
// must be changed, and ends that user's sessions. The last owner cannot be
// disabled, so there is one.
func (a *Auth) Recover(password string) (username string, err error) {
	hash, err := a.hasher.hash(newPasswords, password)
	if err != nil {
		return "", err
	}
	err = a.db.Update(store.System, func(tx *store.Tx) error {
		for user, err := range store.UserByRole.All(tx, store.OwnerRole) {
			if err != nil {
				return err
			}
			if !bool(user.Status) {
				continue
			}
			username = user.Username
			return store.SetHash(tx, store.Account{ID: user.ID}, hash, true, 0)
		}
		return errs.New(errs.NotFound, "there is no enabled user with the owner role")
	})
	if err == nil {
		err = a.removeInitial()
	}
	return username, err
}
