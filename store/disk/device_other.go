//go:build !unix

package disk

// SameDisk is not implemented on this system.
func SameDisk(string, string) bool { return false }
