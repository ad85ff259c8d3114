package monitor

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// whole returns the facts of a request with a part of each kind.
func whole() *Facts {
	f := answered("PUT", &Route{
		Name:    "PUT /a/:id",
		Pattern: "/a/:id",
		Handler: "change",
		Access:  "a.update",
	}, 200)
	f.Caller, f.Authorized, f.AuthAt = &store.Actor{ID: 7, Username: "ann"}, true, kv.TimeOf(f.Begun)
	f.Header = http.Header{"Content-Type": {"application/json"}, "User-Agent": {"test"}}
	f.Body = []byte(`{"name":"a","password":"hidden-9"}`)
	f.Notes = []AuthEvent{{
		Type:      "revoked",
		Username:  "bob",
		Result:    "success",
		MatchedBy: []string{},
	}}

	f.Store.Cached = []kv.CacheEvent{{Cache: "rules", Op: "set", Began: f.Begun}}
	f.Store.Ops = slices.Repeat([]kv.Op{{
		Statement: "GET a WHERE id = ?",
		Began:     f.Begun,
		Took:      time.Millisecond,
	}}, repeats)

	return f
}

// TestRecord_PartsInOrder checks the order of kinds in which events of the same time are listed.
func TestRecord_PartsInOrder(t *testing.T) {
	m := open(t)
	kinds := []string{}
	for _, e := range m.encode(m.record(whole(), weights{1, 1})).Events {
		kinds = append(kinds, e.Kind)
	}

	want := append([]string{RequestKind, AuthKind, AuthKind, CacheKind},
		slices.Repeat([]string{QueryKind}, repeats)...)
	if !slices.Equal(kinds, want) {
		t.Errorf("%q, want %q", kinds, want)
	}

	r := m.record(whole(), weights{1, 0})
	if len(r.parts) != 1 || r.request.Events != 1 || r.parts[0].(*AuthEvent).Type != "revoked" {
		t.Errorf("a write without its events has %+v", r.parts)
	}
	if got := r.request.Payload; got != `{"name":"a","password":"******"}` {
		t.Errorf("its body is kept as %s", got)
	}
}

// TestRecord_FailureIsNoSuccess: a handler reports an event before its commit.
func TestRecord_FailureIsNoSuccess(t *testing.T) {
	m := open(t)
	f := whole()
	f.Status, f.Err = 409, errs.New(errs.Conflict, "not now").Coded("not_now")
	r := m.record(f, weights{1, 1})
	if a := r.parts[0].(*AuthEvent); a.Result != "failed" || a.Reason != "not_now" ||
		!r.index.failed {
		t.Errorf("%+v", a)
	}
}

// BenchmarkDone records requests with their events. Only redaction and the event itself
// should allocate.
func BenchmarkDone(b *testing.B) {
	m := open(b)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		f := whole()
		b.StartTimer()
		m.Done(f)
		if len(m.queue) > batchLength {
			b.StopTimer()
			m.Flush()
			b.StartTimer()
		}
	}
}
