package person

import (
	"encoding/json"
	"slices"

	"reeve/server/changes"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
)

// exportedEntry is an entry of the change log in the data of one person.
type exportedEntry struct {
	Seq       uint64           `json:"seq"`
	At        string           `json:"at"`
	Actor     exportedActor    `json:"actor"`
	As        *exportedActor   `json:"as,omitempty"`
	Operation audit.Operation  `json:"operation"`
	Address   any              `json:"address,omitempty"`
	Reason    string           `json:"reason,omitempty"`
	Action    string           `json:"action,omitempty"`
	Details   json.RawMessage  `json:"details,omitempty"`
	Changes   []exportedChange `json:"changes,omitempty"`
}

type exportedActor struct {
	Kind string `json:"kind"`
	ID   uint64 `json:"id,omitempty"`
	Name any    `json:"name,omitempty"`
}

type exportedChange struct {
	Collection string          `json:"collection"`
	ID         uint64          `json:"id"`
	Name       any             `json:"name,omitempty"`
	Operation  string          `json:"operation"`
	Fields     []exportedField `json:"fields,omitempty"`
}

type exportedField struct {
	Name string `json:"name"`
	Old  any    `json:"old,omitempty"`
	New  any    `json:"new,omitempty"`
}

// AnotherPerson stands for a value about another person.
const AnotherPerson = "(about another person)"

// entry returns an entry as the person may see it; nil if it is not about the person. Of an entry
// by another user, it has only the changes that concern the person.
func (p *personData) entry(tx *store.Tx, e *audit.Entry) (*exportedEntry, error) {
	own := e.Actor.Kind == p.who.Kind() && e.Actor.ID == uint64(p.who.ID)
	as := e.As.Kind == p.who.Kind() && e.As.ID == uint64(p.who.ID)
	out := &exportedEntry{
		Seq:       e.Seq,
		At:        e.At,
		Actor:     exportedActor{Kind: e.Actor.Kind, ID: e.Actor.ID},
		Operation: e.Operation,
		Reason:    e.Reason,
		Action:    e.Action,
		Details:   e.Details,
	}
	for i := range e.Changes {
		if !own && !p.concerns(&e.Changes[i]) {
			continue
		}
		change, err := p.change(tx, &e.Changes[i])
		if err != nil {
			return nil, err
		}
		out.Changes = append(out.Changes, change)
	}

	if !own && !as && out.Changes == nil && !p.isDetail(e) {
		return nil, nil
	}

	var err error
	if e.As.ID != 0 {
		out.As = &exportedActor{Kind: e.As.Kind, ID: e.As.ID}
		out.As.Name, err = p.value(tx, e.As.Name)
	}
	if !own || err != nil {
		return out, err
	}
	if out.Actor.Name, err = p.value(tx, e.Actor.Name); err == nil {
		out.Address, err = p.value(tx, e.Address)
	}

	return out, err
}

// isDetail reports whether an action was done with the person, such as an earlier download of this
// data.
func (p *personData) isDetail(e *audit.Entry) bool {
	var details struct {
		ID string `json:"id"`
	}
	if e.Action != "export_person" || e.Operation.Route != p.req.Route.Path {
		return false
	}
	return json.Unmarshal(e.Details, &details) == nil && details.ID == p.who.ID.String()
}

// concerns reports whether a change is about the person.
func (p *personData) concerns(c *audit.Change) bool {
	if c.Collection == p.who.Kind() && c.ID == uint64(p.who.ID) {
		return true
	}
	person := p.who.Person()
	for _, f := range c.Fields {
		if f.Old.Person == person || f.New.Person == person || p.refers(f) {
			return true
		}
	}
	return c.Name.Person == person
}

// refers reports whether a field has the ID of the person.
func (p *personData) refers(f audit.Field) bool {
	name := "user_id"
	if p.who.App {
		name = "app_user_id"
	}
	if f.Name != name && (f.Name != "uploader_id" || p.who.App) {
		return false
	}
	id := p.who.ID.String()
	return string(f.Old.Plain) == id || string(f.New.Plain) == id
}

// keyFields are fields with a key or a hash, which are left out even if they are empty.
var keyFields = []string{"key", "avatar_key", "hash", "digest"}

func (p *personData) change(tx *store.Tx, c *audit.Change) (out exportedChange, err error) {
	out = exportedChange{Collection: c.Collection, ID: c.ID, Operation: c.Operation}
	if out.Name, err = p.value(tx, c.Name); err != nil {
		return out, err
	}

	for _, f := range c.Fields {
		if f.Old.Hash != "" || f.New.Hash != "" || slices.Contains(keyFields, f.Name) {
			continue // a secret
		}

		field := exportedField{Name: f.Name}
		if field.Old, err = p.value(tx, f.Old); err == nil {
			field.New, err = p.value(tx, f.New)
		}
		if err != nil {
			return out, err
		}
		if realm := changes.RealmOfCustom(c.Collection); realm != "" && f.Name == "fields" {
			field.Old, field.New = customByKey(tx, realm, field.Old), customByKey(tx, realm,
				field.New)
		}

		out.Fields = append(out.Fields, field)
	}

	return out, nil
}

// customByKey returns logged values of custom fields by key, with those of deleted fields by ID.
// Anything else is returned as it is.
func customByKey(tx *store.Tx, realm string, value any) any {
	text, isJSON := value.(json.RawMessage)
	var logged store.FieldValues
	if !isJSON || json.Unmarshal(text, &logged) != nil {
		return value
	}
	values := web.FieldValues(tx, realm, store.FieldExport, logged)
	for _, f := range logged {
		if !store.HasCustomField(tx, realm, f.ID) {
			values["deleted field "+f.ID.String()] = f.Value
		}
	}
	return values
}

// value returns a value that is not secret; nil for none.
func (p *personData) value(tx *store.Tx, v audit.Value) (any, error) {
	switch {
	case v.IsZero() || v.Hash != "":
		return nil, nil
	case v.Box != nil && v.Person != p.who.Person():
		return AnotherPerson, nil
	}

	log := store.NewLogReader(tx)
	text, known, err := log.Read(v)
	if log.Damaged() > 0 {
		p.lacks("change-log.jsonl")
	}
	if err != nil || !known {
		return nil, err
	}

	return json.RawMessage(text), nil
}
