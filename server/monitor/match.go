package monitor

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"reeve/server/redact"
	"reeve/store"
	"reeve/store/fold"
	"reeve/store/journal"
)

// search is a running search, see Monitor.Search.
type search struct {
	Found

	low, high store.Time
	first     uint64 // smallest ID that an event in the range can have
	from, to  int    // range of matching events to return
	budget    time.Duration
	audience  *Audience
	deadline  time.Time // set at the first event that is not newer than high
	seen      int       // events since then

	users       []int64
	appUsers    []int64
	statuses    []string // like 404 or 4xx
	slow        []string // 1 and 0
	minDuration time.Duration
	needles     [][][]byte // texts in the JSON: one of each element must occur
	text        string
}

// take looks at the next older event. It returns false when the search has ended.
func (s *search) take(e journal.Event) bool {
	if e.ID < s.first {
		return false
	}

	h, ok := readHeader(e.Head)
	if !ok {
		return true
	}
	if h.at > s.high { // newer events do not start the deadline: a search that continues at Until must get past them
		return true
	}
	if s.deadline.IsZero() {
		s.deadline = time.Now().Add(s.budget)
	}
	if s.seen++; s.seen%128 == 0 && time.Now().After(s.deadline) {
		s.Until = h.at
		return false
	}
	if s.matches(h, e.Body) {
		if s.Total >= s.from && s.Total < s.to {
			s.Events = append(s.Events, withID(e))
		}
		s.Total++
	}

	return true
}

func (s *search) matches(h indexHeader, body []byte) bool {
	switch {
	case h.at < s.low || h.at > s.high || h.duration < s.minDuration:
		return false
	case s.users != nil && (h.app || !slices.Contains(s.users, int64(h.user))):
		return false
	case s.appUsers != nil && (!h.app || !slices.Contains(s.appUsers, int64(h.user))):
		return false
	case s.slow != nil && !slices.Contains(s.slow, map[bool]string{true: "1", false: "0"}[h.slow]):
		return false
	case s.statuses != nil && !slices.ContainsFunc(s.statuses, func(want string) bool {
		return hasStatus(int(h.status), want)
	}):
		return false
	case !s.audience.sees(h):
		return false
	}
	return s.matchesBody(body)
}

// matchesBody reports whether the JSON of an event meets the conditions on its texts.
func (s *search) matchesBody(body []byte) bool {
	own := body // without the user, whose username must not match the event's own
	if i := bytes.Index(body, []byte(`,"host_name":`)); i >= 0 {
		own = body[i:]
	}

	for _, any := range s.needles {
		in := own
		if bytes.HasPrefix(any[0], []byte(`"request_id":`)) {
			in = body
		}
		if !slices.ContainsFunc(any, func(needle []byte) bool {
			return bytes.Contains(in, needle)
		}) {
			return false
		}
	}

	return s.text == "" || containsText(body, s.text)
}

// maxExpansion is the number of bytes that fold.Search makes of a byte at most: a ligature of
// Arabic is a sentence.
const maxExpansion = 11

// containsText reports whether a folded text occurs in one of the texts of a JSON object;
// names of members do not count.
func containsText(body []byte, text string) bool {
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

		if i+1 >= len(body) || body[i+1] == ':' || i-start-1 < len(text)/maxExpansion { // a name of a member, or too short even if folding makes it longer
			continue
		}
		if strings.Contains(fold.Search(redact.Unquote(string(body[start:i+1]))), text) {
			return true
		}
	}
	return false
}

// hasStatus reports whether a status is want, like 404, or in the class want, like 4xx.
func hasStatus(status int, want string) bool {
	text := strconv.Itoa(status)
	return text == want || len(want) == 3 && want[1:] == "xx" && text[0] == want[0]
}
