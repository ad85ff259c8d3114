package changes

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/kv"
)

const (
	servingEvery = 250 * time.Millisecond // interval of questions whether this node serves
	streamPause  = 5 * time.Millisecond   // minimum interval in which streams are woken, and for each of them
	streamEach   = 25 * time.Microsecond  // this much more: all of them check their session, even if nothing is sent
	streamBusy   = 25 * time.Millisecond  // minimum interval while there are many writes
	ManyEntries  = 20                     // number of entries between two wake-ups that counts as many writes
	BusyAfter    = 4 * streamBusy         // how long IsBusy stays true after ManyEntries
	streamRecent = 512                    // newest entries that are kept for streams, and
	recentBytes  = 4 << 20                // their total length
	streamBatch  = 200                    // entries that are read at once
	maxFrames    = 4                      // texts that are kept of an entry, for callers with different roles
)

// Streams wakes event streams after commits, and keeps the newest entries of the change log for
// them. A stream has no queue: it has a position in the log, from which it reads when its client is
// ready, so a slow client costs no memory.
type Streams struct {
	s    *web.Server
	poke chan struct{} // contains a token if there was a commit

	Beat   time.Duration // interval of heartbeats
	Second time.Duration // unit of the time that a request may wait; longer in tests

	Mu        sync.Mutex
	open      int
	BusyUntil time.Time      // IsBusy is true until then
	recent    []*StreamEntry // the newest entries, by number; empty while no stream is open
	next      uint64         // number after the last entry of recent, or where it begins; 0 if no stream is open
	woken     chan struct{}  // closed when there may be something new
	halted    chan struct{}  // closed while this node does not serve, see web.Cluster; then replaced
	Ended     chan struct{}  // closed when the server shuts down
	Once      sync.Once
}

// StreamEntry is an entry that streams have in common.
type StreamEntry struct {
	audit.Entry
	size   int // length of its text
	mu     sync.Mutex
	frames map[frameKey][]byte // frames sent, for callers who see the same
}

// frameKey identifies callers who see the same of an entry.
type frameKey struct {
	policy *store.Policy
	roles  string
	types  string
}

// framed returns the text that was sent to callers with the same key.
func (e *StreamEntry) framed(key frameKey) (text []byte, known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	text, known = e.frames[key]
	return text, known
}

func (e *StreamEntry) keep(key frameKey, text []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.frames == nil {
		e.frames = map[frameKey][]byte{}
	}
	if len(e.frames) < maxFrames {
		e.frames[key] = text
	}
}

func NewStreams(s *web.Server) *Streams {
	st := &Streams{
		s:      s,
		Beat:   streamBeat,
		Second: time.Second,
		poke:   make(chan struct{}, 1),
		woken:  make(chan struct{}),
		halted: make(chan struct{}),
		Ended:  make(chan struct{}),
	}
	s.DB.OnCommit(func(kv.Changes) { // all writes wait for it
		select {
		case st.poke <- struct{}{}:
		default:
		}
	})
	return st
}

// Run wakes the streams until ctx ends, and ends them when this node stops serving.
func (st *Streams) Run(ctx context.Context) {
	var look <-chan time.Time
	if st.s.Config.Cluster != nil {
		ticker := time.NewTicker(servingEvery)
		defer ticker.Stop()
		look = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-look:
			st.noteServing(st.s.NotServing() == nil)
			continue
		case <-st.poke:
		}

		fresh, err := st.follow()
		if err != nil {
			st.s.Failures.Report(st.s.Log, "event streams", err, func(line *zerolog.Event) {
				line.Msg("event streams cannot read the change log")
			})
		}

		select {
		case <-ctx.Done():
			return
		case <-time.After(st.Pause(fresh)):
		}
	}
}

// Pause returns how long streams are not woken again after fresh entries, and notes whether there
// are many writes: then, it is longer, to leave processor time to them.
func (st *Streams) Pause(fresh int) time.Duration {
	st.Mu.Lock()
	defer st.Mu.Unlock()
	pause := streamPause + time.Duration(st.open)*streamEach
	if fresh >= ManyEntries {
		pause = max(pause, streamBusy)
		st.BusyUntil = time.Now().Add(BusyAfter)
	}
	return pause
}

