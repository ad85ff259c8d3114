package server

import (
	"encoding/json"
	"strconv"
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// Optimistic locking: a client that changes a record may say which state of it was read,
// by the ETag of the answer, by version or by updated_at. If the record has been changed
// since, nothing is written.

// revised is a record that can be changed.
type revised interface {
	Revision() (updatedAt store.Time, version int64)
}

// readState is what a request says of the state that was read; the zero value is nothing.
type readState struct {
	updatedAt *store.Time
	precision store.Time // of updatedAt: many clients keep milliseconds
	version   *int64
	tags      string // If-Match
}

// recordTag is the ETag of a record.
func recordTag(r revised) string {
	updatedAt, _ := r.Revision()
	return `"` + strconv.FormatInt(int64(updatedAt), 36) + `"`
}

// fresh is a Conflict when the client has read another state of the record than this
// one: somebody else has changed it since.
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
	return errs.Field(errs.Conflict, field, "the record was changed at %s; read it again", updatedAt).Coded("stale")
}

// bindRead takes what says which state was read from the header and the body.
func (req *Request) bindRead(d *input, body map[string]any, invalid errs.Faults) {
	req.read.tags = req.http.Header.Get("If-Match")
	if sent, ok := body["updated_at"]; ok && !d.has("json", "updated_at") {
		text, _ := sent.(string)
		at, err := store.ParseTime(text)
		if err != nil {
			invalid.Add("updated_at", "must be the time that was read")
		}
		req.read.updatedAt, req.read.precision = &at, precisionOf(text)
	}
	if sent, ok := body["version"]; ok && d.readOnly["version"] {
		n, err := strconv.ParseInt(string(numberIn(sent)), 10, 64)
		if err != nil {
			invalid.Add("version", "must be the version that was read")
		}
		req.read.version = &n
	}
}

// describeRead adds what bindRead takes to the schema of a body.
func (d *input) describeRead(properties object) {
	if !d.has("json", "updated_at") {
		properties["updated_at"] = object{"type": "string", "format": "date-time", "description": "as it was read, to milliseconds at the least; 409 stale if the record has changed since"}
	}
	if d.readOnly["version"] {
		properties["version"] = object{"type": "integer", "format": "int64", "description": "as it was read; 409 stale if the record has changed since"}
	}
}

// precisionOf is the last digit's worth of a time in RFC 3339, in microseconds.
func precisionOf(text string) store.Time {
	precision := store.Time(1_000_000)
	_, fraction, _ := strings.Cut(text, ".")
	for i := 0; i < len(fraction) && fraction[i] >= '0' && fraction[i] <= '9' && precision > 1; i++ {
		precision /= 10
	}
	return precision
}

// numberIn returns a JSON number, or the number in a text; "" when it is neither.
func numberIn(value any) json.Number {
	switch v := value.(type) {
	case json.Number:
		return v
	case string:
		return json.Number(v)
	}
	return ""
}
