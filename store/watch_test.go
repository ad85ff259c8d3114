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
