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
	for n := range 200 {
		prefix := []string{tokenPrefix, keyPrefix, linkPrefix}[n%3]
		form := regexp.MustCompile("^" + prefix + `[A-Za-z0-9_-]{49}$`)
		token, hash := newToken(prefix)
		parsed, found, ok := hashToken(token)
		ok = ok && plausible(token) && found == prefix && IsKey(token) == (prefix == keyPrefix)
		if !form.MatchString(token) || !ok || parsed != hash ||
			hash != sha256.Sum256([]byte(token)) || seen[token] {
			t.Fatalf("%s: %t, %s", token, ok, parsed)
		}
		seen[token] = true
	}
}

// TestToken_LooksLikeKey has a random part that begins like the rest of the other prefix.
func TestToken_LooksLikeKey(t *testing.T) {
	text := "k_" + strings.Repeat("A", secretText-2)
	token := tokenPrefix + text + tokenSum(tokenPrefix, text)
	if _, prefix, ok := hashToken(token); !ok || prefix != tokenPrefix || IsKey(token) ||
		!plausible(token) {
		t.Errorf("%s is taken for %s", token, prefix)
	}
}

func TestToken_JunkFailsChecksum(t *testing.T) {
	for _, prefix := range []string{tokenPrefix, keyPrefix} {
		testJunk(t, prefix)
	}
}

func testJunk(t *testing.T, prefix string) {
	token, _ := newToken(prefix)
	other := tokenPrefix
	if prefix == tokenPrefix {
		other = keyPrefix
	}

	junk := []string{
		other + token[len(prefix):],
		"", "rv_", token[3:], token[:len(token)-1], token + "A", " " + token, token + " ",
		token + "\n", strings.ToUpper(token), strings.ToLower(token),
		"RV_" + token[3:], token + token, "rv_" + strings.Repeat("A", 49),
		strings.Repeat("x", 1<<16), "rv_\x00" + token[4:],
	}
	for i := len(prefix); i < len(token); i++ { // every letter changed in turn
		c := byte('A')
		if token[i] == c {
			c = 'B'
		}
		junk = append(junk, token[:i]+string(c)+token[i+1:])
	}

	for _, text := range junk {
		if _, _, ok := hashToken(text); ok && plausible(text) {
			t.Errorf("%.80q passes", text)
		}
	}
}

// TestToken_JunkCostsNoLookup authenticates on a closed database: a lookup would fail with
// another error.
func TestToken_JunkCostsNoLookup(t *testing.T) {
	in := start(t)
	good, _ := newToken(tokenPrefix)
	key, _ := newToken(keyPrefix)
	must(t, in.db.Close())
	lookup := func(token string) (err error) {
		return in.db.View(store.Anonymous, func(tx *store.Tx) error {
			_, err := in.Authenticate(tx, token, home)
			return err
		})
	}
	for _, token := range []string{"", "junk", good[:len(good)-1], good[:20] + "!" + good[21:],
		key[:len(key)-1], key[:20] + "!" + key[21:], keyPrefix + good[3:], tokenPrefix + key[5:]} {
		if err := lookup(token); err != errUnknown {
			t.Errorf("%q: %v", token, err)
		}
	}

	for _, token := range []string{good, key} {
		if err := lookup(token); err == nil || err == errUnknown {
			t.Errorf("a well-formed token was not looked up: %v", err)
		}
	}

	in.open(testCost)
}
