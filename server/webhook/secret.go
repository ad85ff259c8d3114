package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"

	"reeve/store/errs"
)

// secretPrefix begins every secret, so that people and scanners of leaked secrets
// recognize it.
const secretPrefix = "whsec_"

// Bytes of a secret, which the specification requires, and of one made here.
const (
	minSecret = 24
	maxSecret = 64
	newSecret = 32
)

// NewSecret returns a random secret: "whsec_" and the base64 of 32 bytes.
func NewSecret() string {
	key := make([]byte, newSecret)
	rand.Read(key) // it never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// CheckSecret returns an error about the field secret unless the text is "whsec_" and
// the base64 of 24 to 64 bytes.
func CheckSecret(text string) error {
	_, err := secretKey(text)
	return err
}

// secretKey returns the bytes of a secret. An error contains nothing of the text.
func secretKey(text string) ([]byte, error) {
	encoded, found := strings.CutPrefix(text, secretPrefix)
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if !found || err != nil || len(key) < minSecret || len(key) > maxSecret ||
		strings.ContainsAny(encoded, "\r\n") {
		return nil, errs.Field(errs.Invalid, "secret",
			"must be whsec_ followed by the base64 of %d to %d bytes", minSecret, maxSecret)
	}
	return key, nil
}

// Sign returns the value of the header webhook-signature: one signature for each
// secret, so that a receiver verifies messages while a secret is being replaced. A
// signature is "v1," and the base64 of the HMAC-SHA256 of id.seconds.body.
func Sign(secrets []string, id string, at time.Time, body []byte) (string, error) {
	if len(secrets) == 0 {
		return "", errors.New("there is no secret to sign with")
	}

	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		key, err := secretKey(secret)
		if err != nil {
			return "", err
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}

	return strings.Join(signatures, " "), nil
}
