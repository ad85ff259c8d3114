package store

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"reeve/store/errs"
	"reeve/store/kv"
)

// Session is a session of a user or of an app user, never of both.
type Session struct {
	Ident
	UserID    ID     `json:"user_id"`
	AppUserID ID     `json:"app_user_id"`
	DeviceID  ID     `json:"device_id"` // device that opened it, may be deleted; 0 if unknown
	IP        string `json:"ip" log:"personal"`
	Browser   string `json:"browser" log:"personal"`
	OS        string `json:"os" log:"personal"`
	Provider  string `json:"provider_name"`     // title of the sign-in provider then; "" for none
	Means     string `json:"means" log:"-"`     // kind of credential that has opened or confirmed it, see ByPassword; "" before version 0.16.6
	LastUsed  Time   `json:"last_used" log:"-"` // written at most once a minute
	ProvedAt  Time   `json:"proved_at" log:"-"` // last proof of identity, see Proof
	ExpiresAt Time   `json:"expires_at"`        // latest end; an idle session ends sooner

	ActAs     ID   `json:"act_as" log:"-"`     // impersonated user, see ActAs; 0 if none
	ActWrites Flag `json:"act_writes" log:"-"` // whether that includes changes
	ActUntil  Time `json:"act_until" log:"-"`
	kv.Timestamps
}

// Values of Session.Means. A confirmation with a passkey or provider replaces the others.
const (
	ByPassword = "password"
	ByMail     = "mail" // a code by mail
	ByPasskey  = "passkey"
	ByProvider = "provider"
)

// EndsWithPasswords reports whether the session can't be used once passwords are turned off for its
// user: a password or a code by mail has opened it.
func (s *Session) EndsWithPasswords() bool { return s.Means == ByPassword || s.Means == ByMail }

// Account returns whose session it is.
func (s *Session) Account() Account { return accountOf(s.UserID, s.AppUserID) }

// SignedInAt returns when the user signed in. A session that was opened from another one, with a
// code, has the time of that one as its proof.
func (s *Session) SignedInAt() Time {
	if s.Provider != "" { // the provider may not have asked for anything
		return s.CreatedAt
	}
	return s.ProvedAt
}

// SessionToken is the token of a session, as a SHA-256 in hexadecimal.
type SessionToken struct {
	Ident
	SessionID ID     `json:"session_id"`
	Hash      string `json:"hash"`
	First     string `json:"first"`   // hash of the first token of the session, from which others are derived; "" for this one
	EndsAt    Time   `json:"ends_at"` // expiry of a token that was replaced; 0 if it is current
	kv.Timestamps
}

// ReplacedTokenLife is how long a token is accepted after it was replaced, by requests that are
// under way.
const ReplacedTokenLife = time.Minute

// Seed returns the hash of the first token of the session.
func (t *SessionToken) Seed() string { return cmp.Or(t.First, t.Hash) }

// TokenOf returns the current token of a session.
func TokenOf(tx *Tx, session ID) (*SessionToken, error) {
	for t, err := range TokenBySession.All(tx, session) {
		if err != nil || t.EndsAt == 0 {
			return t, err
		}
	}
	return nil, Sessions.NotFound(session)
}

// ReplaceToken gives a session a token with another hash. Of those before, only the last one is
// accepted for a while.
func ReplaceToken(tx *Tx, session ID, hash string) error {
	now, err := TokenOf(tx, session)
	if err != nil {
		return err
	}

	ids, err := TokenBySession.IDs(tx, session)
	for _, id := range ids {
		if err == nil && id != now.ID {
			err = SessionTokens.Delete(tx, id)
		}
	}
	if err != nil {
		return err
	}
	if _, err := SessionTokens.Update(tx, now.ID, func(t *SessionToken) error {
		t.EndsAt = tx.Now().Add(ReplacedTokenLife)
		return nil
	}); err != nil {
		return err
	}

	return SessionTokens.Create(tx,
		&SessionToken{SessionID: session, Hash: hash, First: now.Seed()})
}

