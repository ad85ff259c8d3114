//go:build !linux

package disktest

// InMemory does nothing: only Linux has a directory in memory.
func InMemory() {}
