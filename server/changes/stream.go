package changes

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"time"

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

const (
	EventStream = "text/event-stream"

	streamBeat  = 15 * time.Second // interval of heartbeats
	StreamWrite = 20 * time.Second // time for a write, after which a client is too slow and is disconnected

	streamOut = 256 << 10 // bytes that are sent at once, besides the events of one entry

	// userStreams is the share of all streams that one user can have.
	userStreams = 4
)

type streamIn struct {
	Types string `query:"types" check:"max=2000" doc:"Types of events, separated by commas, such as user.*,setting.changed; absent for all"`
	Since string `query:"since" check:"max=64" doc:"Position to continue from, for clients that cannot send the header Last-Event-ID"`
}

// stream is one open event stream.
type stream struct {
	all     *Streams
	req     *web.Request
	filter  EventFilter
	at      position
	out     bytes.Buffer
	policy  *store.Policy // policy of the last check
	actor   *store.Actor
	roles   string // IDs of its roles
	types   string // the filter as it was sent
	keys    uint64 // hash of the permissions of the last check
	scope   *store.Scope
	control *http.ResponseController
}

// serve sends changes as Server-Sent Events until the client or the session ends.
func (all *Streams) serve(req *web.Request, in *streamIn, w http.ResponseWriter) error {
	filter, err := newEventFilter(in.Types)
	if err != nil {
		return err
	}
	if err := HoldStream(req); err != nil {
		return err
	}

	all.Enter()
	defer all.Leave()
	st := &stream{
		all:     all,
		req:     req,
		filter:  filter,
		types:   in.Types,
		control: http.NewResponseController(w),
	}
	if err := st.begin(in.Since); err != nil {
		return err
	}
	if err := st.open(); err != nil {
		return err
	}

	st.control.SetReadDeadline(time.Time{}) // fails only without a connection, in a test
	h := w.Header()
	h.Set("Content-Type", EventStream)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx
	h.Set("X-Request-Id", req.ID)
	req.Opened = max(time.Since(req.Begun), 1)
	if err := st.send(w); err != nil {
		return nil // the client is gone
	}

	st.run(w)
	return nil
}

// begin sets where the stream begins: after the position of the client, or now.
func (st *stream) begin(since string) error {
	head := st.req.Server.DB.LogHead()
	st.at = position{head.Generation, head.Seq}
	if last := st.req.HTTP.Header["Last-Event-Id"]; len(last) > 0 && last[0] != "" {
		since = last[0]
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
		text, err := frame(st.id(), "open",
			NewView(tx, actor).opened(st.id(), st.filter, st.req.Language()))
		st.out.WriteString("retry: 2000\n")
		st.out.Write(text)
		return err
	})
}

func (st *stream) id() string { return web.EventID(st.at.generation, st.at.seq) }

// run sends events until the client is gone, too slow or no longer permitted, or until the server
// shuts down.
func (st *stream) run(w http.ResponseWriter) {
	streams, beat := st.all, time.NewTimer(st.all.Beat)
	defer beat.Stop()
	for {
		entries, woken, err := streams.After(st.at.seq)
		if err == nil {
			err = st.check(entries)
		}
		if err != nil {
			return // the client reconnects, and gets the error if it remains
		}
		if st.out.Len() > 0 {
			if st.send(w) != nil {
				return
			}
			beat.Reset(streams.Beat)
		}
		if len(entries) > 0 {
			continue
		}

		select {
		case <-woken:
		case <-beat.C:
			fmt.Fprintf(&st.out, ": heartbeat\nid: %s\n\n", st.id())
			beat.Reset(streams.Beat)
			if st.send(w) != nil {
				return
			}
		case <-st.req.HTTP.Context().Done():
			return
		case <-streams.Ended:
			return
		}
	}
}

// send sends what has been written to out.
func (st *stream) send(w http.ResponseWriter) error {
	st.control.SetWriteDeadline(time.Now().Add(StreamWrite)) // fails only without a connection, in a test
	_, err := w.Write(st.out.Bytes())
	if st.out.Reset(); st.out.Cap() > 1<<10 {
		st.out = bytes.Buffer{}
	}
	if err == nil {
		err = st.control.Flush()
	}
	return err
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
	text, err := frame("", AccessChanged, map[string]string{"type": AccessChanged})
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

	for i, ev := range events {
		id := ""
		if i == len(events)-1 {
			id = ev.ID
		}
		one, err := frame(id, ev.Type, ev)
		if err != nil {
			return nil, err
		}
		text = append(text, one...)
	}

	return text, nil
}
