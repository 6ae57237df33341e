package sqlite

import (
	"golang.org/x/sys/unix"

	"github.com/cleveragents/agents/fault"
)

// local refuses a network file system, where the locks and the shared memory
// that the log needs do not reach the other machines.
func local(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return fault.New(fault.Unavailable, "store: %s: %w", dir, err)
	}
	return localType(dir, int64(st.Type))
}

func localType(dir string, magic int64) error {
	name, remote := map[int64]string{
		unix.NFS_SUPER_MAGIC:  "NFS",
		unix.SMB_SUPER_MAGIC:  "SMB",
		unix.SMB2_SUPER_MAGIC: "SMB",
		unix.CIFS_SUPER_MAGIC: "CIFS",
		unix.AFS_SUPER_MAGIC:  "AFS",
		unix.CEPH_SUPER_MAGIC: "Ceph",
		unix.CODA_SUPER_MAGIC: "Coda",
	}[magic]
	if !remote {
		return nil
	}
	return fault.New(fault.Unavailable, "store: %s is on a network file system (%s), which SQLite cannot share", dir, name).
		WithHint("put the store on a local disk, or use PostgreSQL")
}
