package providers_test

import (
	"errors"
	"testing"
	"time"

	"reeve/store"
)

// A session that was confirmed with a provider ends with that session at the provider, also if it was
// opened in another way or before the person signed in there again.
func TestConfirm_EndsWithProvider(t *testing.T) {
	t.Parallel()
	for name, opened := range map[string]func(tx *store.Tx, s *store.ProviderSession) error{
		"opened with the provider": func(*store.Tx, *store.ProviderSession) error { return nil },
		"opened in another way": func(tx *store.Tx, s *store.ProviderSession) error {
			_, err := store.Sessions.Update(tx, s.SessionID, func(v *store.Session) error {
				v.ExpiresAt = tx.Now().Add(300 * time.Hour)
				return nil
			})
			return errors.Join(err, store.ProviderSessions.Delete(tx, s.ID))
		},
	} {
		for _, without := range []string{"sub", "sid"} {
			t.Run(name+", without "+without, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, `"creates":"always"`)
				w.older(time.Hour)
				b := w.browser()
				who := store.Account{ID: b.known().Info.ID}
				session := w.sessionOf(who)
				w.Update(func(tx *store.Tx) error {
					s, err := store.ProviderSessionOf(tx, session)
					return errors.Join(err, opened(tx, s))
				})

				w.idp.Claims["sid"] = "session-2"
				w.older(0)
				b.returns(w.idp.Authorize(b.begins("person")))
				if code := b.confirms("person"); code != "" {
					t.Fatalf("not confirmed: %s", code)
				}
				w.View(func(tx *store.Tx) error {
					s, err := store.Sessions.Get(tx, session)
					if err == nil && s.ExpiresAt > tx.Now().Add(12*time.Hour) {
						t.Errorf("the session lasts until %v", s.ExpiresAt)
					}
					n, counted := store.ProviderBySession.Count(tx, session)
					if n != 1 {
						t.Errorf("%d sessions at the provider are known", n)
					}
					return errors.Join(err, counted)
				})

				w.idp.Alter = func(claims map[string]any) { delete(claims, without) }
				if code := w.loggedOut(w.idp.LogoutToken("message")); code != 200 {
					t.Fatalf("the message: %d", code)
				}
				if a := w.Call("GET", "/admin/info", "", "person"); a.Code != 401 {
					t.Errorf("the session lives: %d %s", a.Code, a.Body)
				}
			})
		}
	}
}

// sessionOf returns the only session of an account.
func (w *world) sessionOf(who store.Account) (session store.ID) {
	w.T.Helper()
	w.View(func(tx *store.Tx) error {
		open, err := store.SessionsOf(tx, who)
		if err == nil && len(open) != 1 {
			err = errors.New("the account has not one session")
		}
		if err == nil {
			session = open[0]
		}
		return err
	})
	return session
}
