package auth

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"reeve/auth/passkeytest"
	"reeve/store"
	"reeve/store/errs"
)

func authenticator() *passkeytest.Authenticator {
	return passkeytest.New("https://reeve.example.org", "reeve.example.org")
}

// add gives a user a passkey in an authenticator.
func (in *instance) add(s *Session, p *passkeytest.Authenticator) (codes []string, err error) {
	in.t.Helper()
	var options json.RawMessage
	in.view(func(tx *store.Tx) (err error) {
		options, err = in.PasskeyOptions(tx, s, "Reeve")
		return err
	})
	added, codes, err := in.AddPasskey(s, "", Attempt{
		Addr:      home,
		UserAgent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
	}, p.Create(options))
	if err == nil && added.Name != "Chrome, Linux" {
		in.t.Errorf("it is called %q", added.Name)
	}
	return codes, err
}

// withPasskey gives the user "admin" a passkey.
func (in *instance) withPasskey() (p *passkeytest.Authenticator, codes []string) {
	in.t.Helper()
	p = authenticator()
	codes, err := in.add(in.signIn("admin"), p)
	must(in.t, err)
	if len(codes) != recoveryCodes {
		in.t.Errorf("recovery codes %q", codes)
	}
	return p, codes
}

// opened opens a session of the user "admin" without a sign-in.
func (in *instance) opened() *Session {
	in.t.Helper()
	var token string
	in.update(func(tx *store.Tx) (err error) {
		token, err = Open(tx, &store.Session{UserID: FirstUser})
		return err
	})
	return in.holds(token)
}

// alone signs in with a passkey alone.
func (in *instance) alone(p *passkeytest.Authenticator) error {
	in.t.Helper()
	options, err := in.SignInOptions(nil, false)
	must(in.t, err)
	g, name, err := in.LoginPasskey(Attempt{Addr: home}, "", p.Get(options))
	if err == nil && (g.Token == "" || name != "admin") {
		in.t.Errorf("%+v of %q", g, name)
	}
	return err
}

func refusedPasskey(err error) bool { return errs.Of(err).Code == "wrong_passkey" }

func TestPasskey_Login(t *testing.T) {
	in := start(t)
	p, recovery := in.withPasskey()
	must(t, in.alone(p))
	g, err := in.Login(Attempt{Username: "admin", Password: password, Addr: home})
	must(t, err)
	if g.Token != "" || strings.Join(g.Methods, " ") != "passkey recovery" {
		t.Errorf("the second step: %+v", g)
	}
	if err := in.complete(g.Pending, "123456"); !wrongCodeOf(err) {
		t.Errorf("a code without an authenticator app: %v", err)
	}

	response := p.Get(g.Options)
	if _, _, err := in.LoginPasskey(Attempt{Addr: home}, "", response); errs.Of(err).Code != "challenge_expired" {
		t.Errorf("the response of a second step alone: %v", err)
	}

	done, name, err := in.LoginPasskey(Attempt{Addr: home}, g.Pending, response)
	if err != nil || done.Token == "" || name != "admin" {
		t.Fatal(done, name, err)
	}

	must(t, in.complete(in.pendingToken(), recovery[0]))

	// Without the user's finger, it is a second factor only.
	p.Verified = false
	if err := in.alone(p); !refusedPasskey(err) {
		t.Errorf("alone, without verifying the user: %v", err)
	}

	g, err = in.Login(Attempt{Username: "admin", Password: password, Addr: home})
	must(t, err)
	_, _, err = in.LoginPasskey(Attempt{Addr: home}, g.Pending, p.Get(g.Options))
	must(t, err)
}

