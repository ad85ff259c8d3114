package ops

import (
	"time"

	"reeve/server/web"
	"reeve/store/errs"
	"reeve/store/kv"
)

// recentRejection is how long health reports a rejection.
const recentRejection = time.Minute

// LimitHealth reports the limits that have rejected requests recently.
func LimitHealth(s *web.Server) web.Part {
	p := web.Part{
		Name:    "limits",
		State:   web.Healthy,
		Message: errs.Say("no limit was reached within the last minute"),
		Figures: map[string]int64{},
	}

	var met errs.Message
	var since time.Time
	for _, l := range s.Limits.All() {
		p.Figures[l.Name+"_rejected"] = int64(l.Rejected.Load())
		if l.Total > 0 {
			p.Figures[l.Name], p.Figures[l.Name+"_max"] = l.Now(), l.Total
		}

		last := time.Unix(0, l.Last.Load())
		if time.Since(last) < recentRejection {
			if met.Empty() {
				met = l.Text
			} else {
				met = errs.Say("%s; %s", met, l.Text)
			}
			if last.After(since) {
				since = last
			}
		}
	}

	if !met.Empty() {
		p.State, p.Since = web.Degraded, kv.TimeOf(since)
		p.Message = errs.Say("requests were rejected within the last minute: %s", met)
	}

	return p
}
