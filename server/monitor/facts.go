package monitor

import (
	"net/netip"
	"time"

	"reeve/server/redact"
	"reeve/store"
	"reeve/store/kv"
)

// Route describes an operation of the interface to monitoring. All requests of a route must
// share one value, since they are counted by its pointer.
type Route struct {
	Name    string        // method and pattern, like GET /admin/list/:id
	Pattern string        // like /admin/list/:id
	Handler string        // name of the handler function
	Access  string        // permission or other condition that is checked; "" for a public route
	Open    bool          // Access is not a permission, so no role grants it
	Hide    redact.Fields // fields of the input that must not be kept

	Reads bool // changes nothing, whatever its method, and is sampled like a GET

	// Unmonitored excludes the route from monitoring, except for responses with status 401
	// and 403.
	Unmonitored bool
}

// Facts describes a request that has been answered.
type Facts struct {
	Route     *Route // nil if the URL or method is unknown
	RequestID string
	Begun     time.Time
	Took      time.Duration
	Caller    *store.Actor // store.Anonymous without a session
	Addr      netip.Addr   // client address

	Method, Path, Query string
	Header              map[string][]string
	Body                []byte // JSON as it was sent; nil for any other body
	BytesIn             int64

	Status   int   // 0 if no response was sent
	Err      error // nil on success
	Gone     bool  // the client closed the connection before the response was complete
	BytesOut int64

	AuthAt     store.Time // start of authorization; 0 for none
	Authorized bool       // the caller was allowed to use the route

	Notes              []AuthEvent  // reported by handlers; Done takes ownership
	Store              *kv.Recorder // operations of the request in the store
	HashTook, HashWait time.Duration
	ImageTook          time.Duration

	// BeforeRedact, unless nil, is called before a large Body is redacted, which takes
	// a while, and the function it returns afterwards. The server uses it to send the
	// response first and to limit the number of bodies that are processed at once.
	BeforeRedact func() (done func())
}

// failed reports whether the response is an error. A connection that the client closed is
// not.
func (f *Facts) failed() bool { return f.Status >= 400 && !f.Gone }

// aborted reports whether the response failed after it had begun.
func (f *Facts) aborted() bool { return f.Err != nil && f.Status < 400 }

// denied reports whether the caller was not allowed to use the route.
func (f *Facts) denied() bool { return f.Status == 401 || f.Status == 403 }

// Done counts a request and records it, unless sampling or its route excludes it.
func (m *Monitor) Done(f *Facts) {
	if m.config.Off || f.Route != nil && f.Route.Unmonitored && !f.denied() {
		return
	}

	m.counter.add(f)
	for n, hits := range f.Store.Hits {
		if hits > 0 {
			m.hits[n].Add(uint64(hits))
		}
	}

	w := weights{request: 1, events: 1}
	if !m.traces.match(f) && !m.isNotable(f) {
		if w = m.sample(f); w.request == 0 {
			return
		}
	}

	m.put(m.record(f, w))
}

// isNotable reports whether a request is kept with all its events, whatever the load: whether
// it failed, was denied or was slow.
func (m *Monitor) isNotable(f *Facts) bool {
	if f.failed() || f.Status == 0 || f.aborted() || f.Took >= time.Duration(m.slowRequest.Load()) {
		return true
	}
	for i := range f.Store.Ops {
		if f.Store.Ops[i].Took >= time.Duration(m.slowStore.Load()) {
			return true
		}
	}
	return false
}
