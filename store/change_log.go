package store

import (
	"bytes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"

	"reeve/store/audit"
	"reeve/store/kv"
)

// The change log has one entry for each write function that changes something. The tag `log` of a
// field declares its form in the log:
//
//	log:"personal"   the value is sealed with the key of the person whom the record is about
//	log:"secret"     only a keyed hash of the value is stored
//	log:"-"          changes are not logged: counters, progress, times of use
//
// Values of all other fields are stored as they are.

// Origin is where a write comes from, for the change log. See kv.Handle.From.
type Origin struct {
	Kind      string // "cli" for a command; "" for a request or for work of the server
	Name      string // name of who called the command; "" if unknown
	Operation audit.Operation
	User      Account   // signed-in account; zero if none
	As        ID        // user impersonated by User; 0 if none
	Key       *KeyLimit // the API key that acts for the user; nil for the user
	SessionID ID
	RequestID string
	Address   netip.Addr
	Reason    string
	JobID     ID
	Part      int
}

// Tables returns all collections.
func Tables() []kv.Table { return slices.Clone(reeve.Tables) }

// LoggedTables returns the collections whose changes are in the change log.
func LoggedTables() []kv.Table {
	return slices.DeleteFunc(slices.Clone(reeve.Tables), func(t kv.Table) bool {
		return !t.IsLogged()
	})
}

// logEntry describes the changes of a write function in e; logged is false if none of them is
// logged.
func logEntry(tx *Tx, changed []kv.RecordChange, e *audit.Entry) (logged bool, err error) {
	w := logWriter{tx: tx, changed: changed}
	if err := w.takeDeletedKeys(); err != nil {
		return false, err
	}

	for _, c := range changed {
		if fields := fieldsOf(c.Table); fields != nil {
			logged, err := w.change(e.NextChange(), fields, c)
			if err != nil {
				return false, err
			}
			if !logged {
				e.DropChange()
			}
		}
	}

	if len(e.Changes) == 0 && !tx.HasAction() {
		return false, nil
	}

	origin, _ := tx.Origin().(*Origin)
	if origin == nil {
		origin = &Origin{}
	}

	e.Operation, e.RequestID, e.Reason = origin.Operation, origin.RequestID, origin.Reason
	e.SessionID, e.JobID, e.Part = uint64(origin.SessionID), uint64(origin.JobID), origin.Part
	if e.Operation.Title == "" {
		e.Operation.Title = tx.Operation()
	}

	return true, w.actor(e, origin, changed)
}

// logWriter makes one entry.
type logWriter struct {
	tx      *Tx
	changed []kv.RecordChange
	ciphers map[Account]cipher.AEAD // ciphers with the keys of persons
	secret  []byte                  // key of the hashes of secrets; nil until it is needed
}

// actor sets on whose behalf the entry was written. Auth opens sessions with system rights: the
// user who signs in is then the one whose session is created.
func (w *logWriter) actor(e *audit.Entry, origin *Origin, changed []kv.RecordChange) error {
	account, actor, as := origin.User, ActorOf(w.tx), origin.As
	if actor.By != nil {
		actor, as = actor.By, actor.ID
	}
	if as != 0 {
		name, err := Account{ID: as}.Username(w.tx)
		if err == nil {
			e.As = audit.Actor{Kind: "user", ID: uint64(as)}
			e.As.Name, err = w.sharedPersonal(Account{ID: as}, name)
		}
		if err != nil {
			return err
		}
	}
	if account.ID == 0 && !actor.system {
		account = Account{App: actor.App, ID: actor.ID}
	}
	if account.ID == 0 && origin.RequestID != "" {
		account = signedInBy(changed)
	}

	key := origin.Key
	if key == nil {
		key = actor.Key
	}

	switch {
	case actor.operator:
		e.Actor = audit.Actor{Kind: "cli", Name: audit.Value{Plain: jsonText(actor.Username)}}
		return nil
	case key != nil:
		e.Actor = audit.Actor{
			Kind: "key",
			ID:   uint64(key.ID),
			Name: audit.Value{Plain: jsonText(key.Name)},
		}
		if origin.Address.IsValid() && account.ID != 0 {
			var err error
			e.Address, err = w.sharedPersonal(account, origin.Address.String())
			return err
		}
		return nil
	case account.ID != 0:
		e.Actor = audit.Actor{Kind: account.Kind(), ID: uint64(account.ID)}
	case origin.Kind != "":
		e.Actor.Kind = origin.Kind
		if origin.Name != "" {
			e.Actor.Name = audit.Value{Plain: jsonText(origin.Name)}
		}
	case origin.RequestID != "":
		e.Actor.Kind = "anonymous"
	default:
		e.Actor.Kind = "system"
	}

	if account.ID == 0 {
		return nil
	}

	name, err := actor.Username, error(nil)
	if actor.system {
		name, err = account.Username(w.tx)
	}
	if err == nil && name != "" {
		e.Actor.Name, err = w.sharedPersonal(account, name)
	}
	if err == nil && origin.Address.IsValid() {
		e.Address, err = w.sharedPersonal(account, origin.Address.String())
	}

	return err
}

