package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reeve/store/audit"
	"reeve/store/disk/disktest"
	"reeve/store/kv"
)

// loggedRecords returns the records of a collection as JSON, by ID.
func loggedRecords(tx *Tx, table kv.Table) (map[ID][]byte, error) {
	all := map[ID][]byte{}
	for v, err := range table.Records(tx) {
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		all[reflect.ValueOf(v).Elem().FieldByName("ID").Interface().(ID)] = text
	}
	return all, nil
}

// logReplay is the state of the database as the change log tells it: each logged field of each
// record, a hash for a secret.
type logReplay struct {
	records map[string]map[string]string // by collection and ID; fields by name
	through uint64                       // number of the last entry
}

// recordName names a record in a logReplay.
func recordName(collection string, id uint64) string { return fmt.Sprint(collection, " ", id) }

// stateOf returns the state of the database from its records.
func stateOf(tx *Tx) (map[string]map[string]string, error) {
	state, w := map[string]map[string]string{}, logWriter{tx: tx}
	for _, table := range reeve.Tables {
		fields := fieldsOf(table)
		if fields == nil {
			continue
		}

		all, err := loggedRecords(tx, table)
		if err != nil {
			return nil, err
		}

		for id, text := range all {
			record := membersOf(text)
			to := map[string]string{}
			for _, field := range slices.Sorted(maps.Keys(fields.byName)) {
				class := fields.byName[field].class
				value := record.get(field)
				if class == sealedField {
					value = w.unsealed(value, record)
				}
				if class == personalField {
					class = plainField
				}

				v, err := w.value(class, Account{}, value)
				if err != nil {
					return nil, err
				}
				if class != ignoredField && !v.IsZero() {
					to[field] = valueText(v)
				}
			}

			state[recordName(table.Name(), uint64(id))] = to
		}
	}
	return state, nil
}

func valueText(v audit.Value) string {
	if v.Hash != "" {
		return "hash " + v.Hash
	}
	return string(v.Plain)
}

// follow applies the entries since the last call, and reports an old value that is not the one
// before.
func (r *logReplay) follow(tx *Tx) error {
	var failed error
	open := func(v audit.Value) string {
		if v.Box == nil {
			return valueText(v)
		}
		text, known, err := ReadLogged(tx, v)
		if err != nil || !known {
			failed = fmt.Errorf("a sealed value cannot be read: %v", err)
		}
		return string(text)
	}
	err := tx.LogRows(r.through+1, func(row audit.Row) bool {
		e, err := row.Decode()
		if err != nil || row.Seq != r.through+1 {
			failed = fmt.Errorf("entry %d after %d: %v", row.Seq, r.through, err)
			return false
		}

		r.through = row.Seq
		for _, c := range e.Changes {
			name := recordName(c.Collection, c.ID)
			record := r.records[name]
			if (record == nil) != (c.Operation == "create") {
				failed = fmt.Errorf("entry %d: %s of %s", e.Seq, c.Operation, name)
				return false
			}
			if record == nil {
				record = map[string]string{}
				r.records[name] = record
			}

			for _, f := range c.Fields {
				if c.Operation == "delete" && slices.Contains(keptOfDeleted, f.Name) {
					continue
				}
				if old := open(f.Old); old != record[f.Name] {
					failed = fmt.Errorf("entry %d: %s: %s was %s, it says %s", e.Seq, name, f.Name,
						record[f.Name], old)
				}
				if record[f.Name] = open(f.New); record[f.Name] == "" {
					delete(record, f.Name)
				}
			}

			if c.Operation == "delete" {
				delete(r.records, name)
			}
		}

		return failed == nil
	})
	if err != nil {
		return err
	}

	return failed
}

// mustMatch fails unless the replayed log is the content of the database.
func (r *logReplay) mustMatch(t *testing.T, db *DB) {
	t.Helper()
	view(t, db, func(tx *Tx) error {
		if err := r.follow(tx); err != nil {
			return err
		}

		state, err := stateOf(tx)
		if err != nil {
			return err
		}

		for _, name := range slices.Sorted(maps.Keys(state)) {
			if !maps.Equal(state[name], r.records[name]) {
				return fmt.Errorf("%s is %v, the log says %v", name, state[name], r.records[name])
			}
		}

		if len(state) != len(r.records) {
			return fmt.Errorf("there are %d records, the log says %d", len(state), len(r.records))
		}

		return nil
	})
}

// newReplay begins with the state of a database, as a checkpoint.
func newReplay(t *testing.T, db *DB) *logReplay {
	t.Helper()
	r := &logReplay{through: db.LogHead().Seq}
	view(t, db, func(tx *Tx) (err error) { r.records, err = stateOf(tx); return err })
	return r
}

