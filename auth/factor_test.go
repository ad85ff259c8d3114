package auth

import (
	"cmp"
	"encoding/base32"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"

	"reeve/store"
	"reeve/store/errs"
)

// TestTOTP_VectorsOfRFC6238: the vectors of appendix B for SHA-1. They have eight digits; shorter
// codes are their end.
func TestTOTP_VectorsOfRFC6238(t *testing.T) {
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	for at, want := range map[int64]string{
		59: "94287082", 1111111109: "07081804", 1111111111: "14050471", 1234567890: "89005924",
		2000000000: "69279037", 20000000000: "65353130",
	} {
		now := timeStep(time.Unix(at, 0))
		for skew := int64(-3); skew <= 3; skew++ {
			step, err := matchStep(secret, want[2:], now+skew, 0)
			if fits := skew >= -1 && skew <= 1; fits != (err == nil) || fits && step != now {
				t.Errorf("%d seconds, %d steps later: step %d, want %d: %v", at, skew, step, now,
					err)
			}
		}

		if _, err := matchStep(secret, want[2:], now, now); err == nil {
			t.Errorf("%d seconds: a code was used again", at)
		}

		for _, wrong := range []string{"", want, "000000", want[2:7], want[2:] + "0"} {
			if _, err := matchStep(secret, wrong, now, 0); err == nil {
				t.Errorf("%d seconds: %q is accepted", at, wrong)
			}
		}
	}
}

// withFactor sets up an authenticator app for the user "admin".
func (in *instance) withFactor() (secret string, recovery []string) {
	in.t.Helper()
	s := in.signIn("admin")
	made, err := in.BeginTOTP(s, "Reeve: here")
	must(in.t, err)
	recovery, err = in.ConfirmTOTP(s, home, in.code(made.Secret, 0))
	must(in.t, err)
	return made.Secret, recovery
}

// code returns the code of the present time step, or of a later one.
func (in *instance) code(secret string, later int64) string {
	in.t.Helper()
	code, err := hotp.GenerateCodeCustom(secret, uint64(timeStep(time.Now())+later),
		hotp.ValidateOpts{Digits: otp.DigitsSix})
	must(in.t, err)
	return code
}

// signIn signs a user in with the password alone.
func (in *instance) signIn(name string) (s *Session) {
	in.t.Helper()
	g, err := in.Login(Attempt{Username: name, Password: password, Addr: home})
	must(in.t, err)
	in.view(func(tx *store.Tx) (err error) {
		s, err = in.Authenticate(tx, g.Token, home)
		return err
	})
	return s
}

// pending returns the token of a sign-in whose password was right.
func (in *instance) pendingToken() string {
	in.t.Helper()
	g, err := in.Login(Attempt{Username: "admin", Password: password, Addr: home})
	must(in.t, err)
	if g.Token != "" || g.Pending == "" || g.Device != "" {
		in.t.Fatalf("a second factor was not asked for: %+v", g)
	}
	return g.Pending
}

func (in *instance) complete(token, code string) error {
	g, name, err := in.LoginCode(Attempt{Addr: home}, token, code)
	if err == nil && (g.Token == "" || g.Pending != "" || name != "admin") {
		in.t.Errorf("%+v of %q", g, name)
	}
	return err
}

func wrongCodeOf(err error) bool { return errs.Of(err).Code == wrongCode }

func TestSecondFactor_Login(t *testing.T) {
	in := start(t)
	secret, recovery := in.withFactor()
	if len(recovery) != recoveryCodes {
		t.Fatalf("recovery codes: %q", recovery)
	}

	code := in.code(secret, 1)
	token := in.pendingToken()
	if err := in.complete(token, in.code(secret, -1)); !wrongCodeOf(err) { // the one that has confirmed the app, or an earlier one
		t.Errorf("an old code: %v", err)
	}

	must(t, in.complete(token, code[:3]+" "+code[3:]))
	if err := in.complete(token, in.code(secret, 1)); errs.Of(err).Code != "sign_in_again" {
		t.Errorf("a sign-in that is complete: %v", err)
	}
	if err := in.complete(in.pendingToken(), code); !wrongCodeOf(err) {
		t.Errorf("the same code: %v", err)
	}

	must(t, in.complete(in.pendingToken(), strings.ToUpper(recovery[3])))
	if err := in.complete(in.pendingToken(), recovery[3]); !wrongCodeOf(err) {
		t.Errorf("the same recovery code: %v", err)
	}

	in.view(func(tx *store.Tx) error {
		c, err := store.RecoveryCodesOf(tx, store.Account{ID: FirstUser})
		if err == nil && len(c.Hashes) != recoveryCodes-1 {
			t.Errorf("%d recovery codes are left", len(c.Hashes))
		}
		return err
	})
}

