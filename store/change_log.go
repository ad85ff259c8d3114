package store

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"

	"reeve/store/audit"
	"reeve/store/kv"
)

// The change log has one entry for each write function that changes something. What it says about
// a field is declared by the tag `log` of the field:
//
//	log:"personal"   the value is sealed with the key of the person whom the record is about
//	log:"secret"     only a keyed hash of the value is stored
//	log:"-"          changes are not logged: counters, progress, times of use
//
// Values of all other fields are stored as they are.

// Origin is where a write comes from, for the change log. See kv.Handle.From.
type Origin struct {
	Kind      string // "cli" for a command; "" for a request or for work of the server
	Operation audit.Operation
	User      Account // who is signed in; the zero Account for nobody
	SessionID ID
	RequestID string
	Address   netip.Addr
	Reason    string
	JobID     ID
	Part      int
}

// unlogged are the collections whose changes are not in the change log: each is a log itself, or
// follows another record.
var unlogged = []kv.Table{LoginLogs, SessionTokens, JobSteps, PersonKeys, Erasures, WebhookSecrets, WebhookStates}

// LoggedTables returns the collections whose changes are in the change log.
func LoggedTables() []Table {
	return slices.DeleteFunc(slices.Clone(reeve.Tables), func(t kv.Table) bool { return slices.Contains(unlogged, t) })
}

// fieldClass is how the change log treats a field.
type fieldClass int

const (
	plainField fieldClass = iota
	personalField
	secretField
	sealedField // a secret that is encrypted in the record
	ignoredField
)

// loggedFields are the classes of the fields of a record type, by JSON name.
type loggedFields struct {
	class map[string]fieldClass
	name  string // of the field that is the display name; "" for none
}

// fieldsByType has the *loggedFields of each record type, by reflect.Type.
var fieldsByType sync.Map

// fieldsOf returns how the fields of a collection are logged; nil if its changes are not.
func fieldsOf(t kv.Table) *loggedFields {
	if slices.Contains(unlogged, t) {
		return nil
	}
	if f, ok := fieldsByType.Load(t.RecordType()); ok {
		return f.(*loggedFields)
	}
	f := classify(t.RecordType())
	fieldsByType.Store(t.RecordType(), f)
	return f
}

// keptOfDeleted are members that only the deletion of a record logs, so that it can be restored as it was.
var keptOfDeleted = []string{"created_at", "version"}

// nameFields are the fields that can be the display name of a record, the first that exists.
var nameFields = []string{"username", "title", "name", "label", "kind", "description"}

// classify reads the tags of a record type. The ID, the times and the version of a record are not
// logged as fields.
func classify(of reflect.Type) *loggedFields {
	fields := map[string]fieldClass{}
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch tag := f.Tag.Get("log"); {
		case f.Anonymous:
		case tag == "personal":
			fields[name] = personalField
		case f.Type == reflect.TypeFor[kv.Sealed]():
			fields[name] = sealedField
		case tag == "secret":
			fields[name] = secretField
		case tag == "-":
			fields[name] = ignoredField
		default:
			fields[name] = plainField
		}
	}
	logged := &loggedFields{class: fields}
	for _, name := range slices.Backward(nameFields) {
		if _, exists := fields[name]; exists {
			logged.name = name
		}
	}
	return logged
}

// logEntry returns the entry for the changes of a write function; nil if none of them is logged.
func logEntry(tx *Tx, changed []kv.RecordChange) (*audit.Entry, error) {
	w := logWriter{tx: tx, changed: changed}
	if err := w.takeDeletedKeys(); err != nil {
		return nil, err
	}
	e := &audit.Entry{}
	for _, c := range changed {
		change, logged, err := w.change(c)
		if err != nil {
			return nil, err
		}
		if logged {
			e.Changes = append(e.Changes, change)
		}
	}
	if e.Changes == nil && !tx.HasAction() {
		return nil, nil
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
	return e, w.actor(e, origin, changed)
}

// logWriter makes one entry.
type logWriter struct {
	tx      *Tx
	changed []kv.RecordChange
	keys    map[Account]*PersonKey
	secret  []byte // key of the hashes of secrets; nil until it is needed
}

// actor sets on whose behalf the entry was written. Auth opens sessions with system rights: the
// user who signs in is then the one whose session is created.
func (w *logWriter) actor(e *audit.Entry, origin *Origin, changed []kv.RecordChange) error {
	account, actor := origin.User, ActorOf(w.tx)
	if account.ID == 0 && !actor.system {
		account = Account{App: actor.App, ID: actor.ID}
	}
	if account.ID == 0 && origin.RequestID != "" {
		account = signedInBy(changed)
	}
	switch {
	case account.ID != 0:
		e.Actor = audit.Actor{Kind: account.kind(), ID: uint64(account.ID)}
	case origin.Kind != "":
		e.Actor.Kind = origin.Kind
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
		name, err = account.username(w.tx)
	}
	if err == nil && name != "" {
		e.Actor.Name, err = w.personal(account, jsonText(name))
	}
	if err == nil && origin.Address.IsValid() {
		e.Address, err = w.personal(account, jsonText(origin.Address.String()))
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
				return accountOf(s.UserID, s.AppUserID)
			}
		}
	}
	return Account{}
}

