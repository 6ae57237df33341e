package sandbox

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps two names of one directory in one step, so that whatever was
// at a name when it got its new file is still there under the other. The names
// are single components relative to an open directory, and no link is followed.
func exchange(dir *os.Root, a, b string) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	c, err := d.SyscallConn()
	if err != nil {
		return errors.Join(err, d.Close())
	}
	var got error
	err = c.Control(func(fd uintptr) { got = unix.Renameat2(int(fd), a, int(fd), b, unix.RENAME_EXCHANGE) })
	return errors.Join(err, got, d.Close())
}
