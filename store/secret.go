package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// loadSecretKey reads the key file and makes it when there is none. Losing it
// costs the secret settings, which must then be entered again, and nothing else.
func (db *DB) loadSecretKey() error {
	path := filepath.Join(db.dir, keyName)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text = []byte(hex.EncodeToString(randomBytes(32)) + "\n")
		if err := writeFileSynced(path, text); err != nil {
			return err
		}
		if _, err := os.Stat(db.path); err == nil {
			db.warnings = append(db.warnings, path+" was missing and is made anew: secret settings must be entered again")
		}
	case err != nil:
		return err
	}
	key, err := parseSecretKey(text)
	if err != nil {
		return fmt.Errorf("%s %w; put the right file back, or remove it and enter the secret settings again", path, err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return err
	}
	db.signKey = sum(key, "sign") // a key of its own, so that neither use tells of the other
	db.secrets, err = cipher.NewGCMWithRandomNonce(block)
	return err
}

// parseSecretKey reads the content of a key file.
func parseSecretKey(text []byte) ([]byte, error) {
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != 32 {
		return nil, errors.New("does not hold 64 hexadecimal digits")
	}
	return key, nil
}

// sum is the HMAC-SHA-256 of texts, none of which can run into the next.
func sum(key []byte, texts ...string) []byte {
	mac := hmac.New(sha256.New, key)
	for _, text := range texts {
		fmt.Fprintf(mac, "%d:%s", len(text), text) // a hash never fails
	}
	return mac.Sum(nil)
}

// Sign makes a signature, as text for an address, that only this installation can
// make: of a purpose and what it is for.
func (db *DB) Sign(purpose string, texts ...string) string {
	return base64.RawURLEncoding.EncodeToString(sum(db.signKey, append([]string{db.instance, purpose}, texts...)...))
}

// Signed tells whether Sign made a signature, at the same cost wherever it differs.
func (db *DB) Signed(signature, purpose string, texts ...string) bool {
	return hmac.Equal([]byte(signature), []byte(db.Sign(purpose, texts...)))
}

// seal encrypts a text with AES-256-GCM so that it opens only in its place.
func (tx *Tx) seal(place, text string) []byte {
	return tx.db.secrets.Seal(nil, nil, []byte(text), []byte(tx.db.instance+" "+place))
}

func (tx *Tx) unseal(place string, sealed []byte) (string, error) {
	text, err := tx.db.secrets.Open(nil, nil, sealed, []byte(tx.db.instance+" "+place))
	if err != nil {
		return "", fmt.Errorf("%s cannot be decrypted with %s: enter it again", place, keyName)
	}
	return string(text), nil
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails: crypto/rand ends the program instead
	return b
}
