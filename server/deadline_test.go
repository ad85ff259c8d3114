package server

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"reeve/server/web"
	"reeve/store/errs"
)

// pipeListener returns one end of each pipe that is dialled. net.Pipe supports
// deadlines like a network connection, with the clock of the test's bubble.
type pipeListener struct {
	net.Listener
	conns chan net.Conn
}

func (l pipeListener) Accept() (net.Conn, error) { return <-l.conns, nil }

// dial returns both ends of a connection; the server's end has coarse deadlines.
func dial(t *testing.T) (server, client net.Conn) {
	t.Helper()
	l := pipeListener{conns: make(chan net.Conn, 1)}
	d := web.NewDeadlines(l, web.NewGate(web.NewLimit("connections", 100, errs.Say("too many connections")), nil, true))
	near, far := net.Pipe()
	l.conns <- near
	conn, err := d.Accept()
	if err != nil {
		t.Fatal(err)
	}
	go d.Watch(t.Context())
	t.Cleanup(func() { conn.Close(); far.Close() })
	return conn, far
}

// waitRead returns how long a read waits and its error.
func waitRead(conn net.Conn) (time.Duration, error) {
	start := time.Now()
	_, err := conn.Read(make([]byte, 1))
	return time.Since(start), err
}

func TestDeadline_EndsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, _ := dial(t)
		conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		waited, err := waitRead(conn)
		if !errors.Is(err, os.ErrDeadlineExceeded) || waited < 5*time.Second || waited > 5*time.Second+web.DeadlineTick {
			t.Errorf("waited %s, %v", waited, err)
		}
	})
}

func TestDeadline_EndsUnreadWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, _ := dial(t)
		conn.SetDeadline(time.Now().Add(5 * time.Second))
		if _, err := conn.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestDeadline_Moved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, client := dial(t)
		conn.SetReadDeadline(time.Now().Add(2 * time.Second))
		conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		go func() {
			time.Sleep(10 * time.Second)
			client.Write([]byte("x"))
		}()
		if waited, err := waitRead(conn); err != nil || waited != 10*time.Second {
			t.Errorf("waited %s, %v", waited, err)
		}
	})
}

func TestDeadline_PastFiresAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, client := dial(t)
		go func() {
			time.Sleep(3 * time.Second)
			conn.SetReadDeadline(time.Unix(1, 0))
		}()
		if waited, err := waitRead(conn); !errors.Is(err, os.ErrDeadlineExceeded) || waited != 3*time.Second {
			t.Errorf("waited %s, %v", waited, err)
		}
		conn.SetReadDeadline(time.Time{})
		go client.Write([]byte("x"))
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			t.Errorf("after it was taken back: %v", err)
		}
	})
}

func TestDeadline_ClosedConnectionIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, _ := dial(t)
		owner := conn.(*web.TimedConn).Owner
		conn.Close()
		if n := len(owner.Conns); n != 0 {
			t.Errorf("%d connections are still looked after", n)
		}
	})
}
