package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"slices"

	"reeve/store"
)

// A token is a prefix, 256 random bits and their CRC-32, both in unpadded base64url. The
// prefix lets secret scanners find leaked tokens; the checksum lets the server reject junk
// without a database lookup.
const (
	tokenPrefix   = "rv_"   // of a session or a device
	keyPrefix     = "rv_k_" // of an API key
	linkPrefix    = "rv_l_" // of a one-time link
	forwardPrefix = "rv_f_" // of a token of forward authentication, which has another form

	secretText = 43
	sumText    = 6
)

// Sealed tokens have encrypted contents instead of random bits, see sealer.
const (
	codePrefix    = "rv_c_" // of a code of forward authentication
	pendingPrefix = "rv_p_" // of a sign-in that requires a second factor
	mailedPrefix  = "rv_m_" // of a sign-in with a code by mail
	arrivalPrefix = "rv_e_" // a person who comes from a sign-in provider
	returnPrefix  = "rv_r_" // of a code with which an app user returns to a program
)

// tokenHash is the SHA-256 of a token, the only form in which a token is stored.
type tokenHash [sha256.Size]byte

func (h tokenHash) String() string { return hex.EncodeToString(h[:]) }

func newToken(prefix string) (string, tokenHash) {
	var secret [32]byte
	rand.Read(secret[:]) // never fails: crypto/rand ends the program instead
	text := base64.RawURLEncoding.EncodeToString(secret[:])
	token := prefix + text + tokenSum(prefix, text)
	return token, sha256.Sum256([]byte(token))
}

// tokenSum returns the checksum of a token. Except for those of sessions it covers the
// prefix, so that one kind of token does not pass for another.
func tokenSum(prefix, text string) string {
	if prefix != tokenPrefix {
		text = prefix + text
	}
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil,
		crc32.ChecksumIEEE([]byte(text))))
}

// hashToken returns the hash of a token and its prefix. ok is false if the text does not
// have the form of a token.
func hashToken(token string) (h tokenHash, prefix string, ok bool) {
	n := len(token) - secretText - sumText
	if n < 0 {
		return h, "", false
	}
	switch prefix = token[:n]; prefix {
	case tokenPrefix, keyPrefix, linkPrefix:
		return sha256.Sum256([]byte(token)), prefix, true
	}
	return h, "", false
}

// IsKey reports whether a text has the form of an API key. The prefix alone does not tell: the
// random part of another token can begin with the rest of it.
func IsKey(text string) bool {
	_, prefix, ok := hashToken(text)
	return ok && prefix == keyPrefix
}

// IsToken reports whether a text has the form of a token of this server, of any kind.
func IsToken(text string) bool {
	_, _, ok := hashToken(text)
	return ok || slices.ContainsFunc(sealedPrefixes, func(prefix string) bool {
		return isSealed(text, prefix)
	})
}

var sealedPrefixes = []string{codePrefix, pendingPrefix, mailedPrefix, arrivalPrefix, returnPrefix}

// plausible reports whether the checksum of a token is right. The text must have the
// form of a token.
func plausible(token string) bool {
	prefix, text := token[:len(token)-secretText-sumText], token[len(token)-secretText-sumText:]
	return tokenSum(prefix, text[:secretText]) == text[secretText:]
}

// Unknown reports whether a token that is complete is none of this server's, or has ended. It counts as no use.
func (a *Auth) Unknown(tx *store.Tx, token string) bool {
	hash, prefix, ok := hashToken(token)
	if !ok || prefix != tokenPrefix && prefix != keyPrefix || a.sessions.get(hash) != nil || !plausible(token) {
		return false
	}
	var err error
	if prefix == keyPrefix {
		_, err = store.KeyByHash.Get(tx, hash.String())
	} else {
		_, err = acceptedToken(tx, hash)
	}
	return err != nil
}
