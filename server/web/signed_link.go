package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// LinkSigner signs links that need no token. Its key is random and only in memory:
// nothing that is stored, for example in a backup, can sign a link, and links expire
// with the process.
type LinkSigner struct{ Key [32]byte }

func NewLinkSigner() *LinkSigner {
	l := &LinkSigner{}
	rand.Read(l.Key[:]) // never fails: crypto/rand ends the program instead
	return l
}

// Sign returns the signature of texts for a URL. The length of each text is signed too,
// so that texts cannot be split differently.
func (l *LinkSigner) Sign(texts ...string) string {
	mac := hmac.New(sha256.New, l.Key[:])
	for _, text := range texts {
		fmt.Fprintf(mac, "%d:%s", len(text), text) // a hash never fails
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Signed reports whether signature is that of texts, in constant time.
func (l *LinkSigner) Signed(signature string, texts ...string) bool {
	return hmac.Equal([]byte(signature), []byte(l.Sign(texts...)))
}
