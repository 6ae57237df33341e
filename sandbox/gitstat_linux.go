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
		CSec: uint32(st.Ctim.Sec), CNano: uint32(st.Ctim.Nsec), MSec: uint32(st.Mtim.Sec), MNano: uint32(st.Mtim.Nsec),
		Dev: uint32(st.Dev), Ino: uint32(st.Ino), UID: st.Uid, GID: st.Gid, Bytes: uint32(st.Size),
	}
}
