package web

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
	"reeve/store/kv"
)

// Optimistic locking: a client that changes or deletes a record may state which version of it
// was read, by the ETag of the response, by version or by updated_at. If the record has changed
// since, nothing is written. A route declares the record with RecordOf; every other route that
// changes something refuses conditions instead of ignoring them.

// Revised is a record with a revision.
type Revised interface {
	Revision() (updatedAt store.Time, version int64)
}

// revisedOf is a pointer to a record of type T with a revision.
type revisedOf[T any] interface {
	*T
	Revised
}

// recordOf returns the record that a request is about.
type recordOf func(tx *store.Tx, req *Request) (Revised, error)

// RecordOf is the record of the last ID in the path, or the caller's own. The route changes it only
// if it is as the client has read it. A route made by Write checks that by itself; an action calls
// IfFresh or Fresh in its transaction.
func RecordOf[T any, P revisedOf[T]](of *kv.Collection[T]) Record {
	return func(rt *Route) { RecordAt[T, P](of, lastParam(rt.Path))(rt) }
}

// RecordAt is RecordOf for the ID in a parameter of the path.
func RecordAt[T any, P revisedOf[T]](of *kv.Collection[T], param string) Record {
	return func(rt *Route) {
		rt.record = func(tx *store.Tx, req *Request) (Revised, error) {
			id := req.Actor.ID
			if param != "" {
				var err error
				if id, err = ParseID(req.Params.ByName(param)); err != nil {
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

		Stated(names...)(rt)
	}
}

// Stated declares that a route looks at Request.Read. names are the fields, besides If-Match, with
// which a client can state what it has read.
func Stated(names ...string) Record {
	return func(rt *Route) {
		rt.Conditional = true
		rt.Input.takeState(rt.Method, names...)
	}
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
	UpdatedAt *store.Time
	precision store.Time // precision of UpdatedAt: many clients keep milliseconds
	Version   *int64
	Tags      string // If-Match
}

// Stated reports whether the client has stated a condition.
func (s *readState) Stated() bool { return s.UpdatedAt != nil || s.Version != nil || s.Tags != "" }

// recordTag returns the ETag of a record.
func recordTag(r Revised) string {
	updatedAt, _ := r.Revision()
	return `"` + strconv.FormatInt(int64(updatedAt), 36) + `"`
}

// IfFresh runs change, which changes the record of the route, and returns a Conflict if the
// client has read another state of it than that before the change; the transaction is then rolled
// back. It checks afterwards, so that callers who may not see the record learn nothing about it.
func (req *Request) IfFresh(tx *store.Tx, change func() error) error {
	if req.Route.record == nil || !req.Read.Stated() {
		return change()
	}
	was, missing := req.Route.record(tx, req)
	err := change()
	if missing == nil && (err == nil || errs.Is(err, errs.Conflict) || errs.Is(err, errs.Invalid)) {
		if stale := req.Fresh(was); stale != nil {
			return stale
		}
	}
	return err
}

// Fresh returns a Conflict if the client has read another state of the record than r,
// since someone else has changed it.
func (req *Request) Fresh(r Revised) error {
	updatedAt, version := r.Revision()
	read, field := &req.Read, ""
	switch {
	case read.Version != nil && *read.Version != version:
		field = "version"
	case read.UpdatedAt != nil && *read.UpdatedAt/read.precision != updatedAt/read.precision:
		field = "updated_at"
	case read.Tags != "" && !Matches(read.Tags, recordTag(r)):
		field = "If-Match"
	default:
		return nil
	}
	return errs.Field(errs.Conflict, field,
		"the record was changed at %s; reload it and try again", updatedAt).Coded("stale")
}

// Conditions are the request headers that make a change conditional.
var Conditions = []string{"If-Match", "If-None-Match", "If-Unmodified-Since"}

// readConditions reads If-Match. It refuses conditions that the route cannot check: to change
// something regardless of them would be worse than not to change it.
func (req *Request) readConditions(rt *Route) error {
	for _, name := range Conditions {
		values := req.HTTP.Header[name]
		switch {
		case len(values) == 0:
		case name != "If-Match" || !rt.Conditional:
			return errs.Field(errs.Malformed, name,
				"this operation can't check this condition; send the request without it")
		default:
			if req.Read.Tags = strings.TrimSpace(strings.Join(values, ", ")); req.Read.Tags == "" {
				return errs.Field(errs.Malformed, name,
					"must be the ETag returned when the record was read")
			}
		}
	}
	return nil
}

// takeState lets an input state which version of a record the client has read: in the body or, of
// a deletion, in the query.
func (d *Input) takeState(method string, names ...string) {
	d.StateInQuery = method == http.MethodDelete
	for _, name := range names {
		if !d.Has("json", name) {
			d.State = append(d.State, name)
		}
	}
}

// states reports whether a parameter of the query states which version was read.
func (d *Input) states(name string) bool { return d.StateInQuery && slices.Contains(d.State, name) }

// bindRead reads the readState from the query and the body, from which it removes it.
func (req *Request) bindRead(d *Input, query url.Values, body map[string]any, bad *InputFaults) {
	for _, name := range d.State {
		sent, ok := body[name]
		delete(body, name)
		faults := bad.Invalid
		if !ok && d.states(name) && query.Has(name) {
			sent, ok, faults = query.Get(name), true, bad.Malformed
		}
		if !ok {
			continue
		}

		text, _ := sent.(string)
		switch at, err := kv.ParseTime(text); {
		case name == "version":
			n, err := strconv.ParseInt(string(NumberIn(sent)), 10, 64)
			if err != nil {
				faults.Add(name, "must be the version returned when the record was read")
			}
			req.Read.Version = &n
		case err != nil:
			faults.Add(name, "must be the time returned when the record was read")
		default:
			req.Read.UpdatedAt, req.Read.precision = &at, precisionOf(text)
		}
	}
}

// StateSchemas describe the fields that bindRead reads.
var StateSchemas = map[string]map[string]any{
	"updated_at": {
		"type":        "string",
		"format":      "date-time",
		"description": "Time of the last change as it was read, in any precision; 409 stale if the record has changed since",
	},
	"version": {
		"type":        "integer",
		"format":      "int64",
		"description": "Version of the record as it was read; 409 stale if the record has changed since",
	},
}

// precisionOf returns the value of the last digit of an RFC 3339 time, in microseconds.
func precisionOf(text string) store.Time {
	precision := store.Time(1_000_000)
	_, fraction, _ := strings.Cut(text, ".")
	for i := 0; i < len(fraction) && fraction[i] >= '0' && fraction[i] <= '9' &&
		precision > 1; i++ {
		precision /= 10
	}
	return precision
}

// NumberIn returns a JSON number, or the number in a string; "" for anything else.
func NumberIn(value any) json.Number {
	switch v := value.(type) {
	case json.Number:
		return v
	case string:
		return json.Number(v)
	}
	return ""
}
