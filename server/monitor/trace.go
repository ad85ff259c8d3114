package monitor

import (
	"net/netip"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

const (
	maxTraces  = 20   // running at the same time
	tracesKept = 20   // that have ended
	tracedOps  = 1000 // operations of the store that are kept of a traced request; see kv.Recorder.MaxOps
)

// Trace keeps all events of matching requests for some minutes, whatever the load. A request
// matches if it matches every field that is set. Traces are in memory only, so a restart
// removes them.
type Trace struct {
	store.Ident
	UserID    store.ID   `json:"user_id" doc:"ID of the traced user; 0 for any"`
	Username  string     `json:"username" doc:"Name of the traced user; empty for any, and for a user who was deleted or is outside your data scope"`
	IP        string     `json:"ip" doc:"Traced client address; empty for any"`
	Route     string     `json:"route" doc:"Traced route; empty for any"`
	CreatedBy string     `json:"created_by" doc:"Username; with that of another user as whom the user acted, like ada as bob"`
	StartedAt store.Time `json:"started_at"`
	EndsAt    store.Time `json:"ends_at" doc:"Time at which the trace ends unless it is stopped earlier"`
	EndedAt   store.Time `json:"ended_at" null:"true" doc:"Time at which the trace ended; null while it is running"`
	Matched   int64      `json:"matched" doc:"Number of matching requests so far"`
}

type traces struct {
	mu    sync.Mutex // guards last, ended and changes of live
	last  store.ID
	live  atomic.Pointer[[]*liveTrace] // read by requests without mu
	ended []*liveTrace                 // the last tracesKept
}

type liveTrace struct {
	Trace
	matched atomic.Int64
}

// running returns the traces that have not ended.
func (t *traces) running() []*liveTrace {
	live := t.live.Load()
	if live == nil {
		return nil
	}
	now := kv.TimeOf(time.Now())
	return slices.DeleteFunc(slices.Clone(*live), func(l *liveTrace) bool {
		return l.EndsAt <= now
	})
}

// match reports whether a request is traced, and counts it for each trace. Without running
// traces it is almost free.
func (t *traces) match(f *Facts) (matched bool) {
	if live := t.live.Load(); live == nil || len(*live) == 0 {
		return false
	}
	for _, l := range t.running() {
		if l.matches(f.Route, f.Caller, f.Addr) {
			matched = true
			l.matched.Add(1)
		}
	}
	return matched
}

// Widen makes w keep more operations if the request is traced. The server calls it as soon
// as the caller is known.
func (m *Monitor) Widen(w *kv.Recorder, route *Route, caller *store.Actor, addr netip.Addr) {
	if live := m.traces.live.Load(); live == nil || len(*live) == 0 {
		return
	}
	if slices.ContainsFunc(m.traces.running(), func(l *liveTrace) bool {
		return l.matches(route, caller, addr)
	}) {
		w.MaxOps = tracedOps
	}
}

// matches reports whether a request is traced. One of a user who acts as another one is of both.
func (l *liveTrace) matches(route *Route, caller *store.Actor, addr netip.Addr) bool {
	return (l.UserID == 0 ||
		!caller.App && (l.UserID == caller.ID || l.UserID == caller.Person().ID)) &&
		(l.IP == "" || l.IP == addr.String()) &&
		(l.Route == "" || route.IsCalled(l.Route))
}

// IsCalled reports whether name is the pattern of the route, or its method and pattern.
func (r *Route) IsCalled(name string) bool {
	return r != nil && (name == r.Pattern || name == r.Name)
}

// settle moves expired traces to those that have ended, and returns the others. The caller
// holds mu.
func (t *traces) settle(now store.Time) (live []*liveTrace) {
	all := t.live.Load()
	if all == nil {
		return nil
	}
	for _, l := range *all {
		if l.EndsAt > now {
			live = append(live, l)
		} else {
			t.end(l, l.EndsAt)
		}
	}
	t.set(live)
	return live
}

func (t *traces) end(l *liveTrace, at store.Time) {
	l.EndedAt = at
	t.ended = append(t.ended, l)
	t.ended = t.ended[max(0, len(t.ended)-tracesKept):]
}

func (t *traces) set(live []*liveTrace) { t.live.Store(&live) }

// StartTrace starts a trace that ends after d, and returns it with its ID and times.
func (m *Monitor) StartTrace(trace Trace, d time.Duration) (*Trace, error) {
	t := &m.traces
	l := &liveTrace{Trace: trace}
	l.StartedAt = kv.TimeOf(time.Now())
	l.EndsAt = l.StartedAt.Add(d)
	t.mu.Lock()
	defer t.mu.Unlock()
	live := t.settle(l.StartedAt)
	if len(live) >= maxTraces {
		return nil, errs.New(errs.Conflict, "%d traces are running; stop one first", maxTraces)
	}

	t.last++
	l.ID = t.last
	t.set(append(live, l))
	started := l.Trace // a copy: l changes when it ends
	return &started, nil
}

// Traces returns the running traces and the last that have ended, newest first.
func (m *Monitor) Traces() []Trace {
	t := &m.traces
	t.mu.Lock()
	defer t.mu.Unlock()
	all := []Trace{}
	for _, l := range slices.Concat(t.settle(kv.TimeOf(time.Now())), t.ended) {
		trace := l.Trace
		trace.Matched = l.matched.Load()
		all = append(all, trace)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].ID > all[j].ID })
	return all
}

// StopTraces stops all traces with the IDs, or none if one of them is not running or not
// visible to the caller.
func (m *Monitor) StopTraces(ids []store.ID, caller *Audience) error {
	t := &m.traces
	t.mu.Lock()
	defer t.mu.Unlock()
	now := kv.TimeOf(time.Now())
	var stop, live []*liveTrace
	for _, l := range t.settle(now) {
		if slices.Contains(ids, l.ID) && caller.has(l.UserID) {
			stop = append(stop, l)
		} else {
			live = append(live, l)
		}
	}
	if caller.err != nil {
		return caller.err
	}

	for _, id := range ids {
		if !slices.ContainsFunc(stop, func(l *liveTrace) bool { return l.ID == id }) {
			return errs.New(errs.NotFound, "trace %d not found; it may have ended", id)
		}
	}

	for _, l := range stop {
		t.end(l, now)
	}

	t.set(live)
	return nil
}
