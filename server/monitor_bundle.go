package server

import (
	"reflect"
	"runtime"
	"strings"
	"time"

	"reeve/server/redact"
	"reeve/server/redis"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/journal"
)

// bundle is a request with its events on the way to the journal. No secret is in
// it any more.
type bundle struct {
	request requestEvent
	auth    []authEvent
	ops     []store.Op
	cached  []store.CacheEvent
	redis   []redis.Event
	marks   marks
	weights weights
	loose   bool  // of no request
	size    int64 // about, in memory
}

// bundle takes what is kept of a request, and takes the secrets out of it.
func (m *monitor) bundle(rt *Route, req *Request, err error, took time.Duration, weights weights) *bundle {
	w := &req.mon.watch
	b := &bundle{auth: req.mon.auth, ops: w.Ops, cached: w.Cached, redis: req.mon.redis, weights: weights}
	r := &b.request
	r.eventHead = eventHead{RecordedAt: store.TimeOf(req.begun), RequestID: req.ID, HostName: m.host, Sampled: weights.request}
	if a := req.Actor; a.ID != 0 {
		r.User = &eventUser{a.ID, a.Username, "admin"}
		if a.App {
			r.User.Realm = "app"
		}
	}
	hide := m.redactor()
	var secret redact.Fields
	if rt != nil {
		secret, r.Route, r.Handler = rt.hide, rt.Path, rt.handler
	}
	r.Method, r.Address = truncate(req.http.Method, 16), req.Addr.String()
	r.URI = hide.URI(r.Route, req.http.URL.Path, req.http.URL.RawQuery, secret)
	r.Headers = hide.Header(req.http.Header)
	r.UserAgent = r.Headers["User-Agent"]
	if body := req.mon.body; body != nil {
		done := req.s.decodeTurn(len(body))
		r.Payload = hide.Body(req.http.Header.Get("Content-Type"), body, true, secret)
		done()
	}
	r.Status, r.DurationMS, r.BytesIn, r.BytesOut = int64(req.w.status), ms(took), max(req.http.ContentLength, int64(len(req.mon.body))), req.w.bytes
	spent := w.Commit
	for i := range w.Ops {
		spent += w.Ops[i].Took
	}
	r.StoreMS, r.WaitMS = ms(spent), ms(w.Wait)
	r.HashMS, r.HashWaitMS, r.ImageMS = ms(req.mon.hashing.Took), ms(req.mon.hashing.Wait), ms(req.mon.imaging)
	if err != nil {
		e := errs.Of(err)
		r.Error, r.Message = e.Code, hide.Text(e.Msg)
	}
	if slow := took >= time.Duration(m.slowRequest.Load()); slow {
		r.Slow = true
	}
	for i := range b.auth {
		if a := &b.auth[i]; err != nil && a.Result == "success" { // it was noted before all was done
			a.Result, a.Reason = "failed", r.Error
		}
	}
	if weights.events > 0 {
		m.decision(rt, req, b)
	} else {
		b.ops, b.cached, b.redis = nil, nil, nil
	}
	for i := range b.auth {
		a := &b.auth[i]
		if a.eventHead = b.head(a.RecordedAt); a.Type != "permission" {
			a.Sampled = 1 // sign-ins are never sampled
		}
		a.Address, a.Route = r.Address, r.Route
	}
	r.Events = int64(len(b.auth) + len(b.ops) + len(b.cached) + len(b.redis))
	b.marks = marks{at: r.RecordedAt, user: req.Actor.ID, app: req.Actor.App, duration: took, status: uint16(req.w.status), slow: bool(r.Slow), failed: req.failed() || req.mon.broken}
	b.size = 2048 + int64(len(r.Payload)+512*(len(b.ops)+len(b.auth)+len(b.cached)+len(b.redis)))
	return b
}

