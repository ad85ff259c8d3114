package server

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
)

// event is a change of one record, as a stream sends it.
type event struct {
	ID         string     `json:"id"` // of the entry in the change log, see eventID
	Seq        uint64     `json:"seq"`
	At         string     `json:"at"`
	Type       string     `json:"type"`
	Collection string     `json:"collection"`
	Record     store.ID   `json:"record"`
	Name       string     `json:"name,omitempty"`
	Operation  string     `json:"operation"`
	Own        store.Flag `json:"own"`             // 1 if the session that receives it has made the change
	Actor      *logActor  `json:"actor,omitempty"` // for callers who may read the change log
	Fields     []logField `json:"fields"`
}

// eventWords are the parts of an event's type that differ from the collection and from created, updated
// or deleted. Settings and dictionaries are loaded as a whole, so any change of them is one type.
var eventWords = map[string][3]string{ // created, updated, deleted
	"setting":       {"setting.changed", "setting.changed", "setting.changed"},
	"setting_group": {"setting_group.changed", "setting_group.changed", "setting_group.changed"},
	"dict":          {"dict.changed", "dict.changed", "dict.changed"},
	"dict_item":     {"dict.changed", "dict.changed", "dict.changed"},
	"session":       {"session.started", "session.updated", "session.ended"},
}

// unstreamed are collections without events: they follow another record, or are internal.
var unstreamed = []string{"setting_secret", "password_hash", "device", "avatar", "install"}

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

// accessChanged is the type of the event that the caller's own permissions or data scope have changed.
const accessChanged = "access.changed"

const maxEventTypes = 50

// eventFilter are the types of events that a client wants; nil for all.
type eventFilter []string

// newEventFilter parses types such as user.updated and role.*, separated by commas.
func newEventFilter(text string) (filter eventFilter, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		object, verb, ok := strings.Cut(part, ".")
		if part != "*" && (!ok || !isEventWord(object) || verb != "*" && !isEventWord(verb)) {
			return nil, errs.Field(errs.Malformed, "types", "must be types such as user.updated or role.*, separated by commas")
		}
		filter = append(filter, part)
	}
	if len(filter) > maxEventTypes {
		return nil, errs.Field(errs.Malformed, "types", "must be at most %d types", maxEventTypes)
	}
	return filter, nil
}

func isEventWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// wants reports whether the filter selects a type.
func (f eventFilter) wants(kind string) bool {
	object, _, _ := strings.Cut(kind, ".")
	return f == nil || slices.Contains(f, kind) || slices.Contains(f, object+".*") || slices.Contains(f, "*")
}

// frame returns an event in the format of Server-Sent Events. id is "" for an event that is no
// position at which a client can continue.
func frame(id, kind string, data any) ([]byte, error) {
	text, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	var b []byte
	if id != "" {
		b = append(append(append(b, "id: "...), id...), '\n')
	}
	b = append(append(append(b, "event: "...), kind...), '\n')
	return append(append(append(b, "data: "...), text...), "\n\n"...), nil
}

// position is a place in the change log that a client has received.
type position struct {
	generation string // "" if the client has sent only a number
	seq        uint64
}

func parsePosition(text string) (p position, err error) {
	generation, number, both := strings.Cut(text, "-")
	if !both {
		generation, number = "", text
	}
	p.generation = generation
	if p.seq, err = strconv.ParseUint(number, 10, 64); err != nil || both && generation == "" {
		return p, errs.Field(errs.Malformed, "Last-Event-ID", "must be the ID of an event, such as 4k2mvq7x1a-17, or its number")
	}
	return p, nil
}
