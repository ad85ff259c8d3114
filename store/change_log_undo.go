package store

import (
	"encoding/json"
	"maps"
	"slices"

	"reeve/store/audit"
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

// tableNamed returns a collection; nil if there is none.
func tableNamed(name string) kv.Table {
	i := slices.IndexFunc(reeve.Tables, func(t kv.Table) bool { return t.Name() == name })
	if i < 0 {
		return nil
	}
	return reeve.Tables[i]
}

// canUndo reports whether a change can be undone: of other collections than those of undoTable, it
// is the creation of a record that the API can delete, whose secrets cannot come back.
func canUndo(c *audit.Change) bool {
	return undoTable(c.Collection) != nil ||
		c.Operation == "create" && (c.Collection == APIKeys.Name() || c.Collection == Webhooks.Name())
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
	LostSecret   = "secret"       // value of a secret setting, or of a client secret
	LostURL      = "public_url"   // address of a public file: it gets another one
	LostContent  = "file_content" // of a file that was deleted permanently, or an earlier one that is no longer kept
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

// UndoRecord is the record of a step.
type UndoRecord struct {
	Collection string
	ID         ID
}

// Record returns the record that the step changes.
func (s *UndoStep) Record() UndoRecord { return UndoRecord{s.Collection, s.ID} }

// Records returns the number of records that a plan changes.
func (p *UndoPlan) Records() int {
	records := map[UndoRecord]bool{}
	for i := range p.Steps {
		records[p.Steps[i].Record()] = true
	}
	return len(records)
}

// Leave removes the steps of some records.
func (p *UndoPlan) Leave(left map[UndoRecord]bool) {
	p.Steps = slices.DeleteFunc(p.Steps, func(s UndoStep) bool { return left[s.Record()] })
	p.Lost = slices.DeleteFunc(p.Lost, func(l UndoLost) bool { return left[UndoRecord{l.Collection, l.ID}] })
}

// Conflicts returns which of the values that the steps expect have changed since: of several steps
// of a record, each expects what the one before it leaves. Errors are those of UndoStep.Conflicts.
func (p *UndoPlan) Conflicts(tx *Tx) (conflicts []UndoConflict, err error) {
	left := map[UndoRecord]*undoneRecord{}
	for i := range p.Steps {
		step := &p.Steps[i]
		key := step.Record()
		var some []UndoConflict
		if left[key] == nil {
			left[key] = &undoneRecord{fields: kv.Fields{}}
			some, err = step.Conflicts(tx)
		} else {
			some, err = step.conflictsAfter(tx, left[key])
		}
		if err != nil {
			return conflicts, err
		}
		conflicts = append(conflicts, some...)
		left[key].apply(step)
	}
	return conflicts, nil
}

// undoneRecord is a record as the steps so far leave it.
type undoneRecord struct {
	deleted bool
	created bool      // fields has all values
	fields  kv.Fields // values that were set
}

func (r *undoneRecord) apply(s *UndoStep) {
	switch s.Operation {
	case "delete":
		*r = undoneRecord{deleted: true}
	case "create":
		*r = undoneRecord{created: true, fields: maps.Clone(s.Fields)}
	default:
		maps.Copy(r.fields, s.Fields)
	}
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
func ofGroup(tx *Tx, e *audit.Entry, c *audit.Change) bool {
	return c.Collection == Permissions.Name() && groupOfPermission(changedKey(tx, c)) != "" &&
		slices.ContainsFunc(e.Changes, func(other audit.Change) bool {
			return other.Collection == SettingGroups.Name()
		})
}

// changedKey returns the key of a changed permission: the new one, or that of a deleted one.
func changedKey(tx *Tx, c *audit.Change) (key string) {
	for _, f := range c.Fields {
		if f.Name != "key" {
			continue
		}
		value := f.New.Plain
		if value == nil {
			value = f.Old.Plain
		}
		if json.Unmarshal(value, &key) == nil {
			return key
		}
	}
	if p, err := Permissions.Get(tx, ID(c.ID)); err == nil {
		return p.Key
	}
	return ""
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
	follows := ofGroup(p.tx, e, c)
	if follows && c.Operation != "delete" {
		return nil
	}
	if !canUndo(c) {
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
		if err == nil && c.Collection == Files.Name() {
			err = p.content(c, &step)
		}
		if len(step.Fields) == 0 {
			return err
		}
	}

	p.plan.Steps = append(p.plan.Steps, step)
	return err
}

// content leaves out the content of a file if the version that had it is no longer kept.
func (p *undoPlanner) content(c *audit.Change, step *UndoStep) error {
	digest, replaced := step.Fields["digest"]
	if !replaced {
		return nil
	}
	v, err := versionWith(p.tx, step.ID, digest)
	if err != nil || v != nil {
		return err
	}
	p.lose(c, LostContent)
	for _, name := range contentFields {
		delete(step.Fields, name)
		delete(step.Expect, name)
	}
	return nil
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
	case SettingSecrets.Name(), ProviderSecrets.Name():
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
