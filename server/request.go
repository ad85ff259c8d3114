package server

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
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
	"reeve/server/redact"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
)

// Request is the request that a handler serves, besides its input.
type Request struct {
	ID      string
	Addr    netip.Addr    // client address, see auth.ClientAddr
	Session *auth.Session // nil on a public route
	entered *auth.Session // Session as it was when its token was checked last
	Actor   *store.Actor

	s           *Server
	route       *Route // nil without a route
	http        *http.Request
	w           statusWriter
	params      httprouter.Params
	read        readState // state of the record that the client has read
	begun       time.Time
	db          store.Handle // store handle whose operations are recorded in monitoring
	origin      store.Origin // what the change log says about writes
	idempotency *idempotency // nil without an Idempotency-Key
	entry       audit.Head   // entry of the last write in the change log; zero for none
	mon         observed
	opened      time.Duration // of a stream: time until it was open
	clientForm  url.Values    // form that was read before the request was authenticated; nil for none
	bodyRead    bool          // whether the body was read to its end
	answer      *held         // memory of the response; nil if it does not count
	size        *atomic.Int64 // bytes of the last response of the route, 0 if it was small; nil without a route
	turn        chan struct{} // semaphore of large responses, while the request holds a place; nil without one
	held        []func()      // release what the request holds of limits
	committed   []func()      // functions to run after the commit

	shown *errs.Error // error that a page has shown; nil for none
	once  *onceShown  // what a page shows once; nil for nothing

	rest func(out *envelope) error // what a view leaves to do after its transaction; nil for nothing
}

// auth returns the Auth with the store handle of the request.
func (req *Request) auth() *auth.Auth { return req.s.auth.On(req.db) }

func (s *Server) newRequest(w http.ResponseWriter, r *http.Request) *Request {
	req := &Request{ID: s.nextID(), Addr: s.clientAddr(r), Actor: store.Anonymous, s: s, http: r, w: statusWriter{ResponseWriter: w}, begun: time.Now()}
	if s.config.Monitor.Off {
		req.db = s.db.WithRecorder(nil)
	} else {
		req.db = s.db.WithRecorder(&req.mon.watch)
	}
	return req
}

// serve returns the handler of a route: it authenticates and authorizes the request,
// decodes the input, runs the route's handler and sends the response.
func (s *Server) serve(rt *Route) httprouter.Handle {
	stats, operation, monitored := s.metrics.of(rt), rt.name(), rt.monitored()
	size := new(atomic.Int64)
	size.Store(unknownSize)
	return func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		req := s.newRequest(w, r)
		req.route, req.params, req.mon.route, req.size = rt, params, monitored, size
		req.w.headOnly = r.Method == http.MethodHead && rt.raw != nil && !rt.ranges
		if rt.changes() { // reads do not pay for it
			req.setOrigin(rt)
			req.db = req.db.For(operation, req.authorizeWrite).From(&req.origin).Noting(&req.entry)
			if len(r.Header[idempotencyHeader]) > 0 {
				req.db = req.db.Concluding(req.complete)
			}
			if rt.Method == http.MethodDelete || rt.before {
				req.db = req.db.Essential()
			}
		}
		if rt.raw != nil || rt.page {
			documentHeaders(w.Header())
		}
		if rt.shared {
			w.Header()["Cross-Origin-Resource-Policy"] = anyOrigin
		}
		err := s.run(rt, req)
		if req.w.cut {
			err = nil
		}
		gone := req.abandoned(err)
		if gone != nil {
			err, req.w.status = gone, statusGone
		}
		defer func() { // also for an aborted response
			s.record(stats, req, err)
			req.release() // last, since monitoring reads the body
		}()
		switch {
		case err != nil && gone == nil:
			s.fail(req, err)
		case req.shown != nil:
			s.logFailure(req, req.shown)
		}
		s.logRequest(rt.Path, req, err)
		if gone != nil {
			panic(http.ErrAbortHandler) // a partial response must not be taken for a whole one
		}
	}
}

