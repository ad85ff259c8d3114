package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/julienschmidt/httprouter"
	"github.com/rs/zerolog"

	"reeve/auth"
	"reeve/server/local"
	"reeve/server/redact"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
	"reeve/store/kv"
)

// Request is the request that a handler serves, besides its input.
type Request struct {
	ID      string
	Addr    netip.Addr    // client address, see auth.ClientAddr
	Session *auth.Session // nil on a public route
	entered *auth.Session // Session as it was when its token was checked last; nil if a signed link names it
	Actor   *store.Actor

	Server      *Server
	Route       *Route // nil without a route
	HTTP        *http.Request
	Writer      statusWriter
	Params      httprouter.Params
	Read        readState // state of the record that the client has read
	Begun       time.Time
	DB          store.Handle // store handle whose operations are recorded in monitoring
	Origin      store.Origin // origin of writes in the change log
	idempotency *idempotency // nil without an Idempotency-Key
	entry       audit.Head   // entry of the last write in the change log; zero for none
	wrote       atomic.Bool  // whether the response names the position of this node, see nameCommit
	Observed    observed
	Opened      time.Duration // time until a stream was open
	clientForm  url.Values    // form that was read before the request was authenticated; nil for none
	large       bool          // whether it is one of the few requests with a large body
	bodyRead    bool          // whether the body was read to its end
	answer      *held         // memory of the response; nil if it does not count
	size        *atomic.Int64 // bytes of the last response of the route, 0 if it was small; nil without a route
	turn        chan struct{} // semaphore of large responses, while the request holds a place; nil without one
	export      *export       // list that is sent as a file; nil for none
	held        []func()      // release what the request holds of limits
	Committed   []func()      // functions to run after the commit

	Shown *errs.Error // error that a page has shown; nil for none
	Once  any         // value that a page shows once; nil for none

	Rest func(out *Envelope) error // work of a view after its transaction; nil for none
}

// Auth returns the Auth with the store handle of the request.
func (req *Request) Auth() *auth.Auth { return req.Server.Auth.On(req.DB) }

func (s *Server) NewRequest(w http.ResponseWriter, r *http.Request) *Request {
	req := &Request{
		ID:     s.nextID(),
		Addr:   s.clientAddr(r),
		Actor:  store.Anonymous,
		Server: s,
		HTTP:   r,
		Writer: statusWriter{ResponseWriter: w},
		Begun:  time.Now(),
	}
	if name := local.Caller(r); name != "" {
		req.Actor = store.Operator(name)
	}
	if s.Config.Monitor.Off {
		req.DB = s.DB.WithRecorder(nil)
	} else {
		req.DB = s.DB.WithRecorder(&req.Observed.watch)
	}
	if _, _, ok := s.DB.CommitPosition(); ok {
		req.DB = req.DB.Marking(&req.wrote)
		req.Writer.heading = req.nameCommit
	}
	return req
}

// serve returns the handler of a route: it authenticates and authorizes the request,
// decodes the input, runs the route's handler and sends the response.
func (s *Server) serve(rt *Route) httprouter.Handle {
	stats, operation, monitored := s.Metrics.Of(rt), rt.Name(), rt.Monitored()
	size := new(atomic.Int64)
	size.Store(unknownSize)
	return func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		req := s.NewRequest(w, r)
		req.Route, req.Params, req.Observed.route, req.size = rt, params, monitored, size
		place := s.running.Add(req)
		req.export = rt.exports(r)
		req.Writer.headOnly = r.Method == http.MethodHead && (rt.Raw != nil || req.export != nil) && !rt.Ranges
		if rt.changes() || req.export != nil { // reads do not pay for it
			req.setOrigin(rt)
			req.DB = req.DB.For(operation, req.AuthorizeWrite).From(&req.Origin).Noting(&req.entry)
			if len(r.Header[IdempotencyHeader]) > 0 {
				req.DB = req.DB.Concluding(req.complete)
			}
			if rt.Method == http.MethodDelete || rt.AllowedBeforePasswordChange {
				req.DB = req.DB.Essential()
			}
		}
		if rt.Raw != nil || rt.Page || req.export != nil {
			DocumentHeaders(w.Header())
		}
		if rt.Embeddable {
			w.Header()["Cross-Origin-Resource-Policy"] = anyOrigin
		}

		err := s.run(rt, req)
		if req.Writer.cut {
			err = nil
		}

		gone := req.abandoned(err)
		if gone != nil {
			err, req.Writer.status = gone, statusGone
		}

		defer func() { // also for an aborted response
			s.record(stats, req, err)
			place.Remove()
			req.release() // last, since monitoring reads the body
		}()

		switch {
		case err != nil && gone == nil:
			s.Fail(req, err)
		case req.Shown != nil:
			s.logFailure(req, req.Shown)
		}

		s.logRequest(rt.Path, req, err)
		if gone != nil {
			panic(http.ErrAbortHandler) // a partial response must not be taken for a whole one
		}
	}
}

