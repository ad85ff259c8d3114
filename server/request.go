package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/julienschmidt/httprouter"
	"github.com/rs/zerolog"
	"reeve/auth"
	"reeve/server/redact"
	"reeve/store"
	"reeve/store/errs"
)

// Request is what a handler knows of the request besides its input.
type Request struct {
	ID      string
	Addr    netip.Addr    // of the client, see auth.ClientAddr
	Session *auth.Session // nil on a public route
	Actor   *store.Actor

	s         *Server
	route     *Route // nil where there is none
	http      *http.Request
	w         statusWriter
	params    httprouter.Params
	read      readState // which state of the record the client has read
	begun     time.Time
	db        store.Watched // what handlers ask, so that it is seen in monitoring
	mon       monitored
	bodyRead  bool     // to its end
	held      []func() // ends what the request holds of limits
	committed []func() // what the handler of a write wants done after the commit
}

// auth is the sign-in, which reaches the store as the request does.
func (req *Request) auth() *auth.Auth { return req.s.auth.On(req.db) }

// note adds an event of its own to what monitoring knows of a request.
func (req *Request) note(e authEvent) {
	for _, had := range req.mon.auth {
		if had.Type == e.Type && had.Username == e.Username {
			return // a write that runs again says it again
		}
	}
	e.MatchedBy, e.RecordedAt = []string{}, store.TimeOf(time.Now())
	req.mon.auth = append(req.mon.auth, e)
}

func (s *Server) newRequest(w http.ResponseWriter, r *http.Request) *Request {
	req := &Request{ID: s.nextID(), Addr: s.clientAddr(r), Actor: store.Nobody, s: s, http: r, w: statusWriter{ResponseWriter: w}, begun: time.Now()}
	if s.config.Monitor.Off {
		req.db = s.db.Watched(nil)
	} else {
		req.db = s.db.Watched(&req.mon.watch)
	}
	return req
}

// serve makes the handler of one route: who asks, may they, what do they say,
// run it, answer.
func (s *Server) serve(rt *Route) httprouter.Handle {
	stats, operation := s.metrics.of(rt), rt.name()
	return func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		req := s.newRequest(w, r)
		req.route, req.params = rt, params
		if rt.Method != http.MethodGet { // what only reads does not pay for it
			req.db = req.db.For(operation, req.authorizeWrite)
			if rt.Method == http.MethodDelete || rt.before {
				req.db = req.db.Essential()
			}
		}
		if rt.shared {
			w.Header()["Cross-Origin-Resource-Policy"] = anyOrigin
		}
		err := s.run(rt, req)
		gone := req.abandoned(err)
		if gone != nil {
			err, req.w.status = gone, statusGone
		}
		defer func() { // also of an answer that is broken off
			s.record(stats, req, err)
			req.letGo() // last: monitoring reads the body
		}()
		if err != nil && gone == nil {
			s.fail(req, err)
		}
		s.logRequest(rt.Path, req, err)
		if gone != nil {
			panic(http.ErrAbortHandler) // what has been sent, if anything, must not be taken for the answer
		}
	}
}

// record counts a request that has been answered and gives it to monitoring.
func (s *Server) record(stats *requestStats, req *Request, err error) {
	took := time.Since(req.begun)
	stats.count(req, took) // first: what follows may send the answer
	s.monitor.done(req.route, req, err, took)
}

// run takes a request through its route and writes a successful answer.
func (s *Server) run(rt *Route, req *Request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	out := newEnvelope()
	defer out.release()
	err = req.db.View(store.Nobody, func(tx *store.Tx) error {
		err := s.admit(tx, rt, req)
		s.monitor.traces.widen(rt, req)
		if err != nil || rt.view == nil {
			return err
		}
		return rt.view(tx, req, out)
	})
	switch {
	case err != nil:
		return err
	case rt.raw != nil:
		return rt.raw(req, &req.w)
	case rt.act != nil:
		if err := rt.act(req, out); err != nil {
			return err
		}
	}
	out.send(req)
	return nil
}

// admit finds out who asks and whether the route is theirs to use.
func (s *Server) admit(tx *store.Tx, rt *Route, req *Request) error {
	if rt.Access == public {
		return nil
	}
	if req.mon.asked == 0 {
		req.mon.asked = tx.Now()
	}
	var header string
	if values := req.http.Header["Authorization"]; len(values) > 0 {
		header = values[0]
	}
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return errs.New(errs.Unauthenticated, "sign in first: the header `Authorization: Bearer <token>` is missing")
	}
	token = strings.TrimSpace(token)
	if rt.Access == metricsToken {
		return s.admitMetrics(token)
	}
	session, err := s.auth.Authenticate(tx, token)
	if err != nil {
		return err
	}
	if session.Actor.App != (rt.Access == appOnly) {
		return errs.New(errs.Unauthenticated, "this token belongs to the other realm: users sign in at /admin/login, app users at /api/login")
	}
	req.Session, req.Actor = session, session.Actor
	tx.ActAs(req.Actor)
	if err := rt.permit(tx, req.Actor); err != nil {
		return err
	}
	req.mon.decided = true
	return nil
}

