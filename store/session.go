package store

import (
	"errors"
	"slices"
)

// Session is one sign-in that has not ended: of a user or of an app user, never both.
type Session struct {
	Ident
	UserID    ID     `json:"user_id"`
	AppUserID ID     `json:"app_user_id"`
	IP        string `json:"ip"`
	Browser   string `json:"browser"`
	OS        string `json:"os"`
	LastUsed  Time   `json:"last_used"`  // written at most once a minute
	ExpiresAt Time   `json:"expires_at"` // at the latest; an idle session ends sooner
	Stamps
}

// SessionToken is what proves a session: the SHA-256 of its token, in hexadecimal.
type SessionToken struct {
	Ident
	SessionID ID     `json:"session_id"`
	Hash      string `json:"hash"`
	Stamps
}

// Sessions go with their user, tokens with their session.
var (
	Sessions         = NewCollection[Session]("session")
	SessionByUser    = NewRef(Sessions, "user_id", Users, func(s *Session) ID { return s.UserID }, Owned)
	SessionByAppUser = NewRef(Sessions, "app_user_id", AppUsers, func(s *Session) ID { return s.AppUserID }, Owned)
	SessionByExpiry  = NewMany(Sessions, "expires_at", func(s *Session) []Time { return []Time{s.ExpiresAt} })

	SessionByUse    = NewMany(Sessions, "last_used", func(s *Session) []Time { return useOf(s, false) }, "app_user_id")
	AppSessionByUse = NewMany(Sessions, "app_last_used", func(s *Session) []Time { return useOf(s, true) }, "app_user_id")

	SessionTokens  = NewCollection[SessionToken]("session_token")
	TokenByHash    = NewUnique(SessionTokens, "hash", func(t *SessionToken) string { return t.Hash })
	TokenBySession = NewRef(SessionTokens, "session_id", Sessions, func(t *SessionToken) ID { return t.SessionID }, Owned)
)

// SessionsOf collects the ids of a user's sessions, the oldest first.
func SessionsOf(tx *Tx, a Account) ([]ID, error) {
	if a.App {
		return SessionByAppUser.IDs(tx, a.ID)
	}
	return SessionByUser.IDs(tx, a.ID)
}

// CountSessions is how many records EndSessions deletes: sessions, their tokens, and
// known devices.
func CountSessions(tx *Tx, a Account) (int, error) {
	open, err := SessionsOf(tx, a)
	if err != nil {
		return 0, err
	}
	devices, err := devicesOf(tx, a)
	return 2*len(open) + len(devices), err
}

// EndSessions ends a user's sessions but one (0 for all), and all known devices: it
// goes with a new password and with disabling.
func EndSessions(tx *Tx, a Account, keep ID) error {
	open, err := SessionsOf(tx, a)
	if err != nil {
		return err
	}
	for _, id := range open {
		if id != keep {
			if err := Sessions.Delete(tx, id); err != nil {
				return err
			}
		}
	}
	return endDevices(tx, a)
}

// useOf is when a session of one realm was last used; the realms differ in how
// long one may be idle.
func useOf(s *Session, app bool) []Time {
	if (s.AppUserID != 0) != app {
		return nil
	}
	return []Time{s.LastUsed}
}

// EndExpiredSessions deletes up to limit sessions whose time is over, and as many
// each that users and app users have not used since idle and appIdle. It reports
// whether there may be more.
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

// endAllSessions ends every session and every known device.
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
