package auth

import (
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

const (
	returnTo     = "https://shop.example.org/.reeve/app"
	returnState  = "state-of-this-browser"
	testVerifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
)

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// returning returns a session of the app user ann, and a code of it.
func (in *instance) returning() (browser *Session, code string) {
	in.t.Helper()
	id := in.appUser(store.AppUser{Username: "ann", Status: true}, password)
	g, err := in.Login(Attempt{App: true, Username: "ann", Password: password, Addr: home, UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"})
	must(in.t, err)
	browser = in.holds(g.Token)
	if browser.Actor.ID != id {
		in.t.Fatalf("session of %d, want %d", browser.Actor.ID, id)
	}
	return browser, in.codeOf(browser)
}

func (in *instance) codeOf(browser *Session) string {
	in.t.Helper()
	code, err := in.NewReturnCode(browser, Return{returnTo, returnState, challengeOf(testVerifier)})
	must(in.t, err)
	return code
}

func (in *instance) exchange(code string) (*Grant, error) {
	g, _, err := in.ExchangeReturnCode(code, returnTo, returnState, testVerifier)
	return g, err
}

func refused(t *testing.T, what string, err error) {
	t.Helper()
	if errs.Of(err).Code != "return_code" || err == nil {
		t.Errorf("%s: %v, want return_code", what, err)
	}
}

func TestReturnCode_OpensOwnSession(t *testing.T) {
	in := start(t)
	browser, code := in.returning()
	g, err := in.exchange(code)
	must(t, err)
	s := in.holds(g.Token)
	if s.ID == browser.ID || s.Actor.ID != browser.Actor.ID || !s.Actor.App || g.ExpiresAt != s.ExpiresAt {
		t.Errorf("session %d of %d, browser %d of %d", s.ID, s.Actor.ID, browser.ID, browser.Actor.ID)
	}
	must(t, in.Logout(browser))
	in.holds(g.Token)
	in.view(func(tx *store.Tx) error {
		one, err := store.Sessions.Get(tx, s.ID)
		if err == nil && (one.IP != home.String() || one.Browser != "Firefox 140.0") {
			t.Errorf("%+v", one)
		}
		return err
	})
}

func TestReturnCode_WrongBinding(t *testing.T) {
	in := start(t)
	browser, _ := in.returning()
	for name, c := range map[string][3]string{
		"other origin":     {"https://evil.example.org/.reeve/app", returnState, testVerifier},
		"other callback":   {returnTo + "/", returnState, testVerifier},
		"other state":      {returnTo, returnState + "x", testVerifier},
		"other verifier":   {returnTo, returnState, testVerifier[1:] + "a"},
		"challenge itself": {returnTo, returnState, challengeOf(testVerifier)},
		"nothing":          {"", "", ""},
	} {
		code := in.codeOf(browser)
		_, _, err := in.ExchangeReturnCode(code, c[0], c[1], c[2])
		refused(t, name, err)
		_, err = in.exchange(code)
		refused(t, name+", then right", err)
	}
	for _, code := range []string{"", "rv_r_x", testVerifier} {
		_, err := in.exchange(code)
		refused(t, "no code", err)
	}
}

func TestReturnCode_SecondUseEndsSession(t *testing.T) {
	in := start(t)
	_, code := in.returning()
	g, err := in.exchange(code)
	must(t, err)
	in.holds(g.Token)
	for range 2 {
		_, err = in.exchange(code)
		refused(t, "second use", err)
	}
	in.ended(g.Token, "unauthenticated")
}

// TestReturnCode_UsedAtOnce: of two exchanges at the same time none leaves a session behind.
func TestReturnCode_UsedAtOnce(t *testing.T) {
	in := start(t)
	browser, code := in.returning()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() { in.exchange(code) })
	}
	all.Wait()
	in.view(func(tx *store.Tx) error {
		ids, err := store.SessionsOf(tx, store.Account{App: true, ID: browser.Actor.ID})
		if len(ids) != 1 || ids[0] != browser.ID {
			t.Errorf("sessions %v, want %d alone", ids, browser.ID)
		}
		return err
	})
}

func TestReturnCode_Expires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := start(t)
		in.counters = newCounters(time.Now)
		browser, code := in.returning()
		later := in.codeOf(browser)
		time.Sleep(returnCodeLife - time.Second)
		g, err := in.exchange(code)
		must(t, err)
		time.Sleep(time.Second)
		_, err = in.exchange(later)
		refused(t, "after a minute", err)
		in.holds(g.Token)

		time.Sleep(5 * time.Minute)
		in.holds(g.Token)
		_, err = in.exchange(code)
		refused(t, "second use", err)
		in.ended(g.Token, "unauthenticated")
		time.Sleep(returnCodeMemory)
		must(t, in.trim())
		in.view(func(tx *store.Tx) error {
			n, err := store.UsedValues.Count(tx)
			if n != 0 {
				t.Errorf("%d codes are kept", n)
			}
			return err
		})
	})
}

func TestReturnCode_AccessEndsBefore(t *testing.T) {
	for name, end := range map[string]func(*instance, *Session) error{
		"sign-out": func(in *instance, s *Session) error { return in.Logout(s) },
		"disabled": func(in *instance, s *Session) error {
			return in.db.Update(store.System, func(tx *store.Tx) error {
				_, err := store.AppUsers.Update(tx, s.Actor.ID, func(u *store.AppUser) error {
					u.Status = false
					return nil
				})
				return err
			})
		},
		"other password": func(in *instance, s *Session) error {
			return in.db.Update(store.System, func(tx *store.Tx) error {
				return store.SetHash(tx, s.account, "x", false, 0)
			})
		},
		"deleted": func(in *instance, s *Session) error {
			return in.db.Update(store.System, func(tx *store.Tx) error {
				return store.AppUsers.Delete(tx, s.Actor.ID)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := start(t)
			browser, code := in.returning()
			must(t, end(in, browser))
			_, err := in.exchange(code)
			refused(t, name, err)
		})
	}
}

// TestReturnCode_KeepsTimeOfSignIn: a session from a code is no proof that the user is there.
func TestReturnCode_KeepsTimeOfSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := start(t)
		in.counters = newCounters(time.Now)
		browser, early := in.returning()
		g, err := in.exchange(early)
		must(t, err)
		in.update(func(tx *store.Tx) error {
			h, err := store.HashOf(tx, browser.account)
			if err == nil {
				err = store.PasswordHashes.Delete(tx, h.ID)
			}
			return err
		})
		if s := in.holds(g.Token); s.password == nil {
			t.Error("a session from a code does not end with the password of the browser")
		}
		must(t, in.ConfirmOwner(in.holds(g.Token), home, nil))
		time.Sleep(time.Hour)
		g, err = in.exchange(in.codeOf(browser))
		must(t, err)
		if err := in.ConfirmOwner(in.holds(g.Token), home, nil); errs.Of(err).Code != "sign_in_first" {
			t.Errorf("%v, want sign_in_first", err)
		}
	})
}