// signedInBy returns the user whose session is among the created records; the zero Account for
// none.
func signedInBy(changed []kv.RecordChange) Account {
	for _, c := range changed {
		if c.Table == kv.Table(Sessions) && c.Old == nil {
			var s Session
			if json.Unmarshal(c.New, &s) == nil {
				return s.Account()
			}
		}
	}
	return Account{}
}

// Kind returns the kind of an account as an actor in the change log.
func (a Account) Kind() string { return ByRealm(a.App, "user", "app_user") }

// change describes the change of one record in to, which is empty. logged is false if nothing of it
// is logged.
func (w *logWriter) change(to *audit.Change, fields *loggedFields,
	c kv.RecordChange) (logged bool, err error) {
	if c.Old == nil && c.New == nil {
		return false, nil
	}

	var old, new members
	var room [2][24]member // not on the heap
	if c.Old != nil {
		old = appendMembers(room[0][:0], c.Old)
	}
	if c.New != nil {
		new = appendMembers(room[1][:0], c.New)
	}

	to.Collection, to.ID, to.Operation = c.Table.Name(), uint64(c.ID), operationOf(c)
	record := new
	if record == nil {
		record = old
	}

	person := fields.personOf(c, record)
	for i := range record {
		before, after := old.like(record, i), new.like(record, i)
		if bytes.Equal(before, after) || before == nil && c.Old != nil && isEmptyJSON(after) {
			continue // the latter is a field that the type did not have when the record was stored
		}

		field, exists := fields.byName[string(record[i].name)]
		if !exists || field.class == ignoredField {
			continue
		}
		if field.class == sealedField {
			before, after = w.unsealed(before, old), w.unsealed(after, new)
			if bytes.Equal(before, after) {
				continue
			}
		}

		f := audit.Field{Name: field.name}
		if f.Old, err = w.value(field.class, person, before); err == nil {
			f.New, err = w.value(field.class, person, after)
		}
		if err != nil {
			return false, err
		}

		to.Fields = append(to.Fields, f)
	}

	if to.Operation == "update" && len(to.Fields) == 0 {
		return false, nil
	}
	if to.Operation == "delete" {
		for _, name := range keptOfDeleted {
			if value := old.get(name); value != nil {
				to.Fields = append(to.Fields,
					audit.Field{Name: name, Old: audit.Value{Plain: value}})
			}
		}
	}
	if fields.name != "" {
		to.Name, err = w.value(fields.byName[fields.name].class, person, record.get(fields.name))
	}

	return true, err
}

// unsealed returns the JSON of the text of an encrypted secret, so that equal secrets get equal
// hashes. One that cannot be decrypted is returned as it is.
func (w *logWriter) unsealed(value json.RawMessage, record members) json.RawMessage {
	var sealed kv.Sealed
	if value == nil || json.Unmarshal(value, &sealed) != nil {
		return value
	}
	text, err := w.tx.Unseal(secretPlace(record.id("setting_id")), sealed)
	if err != nil {
		return value
	}
	return jsonText(text)
}

func operationOf(c kv.RecordChange) string {
	switch {
	case c.Old == nil:
		return "create"
	case c.New == nil:
		return "delete"
	}
	return "update"
}

// personOf returns the person of a record; the zero Account if none.
func (f *loggedFields) personOf(c kv.RecordChange, record members) Account {
	switch c.Table {
	case kv.Table(Users):
		return Account{ID: c.ID}
	case kv.Table(AppUsers):
		return Account{App: true, ID: c.ID}
	}
	if !f.person {
		return Account{}
	}
	return accountOf(max(record.id("user_id"), record.id("uploader_id")), record.id("app_user_id"))
}

// value returns the form in which a value is logged.
func (w *logWriter) value(class fieldClass, person Account,
	text json.RawMessage) (audit.Value, error) {
	switch {
	case text == nil:
		return audit.Value{}, nil
	case class == secretField, class == sealedField:
		return w.hashed(text)
	case class == personalField && person.ID != 0 && !isEmptyJSON(text):
		return w.personal(person, text)
	}
	return audit.Value{Plain: text}, nil
}

// isEmptyJSON reports whether a value tells nothing about a person.
func isEmptyJSON(text json.RawMessage) bool {
	return string(text) == `""` || string(text) == "0" || string(text) == "null"
}

// hashed returns the keyed hash of a secret, which tells only whether two secrets are equal.
func (w *logWriter) hashed(text json.RawMessage) (audit.Value, error) {
	if isEmptyJSON(text) {
		return audit.Value{Plain: text}, nil
	}
	if w.secret == nil {
		install, err := Installs.Get(w.tx, 1)
		if err != nil {
			return audit.Value{}, err
		}
		mac := hmac.New(sha256.New, install.PasswordKey)
		mac.Write([]byte("change log")) // a hash never fails
		w.secret = mac.Sum(nil)
	}

	mac := hmac.New(sha256.New, w.secret)
	mac.Write(text)
	return audit.Value{Hash: hex.EncodeToString(mac.Sum(nil)[:16])}, nil
}

func jsonText(s string) json.RawMessage {
	text, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprint("store: a string cannot be encoded: ", err))
	}
	return text
}
