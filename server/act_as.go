package server

import (
	"strings"

	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
)

// A user acts as another one in a session of their own: the session has the ID of the other user, and the requests that
// are meant name it in a header. Other requests of the session, such as those of another tab, are the user's own.

// actAsHeader has the ID of the user as whom the caller acts.
const actAsHeader = "X-Act-As"

var actAsRoutes = []Route{
	confirmed(bySession(write("POST", "/admin/list/:id/act-as", store.ActAsPermission, "Act as a user", beginActing))),
	bySession(write("DELETE", "/admin/act-as", signedIn, "Stop acting as a user", endActing)),
	bySession(action("GET", "/admin/account/activity", signedIn, "List your own activity", ownActivity)),
}

type actAsIn struct {
	byID
	Reason string     `json:"reason" check:"required,max=200" doc:"Why; the change log has it, and the user is told"`
	Writes store.Flag `json:"writes" doc:"1 to be able to change something, which requires the permission admin.list.act_as_write; 0, the default, to look only"`
}

type actAsOut struct {
	UserID   store.ID   `json:"user_id" doc:"ID to send in the header X-Act-As"`
	Username string     `json:"username"`
	Writes   store.Flag `json:"writes"`
	Until    store.Time `json:"until" doc:"Time at which it ends"`
}

func beginActing(tx *store.Tx, req *Request, in *actAsIn) (*actAsOut, error) {
	as, err := store.ActAs(tx, store.ActorOf(tx), in.ID, bool(in.Writes))
	if err != nil {
		return nil, err
	}
	req.origin.As, req.origin.Reason = as.ID, in.Reason
	until, err := store.BeginActing(tx, req.Session.ID, as, in.Reason)
	req.note("act_as", as.Username, err)
	return &actAsOut{as.ID, as.Username, in.Writes, until}, err
}

func endActing(tx *store.Tx, req *Request, _ *none) (nothing, error) {
	user, err := store.EndActing(tx, req.Session.ID)
	req.origin.As = user
	return nothing{}, err
}

// actor returns on whose behalf a request runs: the user of its session, or one as whom that user acts.
func (req *Request) actor(tx *store.Tx) (*store.Actor, error) {
	own := req.Session.Actor
	values := req.http.Header[actAsHeader]
	if len(values) == 0 {
		return own, nil
	}
	id, err := parseID(strings.TrimSpace(values[0]))
	if err != nil || len(values) > 1 {
		return nil, errs.Field(errs.Malformed, actAsHeader, "must be the ID of a user")
	}
	if now := req.Session.Acting; now.User != id || tx.Now() >= now.Until {
		return nil, store.ErrNotActing
	}
	return store.StillActAs(tx, own, id, req.Session.Acting.Writes)
}

// confirmActing checks, in a write transaction, that the user of the session still acts as the actor.
func (req *Request) confirmActing(tx *store.Tx) error {
	a := store.ActorOf(tx)
	if a.By == nil {
		return nil
	}
	s, err := store.Sessions.Get(tx, req.Session.ID)
	if err == nil && (s.ActAs != a.ID || tx.Now() >= s.ActUntil || a.Writes && !bool(s.ActWrites)) {
		err = store.ErrNotActing
	}
	return err
}

// permitActing returns an error if nobody may use the route for somebody else: it is about the account and its sessions,
// factors and keys, or requires a recent proof. Changes need a permission of their own.
func (rt *Route) permitActing(a *store.Actor) error {
	switch {
	case a.By == nil:
		return nil
	case rt.keys == byNoKey || rt.confirmed || strings.HasPrefix(rt.Path, "/admin/key") || strings.HasPrefix(rt.Path, "/admin/account/"):
		return store.ErrActing
	case rt.Method != "GET" && !rt.reads && rt.logs != linkAction:
		return a.MayWrite()
	}
	return nil
}

// actingOut is as whom the caller acts.
type actingOut struct {
	By     string     `json:"by" doc:"Username of whoever acts as this user"`
	Writes store.Flag `json:"writes" doc:"1 if that includes changes"`
	Until  store.Time `json:"until" doc:"Time at which it ends"`
}

func actingOf(req *Request) *actingOut {
	if req.Actor.By == nil {
		return nil
	}
	return &actingOut{req.Actor.By.Username, store.Flag(req.Actor.Writes), req.Session.Acting.Until}
}

type activityIn struct {
	Before   store.ID `query:"before" doc:"next of the page before"`
	PageSize store.ID `query:"pageSize" doc:"Maximum number of entries, 10 by default and at most 1000"`
}

// activityPage is a page of what was done by a user, or by others as the user.
type activityPage struct {
	Data []*activityEntry `json:"data" doc:"Entries, the newest first"`
	Next uint64           `json:"next" doc:"Value of before for the next page; 0 on the last one"`

	Damaged store.Flag `json:"damaged,omitempty" doc:"1 if a part of the log cannot be read, so that entries or values may be missing; otherwise absent"`
}

type activityEntry struct {
	Seq       uint64       `json:"seq" doc:"Number of the entry in the change log"`
	At        store.Time   `json:"at"`
	Operation logOperation `json:"operation"`
	Action    string       `json:"action" doc:"What was done besides changing records; empty otherwise"`
	By        string       `json:"by" doc:"Username of an administrator who acted as you; empty if it was you"`
	As        string       `json:"as" doc:"Username of the user as whom you acted; empty otherwise"`
	Reason    string       `json:"reason" doc:"Reason that was given; empty for none"`
	Address   string       `json:"address" doc:"Your client address; empty if it was somebody else"`
}

// ownActivity returns what the change log has of the caller. It needs no permission, so it does not tell what of which
// record was changed.
func ownActivity(req *Request, in *activityIn) (*activityPage, error) {
	size := defaultPageSize
	if in.PageSize > 0 {
		size = int(min(in.PageSize, maxPageSize))
	}
	own := audit.Actor{Kind: "user", ID: uint64(req.Actor.ID)}
	rows, more, err := req.search(audit.Query{All: [][]string{{audit.ByActor(own.Kind, own.ID)}}}, uint64(in.Before), size)
	page := &activityPage{Data: []*activityEntry{}}
	noteDamage(&page.Damaged, &err)
	if err != nil {
		return nil, err
	}
	err = req.db.View(req.Actor, func(tx *store.Tx) error {
		view := newLogView(tx, req.Actor)
		for _, row := range rows {
			e, err := row.Decode()
			if err != nil {
				return err
			}
			entry, err := view.activity(&e, own)
			if err != nil {
				return err
			}
			page.Data = append(page.Data, entry)
		}
		page.Damaged = page.Damaged || view.log.Damaged() > 0
		return nil
	})
	if more && len(rows) > 0 {
		page.Next = rows[len(rows)-1].Seq
	}
	return page, err
}

// activity returns an entry for the user who did it, or as whom it was done.
func (v *logView) activity(e *audit.Entry, own audit.Actor) (*activityEntry, error) {
	at, err := store.ParseTime(e.At)
	if err != nil {
		return nil, err
	}
	out := &activityEntry{Seq: e.Seq, At: at, Operation: logOperation{e.Operation.Method, e.Operation.Route, e.Operation.Title}, Action: e.Action, Reason: e.Reason}
	if e.Actor.Kind == own.Kind && e.Actor.ID == own.ID {
		if out.Address, _, err = v.text(e.Address); err == nil {
			out.As, _, err = v.text(e.As.Name)
		}
		return out, err
	}
	out.By, _, err = v.text(e.Actor.Name)
	return out, err
}