// record counts a finished request in the metrics and passes it to monitoring.
func (s *Server) record(stats *requestStats, req *Request, err error) {
	took := time.Since(req.begun)
	s.countDenial(req)
	if req.opened > 0 {
		took = req.opened // of a stream, the time until it was open
	}
	stats.count(req, took) // first, since monitoring may send the response
	if err == nil && req.shown != nil {
		err = req.shown
	}
	facts := req.facts(err, took)
	s.monitor.Done(&facts)
}

// run runs a route and writes a successful response.
func (s *Server) run(rt *Route, req *Request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	out := newEnvelope(rt.protocol)
	defer out.release()
	done, err := s.make(rt, req, out)
	if done || err != nil {
		return err
	}
	req.nameEntry()
	return out.send(req)
}

// make makes a response. It reports true if the handler has sent it.
func (s *Server) make(rt *Route, req *Request, out *envelope) (sent bool, err error) {
	defer req.leaveTurn()
	req.takeTurn()
	if rt.changes() {
		if err := req.readReason(); err != nil {
			return false, err
		}
	}
	if rt.clients {
		if err := req.readClient(); err != nil {
			return false, err
		}
	}
	if rt.Method != http.MethodGet && !rt.reads {
		if err := req.readConditions(rt); err != nil {
			return false, err
		}
	}
	if err = s.view(rt, req, out); err == nil && rt.logs != "" && req.http.Method != http.MethodHead {
		err = req.logUse(rt)
	}
	if err == nil {
		err = req.readIdempotency(rt)
	}
	switch {
	case err != nil:
		return false, err
	case req.rest != nil:
		return false, req.rest(out)
	case rt.raw != nil:
		return true, rt.raw(req, &req.w)
	case rt.act != nil:
		return false, req.actOnce(rt, out)
	}
	return false, nil
}

// view authorizes the request, and runs the view of a route that has one, in one transaction.
func (s *Server) view(rt *Route, req *Request, out *envelope) error {
	return req.db.View(store.Anonymous, func(tx *store.Tx) error {
		err := s.admit(tx, rt, req)
		if err == nil {
			err = req.prove(tx, rt)
		}
		if limited := req.limitRate(tx); limited != nil { // refused requests count, too
			err = limited
		}
		s.monitor.Widen(&req.mon.watch, req.mon.route, req.Actor, req.Addr)
		if err == nil {
			err = req.expectAnswer(out)
		}
		if err != nil || rt.view == nil {
			return err
		}
		return rt.view(tx, req, out)
	})
}

// admit authenticates and authorizes the request.
func (s *Server) admit(tx *store.Tx, rt *Route, req *Request) error {
	if rt.shown != nil && !rt.shown(tx) {
		return errUnknownPath
	}
	if rt.Access == public {
		return nil
	}
	if req.mon.authAt == 0 {
		req.mon.authAt = tx.Now()
	}
	session, err := req.authenticate(tx, rt)
	if err != nil {
		return err
	}
	if session == nil { // also one that has ended since the request began
		req.Session, req.Actor = nil, store.Anonymous
		return nil
	}
	req.Session, req.entered, req.Actor = session, session, session.Actor
	req.origin.User, req.origin.SessionID = store.Account{App: session.Actor.App, ID: session.Actor.ID}, session.ID
	actor, err := req.actor(tx)
	if err != nil {
		return err
	}
	req.Actor = actor
	if session.Key != nil {
		req.origin.Key, req.origin.SessionID = session.Actor.Key, 0
	}
	tx.ActAs(req.Actor)
	if err := rt.permit(tx, req.Actor); err != nil {
		return err
	}
	req.mon.authorized = true
	return nil
}

