package auth

import (
	"sync"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// On a full disk, when the reserve of the store is used up too, sign-ins and their rows
// of the login log are kept in memory, so that somebody can sign in and make room. They
// are stored as soon as there is room. What the program holds when it ends is lost.

const (
	maxHeldSessions = 100
	maxHeldRows     = 1000
)

// firstHeldID begins the ids of sessions that are in memory alone.
const firstHeldID store.ID = 1 << 62

// held is what waits to be stored.
type held struct {
	mu       sync.Mutex
	last     store.ID
	sessions map[store.ID]*heldSession
	rows     []*store.LoginLog
}

type heldSession struct {
	session *Session
	record  store.Session
}

func newHeld() *held { return &held{last: firstHeldID, sessions: map[store.ID]*heldSession{}} }

// isHeld reports whether a session is in memory alone.
func (s *Session) isHeld() bool { return s.ID >= firstHeldID }

// add keeps a session and gives it an id, unless too many are kept.
func (h *held) add(s *Session, record store.Session) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.sessions) >= maxHeldSessions {
		return false
	}
	h.last++
	s.ID = h.last
	h.sessions[s.ID] = &heldSession{s, record}
	return true
}

// note keeps a row of the login log. Beyond the bound the oldest are dropped.
func (h *held) note(row *store.LoginLog) {
	if row.AttemptedAt == 0 {
		row.AttemptedAt = store.TimeOf(time.Now())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rows = append(h.rows, row); len(h.rows) > maxHeldRows {
		h.rows = h.rows[1:]
	}
}

func (h *held) drop(id store.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, id)
}

// take returns what is held, the sessions still in force.
func (h *held) take() (sessions []*heldSession, rows []*store.LoginLog) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sessions {
		sessions = append(sessions, s)
	}
	rows, h.rows = h.rows, nil
	return sessions, rows
}

// hold opens a session in memory, for a sign-in that the full disk refused with cause.
func (a *Auth) hold(account store.Account, hash string, in Attempt, cause error) (*Grant, error) {
	token, tokenHash := newToken()
	row := logRow(in, store.LoginSucceeded)
	record := store.Session{IP: row.IP, Browser: row.Browser, OS: row.OS}
	if account.App {
		record.AppUserID = account.ID
	} else {
		record.UserID = account.ID
	}
	var s *Session
	epoch := a.sessions.now()
	err := a.db.View(store.System, func(tx *store.Tx) error {
		stored, err := store.HashOf(tx, account)
		if err == nil && stored.Hash != hash {
			err = errWrong
		}
		if err != nil {
			return err
		}
		record.LastUsed, record.ExpiresAt = tx.Now(), tx.Now().Add(lifetime(tx, account.App))
		if s, err = opened(tx, &record); errs.Is(err, errs.Unauthenticated) {
			err = errWrong
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	s.hash = tokenHash
	if !a.held.add(s, record) {
		return nil, cause
	}
	a.sessions.put(s, epoch)
	name(row, account)
	a.held.note(row)
	return &Grant{Token: token, ExpiresAt: s.ExpiresAt, MustChange: s.Actor.MustChange}, nil
}

// storeHeld stores what is held, once there is room. A session that was ended in
// memory, by a change of its user for example, is dropped.
func (a *Auth) storeHeld() error {
	sessions, rows := a.held.take()
	for _, h := range sessions {
		if !a.sessions.has(h.session) {
			a.held.drop(h.session.ID)
			continue
		}
		err := a.db.Update(store.System, func(tx *store.Tx) error {
			record := h.record
			record.LastUsed = store.Time(h.session.lastUsed.Load())
			if err := store.Sessions.Create(tx, &record); err != nil {
				return err
			}
			return store.SessionTokens.Create(tx, &store.SessionToken{SessionID: record.ID, Hash: h.session.hash.String()})
		})
		if err != nil {
			for _, row := range rows {
				a.held.note(row)
			}
			return err
		}
		a.endHeld(h.session) // the next request finds the stored one by its token
	}
	for len(rows) > 0 {
		few := rows[:min(len(rows), store.MaxRecords)]
		if err := a.logRows(few); err != nil {
			for _, row := range rows {
				a.held.note(row)
			}
			return err
		}
		rows = rows[len(few):]
	}
	return nil
}

// endHeld ends a session that is in memory alone.
func (a *Auth) endHeld(s *Session) {
	a.held.drop(s.ID)
	a.sessions.mu.Lock()
	defer a.sessions.mu.Unlock()
	a.sessions.drop(a.sessions.byID[s.ID])
}

// logRows stores rows of the login log.
func (a *Auth) logRows(rows []*store.LoginLog) error {
	return a.db.Update(store.System, func(tx *store.Tx) error {
		for _, row := range rows {
			copied := *row // the function may run again
			if err := store.LoginLogs.Create(tx, &copied); err != nil {
				return err
			}
		}
		return nil
	})
}

// heldEvery is how often it is tried to store what is held.
const heldEvery = 5 * time.Second

// empty reports whether nothing is held.
func (h *held) empty() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)+len(h.rows) == 0
}
