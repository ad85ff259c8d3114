package server

import (
	"context"
	"time"

	"reeve/server/monitor"
	"reeve/store"
)

type eraseIn struct {
	byID
	Username string `json:"username" check:"required,raw,max=64" doc:"Username of the user, exactly as stored, as a confirmation"`
}

// erasure says what an erasure has removed, and what is left.
type erasure struct {
	ErasedAt        store.Time         `json:"erased_at"`
	Removed         store.ErasedCounts `json:"removed" doc:"Numbers of records that were deleted or no longer name the person, besides the user's own"`
	Complete        store.Flag         `json:"complete" doc:"1 if everything was removed; 0 if the rest is removed within minutes, or after the next start"`
	MonitoringUntil store.Time         `json:"monitoring_until" null:"true" doc:"Time until which monitoring may keep events of the person if the erasure can't be completed; null if they were removed"`
	BackupsBefore   store.Time         `json:"backups_before" doc:"Backups and copies of the data made before this time still contain the person; if one is restored on this server, the person is erased again"`
	KeptCopies      int64              `json:"kept_copies" doc:"Number of copies of the data in the data directory, from before upgrades and restores, which still contain the person until you delete them"`
}

func eraseUser(req *Request, in *eraseIn) (*erasure, error) {
	return req.erase(store.Account{ID: in.ID}, in.Username)
}

func eraseAppUser(req *Request, in *eraseIn) (*erasure, error) {
	return req.erase(store.Account{App: true, ID: in.ID}, in.Username)
}

// erase erases a user. Once the user is deleted, the rest is done in the background if it fails
// now.
func (req *Request) erase(who store.Account, username string) (*erasure, error) {
	s := req.s
	e, removed, err := store.Erase(req.db, req.Actor, who, username)
	if err != nil {
		return nil, err
	}
	out := &erasure{ErasedAt: e.CreatedAt, BackupsBefore: e.CreatedAt, Complete: true}
	if err := s.finishErasure(e, &removed); err != nil {
		s.log.Error().Err(err).Str("request", req.ID).Msg("an erasure is incomplete and will be continued")
		out.Complete, out.MonitoringUntil = false, e.CreatedAt.Add(s.config.Monitor.MaxAge)
	}
	out.Removed = removed
	if out.KeptCopies, err = store.CountKept(s.db); err != nil {
		s.log.Warn().Err(err).Msg("the copies of the database could not be listed")
	}
	return out, nil
}

// finishErasure removes an erased person from everything but the user's own records, and ends the
// erasure.
func (s *Server) finishErasure(e *store.Erasure, removed *store.ErasedCounts) error {
	s.erasing.Lock()
	defer s.erasing.Unlock()
	db, who := s.db.WithRecorder(nil).For("erasure", nil), e.Who()
	if err := store.FinishErasure(db, e, removed); err != nil {
		return err
	}
	events, err := s.monitor.Forget(monitor.Person{ID: who.ID, App: who.App, Texts: e.Texts})
	removed.Events += int64(events)
	if err != nil {
		return err
	}
	deliveries, err := s.sender.forget(who)
	removed.Deliveries += int64(deliveries)
	if err != nil {
		return err
	}
	return store.EndErasure(db, e)
}

// keepErasures continues erasures that an error or a restart has interrupted, until ctx ends.
func (s *Server) keepErasures(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		s.resumeErasures()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Server) resumeErasures() {
	var open []*store.Erasure
	err := s.db.View(store.System, func(tx *store.Tx) error {
		open = nil
		for e, err := range store.Erasures.All(tx) {
			if err != nil {
				return err
			}
			open = append(open, e)
		}
		return nil
	})
	for _, e := range open {
		if err == nil {
			err = s.finishErasure(e, &store.ErasedCounts{})
		}
	}
	if err != nil {
		s.log.Error().Err(err).Msg("an erasure is incomplete and will be continued")
	}
}
