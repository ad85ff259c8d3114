// Package listen accepts connections within a limit.
package listen

import (
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"reeve/server/limit"
	"reeve/store/errs"
)

// A Listener accepts the connections that its gate admits and ends reads and writes at their
// deadlines. When the server stops, it cuts off the clients that do not read.
type Listener struct {
	net.Listener
	gate     *gate
	mu       sync.Mutex
	conns    map[*conn]struct{}
	now      atomic.Int64 // Unix nanoseconds, at the last check of the deadlines
	stopping atomic.Bool  // whether clients that do not read are cut off
}

// New returns a Listener that accepts connections from l within a limit. No address gets more than
// half of them, unless exempt returns true for it, as for a proxy. answer encodes the response to
// a rejected connection; it is nil for connections with TLS, which get none. No deadline passes
// unless Watch runs.
func New(l net.Listener, limit *limit.Limit, exempt func(netip.Addr) bool,
	answer func(*errs.Error) []byte) *Listener {
	listener := &Listener{
		Listener: l,
		gate:     newGate(limit, exempt, answer),
		conns:    map[*conn]struct{}{},
	}
	listener.now.Store(time.Now().UnixNano())

	return listener
}

// Accept returns the next connection that the gate admits.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		leave, err := l.gate.admit(accepted)
		if err != nil {
			l.gate.reject(accepted, err)
			continue
		}
		c := &conn{Conn: accepted, owner: l, leave: leave}
		c.read.set, c.write.set = accepted.SetReadDeadline, accepted.SetWriteDeadline
		l.mu.Lock()
		l.conns[c] = struct{}{}
		l.mu.Unlock()
		return c, nil
	}
}

// Open returns the number of open connections.
func (l *Listener) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

// CutOff makes Watch end each write that has waited for its client for stuckTime.
func (l *Listener) CutOff() { l.stopping.Store(true) }

// stuckTime is how long a write waits for its client while the server stops.
const stuckTime = 2 * time.Second

// conn is a connection that has a place at the gate.
type conn struct {
	net.Conn
	owner       *Listener
	leave       func() // releases the place
	read, write deadline
	writing     atomic.Int64 // owner.now when the current Write has begun; 0 for none
}

// Write notes since when it waits for the client.
func (c *conn) Write(b []byte) (int, error) {
	c.writing.Store(c.owner.now.Load())
	defer c.writing.Store(0)
	return c.Conn.Write(b)
}

func (c *conn) Close() error {
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

// ReadFrom lets the kernel send a file (sendfile).
func (c *conn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }
