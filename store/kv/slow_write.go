package kv

import "time"

// slowWriteLimit is the time for which a batch of write functions may occupy the writer before
// it is reported, without the commit itself. All other writes wait for it.
const slowWriteLimit = 100 * time.Millisecond

// SlowWrite reports that a batch of write functions occupied the writer for more than 100 ms
// before its commit.
type SlowWrite struct {
	Operation string        // name of the function that took longest, see Handle.For; "" if unnamed
	Took      time.Duration // duration of all functions and of computing the caches
}

// OnSlowWrite sets the function that receives slow writes. The writer calls it, so it must be
// fast. Call OnSlowWrite before the first write.
func (db *DB) OnSlowWrite(report func(SlowWrite)) { db.slowWrite = report }

// writeHold measures how long a batch occupies the writer.
type writeHold struct {
	begin, last time.Time // begin of the batch; end of the last measured step
	longest     time.Duration
	operation   string // operation of the function that took longest
}

// ran records that the function of an operation has just ended.
func (h *writeHold) ran(operation string) {
	now := time.Now()
	if took := now.Sub(h.last); took > h.longest {
		h.longest, h.operation = took, operation
	}
	h.last = now
}

func (h *writeHold) report(to func(SlowWrite)) {
	if took := h.last.Sub(h.begin); took > slowWriteLimit && to != nil {
		to(SlowWrite{h.operation, took})
	}
}
