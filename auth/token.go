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

// A token is tokenPrefix, 256 random bits and their CRC-32, both in unpadded base64url.
// The prefix lets secret scanners find leaked tokens; the checksum lets the server
// reject junk without a database lookup.
const (
	tokenPrefix = "rv_"
	secretText  = 43
	sumText     = 6
)

// tokenHash is the SHA-256 of a token, the only form in which a token is stored.
type tokenHash [sha256.Size]byte

func (h tokenHash) String() string { return hex.EncodeToString(h[:]) }

func newToken() (string, tokenHash) {
	var secret [32]byte
	rand.Read(secret[:]) // never fails: crypto/rand ends the program instead
	text := base64.RawURLEncoding.EncodeToString(secret[:])
	token := tokenPrefix + text + tokenSum(text)
	return token, sha256.Sum256([]byte(token))
}

func tokenSum(text string) string {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(text))))
}

// hashToken returns the hash of a token, and false if the text does not have its form.
func hashToken(token string) (h tokenHash, ok bool) {
	if len(token) != len(tokenPrefix)+secretText+sumText || !strings.HasPrefix(token, tokenPrefix) {
		return h, false
	}
	return sha256.Sum256([]byte(token)), true
}

// plausible reports whether the checksum of a token is right. The text must have the
// form of a token.
func plausible(token string) bool {
	text := token[len(tokenPrefix):]
	return tokenSum(text[:secretText]) == text[secretText:]
}
