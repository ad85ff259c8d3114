package changes

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
)

// Event is a change of one record, or an action that changes none, as streams and webhooks send it.
type Event struct {
	ID         string          `json:"id"` // ID of the entry in the change log, see EventID
	Seq        uint64          `json:"seq"`
	At         string          `json:"at"`
	Type       string          `json:"type"`
	Collection string          `json:"collection,omitempty"`
	Record     store.ID        `json:"record,omitempty"`
	Name       string          `json:"name,omitempty"`
	Operation  string          `json:"operation,omitempty"` // create, update or delete
	Title      string          `json:"title,omitempty"`     // operation of an action
	Details    json.RawMessage `json:"details,omitempty"`   // details of an action
	Own        store.Flag      `json:"own"`                 // 1 if the session that receives it has done it
	Actor      *LogActor       `json:"actor,omitempty"`     // only for readers of the change log
	As         *LogActor       `json:"as,omitempty"`        // impersonated user, for the same callers
	Fields     []logField      `json:"fields"`
	Commit     string          `json:"commit,omitempty"` // position to send as Reeve-Commit in order to read the change; only in event streams of several nodes
}

// eventWords are the parts of an event's type that differ from the collection and from created,
// updated or deleted. Settings and dictionaries are loaded as a whole, so any change of them is one
// type.
var eventWords = map[string][3]string{ // created, updated, deleted
	"setting":       {"setting.changed", "setting.changed", "setting.changed"},
	"setting_group": {"setting_group.changed", "setting_group.changed", "setting_group.changed"},
	"dict":          {"dict.changed", "dict.changed", "dict.changed"},
	"dict_item":     {"dict.changed", "dict.changed", "dict.changed"},
	"session":       {"session.started", "session.updated", "session.ended"},
}

// unstreamed are collections without events: they follow another record, or are internal.
var unstreamed = []string{"setting_secret", "provider_secret", "password_hash", "authenticator", "recovery_code",
	"passkey", "device", "avatar", "install"}

// typeOf returns the type of the event about a change; "" for none.
func typeOf(c *audit.Change) string {
	kind := slices.Index(changeKinds, c.Operation)
	if kind < 0 || slices.Contains(unstreamed, c.Collection) {
		return ""
	}
	if words, special := eventWords[c.Collection]; special {
		return words[kind]
	}
	return c.Collection + "." + [...]string{"created", "updated", "deleted"}[kind]
}

const maxEventTypes = 50

// EventFilter are the types of events that a client wants; nil for all.
type EventFilter []string

// newEventFilter parses types such as user.updated and role.*, separated by commas.
func newEventFilter(text string) (filter EventFilter, err error) {
	if text == "" {
		return nil, nil
	}

	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		object, verb, ok := strings.Cut(part, ".")
		if part != "*" && (!ok || !isEventWord(object) || verb != "*" && !isEventWord(verb)) {
			return nil, errs.Field(errs.Malformed, "types",
				"must be types such as user.updated or role.*, separated by commas")
		}
		filter = append(filter, part)
	}

	if len(filter) > maxEventTypes {
		return nil, errs.Field(errs.Malformed, "types", "must be at most %d types", maxEventTypes)
	}

	faults := errs.Faults{}
	CheckTypes(slices.DeleteFunc(slices.Clone(filter), isAccessType), faults)
	return filter, faults.Err(errs.Invalid)
}

// isAccessType reports whether a filter selects AccessChanged, which webhooks do not have.
func isAccessType(kind string) bool {
	object, _, _ := strings.Cut(AccessChanged, ".")
	return kind == AccessChanged || kind == object+".*"
}

func isEventWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// Wants reports whether the filter selects a type.
func (f EventFilter) Wants(kind string) bool {
	object, _, _ := strings.Cut(kind, ".")
	return f == nil || slices.Contains(f, kind) || slices.Contains(f, object+".*") ||
		slices.Contains(f, "*")
}

// ActionTypes is the first part of the types of actions, such as audit.export.
const ActionTypes = "audit"

// EventParts is the number of events that an entry can have: one for each change, and one for its
// action.
func EventParts(e *audit.Entry) int { return len(e.Changes) + 1 }

// Event returns an event of an entry, see EventParts; nil if there is none, the filter does not
// want it or the caller may not read it. session is the one that receives it; 0 for none.
func (v *View) Event(e *audit.Entry, part int, filter EventFilter,
	session store.ID) (*Event, error) {
	out := &Event{
		ID: web.EventID(e.Generation, e.Seq), Seq: e.Seq, At: e.At, Fields: []logField{},
		Own: store.Flag(session != 0 && e.SessionID == uint64(session)),
	}
	if part == len(e.Changes) {
		return v.actionEvent(e, out, filter)
	}

	c := &e.Changes[part]
	if c.Collection == store.SettingSecrets.Name() {
		return v.secretEvent(e, c, out, filter)
	}
	if out.Type = typeOf(c); out.Type == "" || !filter.Wants(out.Type) {
		return nil, nil
	}

	out.Collection, out.Record, out.Operation = c.Collection, store.ID(c.ID), c.Operation
	if v.who.App && !v.isAppUsers(c) || !v.who.App && !v.seesChange(c) {
		return v.configEvent(c, out)
	}

	change, err := v.change(c, false)
	if err != nil {
		return nil, err
	}

	out.Name, out.Fields = change.Name, change.Fields
	return out, v.setActor(e, out)
}

