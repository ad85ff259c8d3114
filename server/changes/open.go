package changes

import (
	"slices"
	"strings"
	"sync"

	"reeve/store"
	"reeve/store/errs"
)

// Opened is the data of the first event of a stream, open: a client would otherwise wait in vain
// for events that never come.
type Opened struct {
	ID      string     `json:"id"`
	Types   []string   `json:"types"`            // types of the filter that can come
	Limited []string   `json:"limited"`          // those of them that come only for some records
	Missing []Unsent   `json:"missing"`          // types of the filter that can't come
	Scope   store.Flag `json:"all"`              // 1 if the caller's data scope is all
	Commit  string     `json:"commit,omitempty"` // see Event
}

// Unsent is a type of event that the caller does not get.
type Unsent struct {
	Type       string `json:"type"`
	Permission string `json:"permission,omitempty"` // the missing one; empty if none would do
	Reason     string `json:"reason"`
}

// streamTypes returns all types of events that a stream can have.
var streamTypes = sync.OnceValue(func() []eventType {
	return append(slices.Clip(EventTypes()), eventType{Type: AccessChanged})
})

// opened returns the events that a stream with a filter can send to the caller.
func (v *View) opened(id string, filter EventFilter, l errs.Language) *Opened {
	out := &Opened{
		ID:      id,
		Types:   []string{},
		Limited: []string{},
		Missing: []Unsent{},
		Scope:   store.Flag(v.Scope.All),
	}
	for _, t := range streamTypes() {
		if !filter.Wants(t.Type) {
			continue
		}

		comes, limited, missing := v.comes(t)
		switch {
		case !comes && missing != "":
			out.Missing = append(out.Missing,
				Unsent{t.Type, missing, errs.Say("permission %s is required", missing).In(l)})
			continue
		case !comes && v.who.App:
			out.Missing = append(out.Missing,
				Unsent{t.Type, "", errs.Say("app users do not get events of this type").In(l)})
			continue
		case !comes:
			out.Missing = append(out.Missing,
				Unsent{t.Type, "", errs.Say("only webhooks get events of this type").In(l)})
			continue
		}

		out.Types = append(out.Types, t.Type)
		if limited {
			out.Limited = append(out.Limited, t.Type)
		}
	}
	return out
}

// ownTypes are collections of which app users get the events about themselves, and configTypes
// are the types of events about settings and dictionaries, which callers get
// that may read these.
var (
	ownTypes    = []string{store.AppUsers.Name(), store.Sessions.Name()}
	configTypes = []string{"setting.changed", "dict.changed"}
)

// comes reports whether the caller can get events of a type, and whether only about some records:
// those in the data scope, the caller's own, or the configuration that the caller may read. missing
// is the permission that the caller lacks; "" if no permission would do.
func (v *View) comes(t eventType) (comes, limited bool, missing string) {
	config := slices.Contains(configTypes, t.Type)
	switch {
	case v.who.App:
		own := slices.Contains(ownTypes, t.Collection)
		return own || config, true, ""
	case t.Type == HeadType:
		return false, false, ""
	case t.Type == AccessChanged:
		return true, false, ""
	case strings.HasPrefix(t.Type, ActionTypes+"."):
		return v.ReadsLog(), !v.Scope.All, "system.audit.query"
	}

	query := store.AccessOf(t.Collection).Query
	switch {
	case v.who.HasPermission(v.tx, query):
		return true, !v.Scope.All, ""
	case config || t.Collection == store.Users.Name() && (v.who.Key == nil || v.who.Key.Personal):
		return true, true, ""
	case t.Collection == store.Links.Name() && v.who.HasPermission(v.tx, "user.invite.query"):
		return true, true, ""
	}

	return false, false, query
}
