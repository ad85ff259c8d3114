package server

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// net/http sets three to four deadlines for every request, each a call into the
// runtime's timers, while hardly any of them ever comes. Here setting one is a
// store, and once a second one goroutine looks which connections are overdue. A
// deadline may so be met up to deadlineTick late.
const deadlineTick = time.Second

// deadlines are the connections of one listener.
type deadlines struct {
	net.Listener
	gate  *gate
	mu    sync.Mutex
	conns map[*timedConn]struct{}
	now   atomic.Int64 // Unix nanoseconds, at the last look
}

func newDeadlines(l net.Listener, g *gate) *deadlines {
	d := &deadlines{Listener: l, gate: g, conns: map[*timedConn]struct{}{}}
	d.now.Store(time.Now().UnixNano())
	return d
}

// watch looks for overdue connections until ctx ends.
func (d *deadlines) watch(ctx context.Context) {
	tick := time.NewTicker(deadlineTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			d.look(now)
		}
	}
}

func (d *deadlines) look(now time.Time) {
	d.now.Store(now.UnixNano())
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.conns {
		c.read.look(now)
		c.write.look(now)
	}
}

// Accept waits for a connection that the gate admits.
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
	c := &timedConn{Conn: conn, owner: d, leave: leave}
	c.read.set, c.write.set = conn.SetReadDeadline, conn.SetWriteDeadline
	d.mu.Lock()
	d.conns[c] = struct{}{}
	d.mu.Unlock()
	return c
}

// timedConn is a connection whose deadlines are looked after by its listener.
type timedConn struct {
	net.Conn
	owner       *deadlines
	leave       func() // the gate
	read, write deadline
}

func (c *timedConn) Close() error {
	c.owner.mu.Lock()
	_, open := c.owner.conns[c]
	delete(c.owner.conns, c)
	c.owner.mu.Unlock()
	err := c.Conn.Close()
	if open { // net/http may close a connection twice
		c.leave()
	}
	return err
}

func (c *timedConn) SetReadDeadline(t time.Time) error  { return c.read.move(t, c.owner.now.Load()) }
func (c *timedConn) SetWriteDeadline(t time.Time) error { return c.write.move(t, c.owner.now.Load()) }

func (c *timedConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// ReadFrom keeps the kernel's way of sending a file.
func (c *timedConn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }

// deadline is one direction of a connection.
type deadline struct {
	at   atomic.Int64 // Unix nanoseconds; 0 for none
	past atomic.Bool  // the connection itself has one, which has passed
	set  func(time.Time) error
}

// move sets the deadline. One in the past is how net/http wakes a pending read:
// it takes effect at once.
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

// look makes an overdue deadline come true.
func (d *deadline) look(now time.Time) {
	if at := d.at.Load(); at != 0 && at <= now.UnixNano() && d.at.CompareAndSwap(at, 0) {
		d.past.Store(true)
		d.set(now) // fails on a connection that is being closed
	}
}
