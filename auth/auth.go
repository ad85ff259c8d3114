// Package auth says who is asking and whether to believe it: passwords, tokens,
// sessions, throttling, and where a request really comes from. What a caller may
// do follows from the store's rules (store.Actor); auth fills the actor in. It
// knows nothing of HTTP or configuration.
package auth

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"os"
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
}

// Auth is ready after New and works on one database.
type Auth struct {
	db       *store.DB
	options  Options
	hasher   *hasher
	sessions *sessions
	counters *counters
}

// New prepares auth for a database that nobody uses yet.
func New(db *store.DB, options Options) (*Auth, error) {
	a := &Auth{db: db, options: options, sessions: newSessions(), counters: newCounters(time.Now)}
	err := db.View(store.System, func(tx *store.Tx) error {
		install, err := store.Installs.Get(tx, 1)
		if err == nil {
			a.hasher = newHasher(install.PasswordKey, options.Cost)
		}
		return err
	})
	db.OnCommit(a.sessions.forget)
	return a, err
}

// Run keeps the sessions tidy until ctx ends: last uses are written, expired
// sessions deleted. fail is told what went wrong.
func (a *Auth) Run(ctx context.Context, fail func(error)) {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
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
		}
	}
}

func (a *Auth) tidy() error {
	a.counters.sweep()
	due := a.sessions.unsaved(store.TimeOf(time.Now()))
	return a.db.Update(store.System, func(tx *store.Tx) error {
		for id, used := range due {
			_, err := store.Sessions.Touch(tx, id, func(s *store.Session) error {
				s.LastUsed = max(s.LastUsed, used)
				return nil
			})
			if err != nil && !errs.Is(err, errs.NotFound) {
				return err
			}
		}
		_, err := store.EndExpiredSessions(tx, 1000)
		return err
	})
}

// Attempt is somebody trying to sign in.
type Attempt struct {
	Username, Password string
	Addr               netip.Addr
	UserAgent          string
}

// Grant is a successful sign-in.
type Grant struct {
	Token      string
	ExpiresAt  store.Time
	MustChange bool
}

// errWrong is the one answer to an unknown name, a disabled user and a wrong password.
var errWrong = errs.New(errs.Unauthenticated, "the user name or the password is wrong").Coded("wrong_credentials")

// Login signs a user in. An unknown name, a disabled user and a wrong password
// each cost one comparison and get the same answer; too many attempts are
// refused before any comparison, whether the name exists or not.
func (a *Auth) Login(in Attempt) (*Grant, error) {
	var user *store.User
	var hash string
	var tries int
	var window time.Duration
	err := a.db.View(store.Nobody, func(tx *store.Tx) (err error) {
		tries = store.LoginTries.Get(tx)
		window = time.Duration(store.LoginWindowMinutes.Get(tx)) * time.Minute
		user, hash, err = findUser(tx, in.Username)
		return err
	})
	if err != nil {
		return nil, err
	}
	at := newAttempt(a.counters, "admin", store.Fold(in.Username), in.Addr, window)
	wait := at.begin(tries, func() bool { return user != nil && user.LoginIP == in.Addr.String() })
	if wait > 0 {
		return nil, tooMany(wait)
	}
	same, err := a.hasher.compare(hash, in.Password)
	if err != nil {
		at.withdraw()
		return nil, err
	}
	if !same || user == nil || !bool(user.Status) {
		return nil, errWrong
	}
	fresh := ""
	if a.hasher.stale(hash) {
		if fresh, err = a.hasher.hash(in.Password); err != nil {
			at.withdraw()
			return nil, err
		}
	}
	grant, err := a.grant(user.ID, hash, fresh, in)
	if err == nil {
		at.succeeded()
	}
	return grant, err
}

func tooMany(wait time.Duration) error {
	return errs.New(errs.TooMany, "too many attempts; try again in %s", wait.Round(time.Second)).After(wait)
}

// findUser returns nothing, without an error, for a name that nobody has.
func findUser(tx *store.Tx, username string) (*store.User, string, error) {
	user, err := store.UserByName.Get(tx, store.Fold(username))
	if errs.Is(err, errs.NotFound) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	h, err := store.HashOf(tx, user.ID)
	if errs.Is(err, errs.NotFound) {
		return user, "", nil // imported, and not given a password yet
	}
	if err != nil {
		return nil, "", err
	}
	return user, h.Hash, nil
}

