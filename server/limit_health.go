package server

import (
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// recentRejection is how long health reports a rejection.
const recentRejection = time.Minute

// limitHealth reports the limits that have rejected requests recently.
func (s *Server) limitHealth() part {
	p := part{Name: "limits", State: healthy, message: errs.Say("no limit was reached within the last minute"), Figures: map[string]int64{}}
	var met errs.Message
	var since time.Time
	for _, l := range s.limits.all() {
		p.Figures[l.name+"_rejected"] = int64(l.rejected.Load())
		if l.total > 0 {
			p.Figures[l.name], p.Figures[l.name+"_max"] = l.now(), l.total
		}
		last := time.Unix(0, l.last.Load())
		if time.Since(last) < recentRejection {
			if met.Empty() {
				met = l.text
			} else {
				met = errs.Say("%s; %s", met, l.text)
			}
			if last.After(since) {
				since = last
			}
		}
	}
	if !met.Empty() {
		p.State, p.Since = degraded, store.TimeOf(since)
		p.message = errs.Say("requests were rejected within the last minute: %s", met)
	}
	return p
}
