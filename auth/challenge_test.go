package auth

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// solve finds the number of a challenge.
func (c *Challenge) solve(t testing.TB) solution {
	t.Helper()
	for n := range c.MaxNumber + 1 {
		if challengeHash(c.Salt, n) == c.Challenge {
			return solution{c.Algorithm, c.Challenge, n, c.Salt, c.Signature}
		}
	}
	t.Fatal("there is no solution")
	return solution{}
}

// encode returns the payload of a solution, as the widget sends it.
func (s solution) encode(t testing.TB) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"algorithm": s.Algorithm,
		"challenge": s.Challenge,
		"number":    s.Number,
		"salt":      s.Salt,
		"signature": s.Signature,
		"took":      12,
	})
	must(t, err)
	return base64.StdEncoding.EncodeToString(text)
}

func TestChallenge_FormatOfALTCHA(t *testing.T) {
	now := time.Unix(1_764_000_000, 0)
	c := challenges("key").create(now)
	if c.Algorithm != "SHA-256" || c.MaxNumber != 100_000 ||
		!regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(c.Challenge+"") ||
		!regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(c.Signature) ||
		!regexp.MustCompile(`^[0-9a-f]{32}\?expires=1764000600&$`).MatchString(c.Salt) {
		t.Errorf("%+v", c)
	}
	text, err := json.Marshal(c)
	must(t, err)
	if !regexp.MustCompile(`^\{"algorithm":"SHA-256","challenge":"[0-9a-f]+","maxnumber":100000,"salt":"[^"]+","signature":"[0-9a-f]+"\}$`).Match(text) {
		t.Errorf("%s", text)
	}
}

func TestSolutions(t *testing.T) {
	now := time.Unix(1_764_000_000, 0)
	all := challenges("key")
	other := challenges("other")
	challenge := all.create(now)
	good := challenge.solve(t)
	foreign := other.create(now)
	edit := func(fn func(*solution)) string {
		s := good
		fn(&s)
		return s.encode(t)
	}
	// Digits of the number that are moved to the expiry have the same hash, and so the same
	// signature.
	digits := strconv.FormatInt(good.Number, 10)
	spliced := edit(func(s *solution) {
		s.Salt, s.Number = strings.TrimSuffix(s.Salt, "&")+digits[:1]+"&", good.Number
	})

	moved := edit(func(s *solution) {
		s.Salt += digits[:1]
		s.Number, _ = strconv.ParseInt("0"+digits[1:], 10, 64)
	})

	raw := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	for name, payload := range map[string]string{
		"nothing": "", "no base64": "%%%", "no JSON": raw("x"), "a list": raw("[]"),
		"null": raw("null"), "a number": raw("7"), "JSON twice": raw("{}{}"),
		"another number": edit(func(s *solution) {
			s.Number++
		}), "a negative number": edit(func(s *solution) { s.Number = -1 }),
		"a huge number":   raw(fmt.Sprintf(`{"algorithm":"SHA-256","challenge":%q,"number":1e400,"salt":%q,"signature":%q}`, good.Challenge, good.Salt, good.Signature)),
		"a number beyond": edit(func(s *solution) { s.Number = 1 << 62 }),
		"a fraction":      raw(fmt.Sprintf(`{"algorithm":"SHA-256","challenge":%q,"number":%d.5,"salt":%q,"signature":%q}`, good.Challenge, good.Number, good.Salt, good.Signature)),
		"another salt": edit(func(s *solution) {
			s.Salt = strings.Replace(s.Salt, "?expires=1", "?expires=2", 1)
		}),
		"a spliced expiry":  spliced,
		"moved digits":      moved,
		"no expiry":         edit(func(s *solution) { s.Salt, _, _ = strings.Cut(s.Salt, "?") }),
		"two expiries":      edit(func(s *solution) { s.Salt += "expires=9999999999&" }),
		"another signature": edit(func(s *solution) { s.Signature = strings.Repeat("0", 64) }),
		"no signature":      edit(func(s *solution) { s.Signature = "" }),
		"a signature in caps": edit(func(s *solution) {
			s.Signature = strings.ToUpper(s.Signature)
		}),
		"another algorithm": edit(func(s *solution) { s.Algorithm = "SHA-1" }),
		"an algorithm in lower case": edit(func(s *solution) {
			s.Algorithm = "sha-256"
		}),
		"a challenge of its own": edit(func(s *solution) {
			s.Challenge = challengeHash(s.Salt, 1)
			s.Number = 1
		}),
		"with another key": foreign.solve(t).encode(t),
		"deep JSON":        raw(strings.Repeat("[", 500)),
	} {
		if _, err := all.check(payload, now); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}

	if _, err := all.check(good.encode(t), now.Add(challengeLife)); !errs.Is(err, errs.Invalid) {
		t.Errorf("expired: %v", err)
	}
	if _, err := all.check(good.encode(t), now.Add(challengeLife-time.Second)); err != nil {
		t.Errorf("shortly before: %v", err)
	}

	one, err := all.check(good.encode(t), now)
	must(t, err)
	same, err := all.check(raw(fmt.Sprintf(`{ "signature":%q, "salt":%q, "number":%d, "challenge":%q, "algorithm":"SHA-256" }`, good.Signature, good.Salt, good.Number, good.Challenge)), now)
	must(t, err)
	if one != same || one.Until != kv.TimeOf(now.Add(challengeLife)) {
		t.Errorf("a solution is used as %+v, spelled otherwise as %+v", one, same)
	}
}

