package servertest

import (
	"encoding/json"
	"fmt"

	"reeve/store"
	"reeve/store/audit"
	"reeve/store/disk/disktest"
	"reeve/store/kv"
)

// EntriesSince returns the entries of the change log with numbers above seq.
func (in *Instance) EntriesSince(seq uint64) (entries []audit.Entry) {
	in.T.Helper()
	in.View(func(tx *store.Tx) error {
		return tx.LogRows(seq+1, func(row audit.Row) bool {
			e, err := row.Decode()
			Must(in.T, err)
			entries = append(entries, e)
			return true
		})
	})
	return entries
}

// NewestEntry returns the number of the newest entry of the change log.
func (in *Instance) NewestEntry() uint64 { return in.DB.LogHead().Seq }

// Undo undoes an entry of the change log as a caller.
func (in *Instance) Undo(seq uint64, as string) *Reply {
	in.T.Helper()
	return in.Call("POST", fmt.Sprintf("/system/audit/%d/undo", seq), "", as)
}

// State returns the records that undoing restores, without what each write changes.
func (in *Instance) State() map[string]kv.Fields {
	in.T.Helper()
	all := map[string]kv.Fields{}
	in.View(func(tx *store.Tx) error {
		for name, subject := range store.Accesses() {
			if subject.Update == "" {
				continue
			}
			for id := store.ID(1); id < 200; id++ {
				if !subject.Table.Exists(tx, id) {
					continue
				}

				fields, err := subject.Table.FieldsOf(tx, id)
				if err != nil {
					return err
				}

				for _, follows := range []string{"updated_at", "version", "login_ip", "login_time",
					"must_change_password"} {
					delete(fields, follows)
				}

				if at := fields["trashed_at"]; at != nil && string(at) != "null" {
					fields["trashed_at"] = json.RawMessage("a time")
				}

				all[fmt.Sprint(name, " ", id)] = fields
			}
		}
		return nil
	})
	return all
}

// SameState checks that all records are as State returned them.
func (in *Instance) SameState(what string, want map[string]kv.Fields) {
	in.T.Helper()
	got := in.State()
	for name := range want {
		disktest.Equal(in.T, what+": "+name, texts(got[name]), texts(want[name]))
	}
	for name := range got {
		if want[name] == nil {
			in.T.Errorf("%s: %s exists", what, name)
		}
	}
}

func texts(fields kv.Fields) map[string]string {
	all := map[string]string{}
	for name, value := range fields {
		all[name] = string(value)
	}
	return all
}
