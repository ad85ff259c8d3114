package etcdtest

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// Proxy passes connections on to a member, and disturbs them.
type Proxy struct {
	URL string

	mu      sync.Mutex
	changed sync.Cond
	mode    Mode
	closed  bool
	all     map[net.Conn]bool
}

// Mode is what a Proxy does with bytes.
type Mode int

// Modes of a proxy. Held bytes are passed on when the mode changes, unless the connection is cut.
const (
	Pass        Mode = iota
	HoldAnswers      // requests are passed on, answers are held
	HoldAll          // requests and answers are held
	Refuse           // connections are closed, and new ones at once
)

// Proxy starts a proxy of a member.
func (s *Server) Proxy(t testing.TB) *Proxy {
	t.Helper()
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{URL: to.Scheme + "://" + l.Addr().String(), all: map[net.Conn]bool{}}
	p.changed.L = &p.mu
	var running sync.WaitGroup
	running.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			if p.refuses() {
				in.Close()
				continue
			}
			out, err := net.Dial("tcp", to.Host)
			if err != nil {
				in.Close()
				continue
			}
			if p.add(in, out) {
				running.Go(func() { p.pass(out, in, HoldAll) })
				running.Go(func() { p.pass(in, out, HoldAnswers) })
			}
		}
	})
	t.Cleanup(func() {
		l.Close()
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		p.Cut()
		running.Wait()
	})
	return p
}

func (p *Proxy) add(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.closed {
			c.Close()
			continue
		}
		p.all[c] = true
	}
	return !p.closed
}

// pass copies from a connection to another, except in modes from the one named on.
func (p *Proxy) pass(to, from net.Conn, held Mode) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || !p.wait(to, held) {
			break
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			break
		}
	}
	to.Close()
	from.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, to)
	delete(p.all, from)
}

// wait waits while bytes are held, and reports whether the connection still exists.
func (p *Proxy) wait(to net.Conn, held Mode) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.mode >= held && p.all[to] {
		p.changed.Wait()
	}
	return p.all[to]
}

func (p *Proxy) refuses() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mode == Refuse
}

// Set changes the mode.
func (p *Proxy) Set(m Mode) {
	p.mu.Lock()
	p.mode = m
	p.changed.Broadcast()
	p.mu.Unlock()
	if m == Refuse {
		p.Cut()
	}
}

// Cut closes the connections there are. What they hold is lost.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.all {
		c.Close()
	}
	clear(p.all)
	p.changed.Broadcast()
}
