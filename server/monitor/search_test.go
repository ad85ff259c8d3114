package monitor

import (
	"math"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/journal"
)

// everybody is the audience of a caller with the data scope all.
var everybody = &Audience{scope: &store.Scope{All: true}}

// searchFor returns a search with one condition.
func searchFor(t *testing.T, c Condition) *search {
	t.Helper()
	s := &search{high: endOfTime, to: 10, audience: everybody}
	must(t, s.require(c))
	return s
}

func TestSearch_LongestDurationFindsNothing(t *testing.T) {
	for _, ms := range []int64{2001, maxDurationMS, maxDurationMS + 1, math.MaxInt64} {
		s := searchFor(t, Condition{Column: "min_duration_ms", Numbers: []int64{ms}})
		if s.matches(indexHeader{duration: 2 * time.Second}, nil) {
			t.Errorf("2 s are %d ms or more", ms)
		}
	}
	if s := searchFor(t, Condition{Column: "min_duration_ms", Numbers: []int64{2000}}); !s.matches(indexHeader{duration: 2 * time.Second}, nil) {
		t.Error("2 s are not 2000 ms")
	}
}

// authBody returns an event about one user, caused by another.
func authBody(t *testing.T, by, about string) []byte {
	t.Helper()
	e := AuthEvent{
		EventHead: EventHead{RequestID: "r-1",
			User: &EventUser{ID: 1, Username: by, Realm: "admin"}},
		Type:     "revoked",
		Username: about,
	}
	return new(encoder).encode(AuthKind, indexHeader{}, &e).Body
}

func TestSearch_ColumnBelongsToEvent(t *testing.T) {
	body := authBody(t, "owner", "bob")
	for _, c := range []struct {
		column, value string
		want          bool
	}{
		{"username", "bob", true},
		{"username", "owner", false}, // the caller, not the user that the event is about
		{"type", "revoked", true},
		{"request_id", "r-1", true},
		{"request_id", "r-2", false},
	} {
		if got := searchFor(t, Condition{Column: c.column, Texts: []string{c.value}}).matches(indexHeader{}, body); got != c.want {
			t.Errorf("%s=%s: %v", c.column, c.value, got)
		}
	}
}

// A search of a period that ends in the past also reads events that were stored later. It must
// not spend all its time on them, or a search that continues at Until makes no progress.
func TestSearch_StoppedEarlyProgresses(t *testing.T) {
	s := &search{high: 1000, to: 10, budget: -time.Hour, audience: everybody}
	for id := uint64(5000); id > 0; id-- {
		h := indexHeader{at: store.Time(id)}
		if !s.take(journal.Event{ID: id, Head: h.append(nil), Body: []byte("{}")}) {
			break
		}
	}
	if s.Until == 0 || s.Until >= s.high || s.Total == 0 {
		t.Errorf("searched back to %d and found %d", s.Until, s.Total)
	}
}

// TestEvents_StoredWithoutID reads events with members in any order, and as older
// versions stored them.
func TestEvents_StoredWithoutID(t *testing.T) {
	for body, want := range map[string]string{
		`{"a":1,"recorded_at":null}`: `{"id":7,"a":1,"recorded_at":null}`,
		`{"id":0,"a":1}`:             `{"id":7,"a":1}`,
	} {
		if got := string(withID(journal.Event{ID: 7, Body: []byte(body)})); got != want {
			t.Errorf("%s is read as %s, want %s", body, got, want)
		}
	}
}
