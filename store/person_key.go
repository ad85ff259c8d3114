package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"slices"

	"reeve/store/audit"
	"reeve/store/errs"
	"reeve/store/kv"
)

// PersonKey is the key that seals the personal data of a user or an app user in the change log.
// Entries are never changed, since each one has the hash of the one before it. So a person is
// erased by deleting the key: the sealed values cannot be read any more.
type PersonKey struct {
	Ident
	UserID    ID     `json:"user_id"`
	AppUserID ID     `json:"app_user_id"`
	Key       []byte `json:"key"` // 32 bytes, AES-256
	kv.Timestamps
}

// PersonKeys and their index. A key outlives its user, so that the log stays readable.
var (
	PersonKeys  = kv.NewCollection[PersonKey]("person_key").Observed()
	KeyByPerson = kv.NewUnique(PersonKeys, "person", func(k *PersonKey) string {
		return accountOf(k.UserID, k.AppUserID).Person()
	})
)

// Person names an account in the change log, as audit.Value has it: u and the ID, or a and the ID
// of an app user.
func (a Account) Person() string { return ByRealm(a.App, "u", "a") + a.ID.String() }

// personal seals a value for a person, whose key is created if there is none.
func (w *logWriter) personal(person Account, text json.RawMessage) (audit.Value, error) {
	aead, err := w.cipher(person)
	if err != nil {
		return audit.Value{}, err
	}
	return audit.Value{
		Person: person.Person(),
		Box:    aead.Seal(nil, nil, text, []byte(person.Person())),
	}, nil
}

// sharedPersonal is personal for a text that many entries of a commit have, such as the name of an
// actor. They share the sealed value, until the commit creates or deletes a key of a person. An
// entry describes its changes before its actor, so a key that they create or delete counts here.
func (w *logWriter) sharedPersonal(person Account, text string) (audit.Value, error) {
	return kv.Shared(w.tx, PersonKeys, sharedText{person, text}, func() (audit.Value, error) {
		return w.personal(person, jsonText(text))
	})
}

// sharedText is the key of a shared sealed value, see kv.Shared.
type sharedText struct {
	person Account
	text   string
}

// takeDeletedKeys makes the entry of an erasure use the key that was deleted, so that no one can
// read the sealed data.
func (w *logWriter) takeDeletedKeys() error {
	for _, c := range w.changed {
		if c.Table != kv.Table(PersonKeys) || c.New != nil || c.Old == nil {
			continue
		}
		var key PersonKey
		if err := json.Unmarshal(c.Old, &key); err != nil {
			return err
		}
		aead, err := key.cipher()
		if err != nil {
			return err
		}
		w.remember(accountOf(key.UserID, key.AppUserID), aead)
	}
	return nil
}

func (w *logWriter) remember(person Account, aead cipher.AEAD) {
	if w.ciphers == nil {
		w.ciphers = map[Account]cipher.AEAD{}
	}
	w.ciphers[person] = aead
}

// deletes reports whether the write function has deleted a user.
func (w *logWriter) deletes(who Account) bool {
	table := who.table()
	return slices.ContainsFunc(w.changed, func(c kv.RecordChange) bool {
		return c.Table == table && c.ID == who.ID && c.New == nil
	})
}

// cipher returns the cipher of the key of a person, which is created if there is none. The key of
// an erased person is random and not stored.
func (w *logWriter) cipher(person Account) (cipher.AEAD, error) {
	if aead := w.ciphers[person]; aead != nil {
		return aead, nil
	}

	aead, err := kv.Shared(w.tx, PersonKeys, person, func() (cipher.AEAD, error) {
		key, err := KeyByPerson.Get(w.tx, person.Person())
		if err != nil {
			return nil, err
		}
		return key.cipher()
	})
	if IsDamage(err) { // sealed without a reader: writes about this person continue
		w.tx.NoteDamage(err)
		if aead, err = newPersonKey(person).cipher(); err == nil {
			w.remember(person, aead)
		}
		return aead, err
	}
	if errs.Is(err, errs.NotFound) {
		key := newPersonKey(person)
		if aead, err = key.cipher(); err == nil && (person.exists(w.tx) || w.deletes(person)) {
			err = PersonKeys.Create(w.tx, key)
		}
	}
	if err == nil {
		w.remember(person, aead)
	}

	return aead, err
}

func newPersonKey(who Account) *PersonKey {
	key := &PersonKey{Key: make([]byte, 32)}
	key.UserID, key.AppUserID = who.IDs()
	rand.Read(key.Key) // never fails: crypto/rand crashes the program instead
	return key
}

func (k *PersonKey) cipher() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.Key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// ReadLogged returns the JSON of a value in the change log. known is false for a secret, and for
// personal data of a person who was erased.
func ReadLogged(tx *Tx, v audit.Value) (text json.RawMessage, known bool, err error) {
	return NewLogReader(tx).Read(v)
}

// LogReader reads values of the change log. It keeps the ciphers of persons, since most values of
// many entries are about a few of them, so it must not outlive its transaction.
type LogReader struct {
	tx      *Tx
	ciphers map[string]cipher.AEAD // nil for an erased person, and for a damaged key

	damaged map[string]bool // persons whose key is damaged
	unread  int
}

// Damaged returns the number of values that could not be read because the key of a person is
// damaged. They are shown like those of a person who was erased.
func (r *LogReader) Damaged() int { return r.unread }

// NewLogReader returns a LogReader for a transaction without an erasure.
func NewLogReader(tx *Tx) *LogReader { return &LogReader{tx: tx} }

// Read is ReadLogged.
func (r *LogReader) Read(v audit.Value) (text json.RawMessage, known bool, err error) {
	if v.Box == nil {
		return v.Plain, v.Plain != nil, nil
	}

	aead, err := r.cipher(v.Person)
	if r.damaged[v.Person] {
		r.unread++
	}
	if err != nil || aead == nil {
		return nil, false, err
	}

	text, err = aead.Open(nil, nil, v.Box, []byte(v.Person))
	if err != nil {
		return nil, false, nil // sealed with the key of an earlier generation
	}

	return text, true, nil
}

func (r *LogReader) cipher(person string) (aead cipher.AEAD, err error) {
	if aead, found := r.ciphers[person]; found {
		return aead, nil
	}

	key, err := KeyByPerson.Get(r.tx, person)
	if err == nil {
		aead, err = key.cipher()
	}
	if IsDamage(err) {
		r.tx.NoteDamage(err)
		if err = nil; r.damaged == nil {
			r.damaged = map[string]bool{}
		}
		r.damaged[person] = true
	}
	if err = ignoreMissing(err); err != nil {
		return nil, err
	}
	if r.ciphers == nil {
		r.ciphers = map[string]cipher.AEAD{}
	}

	r.ciphers[person] = aead
	return aead, nil
}

func ignoreMissing(err error) error {
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}
