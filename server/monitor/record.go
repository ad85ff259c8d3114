package monitor

import (
	"time"

	"reeve/server/redact"
	"reeve/server/redis"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/journal"
	"reeve/store/kv"
)

// repeats is the minimum number of equal statements in one request that are marked as
// n_plus_one.
const repeats = 5

// record is a request with its events, on the way to the journal. It contains no secret.
type record struct {
	request    RequestEvent
	parts      []part // parts in the order in which they are stored
	index      indexHeader
	weights    weights
	standalone bool  // the parts belong to no request
	size       int64 // approximate bytes in memory
}

// part is an event of a request before it is encoded. Run encodes it, so that the request
// does not wait for that.
type part interface {
	// event returns the event of the part. h is the header of the request, in which the part
	// replaces what differs.
	event(e *encoding, h indexHeader) (kind string, header indexHeader, event appender)
}

// encoding is a record that is being encoded.
type encoding struct {
	*record
	slow     time.Duration  // duration from which an operation is slow
	repeated map[string]int // number of times that the request ran each statement
}

// The types of parts besides *AuthEvent.
type (
	queryPart kv.Op
	cachePart kv.CacheEvent
	redisPart redis.Event
)

// record returns the record of a request, without secrets.
func (m *Monitor) record(f *Facts, w weights) *record {
	r := &record{weights: w}
	e := &r.request
	e.EventHead = EventHead{
		RecordedAt: kv.TimeOf(f.Begun),
		RequestID:  f.RequestID,
		HostName:   m.host,
		Sampled:    w.request,
	}

	if a := f.Caller; a.ID != 0 {
		e.User = &EventUser{ID: a.Person().ID, Username: a.Label(), Realm: "admin"}
		if a.App {
			e.User.Realm = "app"
		}
		if a.By != nil {
			e.User.AsID = a.ID
		}
		if a.Key != nil {
			e.User.KeyID, e.User.Key = a.Key.ID, a.Key.Name
		}
	}

	m.describe(e, f)
	r.index = indexHeader{
		at:       e.RecordedAt,
		user:     f.Caller.Person().ID,
		app:      f.Caller.App,
		duration: f.Took,
		status:   uint16(f.Status),
		slow:     bool(e.Slow),
		failed:   f.failed() || f.aborted(),
	}

	m.addParts(r, f)
	e.Events = int64(len(r.parts))
	r.size = 2048 + int64(len(e.Payload)+512*len(r.parts))
	return r
}

// describe sets the fields of a request's own event.
func (m *Monitor) describe(e *RequestEvent, f *Facts) {
	redactor := &redact.Redactor{IsSecretSetting: m.isSecret}
	var hide redact.Fields
	if f.Route != nil {
		hide, e.Route, e.Handler = f.Route.Hide, f.Route.Pattern, f.Route.Handler
	}

	e.Method, e.Address = f.Method, f.Addr.String()
	e.URI = redactor.URI(e.Route, f.Path, f.Query, hide)
	e.Headers = redactor.Header(f.Header)
	e.UserAgent = e.Headers["User-Agent"]
	if f.Body != nil {
		e.Payload = payload(redactor, f, hide)
	}

	e.Status, e.DurationMS, e.BytesIn, e.BytesOut = int64(f.Status), ms(f.Took), f.BytesIn, f.BytesOut
	e.Slow = store.Flag(f.Took >= time.Duration(m.slowRequest.Load()))
	spent := f.Store.Commit
	for i := range f.Store.Ops {
		spent += f.Store.Ops[i].Took
	}

	e.StoreMS, e.WaitMS = ms(spent), ms(f.Store.Wait)
	e.HashMS, e.HashWaitMS, e.ImageMS = ms(f.HashTook), ms(f.HashWait), ms(f.ImageTook)
	if f.Err != nil { // last: the message may quote values that were redacted above
		err := errs.Of(f.Err)
		e.Error, e.Message = err.Code, redactor.Text(err.Msg.String())
	}
}

// payload returns the redacted body.
func payload(redactor *redact.Redactor, f *Facts, hide redact.Fields) string {
	if f.BeforeRedact != nil {
		defer f.BeforeRedact()()
	}
	contentType := ""
	if values := f.Header["Content-Type"]; len(values) > 0 {
		contentType = values[0]
	}
	return redactor.Body(contentType, f.Body, true, hide)
}

// addParts adds the parts of a request. The order matters for parts of the same microsecond:
// an operation of the store must follow the event that caused it.
func (m *Monitor) addParts(r *record, f *Facts) {
	all := r.weights.events > 0
	if all {
		r.parts = make([]part, 0, len(f.Notes)+1+len(f.Store.Cached)+len(f.Store.Ops))
	}

	for i := range f.Notes {
		a := &f.Notes[i]
		if f.Err != nil && a.Result == "success" { // a handler reports success before its commit
			a.Result, a.Reason = "failed", r.request.Error
		}
		r.addAuth(a)
	}

	if !all {
		return
	}
	if decision := m.decision(r, f); decision != nil {
		r.addAuth(decision)
	}

	for i := range f.Store.Cached {
		r.parts = append(r.parts, (*cachePart)(&f.Store.Cached[i]))
	}

	for i := range f.Store.Ops {
		r.parts = append(r.parts, (*queryPart)(&f.Store.Ops[i]))
	}
}

