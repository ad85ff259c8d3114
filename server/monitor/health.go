package monitor

import (
	"sync/atomic"

	"github.com/rs/zerolog"

	"reeve/store/errs"
)

// outage is the error of the last write, or nil. It is logged when writes start to fail and
// when they succeed again, not in between.
type outage struct{ atomic.Pointer[error] }

// update sets the result of the last write. what names the data for the log.
func (o *outage) update(log zerolog.Logger, what string, err error) {
	switch last := o.Load(); {
	case err == nil && last != nil:
		o.Store(nil)
		log.Info().Msgf("monitoring records %s again", what)
	case err != nil && last == nil:
		o.Store(&err)
		log.Warn().Err(err).Msgf("monitoring is losing %s", what)
	}
}

// Dropped returns the number of requests whose events were dropped because the queue was
// full.
func (m *Monitor) Dropped() uint64 { return m.dropped.Load() }

// Gauges calls register for each gauge of monitoring.
func (m *Monitor) Gauges(register func(name, help string, value func() float64)) {
	register("reeve_monitor_queue_length", "Requests whose events are waiting to be written.",
		func() float64 {
			return float64(len(m.queue))
		})
	register("reeve_monitor_sampling", "Number of ordinary reads that a recorded one represents.",
		func() float64 {
			return float64(max(1, m.reads.every.Load()))
		})
	register("reeve_monitor_bytes", "Disk space used by monitoring in bytes.", func() float64 {
		if j := m.journal.Load(); j != nil {
			return float64(j.Stats().Bytes)
		}
		return 0
	})
}

// Health is the state of monitoring: whether events are being recorded.
type Health struct {
	Degraded bool
	Text     errs.Message
	Figures  map[string]int64
}

// Health returns the state of monitoring.
func (m *Monitor) Health() Health {
	h := Health{
		Text: errs.Say("records events"),
		Figures: map[string]int64{
			"dropped_requests": int64(m.dropped.Load()),
			"queued_requests":  int64(len(m.queue)),
		},
	}

	j := m.journal.Load()
	switch {
	case m.config.Off:
		h.Text = errs.Say("turned off by monitor.max_bytes")
		return h
	case j == nil:
		h.Text = errs.Say("being opened")
		return h
	}

	stats := j.Stats()
	h.Figures["bytes"], h.Figures["max_bytes"], h.Figures["dropped_events"] = stats.Bytes, stats.MaxBytes, int64(stats.Dropped)
	if n := len(stats.Warnings); n > 0 {
		h.Degraded, h.Text = true, errs.Say("files were set aside or events were lost: %s",
			stats.Warnings[n-1])
	}
	if err := m.countOutage.Load(); err != nil {
		h.Degraded, h.Text = true, errs.Say("request counts are being lost: %s", (*err).Error())
	}
	if err := m.eventOutage.Load(); err != nil {
		h.Degraded, h.Text = true, errs.Say("events are being lost: %s", (*err).Error())
	}

	return h
}
