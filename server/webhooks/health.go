package webhooks

import (
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// behind returns the number of entries of the change log that the slowest webhook of this node has not
// handled.
func (w *Sender) behind() (most uint64) {
	head := w.s.DB.LogHead().Seq
	for _, h := range w.all() {
		if seq := h.now().Seq; head > seq {
			most = max(most, head-seq)
		}
	}
	return most
}

// Health reports webhooks that need attention: somebody must resume a paused one, and a
// receiver that fails may have to be repaired.
func (w *Sender) Health() web.Part {
	p := web.Part{
		Name:  "webhooks",
		State: web.Healthy,
		Figures: map[string]int64{
			"enabled":        0,
			"paused":         0,
			"without_owner":  0,
			"retrying":       0,
			"behind_entries": 0,
		},
	}
	head := w.s.DB.LogHead().Seq
	err := w.s.DB.View(store.System, func(tx *store.Tx) error {
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

			state, err := w.stateOf(tx, v.ID)
			if err != nil {
				return err
			}
			if head > state.Seq {
				p.Figures["behind_entries"] = max(p.Figures["behind_entries"], int64(head-state.Seq))
			}
			switch {
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
		return w.s.UnknownPart("webhooks", err)
	}

	n := p.Figures
	p.Message = errs.Say("%d webhooks send events", n["enabled"])
	if waiting := n["paused"] + n["without_owner"] + n["retrying"]; waiting > 0 {
		p.State = web.Degraded
		p.Message = errs.Say("of %d webhooks, %d are paused, %d wait for another owner, and %d are retrying", n["enabled"], n["paused"], n["without_owner"], n["retrying"])
	}

	return p
}