// record counts a finished request in the metrics and passes it to monitoring.
func (s *Server) record(stats *requestStats, req *Request, err error) {
	took := time.Since(req.Begun)
	s.countDenial(req)
	if req.Opened > 0 {
		took = req.Opened // of a stream, the time until it was open
	}
	stats.count(req, took) // first, since monitoring may send the response
	if err == nil && req.Shown != nil {
		err = req.Shown
	}
	facts := req.facts(err, took)
	s.Monitor.Done(&facts)
}

// run runs a route and writes a successful response.
func (s *Server) run(rt *Route, req *Request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	out := newEnvelope(rt.Protocol)
	defer out.release()
	if err := req.enter(rt); err != nil {
		return err
	}
	done, err := s.make(rt, req, out)
	if done || err != nil {
		return err
	}
	req.nameEntry()
	return out.send(req)
}

// make makes a response. It reports true if the handler has sent it.
func (s *Server) make(rt *Route, req *Request, out *Envelope) (sent bool, err error) {
	defer req.leaveTurn()
	req.takeTurn()
	if rt.changes() || req.export != nil {
		if err := req.readReason(); err != nil {
			return false, err
		}
	}
	if rt.ClientCredentials {
		if err := req.readClient(); err != nil {
			return false, err
		}
	}
	if rt.Method != http.MethodGet && !rt.ReadOnly {
		if err := req.readConditions(rt); err != nil {
			return false, err
		}
	}
	err = s.view(rt, req, out)
	if action := req.loggedAs(rt); err == nil && action != "" {
		err = req.logUse(rt, action)
	}
	if err == nil {
		err = req.readIdempotency(rt)
	}

	switch {
	case err != nil:
		return false, err
	case req.export != nil:
		req.leaveTurn() // the client decides how long it takes
		return true, s.sendList(rt, req, out)
	case req.Rest != nil:
		return false, req.Rest(out)
	case rt.Raw != nil:
		return true, rt.Raw(req, &req.Writer)
	case rt.Act != nil:
		return false, req.actOnce(rt, out)
	}

	return false, nil
}

// view authorizes the request, and runs the view of a route that has one, in one transaction.
func (s *Server) view(rt *Route, req *Request, out *Envelope) error {
	err := s.viewOnce(rt, req, out, true)
	if !errors.Is(err, errNewToken) {
		return err
	}
	if err := req.await(true, "", 0); err != nil {
		return err
	}
	return s.viewOnce(rt, req, out, false)
}

// viewOnce returns errNewToken if newTokens is set, and the latest commits may have the token of the request.
func (s *Server) viewOnce(rt *Route, req *Request, out *Envelope, newTokens bool) error {
	return req.DB.View(store.Anonymous, func(tx *store.Tx) error {
		err := s.Admit(tx, rt, req)
		if newTokens && req.mayBeNew(tx, err) {
			return errNewToken
		}
		if err == nil {
			err = req.Prove(tx, rt)
		}
		if err == nil {
			err = req.permitExport(tx, rt)
		}
		if limited := req.limitRate(tx); limited != nil { // refused requests count, too
			err = limited
		}

		s.Monitor.Widen(&req.Observed.watch, req.Observed.route, req.Actor, req.Addr)
		if err == nil {
			err = req.expectAnswer(out)
		}
		if err != nil || rt.View == nil {
			return err
		}

		return rt.View(tx, req, out)
	})
}

