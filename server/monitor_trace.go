package server

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// A trace keeps everything of the requests that match, however much traffic there
// is, for some minutes. Traces live in memory: a restart ends and forgets them.

const (
	maxTraces     = 20
	maxTraceTime  = 15   // minutes
	tracesKept    = 20   // of those that are over
	tracedOps     = 1000 // of the store that are kept of one request; of others it is store.Watch's own bound
	traceDefault  = 5
	traceNotFound = "there is no trace %d, or it is over"
)

// trace is what is looked for, and until when. Every field that is given must match.
type trace struct {
	store.Ident
	UserID    store.ID   `json:"user_id" doc:"0 for anybody"`
	Username  string     `json:"username" doc:"of user_id; empty for anybody, for a user who is gone, and out of the data scope"`
	IP        string     `json:"ip" doc:"empty for any"`
	Route     string     `json:"route" doc:"empty for any"`
	CreatedBy string     `json:"created_by"`
	StartedAt store.Time `json:"started_at"`
	EndsAt    store.Time `json:"ends_at" doc:"at the latest"`
	EndedAt   store.Time `json:"ended_at" null:"true" doc:"null while it runs"`
	Matched   int64      `json:"matched" doc:"requests so far"`
}

type traces struct {
	mu   sync.Mutex // what is below but live, which requests read
	last store.ID
	live atomic.Pointer[[]*liveTrace]
	over []*liveTrace // the last that have ended
}

type liveTrace struct {
	trace
	matched atomic.Int64
}

// running are the traces that are not over.
func (t *traces) running() []*liveTrace {
	live := t.live.Load()
	if live == nil {
		return nil
	}
	now := store.TimeOf(time.Now())
	return slices.DeleteFunc(slices.Clone(*live), func(l *liveTrace) bool { return l.EndsAt <= now })
}

// match tells whether a request is traced, and counts it for its traces; without
// traces it costs nothing.
func (t *traces) match(rt *Route, req *Request) (matched bool) {
	if live := t.live.Load(); live == nil || len(*live) == 0 {
		return false
	}
	for _, l := range t.running() {
		if l.matches(rt, req) {
			matched = true
			l.matched.Add(1)
		}
	}
	return matched
}

// widen has more kept of what a request does, once it is known who asks for what,
// if it is traced.
func (t *traces) widen(rt *Route, req *Request) {
	if live := t.live.Load(); live == nil || len(*live) == 0 {
		return
	}
	if slices.ContainsFunc(t.running(), func(l *liveTrace) bool { return l.matches(rt, req) }) {
		req.mon.watch.MaxOps = tracedOps
	}
}

func (l *liveTrace) matches(rt *Route, req *Request) bool {
	return (l.UserID == 0 || !req.Actor.App && l.UserID == req.Actor.ID) && (l.IP == "" || l.IP == req.Addr.String()) &&
		(l.Route == "" || rt != nil && (l.Route == rt.Path || l.Route == rt.name()))
}

// settle moves the traces whose time is up to those that are over, and returns
// those that run; mu is held.
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
	t.over = append(t.over, l)
	t.over = t.over[max(0, len(t.over)-tracesKept):]
}

func (t *traces) set(live []*liveTrace) { t.live.Store(&live) }

type traceIn struct {
	UserID  *store.ID `json:"user_id" doc:"requests of this user of the backend"`
	IP      *string   `json:"ip" check:"max=45" doc:"requests from this address"`
	Route   *string   `json:"route" check:"max=200" doc:"requests of this route, like /admin/list or PUT /admin/list/:id"`
	Minutes *int64    `json:"minutes" check:"min=1,max=15" doc:"5 when absent"`
}

