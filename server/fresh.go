package server

import (
	"encoding/json"
	"strconv"
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// Optimistic locking: a client that changes a record may tell which state of it was
// read, by the ETag of the response, by version or by updated_at. If the record has
// changed since, nothing is written.

// revised is a record with a revision.
type revised interface {
	Revision() (updatedAt store.Time, version int64)
}

// readState is the state of a record that the client has read; the zero value means
// unknown.
type readState struct {
	updatedAt *store.Time
	precision store.Time // precision of updatedAt: many clients keep milliseconds
	version   *int64
	tags      string // If-Match
}

// recordTag returns the ETag of a record.
func recordTag(r revised) string {
	updatedAt, _ := r.Revision()
	return `"` + strconv.FormatInt(int64(updatedAt), 36) + `"`
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

// bindRead reads the readState from the header and the body.
func (req *Request) bindRead(d *input, body map[string]any, invalid errs.Faults) {
	req.read.tags = req.http.Header.Get("If-Match")
	if sent, ok := body["updated_at"]; ok && !d.has("json", "updated_at") {
		text, _ := sent.(string)
		at, err := store.ParseTime(text)
		if err != nil {
			invalid.Add("updated_at", "must be the time returned when the record was read")
		}
		req.read.updatedAt, req.read.precision = &at, precisionOf(text)
	}
	if sent, ok := body["version"]; ok && d.readOnly["version"] {
		n, err := strconv.ParseInt(string(numberIn(sent)), 10, 64)
		if err != nil {
			invalid.Add("version", "must be the version returned when the record was read")
		}
		req.read.version = &n
	}
}

// describeRead adds the fields that bindRead reads to the schema of a body.
func (d *input) describeRead(properties object) {
	if !d.has("json", "updated_at") {
		properties["updated_at"] = object{"type": "string", "format": "date-time", "description": "Time of the last change as it was read, in any precision; 409 stale if the record has changed since"}
	}
	if d.readOnly["version"] {
		properties["version"] = object{"type": "integer", "format": "int64", "description": "Version of the record as it was read; 409 stale if the record has changed since"}
	}
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
