//go:build !linux

package sqlite

// local accepts every file system where the system does not name its type.
func local(string) error { return nil }
