// Package seal encrypts with symmetric keys: short texts with AES-GCM, and anything else with age
// (age-encryption.org/v1).
//
//	key, err := seal.NewKey(secret, "reeve-server", "")
//	out, err := age.Encrypt(w, key)
package seal

import (
	"crypto/aes"
	"crypto/cipher"

	"filippo.io/age"
)

// AEAD returns AES-GCM with random nonces, and a key of 16, 24 or 32 bytes.
func AEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Key is an age recipient and identity.
type Key struct {
	aead   cipher.AEAD
	stanza string
	bound  []byte
}

// NewKey returns a key of 32 bytes. stanza is the type of its stanza in the header of age. What is
// encrypted is bound to a text, such as its name, and can't be decrypted with another one.
func NewKey(key []byte, stanza, bound string) (Key, error) {
	aead, err := AEAD(key)
	return Key{aead, stanza, []byte(bound)}, err
}

// Wrap implements age.Recipient.
func (k Key) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	return []*age.Stanza{{Type: k.stanza, Body: k.aead.Seal(nil, nil, fileKey, k.bound)}}, nil
}

// Unwrap implements age.Identity.
func (k Key) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	for _, s := range stanzas {
		if s.Type != k.stanza {
			continue
		}
		if fileKey, err := k.aead.Open(nil, nil, s.Body, k.bound); err == nil {
			return fileKey, nil
		}
	}
	return nil, age.ErrIncorrectIdentity
}

// Size returns the size of a content of size bytes that is encrypted to recipients.
func Size(size int64, recipients ...age.Recipient) (int64, error) {
	empty := &counter{}
	out, err := age.Encrypt(empty, recipients...)
	if err != nil {
		return 0, err
	}
	if err := out.Close(); err != nil {
		return 0, err
	}
	const chunk, tag = 64 << 10, 16 // even an empty file has one chunk, and so one tag
	chunks := max(1, (size+chunk-1)/chunk)
	return empty.n - tag + size + chunks*tag, nil
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}
