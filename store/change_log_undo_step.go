package store

import (
	"encoding/json"
	"maps"
	"slices"
	"sort"

	"reeve/store/errs"
	"reeve/store/kv"
)

// UndoStep is the inverse of the change of one record.
type UndoStep struct {
	Collection string    `json:"collection"`
	ID         ID        `json:"id"`
	Operation  string    `json:"operation"` // operation of the step: create, update or delete
	Fields     kv.Fields `json:"fields,omitempty"`
	Expect     kv.Fields `json:"expect,omitempty"`   // values that the record must still have
	Personal   []string  `json:"personal,omitempty"` // fields whose values an error must not show
	Follows    bool      `json:"follows,omitempty"`  // belongs to another step, whose permissions are enough: see ofGroup
}

// Conflicts returns which of the expected values have changed since. The error is that of Update if
// the actor may not change the record, so that it reveals no values of a record outside the data
// scope.
func (s *UndoStep) Conflicts(tx *Tx) (conflicts []UndoConflict, err error) {
	table := tableNamed(s.Collection)
	exists := table.Exists(tx, s.ID)
	switch {
	case !exists && s.Operation == "create":
		return nil, nil
	case !exists:
		return []UndoConflict{{Collection: s.Collection, ID: s.ID}}, nil
	case s.Operation == "create":
		return []UndoConflict{{Collection: s.Collection, ID: s.ID,
			Current: json.RawMessage("true")}}, nil
	}

	if err := table.ValidateFields(tx, s.ID, nil); err != nil { // changes nothing: only the authorization remains
		return nil, err
	}

	is, err := table.FieldsOf(tx, s.ID)
	if err != nil {
		return nil, err
	}
	return s.differences(is), nil
}

// conflictsAfter is Conflicts for a record that earlier steps of the plan change.
func (s *UndoStep) conflictsAfter(tx *Tx, left *undoneRecord) ([]UndoConflict, error) {
	switch {
	case left.deleted && s.Operation == "create":
		return nil, nil
	case left.deleted:
		return []UndoConflict{{Collection: s.Collection, ID: s.ID}}, nil
	case s.Operation == "create":
		return []UndoConflict{{Collection: s.Collection, ID: s.ID, Current: json.RawMessage("true")}}, nil
	}

	is := kv.Fields{}
	if !left.created && tableNamed(s.Collection).Exists(tx, s.ID) { // a deletion since is a conflict of the first step
		var err error
		if is, err = tableNamed(s.Collection).FieldsOf(tx, s.ID); err != nil {
			return nil, err
		}
	}
	maps.Copy(is, left.fields)
	return s.differences(is), nil
}

// differences returns the expected values that a record lacks.
func (s *UndoStep) differences(is kv.Fields) (conflicts []UndoConflict) {
	for name, expected := range s.Expect {
		if !sameJSON(is[name], expected) {
			personal := slices.Contains(s.Personal, name)
			conflicts = append(conflicts,
				UndoConflict{s.Collection, s.ID, name, expected, is[name], personal})
		}
	}

	sort.Slice(conflicts, func(i, j int) bool { return conflicts[i].Field < conflicts[j].Field })
	return conflicts
}

// Validate returns the error with which Apply would fail before other steps are applied. It writes
// nothing.
func (s *UndoStep) Validate(tx *Tx) error {
	table := tableNamed(s.Collection)
	switch s.Operation {
	case "create":
		return table.ValidateRecreate(tx, s.ID, s.Fields)
	case "delete":
		if s.Collection == CustomFields.Name() {
			return nil // its values are removed first, see Apply
		}
		return table.ValidateDelete(tx, s.ID)
	}
	return table.ValidateFields(tx, s.ID, s.Fields)
}

// Weight returns the number of records that Apply is expected to change: deleting or disabling a
// user ends the sessions.
func (s *UndoStep) Weight(tx *Tx) (int, error) {
	app := s.Collection == AppUsers.Name()
	if !app && s.Collection != Users.Name() || s.Operation == "create" ||
		s.Operation == "update" && !s.disables() {
		return 1, nil
	}

	open, err := CountSessions(tx, Account{App: app, ID: s.ID})
	if err != nil || s.Operation != "delete" {
		return 1 + open, err
	}

	sent, err := ByRealm(app, MailByUser, MailByAppUser).Count(tx, s.ID)
	if err != nil {
		return 0, err
	}

	made, err := ByRealm(app, LinkByUser, LinkByAppUser).Count(tx, s.ID)
	return 1 + open + sent + made + 4 + MaxPasskeys, err // also the password, the picture, the second factors and recovery codes
}

