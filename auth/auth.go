// Package auth authenticates callers: passwords, tokens, sessions, rate limits for
// sign-ins, and the client address of a request. Authorization follows from the store's
// policy; auth fills in the store.Actor that the policy checks. It does not import HTTP
// or configuration packages.
//
// Start with Auth, Attempt (a sign-in), Session (an open session) and Options.
//
// Invariants:
//   - A token and a password are stored only as hashes.
//   - An unknown name, a disabled user and a wrong password take the same time and return the same error.
//   - A cached session is never older than the last acknowledged write: a commit that touches a session or its user removes it from the cache.
//   - A name that no user has is never stored or logged, only its fingerprint.
//
// A sign-in and a request with its token:
//
//	grant, err := a.Login(auth.Attempt{Username: "alice", Password: password, Addr: addr})
//	err = db.View(store.Anonymous, func(tx *store.Tx) error {
//		session, err := a.Authenticate(tx, grant.Token, addr)
//		return err
//	})
package auth

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"reeve/auth/breached"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// FirstUser is the ID of the user that a new database starts with.
const FirstUser store.ID = 1

// Options configures an Auth.
type Options struct {
	Cost int // bcrypt cost, 4 to 31
	// InitialFile is the path of the file with the first user's generated password. It
	// is removed when that user changes the password.
	InitialFile string
	// Common is the set of rejected passwords, in lower case.
	Common map[string]bool
	// Breached is a list of leaked passwords, which are rejected, too; nil for none.
	Breached *breached.List
	// LoginLogDays and LoginLogRows override the settings for the retention of the
	// login log; 0 uses the settings.
	LoginLogDays, LoginLogRows int
	// Nodes returns the number of nodes that serve the same data, at least 1; nil for a server that is
	// the only one. Limits are shared out among them, and nothing is held in memory on a full disk.
	Nodes func() int
	// OnDuty reports whether this node deletes what has expired, which one of several does; nil for a
	// server that is the only one.
	OnDuty func() bool
	// PublicURL is the origin at which people reach the server, for which passkeys are; "" if
	// unknown.
	PublicURL string
}

// Auth authenticates the callers of one database. Create it with New.
type Auth struct {
	db        store.Handle
	options   Options
	hasher    *hasher
	sessions  *sessions
	keys      *keyUses
	counters  *counters
	throttled *throttleLog
	held      *held
	stats     *stats
	initial   *atomic.Bool // whether the initial file may exist
	replaced  *atomic.Bool // whether a commit may have replaced the password in it

	fingerprints []byte // key of the fingerprint HMAC
	forwarding   forwarding
	challenges   challenges
	ceremonies   []byte // key of the challenges of passkeys
	sealer       *sealer
	passwords    *passwordChecks
	party        *webauthn.WebAuthn // relying party of passkeys; nil if they can't be used
}

// On returns a copy of a that reaches the store through db, for example to trace the
// queries of one request.
func (a *Auth) On(db store.Handle) *Auth {
	other := *a
	other.db = db
	return &other
}

// New returns an Auth for db. The database must not be in use yet.
func New(db *store.DB, options Options) (*Auth, error) {
	a := &Auth{
		db:         db.WithRecorder(nil).For("sign-in housekeeping", nil),
		options:    options,
		sessions:   newSessions(db.WithRecorder(nil)),
		keys:       &keyUses{byID: map[store.ID]*keyUse{}},
		counters:   newCounters(time.Now),
		throttled:  &throttleLog{},
		held:       newHeld(),
		stats:      newStats(),
		initial:    &atomic.Bool{},
		replaced:   &atomic.Bool{},
		forwarding: db.TemporaryKey("tokens of programs"),
		challenges: db.TemporaryKey("challenges"),
		ceremonies: db.TemporaryKey("passkeys"),
		sealer:     newSealer(db.TemporaryKey("tokens of clients")),
		party:      relyingParty(options.PublicURL),
	}
	a.counters.nodes = options.Nodes
	a.initial.Store(options.InitialFile != "")
	err := db.View(store.System, func(tx *store.Tx) error {
		install, err := store.Installs.Get(tx, 1)
		if err == nil {
			a.hasher = newHasher(install.PasswordKey, options.Cost)
			a.passwords = newPasswordChecks(store.PasswordRules(tx))
			a.fingerprints = fingerprintKey(install.PasswordKey)
		}
		return err
	})
	if err != nil {
		return nil, err
	}

	db.OnCommit(a.sessions.invalidate)
	db.OnCommit(a.passwords.note)
	db.OnCommit(func(c kv.Changes) {
		a.counters.noteUnlocked(c)
		if c.Of(store.Users)[FirstUser] {
			a.replaced.Store(true)
		}
	})
	return a, nil
}

// Run writes last uses and deletes expired sessions until ctx ends. It passes errors to
// fail.
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