// A new field needs a decision: personal data and secrets must not be stored as they are.
func TestChangeLog_ClassOfEveryField(t *testing.T) {
	names := map[fieldClass]string{
		plainField:    "plain",
		personalField: "personal",
		secretField:   "secret",
		sealedField:   "sealed",
		ignoredField:  "ignored",
	}

	var lines []string
	for _, table := range reeve.Tables {
		if fields := fieldsOf(table); fields != nil {
			for _, name := range slices.Sorted(maps.Keys(fields.byName)) {
				lines = append(lines,
					fmt.Sprintf("%s.%s %s", table.Name(), name, names[fields.byName[name].class]))
			}
		}
	}

	got := strings.Join(lines, "\n") + "\n"
	const path = "testdata/log_fields.txt"
	if *updateSchema {
		disktest.WriteFile(t, path, []byte(got))
	}
	if want := string(disktest.ReadFile(t, path)); got != want {
		t.Errorf("the change log keeps new fields as below: give a field with personal data or a secret the tag log:\"personal\" or "+
			"log:\"secret\", then run go test ./store -run ClassOfEveryField -args -update:\n%s",
			cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
	}
}

// An entry says who did what, and neither personal data nor a secret is readable in the file.
func TestChangeLog_Entry(t *testing.T) {
	db := open(t, t.TempDir(), Options{})
	update(t, db, func(tx *Tx) error {
		return Users.Create(tx, &User{
			Username: "lovelace.ada",
			Email:    "ada@example.org",
			Status:   true,
		})
	})
	var user ID
	view(t, db, func(tx *Tx) error {
		u, err := UserByName.Get(tx, "lovelace.ada")
		user = u.ID
		return err
	})
	origin := &Origin{
		Operation: audit.Operation{Method: "PUT", Route: "/x/:id", Title: "Change"},
		RequestID: "r-1",
		Reason:    "asked to",
		SessionID: 7,
		User:      Account{ID: user},
	}
	handle := db.WithRecorder(nil).For("PUT /x/:id", nil).From(origin)
	noErr(t, handle.Update(System, func(tx *Tx) error {
		_, err := Users.Update(tx, user, func(u *User) error {
			u.Email = "lovelace@example.org"
			u.Status = false
			u.Status = true
			return nil
		})
		if err == nil {
			err = SetHash(tx, Account{ID: user}, "the hash", false, 0)
		}
		return err
	}))
	view(t, db, func(tx *Tx) error {
		var last audit.Row
		err := tx.LogRows(db.LogHead().Seq, func(row audit.Row) bool { last = row; return true })
		noErr(t, err)
		for _, text := range []string{"lovelace", "example.org", "the hash"} {
			if bytes.Contains(last.Text, []byte(text)) {
				t.Errorf("the entry has %q: %s", text, last.Text)
			}
		}

		e, err := last.Decode()
		noErr(t, err)
		disktest.Equal(t, "operation", e.Operation, origin.Operation)
		disktest.Equal(t, "actor", e.Actor.Key(), fmt.Sprint("user:", user))
		disktest.Equal(t, "reason", e.Reason+" "+e.RequestID, "asked to r-1")
		disktest.Equal(t, "changes", len(e.Changes), 2)
		name, known, err := ReadLogged(tx, e.Actor.Name)
		disktest.Equal(t, "name of the actor", fmt.Sprintf("%s %v %v", name, known, err),
			`"lovelace.ada" true <nil>`)
		f := e.Changes[0].Fields
		if len(f) != 1 || f[0].Name != "email" {
			t.Fatalf("fields: %+v", f)
		}

		old, _, err := ReadLogged(tx, f[0].Old)
		disktest.Equal(t, "old address", string(old), `"ada@example.org"`)
		return err
	})
}

// membersOf finds what decoding finds.
func TestRecordMembers(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"a":1}`, `{"id":1,"b":"x\\","c":"a\"},{","d":{"e":[1,"]}"]},"f":[],"g":null}`,
		`{"a":[{"b":1},{"c":","}],"d":-1.5e3,"e":"客"}`,
	} {
		var want map[string]json.RawMessage
		noErr(t, json.Unmarshal([]byte(text), &want))
		got := map[string]json.RawMessage{}
		for _, m := range membersOf([]byte(text)) {
			got[string(m.name)] = m.value
		}
		disktest.Equal(t, text, got, want)
	}
}

// A write function that fails, or changes nothing that is logged, has no entry.
func TestChangeLog_NoEntry(t *testing.T) {
	db := open(t, t.TempDir(), Options{})
	before := db.LogHead()
	for name, fn := range map[string]func(tx *Tx) error{
		"it fails after it has written": func(tx *Tx) error {
			if err := Depts.Create(tx, &Dept{Name: "D"}); err != nil {
				return err
			}
			return errRefusedHalfway
		},
		"only a time of use changes": func(tx *Tx) error {
			return LoginLogs.Create(tx, &LoginLog{Realm: "admin", Result: LoginFailed})
		},
		"nothing": func(*Tx) error { return nil },
	} {
		_ = db.Update(System, fn) // one of them fails
		disktest.Equal(t, name, db.LogHead(), before)
	}

	update(t, db, func(tx *Tx) error { return Depts.Create(tx, &Dept{Name: "D"}) })
	disktest.Equal(t, "number of the next entry", db.LogHead().Seq, before.Seq+1)
}
