package monitor

import (
	"time"

	"reeve/store/journal"
	"reeve/store/kv"
)

// Limits of the queue between requests and Run.
const (
	queueLength = 4096     // records
	queueBytes  = 16 << 20 // approximate bytes of memory
	batchLength = 500      // records from which Run is woken before the next tick
)

// put queues a record, or drops it if the queue is full.
func (m *Monitor) put(r *record) {
	if m.bytes.Add(r.size) <= queueBytes {
		select {
		case m.queue <- r:
			m.wakeIfFull()
			return
		default:
		}
	}
	m.bytes.Add(-r.size)
	m.dropped.Add(1)
}

// wakeIfFull wakes Run once the queue has a batch. Waking it for every request took about
// half of monitoring's processor time with a single connection.
func (m *Monitor) wakeIfFull() {
	if len(m.queue) < batchLength {
		return
	}
	select {
	case m.full <- struct{}{}:
	default:
	}
}

// write writes at most two batches from the queue.
func (m *Monitor) write() {
	m.forgetting.RLock()
	defer m.forgetting.RUnlock()
	var waiting []*record
	for more := true; more && len(waiting) < 2*batchLength; {
		select {
		case r := <-m.queue:
			waiting = append(waiting, r)
		default:
			more = false
		}
	}

	groups := make([]journal.Group, 0, len(waiting)+1)
	for _, r := range waiting {
		m.bytes.Add(-r.size)
		if group := m.encode(r); !m.isForgotten(r, &group) {
			groups = append(groups, group)
		}
	}

	if hits := m.takeHits(); len(hits.Events) > 0 {
		groups = append(groups, hits)
	}
	if len(groups) > 0 {
		m.eventOutage.update(m.log, "events", m.journal.Load().Append(groups)) // the journal counts what it drops
	}

	m.encoder.reuse()
}

// takeHits returns one event for each cache with hits since the last call.
func (m *Monitor) takeHits() (group journal.Group) {
	now := kv.TimeOf(time.Now())
	for n, name := range kv.CacheNames() {
		count := m.hits[n].Swap(0)
		if count == 0 {
			continue
		}
		e := CacheEvent{
			EventHead: EventHead{RecordedAt: now, HostName: m.host, Sampled: 1},
			Cache:     name,
			Type:      "hit",
			Count:     int64(count),
		}
		group.Events = append(group.Events, m.encoder.encode(CacheKind, indexHeader{at: now}, &e))
	}
	return group
}
