package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/kv"
)

func TestToken_StoredAsHash(t *testing.T) {
	in := start(t)
	token := in.enter("admin", password)
	sum := sha256.Sum256([]byte(token))
	in.view(func(tx *store.Tx) error {
		found := 0
		for stored, err := range store.SessionTokens.All(tx) {
			must(t, err)
			if strings.Contains(token, stored.Hash) || stored.Hash == token {
				t.Error("the token itself is stored")
			}
			if stored.Hash == hex.EncodeToString(sum[:]) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("the SHA-256 of the token is stored %d times", found)
		}
		return nil
	})
}

func TestSession_IdleTimeout(t *testing.T) {
	for name, restart := range map[string]bool{"in memory": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			in := start(t)
			token := in.enter("admin", password)
			id := in.holds(token).ID
			idle := func(d time.Duration) {
				in.session(id, func(s *store.Session, now store.Time) { s.LastUsed = now.Add(-d) })
				if restart {
					in.restart(testCost)
				}
			}
			idle(29 * time.Minute)
			in.holds(token)
			idle(30*time.Minute + time.Second)
			in.ended(token, "session_expired")
			in.ended(token, "session_expired") // a rejected request does not revive it
			in.set("security.session_idle_minutes", "60")
			in.holds(token)
			in.set("security.session_idle_minutes", "5")
			idle(6 * time.Minute)
			in.ended(token, "session_expired")
		})
	}
}

func TestSession_MaximumDuration(t *testing.T) {
	in := start(t)
	token := in.enter("admin", password)
	s := in.holds(token)
	in.session(s.ID, func(s *store.Session, now store.Time) { s.ExpiresAt = now.Add(time.Hour) })
	in.holds(token)
	in.session(s.ID, func(s *store.Session, now store.Time) { s.ExpiresAt = now })
	in.ended(token, "session_expired")
	must(t, in.tidy())
	in.ended(token, "unauthenticated")
	in.view(func(tx *store.Tx) error {
		if n, err := store.Sessions.Count(tx); n != 0 || err != nil {
			t.Errorf("%d sessions are left, %v", n, err)
		}
		if n, err := store.SessionTokens.Count(tx); n != 0 || err != nil {
			t.Errorf("%d tokens are left, %v", n, err)
		}
		return nil
	})
}

// TestSession_OfAClockThatWasAhead ends once the clock is right, but not when it is set back by a
// little.
func TestSession_OfAClockThatWasAhead(t *testing.T) {
	in := start(t)
	for _, c := range []struct {
		ahead time.Duration
		idle  string
		ends  bool
	}{{time.Minute, "30", false}, {29 * time.Minute, "30", false}, {31 * time.Minute, "30", true},
		{30 * 24 * time.Hour, "30", true}, {2 * time.Hour, "10080", true},
		{50 * time.Minute, "10080", false}} {
		in.set("security.session_idle_minutes", c.idle)
		token := in.enter("admin", password)
		in.session(in.holds(token).ID, func(s *store.Session, now store.Time) {
			s.LastUsed, s.ExpiresAt = now.Add(c.ahead), now.Add(c.ahead+12*time.Hour)
		})
		if c.ends {
			in.ended(token, "session_expired")
		} else {
			in.holds(token)
		}
	}
}

func TestSessionDurations(t *testing.T) {
	in := start(t)
	in.set("security.session_hours", "3")
	in.set("app.session_days", "2")
	in.update(func(tx *store.Tx) error {
		must(t, store.AppUsers.Create(tx, &store.AppUser{Username: "customer", Status: true}))
		for _, c := range []struct {
			session store.Session
			lasts   time.Duration
		}{{store.Session{UserID: FirstUser}, 3 * time.Hour},
			{store.Session{AppUserID: 1}, 48 * time.Hour}} {
			if _, err := Open(tx, &c.session); err != nil ||
				c.session.ExpiresAt != tx.Now().Add(c.lasts) || c.session.LastUsed != tx.Now() {
				t.Errorf("%+v, %v", c.session, err)
			}
		}
		return nil
	})
}

