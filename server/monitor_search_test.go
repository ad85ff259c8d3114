package server

import (
	"math"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/journal"
)

// asked is a search for what a question asks for.
// everybody is the audience of a caller with the data scope all.
var everybody = &audience{scope: &store.Scope{All: true}}

func asked(t *testing.T, of anyOf) *search {
	t.Helper()
	s := &search{high: 1 << 62, to: 10, audience: everybody}
	must(t, s.where(&question{anyOf: []anyOf{of}}))
	return s
}

func TestALongestDurationFindsNothing(t *testing.T) {
	for _, ms := range []int64{2001, maxDurationMS, maxDurationMS + 1, math.MaxInt64} {
		s := asked(t, anyOf{column: "min_duration_ms", numbers: []int64{ms}})
		if s.matches(marks{duration: 2 * time.Second}, nil) {
			t.Errorf("2 s are %d ms or more", ms)
		}
	}
	if s := asked(t, anyOf{column: "min_duration_ms", numbers: []int64{2000}}); !s.matches(marks{duration: 2 * time.Second}, nil) {
		t.Error("2 s are not 2000 ms")
	}
}

// authBody is an event about one user, made by another.
func authBody(t *testing.T, by, about string) []byte {
	t.Helper()
	e := authEvent{eventHead: eventHead{RequestID: "r-1", User: &eventUser{1, by, "admin"}}, Type: "revoked", Username: about}
	return new(events).journaled(authKind, marks{}, &e).Body
}

func TestAColumnIsTheEventsOwn(t *testing.T) {
	body := authBody(t, "owner", "bob")
	for _, c := range []struct {
		column, value string
		want          bool
	}{
		{"username", "bob", true},
		{"username", "owner", false}, // who did it, not whom it is about
		{"type", "revoked", true},
		{"request_id", "r-1", true},
		{"request_id", "r-2", false},
	} {
		if got := asked(t, anyOf{column: c.column, texts: []string{c.value}}).matches(marks{}, body); got != c.want {
			t.Errorf("%s=%s: %v", c.column, c.value, got)
		}
	}
}

// A list that ends in the past looks at what was stored after its end too, and
// must not spend all its time there: who goes on from scanned_until would not
// get anywhere.
func TestASearchThatStopsEarlyHasCome(t *testing.T) {
	s := &search{high: 1000, to: 10, budget: -time.Hour, audience: everybody}
	for id := uint64(5000); id > 0; id-- {
		m := marks{at: store.Time(id)}
		if !s.take(journal.Event{ID: id, Head: m.append(nil), Body: []byte("{}")}) {
			break
		}
	}
	if s.until == 0 || s.until >= s.high || s.total == 0 {
		t.Errorf("it has looked down to %d and found %d", s.until, s.total)
	}
}
