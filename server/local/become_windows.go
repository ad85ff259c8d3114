package local

// Become does nothing on this system, where files belong to the directory's owner.
func Become(string) error { return nil }
