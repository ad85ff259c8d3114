package store

import (
	"bytes"
	"encoding/json"
	"slices"

	"reeve/store/audit"
	"reeve/store/errs"
	"reeve/store/kv"
)

// Undoing an entry of the change log applies the inverse of each of its changes, the last one
// first, through the same rules as any other write. It is refused if one of the values has changed
// since. Some things cannot come back, because the log does not have them: see UndoLost.

// undoTable returns a collection whose changes can be undone; nil if they cannot.
func undoTable(name string) kv.Table {
	i := slices.IndexFunc(reeve.Tables, func(t kv.Table) bool {
		return t.Name() == name && t.IsUndoable()
	})
	if i < 0 {
		return nil
	}
	return reeve.Tables[i]
}

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

// UndoConflict is a value that has changed since.
type UndoConflict struct {
	Collection string
	ID         ID
	Field      string // "" if the record itself was deleted or exists again
	Expected   json.RawMessage
	Current    json.RawMessage // nil if the record was deleted
	Personal   bool
}

// Losses that undoing cannot bring back.
const (
	LostPassword = "password"
	LostSession  = "session"
	LostFactor   = "second_factor"
	LostAvatar   = "avatar"
	LostSecret   = "secret"       // value of a secret setting
	LostURL      = "public_url"   // address of a public file: it gets another one
	LostContent  = "file_content" // a file that was deleted permanently
	LostErased   = "erased"       // personal data of an erased person
)

// UndoLost is a loss that undoing cannot bring back.
type UndoLost struct {
	Collection string `json:"collection" doc:"Collection of the record that it belongs to"`
	ID         ID     `json:"id" doc:"ID of that record"`
	What       string `json:"what" enum:"undo_lost" doc:"What can't come back: password, session, avatar, secret, public_url, file_content or erased"`
}

// UndoPlan is how entries can be undone.
type UndoPlan struct {
	Steps []UndoStep
	Lost  []UndoLost
}

// PlanUndo returns how entries, the newest first, can be undone. It writes nothing.
func PlanUndo(tx *Tx, entries []*audit.Entry) (*UndoPlan, error) {
	p := &undoPlanner{tx: tx}
	for _, e := range entries {
		for i := range slices.Backward(e.Changes) {
			if err := p.change(e, &e.Changes[i]); err != nil {
				return nil, err
			}
		}
	}
	return &p.plan, nil
}

// ofGroup reports whether a change of a permission followed from that of its group of settings.
func ofGroup(e *audit.Entry, c *audit.Change) bool {
	return c.Collection == Permissions.Name() &&
		slices.ContainsFunc(e.Changes, func(other audit.Change) bool {
			return other.Collection == SettingGroups.Name()
		})
}

type undoPlanner struct {
	tx   *Tx
	plan UndoPlan
}

func (p *undoPlanner) lose(c *audit.Change, what string) {
	lost := UndoLost{c.Collection, ID(c.ID), what}
	if !slices.Contains(p.plan.Lost, lost) {
		p.plan.Lost = append(p.plan.Lost, lost)
	}
}

// change adds the inverse of a change. Permissions follow their group of settings again, except
// that a deleted one comes back itself, with its ID, so that roles can have it again.
func (p *undoPlanner) change(e *audit.Entry, c *audit.Change) error {
	follows := ofGroup(e, c)
	if follows && c.Operation != "delete" {
		return nil
	}
	if undoTable(c.Collection) == nil {
		p.follower(c)
		return nil
	}
	step := UndoStep{
		Collection: c.Collection,
		ID:         ID(c.ID),
		Fields:     kv.Fields{},
		Expect:     kv.Fields{},
		Follows:    follows,
	}
	var err error
	switch c.Operation {
	case "create":
		step.Operation = "delete"
		err = p.values(c, &step, nil)
	case "delete":
		step.Operation = "create"
		err = p.values(c, &step, func(name string, old json.RawMessage) { step.Fields[name] = old })
		if err == nil && !p.restorable(c, &step) {
			return nil
		}
	default:
		step.Operation = "update"
		err = p.values(c, &step, func(name string, old json.RawMessage) { step.Fields[name] = old })
		if len(step.Fields) == 0 {
			return err
		}
	}
	p.plan.Steps = append(p.plan.Steps, step)
	return err
}