// TestPasskey_BackupFlagsChange: password managers begin to synchronize a passkey, and stop.
func TestPasskey_BackupFlagsChange(t *testing.T) {
	in := start(t)
	p, _ := in.withPasskey()
	for _, c := range []struct{ eligible, backedUp bool }{{false, false}, {true, false},
		{true, true}, {true, false}, {false, false}, {true, true}} {
		p.Eligible, p.BackedUp = c.eligible, c.backedUp
		if err := in.alone(p); err != nil {
			t.Errorf("%+v: alone: %v", c, err)
		}

		g, err := in.Login(Attempt{Username: "admin", Password: password, Addr: home})
		must(t, err)
		if _, _, err := in.LoginPasskey(Attempt{Addr: home}, g.Pending, p.Get(g.Options)); err != nil {
			t.Errorf("%+v: after the password: %v", c, err)
		}

		must(t, in.db.View(store.System, func(tx *store.Tx) error {
			stored, err := store.Passkeys.Get(tx, 1)
			if err == nil &&
				(bool(stored.BackupEligible) != c.eligible || bool(stored.BackedUp) != c.backedUp) {
				t.Errorf("%+v: stored as %v, %v", c, stored.BackupEligible, stored.BackedUp)
			}
			return err
		}))
	}

	p.Eligible, p.BackedUp = false, true
	if err := in.alone(p); !refusedPasskey(err) {
		t.Errorf("synchronized, but can't be: %v", err)
	}
}

func TestPasskey_ResponseWorksOnce(t *testing.T) {
	in := start(t)
	p, _ := in.withPasskey()
	p.NoCount, p.Count = true, 0 // so that only the challenge tells
	in.update(func(tx *store.Tx) error {
		_, err := store.Passkeys.Update(tx, 1, func(p *store.Passkey) error {
			p.SignCount = 0
			return nil
		})
		return err
	})
	options, err := in.SignInOptions(nil, false)
	must(t, err)
	response := p.Get(options)
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for range 32 {
		wg.Go(func() {
			_, _, err := in.LoginPasskey(Attempt{Addr: home}, "", response)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			}
		})
	}

	wg.Wait()
	if won != 1 {
		t.Errorf("%d of 32 were accepted", won)
	}
}

func TestPasskey_Refused(t *testing.T) {
	in := start(t)
	in.set("security.login_tries", "50")
	p, _ := in.withPasskey()
	must(t, in.alone(p))
	for name, change := range map[string]func(p *passkeytest.Authenticator){
		"another origin": func(p *passkeytest.Authenticator) {
			p.Origin = "https://evil.example"
		},
		"another port": func(p *passkeytest.Authenticator) { p.Origin += ":8443" },
		"plain HTTP": func(p *passkeytest.Authenticator) {
			p.Origin = "http://reeve.example.org"
		},
		"another host":       func(p *passkeytest.Authenticator) { p.RPID = "evil.example" },
		"another credential": func(p *passkeytest.Authenticator) { p.ID = []byte("another") },
		"a copy":             func(p *passkeytest.Authenticator) { p.Count -= 2 },
	} {
		copied := *p
		change(&copied)
		if err := in.alone(&copied); !refusedPasskey(err) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := in.add(in.opened(), func() *passkeytest.Authenticator {
			a := authenticator()
			change(a)
			return a
		}()); name != "a copy" && name != "another credential" &&
			errs.Of(err).Fields["credential"].Empty() {
			t.Errorf("%s: added: %v", name, err)
		}
	}

	p.Count += 10
	must(t, in.alone(p))

	options, err := in.SignInOptions(nil, false)
	must(t, err)
	late := p.Get(options)
	in.now = in.now.Add(signInLife)
	if _, _, err := in.LoginPasskey(Attempt{Addr: home}, "", late); errs.Of(err).Code != "challenge_expired" {
		t.Errorf("after an hour: %v", err)
	}

	for _, text := range []string{"", "{}", `{"id":"x"}`, "null", "[]", `"x"`,
		strings.Repeat("{", 1000)} {
		if _, _, err := in.LoginPasskey(Attempt{Addr: home}, "", json.RawMessage(text)); errs.Of(err).Fields["credential"].Empty() {
			t.Errorf("%.20s: %v", text, err)
		}
	}

	in.user(FirstUser, func(u *store.User) { u.Status = true })
	must(t, in.alone(p))
	in.update(func(tx *store.Tx) error {
		_, err := store.RemoveFactors(tx, store.Account{ID: FirstUser})
		return err
	})
	if err := in.alone(p); !refusedPasskey(err) {
		t.Errorf("a passkey that was removed: %v", err)
	}

	in.signIn("admin") // with the password alone
}

