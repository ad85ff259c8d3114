package monitor

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

const (
	searchTime     = 60 * time.Millisecond
	defaultRange   = time.Hour
	longestRequest = 15 * time.Minute // maximum time between an event and its storing
	maxDurationMS  = int64(math.MaxInt64 / time.Millisecond)
)

// Query selects events of one kind. Conditions must all be met.
type Query struct {
	Kind          string
	From, To      store.Time // bounds of RecordedAt, inclusive
	Offset, Limit int        // range of the matching events, newest first
	Text          string     // text in an event, compared like package fold does
	Conditions    []Condition
}

// Condition requires that a column has one of some values. The columns user_id,
// app_user_id and min_duration_ms are compared with Numbers, others with Texts.
type Condition struct {
	Column  string
	Texts   []string
	Numbers []int64
}

// RecentQuery returns a query for the events of the last hour.
func RecentQuery(kind string) Query {
	return Query{Kind: kind, From: kv.TimeOf(time.Now().Add(-defaultRange)), To: endOfTime}
}

const endOfTime = store.Time(1 << 62)

// SetRange sets the period. Bounds beyond all events are allowed.
func (q *Query) SetRange(from, to store.Time) { q.From, q.To = max(0, from), min(endOfTime, to) }

// Found is the result of a search.
type Found struct {
	Events []json.RawMessage
	Total  int // number of matching events, down to Until
	// Until is the time of the oldest event that the search reached before its time limit; 0
	// if it is complete.
	Until store.Time
}

// Search returns the events that match and that the caller may see.
func (m *Monitor) Search(q Query, caller *Audience) (*Found, error) {
	s := &search{
		low:      q.From,
		high:     q.To,
		from:     q.Offset,
		to:       q.Offset + q.Limit,
		text:     q.Text,
		budget:   m.config.SearchTime,
		audience: caller,
	}
	for _, c := range q.Conditions {
		if err := s.require(c); err != nil {
			return nil, err
		}
	}

	if j := m.journal.Load(); j != nil && caller.seesKind(q.Kind) {
		before := uint64(0)
		if q.To < kv.TimeOf(time.Now()) {
			before = j.IDAt(q.To.Add(longestRequest).Std())
		}
		s.first = j.IDAt(q.From.Std())
		j.Newest(q.Kind, before, s.take)
	}

	return &s.Found, caller.err
}

// require adds a condition.
func (s *search) require(c Condition) error {
	switch c.Column {
	case "user_id":
		s.users = c.Numbers
	case "app_user_id":
		s.appUsers = c.Numbers
	case "min_duration_ms":
		least := slices.Max(c.Numbers)
		if least < 0 {
			return errs.Field(errs.Malformed, c.Column, "must not be negative")
		}
		s.minDuration = time.Duration(min(least, maxDurationMS)) * time.Millisecond
	case "slow", "n_plus_one":
		flags, err := parseFlags(c)
		if err != nil {
			return err
		}
		if c.Column == "slow" {
			s.slow = flags
		} else {
			s.needles = append(s.needles, needles(c.Column, flags))
		}
	case "status":
		for _, text := range c.Texts {
			if len(text) != 3 || text[0] < '1' || text[0] > '5' ||
				text[1:] != "xx" && strings.Trim(text, "0123456789") != "" {
				return errs.Field(errs.Malformed, "status",
					"must be a status code, such as 404 or 4xx")
			}
		}
		s.statuses = c.Texts
	default:
		return s.requireText(c)
	}
	return nil
}

// requireText adds a condition on a column that is compared in the JSON of the event.
func (s *search) requireText(c Condition) error {
	values := make([]string, len(c.Texts))
	for i, text := range c.Texts {
		value, err := json.Marshal(text)
		if err != nil {
			return err
		}
		values[i] = string(value)
	}
	s.needles = append(s.needles, needles(c.Column, values))
	return nil
}

// needles returns the texts with which a column that has one of the values can occur in the
// JSON of an event.
func needles(column string, values []string) (any [][]byte) {
	for _, value := range values {
		any = append(any, []byte(`"`+column+`":`+value+`,`), []byte(`"`+column+`":`+value+`}`))
	}
	return any
}

// parseFlags returns flags as 1 and 0, which is also their JSON.
func parseFlags(c Condition) (flags []string, err error) {
	for _, text := range c.Texts {
		switch text {
		case "1", "true":
			flags = append(flags, "1")
		case "0", "false":
			flags = append(flags, "0")
		default:
			return nil, errs.Field(errs.Malformed, c.Column, "must be 1 or 0")
		}
	}
	return flags, nil
}
