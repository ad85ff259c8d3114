package changes

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
)

func StreamRoutes(st *Streams) []web.Route {
	return []web.Route{
		web.Raw("/system/event", web.SignedIn, "Stream events", EventStream, st.serve, web.Options{
			AllowedForCommands: true,

			Unmonitored: true,
			Validates:   true,
			Resumes:     true,
			Note: "Server-Sent Events: each change of a record that you may read, as it is committed. " +
				"The header Last-Event-ID continues after that event without gaps. A comment is sent " +
				"every 15 seconds, and the stream ends when the session does. The first event is " +
				"open; access.changed tells that your own permissions have changed.",
		}),
		web.Raw("/api/event", web.AppOnly, "Stream own events", EventStream, st.serve, web.Options{
			Unmonitored: true,
			Validates:   true,
			Resumes:     true,
			Note: "Server-Sent Events: changes of your own user, of your sessions, and of public " +
				"settings and dictionaries. The header Last-Event-ID continues after that event " +
				"without gaps.",
		}),
	}
}

const streamOut = 256 << 10 // bytes that are sent at once, besides the events of one entry

type streamIn struct {
	Types string `query:"types" check:"max=2000" doc:"Types of events, separated by commas, such as user.*,setting.changed; absent for all"`
	Since string `query:"since" check:"max=64" doc:"Position to continue from, for clients that cannot send the header Last-Event-ID"`
}

// stream is the feed of an event stream with changes of records.
type stream struct {
	all    *Streams
	req    *web.Request
	filter EventFilter
	since  string // position from the query
	at     position
	out    *bytes.Buffer
	policy *store.Policy // policy of the last check
	actor  *store.Actor
	roles  string // IDs of its roles
	types  string // the filter as it was sent
	keys   uint64 // hash of the permissions of the last check
	scope  *store.Scope
}

// serve sends changes as Server-Sent Events until the client or the session ends.
func (all *Streams) serve(req *web.Request, in *streamIn, w http.ResponseWriter) error {
	filter, err := newEventFilter(in.Types)
	if err != nil {
		return err
	}
	return all.Serve(req,
		&stream{all: all, req: req, filter: filter, types: in.Types, since: in.Since}, w)
}

// Begin authorizes the caller and writes the first event.
func (st *stream) Begin(out *bytes.Buffer) error {
	st.out = out
	if err := st.begin(st.since); err != nil {
		return err
	}
	return st.open()
}

// begin sets where the stream begins: after the position of the client, or now.
func (st *stream) begin(since string) error {
	head := st.req.Server.DB.LogHead()
	st.at = position{head.Generation, head.Seq}
	if last := LastEventID(st.req); last != "" {
		since = last
	}
	if since == "" {
		return st.check(nil)
	}

	from, err := parsePosition(since)
	if err != nil {
		return err
	}

	oldest := st.req.Server.DB.LogFirst()
	switch {
	case from.generation != "" && from.generation != head.Generation || from.seq > head.Seq:
		return errs.New(errs.Gone,
			"a restore has replaced the data since; the oldest event is %d: read the data again, and continue without a position", oldest)
	case from.seq+1 < oldest:
		return errs.New(errs.Gone,
			"events up to this position are no longer available; the oldest is %d: read the data again, and continue without a position", oldest)
	}

	st.at.seq = from.seq
	return st.check(nil)
}

// open writes the first event.
func (st *stream) open() error {
	return st.req.Server.DB.View(store.Anonymous, func(tx *store.Tx) error {
		actor, err := st.req.Renew(tx)
		if err != nil {
			return err
		}
		out := NewView(tx, actor).opened(st.ID(), st.filter, st.req.Language())
		out.Commit = web.CommitOf(tx)
		text, err := Frame(st.ID(), "open", out)
		st.out.Write(text)
		return err
	})
}

// ID returns the position of the last entry.
func (st *stream) ID() string { return web.EventID(st.at.generation, st.at.seq) }

// Next writes the events of entries that are new.
func (st *stream) Next() (woken <-chan struct{}, err error) {
	entries, woken, err := st.all.After(st.at.seq)
	if err == nil {
		err = st.check(entries)
	}
	if len(entries) > 0 {
		return nil, err
	}
	return woken, err
}

// check authorizes the caller again and writes the events of entries that the caller may read now.
func (st *stream) check(entries []*StreamEntry) error {
	return st.req.Server.DB.View(store.Anonymous, func(tx *store.Tx) error {
		actor, err := st.req.Renew(tx)
		if err != nil {
			return err
		}
		if err := st.noteAccess(tx, actor); err != nil {
			return err
		}

		view := NewView(tx, actor)
		for _, e := range entries {
			if err := st.entry(view, e); err != nil {
				return err
			}
			st.at = position{e.Generation, e.Seq}
			if st.out.Len() > streamOut {
				break // the rest comes after this has been sent
			}
		}

		return nil
	})
}

// accessChange is the data of the event access.changed.
type accessChange struct {
	Type   string `json:"type"`
	Commit string `json:"commit,omitempty"` // see Event
}

// noteAccess writes an event if the caller's permissions or data scope have changed.
func (st *stream) noteAccess(tx *store.Tx, actor *store.Actor) error {
	policy := store.PolicyCache.Get(tx)
	if actor.App || policy == st.policy && actor == st.actor {
		return nil
	}
	keys, scope := actor.PermissionsHash(tx), actor.Scope(tx)
	changed := st.policy != nil && (keys != st.keys || !scope.Same(st.scope))
	st.policy, st.actor, st.roles, st.keys, st.scope = policy, actor, fmt.Sprint(actor.RoleIDs), keys, scope
	if !changed || !st.filter.Wants(AccessChanged) {
		return nil
	}
	text, err := Frame("", AccessChanged, accessChange{AccessChanged, web.CommitOf(tx)})
	st.out.Write(text)
	return err
}

// entry writes the events of an entry. Users with the same roles and the data scope all get the
// same text, which is made once. The permissions of an API key depend on its owner, too.
func (st *stream) entry(view *View, e *StreamEntry) error {
	key := frameKey{st.policy, st.roles, st.types}
	shared := view.Scope.All && view.who.Key == nil && e.SessionID != uint64(st.req.SessionID()) &&
		!slices.ContainsFunc(e.Changes, func(c audit.Change) bool {
			return view.isOwn(&c)
		})
	if shared {
		if text, known := e.framed(key); known {
			st.out.Write(text)
			return nil
		}
	}

	text, err := st.frames(view, &e.Entry)
	if err == nil && shared {
		e.keep(key, text)
	}

	st.out.Write(text)
	return err
}

// frames returns the events of an entry. Only the last one has the ID: a client that continues
// there has received all of them.
func (st *stream) frames(view *View, e *audit.Entry) (text []byte, err error) {
	var events []*Event
	for part := range EventParts(e) {
		ev, err := view.Event(e, part, st.filter, st.req.SessionID())
		if err != nil {
			return nil, err
		}
		if ev != nil {
			events = append(events, ev)
		}
	}

	commit := web.CommitOf(view.tx)
	for i, ev := range events {
		ev.Commit = commit
		id := ""
		if i == len(events)-1 {
			id = ev.ID
		}
		one, err := Frame(id, ev.Type, ev)
		if err != nil {
			return nil, err
		}
		text = append(text, one...)
	}

	return text, nil
}
