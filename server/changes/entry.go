package changes

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/kv"
)

// LogEntry is an entry of the change log in responses.
type LogEntry struct {
	Seq       uint64          `json:"seq" doc:"Number of the entry; numbers have no gaps"`
	EventID   string          `json:"event_id" doc:"Generation and number. A restore begins a new generation, so an ID is never used twice"`
	At        store.Time      `json:"at"`
	Actor     LogActor        `json:"actor"`
	As        *LogActor       `json:"as,omitempty" doc:"User as whom the actor acted; absent for nobody"`
	Operation logOperation    `json:"operation"`
	SessionID store.ID        `json:"session_id,omitempty"`
	RequestID string          `json:"request_id,omitempty"`
	Address   string          `json:"address,omitempty" doc:"Client address"`
	Reason    string          `json:"reason,omitempty" doc:"Reason that the client gave in X-Reason or, to act as a user, in the body"`
	JobID     store.ID        `json:"job_id,omitempty" doc:"Job of a large operation, which has several entries"`
	Part      int             `json:"part,omitempty" doc:"Number of the entry in its job, from 1"`
	Action    string          `json:"action,omitempty" doc:"What was done besides changing records, such as export, denied or undo"`
	Details   json.RawMessage `json:"details,omitempty" doc:"Details of the action"`
	Changes   []LogChange     `json:"changes"`
	Hidden    int             `json:"hidden,omitempty" doc:"Number of changes of records that you may not read; absent if none"`
	Damaged   store.Flag      `json:"damaged,omitempty" doc:"1 if values can't be read because the key of a person is damaged; they look like those of an erased person; otherwise absent"`
}

type LogActor struct {
	Kind   string     `json:"kind" enum:"actor_kind" doc:"Kind: user, app_user, system, cli or anonymous; unknown for an actor outside your data scope"`
	ID     store.ID   `json:"id,omitempty"`
	Name   string     `json:"name,omitempty" doc:"Username at that time"`
	Erased store.Flag `json:"erased,omitempty" doc:"1 if the name can't be read because the person was erased; otherwise absent"`
}

type logOperation struct {
	Method string `json:"method,omitempty"`
	Route  string `json:"route,omitempty"`
	Title  string `json:"title"`
}

type LogChange struct {
	Collection string     `json:"collection" doc:"Collection of the record, such as user, role or setting"`
	ID         store.ID   `json:"id"`
	Name       string     `json:"name,omitempty" doc:"Name of the record at that time"`
	Erased     store.Flag `json:"erased,omitempty" doc:"1 if the name can't be read because the person was erased; otherwise absent"`
	Operation  string     `json:"operation" enum:"change_kind" doc:"What was done: create, update or delete"`
	Fields     []logField `json:"fields"`
}

// logField is the change of a field.
type logField struct {
	Name      string            `json:"name"`
	Old       json.RawMessage   `json:"old,omitempty" doc:"Value before; absent for a new record"`
	New       json.RawMessage   `json:"new,omitempty" doc:"Value after; absent for a deleted record"`
	Added     []json.RawMessage `json:"added,omitempty" doc:"Of an array: values that were added, at most 20"`
	Removed   []json.RawMessage `json:"removed,omitempty" doc:"Of an array: values that were removed, at most 20"`
	AddedN    int               `json:"added_count,omitempty" doc:"Of an array: number of values that were added"`
	RemovedN  int               `json:"removed_count,omitempty" doc:"Of an array: number of values that were removed"`
	Labels    map[string]string `json:"labels,omitempty" doc:"Present names of the records whose IDs are values, by ID, as far as you may read them"`
	Secret    store.Flag        `json:"secret,omitempty" doc:"1 for a secret, of which the log has no value; otherwise absent"`
	Erased    store.Flag        `json:"erased,omitempty" doc:"1 if a value can't be read because the person was erased; otherwise absent"`
	Truncated store.Flag        `json:"truncated,omitempty" doc:"1 if a value is longer than a list shows; otherwise absent"`
}

const (
	MaxListValue = 200 // length of a value in a list; GET /system/audit/:seq returns it whole
	maxListed    = 20  // values of an array whose change is listed
)

// unshown are fields that responses do not have: times of a record, which deleting it logs so that
// it can be restored, and secrets whose change the record's change tells.
var unshown = []string{"created_at", "version", "hash", "sealed", "password_key"}

// entry returns an entry as the caller may read it; nil if the caller may not. whole includes long
// values.
func (v *View) entry(e *audit.Entry, whole bool) (*LogEntry, error) {
	byKnown := v.seesActor(&e.Actor)
	if !byKnown && !v.seesAs(e) && !slices.ContainsFunc(e.Changes, func(c audit.Change) bool {
		return v.isAbout(&c)
	}) {
		return nil, nil
	}
	return v.render(e, byKnown, whole)
}

// render returns an entry with the changes that the caller may read.
func (v *View) render(e *audit.Entry, byKnown, whole bool) (*LogEntry, error) {
	at, err := kv.ParseTime(e.At)
	if err != nil {
		return nil, err
	}

	out := &LogEntry{
		Seq:       e.Seq,
		EventID:   web.EventID(e.Generation, e.Seq),
		At:        at,
		Actor:     LogActor{Kind: "unknown"},
		Operation: logOperation{e.Operation.Method, e.Operation.Route, e.Operation.Title},
		JobID:     store.ID(e.JobID),
		Part:      e.Part,
		Action:    e.Action,
		Changes:   []LogChange{},
	}

	unread := v.log.Damaged()
	if byKnown {
		err = v.origin(e, out)
	}
	if err == nil && v.seesAs(e) {
		out.As, err = v.actor(&e.As)
	}

	for i := range e.Changes {
		c := &e.Changes[i]
		if !v.seesChange(c) {
			out.Hidden++
			continue
		}
		if err != nil {
			break
		}
		var change LogChange
		if change, err = v.change(c, whole); err == nil {
			out.Changes = append(out.Changes, change)
		}
	}

	out.Damaged = v.log.Damaged() > unread
	return out, err
}

