package web

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// net/http sets three to four deadlines for every request, each a call into the
// runtime's timers, though hardly any of them expires. Here, setting one is a store,
// and one goroutine checks all connections once a second. A deadline may thus fire up
// to DeadlineTick late.
const DeadlineTick = time.Second

// deadlines manages the connections of one listener.
type deadlines struct {
	net.Listener
	gate  *gate
	mu    sync.Mutex
	Conns map[*TimedConn]struct{}
	now   atomic.Int64 // Unix nanoseconds, at the last check

	stopping atomic.Bool // whether clients that read nothing are cut off
}

func NewDeadlines(l net.Listener, g *gate) *deadlines {
	d := &deadlines{Listener: l, gate: g, Conns: map[*TimedConn]struct{}{}}
	d.now.Store(time.Now().UnixNano())
	return d
}

// Watch fires expired deadlines until ctx ends.
func (d *deadlines) Watch(ctx context.Context) {
	tick := time.NewTicker(DeadlineTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			d.check(now)
		}
	}
}

func (d *deadlines) check(now time.Time) {
	d.now.Store(now.UnixNano())
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.Conns {
		c.read.check(now)
		c.write.check(now)
		if since := c.writing.Load(); since != 0 && d.stopping.Load() && now.UnixNano()-since >= int64(stuckTime) {
			c.write.expire(now)
		}
	}
}

// Accept returns the next connection that the gate admits.
func (d *deadlines) Accept() (net.Conn, error) {
	for {
		conn, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		leave, err := d.gate.admit(conn)
		if err == nil {
			return d.timed(conn, leave), nil
		}
		d.gate.reject(conn, err)
	}
}

func (d *deadlines) timed(conn net.Conn, leave func()) net.Conn {
	c := &TimedConn{Conn: conn, Owner: d, leave: leave}
	c.read.set, c.write.set = conn.SetReadDeadline, conn.SetWriteDeadline
	d.mu.Lock()
	d.Conns[c] = struct{}{}
	d.mu.Unlock()
	return c
}

// TimedConn is a connection whose deadlines are managed by its listener.
type TimedConn struct {
	net.Conn
	Owner       *deadlines
	leave       func() // releases the connection's place at the gate
	read, write deadline
	writing     atomic.Int64 // Unix nanoseconds at which the current Write has begun; 0 for none
}

// stuckTime is how long a write waits for its client while the server stops.
const stuckTime = 2 * time.Second

// Write notes since when it waits for the client.
func (c *TimedConn) Write(b []byte) (int, error) {
	c.writing.Store(c.Owner.now.Load())
	defer c.writing.Store(0)
	return c.Conn.Write(b)
}

func (c *TimedConn) Close() error {
	c.Owner.mu.Lock()
	_, open := c.Owner.Conns[c]
	delete(c.Owner.Conns, c)
	c.Owner.mu.Unlock()
	err := c.Conn.Close()
	if open { // net/http may close a connection twice
		c.leave()
	}
	return err
}

func (c *TimedConn) SetReadDeadline(t time.Time) error  { return c.read.move(t, c.Owner.now.Load()) }
func (c *TimedConn) SetWriteDeadline(t time.Time) error { return c.write.move(t, c.Owner.now.Load()) }

func (c *TimedConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// ReadFrom lets the kernel send a file (sendfile).
func (c *TimedConn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }

// deadline is the deadline of one direction of a connection.
type deadline struct {
	at   atomic.Int64 // Unix nanoseconds; 0 for none
	past atomic.Bool  // whether a deadline in the past is set on the connection itself
	set  func(time.Time) error
}

// move sets the deadline. net/http uses one in the past to wake a pending read, so it
// takes effect at once.
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

// check fires an expired deadline.
func (d *deadline) check(now time.Time) {
	if at := d.at.Load(); at != 0 && at <= now.UnixNano() && d.at.CompareAndSwap(at, 0) {
		d.expire(now)
	}
}

// expire fires the deadline now.
func (d *deadline) expire(now time.Time) {
	d.past.Store(true)
	d.set(now) // fails only on a connection that is being closed
}
