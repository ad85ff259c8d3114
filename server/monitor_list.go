package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"reeve/server/redact"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/journal"
)

// scanBudget is how long a list looks before it answers with what it has found.
const scanBudget = 60 * time.Millisecond

// defaultRange is how far back a list looks that was not asked for a time.
const defaultRange = time.Hour

// longestRequest is how much later than it began a request may be stored and still
// be found by a list that ends in the past.
const longestRequest = 15 * time.Minute

// maxDurationMS is the longest duration that there can be, in milliseconds.
const maxDurationMS = int64(math.MaxInt64 / time.Millisecond)

// monitorPage is what a list of events answers.
type monitorPage[T any] struct {
	page[T]
	ScannedUntil store.Time `json:"scanned_until" null:"true" doc:"how far back it looked, when it had to stop early; total counts to there. null when it saw everything"`
}

// fieldUse is a column that is compared in the event's JSON.
const fieldUse = param | filtered

// monitorList makes a GET route that lists the events of one kind, newest first.
func monitorList[T any](kind, title string, columns ...string) Route {
	info := &listInfo{keywords: []string{"every text of the event"}, order: "newest first", columns: []columnInfo{
		{"recorded_at", ranged, true}, {"user_id", fieldUse, true}, {"app_user_id", fieldUse, true}, {"min_duration_ms", param, true},
		{"status", fieldUse, false}, {"slow", fieldUse, false}, {"request_id", fieldUse, false},
	}}
	for _, name := range columns {
		info.columns = append(info.columns, columnInfo{name, fieldUse, false})
	}
	rt := Route{
		Method: "GET", Path: "/system/monitor/" + kind, Access: "system.monitor." + kind, Title: title,
		out: reflect.TypeFor[monitorPage[T]](), list: info, unmonitored: true, handler: "list",
	}
	rt.act = func(req *Request, out *envelope) error {
		ask, err := info.ask(req)
		if err != nil {
			return err
		}
		to, err := req.audience()
		if err != nil {
			return err
		}
		return req.s.monitor.list(kind, ask, to, out)
	}
	return rt
}

// list answers a question about events, with those that the caller may see.
func (m *monitor) list(kind string, ask *question, to *audience, out *envelope) error {
	low, high := store.TimeOf(time.Now().Add(-defaultRange)), store.Time(1<<62)
	if len(ask.ranges) > 0 {
		low, high = max(0, ask.ranges[0].low), min(high, ask.ranges[0].high)
	}
	found := &search{low: low, high: high, from: ask.offset(), to: ask.offset() + ask.size, budget: m.budget, audience: to}
	if err := found.where(ask); err != nil {
		return err
	}
	if j := m.journal.Load(); j != nil && to.hears(kind) {
		before := uint64(0)
		if high < store.TimeOf(time.Now()) {
			before = j.IDAt(high.Add(longestRequest).Std())
		}
		found.first = j.IDAt(low.Std())
		j.Newest(kind, before, found.take)
	}
	if to.err != nil {
		return to.err
	}
	writePage(&out.bytes, found.rows, found.total, ask, 0)
	out.bytes.Truncate(out.bytes.Len() - 1)
	until, err := json.Marshal(found.until)
	fmt.Fprintf(&out.bytes, `,"scanned_until":%s}`, until)
	return err
}

// search is a walk over events that looks for some.
type search struct {
	low, high store.Time
	first     uint64 // the least id that can be in the range
	from, to  int    // of what matches
	budget    time.Duration
	audience  *audience
	deadline  time.Time // counted from the first event that is not too new

	users    []int64 // of the backend
	appUsers []int64
	statuses []string // 404 or 4xx
	slow     []string
	slowest  time.Duration
	needles  [][][]byte // of each, one must be in the body
	text     string     // folded; must be in a text of the body

	seen, total int
	rows        []json.RawMessage
	until       store.Time // 0 unless it stopped early
}

// where takes over the conditions of a question.
func (s *search) where(ask *question) error {
	s.text = ask.search
	for _, of := range ask.anyOf {
		switch of.column {
		case "user_id":
			s.users = of.numbers
		case "app_user_id":
			s.appUsers = of.numbers
		case "min_duration_ms":
			least := slices.Max(of.numbers)
			if least < 0 {
				return errs.Field(errs.Malformed, of.column, "must not be negative")
			}
			s.slowest = time.Duration(min(least, maxDurationMS)) * time.Millisecond
		case "slow", "n_plus_one":
			flags, err := askedFlags(of)
			if err != nil {
				return err
			}
			if of.column == "slow" {
				s.slow = flags
			} else {
				s.needles = append(s.needles, needles(of.column, flags))
			}
		case "status":
			for _, text := range of.texts {
				if len(text) != 3 || text[0] < '1' || text[0] > '5' || text[1:] != "xx" && strings.Trim(text, "0123456789") != "" {
					return errs.Field(errs.Malformed, "status", "must be like 404 or 4xx")
				}
			}
			s.statuses = of.texts
		default:
			values := make([]string, len(of.texts))
			for i, text := range of.texts {
				value, err := json.Marshal(text)
				if err != nil {
					return err
				}
				values[i] = string(value)
			}
			s.needles = append(s.needles, needles(of.column, values))
		}
	}
	return nil
}

// needles are the ways in which a column can stand in an event's JSON.
func needles(column string, values []string) (any [][]byte) {
	for _, value := range values {
		any = append(any, []byte(`"`+column+`":`+value+`,`), []byte(`"`+column+`":`+value+`}`))
	}
	return any
}

