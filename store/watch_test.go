package store

import "testing"

// Whoever shares a commit with the minutely tidying is told of every session that
// it drops.
func TestAWatchIsBounded(t *testing.T) {
	w := &Watch{}
	batch := []*job{{watch: w}}
	for range 10 * maxCached {
		noted(batch, CacheEvent{Cache: "sessions", Op: "forget"})
		(&Tx{watch: w}).Noted(CacheEvent{Cache: "sessions", Op: "miss"})
	}
	if len(w.Cached) != maxCached {
		t.Errorf("%d events are kept", len(w.Cached))
	}
}

// A write that was never begun has no times, and takes none from those before it.
func TestAWriteThatIsRefusedLeavesTheOthersTheirTimes(t *testing.T) {
	w := &Watch{Ops: []Op{{Mode: "write", Wait: 1, Commit: 2}}}
	j := &job{actor: System, fn: func(*Tx) error { return nil }, watch: w}
	j.prepare()
	j.settle()
	if w.Ops[0].Wait != 1 || w.Ops[0].Commit != 2 {
		t.Errorf("%+v", w.Ops[0])
	}
}
