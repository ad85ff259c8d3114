package auth

import (
	"crypto/sha256"
	"regexp"
	"strings"
	"testing"

	"reeve/store"
)

func TestTokens(t *testing.T) {
	seen := map[string]bool{}
	form := regexp.MustCompile(`^rv_[A-Za-z0-9_-]{49}$`)
	for range 100 {
		token, hash := newToken()
		parsed, ok := hashToken(token)
		ok = ok && plausible(token)
		if !form.MatchString(token) || !ok || parsed != hash || hash != sha256.Sum256([]byte(token)) || seen[token] {
			t.Fatalf("%s: %t, %s", token, ok, parsed)
		}
		seen[token] = true
	}
}

func TestJunkTokensFailTheChecksum(t *testing.T) {
	token, _ := newToken()
	junk := []string{
		"", "rv_", token[3:], token[:len(token)-1], token + "A", " " + token, token + " ", token + "\n", strings.ToUpper(token), strings.ToLower(token),
		"RV_" + token[3:], token + token, "rv_" + strings.Repeat("A", 49), strings.Repeat("x", 1<<16), "rv_\x00" + token[4:],
	}
	for i := 3; i < len(token); i++ { // every letter changed in turn
		c := byte('A')
		if token[i] == c {
			c = 'B'
		}
		junk = append(junk, token[:i]+string(c)+token[i+1:])
	}
	for _, text := range junk {
		if _, ok := hashToken(text); ok && plausible(text) {
			t.Errorf("%.80q passes", text)
		}
	}
}

// TestJunkTokensCostNoLookup authenticates on a closed database: a lookup would fail with
// another error.
func TestJunkTokensCostNoLookup(t *testing.T) {
	in := start(t)
	good, _ := newToken()
	must(t, in.db.Close())
	lookup := func(token string) (err error) {
		return in.db.View(store.Anonymous, func(tx *store.Tx) error {
			_, err := in.Authenticate(tx, token)
			return err
		})
	}
	for _, token := range []string{"", "junk", good[:len(good)-1], good[:20] + "!" + good[21:]} {
		if err := lookup(token); err != errUnknown {
			t.Errorf("%q: %v", token, err)
		}
	}
	if err := lookup(good); err == nil || err == errUnknown {
		t.Errorf("a well-formed token was not looked up: %v", err)
	}
	in.open(testCost)
}