// TestSecondFactor_CodeOpensOneSession uses one code in several concurrent requests.
func TestSecondFactor_CodeOpensOneSession(t *testing.T) {
	for _, byApp := range []bool{true, false} {
		in := start(t)
		in.set("security.login_tries", "50") // so that codes are refused for themselves
		secret, recovery := in.withFactor()
		code := recovery[0]
		if byApp {
			code = in.code(secret, 1)
		}

		var tokens []string
		for range 5 {
			tokens = append(tokens, in.pendingToken())
		}

		var won sync.Map
		var wait sync.WaitGroup
		for i := range 32 {
			wait.Go(func() {
				if in.complete(tokens[i%len(tokens)], code) == nil {
					won.Store(i, true)
				}
			})
		}

		wait.Wait()
		n := 0
		won.Range(func(any, any) bool { n++; return true })
		if n != 1 {
			t.Errorf("%d sign-ins with one code", n)
		}
	}
}

func TestSecondFactor_GuessLimit(t *testing.T) {
	in := start(t)
	secret, _ := in.withFactor()
	token := in.pendingToken()
	for range pendingTries {
		if err := in.complete(token, "000000"); !wrongCodeOf(err) {
			t.Fatal(err)
		}
	}

	if err := in.complete(token, in.code(secret, 1)); errs.Of(err).Code != "sign_in_again" {
		t.Errorf("a sixth attempt: %v", err)
	}

	var err error
	for n := pendingTries; !errs.Is(err, errs.TooMany); n++ {
		if n > 100 {
			t.Fatal("codes can be guessed without a limit")
		}
		err = in.complete(in.pendingToken(), "000000")
	}

	if err := in.complete(in.pendingToken(), in.code(secret, 1)); !errs.Is(err, errs.TooMany) {
		t.Errorf("the right code after too many wrong ones: %v", err)
	}

	in.now = in.now.Add(time.Hour)
	must(t, in.complete(in.pendingToken(), in.code(secret, 1)))
}

func TestPendingSignIn_Bound(t *testing.T) {
	in := start(t)
	secret, _ := in.withFactor()
	again := func(err error) bool { return errs.Of(err).Code == "sign_in_again" }
	token := in.pendingToken()
	for name, a := range map[string]Attempt{
		"another address": {Addr: home.Next()}, "another device": {Addr: home, UserAgent: "other"},
		"another device token": {
			Addr:   home,
			Device: "x",
		}, "another realm": {Addr: home, App: true},
	} {
		if _, _, err := in.LoginCode(a, token, in.code(secret, 1)); !again(err) {
			t.Errorf("%s: %v", name, err)
		}
	}

	for _, other := range []string{"", "x", strings.Replace(token, "rv_p_", "rv_", 1), strings.Replace(token, "rv_p_", "rv_m_", 1), token + "x"} {
		if err := in.complete(other, in.code(secret, 1)); !again(err) {
			t.Errorf("%q: %v", other, err)
		}
	}

	in.now = in.now.Add(pendingLife)
	if err := in.complete(token, in.code(secret, 1)); !again(err) {
		t.Errorf("an expired one: %v", err)
	}

	// What has changed since the password was compared counts.
	token = in.pendingToken()
	must(t, in.db.Update(store.System, func(tx *store.Tx) error {
		hash, err := HashPassword(tx, "another password", testCost)
		if err != nil {
			return err
		}
		return store.SetHash(tx, store.Account{ID: FirstUser}, hash, false, 0)
	}))
	if err := in.complete(token, in.code(secret, 1)); !errs.Is(err, errs.Unauthenticated) {
		t.Errorf("another password: %v", err)
	}
}

// TestPendingSignIn_OpensOneSession, however many right codes come at once. The others remain
// unused.
func TestPendingSignIn_OpensOneSession(t *testing.T) {
	in := start(t)
	in.set("security.login_tries", "50")
	_, recovery := in.withFactor()
	token := in.pendingToken()
	var wg sync.WaitGroup
	errors := make([]error, pendingTries)
	for i := range errors {
		wg.Go(func() { errors[i] = in.complete(token, recovery[i]) })
	}

	wg.Wait()
	won := 0
	for i, err := range errors {
		switch {
		case err == nil:
			won++
		case errs.Of(err).Code != "sign_in_again":
			t.Errorf("%v", err)
		default:
			must(t, in.complete(in.pendingToken(), recovery[i]))
		}
	}

	if won != 1 {
		t.Errorf("%d sessions were opened", won)
	}
}

