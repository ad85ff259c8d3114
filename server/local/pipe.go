package local

import (
	"context"
	"net"
	"sync"
)

// Pipe is a listener for the process itself, for a command that is server and client in one.
type Pipe struct {
	conns chan net.Conn
	done  chan struct{}
	end   sync.Once
}

// NewPipe returns a Pipe that accepts the connections of its Dial.
func NewPipe() *Pipe { return &Pipe{conns: make(chan net.Conn), done: make(chan struct{})} }

// Accept returns the next connection.
func (p *Pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Dial connects to the process itself.
func (p *Pipe) Dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- named{far, Self()}:
		return near, nil
	case <-p.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close ends Accept.
func (p *Pipe) Close() error {
	p.end.Do(func() { close(p.done) })
	return nil
}

// Addr returns an address that names no place.
func (p *Pipe) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// named is a connection whose other end is known.
type named struct {
	net.Conn
	name string
}

// Caller returns the name of the user at the other end.
func (n named) Caller() string { return n.name }
