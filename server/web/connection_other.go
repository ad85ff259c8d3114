//go:build !unix

package web

// descriptors returns false: the limit is unknown on this system.
func descriptors() (n int, known bool) { return 0, false }
