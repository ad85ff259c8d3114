package monitor

import (
	"encoding/json"
	"net/netip"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"reeve/store"
	"reeve/store/journal"
	"reeve/store/kv"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// size returns long if REEVE_TEST_LONG is 1, medium in CI, small otherwise.
func size(small, medium, long int) int {
	switch {
	case os.Getenv("REEVE_TEST_LONG") == "1":
		return long
	case os.Getenv("CI") == "true":
		return medium
	}
	return small
}

// open returns a monitor of an empty database, with its journal open.
func open(t testing.TB) *Monitor {
	t.Helper()
	db, err := store.Open(t.TempDir(), store.Options{Version: "test"})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	m := New(Config{MaxBytes: 64 << 20, SearchTime: time.Hour}, nil, db, zerolog.Nop())
	m.Open()
	t.Cleanup(func() { must(t, m.Close()) })
	return m
}

var requests int

// answered returns the facts of an anonymous request.
func answered(method string, route *Route, status int) *Facts {
	requests++
	f := &Facts{
		Route:     route,
		RequestID: "r-" + strconv.Itoa(requests),
		Begun:     time.Now(),
		Took:      time.Millisecond,
		Caller:    store.Anonymous,
		Addr:      netip.MustParseAddr("192.0.2.1"),
		Method:    method,
		Status:    status,
		Store:     &kv.Recorder{},
	}
	if route != nil {
		f.Path = route.Pattern
	}

	return f
}

func notFound() *Facts { return answered("GET", nil, 404) }

// recorded returns the stored events of a kind.
func recorded(t testing.TB, m *Monitor, kind string) (all []RequestEvent) {
	t.Helper()
	m.Flush()
	m.journal.Load().Newest(kind, 0, func(stored journal.Event) bool {
		var e RequestEvent
		must(t, json.Unmarshal(stored.Body, &e))
		all = append(all, e)
		return true
	})
	return all
}

// weight returns the number of recorded requests for a route and how many they represent.
func weight(t testing.TB, m *Monitor, route string) (kept int, represented int64) {
	t.Helper()
	for _, e := range recorded(t, m, RequestKind) {
		if e.Route == route {
			kept++
			represented += e.Sampled
		}
	}
	return kept, represented
}
