// Package listen accepts connections within a limit.
package listen

import (
	"context"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"reeve/server/limit"
	"reeve/store/errs"
)

// A Listener accepts the connections that its gate admits. When the server stops, it cuts off the
// clients that do not read.
type Listener struct {
	net.Listener
	gate  *gate
	mu    sync.Mutex
	conns map[*countedConn]struct{}
}

// New returns a Listener that accepts connections from l within a limit. No address gets more than
// half of them, unless exempt returns true for it, as for a proxy. answer encodes the response to a rejected connection; it is nil
// for connections with TLS, which get none.
func New(l net.Listener, limit *limit.Limit, exempt func(netip.Addr) bool,
	answer func(*errs.Error) []byte) *Listener {
	return &Listener{
		Listener: l,
		gate:     newGate(limit, exempt, answer),
		conns:    map[*countedConn]struct{}{},
	}
}

// Accept returns the next connection that the gate admits.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		leave, err := l.gate.admit(conn)
		if err != nil {
			l.gate.reject(conn, err)
			continue
		}
		c := &countedConn{Conn: conn, owner: l, leave: leave}
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

// CutOff ends each write that has waited for its client for stuckTime, until ctx ends.
func (l *Listener) CutOff(ctx context.Context) {
	tick := time.NewTicker(stuckTime / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			l.mu.Lock()
			for c := range l.conns {
				if since := c.writing.Load(); since != 0 &&
					now.UnixNano()-since >= int64(stuckTime) {
					c.SetWriteDeadline(now) // fails only on a connection that is being closed
				}
			}
			l.mu.Unlock()
		}
	}
}

// stuckTime is how long a write waits for its client while the server stops.
const stuckTime = 2 * time.Second

// countedConn is a connection that has a place at the gate.
type countedConn struct {
	net.Conn
	owner   *Listener
	leave   func()       // releases the place
	writing atomic.Int64 // Unix nanoseconds at which the current Write has begun; 0 for none
}

// Write notes since when it waits for the client.
func (c *countedConn) Write(b []byte) (int, error) {
	c.writing.Store(time.Now().UnixNano())
	defer c.writing.Store(0)
	return c.Conn.Write(b)
}

func (c *countedConn) Close() error {
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
func (c *countedConn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }
