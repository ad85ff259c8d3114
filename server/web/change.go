package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
)

const reasonHeader = "X-Reason"

const maxReason = 200 // characters

// changes reports whether a route writes to the store.
func (rt *Route) changes() bool {
	return rt.Method != http.MethodGet && !rt.ReadOnly || rt.LoggedAs != ""
}

// setOrigin sets what the change log says about the writes of the request.
func (req *Request) setOrigin(rt *Route) {
	req.Origin = store.Origin{
		Operation: audit.Operation{Method: rt.Method, Route: rt.Path, Title: rt.Title},
		RequestID: req.ID, Address: req.Addr,
	}
}

// readReason reads the reason that a client gives for a change. Characters that a header cannot
// have are percent-encoded.
func (req *Request) readReason() error {
	values := req.HTTP.Header[reasonHeader]
	if len(values) == 0 {
		return nil
	}

	text, err := url.PathUnescape(strings.TrimSpace(values[0]))
	if err != nil {
		text = strings.TrimSpace(values[0])
	}

	switch {
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return errs.Field(errs.Malformed, reasonHeader,
			"must be text in UTF-8, percent-encoded where needed")
	case utf8.RuneCountInString(text) > maxReason:
		return errs.Field(errs.Malformed, reasonHeader, "must have at most %d characters",
			maxReason)
	}

	req.Origin.Reason = text
	return nil
}

// logUse logs the use of a route that is declared as logged. The route is not run if this fails,
// except for want of space: a full disk must not prevent a backup. The program's log has the use
// then.
func (req *Request) logUse(rt *Route, action string) error {
	details := map[string]string{}
	for _, p := range req.Params {
		details[p.Key] = p.Value
	}

	err := req.DB.Essential().Update(req.Actor, func(tx *store.Tx) error {
		tx.LogAction(action, details)
		return nil
	})
	if errs.Is(err, errs.Full) {
		req.Server.Log.Warn().Str("request", req.ID).Str("operation", rt.Name()).Str("user",
			req.Actor.Username).Stringer("address", req.Addr).
			Msg("the disk is full: this operation is not in the change log")
		return nil
	}

	return err
}

// entryHeader names the entry of a write in the change log, for a client that offers to undo it.
const entryHeader = "Reeve-Entry"

// nameEntry sets the header of a response to a write that has an entry.
func (req *Request) nameEntry() {
	if req.entry.Seq != 0 {
		req.Writer.Header()[entryHeader] = []string{EventID(req.entry.Generation, req.entry.Seq)}
	}
}

// EventID identifies an entry for ever, even after a restore.
func EventID(generation string, seq uint64) string {
	return generation + "-" + strconv.FormatUint(seq, 10)
}
