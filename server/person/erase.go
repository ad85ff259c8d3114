package person

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"reeve/server/monitor"
	"reeve/server/web"
	"reeve/server/webhooks"
	"reeve/store"
)

// Person erases and exports what the whole server has about one person.
type Person struct {
	S       *web.Server
	Sender  *webhooks.Sender
	erasing sync.Mutex // held while an erasure is continued; guards erased

	erased   map[store.ID]bool // erasures that this node has followed and that others may have to
	followed int               // erasures that have ended and whose lines this node has, for Run alone
}

type eraseIn struct {
	web.ByID
	Username string `json:"username" check:"required,raw,max=64" doc:"Username of the user, exactly as stored, as a confirmation"`
}

// Erasure reports the removed and the remaining data of an erasure.
type Erasure struct {
	ErasedAt        store.Time         `json:"erased_at"`
	Removed         store.ErasedCounts `json:"removed" doc:"Numbers of records that were deleted or no longer name the person, besides the user's own"`
	Complete        store.Flag         `json:"complete" doc:"1 if everything was removed; 0 if the rest is removed within minutes, or after the next start"`
	MonitoringUntil store.Time         `json:"monitoring_until" null:"true" doc:"Time until which monitoring may keep events of the person if the erasure can't be completed; null if they were removed"`
	BackupsBefore   store.Time         `json:"backups_before" doc:"Backups and copies of the data made before this time still contain the person; if one is restored on this server, the person is erased again"`
	KeptCopies      int64              `json:"kept_copies" doc:"Number of copies of the data in the data directory, from before upgrades and restores, which still contain the person until you delete them"`
}

func (p *Person) eraseUser(req *web.Request, in *eraseIn) (*Erasure, error) {
	return p.erase(req, store.Account{ID: in.ID}, in.Username)
}

func (p *Person) eraseAppUser(req *web.Request, in *eraseIn) (*Erasure, error) {
	return p.erase(req, store.Account{App: true, ID: in.ID}, in.Username)
}

// erase erases a user. Once the user is deleted, the rest is done in the background if it fails
// now.
func (p *Person) erase(req *web.Request, who store.Account, username string) (*Erasure, error) {
	s := p.S
	e, removed, err := store.Erase(req.DB, req.Actor, who, username)
	if err != nil {
		return nil, err
	}

	out := &Erasure{ErasedAt: e.CreatedAt, BackupsBefore: e.CreatedAt, Complete: true}
	if err := p.finishErasure(e, &removed); err != nil {
		s.Log.Error().Err(err).Str("request", req.ID).Msg("an erasure is incomplete and will be continued")
		out.Complete, out.MonitoringUntil = false, e.CreatedAt.Add(s.Config.Monitor.MaxAge)
	}
	if p.several() { // the other nodes follow within minutes
		out.Complete, out.MonitoringUntil = false, e.CreatedAt.Add(s.Config.Monitor.MaxAge)
	}

	out.Removed = removed
	if out.KeptCopies, err = store.CountKept(s.DB); err != nil {
		s.Log.Warn().Err(err).Msg("the copies of the database could not be listed")
	}

	return out, nil
}

// finishErasure removes an erased person from everything but the user's own records, and ends the
// erasure.
func (p *Person) finishErasure(e *store.Erasure, removed *store.ErasedCounts) error {
	p.erasing.Lock()
	defer p.erasing.Unlock()
	db := p.S.DB.WithRecorder(nil).For("erasure", nil)
	if err := store.FinishErasure(db, e, removed); err != nil {
		return err
	}
	if !p.erased[e.ID] {
		if err := p.eraseHere(e, removed); err != nil {
			return err
		}
	}
	if p.several() {
		if p.erased == nil {
			p.erased = map[store.ID]bool{}
		}
		p.erased[e.ID] = true
	}
	return store.EndErasure(db, e, p.several())
}

// eraseHere removes an erased person from the files and the memory of this node.
func (p *Person) eraseHere(e *store.Erasure, removed *store.ErasedCounts) error {
	if err := store.FollowErasures(p.S.DB, []*store.Erasure{e}); err != nil {
		return err
	}

	who := e.Who()
	events, err := p.S.Monitor.Forget(monitor.Person{ID: who.ID, App: who.App, Texts: e.Texts})
	removed.Events += int64(events)
	if err != nil {
		return err
	}

	deliveries, err := p.Sender.Forget(who)
	removed.Deliveries += int64(deliveries)
	return err
}

// several reports whether other nodes have to follow an erasure.
func (p *Person) several() bool { return p.S.Config.Cluster != nil }

// Run continues erasures that an error or a restart has interrupted, and follows those of other nodes,
// until ctx ends.
func (p *Person) Run(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		p.ResumeErasures()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (p *Person) ResumeErasures() {
	var open, ended []*store.Erasure
	err := p.S.DB.View(store.System, func(tx *store.Tx) error {
		open, ended = nil, nil
		for e, err := range store.Erasures.All(tx) {
			if err != nil {
				return err
			}
			if e.Ended() {
				ended = append(ended, e)
			} else {
				open = append(open, e)
			}
		}
		return nil
	})
	if err == nil && len(ended) > p.followed {
		if err = store.FollowErasures(p.S.DB, ended); err == nil {
			p.followed = len(ended)
		}
	}
	for _, e := range open {
		if err == nil {
			err = p.finishErasure(e, &store.ErasedCounts{})
		}
	}
	if err == nil {
		p.keepErased(open)
	}
	if err != nil {
		p.S.Log.Error().Err(err).Msg("an erasure is incomplete and will be continued")
	}
}

// keepErased drops the erasures that have ended from those that this node has followed.
func (p *Person) keepErased(open []*store.Erasure) {
	p.erasing.Lock()
	defer p.erasing.Unlock()
	maps.DeleteFunc(p.erased, func(id store.ID, _ bool) bool {
		return !slices.ContainsFunc(open, func(e *store.Erasure) bool { return e.ID == id })
	})
}