// grant opens the session, if nothing has changed since the password was compared.
func (a *Auth) grant(id store.ID, hash, fresh string, in Attempt) (*Grant, error) {
	var g *Grant
	err := a.db.Update(store.System, func(tx *store.Tx) error {
		stored, err := store.HashOf(tx, id)
		if errs.Is(err, errs.NotFound) || err == nil && stored.Hash != hash {
			return errWrong
		}
		if err != nil {
			return err
		}
		user, err := store.Users.Get(tx, id)
		if err == nil && !bool(user.Status) {
			err = errWrong
		}
		if err != nil {
			return err
		}
		user, err = store.Users.Touch(tx, id, func(u *store.User) error {
			u.LoginIP, u.LoginTime = in.Addr.String(), tx.Now()
			return nil
		})
		if err != nil {
			return err
		}
		if fresh != "" {
			_, err := store.PasswordHashes.Update(tx, stored.ID, func(h *store.PasswordHash) error { h.Hash = fresh; return nil })
			if err != nil {
				return err
			}
		}
		session := &store.Session{UserID: id, IP: in.Addr.String(), UserAgent: in.UserAgent}
		token, err := Open(tx, session)
		g = &Grant{token, session.ExpiresAt, bool(user.MustChangePassword)}
		return err
	})
	return g, err
}

// ChangePassword replaces the signed-in user's password and ends the user's
// other sessions. The old one is throttled like a login.
func (a *Auth) ChangePassword(s *Session, addr netip.Addr, oldPassword, newPassword string) error {
	if err := CheckPassword("new_password", newPassword); err != nil {
		return err
	}
	if oldPassword == newPassword {
		return errs.Field(errs.Invalid, "new_password", "must be another one")
	}
	var hash string
	var at *attempt
	var tries int
	err := a.db.View(s.Actor, func(tx *store.Tx) error {
		window := time.Duration(store.LoginWindowMinutes.Get(tx)) * time.Minute
		tries = store.LoginTries.Get(tx)
		at = newAttempt(a.counters, "password", s.Actor.ID.String(), addr, window)
		h, err := store.HashOf(tx, s.Actor.ID)
		if err == nil {
			hash = h.Hash
		}
		return err
	})
	if err != nil {
		return err
	}
	if wait := at.begin(tries, func() bool { return false }); wait > 0 {
		return tooMany(wait)
	}
	same, err := a.hasher.compare(hash, oldPassword)
	if err != nil {
		at.withdraw()
		return err
	}
	if !same {
		return errs.Field(errs.Invalid, "old_password", "is not the present password")
	}
	at.succeeded()
	fresh, err := a.hasher.hash(newPassword)
	if err != nil {
		return err
	}
	err = a.db.Update(s.Actor, func(tx *store.Tx) error {
		stored, err := store.HashOf(tx, s.Actor.ID)
		if err == nil && stored.Hash != hash {
			err = errs.New(errs.Conflict, "the password has just been changed from elsewhere").Coded("stale")
		}
		if err != nil {
			return err
		}
		return store.SetHash(tx, s.Actor.ID, fresh, false, s.ID)
	})
	if err == nil && s.Actor.ID == FirstUser {
		err = a.forgetInitial()
	}
	return err
}

// forgetInitial removes the file with the first password, which no longer works.
func (a *Auth) forgetInitial() error {
	if a.options.InitialFile == "" {
		return nil
	}
	if err := os.Remove(a.options.InitialFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// HashPassword hashes a password for a database that is only being made and has
// no Auth yet; tx is the transaction that makes it.
func HashPassword(tx *store.Tx, password string, cost int) (string, error) {
	install, err := store.Installs.Get(tx, 1)
	if err != nil {
		return "", err
	}
	return newHasher(install.PasswordKey, cost).hash(password)
}

// Recover gives the first enabled user with the owner role a new password that
// must be changed, and ends that user's sessions. The last owner cannot be
// disabled, so there is one.
func (a *Auth) Recover(password string) (username string, err error) {
	hash, err := a.hasher.hash(password)
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
			return store.SetHash(tx, user.ID, hash, true, 0)
		}
		return errs.New(errs.NotFound, "there is no enabled user with the owner role")
	})
	if err == nil {
		err = a.forgetInitial()
	}
	return username, err
}
