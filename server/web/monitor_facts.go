package web

import (
	"net/http"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"time"

	"reeve/auth"
	"reeve/server/monitor"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// observed collects data about a request for monitoring while it is handled.
type observed struct {
	route      *monitor.Route // nil if the URL or method is unknown
	watch      kv.Recorder
	notes      []monitor.AuthEvent
	authAt     store.Time // start of the first authorization; 0 for none
	authorized bool
	Hashing    auth.HashTime
	Imaging    time.Duration // time spent making a thumbnail
	body       []byte        // JSON as it was sent; nil for any other body
}

// Monitored returns the description of the route for monitoring.
func (rt *Route) Monitored() *monitor.Route {
	access := rt.Access
	if access == Public {
		access = ""
	}

	hide := rt.Hidden
	hide.Custom = rt.Input != nil && rt.Input.Has("json", "fields")
	hide.Known = rt.KnownFields()
	return &monitor.Route{
		Name:        rt.Name(),
		Pattern:     rt.Path,
		Handler:     rt.Handler,
		Access:      access,
		Open:        rt.Open(),
		Reads:       rt.ReadOnly,
		Hide:        hide,
		Unmonitored: rt.Unmonitored,
	}
}

// KnownFields returns the names of a route's fields and parameters if people send credentials to
// it, and so perhaps under a name that the route does not know; nil for other routes.
func (rt *Route) KnownFields() map[string]bool {
	if rt.Input == nil || rt.Access != Public && !rt.RateLimited {
		return nil
	}
	known := map[string]bool{}
	for _, f := range rt.Input.Fields {
		known[f.Name] = true
	}
	return known
}

// anonymous matches the HandlerName of a function without a name of its own. Route.With replaces it
// with the operation's ID.
var anonymous = regexp.MustCompile(`^(func)?[0-9]`)

// HandlerName returns the name of a handler's function without its package.
func HandlerName(handler any) string {
	name := runtime.FuncForPC(reflect.ValueOf(handler).Pointer()).Name()
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "-fm")
}

// Note reports an event of a sign-in, session or password, and whether it succeeded, to
// monitoring. A write that is retried reports the event again; only the first report counts.
func (req *Request) Note(event, username string, err error) {
	for _, n := range req.Observed.notes {
		if n.Type == event && n.Username == username {
			return
		}
	}
	e := monitor.AuthEvent{Type: event, Username: username, Result: "success",
		MatchedBy: []string{}}
	if err != nil {
		e.Result, e.Reason = "failed", errs.Of(err).Code
	}
	e.RecordedAt = kv.TimeOf(time.Now())
	req.Observed.notes = append(req.Observed.notes, e)
}

// NoteProvider names the sign-in provider that the last event is about, by its title.
func (req *Request) NoteProvider(title string) {
	if n := len(req.Observed.notes); n > 0 {
		req.Observed.notes[n-1].Provider = title
	}
}

// facts returns the description of an answered request for monitoring.
func (req *Request) facts(err error, took time.Duration) monitor.Facts {
	f := monitor.Facts{
		Route:      req.Observed.route,
		RequestID:  req.ID,
		Begun:      req.Begun,
		Took:       took,
		Caller:     req.Actor,
		Addr:       req.Addr,
		Method:     Truncate(req.HTTP.Method, 16),
		Path:       req.HTTP.URL.Path,
		Query:      req.HTTP.URL.RawQuery,
		Header:     req.HTTP.Header,
		Body:       req.Observed.body,
		BytesIn:    max(req.HTTP.ContentLength, int64(len(req.Observed.body))),
		Status:     req.Writer.status,
		Err:        err,
		Gone:       req.Writer.status == statusGone,
		BytesOut:   req.Writer.bytes,
		AuthAt:     req.Observed.authAt,
		Authorized: req.Observed.authorized,
		Notes:      req.Observed.notes,
		Store:      &req.Observed.watch,
		HashTook:   req.Observed.Hashing.Took,
		HashWait:   req.Observed.Hashing.Wait,
		ImageTook:  req.Observed.Imaging,
	}
	if n := len(f.Body); n > LargeDecode {
		f.BeforeRedact = func() (done func()) {
			http.NewResponseController(&req.Writer).Flush() // the client of a response that failed does not wait for it
			return req.Server.decodeTurn(n)
		}
	}
	return f
}

// Audience returns which events the caller may see.
func (req *Request) Audience() (*monitor.Audience, error) {
	var scope *store.Scope
	err := req.DB.View(req.Actor, func(tx *store.Tx) error {
		scope = store.ActorOf(tx).Scope(tx)
		return nil
	})
	return monitor.NewAudience(req.DB.DB, scope), err
}

func (s *Server) MonitorHealth() Part {
	h := s.Monitor.Health()
	p := Part{Name: "monitor", State: Healthy, Message: h.Text, Figures: h.Figures}
	if h.Degraded {
		p.State = Degraded
	}
	return p
}

// Counted records a use of the rate limiter's counters.
func (req *Request) Counted(e kv.CacheEvent) {
	if !req.Server.Config.Monitor.Off {
		req.Observed.watch.Cached = append(req.Observed.watch.Cached, e)
	}
}