func TestChallenge_SolutionUsedOnce(t *testing.T) {
	in := start(t)
	c := in.challenges.create(in.now)
	solved, err := in.challenges.check(c.solve(t).encode(t), in.now)
	must(t, err)
	var wg sync.WaitGroup
	var used atomic.Int64
	for range 64 {
		wg.Go(func() {
			if in.spendNow(solved, errSolution) == nil {
				used.Add(1)
			}
		})
	}

	if wg.Wait(); used.Load() != 1 {
		t.Errorf("used %d times", used.Load())
	}
}

func TestChallenge_RequiredForRegistration(t *testing.T) {
	in := start(t)
	in.set("app.registration", "1")
	if _, err := in.Challenge(Attempt{Addr: home}); !errs.Is(err, errs.Denied) {
		t.Errorf("a challenge that nobody needs: %v", err)
	}

	in.set("app.registration_challenge", "1")
	register := func(name, password, solution string) error {
		_, err := in.Register(&store.AppUser{Username: name, Status: true}, Attempt{
			App:      true,
			Username: name,
			Password: password,
			Addr:     home,
			Solution: solution,
		})
		return err
	}

	fresh := func() string {
		c, err := in.Challenge(Attempt{Addr: netip.MustParseAddr("198.51.100.7")})
		must(t, err)
		return c.solve(t).encode(t)
	}

	before := in.hasher.compared.Load()
	for _, bad := range []string{"", "x"} {
		if err := register("ann", password, bad); !errs.Is(err, errs.Invalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}

	payload := fresh()
	if err := register("ann", "short", payload); !errs.Is(err, errs.Invalid) {
		t.Errorf("a short password: %v", err)
	}

	must(t, register("ann", password, payload)) // it was not used up
	if err := register("ben", password, payload); !errs.Is(err, errs.Invalid) {
		t.Errorf("used again: %v", err)
	}

	payload = fresh()
	if in.now = in.now.Add(challengeLife + time.Second); !errs.Is(register("ben", password,
		payload), errs.Invalid) {
		t.Error("an expired one is accepted")
	}
	if n := in.hasher.compared.Load() - before; n != 0 {
		t.Errorf("%d comparisons", n)
	}
}

func TestChallenge_RateLimit(t *testing.T) {
	in := start(t)
	in.set("app.registration", "1")
	in.set("app.registration_challenge", "1")
	in.set("security.login_tries", "1")
	for i := range 25 {
		_, err := in.Challenge(Attempt{Addr: home})
		if limited := errs.Is(err, errs.TooMany); limited != (i >= triesPerAddress*perRegistration) {
			t.Errorf("challenge %d: %v", i+1, err)
		}
	}
}