func TestPasskey_DisabledUser(t *testing.T) {
	in := start(t)
	hash, err := in.hasher.hash(newPasswords, password)
	must(t, err)
	var staff store.ID
	in.update(func(tx *store.Tx) error {
		u := &store.User{Username: "staff", Status: true}
		err := store.Users.Create(tx, u)
		staff = u.ID
		return errors.Join(err, store.SetHash(tx, store.Account{ID: u.ID}, hash, false, 0))
	})
	p := authenticator()
	_, err = in.add(in.signIn("staff"), p)
	must(t, err)
	in.user(staff, func(u *store.User) { u.Status = false })
	options, err := in.SignInOptions(nil, false)
	must(t, err)
	if _, _, err := in.LoginPasskey(Attempt{Addr: home}, "", p.Get(options)); !errs.Is(err,
		errs.Unauthenticated) {
		t.Errorf("of a disabled user: %v", err)
	}

	in.update(func(tx *store.Tx) error { return store.Users.Delete(tx, staff) })
	if _, _, err := in.LoginPasskey(Attempt{Addr: home}, "", p.Get(options)); !refusedPasskey(err) {
		t.Errorf("of a deleted user: %v", err)
	}

	in.view(func(tx *store.Tx) error {
		n, err := store.Passkeys.Count(tx)
		if n != 0 {
			t.Errorf("%d passkeys remain", n)
		}
		return err
	})
}

func TestPasskey_Confirmation(t *testing.T) {
	in := start(t)
	token := in.enter("admin", password)
	p, recovery := in.withPasskey()
	s := in.stale(token)
	options := func() (options json.RawMessage) {
		in.view(func(tx *store.Tx) error {
			method, o, err := in.ProofMethod(tx, s)
			if options = o; method != ByPasskey {
				t.Errorf("method %s", method)
			}
			return err
		})
		return options
	}

	for _, c := range []Confirmation{{Password: text(password)}, {Code: text("123456")}, {}} {
		if _, _, err := in.Prove(s, home, c); errs.Of(err).Fields["passkey"].Empty() ||
			in.recent(s) {
			t.Errorf("%+v: %v", c, err)
		}
	}

	other, err := in.SignInOptions(nil, false)
	must(t, err)
	if _, _, err := in.Prove(s, home, Confirmation{Passkey: p.Get(other)}); err == nil ||
		in.recent(s) {
		t.Error("the response to a sign-in confirms a session")
	}

	response := p.Get(options())
	_, token, err = in.Prove(s, home, Confirmation{Passkey: response})
	must(t, err)
	if now, err := in.who(token); err != nil || !in.recent(now) {
		t.Errorf("it is not enough: %v", err)
	}

	s = in.stale(token)
	if _, _, err := in.Prove(s, home, Confirmation{Passkey: response}); errs.Of(err).Fields["passkey"].Empty() || in.recent(s) {
		t.Errorf("the same response again: %v", err)
	}

	_, _, err = in.Prove(s, home, Confirmation{Code: &recovery[0]})
	must(t, err)
}

