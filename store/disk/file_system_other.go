//go:build !linux

package disk

// FileSystem returns the name of the file system that a directory is in, and why data is at risk
// in it; "" if it is not. This system does not tell.
func FileSystem(string) (name, risk string) { return "unknown", "" }
