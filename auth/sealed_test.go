package auth

import (
	"crypto/rand"
	"net/url"
	"strings"
	"testing"

	"reeve/store"
	"reeve/store/errs"
)

func TestSealer_OpensItsOwn(t *testing.T) {
	s := newSealer(make([]byte, 32))
	token, err := s.seal(codePrefix, "bound", "contents")
	must(t, err)
	var got string
	if _, ok := s.open(codePrefix, "bound", token, &got); !ok || got != "contents" || !IsToken(token) {
		t.Errorf("%s has %q", token, got)
	}
	other := newSealer([]byte(strings.Repeat("k", 32)))
	for name, open := range map[string]func() bool{
		"another key":     func() bool { _, ok := other.open(codePrefix, "bound", token, &got); return ok },
		"another purpose": func() bool { _, ok := s.open(returnPrefix, "bound", token, &got); return ok },
		"bound elsewhere": func() bool { _, ok := s.open(codePrefix, "", token, &got); return ok },
		"cut":             func() bool { _, ok := s.open(codePrefix, "bound", token[:len(token)-1], &got); return ok },
		"nothing":         func() bool { _, ok := s.open(codePrefix, "bound", "", &got); return ok },
	} {
		if open() {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestArrival_FitsCookie: what is too long is left out, also after a second factor was asked for.
func TestArrival_FitsCookie(t *testing.T) {
	in := start(t)
	long := ""
	for len(long) < 4000 {
		long += rand.Text()
	}
	end := "https://idp.example.org/logout?" + url.Values{"client_id": {"reeve"}, "id_token_hint": {long}}.Encode()
	token, err := in.SealArrival(Arrival{
		Person:   store.Person{Issuer: "https://idp.example.org", Subject: strings.Repeat("s", 200), Username: strings.Repeat("n", 64)},
		Purpose:  ToTest,
		Provider: "The provider",
		EndURL:   end,
		Claims:   map[string]any{"long": long, "sub": "s"},
	})
	must(t, err)
	from, used, err := in.arrival(token, false, func(*Arrival) bool { return true })
	must(t, err)
	if len(token) > maxArrival || from.EndURL != "https://idp.example.org/logout?client_id=reeve" ||
		from.Claims["long"] != leftOut || from.Claims["sub"] != "s" {
		t.Errorf("%d bytes: %+v", len(token), from)
	}
	g, err := in.suspendArrival(store.Account{ID: FirstUser}, &pendingLogin{Name: strings.Repeat("n", 64), Before: &used}, from, 1,
		&Attempt{Addr: home})
	must(t, err)
	if len(g.Pending) > 3500 {
		t.Errorf("the pending sign-in has %d bytes", len(g.Pending))
	}

	failed, err := in.SealArrival(Arrival{Err: errs.New(errs.Denied, "this sign-in provider is switched off").Coded("provider_off")})
	must(t, err)
	if _, _, err := in.arrival(failed, false, func(*Arrival) bool { return false }); errs.Of(err).Code != "provider_off" ||
		!errs.Is(err, errs.Denied) {
		t.Errorf("an error is read as %v", err)
	}
}

// TestMailedToken_SameLength: the token does not tell whether there is an account.
func TestMailedToken_SameLength(t *testing.T) {
	in := start(t)
	length := func(l pendingLogin) int {
		l.Name, l.Code = "ann", "12345678"
		token, _, err := in.sealPending(mailedPrefix, &l, &Attempt{App: true, Addr: home}, pendingLife)
		must(t, err)
		return len(token)
	}
	if none, one := length(pendingLogin{}), length(pendingLogin{ID: 1234567, Since: 1_764_000_000_000_000}); none != one {
		t.Errorf("%d bytes without an account, %d with one", none, one)
	}
}
