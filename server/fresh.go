package server

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// Optimistic locking: a client that changes or deletes a record may state which version of it
// was read, by the ETag of the response, by version or by updated_at. If the record has changed
// since, nothing is written. A route declares the record with onRecord; every other route that
// changes something refuses conditions instead of ignoring them.

// revised is a record with a revision.
type revised interface {
	Revision() (updatedAt store.Time, version int64)
}

// revisedOf is a pointer to a record of type T with a revision.
type revisedOf[T any] interface {
	*T
	revised
}

// recordOf returns the record that a request is about.
type recordOf func(tx *store.Tx, req *Request) (revised, error)

// onRecord declares that a route changes one record, that of the last ID in its path or the
// caller's own, and only if it is as the client has read it. A route made by write checks that by
// itself; an action calls ifFresh or fresh in its transaction.
func onRecord[T any, P revisedOf[T]](of *store.Collection[T], rt Route) Route {
	param := lastParam(rt.Path)
	rt.record = func(tx *store.Tx, req *Request) (revised, error) {
		id := req.Actor.ID
		if param != "" {
			var err error
			if id, err = parseID(req.params.ByName(param)); err != nil {
				return nil, err
			}
		}
		v, err := of.Get(tx, id)
		return P(v), err
	}
	names := []string{"updated_at"}
	if _, versioned := reflect.TypeFor[T]().FieldByName("Version"); versioned {
		names = append(names, "version")
	}
	return conditional(rt, names...)
}

// conditional declares that a route looks at Request.read. names are the fields, besides If-Match,
// with which a client can state what it has read.
func conditional(rt Route, names ...string) Route {
	rt.conditional = true
	rt.in.takeState(rt.Method, names...)
	return rt
}

// lastParam returns the name of the last parameter in a path; "" for none.
func lastParam(path string) string {
	name := ""
	for segment := range strings.SplitSeq(path, "/") {
		if param, ok := strings.CutPrefix(segment, ":"); ok {
			name = param
		}
	}
	return name
}

// readState is the state of a record that the client has read; the zero value means
// unknown.
type readState struct {
	updatedAt *store.Time
	precision store.Time // precision of updatedAt: many clients keep milliseconds
	version   *int64
	tags      string // If-Match
}

// stated reports whether the client has stated a condition.
func (s *readState) stated() bool { return s.updatedAt != nil || s.version != nil || s.tags != "" }

// recordTag returns the ETag of a record.
func recordTag(r revised) string {
	updatedAt, _ := r.Revision()
	return `"` + strconv.FormatInt(int64(updatedAt), 36) + `"`
}

// ifFresh runs change, which changes the record of the route, and returns a Conflict if the
// client has read another state of it than that before the change; the transaction is then rolled
// back. It checks afterwards, so that callers who may not see the record learn nothing about it.
func (req *Request) ifFresh(tx *store.Tx, change func() error) error {
	if req.route.record == nil || !req.read.stated() {
		return change()
	}
	was, missing := req.route.record(tx, req)
	err := change()
	if missing == nil && (err == nil || errs.Is(err, errs.Conflict) || errs.Is(err, errs.Invalid)) {
		if stale := req.fresh(was); stale != nil {
			return stale
		}
	}
	return err
}

// fresh returns a Conflict if the client has read another state of the record than r,
// since someone else has changed it.
func (req *Request) fresh(r revised) error {
	updatedAt, version := r.Revision()
	read, field := &req.read, ""
	switch {
	case read.version != nil && *read.version != version:
		field = "version"
	case read.updatedAt != nil && *read.updatedAt/read.precision != updatedAt/read.precision:
		field = "updated_at"
	case read.tags != "" && !matches(read.tags, recordTag(r)):
		field = "If-Match"
	default:
		return nil
	}
	return errs.Field(errs.Conflict, field, "the record was changed at %s; reload it and try again", updatedAt).Coded("stale")
}

// conditions are the request headers that make a change conditional.
var conditions = []string{"If-Match", "If-None-Match", "If-Unmodified-Since"}

// readConditions reads If-Match. It refuses conditions that the route cannot check: to change
// something regardless of them would be worse than not to change it.
func (req *Request) readConditions(rt *Route) error {
	for _, name := range conditions {
		values := req.http.Header[name]
		switch {
		case len(values) == 0:
		case name != "If-Match" || !rt.conditional:
			return errs.Field(errs.Malformed, name, "this operation can't check this condition; send the request without it")
		default:
			if req.read.tags = strings.TrimSpace(strings.Join(values, ", ")); req.read.tags == "" {
				return errs.Field(errs.Malformed, name, "must be the ETag returned when the record was read")
			}
		}
	}
	return nil
}

// takeState lets an input state which version of a record the client has read: in the body or, of
// a deletion, in the query.
func (d *input) takeState(method string, names ...string) {
	d.stateInQuery = method == http.MethodDelete
	for _, name := range names {
		if !d.has("json", name) {
			d.state = append(d.state, name)
		}
	}
}

// states reports whether a parameter of the query states which version was read.
func (d *input) states(name string) bool { return d.stateInQuery && slices.Contains(d.state, name) }

// bindRead reads the readState from the query and the body, from which it removes it.
func (req *Request) bindRead(d *input, query url.Values, body map[string]any, bad *inputFaults) {
	for _, name := range d.state {
		sent, ok := body[name]
		delete(body, name)
		faults := bad.invalid
		if !ok && d.states(name) && query.Has(name) {
			sent, ok, faults = query.Get(name), true, bad.malformed
		}
		if !ok {
			continue
		}
		text, _ := sent.(string)
		switch at, err := store.ParseTime(text); {
		case name == "version":
			n, err := strconv.ParseInt(string(numberIn(sent)), 10, 64)
			if err != nil {
				faults.Add(name, "must be the version returned when the record was read")
			}
			req.read.version = &n
		case err != nil:
			faults.Add(name, "must be the time returned when the record was read")
		default:
			req.read.updatedAt, req.read.precision = &at, precisionOf(text)
		}
	}
}

// stateSchemas describe the fields that bindRead reads.
var stateSchemas = map[string]object{
	"updated_at": {"type": "string", "format": "date-time", "description": "Time of the last change as it was read, in any precision; 409 stale if the record has changed since"},
	"version":    {"type": "integer", "format": "int64", "description": "Version of the record as it was read; 409 stale if the record has changed since"},
}

// precisionOf returns the value of the last digit of an RFC 3339 time, in microseconds.
func precisionOf(text string) store.Time {
	precision := store.Time(1_000_000)
	_, fraction, _ := strings.Cut(text, ".")
	for i := 0; i < len(fraction) && fraction[i] >= '0' && fraction[i] <= '9' && precision > 1; i++ {
		precision /= 10
	}
	return precision
}

// numberIn returns a JSON number, or the number in a string; "" for anything else.
func numberIn(value any) json.Number {
	switch v := value.(type) {
	case json.Number:
		return v
	case string:
		return json.Number(v)
	}
	return ""
}
