package auth

import (
	"testing"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// stale makes the last proof of a session old, and returns the session.
func (in *instance) stale(token string) *Session {
	in.t.Helper()
	s, err := in.who(token)
	must(in.t, err)
	in.session(s.ID, func(s *store.Session, now store.Time) {
		s.ProvedAt = now.Add(-10 * time.Minute)
	})
	s, err = in.who(token)
	must(in.t, err)
	return s
}

// recent reports whether a session has a recent proof.
func (in *instance) recent(s *Session) bool {
	in.t.Helper()
	err := in.db.View(s.Actor, store.RequireProof)
	if err != nil && errs.Of(err).Code != "reauth_required" {
		in.t.Error(err)
	}
	return err == nil
}

func text(s string) *string { return &s }

func TestConfirmation(t *testing.T) {
	in := start(t)
	token := in.enter("admin", password)
	s, err := in.who(token)
	must(t, err)
	if !in.recent(s) {
		t.Error("a sign-in is no proof")
	}

	s = in.stale(token)
	for _, c := range []struct {
		in    Confirmation
		field string
	}{
		{Confirmation{}, "password"},
		{Confirmation{Code: text("123456")}, "password"},
		{Confirmation{Password: text("wrong")}, "password"},
	} {
		if _, _, err := in.Prove(s, home, c.in); errs.Of(err).Fields[c.field].Empty() {
			t.Errorf("%+v: %v", c.in, err)
		}
	}

	if in.recent(s) {
		t.Error("an old proof is enough")
	}

	until, token, err := in.Prove(s, home, Confirmation{Password: text(password)})
	must(t, err)
	if left := time.Until(until.Std()); left > 10*time.Minute || left < 9*time.Minute {
		t.Errorf("until %v", until)
	}

	in.restart(testCost)
	if s, err = in.who(token); err != nil || !in.recent(s) {
		t.Errorf("the proof is not stored: %v", err)
	}

	in.set("security.reauth_minutes", "1")
	in.session(s.ID, func(s *store.Session, now store.Time) { s.ProvedAt = now.Add(-time.Minute) })
	if s, err = in.who(token); err != nil || in.recent(s) {
		t.Errorf("the setting has no effect: %v", err)
	}
}

func TestConfirmation_StrongestFactor(t *testing.T) {
	in := start(t)
	token := in.enter("admin", password)
	secret, recovery := in.withFactor()
	s := in.stale(token)
	if _, _, err := in.Prove(s, home, Confirmation{Password: text(password)}); errs.Of(err).Fields["otp"].Empty() || in.recent(s) {
		t.Errorf("the password: %v", err)
	}

	code := in.code(secret, 1)
	_, token, err := in.Prove(s, home, Confirmation{Code: &code})
	must(t, err)
	if in.recent(s) {
		t.Error("a request that was under way has the proof")
	}
	if now, err := in.who(token); err != nil || !in.recent(now) {
		t.Errorf("a code is not enough: %v", err)
	}
	if _, _, err := in.Prove(s, home, Confirmation{Code: &recovery[9]}); errs.Of(err).Code != "token_replaced" {
		t.Errorf("with the former token: %v", err)
	}

	s = in.stale(token)
	if _, _, err := in.Prove(s, home, Confirmation{Code: &code}); errs.Of(err).Code != wrongCode ||
		in.recent(s) {
		t.Errorf("the same code again: %v", err)
	}

	_, token, err = in.Prove(s, home, Confirmation{Code: &recovery[0]})
	must(t, err)
	s, err = in.who(token)
	must(t, err)
	for range 5 {
		in.Prove(s, home, Confirmation{Code: text("000000")})
	}

	if _, _, err = in.Prove(s, home, Confirmation{Code: &recovery[1]}); !errs.Is(err, errs.TooMany) {
		t.Errorf("guessing is not limited: %v", err)
	}
}

func TestConfirmation_FullDisk(t *testing.T) {
	in, fill := onSmallDisk(t)
	token := in.enter("admin", password)
	secret, recovery := in.withFactor()
	s := in.stale(token)
	free := fill()
	// A recovery code works only as far as it can be used up.
	_, replaced, first := in.Prove(s, home, Confirmation{Code: &recovery[0]})
	if first == nil {
		var err error
		s, err = in.who(replaced)
		must(t, err)
	}

	_, _, second := in.Prove(s, home, Confirmation{Code: &recovery[0]})
	if second == nil || (first == nil) != in.recent(s) {
		t.Errorf("a recovery code: %v, and again: %v", first, second)
	}

	fill() // what a reader beside has held until now has room for a commit
	code := in.code(secret, 1)
	_, replaced, err := in.Prove(s, home, Confirmation{Code: &code})
	must(t, err)
	if replaced != "" { // it had room all the same
		s, err = in.who(replaced)
		must(t, err)
	}
	if !in.recent(s) {
		t.Error("a code is not enough")
	}
	if _, _, err := in.Prove(s, home, Confirmation{Code: &code}); errs.Of(err).Code != wrongCode {
		t.Errorf("the same code again: %v", err)
	}

	free()
	if err := in.complete(in.pendingToken(), code); errs.Of(err).Code != wrongCode {
		t.Errorf("the same code, once there is space: %v", err)
	}
}