func TestRealms_Separate(t *testing.T) {
	in := start(t)
	var token string
	in.update(func(tx *store.Tx) (err error) {
		must(t, store.AppUsers.Create(tx, &store.AppUser{Username: "customer", Status: true}))
		token, err = Open(tx, &store.Session{AppUserID: 1})
		return err
	})
	s := in.holds(token)
	if !s.Actor.App || s.Actor.ID != 1 || s.Actor.Username != "customer" {
		t.Errorf("%+v", s.Actor)
	}

	in.view(func(tx *store.Tx) error {
		if keys := s.Actor.PermissionKeys(tx); len(keys) != 0 {
			t.Errorf("an app user holds %q", keys)
		}
		return nil
	})
	in.session(s.ID, func(s *store.Session, now store.Time) {
		s.LastUsed = now.Add(-24 * time.Hour)
	})
	in.holds(token) // the idle limit of the admin realm does not apply
	admin := in.enter("admin", password)
	in.holds(admin)
	in.update(func(tx *store.Tx) error {
		_, err := store.AppUsers.Update(tx, 1, func(u *store.AppUser) error {
			u.Status = false
			return nil
		})
		return err
	})
	in.ended(token, "unauthenticated")
	in.holds(admin) // the user with the same ID in the other realm
}

func TestSession_Ends(t *testing.T) {
	for name, end := range map[string]func(in *instance, s *Session){
		"logout": func(in *instance, s *Session) { must(in.t, in.Logout(s)) },
		"disabled": func(in *instance, s *Session) {
			in.user(2, func(u *store.User) { u.Status = false })
		},
		"deleted": func(in *instance, s *Session) {
			in.update(func(tx *store.Tx) error { return store.Users.Delete(tx, 2) })
		},
		"reset": func(in *instance, s *Session) {
			in.update(func(tx *store.Tx) error {
				return store.SetHash(tx, store.Account{ID: 2}, "x", true, 0)
			})
		},
		"forced out": func(in *instance, s *Session) {
			in.update(func(tx *store.Tx) error { return store.Sessions.Delete(tx, s.ID) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := start(t)
			in.update(func(tx *store.Tx) error { return addUser(tx, "user", password) })
			other := in.enter("admin", password)
			token := in.enter("user", password)
			end(in, in.holds(token))
			in.ended(token, "unauthenticated")
			in.holds(other)
			in.restart(testCost)
			in.ended(token, "unauthenticated")
			in.holds(other)
		})
	}
}

// TestAppSession_EndsWithItsUser ends what an app user may do, from memory and after a restart.
func TestAppSession_EndsWithItsUser(t *testing.T) {
	for name, edit := range map[string]func(u *store.AppUser){
		"disabled": func(u *store.AppUser) { u.Status = false },
		"pending":  func(u *store.AppUser) { u.Pending = true },
	} {
		t.Run(name, func(t *testing.T) {
			in := start(t)
			id := in.appUser(store.AppUser{Username: "ann", Status: true}, password)
			g, err := in.Login(Attempt{App: true, Username: "ann", Password: password, Addr: home})
			must(t, err)
			in.holds(g.Token)
			in.update(func(tx *store.Tx) error {
				_, err := store.AppUsers.Update(tx, id, func(u *store.AppUser) error {
					edit(u)
					return nil
				})
				return err
			})
			in.ended(g.Token, "unauthenticated")
			in.restart(testCost)
			in.ended(g.Token, "unauthenticated")
		})
	}
}

func TestLogout_TwiceIsNoError(t *testing.T) {
	in := start(t)
	s := in.holds(in.enter("admin", password))
	must(t, in.Logout(s))
	must(t, in.Logout(s))
}

func TestSession_FollowsUser(t *testing.T) {
	in := start(t)
	in.update(func(tx *store.Tx) error { return addUser(tx, "second", password) })
	token := in.enter("admin", password)
	in.holds(token)
	in.user(FirstUser, func(u *store.User) {
		u.Username, u.RoleIDs, u.MustChangePassword = "root", nil, true
	})
	if a := in.holds(token).Actor; a.Username != "root" || len(a.RoleIDs) != 0 || !a.MustChange {
		t.Errorf("%+v", a)
	}
}

// stored returns the last use and update time on disk.
func (in *instance) stored(id store.ID) (used, updated store.Time) {
	in.t.Helper()
	in.view(func(tx *store.Tx) error {
		s, err := store.Sessions.Get(tx, id)
		if err == nil {
			used, updated = s.LastUsed, s.UpdatedAt
		}
		return err
	})
	return used, updated
}

// TestLastUse_NotWrittenByRequest checks that Run writes the last use, and not the request, so that
// a read request writes nothing.
func TestLastUse_NotWrittenByRequest(t *testing.T) {
	in := start(t)
	token := in.enter("admin", password)
	id := in.holds(token).ID
	in.session(id, func(s *store.Session, now store.Time) {
		s.LastUsed = now.Add(-10 * time.Minute)
	})
	before, updated := in.stored(id)
	for range 10 {
		in.holds(token)
	}

	if now, _ := in.stored(id); now != before {
		t.Error("a request has written the last use")
	}

	must(t, in.tidy())
	after, same := in.stored(id)
	if after.Add(-9*time.Minute) < before || same != updated {
		t.Errorf("the last use was %s and is %s; updated_at was %s and is %s", before, after,
			updated, same)
	}

	must(t, in.tidy())
	if again, _ := in.stored(id); again != after {
		t.Error("it was written again though nobody asked in between")
	}
}

// TestLastUse_WrittenWhenRunEnds stops Run at once.
func TestLastUse_WrittenWhenRunEnds(t *testing.T) {
	in := start(t)
	token := in.enter("admin", password)
	id := in.holds(token).ID
	in.session(id, func(s *store.Session, now store.Time) {
		s.LastUsed = now.Add(-10 * time.Minute)
	})
	before, _ := in.stored(id)
	in.holds(token)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in.Run(ctx, func(err error) { t.Error(err) })
	if after, _ := in.stored(id); after <= before {
		t.Errorf("the last use is %s as before", after)
	}
}

func TestRun_ReportsErrors(t *testing.T) {
	in := start(t)
	must(t, in.db.Close())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	failed := errors.New("nothing")
	in.Run(ctx, func(err error) { failed = err })
	if failed.Error() == "nothing" {
		t.Error("Run said nothing of a database that is closed")
	}
	in.open(testCost)
}

func TestSessionCache_IdleLeaves(t *testing.T) {
	in := start(t)
	token := in.enter("admin", password)
	s := in.holds(token)
	now := kv.TimeOf(time.Now())
	s.lastUsed.Store(int64(now.Add(-2 * time.Hour)))
	s.saved.Store(int64(now.Add(-2 * time.Hour)))
	if due := in.sessions.unsaved(now); len(due) != 0 || len(in.sessions.byID) != 0 ||
		len(in.sessions.byUser) != 0 || in.sessions.get(s.hash) != nil {
		t.Errorf("due %v, in memory %v", due, in.sessions.byID)
	}
	in.holds(token) // loaded from the store, where its last use is recent
}

// TestSessionCache_StaleLoadIsNotCached runs the steps of the race in
// sequence.
func TestSessionCache_StaleLoadIsNotCached(t *testing.T) {
	in := start(t)
	token := in.enter("admin", password)
	hash, _, ok := hashToken(token)
	if !ok {
		t.Fatal("the token is not well-formed")
	}

	epoch := in.sessions.currentEpoch()
	var loaded *Session
	in.view(func(tx *store.Tx) (err error) {
		loaded, err = load(tx, hash)
		return err
	})
	must(t, in.Logout(loaded))
	in.sessions.put(loaded, epoch)
	in.ended(token, "unauthenticated")
}

// TestSession_EndsBeforeTheWrite checks a session again in the transaction of a write, which may
// begin later than the request.
func TestSession_EndsBeforeTheWrite(t *testing.T) {
	in := start(t)
	s := in.holds(in.enter("admin", password))
	confirm := func(want error) {
		t.Helper()
		in.view(func(tx *store.Tx) error {
			if err := s.Confirm(tx); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
			return nil
		})
	}
	confirm(nil)
	in.view(func(tx *store.Tx) error { s.ExpiresAt = tx.Now(); return nil })
	confirm(store.ErrSessionEnded)
	in.view(func(tx *store.Tx) error { s.ExpiresAt = tx.Now().Add(time.Hour); return nil })
	confirm(nil)
	in.update(func(tx *store.Tx) error { return store.Sessions.Delete(tx, s.ID) })
	confirm(store.ErrSessionEnded)
}