func startTrace(req *Request, in *traceIn) (*trace, error) {
	t := &req.s.monitor.traces
	l := &liveTrace{trace: trace{CreatedBy: req.Actor.Username, Route: valueOf(in.Route)}}
	faults := errs.Faults{}
	if in.UserID != nil {
		l.UserID = *in.UserID
	}
	if in.IP != nil && *in.IP != "" {
		addr, err := netip.ParseAddr(*in.IP)
		if err != nil {
			faults.Add("ip", "must be an address like 192.0.2.7")
		}
		l.IP = addr.Unmap().String()
	}
	if err := req.db.View(req.Actor, func(tx *store.Tx) error { return l.follows(tx, faults) }); err != nil {
		return nil, err
	}
	if l.Route != "" && !slices.ContainsFunc(req.s.routes, func(rt Route) bool { return !rt.unmonitored && (l.Route == rt.Path || l.Route == rt.name()) }) {
		faults.Add("route", "there is no such route that is monitored; it is written like /admin/list/:id")
	}
	if l.UserID == 0 && len(faults) == 0 {
		if to, err := req.audience(); err != nil {
			return nil, err
		} else if !to.scope.All {
			faults.Add("user_id", "is required: your data scope is limited, so choose a user in it")
		} else if l.IP == "" && l.Route == "" {
			faults.Add("user_id", "user_id, ip or route is required")
		}
	}
	if err := faults.Err(errs.Invalid); err != nil {
		return nil, err
	}
	minutes := time.Duration(traceDefault)
	if in.Minutes != nil {
		minutes = time.Duration(*in.Minutes)
	}
	l.StartedAt = store.TimeOf(time.Now())
	l.EndsAt = l.StartedAt.Add(minutes * time.Minute)
	t.mu.Lock()
	defer t.mu.Unlock()
	live := t.settle(l.StartedAt)
	if len(live) >= maxTraces {
		return nil, errs.New(errs.Conflict, "%d traces are running; stop one first", maxTraces)
	}
	t.last++
	l.ID = t.last
	t.set(append(live, l))
	out := l.trace // which ends
	return &out, nil
}

// follows sees that there is a user to follow, in the caller's data scope.
func (l *liveTrace) follows(tx *store.Tx, faults errs.Faults) error {
	if l.UserID == 0 {
		return nil
	}
	name, err := l.followed(tx)
	if l.Username = name; err == nil && name == "" {
		faults.Add("user_id", "there is no user %d", l.UserID)
	}
	return err
}

// followed is the name of the user that is followed, "" for nobody whom the caller
// may know of.
func (l *liveTrace) followed(tx *store.Tx) (username string, err error) {
	u, err := store.Users.Get(tx, l.UserID)
	if errs.Is(err, errs.NotFound) || err == nil && !tx.Actor().Scope(tx).HasUser(u) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return u.Username, nil
}

// traceList is an answer with the traces that run and the last that are over.
type traceList struct {
	Data []trace `json:"data"`
}

func listTraces(tx *store.Tx, req *Request, _ *treeIn) (*traceList, error) {
	t := &req.s.monitor.traces
	t.mu.Lock()
	defer t.mu.Unlock()
	out := &traceList{Data: []trace{}}
	all := req.Actor.Scope(tx).All
	for _, l := range slices.Concat(t.settle(store.TimeOf(time.Now())), t.over) {
		shown := l.trace
		shown.Matched = l.matched.Load()
		if shown.UserID != 0 {
			var err error
			if shown.Username, err = l.followed(tx); err != nil {
				return nil, err
			}
		}
		if shown.Username == "" && !all {
			continue
		}
		out.Data = append(out.Data, shown)
	}
	slices.SortFunc(out.Data, func(a, b trace) int { return cmp.Compare(b.ID, a.ID) })
	return out, nil
}

func stopTrace(req *Request, in *byID) (nothing, error) {
	return stopTraces(req, &byIDs{[]store.ID{in.ID}})
}

func stopTraces(req *Request, in *byIDs) (nothing, error) {
	to, err := req.audience()
	if err != nil {
		return nothing{}, err
	}
	t := &req.s.monitor.traces
	t.mu.Lock()
	defer t.mu.Unlock()
	now := store.TimeOf(time.Now())
	var stop, live []*liveTrace
	for _, l := range t.settle(now) {
		if slices.Contains(in.IDs, l.ID) && to.has(l.UserID) {
			stop = append(stop, l)
		} else {
			live = append(live, l)
		}
	}
	if to.err != nil {
		return nothing{}, to.err
	}
	for _, id := range in.IDs {
		if !slices.ContainsFunc(stop, func(l *liveTrace) bool { return l.ID == id }) {
			return nothing{}, errs.New(errs.NotFound, traceNotFound, id)
		}
	}
	for _, l := range stop {
		t.end(l, now)
	}
	t.set(live)
	return nothing{}, nil
}
