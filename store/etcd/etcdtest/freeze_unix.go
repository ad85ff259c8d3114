//go:build unix

package etcdtest

import (
	"syscall"
	"testing"
)

// Freeze stops a member without ending its connections (SIGSTOP).
func (s *Server) Freeze(t testing.TB) { s.signal(t, syscall.SIGSTOP) }

// Thaw lets a member continue.
func (s *Server) Thaw(t testing.TB) { s.signal(t, syscall.SIGCONT) }

func (s *Server) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}