// askedFlags are 1 and 0, as which a flag stands in JSON too.
func askedFlags(of anyOf) (flags []string, err error) {
	for _, text := range of.texts {
		switch text {
		case "1", "true":
			flags = append(flags, "1")
		case "0", "false":
			flags = append(flags, "0")
		default:
			return nil, errs.Field(errs.Malformed, of.column, "must be 1 or 0")
		}
	}
	return flags, nil
}

// take looks at one event; it returns false when there is no more to look for.
func (s *search) take(e journal.Event) bool {
	if e.ID < s.first {
		return false
	}
	m, ok := readMarks(e.Head)
	if !ok {
		return true
	}
	if m.at > s.high { // not on the budget: who goes on from scanned_until would not get past these
		return true
	}
	if s.deadline.IsZero() {
		s.deadline = time.Now().Add(s.budget)
	}
	if s.seen++; s.seen%128 == 0 && time.Now().After(s.deadline) {
		s.until = m.at
		return false
	}
	if s.matches(m, e.Body) {
		if s.total >= s.from && s.total < s.to {
			s.rows = append(s.rows, withID(e))
		}
		s.total++
	}
	return true
}

func (s *search) matches(m marks, body []byte) bool {
	switch {
	case m.at < s.low || m.at > s.high || m.duration < s.slowest:
		return false
	case s.users != nil && (m.app || !slices.Contains(s.users, int64(m.user))):
		return false
	case s.appUsers != nil && (!m.app || !slices.Contains(s.appUsers, int64(m.user))):
		return false
	case s.slow != nil && !slices.Contains(s.slow, map[bool]string{true: "1", false: "0"}[m.slow]):
		return false
	case s.statuses != nil && !slices.ContainsFunc(s.statuses, func(want string) bool { return statusIs(int(m.status), want) }):
		return false
	case !s.audience.sees(m):
		return false
	}
	own := body // without the user, who has a name too
	if i := bytes.Index(body, []byte(`,"host_name":`)); i >= 0 {
		own = body[i:]
	}
	for _, any := range s.needles {
		in := own
		if bytes.HasPrefix(any[0], []byte(`"request_id":`)) {
			in = body
		}
		if !slices.ContainsFunc(any, func(needle []byte) bool { return bytes.Contains(in, needle) }) {
			return false
		}
	}
	return s.text == "" || says(body, s.text)
}

// says tells whether one of the texts in JSON, names left out, has a folded text in it.
func says(body []byte, text string) bool {
	for i := 0; i < len(body); i++ {
		if body[i] != '"' {
			continue
		}
		start := i
		for i++; i < len(body) && body[i] != '"'; i++ {
			if body[i] == '\\' {
				i++
			}
		}
		if i+1 >= len(body) || body[i+1] == ':' || i-start-1 < len(text)/3 { // a name, or too short: folding may make a text longer
			continue
		}
		if strings.Contains(store.Fold(redact.Unquote(string(body[start:i+1]))), text) {
			return true
		}
	}
	return false
}

// statusIs tells whether a status is 404 or of the class 4xx.
func statusIs(status int, want string) bool {
	text := strconv.Itoa(status)
	return text == want || len(want) == 3 && want[1:] == "xx" && text[0] == want[0]
}

// withID returns the JSON object of a stored event with its ID as the first member.
func withID(e journal.Event) json.RawMessage {
	members := bytes.TrimPrefix(e.Body, []byte("{"))
	members = bytes.TrimPrefix(members, []byte(`"id":0,`)) // events stored by older versions
	return fmt.Appendf(nil, `{"id":%d,%s`, e.ID, members)
}

// requestStory is a request with everything that belongs to it.
type requestStory struct {
	Request Encoded[requestEvent] `json:"request"`
	Events  []requestPart         `json:"events" doc:"in the order in which they happened; those of caches and Redis only with the data scope all"`
}

// requestPart is an event of any kind.
type requestPart struct {
	Kind  string `json:"kind" doc:"auth, query, cache or redis: as in the list of that name"`
	Event any    `json:"event"`
}

type joinIn struct {
	ID string `path:"id" doc:"the event's id, or the request's request_id"`
}

// joinRequest answers a request with all its events.
func joinRequest(req *Request, in *joinIn) (*requestStory, error) {
	missing := errs.New(errs.NotFound, "there is no request %s, or no longer", truncate(in.ID, 64))
	j := req.s.monitor.journal.Load()
	if j == nil {
		return nil, missing
	}
	to, err := req.audience()
	if err != nil {
		return nil, err
	}
	name := in.ID
	if id, err := strconv.ParseUint(in.ID, 10, 64); err == nil {
		event, found := j.Get(requestKind, id)
		var head eventHead
		if !found || json.Unmarshal(event.Body, &head) != nil {
			return nil, missing
		}
		name = head.RequestID
	}
	var out *requestStory
	var at []store.Time
	for _, e := range j.Group(name) {
		m, _ := readMarks(e.Head)
		if !to.hears(e.Kind) {
			continue
		}
		if e.Kind == requestKind {
			if !to.sees(m) {
				return nil, cmp.Or(to.err, error(missing))
			}
			out = &requestStory{Request: Encoded[requestEvent]{JSON: withID(e)}, Events: []requestPart{}}
			continue
		}
		if out == nil {
			return nil, missing
		}
		i, _ := slices.BinarySearchFunc(at, m.at, func(a, b store.Time) int {
			if a <= b {
				return -1
			}
			return 1
		})
		at = slices.Insert(at, i, m.at)
		out.Events = slices.Insert(out.Events, i, requestPart{e.Kind, json.RawMessage(withID(e))})
	}
	if out == nil {
		return nil, missing
	}
	return out, nil
}
