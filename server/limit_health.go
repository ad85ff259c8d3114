package server

import (
	"strings"
	"time"

	"reeve/store"
)

// recentRejection is how long health shows that a limit was met.
const recentRejection = time.Minute

// limitHealth reports which limits have rejected requests lately.
func (s *Server) limitHealth() part {
	p := part{Name: "limits", State: healthy, Text: "leave room", Figures: map[string]int64{}}
	var met []string
	var since time.Time
	for _, l := range s.limits.all() {
		p.Figures[l.name+"_rejected"] = int64(l.rejected.Load())
		if l.total > 0 {
			p.Figures[l.name], p.Figures[l.name+"_max"] = l.now(), l.total
		}
		last := time.Unix(0, l.last.Load())
		if time.Since(last) < recentRejection {
			met = append(met, l.text)
			if last.After(since) {
				since = last
			}
		}
	}
	if len(met) > 0 {
		p.State, p.Since = degraded, store.TimeOf(since)
		p.Text = "requests were rejected within the last minute: " + strings.Join(met, "; ")
	}
	return p
}
