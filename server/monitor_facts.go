package server

import (
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"time"

	"reeve/auth"
	"reeve/server/monitor"
	"reeve/store"
	"reeve/store/errs"
)

// observed collects data about a request for monitoring while it is handled.
type observed struct {
	route      *monitor.Route // nil if the URL or method is unknown
	watch      store.Recorder
	notes      []monitor.AuthEvent
	authAt     store.Time // start of the first authorization; 0 for none
	authorized bool
	hashing    auth.HashTime
	imaging    time.Duration // time spent making a thumbnail
	body       []byte        // JSON as it was sent; nil for any other body
}

// monitored returns the description of the route for monitoring.
func (rt *Route) monitored() *monitor.Route {
	access := rt.Access
	if access == public {
		access = ""
	}
	hide := rt.hide
	hide.Custom = rt.in != nil && rt.in.has("json", "fields")
	hide.Known = rt.knownFields()
	return &monitor.Route{Name: rt.name(), Pattern: rt.Path, Handler: rt.handler, Access: access, Open: rt.open(), Reads: rt.reads, Hide: hide, Unmonitored: rt.unmonitored}
}

// knownFields returns the names of a route's fields and parameters if people send credentials to it,
// and so perhaps under a name that the route does not know; nil for other routes.
func (rt *Route) knownFields() map[string]bool {
	if rt.in == nil || rt.Access != public && !rt.rateLimited {
		return nil
	}
	known := map[string]bool{}
	for _, f := range rt.in.fields {
		known[f.name] = true
	}
	return known
}

// handlerName returns the name of a handler's function without its package.
func handlerName(handler any) string {
	name := runtime.FuncForPC(reflect.ValueOf(handler).Pointer()).Name()
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "-fm")
}

// note reports an event of a sign-in, session or password, and whether it succeeded, to
// monitoring. A write that is retried reports the event again; only the first report counts.
func (req *Request) note(event, username string, err error) {
	for _, n := range req.mon.notes {
		if n.Type == event && n.Username == username {
			return
		}
	}
	e := monitor.AuthEvent{Type: event, Username: username, Result: "success", MatchedBy: []string{}}
	if err != nil {
		e.Result, e.Reason = "failed", errs.Of(err).Code
	}
	e.RecordedAt = store.TimeOf(time.Now())
	req.mon.notes = append(req.mon.notes, e)
}

// facts returns the description of an answered request for monitoring.
func (req *Request) facts(err error, took time.Duration) monitor.Facts {
	f := monitor.Facts{
		Route: req.mon.route, RequestID: req.ID, Begun: req.begun, Took: took, Caller: req.Actor, Addr: req.Addr,
		Method: truncate(req.http.Method, 16), Path: req.http.URL.Path, Query: req.http.URL.RawQuery, Header: req.http.Header,
		Body: req.mon.body, BytesIn: max(req.http.ContentLength, int64(len(req.mon.body))),
		Status: req.w.status, Err: err, Gone: req.w.status == statusGone, BytesOut: req.w.bytes,
		AuthAt: req.mon.authAt, Authorized: req.mon.authorized, Notes: req.mon.notes, Store: &req.mon.watch,
		HashTook: req.mon.hashing.Took, HashWait: req.mon.hashing.Wait, ImageTook: req.mon.imaging,
	}
	if n := len(f.Body); n > largeDecode {
		f.BeforeRedact = func() (done func()) {
			http.NewResponseController(&req.w).Flush() // the client of a response that failed does not wait for it
			return req.s.decodeTurn(n)
		}
	}
	return f
}

// audience returns which events the caller may see.
func (req *Request) audience() (*monitor.Audience, error) {
	var scope *store.Scope
	err := req.db.View(req.Actor, func(tx *store.Tx) error {
		scope = store.ActorOf(tx).Scope(tx)
		return nil
	})
	return monitor.NewAudience(req.db.DB, scope), err
}

func (s *Server) monitorHealth() part {
	h := s.monitor.Health()
	p := part{Name: "monitor", State: healthy, message: h.Text, Figures: h.Figures}
	if h.Degraded {
		p.State = degraded
	}
	return p
}
