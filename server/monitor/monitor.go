// Package monitor records what requests did: their events, counts of all requests,
// traces, and the state of external Redis servers.
//
// The server fills one Facts value when a request has been answered and passes it to
// Monitor.Done. Done counts the request, decides whether to keep it, and, if so, builds a
// record without secrets and puts it into a bounded queue. One goroutine, Run, encodes the
// records and writes them to a journal (package store/journal). Search, Detail and Stats
// read the journal for an Audience, which limits what a caller sees to the caller's data
// scope.
//
// Invariants:
//   - Monitoring never fails or delays a request. If the queue is full, the record is
//     dropped and counted.
//   - No secret reaches the queue: everything that a client sent goes through package
//     redact first.
//   - Every request is counted, even if its events are not kept.
//   - Failed, denied, slow and traced requests are kept with all their events. Events of
//     other requests are sampled under load, and have the number that they represent.
//     The requests of writes, and sign-ins, are always kept.
//   - Package monitor does not know HTTP handlers or routes of the server; see Route.
//
// Example:
//
//	m := monitor.New(config, nil, db, log)
//	go m.Run(ctx)
//	m.Done(&monitor.Facts{Route: route, RequestID: id, Begun: begun, Took: time.Since(begun),
//		Method: "GET", Path: "/admin/list", Status: 200, Caller: actor, Store: &watch})
//	found, err := m.Search(monitor.RecentQuery(monitor.RequestKind), monitor.NewAudience(db, scope))
package monitor

import (
	"context"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"reeve/store"
	"reeve/store/journal"
	"reeve/store/kv"
)

const (
	writeEvery   = time.Second // a crash loses at most the events of this time and of one commit
	giveWayBytes = 4 << 20     // bytes of events that GiveWay removes
)

// Config configures monitoring.
type Config struct {
	Off      bool
	MaxBytes int64         // maximum size of all files of monitoring
	MinFree  int64         // bytes of the disk that must stay free
	MaxAge   time.Duration // maximum age of an event

	// SearchTime limits how long a search reads; 0 for 60 ms.
	SearchTime time.Duration
}

// Monitor records requests. Its methods are safe for concurrent use, except for Open,
// Flush and Close, which Run calls.
type Monitor struct {
	config   Config
	targets  []string // Redis servers, see redis.ParseTargets
	db       *store.DB
	log      zerolog.Logger
	host     string
	journal  atomic.Pointer[journal.Journal] // nil until it is open
	queue    chan *record
	full     chan struct{} // signals that the queue holds a batch
	bytes    atomic.Int64  // approximate bytes of the records in the queue
	dropped  atomic.Uint64 // records dropped because the queue was full
	reads    sampler
	writes   sampler // sampler of the events of writes
	counter  counter
	traces   traces
	hits     []atomic.Uint64 // cache hits not yet written, by index in store.CacheNames
	isSecret func(setting string) bool

	// Used by the goroutine of Run only.
	encoder encoder
	warned  []string // warnings of the journal that have been logged

	forgetting sync.RWMutex // held for reading while the queue is written; guards forgotten
	forgotten  []forgotten

	eventOutage, countOutage outage

	slowRequest, slowStore atomic.Int64 // time.Duration, from the settings
	pollers                sync.WaitGroup
}

// New returns a monitor. targets are the Redis servers to poll, see redis.ParseTargets.
// Events are queued until Run or Open opens the journal.
func New(config Config, targets []string, db *store.DB, log zerolog.Logger) *Monitor {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	if config.SearchTime == 0 {
		config.SearchTime = searchTime
	}

	m := &Monitor{
		config:  config,
		targets: targets,
		db:      db,
		log:     log,
		host:    host,
		queue:   make(chan *record, queueLength),
		full:    make(chan struct{}, 1),
		hits:    make([]atomic.Uint64, len(kv.CacheNames())),
	}
	m.counter.reset()
	m.isSecret = m.isSecretSetting
	m.readSettings()
	return m
}

// readSettings reads from which duration requests and operations are slow.
func (m *Monitor) readSettings() {
	m.db.View(store.System, func(tx *store.Tx) error { // served from memory: it cannot fail
		m.slowRequest.Store(int64(store.SlowRequestMS.Get(tx)) * int64(time.Millisecond))
		m.slowStore.Store(int64(store.SlowStoreMS.Get(tx)) * int64(time.Millisecond))
		return nil
	})
}

// Run opens the journal and writes records until ctx ends. Then it writes the remaining
// records and closes the journal.
func (m *Monitor) Run(ctx context.Context) {
	if m.config.Off {
		return
	}

	m.Open()
	defer func() {
		if err := m.Close(); err != nil {
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
			m.maintain()
		case <-ctx.Done():
			m.pollers.Wait()
			m.Flush()
			return
		}
		m.write()
		m.wakeIfFull()
	}
}

// Open opens the journal. It cannot fail, see journal.Open.
func (m *Monitor) Open() {
	j := m.openJournal()
	m.counter.load(j)
	m.journal.Store(j)
	m.logWarnings(j)
}

func (m *Monitor) openJournal() *journal.Journal {
	return journal.Open(m.dir(), journal.Options{
		MaxBytes: m.config.MaxBytes,
		MinFree:  m.config.MinFree,
		MaxAge:   m.config.MaxAge,
	})
}

func (m *Monitor) dir() string { return m.db.Dir() + "/monitor" }

// Close closes the journal. Searches find nothing afterwards.
func (m *Monitor) Close() error { return m.journal.Load().Close() }

// Flush writes everything that has been recorded so far.
func (m *Monitor) Flush() {
	m.readSettings()
	for more := true; more; more = len(m.queue) > 0 {
		m.write()
		m.maintain()
	}
}

// GiveWay removes the oldest events when a commit of the database finds the disk full. It
// reports whether it freed anything.
func (m *Monitor) GiveWay() bool {
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

// maintain saves the counts, and removes what has expired. Run calls it once a second,
// however many batches it writes.
func (m *Monitor) maintain() {
	j := m.journal.Load()
	if tried, err := m.counter.save(j); tried {
		m.countOutage.update(m.log, "counts of requests", err)
	}
	j.Expire() // the next write reports the same error
	m.logWarnings(j)
}

// logWarnings logs each warning of the journal once.
func (m *Monitor) logWarnings(j *journal.Journal) {
	warnings := j.Stats().Warnings
	for _, text := range warnings {
		if !slices.Contains(m.warned, text) {
			m.log.Warn().Str("cause", text).Msg("a file of monitoring could not be used")
		}
	}
	m.warned = warnings
}