// permit returns an error if the actor may not use the route.
func (rt *Route) permit(tx *store.Tx, actor *store.Actor) error {
	if actor.Person().MustChange && !rt.before {
		return errs.New(errs.Denied, "change the password first").Coded("password_change_required")
	}
	if !rt.before && !rt.enrols && actor.Key == nil && actor.Person().MustAddFactor(tx) {
		return errs.New(errs.Denied, "set up a second factor first").Coded("factor_required")
	}
	if err := rt.permitActing(actor); err != nil {
		return err
	}
	access := rt.Access
	if key := actor.Key; key != nil {
		if rt.keys == byNoKey || rt.keys == byPersonalKey && !key.Personal {
			return store.ErrKeyForbidden
		}
		access = cmp.Or(rt.keyAccess, access)
	}
	if !rt.open() && !actor.HasPermission(tx, access) {
		return errs.New(errs.Denied, "permission %s is required", access)
	}
	if rt.unscoped && !actor.Scope(tx).All {
		return errs.New(errs.Denied, "the data scope all is required")
	}
	return nil
}

// prove requires a recent proof if the route does. It runs only when the request begins, so that a long one can end.
func (req *Request) prove(tx *store.Tx, rt *Route) error {
	if !rt.confirmed || req.Actor.Key != nil {
		return nil
	}
	err := store.RequireProof(tx)
	req.mon.authorized = err == nil
	return err
}

// renew authorizes a request again that waits for something, and returns the present actor.
func (req *Request) renew(tx *store.Tx) (*store.Actor, error) {
	if req.Session == nil {
		return store.Anonymous, nil
	}
	if err := req.s.auth.Accepts(tx, req.entered); err != nil {
		return nil, err
	}
	session, err := req.s.auth.SessionByID(tx, req.Session.ID)
	if err != nil {
		return nil, err
	}
	return req.resume(tx, session)
}

// proceed authorizes a download again, also with a token that was replaced meanwhile, and counts as a use of the session. It
// is only for requests that read: the actor has the proof of a confirmation that came later.
func (req *Request) proceed(tx *store.Tx) error {
	if req.Session == nil {
		return nil
	}
	session, err := req.s.auth.Continue(tx, req.entered)
	if err != nil {
		return err
	}
	actor, err := req.resume(tx, session)
	if err == nil {
		req.Actor = actor
	}
	return err
}

// resume authorizes the request with the present state of its session.
func (req *Request) resume(tx *store.Tx, session *auth.Session) (*store.Actor, error) {
	if session.Key != nil {
		if err := session.Key.Uses(tx.Now(), req.Addr); err != nil {
			return nil, err
		}
	}
	req.Session = session
	actor, err := req.actor(tx)
	if err != nil {
		return nil, err
	}
	tx.ActAs(actor)
	return actor, req.route.permit(tx, actor)
}

// authorizeWrite runs first in every write transaction of a request. The request was
// authorized when it began, but a body can take half a minute to arrive and a password
// a second to hash, so the session or the permission may have been revoked since.
func (req *Request) authorizeWrite(tx *store.Tx) error {
	if req.Session == nil {
		return nil // a public route
	}
	if err := req.Session.Confirm(tx); err != nil {
		return err
	}
	if err := req.confirmActing(tx); err != nil {
		return err
	}
	if err := req.route.permit(tx, store.ActorOf(tx)); err != nil {
		return err
	}
	return req.completed(tx)
}

// admitMetrics checks the token of a metrics scraper, which has no session, in constant
// time. Hashing hides the length too.
func (s *Server) admitMetrics(token string) error {
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.config.MetricsToken))
	if s.config.MetricsToken == "" || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		return errs.New(errs.Unauthenticated, "wrong metrics token (metrics.token in the configuration)")
	}
	return nil
}

// admitAgain re-authorizes a request, so that revoked permissions take effect before its body is used.
func (req *Request) admitAgain() error {
	if req.Session == nil {
		return nil // a public route
	}
	return req.db.DB.View(store.Anonymous, req.admit) // not among the operations of the request
}

func (req *Request) admit(tx *store.Tx) error { return req.s.admit(tx, req.route, req) }

// logFailure logs an error of the server, at most once a minute while it repeats.
func (s *Server) logFailure(req *Request, err error) {
	e := errs.Of(err)
	code := req.route.statusOf(e.Kind)
	if e.Kind == errs.Internal || e.Unwrap() != nil && code >= 500 { // not Busy, which would fill the log under a flood
		id, method, path := req.ID, req.http.Method, req.loggedPath()
		kind := e.Code
		if e.Kind == errs.Internal {
			kind += " " + req.loggedRoute()
		}
		s.failures.log(s.log, kind, err, func(line *zerolog.Event) {
			line.Str("request", id).Str("method", method).Str("path", path).Int("status", code).Msg("request failed")
		})
	}
}

