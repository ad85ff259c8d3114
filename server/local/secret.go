package local

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// secretTime is the time that a client gets to send the secret.
	secretTime = 5 * time.Second

	// maxSilent is the number of connections that have not sent the secret yet. Another one closes the oldest,
	// since dialSecret sends it at once.
	maxSilent = 64
)

// secret is a listener on the loopback interface. A client sends first a text that is in a file.
type secret struct {
	net.Listener
	text, path string
	results    chan accepted
	done       chan struct{} // closed by Close
	closing    sync.Once

	mu     sync.Mutex
	silent []net.Conn // connections that have not sent the secret yet, the oldest first
}

// accepted is a result of Accept.
type accepted struct {
	conn net.Conn
	err  error
}

// listenSecret listens on the loopback interface, and writes the address and a secret to a file in a data
// directory, which the process must have locked.
func listenSecret(dir string) (*secret, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &secret{
		Listener: l,
		text:     rand.Text(),
		path:     filepath.Join(dir, Name),
		results:  make(chan accepted),
		done:     make(chan struct{}),
	}
	if err := os.WriteFile(s.path, []byte(l.Addr().String()+" "+s.text), 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	go s.run()
	return s, nil
}

// dialSecret connects to the server that runs on a data directory.
func dialSecret(ctx context.Context, dir string) (net.Conn, error) {
	text, err := os.ReadFile(filepath.Join(dir, Name))
	if err != nil {
		return nil, err
	}
	addr, secret, ok := strings.Cut(string(text), " ")
	if !ok {
		return nil, fmt.Errorf("%s has no address of a server", filepath.Join(dir, Name))
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, secret); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// run accepts connections until the listener is closed. A silent one keeps no other waiting.
func (s *secret) run() {
	for {
		conn, err := s.Listener.Accept()
		if err != nil {
			if s.give(accepted{nil, err}); errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		s.mu.Lock()
		s.silent = append(s.silent, conn)
		if len(s.silent) > maxSilent {
			s.silent[0].Close() // its client has never said who it is
			s.silent = s.silent[1:]
		}
		s.mu.Unlock()
		go s.admit(conn)
	}
}

// admit gives a connection to Accept once it has sent the secret.
func (s *secret) admit(conn net.Conn) {
	got := make([]byte, len(s.text))
	conn.SetReadDeadline(time.Now().Add(secretTime)) // it fails like the read
	_, err := io.ReadFull(conn, got)
	s.mu.Lock()
	at := slices.Index(s.silent, conn)
	if at >= 0 {
		s.silent = slices.Delete(s.silent, at, at+1)
	}
	s.mu.Unlock()
	if at < 0 || err != nil || subtle.ConstantTimeCompare(got, []byte(s.text)) != 1 {
		conn.Close() // the client sees that it was closed
		return
	}
	conn.SetReadDeadline(time.Time{})
	s.give(accepted{named{conn, Self()}, nil})
}

// give hands a result to Accept, unless the listener is closed.
func (s *secret) give(a accepted) {
	select {
	case s.results <- a:
	case <-s.done:
		if a.conn != nil {
			a.conn.Close()
		}
	}
}

// Accept returns the next connection that has sent the secret.
func (s *secret) Accept() (net.Conn, error) {
	select {
	case a := <-s.results:
		return a.conn, a.err
	case <-s.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and removes the file.
func (s *secret) Close() error {
	s.closing.Do(func() { close(s.done) })
	return errors.Join(s.Listener.Close(), os.Remove(s.path))
}