// permit refuses an actor who may not use the route.
func (rt *Route) permit(tx *store.Tx, actor *store.Actor) error {
	if actor.MustChange && !rt.before {
		return errs.New(errs.Denied, "the password must be changed first").Coded("password_change_required")
	}
	if !rt.open() && !actor.May(tx, rt.Access) {
		return errs.New(errs.Denied, "the permission %s is missing", rt.Access)
	}
	return nil
}

// authorizeWrite runs first in every write transaction of a request. The caller was
// authorized when the request began; a body can take half a minute to arrive and a
// password a second to hash, and the session or the permission may be gone by now.
func (req *Request) authorizeWrite(tx *store.Tx) error {
	if req.Session == nil {
		return nil // a public route
	}
	if err := req.Session.Confirm(tx); err != nil {
		return err
	}
	return req.route.permit(tx, tx.Actor())
}

// admitMetrics compares what reads the metrics, which is a program and nobody's
// session, in constant time. Hashing hides the length too.
func (s *Server) admitMetrics(token string) error {
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.config.MetricsToken))
	if s.config.MetricsToken == "" || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		return errs.New(errs.Unauthenticated, "this is not the token of the metrics (metrics.token of the configuration)")
	}
	return nil
}

// admitAgain re-authorizes a request that takes a while, so that revoked rights take
// effect before its body is used and while its response is being sent.
func (req *Request) admitAgain() error {
	if req.Session == nil {
		return nil // a public route
	}
	return req.s.db.View(store.Nobody, req.admit)
}

func (req *Request) admit(tx *store.Tx) error { return req.s.admit(tx, req.route, req) }

// failure is the envelope of an error.
type failure struct {
	Data      nothing           `json:"data"`
	Success   bool              `json:"success"`
	Msg       string            `json:"msg"`
	ShowType  int               `json:"showType"`
	ErrorCode string            `json:"errorCode"`
	RequestID string            `json:"requestId"`
	Errors    map[string]string `json:"errors,omitempty"`
}

// fail answers an error. What is not an errs.Error is ours: it is logged here, once
// a minute while it repeats, and its text stays here.
func (s *Server) fail(req *Request, err error) {
	e := errs.Of(err)
	st := status[e.Kind]
	if e.Kind == errs.Internal || e.Unwrap() != nil && st.code >= 500 { // but not the Busy of a flood, which would fill the log
		id, method, path := req.ID, req.http.Method, req.loggedPath()
		kind := e.Code
		if e.Kind == errs.Internal {
			kind += " " + req.loggedRoute()
		}
		s.failures.log(s.log, kind, err, func(line *zerolog.Event) {
			line.Str("request", id).Str("method", method).Str("path", path).Int("status", st.code).Msg("request failed")
		})
	}
	if req.w.status != 0 {
		panic(http.ErrAbortHandler) // a raw answer had begun: the client must not take it for whole
	}
	h := req.w.Header()
	h.Del("Etag")
	h.Del("Cache-Control")
	h.Del("Content-Disposition")
	h["Content-Security-Policy"] = noContent
	if e.Kind == errs.Unauthenticated {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((e.RetryAfter+time.Second-1)/time.Second)))
	}
	if req.http.ContentLength != 0 && !req.bodyRead {
		if e.Kind == errs.TooLarge || e.Kind == errs.TooMany || e.Kind == errs.Busy {
			h.Set("Connection", "close") // the rest of the body is not read
		}
		// net/http reads some of it before the next request.
		http.NewResponseController(&req.w).SetReadDeadline(time.Now().Add(bodyGrace)) // fails only where there is no connection, in a test
	}
	body, err := json.Marshal(failure{Msg: e.Msg, ShowType: st.show, ErrorCode: e.Code, RequestID: req.ID, Errors: e.Fields})
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	req.writeJSON(st.code, append(body, '\n'))
}

// loggedPath is the path without the keys that open something by themselves.
func (req *Request) loggedPath() string {
	pattern := ""
	if req.route != nil {
		pattern = req.route.Path
	}
	return (&redact.Redactor{}).Path(pattern, req.http.URL.Path)
}

// loggedRoute is the name of the route; "" for none.
func (req *Request) loggedRoute() string {
	if req.route == nil {
		return ""
	}
	return req.route.name()
}

// logRequest writes the one line of a request, at debug. The query is left out:
// it can hold what is nobody's business.
func (s *Server) logRequest(route string, req *Request, err error) {
	if s.log.GetLevel() > zerolog.DebugLevel {
		return
	}
	line := s.log.Debug()
	if err != nil && !errs.Is(err, errs.Internal) {
		line = line.Str("error", errs.Of(err).Code)
	}
	line.Str("request", req.ID).Str("method", req.http.Method).Str("route", route).Str("path", req.loggedPath()).
		Int("status", req.w.status).Stringer("address", req.Addr).Str("user", req.Actor.Username).
		Dur("ms", time.Since(req.begun)).Msg("request")
}

// statusWriter remembers the status that was written, and how much.
type statusWriter struct {
	http.ResponseWriter
	status int
	bytes  int64 // of the body
	err    error // of the connection
}

func (w *statusWriter) WriteHeader(code int) {
	if w.status == 0 {
		w.status = code
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *statusWriter) Write(b []byte) (int, error) {
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