// logFailure logs an error of the server, at most once a minute while it repeats.
func (s *Server) logFailure(req *Request, err error) {
	e := errs.Of(err)
	code := req.Route.StatusOf(e.Kind)
	if e.Kind == errs.Internal || e.Unwrap() != nil && code >= 500 { // not Busy, which would fill the log under a flood
		id, method, path := req.ID, req.HTTP.Method, req.loggedPath()
		kind := e.Code
		if e.Kind == errs.Internal {
			kind += " " + req.loggedRoute()
		}
		s.Failures.Report(s.Log, kind, err, func(line *zerolog.Event) {
			line.Str("request", id).Str("method", method).Str("path", path).Int("status", code).Msg("request failed")
		})
	}
}

// Fail sends an error response. An error that is not an errs.Error is internal: it is
// logged, and its text is not sent.
func (s *Server) Fail(req *Request, err error) {
	s.logFailure(req, err)
	e := shown(err)
	code := req.Route.StatusOf(e.Kind)
	if req.Writer.status != 0 {
		panic(http.ErrAbortHandler) // a raw response had begun: the client must not take it for complete
	}

	h := req.Writer.Header()
	h.Del("Etag")
	h.Del("Cache-Control")
	h.Del("Content-Encoding") // of a response that the limit refused
	h.Del("Content-Disposition")
	h["Content-Security-Policy"] = noContent
	if e.Kind == errs.Unauthenticated {
		h["Www-Authenticate"] = req.challenge()
	}

	SetRetryAfter(h, e)
	if req.HTTP.ContentLength != 0 && !req.bodyRead {
		if e.Kind == errs.TooLarge || e.Kind == errs.TooMany || e.Kind == errs.Busy {
			h.Set("Connection", "close") // the rest of the body is not read
		}
		// net/http reads some of the body before the next request.
		http.NewResponseController(&req.Writer).SetReadDeadline(time.Now().Add(bodyGrace)) // fails only without a connection, in a test
	}
	if req.Server.FailPage(req, e, code) {
		return
	}

	body, err := json.Marshal(req.failureBody(e))
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}

	req.writeJSON(code, append(body, '\n'))
}

// shown returns an error as clients get it. Damage has a code of its own, since an operator can repair it.
func shown(err error) *errs.Error {
	e := errs.Of(err)
	if e.Kind == errs.Internal && kv.IsDamage(err) {
		return errs.New(errs.Internal, "what this needs is damaged or missing on the server; an operator sees in the system's health what it is").
			Coded("damaged").Because(err)
	}
	return e
}

// SetRetryAfter sets the header for an error that ends by itself.
func SetRetryAfter(h http.Header, e *errs.Error) {
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((e.RetryAfter+time.Second-1)/time.Second)))
	}
}

// failureBody returns the body of an error response.
func (req *Request) failureBody(e *errs.Error) any {
	if req.Route != nil && req.Route.Protocol != nil {
		return req.Route.Protocol.Failure(req, e, e.Msg.In(req.Language()))
	}
	answer := failureOf(e, req.Language())
	answer.RequestID = req.ID
	return answer
}

// loggedPath returns the path with secret parameters masked.
func (req *Request) loggedPath() string {
	pattern := ""
	if req.Route != nil {
		pattern = req.Route.Path
	}
	return (&redact.Redactor{}).Path(pattern, req.HTTP.URL.Path)
}

// loggedRoute returns the name of the route; "" for none.
func (req *Request) loggedRoute() string {
	if req.Route == nil {
		return ""
	}
	return req.Route.Name()
}

// logRequest logs the request at debug level. It omits the query, which may contain
// personal data.
func (s *Server) logRequest(route string, req *Request, err error) {
	line := s.Log.Debug()
	if !line.Enabled() { // the rest costs a read 5 %
		return
	}
	if err != nil && !errs.Is(err, errs.Internal) {
		line = line.Str("error", errs.Of(err).Code)
	}
	line.Str("request", req.ID).Str("method", req.HTTP.Method).Str("route", route).Str("path",
		req.loggedPath()).
		Int("status", req.Writer.status).Stringer("address", req.Addr).Str("user",
		req.Actor.Label()).
		Dur("ms", time.Since(req.Begun)).Msg("request")
}