// disables reports whether the step disables a user.
func (s *UndoStep) disables() bool {
	status, set := s.Fields["status"]
	return set && string(status) != "1"
}

// Inverse returns the step that reverts this one. It must be called before Apply.
func (s *UndoStep) Inverse(tx *Tx) (inverse UndoStep, err error) {
	inverse = UndoStep{Collection: s.Collection, ID: s.ID, Operation: "update"}
	if s.Operation == "create" {
		inverse.Operation = "delete"
		return inverse, nil
	}

	is, err := tableNamed(s.Collection).FieldsOf(tx, s.ID)
	if s.Operation == "delete" && s.Collection != Files.Name() {
		inverse.Operation, inverse.Fields = "create", is
		return inverse, err
	}

	inverse.Fields = kv.Fields{}
	for name := range s.Fields {
		inverse.Fields[name] = is[name]
	}

	if s.Operation == "delete" { // a file is in the trash then
		inverse.Fields["trashed_at"] = json.RawMessage("null")
	}

	return inverse, err
}

// Apply makes the change of the step.
func (s *UndoStep) Apply(tx *Tx) error {
	table := tableNamed(s.Collection)
	switch s.Operation {
	case "create":
		if err := s.protectReserved(tx); err != nil {
			return err
		}
		return table.Recreate(tx, s.ID, s.Fields)
	case "delete":
		if s.Collection == Files.Name() {
			return TrashFile(tx, s.ID)
		}
		if s.Collection == CustomFields.Name() {
			return DeleteCustomField(tx, s.ID) // with its values
		}
		return table.Delete(tx, s.ID)
	}

	switch s.Collection {
	case Settings.Name():
		_, err := SaveSetting(tx, s.ID, func(v *Setting) error { return assignFields(v, s.Fields) })
		return err
	case Files.Name():
		return s.applyFile(tx)
	}

	if err := table.SetFields(tx, s.ID, s.Fields); err != nil {
		return err
	}
	if app := s.Collection == AppUsers.Name(); s.disables() &&
		(app || s.Collection == Users.Name()) {
		return EndSessions(tx, Account{App: app, ID: s.ID}, 0)
	}

	return nil
}

// protectReserved returns an error for a permission of a group of settings that does not exist,
// unless the group returns, too: a later group with its key would adopt the permission, with its
// grants.
func (s *UndoStep) protectReserved(tx *Tx) error {
	if s.Collection != Permissions.Name() || s.Follows {
		return nil
	}
	var key string
	if err := json.Unmarshal(s.Fields["key"], &key); err != nil || groupOfPermission(key) == "" {
		return nil // a text that is not one is a fault of the record
	}
	_, err := SettingGroupByKey.Get(tx, groupOfPermission(key))
	if errs.Is(err, errs.NotFound) {
		return reservedKey(key)
	}
	return err
}

// applyFile moves a file into or out of the trash, returns to an earlier content, and sets its other
// fields.
func (s *UndoStep) applyFile(tx *Tx) error {
	rest := kv.Fields{}
	for name, value := range s.Fields {
		rest[name] = value
	}

	_, moves := rest["trashed_at"]
	delete(rest, "trashed_at")
	if s.Trashes() {
		return TrashFile(tx, s.ID) // removes the URL; the folder stays
	}
	if moves {
		if _, err := RestoreFile(tx, s.ID); err != nil {
			return err
		}
	}
	if digest, replaces := rest["digest"]; replaces {
		if err := useContent(tx, s.ID, digest); err != nil {
			return err
		}
		for _, name := range contentFields {
			delete(rest, name)
		}
	}
	if len(rest) == 0 {
		return nil
	}

	return Files.SetFields(tx, s.ID, rest)
}

// Trashes reports whether the step moves a file to the trash.
func (s *UndoStep) Trashes() bool {
	at, moves := s.Fields["trashed_at"]
	var time Time
	return moves && (json.Unmarshal(at, &time) != nil || time != 0)
}

func assignFields(v any, fields kv.Fields) error {
	text, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	return err
}