// decision notes what was decided about the permission that a route asks for.
func (m *monitor) decision(rt *Route, req *Request, b *bundle) {
	if rt == nil || rt.Access == public {
		return
	}
	e := authEvent{Type: "permission", Username: req.Actor.Username, Ability: rt.Access, Result: "allowed", MatchedBy: []string{}}
	e.RecordedAt = req.mon.asked
	if !req.mon.decided {
		if req.w.status != 401 && req.w.status != 403 {
			return // it never came to that
		}
		e.Result, e.Reason = "denied", b.request.Error
	}
	if req.Actor.ID != 0 && !rt.open() {
		m.db.View(store.Nobody, func(tx *store.Tx) error { // from memory: it cannot fail
			e.MatchedBy = store.GrantingRoles(tx, req.Actor, rt.Access)
			return nil
		})
	}
	b.auth = append(b.auth, e)
}

// head is the head of an event of the request; at is 0 for when the request began.
func (b *bundle) head(at store.Time) eventHead {
	head := b.request.eventHead
	head.Sampled = max(1, b.weights.events)
	if at != 0 {
		head.RecordedAt = at
	}
	return head
}

// redactor is made for one request.
func (m *monitor) redactor() *redact.Redactor {
	return &redact.Redactor{IsSecretSetting: func(name string) (secret bool) {
		m.db.View(store.System, func(tx *store.Tx) error { // from memory: it cannot fail
			settings := store.SettingSet.Get(tx)
			secret = settings.ID(name) == 0 || settings.Secret(name) // a wrong name may be a secret's
			return nil
		})
		return secret
	}}
}

// encode makes the journal's events of a bundle. Those that fall into one
// microsecond stay in this order: an operation of the store comes after what it
// was done for.
func (b *bundle) encode(m *monitor) journal.Group {
	group := journal.Group{Name: b.request.RequestID, Events: make([]journal.Event, 0, 1+len(b.auth)+len(b.cached)+len(b.redis)+len(b.ops))}
	add := func(kind string, k marks, event appender) {
		group.Events = append(group.Events, m.events.journaled(kind, k, event))
	}
	if !b.loose {
		add(requestKind, b.marks, &b.request)
	}
	for i := range b.auth {
		k := b.marks
		k.at, k.failed = b.auth[i].RecordedAt, b.auth[i].Result == "denied" || b.auth[i].Result == "failed"
		add(authKind, k, &b.auth[i])
	}
	for _, c := range b.cached {
		e := cacheEvent{eventHead: b.head(store.TimeOf(c.Began)), Cache: c.Cache, Type: c.Op, Key: c.Key, Generation: int64(c.Generation),
			Size: int64(c.Size), DurationMS: ms(c.Took), Count: 1, Route: b.request.Route}
		k := b.marks
		k.at = e.RecordedAt
		add(cacheKind, k, &e)
	}
	for i := range b.redis {
		e := redisRecord{b.head(b.redis[i].At), b.redis[i]}
		k := b.marks
		k.at = e.RecordedAt
		add(redisKind, k, &e)
	}
	repeated := make(map[string]int, len(b.ops))
	for i := range b.ops {
		repeated[b.ops[i].Statement]++
	}
	for i := range b.ops {
		e := b.query(&b.ops[i], repeated[b.ops[i].Statement], time.Duration(m.slowStore.Load()))
		k := b.marks
		k.at, k.duration, k.slow = e.RecordedAt, b.ops[i].Took, bool(e.Slow)
		add(queryKind, k, e)
	}
	return group
}

// repeats is how often a request may ask the same before it is told of.
const repeats = 5

func (b *bundle) query(o *store.Op, repeated int, slow time.Duration) *queryEvent {
	return &queryEvent{
		eventHead: b.head(store.TimeOf(o.Began)), Connection: o.Connection, Statement: o.Statement, Mode: o.Mode, Plan: o.Plan,
		Examined: int64(o.Examined), Returned: int64(o.Returned), Bytes: o.Bytes, DurationMS: ms(o.Took), WaitMS: ms(o.Wait), CommitMS: ms(o.Commit),
		Slow: store.Flag(o.Took >= slow), Caller: o.Caller(), NPlusOne: store.Flag(repeated >= repeats), Route: b.request.Route,
	}
}

// handlerName is the name of a handler's function, without its package.
func handlerName(handler any) string {
	name := runtime.FuncForPC(reflect.ValueOf(handler).Pointer()).Name()
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "-fm")
}
