package proc

import (
	"syscall"
	"time"
)

// Limits bound what a program and all that descends from it may use. They are
// looked at a few times a second, so that a program can be over one for a
// moment; zero is no limit.
type Limits struct {
	Memory    int64  // bytes that its processes hold in memory and share with no file
	Processes int    // how many of them there may be at a time
	Disk      int64  // bytes by which the free space of DiskAt's file system may fall
	Files     int64  // likewise for inodes, where the file system counts them
	DiskAt    string // a directory that the program writes to
}

// What Result.Over says.
const (
	OverMemory    = "memory"
	OverProcesses = "processes"
	OverDisk      = "disk"
	OverFiles     = "files"
)

const watchEvery = 100 * time.Millisecond

// free is what is left on a file system.
type free struct{ bytes, inodes int64 }

// left reads what is free at a directory; ok is false where that cannot be told.
func left(dir string) (f free, ok bool) {
	var st syscall.Statfs_t
	if dir == "" || syscall.Statfs(dir, &st) != nil {
		return free{}, false
	}
	return free{int64(st.Bavail) * int64(st.Bsize), int64(st.Ffree)}, true
}

// used is what the processes of one program use together.
type used struct {
	memory    int64
	processes int
}

// watch looks at the program until stop is closed, and says which limit it
// passed, if any.
func watch(leader int, l Limits, stop <-chan struct{}) (over <-chan string) {
	if l.Memory <= 0 && l.Processes <= 0 && l.Disk <= 0 && l.Files <= 0 {
		return nil
	}
	began, known := left(l.DiskAt)
	found := make(chan string, 1)
	go func() {
		every := time.NewTicker(watchEvery)
		defer every.Stop()
		for {
			select {
			case <-stop:
				return
			case <-every.C:
			}
			if what := l.passed(leader, began, known); what != "" {
				found <- what
				return
			}
		}
	}()
	return found
}

// passed returns the limit that is passed now, "" for none.
func (l Limits) passed(leader int, began free, known bool) string {
	if l.Memory > 0 || l.Processes > 0 {
		u := usage(leader)
		if l.Processes > 0 && u.processes > l.Processes {
			return OverProcesses
		}
		if l.Memory > 0 && u.memory > l.Memory {
			return OverMemory
		}
	}
	if now, ok := left(l.DiskAt); ok && known {
		if l.Disk > 0 && began.bytes-now.bytes > l.Disk {
			return OverDisk
		}
		if l.Files > 0 && began.inodes-now.inodes > l.Files {
			return OverFiles
		}
	}
	return ""
}
