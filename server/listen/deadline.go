package listen

import (
	"context"
	"sync/atomic"
	"time"
)

// net/http sets three to four deadlines for each request, and hardly any of them expires. Each is
// a call into the timers of the runtime, which together cost 3 to 4 % of a small read. Here, setting a
// deadline is a store, and Watch checks all connections once a tick. A deadline may thus fire one
// tick late.
const tick = time.Second

// Watch fires expired deadlines until ctx ends.
func (l *Listener) Watch(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			l.check(now)
		}
	}
}

func (l *Listener) check(now time.Time) {
	l.now.Store(now.UnixNano())
	stopping := l.stopping.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		c.read.check(now)
		c.write.check(now)
		if since := c.writing.Load(); stopping && since != 0 &&
			now.UnixNano()-since >= int64(stuckTime+tick) { // since is up to one tick early
			c.write.expire(now)
		}
	}
}

// SetReadDeadline sets the time at which reads end.
func (c *conn) SetReadDeadline(t time.Time) error { return c.read.move(t, c.owner.now.Load()) }

// SetWriteDeadline sets the time at which writes end.
func (c *conn) SetWriteDeadline(t time.Time) error { return c.write.move(t, c.owner.now.Load()) }

// SetDeadline sets the time at which reads and writes end.
func (c *conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// deadline is the deadline of one direction of a connection.
type deadline struct {
	at   atomic.Int64          // Unix nanoseconds; 0 for none
	past atomic.Bool           // whether a deadline in the past is set on the connection itself
	set  func(time.Time) error // sets it there
}

// move sets the deadline. One in the past takes effect at once: net/http uses it to end a read
// that waits.
func (d *deadline) move(t time.Time, now int64) error {
	if t.IsZero() {
		d.at.Store(0)
	} else if at := t.UnixNano(); at > now {
		d.at.Store(at)
	} else {
		d.at.Store(0)
		d.past.Store(true)
		return d.set(t)
	}

	if d.past.Load() {
		d.past.Store(false)
		return d.set(time.Time{})
	}

	return nil
}

// check fires the deadline if it has expired.
func (d *deadline) check(now time.Time) {
	if at := d.at.Load(); at != 0 && at <= now.UnixNano() && d.at.CompareAndSwap(at, 0) {
		d.expire(now)
	}
}

// expire fires the deadline.
func (d *deadline) expire(now time.Time) {
	d.past.Store(true)
	d.set(now) // fails only on a connection that is being closed
}
