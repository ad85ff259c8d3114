//go:build !linux && !darwin && !freebsd

package store

func diskFree(string) (int64, error) { return 0, errSpaceUnknown }
