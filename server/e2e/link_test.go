package e2e

import (
	"net"
	"sync"
	"testing"
	"time"
)

// link is a connection of a node with a server that a test can cut: then nothing comes through any more,
// and nobody is told.
type link struct {
	address string

	mu    sync.Mutex
	cut   bool
	shut  bool          // new connections end at once
	delay time.Duration // time that what arrives is held, at least
	conns map[net.Conn]bool
}

// newLink listens, and passes what comes on to an address.
func newLink(t testing.TB, to string) *link {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &link{address: l.Addr().String(), conns: map[net.Conn]bool{}}
	t.Cleanup(func() {
		l.Close()
		k.end()
	})
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go k.pass(in, to)
		}
	}()
	return k
}

func (k *link) pass(in net.Conn, to string) {
	defer in.Close()
	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer out.Close()
	k.mu.Lock()
	shut := k.shut
	if !shut {
		k.conns[in], k.conns[out] = true, true
	}
	k.mu.Unlock()
	if shut {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { k.copy(out, in) })
	both.Go(func() { k.copy(in, out) })
	both.Wait()
	k.mu.Lock()
	delete(k.conns, in)
	delete(k.conns, out)
	k.mu.Unlock()
}

// copy copies until a side ends. What arrives while the link is cut is lost.
func (k *link) copy(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		cut, delay := k.state()
		time.Sleep(delay)
		if err == nil && !cut {
			_, err = to.Write(buffer[:n])
		}
		if err != nil {
			to.Close()
			from.Close()
			return
		}
	}
}

func (k *link) state() (cut bool, delay time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.cut, k.delay
}

// hold sets the delay in each direction.
func (k *link) hold(delay time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.delay = delay
}

// set cuts the link, or mends it: then connections that have lost something end.
func (k *link) set(cut bool) {
	k.mu.Lock()
	k.cut = cut
	k.mu.Unlock()
	if !cut {
		k.end()
	}
}

// refuse ends all connections, and new ones at once, or lets new ones through.
func (k *link) refuse(shut bool) {
	k.mu.Lock()
	k.shut = shut
	k.mu.Unlock()
	k.end()
}

func (k *link) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c := range k.conns {
		c.Close()
	}
}
