package server

import (
	"reeve/store"
	"reeve/store/errs"
)

// behind returns the number of entries of the change log that the slowest webhook has not handled.
func (w *sender) behind() (most uint64) {
	head := w.s.db.LogHead().Seq
	for _, h := range w.all() {
		if seq := h.now().Seq; head > seq {
			most = max(most, head-seq)
		}
	}
	return most
}

// webhookHealth reports webhooks that need attention: somebody must resume a paused one, and a
// receiver that fails may have to be repaired.
func (s *Server) webhookHealth() part {
	p := part{Name: "webhooks", State: healthy, Figures: map[string]int64{"enabled": 0, "paused": 0, "without_owner": 0, "retrying": 0, "behind_entries": int64(s.sender.behind())}}
	err := s.db.View(store.System, func(tx *store.Tx) error {
		for v, err := range store.Webhooks.All(tx) {
			if err != nil {
				return err
			}
			if !bool(v.Status) {
				continue
			}
			p.Figures["enabled"]++
			owner, err := webhookOwner(tx, v)
			if err != nil {
				return err
			}
			state, err := s.sender.stateOf(tx, v.ID)
			switch {
			case err != nil:
				return err
			case v.Paused != "":
				p.Figures["paused"]++
			case owner == nil:
				p.Figures["without_owner"]++
			case state.Attempts > 0:
				p.Figures["retrying"]++
			}
		}
		return nil
	})
	if err != nil {
		return s.unknownPart("webhooks", err)
	}
	n := p.Figures
	p.message = errs.Say("%d webhooks send events", n["enabled"])
	if waiting := n["paused"] + n["without_owner"] + n["retrying"]; waiting > 0 {
		p.State = degraded
		p.message = errs.Say("of %d webhooks, %d are paused, %d have no owner who may have one, and %d are retrying", n["enabled"], n["paused"], n["without_owner"], n["retrying"])
	}
	return p
}
