package auth

import (
	"maps"
	"slices"
	"sync"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// On a full disk, when the reserve of the store is used up too, sessions and rows of
// the login log are held in memory, so that an administrator can sign in and free
// space. They are stored as soon as there is space. Held data is lost when the process
// ends.

const (
	maxHeldSessions = 100
	maxHeldRows     = 1000
)

// firstHeldID is the lower bound of the IDs of sessions that exist only in memory.
const firstHeldID store.ID = 1 << 62

// held is the data that waits to be stored.
type held struct {
	mu       sync.Mutex
	last     store.ID
	sessions map[store.ID]*heldSession
	rows     []*store.LoginLog
	steps    map[store.Account]int64 // time steps of codes that were used and can't be stored, see TOTP
	used     map[string]store.Time   // values that were used and can't be stored, with their ends, see once
}

type heldSession struct {
	session *Session
	record  store.Session
}

func newHeld() *held {
	return &held{
		last:     firstHeldID,
		sessions: map[store.ID]*heldSession{},
		steps:    map[store.Account]int64{},
		used:     map[string]store.Time{},
	}
}

// isHeld reports whether the session exists only in memory.
func (s *Session) isHeld() bool { return s.ID >= firstHeldID }

// add holds a session and assigns its ID. It reports false if maxHeldSessions are held
// already, the code of the time step has been used, or one of the values that the session uses up; step
// is 0 without a second factor.
func (h *held) add(s *Session, record store.Session, step int64, uses []once) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.sessions) >= maxHeldSessions || slices.ContainsFunc(uses, h.wasUsed) ||
		step != 0 && !h.use(s.account, step) {
		return false
	}
	for _, o := range uses {
		h.used[o.Hash] = o.Until
	}
	h.last++
	s.ID = h.last
	h.sessions[s.ID] = &heldSession{s, record}
	return true
}

// useStep records that the code of a time step was used, and reports false if it was used before.
func (h *held) useStep(who store.Account, step int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.use(who, step)
}

// use is useStep. h.mu must be locked.
func (h *held) use(who store.Account, step int64) bool {
	if step <= h.steps[who] {
		return false
	}
	if len(h.steps) >= maxHeldRows { // codes of these steps have expired long ago
		clear(h.steps)
	}
	h.steps[who] = step
	return true
}

// useOnce records that a value was used, and reports false if it was used before, or too many are held.
func (h *held) useOnce(o once) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.wasUsed(o) || len(h.used) >= maxHeldRows {
		return false
	}
	h.used[o.Hash] = o.Until
	return true
}

// isUsed reports whether a value was used and could not be stored.
func (h *held) isUsed(o once) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.wasUsed(o)
}

// wasUsed is isUsed. h.mu must be locked.
func (h *held) wasUsed(o once) bool { return h.used[o.Hash] != 0 }

// sweep forgets values that have expired.
func (h *held) sweep(now store.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.used, func(_ string, end store.Time) bool { return end <= now })
}

// addRow holds a row of the login log. Beyond maxHeldRows, the oldest rows are dropped.
func (h *held) addRow(row *store.LoginLog) {
	if row.AttemptedAt == 0 {
		row.AttemptedAt = kv.TimeOf(time.Now())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rows = append(h.rows, row); len(h.rows) > maxHeldRows {
		h.rows = h.rows[1:]
	}
}

// lastStep returns the time step of the last code of an account that was used and not stored; 0 for
// none.
func (h *held) lastStep(who store.Account) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.steps[who]
}

func (h *held) drop(id store.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, id)
}

// take returns the held sessions, which stay held until they are stored, and removes
// and returns the held rows.
func (h *held) take() (sessions []*heldSession, rows []*store.LoginLog) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sessions {
		sessions = append(sessions, s)
	}
	rows, h.rows = h.rows, nil
	return sessions, rows
}

