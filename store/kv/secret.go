package kv

import (
	"crypto/cipher"
	"crypto/hkdf"
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
	"reeve/store/seal"
)

// Secret values are sealed with AES-256-GCM and the key in secret.key. The key is never in
// data.db, so a copy of the database alone does not reveal them. The file has one key per line,
// 64 hexadecimal digits; more than one only during a key rotation. The database stores the ID
// of its current key, and each value the ID of the key it was sealed with, so that a wrong or
// damaged file is detected.

// Sealed is an encrypted secret value. The zero Sealed is no value.
type Sealed struct {
	Key string `json:"key"` // ID of the key; "" if it was sealed before keys had IDs
	Box []byte `json:"box"` // nonce and ciphertext
}

// UnmarshalJSON also accepts the form from before keys had IDs, which is the box alone.
func (s *Sealed) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		s.Key = ""
		return json.Unmarshal(text, &s.Box)
	}
	type plain Sealed
	return json.Unmarshal(text, (*plain)(s))
}

// secretKey is one line of the file.
type secretKey struct {
	id   string // derived from the key; does not reveal it
	text string // line in the file
	aead cipher.AEAD
}

// parseSecretKey parses one line of the file.
func parseSecretKey(line string) (*secretKey, error) {
	key, err := hex.DecodeString(line)
	if err != nil || len(key) != 32 {
		return nil, errors.New("does not hold 64 hexadecimal digits")
	}
	aead, err := seal.AEAD(key)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("reeve key id")) // a hash never fails
	return &secretKey{hex.EncodeToString(mac.Sum(nil)[:8]), line, aead}, err
}

func newSecretKey() *secretKey {
	key, err := parseSecretKey(hex.EncodeToString(randomBytes(32)))
	if err != nil {
		panic(err) // cannot happen: the length is correct
	}
	return key
}

// keyring is the content of secret.key.
type keyring struct {
	keys      []*secretKey // keys; the new one is first during a rotation
	current   *secretKey   // key of the database; nil if the file does not have it
	unwritten bool         // new, and not in the file yet
}

// newKeyring returns a ring with a new key.
func newKeyring() *keyring {
	key := newSecretKey()
	return &keyring{keys: []*secretKey{key}, current: key, unwritten: true}
}

// parseKeyring parses the content of a key file.
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

// readKeyring reads the key file of a directory. It returns nil if there is none.
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
		err = fmt.Errorf("%s %w; restore the right file, or remove it and enter the secret values again", path, err)
	}
	return ring, err
}

// write replaces the key file of a directory and syncs it.
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

// find returns the key with an ID; nil if the ring does not have it or is nil.
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

// open decrypts a value that was sealed for a place of an installation. A nil ring opens
// nothing.
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

// errWrongKey rejects sealing while secret.key is not the key of the database: the value could
// not be opened once the correct file is restored.
var errWrongKey = errs.New(errs.Conflict,
	"%s is not the key of this database; restore the right file, or remove it and enter the secret values again", keyName).Coded("wrong_secret_key")

// Seal encrypts a text with the key of the database. It can be decrypted only with the same
// place, which identifies where the value is stored, such as "setting 7".
func (tx *Tx) Seal(place, text string) (Sealed, error) {
	key := tx.db.keys.current
	if key == nil {
		return Sealed{}, errWrongKey
	}
	return Sealed{key.id, key.aead.Seal(nil, nil, []byte(text), []byte(tx.db.instance+" "+place))},
		nil
}

// Unseal decrypts a value that Seal has encrypted for place.
func (tx *Tx) Unseal(place string, s Sealed) (string, error) {
	text, ok := tx.db.keys.open(s, tx.db.instance, place)
	if !ok {
		return "", fmt.Errorf("%s cannot be decrypted with %s: enter it again", place, keyName)
	}
	return text, nil
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails: crypto/rand crashes the program instead
	return b
}

// DerivedKey returns 32 secret bytes for a purpose. They are the same as long as secret.key and the
// installation are.
func (db *DB) DerivedKey(purpose string) ([]byte, error) {
	if db.keys == nil || db.keys.current == nil {
		return nil, errWrongKey
	}
	return db.keys.current.derive(db.instance, purpose)
}

// TemporaryKey is like DerivedKey for what a restore ends, such as signed URLs and sign-ins that are not
// complete: the key depends on the generation of the change log, too. It is the same on all nodes. While
// secret.key is not the key of the database, it is random, and ends with the process.
func (db *DB) TemporaryKey(purpose string) []byte {
	key, err := db.DerivedKey(purpose + " " + db.LogHead().Generation)
	if err != nil {
		return randomBytes(32)
	}
	return key
}

func (k *secretKey) derive(instance, purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, []byte(k.text), []byte(instance), purpose, 32)
}

func keyMissing(dir string) error {
	return fmt.Errorf("%s is missing: copy it from another node", filepath.Join(dir, keyName))
}

// DerivedKeys returns what DerivedKey returns for an installation, for each key in the secret.key of a
// directory that may have no database yet.
func DerivedKeys(dir, instance, purpose string) (all [][]byte, err error) {
	ring, err := readKeyring(dir)
	if err == nil && ring == nil {
		err = keyMissing(dir)
	}
	if err != nil {
		return nil, err
	}
	for _, key := range ring.keys {
		derived, err := key.derive(instance, purpose)
		if err != nil {
			return nil, err
		}
		all = append(all, derived)
	}
	return all, nil
}