// addAuth completes an auth event and adds it.
func (r *record) addAuth(a *AuthEvent) {
	if a.EventHead = r.head(a.RecordedAt); a.Type != "permission" {
		a.Sampled = 1 // sign-ins are never sampled
	}
	a.Address, a.Route = r.request.Address, r.request.Route
	r.parts = append(r.parts, a)
}

// decision returns the event of the authorization of a request; nil if there was none.
func (m *Monitor) decision(r *record, f *Facts) *AuthEvent {
	if f.Route == nil || f.Route.Access == "" || !f.Authorized && !f.denied() {
		return nil
	}

	e := &AuthEvent{
		Type:      "permission",
		Username:  f.Caller.Label(),
		Ability:   f.Route.Access,
		Result:    "allowed",
		MatchedBy: []string{},
	}
	e.RecordedAt = f.AuthAt
	if !f.Authorized {
		e.Result, e.Reason = "denied", r.request.Error
	}
	if f.Caller.ID != 0 && !f.Route.Open {
		m.db.View(store.Anonymous, func(tx *store.Tx) error { // served from memory: it cannot fail
			e.MatchedBy = store.GrantingRoles(tx, f.Caller, f.Route.Access)
			return nil
		})
	}

	return e
}

// head returns the head of an event of the request. at is the time of the event, 0 for the
// start of the request.
func (r *record) head(at store.Time) EventHead {
	head := r.request.EventHead
	head.Sampled = max(1, r.weights.events)
	if at != 0 {
		head.RecordedAt = at
	}
	return head
}

// isSecretSetting reports whether a setting is secret. An unknown name counts as secret,
// since it may be a misspelled one.
func (m *Monitor) isSecretSetting(name string) (secret bool) {
	m.db.View(store.System, func(tx *store.Tx) error { // served from memory: it cannot fail
		settings := store.SettingCache.Get(tx)
		secret = settings.ID(name) == 0 || settings.Secret(name)
		return nil
	})
	return secret
}

// encode returns the events of a record.
func (m *Monitor) encode(r *record) journal.Group {
	group := journal.Group{
		Name:   r.request.RequestID,
		Events: make([]journal.Event, 0, 1+len(r.parts)),
	}
	if !r.standalone {
		group.Events = append(group.Events, m.encoder.encode(RequestKind, r.index, &r.request))
	}

	e := &encoding{
		record:   r,
		slow:     time.Duration(m.slowStore.Load()),
		repeated: make(map[string]int, len(r.parts)),
	}
	for _, p := range r.parts {
		if o, ok := p.(*queryPart); ok {
			e.repeated[o.Statement]++
		}
	}

	for _, p := range r.parts {
		group.Events = append(group.Events, m.encoder.encode(p.event(e, r.index)))
	}

	return group
}

func (a *AuthEvent) event(_ *encoding, h indexHeader) (string, indexHeader, appender) {
	h.at, h.failed = a.RecordedAt, a.Result == "denied" || a.Result == "failed"
	return AuthKind, h, a
}

func (c *cachePart) event(r *encoding, h indexHeader) (string, indexHeader, appender) {
	e := &CacheEvent{
		EventHead:  r.head(kv.TimeOf(c.Began)),
		Cache:      c.Cache,
		Type:       c.Op,
		Key:        c.Key,
		Generation: int64(c.Generation),
		Size:       int64(c.Size),
		DurationMS: ms(c.Took),
		Count:      1,
		Route:      r.request.Route,
	}
	h.at = e.RecordedAt
	return CacheKind, h, e
}

func (p *redisPart) event(r *encoding, h indexHeader) (string, indexHeader, appender) {
	e := &RedisRecord{r.head(p.At), redis.Event(*p)}
	h.at = e.RecordedAt
	return RedisKind, h, e
}

func (o *queryPart) event(r *encoding, h indexHeader) (string, indexHeader, appender) {
	e := &QueryEvent{
		EventHead:  r.head(kv.TimeOf(o.Began)),
		Connection: o.Connection,
		Statement:  o.Statement,
		Mode:       o.Mode,
		Plan:       o.Plan,
		Examined:   int64(o.Examined),
		Returned:   int64(o.Returned),
		Bytes:      o.Bytes,
		DurationMS: ms(o.Took),
		WaitMS:     ms(o.Wait),
		CommitMS:   ms(o.Commit),
		Slow:       store.Flag(o.Took >= r.slow),
		Caller:     (*kv.Op)(o).Caller(),
		NPlusOne:   store.Flag(r.repeated[o.Statement] >= repeats),
		Route:      r.request.Route,
	}
	h.at, h.duration, h.slow = e.RecordedAt, o.Took, bool(e.Slow)
	return QueryKind, h, e
}
