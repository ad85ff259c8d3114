//go:build !unix

package etcdtest

import "testing"

// Freeze skips the test: this system cannot stop a process.
func (s *Server) Freeze(t testing.TB) { t.Skip("this system cannot stop a process") }

// Thaw does nothing.
func (s *Server) Thaw(testing.TB) {}
