package sandbox

import (
	"os"
	"syscall"
)

// stampOf takes the stamp of what a stat of ours returned.
func stampOf(fi os.FileInfo) stamp {
	s := stamp{size: fi.Size(), mtime: fi.ModTime().UnixNano(), mode: permissions(fi)}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		s.ctime = st.Ctim.Nano()
		s.ino, s.dev = uint64(st.Ino), uint64(st.Dev)
	}
	return s
}
