package blob

import (
	"io/fs"
	"syscall"
	"time"
)

// changed returns when the kernel last changed the inode.
func changed(fi fs.FileInfo) time.Time {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return fi.ModTime()
	}
	return time.Unix(st.Ctim.Unix())
}