// origin sets who did it and from where.
func (v *View) origin(e *audit.Entry, out *LogEntry) (err error) {
	actor, err := v.actor(&e.Actor)
	if err != nil {
		return err
	}
	out.Actor = *actor
	out.SessionID, out.RequestID, out.Reason = store.ID(e.SessionID), e.RequestID, e.Reason
	if v.seesDetails(e) {
		out.Details = e.Details
	}
	out.Address, _, err = v.text(e.Address)
	return err
}

// actor returns an actor that the caller may know.
func (v *View) actor(a *audit.Actor) (out *LogActor, err error) {
	out = &LogActor{Kind: a.Kind, ID: store.ID(a.ID)}
	out.Name, out.Erased, err = v.text(a.Name)
	return out, err
}

// seesAs reports whether the actor impersonated a user whom the caller may know.
func (v *View) seesAs(e *audit.Entry) bool { return e.As.ID != 0 && v.seesActor(&e.As) }

// seesDetails reports whether the caller may read the details of an action. Those of a start are
// the configuration.
func (v *View) seesDetails(e *audit.Entry) bool {
	return e.Action != "start" || v.who.HasPermission(v.tx, "system.info")
}

// text returns a value that is a text. erased is 1 if it can no longer be read.
func (v *View) text(value audit.Value) (text string, erased store.Flag, err error) {
	raw, known, err := v.log.Read(value)
	if err != nil || !known {
		return "", store.Flag(value.Box != nil), err
	}
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	return text, false, nil
}

func (v *View) change(c *audit.Change, whole bool) (out LogChange, err error) {
	out = LogChange{
		Collection: c.Collection,
		ID:         store.ID(c.ID),
		Operation:  c.Operation,
		Fields:     []logField{},
	}
	if out.Name, out.Erased, err = v.text(c.Name); err != nil {
		return out, err
	}

	for i := range c.Fields {
		f := &c.Fields[i]
		if slices.Contains(unshown, f.Name) {
			continue
		}
		if realm := RealmOfCustom(c.Collection); realm != "" && f.Name == "fields" {
			if err := v.customFields(realm, f, whole, &out); err != nil {
				return out, err
			}
			continue
		}

		field, err := v.field(c.Collection, f, whole)
		if err != nil {
			return out, err
		}

		out.Fields = append(out.Fields, field)
	}

	return out, nil
}

func (v *View) field(collection string, f *audit.Field, whole bool) (out logField, err error) {
	out = logField{Name: f.Name, Secret: store.Flag(f.Old.Hash != "" || f.New.Hash != "")}
	if out.Secret {
		return out, nil
	}

	for _, side := range []struct {
		from audit.Value
		to   *json.RawMessage
	}{{f.Old, &out.Old}, {f.New, &out.New}} {
		text, known, err := v.log.Read(side.from)
		if err != nil {
			return out, err
		}
		out.Erased = out.Erased || store.Flag(!known && side.from.Box != nil)
		*side.to = text
	}

	v.finish(collection, &out, whole)
	return out, nil
}

// finish adds what follows from the values of a field, and shortens them.
func (v *View) finish(collection string, out *logField, whole bool) {
	v.compare(out)
	out.Labels = v.labels(collection, out)
	if !whole {
		for _, value := range []*json.RawMessage{&out.Old, &out.New} {
			short, cut := cutValue(*value)
			*value, out.Truncated = short, out.Truncated || store.Flag(cut)
		}
	}
}

// cutValue returns the beginning of a long text, and nothing of another long value.
func cutValue(value json.RawMessage) (short json.RawMessage, cut bool) {
	if len(value) <= MaxListValue {
		return value, false
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		return nil, true
	}
	if utf8.RuneCountInString(text) <= MaxListValue {
		return value, false
	}
	short, err := json.Marshal(string([]rune(text)[:MaxListValue]))
	return short, err == nil
}

// compare sets which values of an array were added and removed.
func (v *View) compare(f *logField) {
	was, isArray := arrayOf(f.Old)
	is, isArray2 := arrayOf(f.New)
	if !isArray && !isArray2 || was == nil && f.Old != nil && !isArray ||
		is == nil && f.New != nil && !isArray2 {
		return
	}
	f.Added, f.AddedN = missingFrom(was, is)
	f.Removed, f.RemovedN = missingFrom(is, was)
}

// arrayOf returns the elements of an array of texts and numbers.
func arrayOf(text json.RawMessage) (values []json.RawMessage, ok bool) {
	if len(text) == 0 || text[0] != '[' || json.Unmarshal(text, &values) != nil {
		return nil, false
	}
	return values, !slices.ContainsFunc(values, func(v json.RawMessage) bool {
		return v[0] == '{' || v[0] == '['
	})
}

// missingFrom returns the first values that a list lacks, and the number of all.
func missingFrom(list, values []json.RawMessage) (first []json.RawMessage, n int) {
	has := map[string]bool{}
	for _, v := range list {
		has[string(v)] = true
	}
	for _, v := range values {
		if has[string(v)] {
			continue
		}
		if n++; len(first) < maxListed {
			first = append(first, v)
		}
	}
	return first, n
}
