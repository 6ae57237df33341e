package sqlite

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cleveragents/agents/fault"
)

// T49: a network file system is refused by its type.
func TestLocal(t *testing.T) {
	for magic, want := range map[int64]bool{
		unix.EXT4_SUPER_MAGIC: true, unix.TMPFS_MAGIC: true, unix.OVERLAYFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true,
		unix.NFS_SUPER_MAGIC: false, unix.CIFS_SUPER_MAGIC: false, unix.SMB2_SUPER_MAGIC: false,
	} {
		err := localType("/somewhere", magic)
		if got := err == nil; got != want || err != nil && !fault.Is(err, fault.Unavailable) {
			t.Errorf("type %x: got error %v, want accepted %t", magic, err, want)
		}
	}
	if err := local(t.TempDir()); err != nil {
		t.Error(err)
	}
	if err := local("/nowhere/at/all"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got error %v for a directory that is not there", err)
	}
}
