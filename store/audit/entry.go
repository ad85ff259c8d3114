package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
)

// Entry is one record of the log: what one write function changed, or one action that changes
// nothing. Stored entries are the JSON of this type; Head.Hash is computed over exactly these
// bytes, so an entry is never encoded again.
type Entry struct {
	Link
	Actor     Actor           `json:"actor"`
	As        Actor           `json:"as,omitzero"` // impersonated user; zero if none
	Operation Operation       `json:"operation"`
	SessionID uint64          `json:"session_id,omitempty"`
	RequestID string          `json:"request_id,omitempty"`
	Address   Value           `json:"address,omitzero"` // client address, sealed for the actor
	Reason    string          `json:"reason,omitempty"` // sent by the client
	JobID     uint64          `json:"job_id,omitempty"` // ID of an operation with several entries
	Part      int             `json:"part,omitempty"`   // number of the entry in its job, from 1
	Action    string          `json:"action,omitempty"` // action besides changes, such as "export"
	Details   json.RawMessage `json:"details,omitempty"`
	Changes   []Change        `json:"changes,omitempty"`
}

// maxKeptChanges is the number of changes from which Reset does not keep their memory.
const maxKeptChanges = 64

// Reset makes an entry empty, and keeps the memory of its changes for NextChange.
func (e *Entry) Reset() {
	changes := e.Changes
	for i := range changes {
		changes[i].Reset()
	}
	if cap(changes) > maxKeptChanges {
		changes = nil
	}
	*e = Entry{Changes: changes[:0]}
}

// NextChange appends an empty change. It is valid until the next call.
func (e *Entry) NextChange() *Change {
	n := len(e.Changes)
	if n < cap(e.Changes) {
		e.Changes = e.Changes[:n+1] // Reset has made it empty
	} else {
		e.Changes = append(e.Changes, Change{})
	}
	return &e.Changes[n]
}

// DropChange removes the last change.
func (e *Entry) DropChange() {
	last := len(e.Changes) - 1
	e.Changes[last].Reset()
	e.Changes = e.Changes[:last]
}

// Link is the part of an entry that makes the log a chain. It is first in the JSON.
type Link struct {
	Seq        uint64 `json:"seq"`        // 1 for the first entry, without gaps
	Generation string `json:"generation"` // random; a restore begins a new one
	Prev       Hash   `json:"prev"`       // hash of the entry before it; zero for the first
	At         string `json:"at"`         // RFC 3339, UTC, microseconds
}

// Actor is the user, program or part of Reeve that made a change. A user is named by ID: the name
// is resolved when the entry is read.
type Actor struct {
	Kind string `json:"kind"`         // user, app_user, system, cli, anonymous
	ID   uint64 `json:"id,omitempty"` // ID of a user or an app user
	Name Value  `json:"name,omitzero"`
}

// Key identifies the actor: the kind, a colon and the ID.
func (a Actor) Key() string { return a.Kind + ":" + strconv.FormatUint(a.ID, 10) }

// Operation is the operation that was called. Key identifies it.
type Operation struct {
	Method string `json:"method,omitempty"` // empty for an operation that is not a request
	Route  string `json:"route,omitempty"`  // path of the route with its parameters, or the name of a command
	Title  string `json:"title"`
}

// Key returns method and route, "PUT /admin/list/:id", or the title of an operation that is not a
// request.
func (o Operation) Key() string {
	if o.Method == "" {
		return o.Title
	}
	return o.Method + " " + o.Route
}

// Change is the change of one record.
type Change struct {
	Collection string  `json:"collection"`
	ID         uint64  `json:"id"`
	Name       Value   `json:"name,omitzero"` // display name at that time
	Operation  string  `json:"operation"`     // create, update or delete
	Fields     []Field `json:"fields,omitempty"`
}

// Reset makes a change empty, and keeps the memory of its fields.
func (c *Change) Reset() {
	clear(c.Fields) // it may refer to memory that is not valid any more
	*c = Change{Fields: c.Fields[:0]}
}

// Field is the change of one field. Old is missing in a created record, and New in a deleted one.
type Field struct {
	Name string `json:"name"`
	Old  Value  `json:"old,omitzero"`
	New  Value  `json:"new,omitzero"`
}

// Denied is the action of an entry about refused requests, or failed sign-ins. Such entries have a
// bounded share of the space.
const Denied = "denied"

// Value is a value in an entry, in one of three forms: plain, sealed with the key of a person, or
// the keyed hash of a secret.
type Value struct {
	Plain  json.RawMessage `json:"plain,omitempty"`
	Person string          `json:"person,omitempty"` // owner of the key that seals Box: u and an ID, or a and one of an app user
	Box    []byte          `json:"box,omitempty"`    // nonce and ciphertext of the JSON of the value
	Hash   string          `json:"hash,omitempty"`   // hexadecimal; equal for equal secrets
}

// IsZero reports whether there is no value.
func (v Value) IsZero() bool { return v.Plain == nil && v.Box == nil && v.Hash == "" }

// Hash is a SHA-256, hexadecimal in JSON.
type Hash [sha256.Size]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(h) {
		return fmt.Errorf("%q is not a SHA-256", text)
	}
	copy(h[:], b)
	return nil
}

// Head is the newest entry of a log.
type Head struct {
	Generation string `json:"generation"`
	Seq        uint64 `json:"seq"`  // 0 for an empty log
	Hash       Hash   `json:"hash"` // hash of the text of the entry
}

// Row is an entry as it is stored.
type Row struct {
	Seq  uint64
	Text []byte // JSON of an Entry
	Keys *Keys  // keys of the entry for Log.Write, which computes them if nil; nil in rows read
}

// HeadOf returns the head of a log that ends with this text of an entry.
func HeadOf(text []byte) (Head, error) {
	var link Link
	if err := json.Unmarshal(text, &link); err != nil {
		return Head{}, err
	}
	return Head{link.Generation, link.Seq, sha256.Sum256(text)}, nil
}

// Decode decodes the text of an entry.
func (r Row) Decode() (e Entry, err error) {
	e, scanned := scanEntry(r.Text, true)
	if !scanned {
		e = Entry{}
		err = json.Unmarshal(r.Text, &e)
	}
	if err == nil && e.Seq != r.Seq {
		err = fmt.Errorf("entry %d has the number %d", r.Seq, e.Seq)
	}
	return e, err
}
