package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// linkSigner signs links that need no session. Its key is random and only in memory:
// nothing that is stored, in a backup for example, can make a link, and links end with
// the process.
type linkSigner struct{ key [32]byte }

func newLinkSigner() *linkSigner {
	l := &linkSigner{}
	rand.Read(l.key[:]) // never fails: crypto/rand ends the program instead
	return l
}

// sign returns the signature of texts, none of which can run into the next, as text
// for a URL.
func (l *linkSigner) sign(texts ...string) string {
	mac := hmac.New(sha256.New, l.key[:])
	for _, text := range texts {
		fmt.Fprintf(mac, "%d:%s", len(text), text) // a hash never fails
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// signed reports whether sign made a signature, at the same cost wherever it differs.
func (l *linkSigner) signed(signature string, texts ...string) bool {
	return hmac.Equal([]byte(signature), []byte(l.sign(texts...)))
}