// hold opens a session in memory for a sign-in that could not be stored on the full
// disk. cause is the error of that write; hold returns it if no more sessions can be
// held, or this is one of several nodes, since the others would not know the session.
func (a *Auth) hold(account store.Account, proof *loginProof, in Attempt,
	cause error) (*Grant, error) {
	if a.several() {
		return nil, cause
	}
	token, tokenHash := newToken(tokenPrefix)
	row := logRow(in, store.LoginSucceeded)
	record := store.Session{IP: row.IP, Browser: row.Browser, OS: row.OS, Means: proof.means()}
	record.UserID, record.AppUserID = account.IDs()
	var s *Session
	var step int64
	pending, mustChange := false, false
	epoch := a.sessions.currentEpoch()
	err := a.db.View(store.System, func(tx *store.Tx) error {
		err := proof.checkHash(tx, account)
		if proof.pending != nil && err == nil {
			err = a.mayTry(tx, proof.pending, errPending)
		}
		switch {
		case err != nil:
		case proof.passkey != nil: // its challenge is used up with the session
		case proof.code == nil:
			pending, err = store.HasFactor(tx, account)
		default:
			step, err = a.heldStep(tx, account, *proof.code)
		}
		if err != nil {
			return err
		}

		record.LastUsed, record.ProvedAt, record.ExpiresAt = tx.Now(), tx.Now(), tx.Now().Add(lifetime(tx, account.App))
		if s, err = newSession(tx, &record); errs.Is(err, errs.Unauthenticated) {
			err = errWrong
		}
		if err == nil {
			mustChange, err = store.MustChange(tx, account, s.Actor.MustChange)
		}
		return err
	})
	if err != nil || pending {
		return nil, err
	}

	s.hash, s.seed = tokenHash, tokenHash
	if !a.held.add(s, record, step, proof.allUses()) {
		return nil, cause
	}

	a.sessions.put(s, epoch)
	row.UserID, row.AppUserID = account.IDs()
	a.held.addRow(row)
	return &Grant{Token: token, ExpiresAt: s.ExpiresAt, MustChange: mustChange}, nil
}

// storeHeld stores the held sessions and rows. It drops sessions that have ended in
// memory, for example by a change of their user.
func (a *Auth) storeHeld() error {
	sessions, rows := a.held.take()
	for _, h := range sessions {
		if !a.sessions.has(h.session) {
			a.held.drop(h.session.ID)
			continue
		}

		err := a.db.Update(store.System, func(tx *store.Tx) error {
			record := h.record
			record.LastUsed, record.ProvedAt = store.Time(h.session.lastUsed.Load()), h.session.Actor.Proof.At()
			if err := store.Sessions.Create(tx, &record); err != nil {
				return err
			}
			return store.SessionTokens.Create(tx, &store.SessionToken{
				SessionID: record.ID,
				Hash:      h.session.hash.String(),
			})
		})
		if err != nil {
			for _, row := range rows {
				a.held.addRow(row)
			}
			return err
		}

		a.endHeld(h.session) // the next request loads the stored session by its token
	}

	for len(rows) > 0 {
		few := rows[:min(len(rows), kv.MaxRecordsPerWrite)]
		if err := a.logRows(few); err != nil {
			for _, row := range rows {
				a.held.addRow(row)
			}
			return err
		}
		rows = rows[len(few):]
	}

	return nil
}

// endHeld ends a session that exists only in memory.
func (a *Auth) endHeld(s *Session) {
	a.held.drop(s.ID)
	a.sessions.mu.Lock()
	defer a.sessions.mu.Unlock()
	a.sessions.drop(a.sessions.byID[s.ID])
}

// logRows writes rows to the login log.
func (a *Auth) logRows(rows []*store.LoginLog) error {
	return a.db.Update(store.System, func(tx *store.Tx) error {
		for _, row := range rows {
			copied := *row // Update may run the function again
			if err := store.LoginLogs.Create(tx, &copied); err != nil {
				return err
			}
		}
		return nil
	})
}

// heldEvery is the interval between attempts to store held data.
const heldEvery = 5 * time.Second

// empty reports whether nothing is held.
func (h *held) empty() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)+len(h.rows) == 0
}
