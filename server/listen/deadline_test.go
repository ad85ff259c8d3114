package listen_test

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// deadlineTick is how late a deadline may fire.
const deadlineTick = time.Second

// watched returns both ends of a connection whose deadlines fire.
func watched(t *testing.T) (server, client net.Conn) {
	l, server, client := dial(t)
	go l.Watch(t.Context())
	return server, client
}

// waitRead returns how long a read waits and its error.
func waitRead(conn net.Conn) (time.Duration, error) {
	start := time.Now()
	_, err := conn.Read(make([]byte, 1))
	return time.Since(start), err
}

func TestDeadline_EndsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, _ := watched(t)
		conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		waited, err := waitRead(conn)
		if !errors.Is(err, os.ErrDeadlineExceeded) ||
			waited < 5*time.Second || waited > 5*time.Second+deadlineTick {
			t.Errorf("waited %s, %v", waited, err)
		}
	})
}

func TestDeadline_EndsUnreadWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, _ := watched(t)
		conn.SetDeadline(time.Now().Add(5 * time.Second))
		if _, err := conn.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestDeadline_Moved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, client := watched(t)
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
		conn, client := watched(t)
		go func() {
			time.Sleep(3 * time.Second)
			conn.SetReadDeadline(time.Unix(1, 0))
		}()
		waited, err := waitRead(conn)
		if !errors.Is(err, os.ErrDeadlineExceeded) || waited != 3*time.Second {
			t.Errorf("waited %s, %v", waited, err)
		}

		conn.SetReadDeadline(time.Time{})
		go client.Write([]byte("x"))
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			t.Errorf("after it was taken back: %v", err)
		}
	})
}
