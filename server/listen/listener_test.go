package listen_test

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reeve/server/limit"
	"reeve/server/listen"
	"reeve/store/errs"
)

// pipeListener returns one end of each pipe that is dialled. net.Pipe supports
// deadlines like a network connection, with the clock of the test's bubble.
type pipeListener struct {
	net.Listener
	conns chan net.Conn
}

func (l pipeListener) Accept() (net.Conn, error) { return <-l.conns, nil }

// dial returns a listener and both ends of a connection that it has accepted.
func dial(t *testing.T) (l *listen.Listener, server, client net.Conn) {
	t.Helper()
	pipes := pipeListener{conns: make(chan net.Conn, 1)}
	l = listen.New(pipes, limit.New("connections", 100, errs.Say("too many connections")),
		func(netip.Addr) bool {
			return false
		}, nil)
	near, far := net.Pipe()
	pipes.conns <- near
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); far.Close() })
	return l, conn, far
}

func TestListener_CutsOffUnreadWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, conn, _ := dial(t)
		go l.Watch(t.Context())
		l.CutOff()
		start := time.Now()
		_, err := conn.Write([]byte("x"))
		if waited := time.Since(start); !errors.Is(err, os.ErrDeadlineExceeded) ||
			waited < 2*time.Second || waited > 3*time.Second {
			t.Errorf("waited %s, %v", waited, err)
		}
	})
}

// TestListener_SlowReaderGoesOn checks that only a write that waits is cut off, not a long
// response.
func TestListener_SlowReaderGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, conn, client := dial(t)
		go l.Watch(t.Context())
		l.CutOff()
		go func() {
			for range 5 {
				time.Sleep(1500 * time.Millisecond)
				io.ReadFull(client, make([]byte, 1))
			}
		}()
		for range 5 {
			if _, err := conn.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestListener_ClosedConnectionIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, conn, _ := dial(t)
		if n := l.Open(); n != 1 {
			t.Errorf("%d connections are open, want 1", n)
		}
		conn.Close()
		conn.Close() // as net/http may
		if n := l.Open(); n != 0 {
			t.Errorf("%d connections are open after Close", n)
		}
	})
}

func TestMaxConnections_LeaveDescriptors(t *testing.T) {
	t.Parallel()
	files, known := listen.Descriptors()
	if !known {
		t.Skip("this system does not tell how many descriptors there are")
	}
	if n, err := listen.MaxConnections(0); err != nil ||
		n > max(listen.LeastConns, files-listen.ReservedFiles) || n > listen.MostConns {
		t.Errorf("%d of %d, %v", n, files, err)
	}
	if n, err := listen.MaxConnections(20); err != nil || n != 20 {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := listen.MaxConnections(files); err == nil ||
		!strings.Contains(err.Error(), "server.max_connections") {
		t.Errorf("got %v", err)
	}
}
