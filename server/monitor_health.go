package server

import "fmt"

// gauges tells the metrics of monitoring what becomes of events.
func (m *monitor) gauges(to *metrics) {
	to.gauge("reeve_monitor_queue_length", "Requests whose events wait to be written.", func() float64 { return float64(len(m.queue)) })
	to.gauge("reeve_monitor_dropped", "Requests since the start whose events found the queue full.", func() float64 { return float64(m.dropped.Load()) })
	to.gauge("reeve_monitor_sampling", "Number of ordinary reads that a kept one represents.", func() float64 { return float64(max(1, m.reads.every.Load())) })
	to.gauge("reeve_monitor_bytes", "Bytes of monitoring on the disk.", func() float64 {
		if j := m.journal.Load(); j != nil {
			return float64(j.Stats().Bytes)
		}
		return 0
	})
}

// monitorHealth says whether events can be kept.
func (s *Server) monitorHealth() part {
	m := s.monitor
	p := part{Name: "monitor", State: healthy, Text: "keeps events", Figures: map[string]int64{"dropped_requests": int64(m.dropped.Load()), "queued_requests": int64(len(m.queue))}}
	j := m.journal.Load()
	switch {
	case m.config.Off:
		p.Text = "is turned off by monitor.max_bytes"
		return p
	case j == nil:
		p.Text = "is being opened"
		return p
	}
	stats := j.Stats()
	p.Figures["bytes"], p.Figures["max_bytes"], p.Figures["dropped_events"] = stats.Bytes, stats.MaxBytes, int64(stats.Dropped)
	if n := len(stats.Warnings); n > 0 {
		p.State, p.Text = degraded, fmt.Sprintf("has set files aside or lost events: %s", stats.Warnings[n-1])
	}
	for what, t := range map[string]*trouble{"counts of requests": &m.noCounts, "events": &m.noEvents} {
		if err := t.Load(); err != nil {
			p.State, p.Text = degraded, fmt.Sprintf("loses %s: %v", what, *err)
		}
	}
	return p
}