// TestPendingSignIn_EndsWithTheSessions of its user.
func TestPendingSignIn_EndsWithTheSessions(t *testing.T) {
	in := start(t)
	_, recovery := in.withFactor()
	enable := func(on store.Flag) func(tx *store.Tx) error {
		return func(tx *store.Tx) error {
			_, err := store.Users.Update(tx, FirstUser, func(u *store.User) error {
				u.Status = on
				return nil
			})
			if err == nil && !bool(on) {
				err = store.EndSessions(tx, store.Account{ID: FirstUser}, 0) // as the operations do
			}
			return err
		}
	}

	in.update(func(tx *store.Tx) error { // another owner remains
		return store.Users.Create(tx, &store.User{
			Username: "other",
			Status:   true,
			RoleIDs:  []store.ID{store.OwnerRole},
		})
	})
	for i, c := range []struct {
		name  string
		steps []func(tx *store.Tx) error
	}{
		{"disabled and enabled", []func(tx *store.Tx) error{enable(false), enable(true)}},
		{"disabled and enabled at once", []func(tx *store.Tx) error{func(tx *store.Tx) error {
			return cmp.Or(enable(false)(tx), enable(true)(tx))
		}}},
		{"the same password set again", []func(tx *store.Tx) error{func(tx *store.Tx) error {
			h, err := store.HashOf(tx, store.Account{ID: FirstUser})
			if err != nil {
				return err
			}
			return store.SetHash(tx, store.Account{ID: FirstUser}, h.Hash, false, 0)
		}}},
	} {
		token := in.pendingToken()
		for _, step := range c.steps {
			in.update(step)
		}
		if err := in.complete(token, recovery[i]); errs.Of(err).Code != "sign_in_again" {
			t.Errorf("%s: %v", c.name, err)
		}
		must(t, in.complete(in.pendingToken(), recovery[i]))
	}

	token := in.pendingToken()
	must(t, in.complete(in.pendingToken(), recovery[5])) // another sign-in ends none
	must(t, in.complete(token, recovery[6]))
}

// TestPendingSignIn_RenewsHash checks that the second step renews a hash of an older cost.
func TestPendingSignIn_RenewsHash(t *testing.T) {
	in := start(t)
	secret, _ := in.withFactor()
	in.restart(testCost + 1)
	hash := func() (hash string) {
		in.view(func(tx *store.Tx) error {
			h, err := store.HashOf(tx, store.Account{ID: FirstUser})
			if err == nil {
				hash = h.Hash
			}
			return err
		})
		return hash
	}
	before := hash()
	token := in.pendingToken()
	if hash() != before {
		t.Error("the first step has stored a hash")
	}

	must(t, in.complete(token, in.code(secret, 1)))
	if hash() == before {
		t.Error("the second step has not stored a hash")
	}
}

func TestSecondFactor_Removal(t *testing.T) {
	in := start(t)
	secret, recovery := in.withFactor()
	var s *Session
	g, _, err := in.LoginCode(Attempt{Addr: home}, in.pendingToken(), in.code(secret, 1))
	must(t, err)
	in.view(func(tx *store.Tx) (err error) {
		s, err = in.Authenticate(tx, g.Token, home)
		return err
	})
	if _, err := in.BeginTOTP(s, "Reeve"); !errs.Is(err, errs.Conflict) {
		t.Errorf("a second app: %v", err)
	}

	codes, err := in.RenewRecovery(s)
	must(t, err)
	for _, c := range []struct {
		code  string
		works bool
	}{{recovery[0], false}, {codes[0], true}} {
		if err := in.complete(in.pendingToken(), c.code); (err == nil) != c.works {
			t.Errorf("%s: %v", c.code, err)
		}
	}

	must(t, in.RemoveTOTP(s))
	if err := in.RemoveTOTP(s); !errs.Is(err, errs.Conflict) {
		t.Errorf("removed again: %v", err)
	}
	if _, err := in.RenewRecovery(s); !errs.Is(err, errs.Conflict) {
		t.Errorf("codes without a factor: %v", err)
	}

	in.signIn("admin") // with the password alone
}

func TestRecover_RemovesSecondFactor(t *testing.T) {
	in := start(t)
	in.withFactor()
	name, err := in.Recover(store.System, "a recovered password")
	must(t, err)
	g, err := in.Login(Attempt{Username: name, Password: "a recovered password", Addr: home})
	if must(t, err); g.Token == "" || !g.MustChange {
		t.Errorf("%+v", g)
	}
}

// TestSecondFactor_NotReadable checks that the records have the secret encrypted and recovery codes
// hashed.
func TestSecondFactor_NotReadable(t *testing.T) {
	in := start(t)
	secret, recovery := in.withFactor()
	in.view(func(tx *store.Tx) error {
		who := store.Account{ID: FirstUser}
		o, err := store.TOTPOf(tx, who)
		must(t, err)
		c, err := store.RecoveryCodesOf(tx, who)
		must(t, err)
		text := string(o.Secret.Box) + strings.Join(c.Hashes, " ")
		for _, plain := range append(recovery, secret) {
			if strings.Contains(text, plain) {
				t.Errorf("%q is readable in %q", plain, text)
			}
		}
		return nil
	})
}