// tidy stores what this process knows alone, and deletes what has expired.
//
// With several nodes, each stores the uses that it has seen: no other one knows them, and to tell them to the
// node with the duties would need as many writes in etcd as the entry does, which has all of a minute. A use that
// is not later than the stored one changes no row, and without a change there is no entry. When nodes do so at the
// same time, after they have started together, all but the first run again. Each looks at the accounts that were
// changed, too, so that none is left out when the duties move: all but the first find their sessions ended.
// Only trim is a duty: all nodes would delete the same rows at the same time.
func (a *Auth) tidy() error {
	a.counters.sweep()
	a.held.sweep(kv.TimeOf(a.counters.now()))
	initial := a.followInitial()
	used := a.saveUse(a.sessions.unsaved(kv.TimeOf(time.Now())))
	all := slices.Collect(maps.Values(a.throttled.take()))
	err := a.logRows(all)
	if errs.Is(err, errs.Full) {
		for _, row := range all {
			a.held.addRow(row)
		}
	}
	err = errors.Join(initial, used, a.saveKeys(), err)
	if a.options.OnDuty == nil || a.options.OnDuty() {
		err = errors.Join(err, a.trim())
	}
	return errors.Join(err, a.endPasswordSessions())
}

// chunks returns IDs in groups that one write can change.
func chunks[T any](due map[store.ID]T) iter.Seq[[]store.ID] {
	return slices.Chunk(slices.Collect(maps.Keys(due)), kv.MaxRecordsPerWrite)
}

// saveUse writes the last use of sessions.
func (a *Auth) saveUse(due map[store.ID]store.Time) error {
	for ids := range chunks(due) {
		err := a.db.Update(store.System, func(tx *store.Tx) error {
			for _, id := range ids {
				_, err := store.Sessions.UpdateQuietly(tx, id, func(s *store.Session) error {
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

// trim deletes old rows of the login log, expired devices, links and registrations, old mails, and
// expired sessions with their tokens, in steps: a quarter of a step's records each for devices and
// for sessions that are expired, idle, and idle in the app.
func (a *Auth) trim() error {
	for more := true; more; {
		err := a.db.Update(store.System, func(tx *store.Tx) (err error) {
			days := cmp.Or(a.options.LoginLogDays, store.LoginLogDays.Get(tx))
			rows := cmp.Or(a.options.LoginLogRows, store.LoginLogRows.Get(tx))
			before := tx.Now().Add(-time.Duration(days) * 24 * time.Hour)
			if more, err = store.TrimLoginLog(tx, before, rows, kv.MaxRecordsPerWrite); err != nil ||
				more {
				return err
			}

			more, err = store.EndExpiredSessions(tx, tx.Now().Add(-idleLimit(tx, false)-a.grace()),
				tx.Now().Add(-idleLimit(tx, true)-a.grace()), kv.MaxRecordsPerWrite/8)
			if err != nil || more {
				return err
			}
			if more, err = store.EndExpiredDevices(tx, kv.MaxRecordsPerWrite/4); err != nil ||
				more {
				return err
			}
			if more, err = store.EndExpiredLinks(tx, kv.MaxRecordsPerWrite/4); err != nil || more {
				return err
			}
			if more, err = store.EndRegistrations(tx, kv.MaxRecordsPerWrite/8); err != nil || more { // each with password, link and mails
				return err
			}

			if more, err = store.ForgetUsed(tx, kv.MaxRecordsPerWrite/4); err != nil || more {
				return err
			}

			more, err = store.ForgetMails(tx, kv.MaxRecordsPerWrite/4)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// HashPassword hashes a password for a database that is being created and has no Auth
// yet. tx is the transaction that creates it.
func HashPassword(tx *store.Tx, password string, cost int) (string, error) {
	install, err := store.Installs.Get(tx, 1)
	if err != nil {
		return "", err
	}
	return newHasher(install.PasswordKey, cost).hash(newPasswords, password)
}

// Recover sets a new password, which must be changed at the next sign-in, for the first enabled
// user with the owner role, on behalf of an actor. It removes the user's second factor, and ends
// the user's sessions. Such a user exists, since the last owner cannot be disabled.
func (a *Auth) Recover(by *store.Actor, password string) (username string, err error) {
	hash, err := a.hasher.hash(newPasswords, password)
	if err != nil {
		return "", err
	}

	err = a.db.Update(by, func(tx *store.Tx) error {
		for user, err := range store.UserByRole.All(tx, store.OwnerRole) {
			if err != nil {
				return err
			}
			if !bool(user.Status) {
				continue
			}
			username = user.Username
			if _, err := store.RemoveFactors(tx, store.Account{ID: user.ID}); err != nil {
				return err
			}
			if err := store.AllowOwnerPassword(tx, user.ID); err != nil {
				return err
			}
			return store.SetHash(tx, store.Account{ID: user.ID}, hash, true, 0)
		}
		return errs.New(errs.NotFound, "no enabled user has the owner role")
	})
	if err == nil {
		err = a.removeInitial()
	}

	return username, err
}

// Queued returns the number of passwords that wait to be hashed.
func (a *Auth) Queued() int { return a.hasher.queue.waiting() }
