package kv

import "testing"

// A write may share a commit with the cleanup of sessions, which emits an event per session.
func TestWatch_Bound(t *testing.T) {
	w := &Recorder{}
	batch := []*job{{recorder: w}}
	for range 10 * maxCached {
		recordCacheEvent(batch, CacheEvent{Cache: "sessions", Op: "forget"})
		(&Tx{recorder: w}).RecordCacheEvent(CacheEvent{Cache: "sessions", Op: "miss"})
	}
	if len(w.Cached) != maxCached {
		t.Errorf("%d events are kept", len(w.Cached))
	}
}

// A write that was rejected before it began must not overwrite the times of earlier operations.
func TestWatch_RefusedWriteKeepsTimes(t *testing.T) {
	w := &Recorder{Ops: []Op{{Mode: "write", Wait: 1, Commit: 2}}}
	j := &job{actor: System, fn: func(*Tx) error { return nil }, recorder: w}
	j.prepare()
	j.settle()
	if w.Ops[0].Wait != 1 || w.Ops[0].Commit != 2 {
		t.Errorf("%+v", w.Ops[0])
	}
}
