//go:build !unix

package listen

// Descriptors returns false: the limit is unknown on this system.
func Descriptors() (n int, known bool) { return 0, false }
