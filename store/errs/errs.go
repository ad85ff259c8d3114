// Package errs is the one kind of error that Reeve shows to a person: what kind
// of failure it is, a sentence to act on, and what is wrong with which field.
// It knows nothing of HTTP; server maps a Kind to a status in one place. An
// error that is not of this package is our own fault and its text is never sent.
package errs

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Kind says what sort of failure an Error is.
type Kind uint8

const (
	Internal        Kind = iota // our fault; the text is logged, not sent
	Malformed                   // cannot be understood at all
	Unauthenticated             // nobody, or somebody else, is asking
	Denied                      // known, and not permitted
	NotFound                    // no such record or route
	BadMethod                   // the route exists, this method does not
	Conflict                    // does not fit what is stored
	TooLarge                    // more bytes than accepted
	BadMedia                    // not the media type that is accepted
	Invalid                     // understood and not acceptable
	TooMany                     // throttled; RetryAfter says how long
	Busy                        // not now: queue full or shutting down
	Full                        // no space on the disk
	BadRange                    // a part of a file that it does not have
)

// codes are the stable snake_case names that clients match on.
var codes = map[Kind]string{
	Internal: "internal", Malformed: "malformed", Unauthenticated: "unauthenticated", Denied: "denied",
	NotFound: "not_found", BadMethod: "method_not_allowed", Conflict: "conflict", TooLarge: "too_large",
	BadMedia: "unsupported_media_type", Invalid: "invalid", TooMany: "too_many_requests", Busy: "busy", Full: "disk_full",
	BadRange: "range_not_satisfiable",
}

// Error is a failure that a person is told about.
type Error struct {
	Kind       Kind
	Code       string            // stable, snake_case
	Msg        string            // one sentence, no secret in it
	Fields     map[string]string // what is wrong with which field; nil when it is not about fields
	RetryAfter time.Duration     // with TooMany and Busy
	cause      error             // for the log only
}

// Bounds of an error, which may quote what a client has sent.
const (
	maxText   = 1 << 10 // bytes of a message, or of what is wrong with one field
	maxName   = 128     // bytes of a field's name
	maxFaults = 100     // fields with faults
)

// New makes an Error of a kind with that kind's own code. A long message is
// truncated.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: codes[kind], Msg: truncate(fmt.Sprintf(format, args...), maxText)}
}

// truncate shortens a text to about n bytes, at the end of a character.
func truncate(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// Field makes an Error about one field.
func Field(kind Kind, field, format string, args ...any) *Error {
	e := New(kind, format, args...)
	field = truncate(field, maxName)
	e.Fields = map[string]string{field: e.Msg}
	e.Msg = field + ": " + e.Msg
	return e
}

// Coded gives the error a more telling code than its kind's.
func (e *Error) Coded(code string) *Error { e.Code = code; return e }

// Because attaches a cause, which is logged and never sent.
func (e *Error) Because(cause error) *Error { e.cause = cause; return e }

// After says when to try again.
func (e *Error) After(d time.Duration) *Error { e.RetryAfter = d; return e }

func (e *Error) Error() string {
	if e.cause != nil {
		return e.Msg + ": " + e.cause.Error()
	}
	return e.Msg
}

func (e *Error) Unwrap() error { return e.cause }

// Of returns err as an *Error; whatever is not one becomes an Internal one with
// err as its cause.
func Of(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return New(Internal, "something went wrong on our side").Because(err)
}

// Is tells whether err is an Error of that kind.
func Is(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}

// Faults gathers what is wrong with the fields of an input, so that all of it
// can be answered at once. The first fault of a field stays. Names and texts are
// truncated, and faults after the first maxFaults dropped.
type Faults map[string]string

// Add notes what is wrong with a field.
func (f Faults) Add(field, format string, args ...any) {
	if len(f) == maxFaults {
		return
	}
	field = truncate(field, maxName)
	if _, ok := f[field]; !ok {
		f[field] = truncate(fmt.Sprintf(format, args...), maxText)
	}
}

// Merge takes over the field faults of err and returns nil, or returns err when
// it is not about fields.
func (f Faults) Merge(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Fields == nil {
		return err // nil too
	}
	for field, text := range e.Fields {
		f.Add(field, "%s", text)
	}
	return nil
}

// Err is nil without faults, otherwise one error of the given kind that names them all.
// Its message has the first fault, since many clients show nothing else: by the order
// of fields, and then by name.
func (f Faults) Err(kind Kind, order ...string) error {
	if len(f) == 0 {
		return nil
	}
	first := f.first(order)
	e := Field(kind, first, "%s", f[first])
	switch more := len(f) - 1; {
	case len(f) == maxFaults:
		e.Msg += fmt.Sprintf("; at least %d more fields are not acceptable, only %d are named", more, len(f))
	case more > 1:
		e.Msg += fmt.Sprintf("; %d more fields are not acceptable", more)
	case more == 1:
		e.Msg += "; 1 more field is not acceptable"
	}
	e.Fields = f
	return e
}

// first returns the field that comes first in order, itself or a part of it, like
// items[0].label, and otherwise by name.
func (f Faults) first(order []string) string {
	names := slices.Sorted(maps.Keys(f))
	for _, field := range order {
		for _, name := range names {
			if rest, found := strings.CutPrefix(name, field); found && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				return name
			}
		}
	}
	return names[0]
}
