package server

import (
	"context"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"reeve/server/redis"
	"reeve/store"
	"reeve/store/journal"
)

// Monitoring: what a request did is collected on it (store.Watch and the notes of
// handlers), judged when it has been answered (monitor_sample.go), and handed over
// through a bounded queue to one goroutine, which encodes and writes it. Nothing
// here can fail or delay a request: a full queue drops, and counts.

const (
	queueLength = 4096
	queueBytes  = 16 << 20
	writeEvery  = time.Second // how much a crash loses, at most, with the time of a commit
	batchLength = 500
)

// MonitorConfig is what the configuration says of monitoring.
type MonitorConfig struct {
	Off      bool
	MaxBytes int64         // on the disk, in all
	MinFree  int64         // of the disk, which stays free
	MaxAge   time.Duration // of an event
}

// monitor takes events, thins and keeps them.
type monitor struct {
	config  MonitorConfig
	targets []string // Redis servers, see parseRedisTargets
	db      *store.DB
	log     zerolog.Logger
	host    string
	journal atomic.Pointer[journal.Journal] // nil until it is open
	queue   chan *bundle
	full    chan struct{} // signals that the queue holds a batch
	bytes   atomic.Int64  // in the queue
	dropped atomic.Uint64
	reads   sampler
	writes  sampler // of the events of writes
	tallies *tallies
	traces  traces
	hits    []atomic.Uint64 // of caches, by number, not yet written
	budget  time.Duration   // how long a list looks

	events   events   // of run alone
	told     []string // the journal's warnings that are in the log; of run alone
	noEvents trouble
	noCounts trouble

	slowRequest, slowStore atomic.Int64 // time.Duration, from the settings
	stopped                sync.WaitGroup
}

func newMonitor(config MonitorConfig, targets []string, db *store.DB, log zerolog.Logger, routes []Route) *monitor {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	m := &monitor{
		config: config, targets: targets, db: db, log: log, host: host, queue: make(chan *bundle, queueLength), full: make(chan struct{}, 1),
		tallies: newTallies(routes), hits: make([]atomic.Uint64, len(store.CacheNames())),
		budget: scanBudget,
	}
	m.readSettings()
	return m
}

// readSettings takes over the settings that every request is judged by.
func (m *monitor) readSettings() {
	m.db.View(store.System, func(tx *store.Tx) error { // from memory: it cannot fail
		m.slowRequest.Store(int64(store.SlowRequestMS.Get(tx)) * int64(time.Millisecond))
		m.slowStore.Store(int64(store.SlowStoreMS.Get(tx)) * int64(time.Millisecond))
		return nil
	})
}

// run opens the journal and writes what comes until ctx ends; then it writes what
// is left.
func (m *monitor) run(ctx context.Context) {
	if m.config.Off {
		return
	}
	j := journal.Open(m.db.Dir()+"/monitor", journal.Options{MaxBytes: m.config.MaxBytes, MinFree: m.config.MinFree, MaxAge: m.config.MaxAge})
	m.tallies.load(j)
	m.journal.Store(j)
	m.logWarnings(j)
	defer func() {
		if err := j.Close(); err != nil {
			m.log.Warn().Err(err).Msg("closing the monitoring failed")
		}
	}()
	m.pollRedis(ctx)
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	for {
		select {
		case <-m.full:
		case <-tick.C:
			m.readSettings()
			m.reads.adapt()
			m.writes.adapt()
			m.tend(j)
		case <-ctx.Done():
			m.stopped.Wait()
			m.flush(j)
			for len(m.queue) > 0 {
				m.flush(j)
			}
			return
		}
		m.write(j)
		m.wakeIfFull()
	}
}

// wakeIfFull wakes run once the queue holds a batch. Waking it for every request took about
// half of monitoring's processor time on a lone connection.
func (m *monitor) wakeIfFull() {
	if len(m.queue) < batchLength {
		return
	}
	select {
	case m.full <- struct{}{}:
	default:
	}
}

