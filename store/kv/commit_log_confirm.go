package kv

import "sync"

// confirming are commits that have taken rights away. Their writers return when no other process acts on
// the old records any more. One goroutine waits for all of them, so that the writer can go on.
type confirming struct {
	mu      sync.Mutex
	running bool
	number  uint64 // highest number of the waiting commits
	waiting [][]*job
}

// finishConfirmed sets the result of jobs, and lets their callers return when the entry of their commit
// is confirmed.
func (s *commitLog) finishConfirmed(batch []*job, number uint64) {
	c := &s.confirming
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting, c.number = append(c.waiting, batch), number
	if !c.running {
		c.running = true
		s.done.Go(s.confirm)
	}
}

// ConfirmTaken returns when no other process acts on rights that were taken away before the call, as far as this one knows:
// for an answer that an earlier request has not got.
func (db *DB) ConfirmTaken() {
	s := db.commits
	if !s.inUse() {
		return
	}
	if number := s.taken.Load(); number > s.confirmed.Load() {
		s.Log.Confirm(number)
		s.confirmed.Store(number)
	}
}

// confirm is the goroutine: it ends when nothing waits.
func (s *commitLog) confirm() {
	c := &s.confirming
	for {
		c.mu.Lock()
		waiting, number := c.waiting, c.number
		c.waiting, c.running = nil, len(waiting) > 0
		c.mu.Unlock()
		if len(waiting) == 0 {
			return
		}
		s.Log.Confirm(number)
		for _, batch := range waiting {
			finish(batch, func(*job) {})
		}
	}
}
