//go:build !linux

package proc

// Landlock returns 0: it is a part of Linux.
func Landlock() int { return 0 }
