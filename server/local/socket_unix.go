//go:build unix

package local

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// Listen creates the socket in a data directory, which the process must have locked. It replaces
// one that a killed process has left. Connections of other users than that of the process and root
// are closed.
func Listen(dir string) (net.Listener, error) {
	if err := os.Remove(filepath.Join(dir, Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}

	path, done, err := address(dir)
	if err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	done()
	if err != nil {
		return nil, err
	}

	l.SetUnlinkOnClose(false) // the path can be that of an open directory
	s := &socket{UnixListener: l, path: filepath.Join(dir, Name)}
	if err := os.Chmod(s.path, 0o600); err != nil {
		return nil, errors.Join(err, s.Close())
	}

	return s, nil
}

// Dial connects to the server that runs on a data directory.
func Dial(ctx context.Context, dir string) (net.Conn, error) {
	path, done, err := address(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	return (&net.Dialer{}).DialContext(ctx, "unix", path)
}

type socket struct {
	*net.UnixListener
	path string
}

// Accept returns the next connection of a user who may use the socket.
func (s *socket) Accept() (net.Conn, error) {
	for {
		conn, err := s.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if pid, uid, err := peer(conn); err == nil && (uid == os.Geteuid() || uid == 0) {
			return named{conn, nameOf(pid, uid)}, nil
		}
		conn.Close() // the client sees that it was closed
	}
}

// Close ends Accept and removes the socket.
func (s *socket) Close() error {
	err := s.UnixListener.Close()
	if e := os.Remove(s.path); !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

// maxPath is the number of bytes of a path that every system takes for a socket.
const maxPath = 100