func TestPasskey_WithTOTP(t *testing.T) {
	in := start(t)
	secret, codes := in.withFactor()
	g, err := in.Login(Attempt{Username: "admin", Password: password, Addr: home})
	must(t, err)
	done, _, err := in.LoginCode(Attempt{Addr: home}, g.Pending, in.code(secret, 1))
	must(t, err)
	s := in.holds(done.Token)
	p := authenticator()
	if more, err := in.add(s, p); err != nil || len(more) != 0 {
		t.Errorf("recovery codes exist already: %q %v", more, err)
	}

	g, err = in.Login(Attempt{Username: "admin", Password: password, Addr: home})
	must(t, err)
	if strings.Join(g.Methods, " ") != "passkey otp recovery" {
		t.Errorf("methods %q", g.Methods)
	}

	must(t, in.RemoveTOTP(s))
	must(t, in.complete(in.pendingToken(), codes[0])) // they remain for the passkey
	in.update(func(tx *store.Tx) error { return store.RemovePasskey(tx, store.Account{ID: FirstUser}, 1) })
	in.signIn("admin")
	in.view(func(tx *store.Tx) error {
		n, err := store.RecoverySets.Count(tx)
		if n != 0 {
			t.Error("recovery codes remain without a factor")
		}
		return err
	})
}

func TestPasskey_Origins(t *testing.T) {
	for url, want := range map[string]string{
		"": "", "https://reeve.example.org": "reeve.example.org",
		"https://reeve.example.org:8443": "reeve.example.org", "http://reeve.example.org": "",
		"http://localhost:8080": "localhost", "http://a.localhost": "a.localhost",
		"https://192.0.2.1": "", "https://[2001:db8::1]": "", "http://127.0.0.1:8080": "",
	} {
		got := ""
		if party := relyingParty(url); party != nil {
			got = party.Config.RPID
		}
		if got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}

	in := start(t)
	p, recovery := in.withPasskey()
	in.Auth.party = relyingParty("https://new.example.org") // it has moved
	if err := in.alone(p); !refusedPasskey(err) {
		t.Errorf("at another host: %v", err)
	}

	g, err := in.Login(Attempt{Username: "admin", Password: password, Addr: home})
	must(t, err)
	if g.Token != "" || strings.Join(g.Methods, " ") != "recovery" {
		t.Errorf("a passkey that can't be used protects no more: %+v", g)
	}

	must(t, in.complete(g.Pending, recovery[0]))
	in.Auth.party = nil
	if _, _, err := in.AddPasskey(in.opened(), "", Attempt{}, nil); errs.Of(err).Code != "passkeys_unavailable" {
		t.Errorf("without a public URL: %v", err)
	}
}

// TestPasskey_ChallengeHasOneForm checks that a challenge is accepted in one spelling only, so that
// it can't be used twice in different spellings.
func TestPasskey_ChallengeHasOneForm(t *testing.T) {
	in := start(t)
	challenge := in.passkeyChallenge(toSignIn, "", signInLife).String()
	if _, err := in.checkChallenge(challenge, toSignIn, ""); err != nil {
		t.Fatal(err)
	}

	last := challenge[len(challenge)-1:]
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	next := letters[strings.Index(letters, last)+1 : strings.Index(letters, last)+2] // differs in bits that no byte has
	for _, other := range []string{challenge + "\n", "\r" + challenge,
		challenge[:10] + "\n" + challenge[10:], challenge[:len(challenge)-1] + next,
		challenge + "=", ""} {
		if _, err := in.checkChallenge(other, toSignIn, ""); err == nil {
			t.Errorf("%q is accepted", other)
		}
	}

	if _, err := in.checkChallenge(challenge, toConfirm, "1"); err == nil {
		t.Error("another purpose is accepted")
	}
}

// TestPasskey_StrangersDisturbNoFactor checks that wrong responses do not disturb the user: anyone
// who knows the name of a passkey can send them.
func TestPasskey_StrangersDisturbNoFactor(t *testing.T) {
	in := start(t)
	p, recovery := in.withPasskey()
	wrong := *p
	wrong.Origin = "https://evil.example"
	for range 30 {
		if err := in.alone(&wrong); err == nil {
			t.Fatal("accepted")
		}
	}
	must(t, in.alone(p))
	must(t, in.complete(in.pendingToken(), recovery[0]))
	s := in.opened()
	_, _, err := in.Prove(s, home, Confirmation{Code: &recovery[1]})
	must(t, err)
}