// Sessions, their tokens and indexes. A session is deleted with its user, a token with its
// session.
var (
	Sessions         = kv.NewCollection[Session]("session").Disposable()
	SessionByUser    = refToUser(Sessions, func(s *Session) ID { return s.UserID }, kv.Cascade)
	SessionByAppUser = refToAppUser(Sessions, func(s *Session) ID {
		return s.AppUserID
	}, kv.Cascade)
	SessionByDevice = kv.NewRef(Sessions, "device_id", Devices, func(s *Session) ID {
		return s.DeviceID
	}, kv.Dangle)
	SessionByExpiry = kv.NewEach(Sessions, "expires_at", func(s *Session) Time {
		return s.ExpiresAt
	})

	SessionByUse = kv.NewMany(Sessions, "last_used", func(s *Session) []Time {
		return lastUse(s, false)
	}, "app_user_id")
	AppSessionByUse = kv.NewMany(Sessions, "app_last_used", func(s *Session) []Time {
		return lastUse(s, true)
	}, "app_user_id")

	SessionTokens = kv.NewCollection[SessionToken]("session_token").Unlogged().Disposable()
	TokenByHash   = kv.NewUnique(SessionTokens, "hash", func(t *SessionToken) string {
		return t.Hash
	})
	TokenBySession = kv.NewRef(SessionTokens, "session_id", Sessions, func(t *SessionToken) ID {
		return t.SessionID
	}, kv.Cascade)
)

var _ = manage(Access{Table: Sessions, Query: "system.session.query"})

// SessionsOf returns the IDs of a user's sessions, the oldest first.
func SessionsOf(tx *Tx, a Account) ([]ID, error) {
	return ByRealm(a.App, SessionByUser, SessionByAppUser).IDs(tx, a.ID)
}

// CountSessions returns the number of records that EndSessions changes at most: sessions, two
// tokens of each, devices, and the password.
func CountSessions(tx *Tx, a Account) (int, error) {
	open, err := SessionsOf(tx, a)
	if err != nil {
		return 0, err
	}
	devices, err := devicesOf(tx, a)
	return 3*len(open) + len(devices) + 1, err
}

// EndSessions ends all sessions of a user except keep (0 ends all) and deletes all devices except
// that of keep. It is called when a password is set or a user is disabled. Sign-ins that wait for
// the second factor end, too: they compare the time of the password.
func EndSessions(tx *Tx, a Account, keep ID) error {
	h, err := HashOf(tx, a)
	if err == nil {
		_, err = PasswordHashes.Bump(tx, h.ID)
	}
	if err != nil && !errs.Is(err, errs.NotFound) {
		return err
	}

	open, err := SessionsOf(tx, a)
	if err != nil {
		return err
	}

	var device ID
	for _, id := range open {
		if id == keep {
			s, err := Sessions.Get(tx, id)
			if err != nil {
				return err
			}
			device = s.DeviceID
		} else if err := Sessions.Delete(tx, id); err != nil {
			return err
		}
	}

	return endDevices(tx, a, device)
}

// lastUse returns the time of the last use of a session in one realm; the realms have different
// idle timeouts.
func lastUse(s *Session, app bool) []Time {
	if (s.AppUserID != 0) != app {
		return nil
	}
	return []Time{s.LastUsed}
}

// EndExpiredSessions deletes up to limit expired sessions, up to limit sessions of users not
// used since idle, and up to limit of app users not used since appIdle. It reports whether
// there may be more.
func EndExpiredSessions(tx *Tx, idle, appIdle Time, limit int) (more bool, err error) {
	over, err := SessionByExpiry.Below(tx, tx.Now(), limit)
	unused, err2 := SessionByUse.Below(tx, idle, limit)
	appUnused, err3 := AppSessionByUse.Below(tx, appIdle, limit)
	if err := errors.Join(err, err2, err3); err != nil {
		return false, err
	}
	for _, id := range Distinct(slices.Concat(over, unused, appUnused)) {
		if err := Sessions.Delete(tx, id); err != nil {
			return false, err
		}
	}
	return max(len(over), len(unused), len(appUnused)) == limit, nil
}

// endAllSessions deletes all sessions and devices.
func endAllSessions(tx *Tx) error {
	for {
		ids, err := SessionByExpiry.Below(tx, 1<<62, 1000)
		if err != nil {
			return err
		}

		devices, err := DeviceByExpiry.Below(tx, 1<<62, 1000)
		if err != nil || len(ids)+len(devices) == 0 {
			return err
		}

		for _, id := range devices {
			if err := Devices.Delete(tx, id); err != nil {
				return err
			}
		}

		for _, id := range ids {
			if err := Sessions.Delete(tx, id); err != nil {
				return err
			}
		}
	}
}
