// Package errs defines the errors that Reeve reports to clients: a Kind, a stable code,
// a message that says what to do, and the faults of single fields. The package is
// independent of HTTP; server maps a Kind to a status in one place. Any other error is
// internal, and its text is never sent.
//
// Start with New, Field for an error about one input field, and Faults to report all
// faults of an input at once. A message never contains a secret, and every text is
// bounded in length, since it may quote input.
//
// A text is a [Message]: an English format, which the caller writes where the error is
// made, and its arguments. The catalogue gives every format a stable code, names for
// its arguments and a Chinese text; a test of server finds formats that it lacks.
//
//	faults := errs.Faults{}
//	faults.Add("email", "must be an email address")
//	return faults.Err(errs.Invalid)
//
//	return errs.New(errs.Conflict, "the role is still in use").Coded("in_use").Because(err)
//
//	err := errs.Field(errs.Invalid, "username", "must be %d to %d characters", 3, 32)
//	err.Msg.String()                        // username: must be 3 to 32 characters
//	err.Fields["username"].In(errs.Chinese) // 长度必须为 3 到 32 个字符
//	err.Fields["username"].Code()           // length
package errs

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Kind classifies an Error.
type Kind uint8

const (
	Internal        Kind = iota // internal error; the text is logged, not sent
	Malformed                   // cannot be parsed
	Unauthenticated             // no valid credentials
	Denied                      // authenticated, but not permitted
	NotFound                    // no such record or route
	BadMethod                   // the route exists, the method does not
	Conflict                    // conflicts with stored data
	TooLarge                    // more bytes than accepted
	BadMedia                    // unsupported media type
	Invalid                     // parsed, but not acceptable
	TooMany                     // rate-limited; RetryAfter tells for how long
	Busy                        // temporarily unavailable: queue full or shutting down
	Full                        // no space on the disk
	BadRange                    // range beyond the end of a file
	Gone                        // it existed and was removed for good
)

// codes maps a Kind to its stable snake_case code, which clients match on.
var codes = map[Kind]string{
	Internal:        "internal",
	Malformed:       "malformed",
	Unauthenticated: "unauthenticated",
	Denied:          "denied",
	NotFound:        "not_found",
	BadMethod:       "method_not_allowed",
	Conflict:        "conflict",
	TooLarge:        "too_large",
	BadMedia:        "unsupported_media_type",
	Invalid:         "invalid",
	TooMany:         "too_many_requests",
	Busy:            "busy",
	Full:            "disk_full",
	BadRange:        "range_not_satisfiable",
	Gone:            "gone",
}

// Error is an error to report to a client.
type Error struct {
	Kind       Kind
	Code       string        // stable, snake_case
	Msg        Message       // one sentence, without secrets
	Fields     Faults        // message by field; nil if the error is not about fields
	RetryAfter time.Duration // delay of TooMany and Busy
	cause      error         // logged, never sent
}

// Limits of an error, which may quote input.
const (
	maxText   = 1 << 10 // bytes of a message
	maxName   = 128     // bytes of a field name
	maxFaults = 100     // fields with faults

	// MaxRowFaults is the limit of the faults in the rows of a file.
	MaxRowFaults = 1000
)

// New returns an Error with the code of its kind. A long message is truncated.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: codes[kind], Msg: Say(format, args...)}
}

// Field returns an Error about one field.
func Field(kind Kind, field, format string, args ...any) *Error {
	fault, field := Say(format, args...), truncate(field, maxName)
	e := New(kind, "%s: %s", field, fault)
	e.Fields = Faults{field: fault}
	return e
}

// Coded replaces the code of the kind by a more specific one.
func (e *Error) Coded(code string) *Error { e.Code = code; return e }

// Because sets the cause, which is logged and never sent.
func (e *Error) Because(cause error) *Error { e.cause = cause; return e }

// After sets how long the client should wait before it retries.
func (e *Error) After(d time.Duration) *Error { e.RetryAfter = d; return e }

func (e *Error) Error() string {
	if e.cause != nil {
		return e.Msg.String() + ": " + e.cause.Error()
	}
	return e.Msg.String()
}

func (e *Error) Unwrap() error { return e.cause }

// Of returns err as an *Error. Any other error becomes the cause of an Internal one.
func Of(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return New(Internal, "internal server error").Because(err)
}

// Is reports whether err is an Error of that kind.
func Is(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}

// Faults collects the faults of an input by field, so that all of them can be reported
// at once. The first fault of a field wins. Names and messages are truncated, and only
// the first maxFaults faults are kept.
type Faults map[string]Message

// Add adds a fault of a field.
func (f Faults) Add(field, format string, args ...any) {
	if len(f) < maxFaults {
		f.put(field, Say(format, args...))
	}
}

// AddRow adds a fault of a column in a line of a file. It is for faults that are all of
// rows; they have a limit of their own, MaxRowFaults.
func (f Faults) AddRow(line int, column string, fault Message) {
	if len(f) < MaxRowFaults {
		f.put(fmt.Sprintf("line %d %s", line, column), fault)
	}
}

func (f Faults) put(field string, fault Message) {
	field = truncate(field, maxName)
	if _, ok := f[field]; !ok {
		f[field] = fault
	}
}

// Merge adds the field faults of err and returns nil. If err is not about fields, it
// returns err.
func (f Faults) Merge(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Fields == nil {
		return err // nil as well
	}
	for field, text := range e.Fields {
		f.Add(field, "%s", text)
	}
	return nil
}

// Err returns nil without faults, otherwise an error of the given kind with all of
// them. Its message is that of the first fault, since many clients show nothing else:
// first by order, then by name.
func (f Faults) Err(kind Kind, order ...string) error {
	if len(f) == 0 {
		return nil
	}

	first := f.first(order)
	e := Field(kind, first, "%s", f[first])
	switch more := len(f) - 1; {
	case len(f) == maxFaults || len(f) == MaxRowFaults:
		e.Msg = Say("%s; at least %d more fields are invalid, only %d are listed", e.Msg, more,
			len(f))
	case more > 1:
		e.Msg = Say("%s; %d more fields are invalid", e.Msg, more)
	case more == 1:
		e.Msg = Say("%s; 1 more field is invalid", e.Msg)
	}

	e.Fields = f
	return e
}

// In returns the texts in a language.
func (f Faults) In(l Language) map[string]string {
	if f == nil {
		return nil
	}
	texts := make(map[string]string, len(f))
	for field, fault := range f {
		texts[field] = fault.In(l)
	}
	return texts
}

// first returns the field that comes first in order, or a part of that field like
// items[0].label; otherwise the first by name.
func (f Faults) first(order []string) string {
	names := slices.Sorted(maps.Keys(f))
	for _, field := range order {
		for _, name := range names {
			if rest, found := strings.CutPrefix(name, field); found &&
				(rest == "" || rest[0] == '.' || rest[0] == '[') {
				return name
			}
		}
	}
	return names[0]
}