// actionEvent returns the event about the action of an entry, for callers who may read the change
// log.
func (v *View) actionEvent(e *audit.Entry, out *Event, filter EventFilter) (*Event, error) {
	out.Type = ActionTypes + "." + e.Action
	if e.Action == "" || !filter.Wants(out.Type) || !v.ReadsLog() || !v.seesActor(&e.Actor) {
		return nil, nil
	}
	out.Title = e.Operation.Title
	if v.seesDetails(e) {
		out.Details = e.Details
	}
	return out, v.setActor(e, out)
}

// setActor sets who did it, for callers who may know.
func (v *View) setActor(e *audit.Entry, out *Event) (err error) {
	if !v.ReadsLog() || !v.seesActor(&e.Actor) {
		return nil
	}
	if out.Actor, err = v.actor(&e.Actor); err == nil && v.seesAs(e) {
		out.As, err = v.actor(&e.As)
	}
	return err
}

// ReadsLog reports whether the caller may read the change log.
func (v *View) ReadsLog() bool { return v.who.HasPermission(v.tx, "system.audit.query") }

// isAppUsers reports whether a change is of the calling app user or of one of this user's sessions.
func (v *View) isAppUsers(c *audit.Change) bool {
	id := v.who.ID.String()
	return c.Collection == store.AppUsers.Name() && c.ID == uint64(v.who.ID) ||
		c.Collection == store.Sessions.Name() &&
			slices.ContainsFunc(c.Fields, func(f audit.Field) bool {
				return f.Name == "app_user_id" &&
					(string(f.New.Plain) == id || string(f.Old.Plain) == id)
			})
}

// eventType is a type of event that streams and webhooks can ask for.
type eventType struct {
	Type       string `json:"type"`
	Collection string `json:"collection" doc:"Collection of the records that it is about; empty for an action"`
}

// loggedActions are the actions of the change log. Entries of webhook_skip were made by earlier
// versions.
var loggedActions = []string{
	"act_as", "act_as_ended", "backup", "backup_cancel", "backup_check", "backup_now", "create_link", audit.Denied, "drop_entries", "erase",
	"export", "export_person", "file_move", "file_move_cancel", SecretsRead, "reauth", "restore", "rotate_key", "start", "undo",
	"unlock",
	"webhook_replay", "webhook_resume", "webhook_secret", "webhook_skip",
}

// EventTypes returns all types of events, in alphabetical order.
func EventTypes() []eventType { return allEventTypes() }

var allEventTypes = sync.OnceValue(func() []eventType {
	collections := map[string]string{}
	for name := range store.Accesses() {
		for _, kind := range changeKinds {
			if kind := typeOf(&audit.Change{Collection: name, Operation: kind}); kind != "" {
				object, _, _ := strings.Cut(kind, ".")
				collections[kind] = object
			}
		}
	}

	for _, action := range loggedActions {
		collections[ActionTypes+"."+action] = ""
	}

	collections[HeadType] = ""
	var types []eventType
	for _, kind := range slices.Sorted(maps.Keys(collections)) {
		types = append(types, eventType{kind, collections[kind]})
	}

	return types
})

// eventTypeList is a list without pages.
type eventTypeList struct {
	Data []eventType `json:"data"`
}

func ListEventTypes(*web.Request, *web.None) (*eventTypeList, error) {
	return &eventTypeList{EventTypes()}, nil
}

// SecretsRead is the action of entries in the change log about secrets that an API key has read.
// The first time in an hour that a key reads the secrets of a group from a network has an entry,
// which is stored before the response is sent. More of them are counted, for a second entry when
// the hour ends, the secrets change or the server stops.
const SecretsRead = "read_secrets"

const HeadType = ActionTypes + ".head"

// CheckTypes rejects types that no event has.
func CheckTypes(types []string, faults errs.Faults) {
	known := EventTypes()
	for i, kind := range types {
		object, verb, _ := strings.Cut(kind, ".")
		matches := func(t eventType) bool {
			return t.Type == kind || verb == "*" && strings.HasPrefix(t.Type, object+".")
		}
		if kind != "*" && !slices.ContainsFunc(known, matches) {
			faults.Add("types",
				"contains %q, which is no type of event; see GET /system/event-type", kind)
		}
		if slices.Contains(types[:i], kind) {
			faults.Add("types", "contains %q twice", kind)
		}
	}
}
