//go:build !unix

package disk

import "io/fs"

// SameDisk is not implemented on this system.
func SameDisk(string, string) bool { return false }

// CopyOwner is not implemented on this system.
func CopyOwner(string, string) error { return nil }

// Owner is not implemented on this system.
func Owner(string) (user int, known bool) { return 0, false }

// ForOwnGroup is not implemented on this system.
func ForOwnGroup(fs.FileInfo) bool { return false }
