package store

// Session is one sign-in that has not ended: of a user or of an app user, never both.
type Session struct {
	Ident
	UserID    ID     `json:"user_id"`
	AppUserID ID     `json:"app_user_id"`
	IP        string `json:"ip"`
	UserAgent string `json:"user_agent"`
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

	SessionTokens  = NewCollection[SessionToken]("session_token")
	TokenByHash    = NewUnique(SessionTokens, "hash", func(t *SessionToken) string { return t.Hash })
	TokenBySession = NewRef(SessionTokens, "session_id", Sessions, func(t *SessionToken) ID { return t.SessionID }, Owned)
)

// EndExpiredSessions deletes up to limit sessions whose time is over and returns
// how many there were.
func EndExpiredSessions(tx *Tx, limit int) (int, error) {
	ids, err := SessionByExpiry.Below(tx, tx.Now(), limit)
	for _, id := range ids {
		if err := Sessions.Delete(tx, id); err != nil {
			return 0, err
		}
	}
	return len(ids), err
}

func endAllSessions(tx *Tx) error {
	for {
		ids, err := SessionByExpiry.Below(tx, 1<<62, 1000)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			if err := Sessions.Delete(tx, id); err != nil {
				return err
			}
		}
	}
}