// fail sends an error response. An error that is not an errs.Error is internal: it is
// logged, and its text is not sent.
func (s *Server) fail(req *Request, err error) {
	s.logFailure(req, err)
	e := errs.Of(err)
	code := req.route.statusOf(e.Kind)
	if req.w.status != 0 {
		panic(http.ErrAbortHandler) // a raw response had begun: the client must not take it for complete
	}
	h := req.w.Header()
	h.Del("Etag")
	h.Del("Cache-Control")
	h.Del("Content-Encoding") // of a response that the limit refused
	h.Del("Content-Disposition")
	h["Content-Security-Policy"] = noContent
	if e.Kind == errs.Unauthenticated {
		h["Www-Authenticate"] = req.challenge()
	}
	setRetryAfter(h, e)
	if req.http.ContentLength != 0 && !req.bodyRead {
		if e.Kind == errs.TooLarge || e.Kind == errs.TooMany || e.Kind == errs.Busy {
			h.Set("Connection", "close") // the rest of the body is not read
		}
		// net/http reads some of the body before the next request.
		http.NewResponseController(&req.w).SetReadDeadline(time.Now().Add(bodyGrace)) // fails only without a connection, in a test
	}
	if req.failPage(e, code) {
		return
	}
	body, err := json.Marshal(req.failureBody(e))
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	req.writeJSON(code, append(body, '\n'))
}

// setRetryAfter sets the header for an error that ends by itself.
func setRetryAfter(h http.Header, e *errs.Error) {
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((e.RetryAfter+time.Second-1)/time.Second)))
	}
}

// failureBody returns the body of an error response.
func (req *Request) failureBody(e *errs.Error) any {
	if req.route != nil && req.route.protocol != nil {
		return req.route.protocol.failure(req, e, e.Msg.In(req.language()))
	}
	answer := failureOf(e, req.language())
	answer.RequestID = req.ID
	return answer
}

// loggedPath returns the path with secret parameters masked.
func (req *Request) loggedPath() string {
	pattern := ""
	if req.route != nil {
		pattern = req.route.Path
	}
	return (&redact.Redactor{}).Path(pattern, req.http.URL.Path)
}

// loggedRoute returns the name of the route; "" for none.
func (req *Request) loggedRoute() string {
	if req.route == nil {
		return ""
	}
	return req.route.name()
}

// logRequest logs the request at debug level. It omits the query, which may contain
// personal data.
func (s *Server) logRequest(route string, req *Request, err error) {
	if s.log.GetLevel() > zerolog.DebugLevel {
		return
	}
	line := s.log.Debug()
	if err != nil && !errs.Is(err, errs.Internal) {
		line = line.Str("error", errs.Of(err).Code)
	}
	line.Str("request", req.ID).Str("method", req.http.Method).Str("route", route).Str("path", req.loggedPath()).
		Int("status", req.w.status).Stringer("address", req.Addr).Str("user", req.Actor.Label()).
		Dur("ms", time.Since(req.begun)).Msg("request")
}

// statusWriter records the status and the size of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
	bytes  int64 // size of the body
	err    error // error of the connection

	headOnly bool // whether the handler ends at the first byte of a body, which the client does not get: it may be long or endless
	cut      bool // whether it has ended so
}

// errHeadOnly ends a handler whose response has no body.
var errHeadOnly = errors.New("the response to HEAD has no body")

func (w *statusWriter) WriteHeader(code int) {
	if w.status == 0 {
		w.status = code
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if w.headOnly && w.status < 400 {
		if w.status == 0 {
			w.WriteHeader(http.StatusOK)
		}
		w.cut = true
		return 0, errHeadOnly
	}
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	if err != nil {
		w.err = err
	}
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
