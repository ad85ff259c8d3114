package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// linkSigner signs links that need no token. Its key is random and only in memory:
// nothing that is stored, for example in a backup, can sign a link, and links expire
// with the process.
type linkSigner struct{ key [32]byte }

func newLinkSigner() *linkSigner {
	l := &linkSigner{}
	rand.Read(l.key[:]) // never fails: crypto/rand ends the program instead
	return l
}

// sign returns the signature of texts for a URL. The length of each text is signed too,
// so that texts cannot be split differently.
func (l *linkSigner) sign(texts ...string) string {
	mac := hmac.New(sha256.New, l.key[:])
	for _, text := range texts {
		fmt.Fprintf(mac, "%d:%s", len(text), text) // a hash never fails
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// signed reports whether signature is that of texts, in constant time.
func (l *linkSigner) signed(signature string, texts ...string) bool {
	return hmac.Equal([]byte(signature), []byte(l.sign(texts...)))
}
