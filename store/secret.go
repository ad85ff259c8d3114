package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reeve/store/disk"
	"reeve/store/errs"
)

// Secret values are sealed with AES-256-GCM under the key in secret.key, which is
// never in data.db: a copy of the database alone does not reveal them. The file has
// one key per line, 64 hexadecimal digits; more than one only while keys are rotated.
// The database holds the ID of the key in force, and each value the ID of its key, so
// that a wrong or damaged file is noticed.

// Sealed is a secret value as it is stored. The zero Sealed is no value.
type Sealed struct {
	Key string `json:"key"` // ID of the key; "" if it was sealed before keys had IDs
	Box []byte `json:"box"` // nonce and ciphertext
}

// UnmarshalJSON also reads the form of before keys had IDs, which is the box alone.
func (s *Sealed) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		s.Key = ""
		return json.Unmarshal(text, &s.Box)
	}
	type plain Sealed
	return json.Unmarshal(text, (*plain)(s))
}

// secretKey is one key of the file.
type secretKey struct {
	id   string // derived from the key, which it does not reveal
	text string // as the file has it
	aead cipher.AEAD
}

func parseSecretKey(line string) (*secretKey, error) {
	key, err := hex.DecodeString(line)
	if err != nil || len(key) != 32 {
		return nil, errors.New("does not hold 64 hexadecimal digits")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("reeve key id")) // a hash never fails
	return &secretKey{hex.EncodeToString(mac.Sum(nil)[:8]), line, aead}, err
}

func newSecretKey() *secretKey {
	key, err := parseSecretKey(hex.EncodeToString(randomBytes(32)))
	if err != nil {
		panic(err) // it has the right length
	}
	return key
}

// keyring is what secret.key holds.
type keyring struct {
	keys      []*secretKey // while keys are rotated the new one comes first
	current   *secretKey   // the database's; nil if the file does not have it
	unwritten bool         // it is new and not in the file yet
}

// newKeyring makes a ring with a new key.
func newKeyring() *keyring {
	key := newSecretKey()
	return &keyring{keys: []*secretKey{key}, current: key, unwritten: true}
}

// parseKeyring reads the content of a key file.
func parseKeyring(text []byte) (*keyring, error) {
	ring := &keyring{}
	for _, line := range strings.Fields(string(text)) {
		key, err := parseSecretKey(line)
		if err != nil {
			return nil, err
		}
		ring.keys = append(ring.keys, key)
	}
	if len(ring.keys) == 0 {
		return nil, errors.New("does not hold 64 hexadecimal digits")
	}
	return ring, nil
}

// readKeyring reads the key file of a directory; nil if there is none.
func readKeyring(dir string) (*keyring, error) {
	path := filepath.Join(dir, keyName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ring, err := parseKeyring(text)
	if err != nil {
		err = fmt.Errorf("%s %w; put the right file back, or remove it and enter the secret values again", path, err)
	}
	return ring, err
}

// write replaces the key file of a directory, durably.
func (r *keyring) write(dir string) error {
	text := ""
	for _, key := range r.keys {
		text += key.text + "\n"
	}
	if err := disk.WriteFile(filepath.Join(dir, keyName), []byte(text)); err != nil {
		return err
	}
	return disk.SyncDir(dir)
}

// find returns the key with an ID; nil if the ring does not have it. The nil ring has none.
func (r *keyring) find(id string) *secretKey {
	if r == nil {
		return nil
	}
	i := slices.IndexFunc(r.keys, func(k *secretKey) bool { return k.id == id })
	if i < 0 {
		return nil
	}
	return r.keys[i]
}

// open decrypts a value that was sealed for a place of an installation.
func (r *keyring) open(s Sealed, instance, place string) (string, bool) {
	if r == nil {
		return "", false
	}
	for _, key := range r.keys {
		if s.Key != "" && s.Key != key.id {
			continue
		}
		if text, err := key.aead.Open(nil, nil, s.Box, []byte(instance+" "+place)); err == nil {
			return string(text), true
		}
	}
	return "", false
}

// errWrongKey refuses to seal while secret.key is not the database's key: the value
// could not be opened once the right file is back.
var errWrongKey = errs.New(errs.Conflict, "%s is not the key of this database; put the right file back, or remove it and enter the secret values again", keyName).Coded("wrong_secret_key")

// seal encrypts a text so that it opens only in its place.
func (tx *Tx) seal(place, text string) (Sealed, error) {
	key := tx.db.keys.current
	if key == nil {
		return Sealed{}, errWrongKey
	}
	return Sealed{key.id, key.aead.Seal(nil, nil, []byte(text), []byte(tx.db.instance+" "+place))}, nil
}

func (tx *Tx) unseal(place string, s Sealed) (string, error) {
	text, ok := tx.db.keys.open(s, tx.db.instance, place)
	if !ok {
		return "", fmt.Errorf("%s cannot be decrypted with %s: enter it again", place, keyName)
	}
	return text, nil
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails: crypto/rand ends the program instead
	return b
}
