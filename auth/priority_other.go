//go:build !linux

package auth

// lowerPriority does nothing: a nice value belongs to the whole process here.
func lowerPriority() {}
