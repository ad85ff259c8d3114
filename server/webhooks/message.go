package webhooks

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"reeve/server/changes"
	"reeve/server/web"
	"reeve/server/webhook"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/kv"
)

// webhookBody is the body of a message, as the Standard Webhooks specification recommends it.
type webhookBody struct {
	Type string `json:"type"`
	At   string `json:"timestamp"` // time of the event
	Data any    `json:"data"`
}

const (
	TestType = "webhook.test"
	lostType = "webhook.lost" // in the list of deliveries only
)

// Outgoing is a message and whom it may be about.
type Outgoing struct {
	webhook.Message
	persons []string
}

func newOutgoing(id, kind, at string, data any) (*Outgoing, error) {
	body, err := json.Marshal(webhookBody{kind, at, data})
	return &Outgoing{Message: webhook.Message{ID: id, Type: kind, Body: body}}, err
}

// message returns the first message of an entry from a part on, and the number of the next part;
// nil if there is none. The same part of an entry always has the same ID, by which receivers
// recognize messages that they have already received.
func message(v *changes.View, e *audit.Entry, part int,
	filter changes.EventFilter) (m *Outgoing, next int, err error) {
	for ; part < changes.EventParts(e); part++ {
		ev, err := v.Event(e, part, filter, 0)
		if err != nil {
			return nil, 0, err
		}
		if ev == nil {
			continue
		}
		if part > 0 {
			ev.ID += "-" + strconv.Itoa(part)
		}
		if m, err = newOutgoing(ev.ID, ev.Type, ev.At, ev); err == nil {
			m.persons = personsOf(e, part, ev)
		}
		return m, part + 1, err
	}
	return nil, part, nil
}

// personsOf returns whom an event may be about, as the change log names them.
func personsOf(e *audit.Entry, part int, ev *changes.Event) []string {
	found := map[string]bool{}
	add := func(values ...audit.Value) {
		for _, v := range values {
			if v.Person != "" {
				found[v.Person] = true
			}
		}
	}

	switch e.Actor.Kind {
	case "user":
		found[store.Account{ID: store.ID(e.Actor.ID)}.Person()] = true
	case "app_user":
		found[store.Account{App: true, ID: store.ID(e.Actor.ID)}.Person()] = true
	}

	if e.As.ID != 0 {
		found[store.Account{ID: store.ID(e.As.ID)}.Person()] = true
	}

	add(e.Actor.Name, e.As.Name, e.Address)
	if part < len(e.Changes) {
		c := &e.Changes[part]
		add(c.Name)
		for _, f := range c.Fields {
			add(f.Old, f.New)
		}
	}

	for i := range ev.Fields {
		table := changes.RefersTo(ev.Collection, ev.Fields[i].Name)
		for id := range ev.Fields[i].Labels {
			switch table {
			case kv.Table(store.Users):
				found["u"+id] = true
			case kv.Table(store.AppUsers):
				found["a"+id] = true
			}
		}
	}

	return slices.Sorted(maps.Keys(found))
}

// headMessage returns the message with the head of the change log, for owners who may read all of
// it. A copy that is kept elsewhere later shows whether the log up to there was replaced.
func headMessage(v *changes.View, head audit.Head, now time.Time) (*Outgoing, error) {
	if !v.Scope.All || !v.ReadsLog() {
		return nil, nil
	}
	return newOutgoing("head-"+web.EventID(head.Generation, head.Seq), changes.HeadType,
		kv.TimeOf(now).String(), head)
}