// giveWay makes room for the database on a full disk.
func (m *monitor) giveWay() bool {
	j := m.journal.Load()
	if j == nil {
		return false
	}
	freed := j.GiveWay(giveWayBytes)
	if freed > 0 {
		m.log.Warn().Int64("bytes", freed).Msg("the disk is full: the oldest monitoring data was removed")
	}
	return freed > 0
}

// giveWayBytes is how much monitoring gives back when a commit finds the disk full.
const giveWayBytes = 4 << 20

// flush writes what waits, and all that goes with it.
func (m *monitor) flush(j *journal.Journal) {
	m.write(j)
	m.tend(j)
}

// write writes at most two batches from the queue.
func (m *monitor) write(j *journal.Journal) {
	var waiting []*bundle
	for more := true; more && len(waiting) < 2*batchLength; {
		select {
		case b := <-m.queue:
			waiting = append(waiting, b)
		default:
			more = false
		}
	}
	groups := make([]journal.Group, 0, len(waiting)+1)
	for _, b := range waiting {
		m.bytes.Add(-b.size)
		groups = append(groups, b.encode(m))
	}
	if hits := m.takeHits(); len(hits.Events) > 0 {
		groups = append(groups, hits)
	}
	if len(groups) > 0 {
		m.noEvents.follow(m.log, "events", j.Append(groups)) // what it drops it counts
	}
	m.events.reuse()
}

// tend does what is due once a second, however many batches are written meanwhile.
func (m *monitor) tend(j *journal.Journal) {
	if tried, err := m.tallies.save(j); tried {
		m.noCounts.follow(m.log, "counts of requests", err)
	}
	j.Expire() // what is wrong shows at the next write
	m.logWarnings(j)
}

// trouble is why something could not be written the last time; nil when it could.
type trouble struct{ atomic.Pointer[error] }

// follow logs when a trouble begins and when it is over, and nothing between.
func (t *trouble) follow(log zerolog.Logger, what string, err error) {
	switch had := t.Load(); {
	case err == nil && had != nil:
		t.Store(nil)
		log.Info().Msgf("monitoring keeps %s again", what)
	case err != nil && had == nil:
		t.Store(&err)
		log.Warn().Err(err).Msgf("monitoring loses %s", what)
	}
}

// logWarnings logs what the journal has met, once each.
func (m *monitor) logWarnings(j *journal.Journal) {
	warnings := j.Stats().Warnings
	for _, text := range warnings {
		if !slices.Contains(m.told, text) {
			m.log.Warn().Str("cause", text).Msg("a file of monitoring could not be used")
		}
	}
	m.told = warnings
}

// takeHits makes events of the hits of caches since the last time.
func (m *monitor) takeHits() (group journal.Group) {
	now := store.TimeOf(time.Now())
	for n, name := range store.CacheNames() {
		count := m.hits[n].Swap(0)
		if count == 0 {
			continue
		}
		e := cacheEvent{eventHead: eventHead{RecordedAt: now, HostName: m.host, Sampled: 1}, Cache: name, Type: "hit", Count: int64(count)}
		group.Events = append(group.Events, m.events.journaled(cacheKind, marks{at: now}, &e))
	}
	return group
}

// put hands a bundle over, or drops it.
func (m *monitor) put(b *bundle) {
	if m.bytes.Add(b.size) <= queueBytes {
		select {
		case m.queue <- b:
			m.wakeIfFull()
			return
		default:
		}
	}
	m.bytes.Add(-b.size)
	m.dropped.Add(1)
}

// pollRedis has the Redis servers of the configuration asked until ctx ends.
func (m *monitor) pollRedis(ctx context.Context) {
	targets, err := redis.ParseTargets(m.targets)
	if err != nil || len(targets) == 0 {
		return // a mistake has ended the start
	}
	m.stopped.Go(func() {
		redis.NewPoller(targets, m.log).Run(ctx, func(e redis.Event) {
			b := &bundle{redis: []redis.Event{e}, loose: true, size: 1024, marks: marks{at: e.At, failed: e.State == "down"}}
			b.request.eventHead = eventHead{RecordedAt: e.At, HostName: m.host, Sampled: 1}
			m.put(b)
		})
	})
}