// accountOf returns the account of a record with one ID for each realm.
func accountOf(user, appUser ID) Account {
	if appUser != 0 {
		return Account{App: true, ID: appUser}
	}
	return Account{ID: user}
}

// kind returns the kind of an actor in the change log.
func (a Account) kind() string {
	if a.App {
		return "app_user"
	}
	return "user"
}

// exists reports whether there is a record of the user.
func (a Account) exists(tx *Tx) bool {
	if a.App {
		return AppUsers.Exists(tx, a.ID)
	}
	return Users.Exists(tx, a.ID)
}

// username returns the name of a user; "" if the user does not exist any more.
func (a Account) username(tx *Tx) (string, error) {
	if a.App {
		u, err := AppUsers.Get(tx, a.ID)
		if err != nil {
			return "", ignoreMissing(err)
		}
		return u.Username, nil
	}
	u, err := Users.Get(tx, a.ID)
	if err != nil {
		return "", ignoreMissing(err)
	}
	return u.Username, nil
}

// change describes the change of one record. logged is false if nothing of it is logged.
func (w *logWriter) change(c kv.RecordChange) (change audit.Change, logged bool, err error) {
	fields := fieldsOf(c.Table)
	if fields == nil || c.Old == nil && c.New == nil {
		return change, false, nil
	}
	var old, new members
	var room [2][24]member // not on the heap
	if c.Old != nil {
		old = appendMembers(room[0][:0], c.Old)
	}
	if c.New != nil {
		new = appendMembers(room[1][:0], c.New)
	}
	change = audit.Change{Collection: c.Table.Name(), ID: uint64(c.ID), Operation: operationOf(c)}
	record := new
	if record == nil {
		record = old
	}
	person := personOf(c, record)
	for i := range record {
		before, after := old.like(record, i), new.like(record, i)
		if bytes.Equal(before, after) {
			continue
		}
		class, exists := fields.class[string(record[i].name)]
		if !exists || class == ignoredField {
			continue
		}
		if class == sealedField {
			before, after = w.unsealed(before, old), w.unsealed(after, new)
			if bytes.Equal(before, after) {
				continue
			}
		}
		f := audit.Field{Name: string(record[i].name)}
		if f.Old, err = w.value(class, person, before); err == nil {
			f.New, err = w.value(class, person, after)
		}
		if err != nil {
			return change, false, err
		}
		change.Fields = append(change.Fields, f)
	}
	if change.Operation == "update" && change.Fields == nil {
		return change, false, nil
	}
	if change.Operation == "delete" {
		for _, name := range keptOfDeleted {
			if value := old.get(name); value != nil {
				change.Fields = append(change.Fields, audit.Field{Name: name, Old: audit.Value{Plain: value}})
			}
		}
	}
	if fields.name != "" {
		change.Name, err = w.value(fields.class[fields.name], person, record.get(fields.name))
	}
	return change, true, err
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

// personOf returns whom a record is about; the zero Account for nobody.
func personOf(c kv.RecordChange, record members) Account {
	switch c.Table {
	case kv.Table(Users):
		return Account{ID: c.ID}
	case kv.Table(AppUsers):
		return Account{App: true, ID: c.ID}
	}
	return accountOf(max(record.id("user_id"), record.id("uploader_id")), record.id("app_user_id"))
}

// value returns the form in which a value is logged.
func (w *logWriter) value(class fieldClass, person Account, text json.RawMessage) (audit.Value, error) {
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
