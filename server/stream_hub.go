package server

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"reeve/store"
	"reeve/store/audit"
)

const (
	streamPause  = 5 * time.Millisecond  // minimum interval in which streams are woken, and for each of them
	streamEach   = 25 * time.Microsecond // this much more: all of them check their session, also if nothing is sent
	streamBusy   = 25 * time.Millisecond // minimum interval while there are many writes
	manyEntries  = 20                    // number of entries between two wake-ups that counts as many writes
	busyAfter    = 4 * streamBusy        // how long isBusy stays true after manyEntries
	streamRecent = 512                   // newest entries that are kept for streams, and
	recentBytes  = 4 << 20               // their total length
	streamBatch  = 200                   // entries that are read at once
	maxFrames    = 4                     // texts that are kept of an entry, for callers with different roles
)

// streams wakes event streams after commits, and keeps the newest entries of the change log for them.
// A stream has no queue: it has a position in the log, from which it reads when its client is ready, so
// a slow client costs no memory.
type streams struct {
	s    *Server
	poke chan struct{} // contains a token if there was a commit

	beat   time.Duration // interval of heartbeats
	second time.Duration // unit of the time that a request may wait; longer in tests

	mu        sync.Mutex
	open      int
	busyUntil time.Time      // isBusy is true until then
	recent    []*streamEntry // the newest entries, by number; empty while no stream is open
	next      uint64         // number after the last entry of recent, or where it begins; 0 if no stream is open
	woken     chan struct{}  // closed when there may be something new
	ended     chan struct{}  // closed when the server shuts down
	once      sync.Once
}

// streamEntry is an entry that streams have in common.
type streamEntry struct {
	audit.Entry
	size   int // of its text
	mu     sync.Mutex
	frames map[frameKey][]byte // what has been sent, for callers who see the same
}

// frameKey identifies callers who see the same of an entry.
type frameKey struct {
	policy *store.Policy
	roles  string
	types  string
}

// framed returns what has been sent for callers with the same key.
func (e *streamEntry) framed(key frameKey) (text []byte, known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	text, known = e.frames[key]
	return text, known
}

func (e *streamEntry) keep(key frameKey, text []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.frames == nil {
		e.frames = map[frameKey][]byte{}
	}
	if len(e.frames) < maxFrames {
		e.frames[key] = text
	}
}

func newStreams(s *Server) *streams {
	st := &streams{s: s, beat: streamBeat, second: time.Second, poke: make(chan struct{}, 1), woken: make(chan struct{}), ended: make(chan struct{})}
	s.db.OnCommit(func(store.Changes) { // all writes wait for it
		select {
		case st.poke <- struct{}{}:
		default:
		}
	})
	return st
}

// run wakes the streams until ctx ends.
func (st *streams) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-st.poke:
		}
		fresh, err := st.follow()
		if err != nil {
			st.s.failures.log(st.s.log, "event streams", err, func(line *zerolog.Event) { line.Msg("event streams cannot read the change log") })
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(st.pause(fresh)):
		}
	}
}

// pause returns how long streams are not woken again after fresh entries, and notes whether there are
// many writes: then, it is longer, to leave processor time to them.
func (st *streams) pause(fresh int) time.Duration {
	st.mu.Lock()
	defer st.mu.Unlock()
	pause := streamPause + time.Duration(st.open)*streamEach
	if fresh >= manyEntries {
		pause = max(pause, streamBusy)
		st.busyUntil = time.Now().Add(busyAfter)
	}
	return pause
}

// isBusy reports whether there are many writes. Webhooks that are behind then
// send fewer messages, to leave processor time to the writes.
func (st *streams) isBusy() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return time.Now().Before(st.busyUntil)
}

// end ends all streams, since the server shuts down.
func (st *streams) end() { st.once.Do(func() { close(st.ended) }) }

// follow reads the new entries, wakes the streams and returns the number of entries.
func (st *streams) follow() (n int, err error) {
	st.mu.Lock()
	from := st.next
	st.mu.Unlock()
	if from == 0 {
		return 0, nil // no stream is open
	}
	fresh, err := st.read(from)
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.next == from && len(fresh) > 0 {
		st.recent = append(st.recent, fresh...)
		st.next = fresh[len(fresh)-1].Seq + 1
		st.trim()
	}
	if len(fresh) > 0 && st.next <= st.s.db.LogHead().Seq { // there are more
		select {
		case st.poke <- struct{}{}:
		default:
		}
	}
	close(st.woken)
	st.woken = make(chan struct{})
	return len(fresh), err
}

// trim drops the oldest of the entries that are kept, beyond streamRecent and recentBytes. A stream that
// needs them reads the log. st.mu must be locked.
func (st *streams) trim() {
	kept, bytes := 0, 0
	for kept < min(len(st.recent), streamRecent) && bytes < recentBytes {
		kept++
		bytes += st.recent[len(st.recent)-kept].size
	}
	if kept < len(st.recent) {
		st.recent = append([]*streamEntry(nil), st.recent[len(st.recent)-kept:]...)
	}
}

// read reads entries with numbers from from.
func (st *streams) read(from uint64) (entries []*streamEntry, err error) {
	rows, err := st.s.db.ReadLog(from, streamBatch)
	for _, row := range rows {
		e, fault := row.Decode()
		if fault != nil {
			return entries, fault
		}
		entries = append(entries, &streamEntry{Entry: e, size: len(row.Text)})
	}
	return entries, err
}

// enter counts a stream; leave must be called once for each.
func (st *streams) enter() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.open++; st.open == 1 {
		st.next = st.s.db.LogHead().Seq + 1
	}
}

func (st *streams) leave() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.open--; st.open == 0 {
		st.recent, st.next = nil, 0
	}
}

// after returns entries after a position. If there are none, it returns a channel that is closed when
// there may be some.
func (st *streams) after(seq uint64) (entries []*streamEntry, woken <-chan struct{}, err error) {
	st.mu.Lock()
	recent, next, woken := st.recent, st.next, st.woken
	st.mu.Unlock()
	switch {
	case seq+1 >= next:
		return nil, woken, nil
	case len(recent) > 0 && seq+1 >= recent[0].Seq:
		recent = recent[seq+1-recent[0].Seq:]
		return recent[:min(len(recent), streamBatch)], woken, nil
	}
	entries, err = st.read(seq + 1) // the client is far behind
	return entries, woken, err
}

// wake returns a channel that is closed when there may be something new.
func (st *streams) wake() <-chan struct{} {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.woken
}
