package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strings"
)

// A token is a prefix, 256 random bits and their CRC-32, both in unpadded base64url. The
// prefix lets secret scanners find leaked tokens; the checksum lets the server reject junk
// without a database lookup.
const (
	tokenPrefix = "rv_"   // of a session or a device
	keyPrefix   = "rv_k_" // of an API key
	secretText  = 43
	sumText     = 6
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

// tokenSum returns the checksum of a token. That of an API key covers the prefix, so that
// one kind of token does not pass for the other.
func tokenSum(prefix, text string) string {
	if prefix == keyPrefix {
		text = prefix + text
	}
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(text))))
}

// hashToken returns the hash of a token, and whether it is that of an API key. ok is false
// if the text does not have the form of a token.
func hashToken(token string) (h tokenHash, isKey, ok bool) {
	switch {
	case len(token) == len(tokenPrefix)+secretText+sumText && strings.HasPrefix(token, tokenPrefix):
	case len(token) == len(keyPrefix)+secretText+sumText && strings.HasPrefix(token, keyPrefix):
		isKey = true
	default:
		return h, false, false
	}
	return sha256.Sum256([]byte(token)), isKey, true
}

// plausible reports whether the checksum of a token is right. The text must have the
// form of a token.
func plausible(token string) bool {
	prefix, text := token[:len(token)-secretText-sumText], token[len(token)-secretText-sumText:]
	return tokenSum(prefix, text[:secretText]) == text[secretText:]
}