// follower notes what is lost with a record that follows another one.
func (p *undoPlanner) follower(c *audit.Change) {
	if c.Operation == "create" {
		return
	}
	switch c.Collection {
	case PasswordHashes.Name():
		p.lose(c, LostPassword)
	case Sessions.Name():
		if c.Operation == "delete" && !slices.ContainsFunc(p.plan.Lost, func(l UndoLost) bool {
			return l.What == LostSession
		}) {
			p.lose(c, LostSession)
		}
	case Avatars.Name():
		p.lose(c, LostAvatar)
	case SettingSecrets.Name():
		p.lose(c, LostSecret)
	case TOTPs.Name(), Passkeys.Name():
		p.lose(c, LostFactor)
	}
}

// values sets the values that a record must still have, and calls restore for the values to set.
func (p *undoPlanner) values(c *audit.Change, step *UndoStep,
	restore func(name string, old json.RawMessage)) error {
	for i := range c.Fields {
		f := &c.Fields[i]
		if lost, skip := p.skips(c, f); skip {
			if lost != "" {
				p.lose(c, lost)
			}
			continue
		}
		old, known, err := ReadLogged(p.tx, f.Old)
		if err != nil {
			return err
		}
		if !known && !f.Old.IsZero() {
			p.lose(c, LostErased)
			continue
		}
		now, known, err := ReadLogged(p.tx, f.New)
		if err != nil {
			return err
		}
		if known {
			step.Expect[f.Name] = now
		}
		if f.Old.Box != nil || f.New.Box != nil {
			step.Personal = append(step.Personal, f.Name)
		}
		if restore != nil && old != nil {
			restore(f.Name, old)
		}
	}
	return nil
}

// skips reports whether a field stays as it is, and the loss.
func (p *undoPlanner) skips(c *audit.Change, f *audit.Field) (lost string, skip bool) {
	switch {
	case f.Name == "must_change_password": // follows the password
		return "", true
	case f.Name == "avatar_id", f.Name == "avatar_key":
		if c.Operation == "update" {
			lost = LostAvatar
		}
		return lost, true
	case f.Old.Hash != "" && c.Collection == Files.Name():
		return LostURL, true
	case f.Old.Hash != "":
		return LostSecret, true
	case c.Collection == Settings.Name() && f.Name == "values" &&
		string(f.Old.Plain) == string(jsonText(SecretMask)):
		return LostSecret, true
	}
	return "", false
}

// restorable completes the fields of a record that was deleted, and reports whether it can return.
func (p *undoPlanner) restorable(c *audit.Change, step *UndoStep) bool {
	switch c.Collection {
	case Files.Name():
		p.lose(c, LostContent)
		return false
	case Users.Name(), AppUsers.Name():
		if _, known := step.Fields["username"]; !known {
			return false
		}
		step.Fields["must_change_password"] = json.RawMessage("1")
	}
	return true
}

// Conflicts returns which of the expected values have changed since. The error is that of Update if
// the actor may not change the record, so that it reveals no values of a record outside the data
// scope.
func (s *UndoStep) Conflicts(tx *Tx) (conflicts []UndoConflict, err error) {
	table := undoTable(s.Collection)
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
	for name, expected := range s.Expect {
		if !sameJSON(is[name], expected) {
			personal := slices.Contains(s.Personal, name)
			conflicts = append(conflicts,
				UndoConflict{s.Collection, s.ID, name, expected, is[name], personal})
		}
	}
	slices.SortFunc(conflicts, func(a, b UndoConflict) int {
		return bytes.Compare([]byte(a.Field), []byte(b.Field))
	})
	return conflicts, nil
}

// Validate returns the error with which Apply would fail before other steps are applied. It writes
// nothing.
func (s *UndoStep) Validate(tx *Tx) error {
	table := undoTable(s.Collection)
	switch s.Operation {
	case "create":
		return table.ValidateRecreate(tx, s.ID, s.Fields)
	case "delete":
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
	mails, links := MailByUser, LinkByUser
	if app {
		mails, links = MailByAppUser, LinkByAppUser
	}
	sent, err := mails.Count(tx, s.ID)
	if err != nil {
		return 0, err
	}
	made, err := links.Count(tx, s.ID)
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
	is, err := undoTable(s.Collection).FieldsOf(tx, s.ID)
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
	table := undoTable(s.Collection)
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

// applyFile moves a file into or out of the trash, and sets its other fields.
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
