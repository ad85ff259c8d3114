package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"reeve/store"
)

// LinkSigner signs links that need no token. Its key follows from secret.key, so that every node accepts
// the links of the others, and from the generation of the data, so that a restore ends them.
type LinkSigner struct{ Key []byte }

// NewLinkSigner returns the signer of links for a purpose; those for another one are not accepted.
func NewLinkSigner(db *store.DB, purpose string) *LinkSigner {
	return &LinkSigner{db.TemporaryKey("links: " + purpose)}
}

// Sign returns the signature of texts for a URL. The length of each text is signed too,
// so that texts cannot be split differently.
func (l *LinkSigner) Sign(texts ...string) string {
	mac := hmac.New(sha256.New, l.Key)
	for _, text := range texts {
		fmt.Fprintf(mac, "%d:%s", len(text), text) // a hash never fails
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Signed reports whether signature is that of texts, in constant time.
func (l *LinkSigner) Signed(signature string, texts ...string) bool {
	return hmac.Equal([]byte(signature), []byte(l.Sign(texts...)))
}
