package proc

import "golang.org/x/sys/unix"

// Landlock returns the version of Landlock that the kernel offers, with which a
// process can give up its own rights to files; 0 where there is none.
func Landlock() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}
