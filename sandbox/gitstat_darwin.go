package sandbox

import (
	"os"
	"syscall"

	"github.com/cleveragents/agents/sandbox/gitrepo"
)

// indexStat is what the index of git keeps of a file.
func indexStat(fi os.FileInfo) gitrepo.Stat {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return gitrepo.Stat{}
	}
	return gitrepo.Stat{
		CSec: uint32(st.Ctimespec.Sec), CNano: uint32(st.Ctimespec.Nsec), MSec: uint32(st.Mtimespec.Sec), MNano: uint32(st.Mtimespec.Nsec),
		Dev: uint32(st.Dev), Ino: uint32(st.Ino), UID: st.Uid, GID: st.Gid, Bytes: uint32(st.Size),
	}
}
