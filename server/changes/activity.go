package changes

import (
	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/kv"
)

type activityIn struct {
	Before   store.ID `query:"before" doc:"next of the page before"`
	PageSize store.ID `query:"pageSize" doc:"Maximum number of entries, 10 by default and at most 1000"`
}

// ActivityPage is a page of the changes by a user, or by other users as the user.
type ActivityPage struct {
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

// ownActivity returns the entries of the change log about the caller. It needs no permission, so it
// does not have the changes of records.
func ownActivity(req *web.Request, in *activityIn) (*ActivityPage, error) {
	size := web.DefaultPageSize
	if in.PageSize > 0 {
		size = int(min(in.PageSize, web.MaxPageSize))
	}

	own := audit.Actor{Kind: "user", ID: uint64(req.Actor.ID)}
	rows, more, err := search(req, audit.Query{All: [][]string{{audit.ByActor(own.Kind, own.ID)}}},
		uint64(in.Before), size)
	page := &ActivityPage{Data: []*activityEntry{}}
	noteDamage(&page.Damaged, &err)
	if err != nil {
		return nil, err
	}

	err = req.DB.View(req.Actor, func(tx *store.Tx) error {
		view := NewView(tx, req.Actor)
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

// activity returns an entry for its actor, or for the user whom the actor impersonated.
func (v *View) activity(e *audit.Entry, own audit.Actor) (*activityEntry, error) {
	at, err := kv.ParseTime(e.At)
	if err != nil {
		return nil, err
	}

	out := &activityEntry{
		Seq:       e.Seq,
		At:        at,
		Operation: logOperation{e.Operation.Method, e.Operation.Route, e.Operation.Title},
		Action:    e.Action,
		Reason:    e.Reason,
	}
	if e.Actor.Kind == own.Kind && e.Actor.ID == own.ID {
		if out.Address, _, err = v.text(e.Address); err == nil {
			out.As, _, err = v.text(e.As.Name)
		}
		return out, err
	}

	out.By, _, err = v.text(e.Actor.Name)
	return out, err
}