// IsBusy reports whether there are many writes. Webhooks that are behind then
// send fewer messages, to leave processor time to the writes.
func (st *Streams) IsBusy() bool {
	st.Mu.Lock()
	defer st.Mu.Unlock()
	return time.Now().Before(st.BusyUntil)
}

// End ends all streams, since the server shuts down.
func (st *Streams) End() { st.Once.Do(func() { close(st.Ended) }) }

// noteServing ends all streams if this node has stopped serving.
func (st *Streams) noteServing(serving bool) {
	st.Mu.Lock()
	defer st.Mu.Unlock()
	halted := false
	select {
	case <-st.halted:
		halted = true
	default:
	}
	switch {
	case halted && serving:
		st.halted = make(chan struct{})
	case !halted && !serving:
		close(st.halted)
	}
}

// Halted returns a channel that is closed when this node stops serving.
func (st *Streams) Halted() <-chan struct{} {
	st.Mu.Lock()
	defer st.Mu.Unlock()
	return st.halted
}

// follow reads the new entries, wakes the streams and returns the number of entries.
func (st *Streams) follow() (n int, err error) {
	st.Mu.Lock()
	from := st.next
	st.Mu.Unlock()
	if from == 0 {
		return 0, nil // no stream is open
	}

	fresh, err := st.Read(from)
	st.Mu.Lock()
	defer st.Mu.Unlock()
	if st.next == from && len(fresh) > 0 {
		st.recent = append(st.recent, fresh...)
		st.next = fresh[len(fresh)-1].Seq + 1
		st.trim()
	}
	if len(fresh) > 0 && st.next <= st.s.DB.LogHead().Seq { // there are more
		select {
		case st.poke <- struct{}{}:
		default:
		}
	}

	close(st.woken)
	st.woken = make(chan struct{})
	return len(fresh), err
}

// trim drops the oldest of the entries that are kept, beyond streamRecent and recentBytes. A stream
// that needs them reads the log. st.mu must be locked.
func (st *Streams) trim() {
	kept, bytes := 0, 0
	for kept < min(len(st.recent), streamRecent) && bytes < recentBytes {
		kept++
		bytes += st.recent[len(st.recent)-kept].size
	}
	if kept < len(st.recent) {
		st.recent = append([]*StreamEntry(nil), st.recent[len(st.recent)-kept:]...)
	}
}

// Read reads entries with numbers from from.
func (st *Streams) Read(from uint64) (entries []*StreamEntry, err error) {
	rows, err := st.s.DB.ReadLog(from, streamBatch)
	for _, row := range rows {
		e, fault := row.Decode()
		if fault != nil {
			return entries, fault
		}
		entries = append(entries, &StreamEntry{Entry: e, size: len(row.Text)})
	}
	return entries, err
}

// Enter counts a stream; leave must be called once for each.
func (st *Streams) Enter() {
	st.Mu.Lock()
	defer st.Mu.Unlock()
	if st.open++; st.open == 1 {
		st.next = st.s.DB.LogHead().Seq + 1
	}
}

func (st *Streams) Leave() {
	st.Mu.Lock()
	defer st.Mu.Unlock()
	if st.open--; st.open == 0 {
		st.recent, st.next = nil, 0
	}
}

// After returns entries after a position. If there are none, it returns a channel that is closed
// when there may be some.
func (st *Streams) After(seq uint64) (entries []*StreamEntry, woken <-chan struct{}, err error) {
	st.Mu.Lock()
	recent, next, woken := st.recent, st.next, st.woken
	st.Mu.Unlock()
	switch {
	case seq+1 >= next:
		return nil, woken, nil
	case len(recent) > 0 && seq+1 >= recent[0].Seq:
		recent = recent[seq+1-recent[0].Seq:]
		return recent[:min(len(recent), streamBatch)], woken, nil
	}
	entries, err = st.Read(seq + 1) // the client is far behind
	return entries, woken, err
}

// Wake returns a channel that is closed when there may be something new.
func (st *Streams) Wake() <-chan struct{} {
	st.Mu.Lock()
	defer st.Mu.Unlock()
	return st.woken
}
