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

// A token is tokenPrefix, 256 random bits and their CRC-32, both in unpadded
// base64url. The prefix lets a scanner of leaked secrets find it; the checksum
// lets junk be refused without a look at the database.
const (
	tokenPrefix = "rv_"
	secretText  = 43
	sumText     = 6
)

// tokenHash is the SHA-256 of a token: all that is kept of it.
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

// hashToken returns the hash of what has the form of a token.
func hashToken(token string) (h tokenHash, ok bool) {
	if len(token) != len(tokenPrefix)+secretText+sumText || !strings.HasPrefix(token, tokenPrefix) {
		return h, false
	}
	return sha256.Sum256([]byte(token)), true
}

// plausible tells whether the checksum in what has the form of a token is right.
func plausible(token string) bool {
	text := token[len(tokenPrefix):]
	return tokenSum(text[:secretText]) == text[secretText:]
}
