package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/durable"
	"github.com/cleveragents/agents/fault"
)

const (
	// leftAfter is how long nobody has written to a file that is taken for a
	// leftover: one that is being written now is younger.
	leftAfter = time.Hour
	// fewBytes is where a disk is called nearly full: a snapshot of a middling
	// project still fits.
	fewBytes = 256 << 20
	// probeBytes is what is written to see whether something can be.
	probeBytes = 64 << 10
	probeName  = ".doctor-"
)

// directory looks at the place of the data: can it be written, is there room,
// can others read it.
func (c *checkup) directory(context.Context) {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		c.problem("directory", fault.New(fault.Unavailable, "%w", err), c.otherPlace())
		return
	}
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		c.problem("directory", fault.New(fault.Unavailable, "%w", err), c.otherPlace())
		return
	}
	defer root.Close()
	c.modes(root)
	if err := probe(root); err != nil {
		switch {
		case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
			err = fault.New(fault.Exhausted, "no space left on the disk of %s: %w", c.dir, err).
				WithHint("free some space; everything that was recorded is kept")
		case errors.Is(err, syscall.EROFS):
			err = fault.New(fault.Unavailable, "%s is on a disk that is mounted read-only: %w", c.dir, err).
				WithHint("mount it for writing, or choose another place with --data-dir or AGENTS_DATA_DIR")
		}
		c.problem("directory", err, c.otherPlace())
		return
	}
	free, err := freeBytes(c.dir)
	switch {
	case err != nil:
		c.problem("directory", fault.New(fault.Unavailable, "ask how much room there is: %w", err), c.otherPlace())
	case free < fewBytes:
		c.add(a2a.Finding{
			Name: "directory", Level: "warning", Detail: fmt.Sprintf("%s: only %d MB are free on its disk", c.dir, free>>20),
			Fix: "free some space: every plan keeps a copy of its project there",
		})
	default:
		c.ok("directory", "%s, %d MB free", c.dir, free>>20)
	}
}

func (c *checkup) otherPlace() string {
	return "make " + c.dir + " a directory of yours that can be written, or choose another with --data-dir or AGENTS_DATA_DIR"
}

// probe writes a small file and removes it.
func probe(root *os.Root) error {
	name := probeName + strconv.Itoa(os.Getpid())
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fault.New(fault.Unavailable, "%w", err)
	}
	_, err = f.Write(make([]byte, probeBytes))
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close(), root.Remove(name)); err != nil {
		return fault.New(fault.Unavailable, "%w", err)
	}
	return nil
}

// freeBytes is the room that is left for this user.
func freeBytes(dir string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// modes finds what others can read or write: the directory and what lies in it.
// What lies deeper is behind directories that are looked at here.
func (c *checkup) modes(root *os.Root) {
	names := []string{"."}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		c.problem("modes", fault.New(fault.Unavailable, "%w", err), c.otherPlace())
		return
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	var wide, mended []string
	level := "warning"
	for _, name := range names {
		fi, err := root.Lstat(name)
		if err != nil || !fi.IsDir() && !fi.Mode().IsRegular() || fi.Mode().Perm()&0o077 == 0 {
			continue // gone meanwhile, a link, or as it should be
		}
		if c.fix && root.Chmod(name, fi.Mode().Perm()&0o700) == nil {
			mended = append(mended, name)
			continue
		}
		wide = append(wide, fmt.Sprintf("%s (mode %04o)", filepath.Join(c.dir, name), fi.Mode().Perm()))
		if fi.Mode().Perm()&0o022 != 0 {
			level = "problem"
		}
	}
	f := a2a.Finding{Name: "modes", Level: "ok", Detail: "only you can read and write the data"}
	if len(mended) > 0 {
		f.Fixed = "took the rights of others from " + strings.Join(mended, ", ")
	}
	if len(wide) > 0 {
		f.Level, f.Fix = level, "agents doctor --fix, or: chmod -R go-rwx '"+c.dir+"'"
		f.Detail = "others can read or write " + strings.Join(wide, ", ")
	}
	c.add(f)
}

// leftovers finds what crashes leave behind: unfinished files and the locks of
// processes that died. None of it is in anybody's way; --fix removes it.
func (c *checkup) leftovers(ctx context.Context) {
	limit := c.now().Add(-leftAfter)
	n, size, err := c.unfinished(limit)
	if err == nil && c.blobs != nil {
		more, bytes, berr := c.blobs.Leftovers(ctx, limit)
		n, size, err = n+more, size+bytes, berr
		if err == nil && c.fix {
			_, err = c.blobs.Sweep(ctx, limit)
		}
	}
	if err != nil {
		c.problem("leftovers", err, "check the disk that holds "+c.dir)
		return
	}
	alive, stale, err := durable.Processes(filepath.Join(c.dir, "workers"), c.fix)
	if err != nil {
		c.problem("leftovers", err, "check the disk that holds "+c.dir)
		return
	}
	what := fmt.Sprintf("%d unfinished files (%d bytes), %d locks of dead processes", n, size, stale)
	f := a2a.Finding{Name: "leftovers", Level: "ok", Detail: fmt.Sprintf("none; %d processes are running", alive)}
	switch {
	case n == 0 && stale == 0:
	case c.fix:
		f.Fixed = "removed " + what
	default:
		f.Detail, f.Fix = what+", which crashes left; they do no harm", "agents doctor --fix"
	}
	c.add(f)
}

// unfinished finds temp files beside the database that nobody has written to
// since the time, and removes them when fixing.
func (c *checkup) unfinished(limit time.Time) (n int, size int64, err error) {
	root, err := os.OpenRoot(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fault.New(fault.Unavailable, "%w", err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return 0, 0, fault.New(fault.Unavailable, "%w", err)
	}
	for _, e := range entries {
		if !temporary(e.Name()) {
			continue
		}
		fi, err := root.Lstat(e.Name())
		if err != nil || !fi.Mode().IsRegular() || !fi.ModTime().Before(limit) {
			continue
		}
		n, size = n+1, size+fi.Size()
		if !c.fix {
			continue
		}
		if err := root.Remove(e.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return n, size, fault.New(fault.Unavailable, "%w", err)
		}
	}
	return n, size, nil
}

// temporary reports whether a file beside the database has the name of one that
// is made aside: a new database, the copy before a change of the schema, or the
// doctor's own probe.
func temporary(name string) bool {
	return strings.HasPrefix(name, ".new-") || strings.HasPrefix(name, probeName) ||
		strings.HasPrefix(name, "data.db.v") && strings.HasSuffix(name, ".bak.part")
}
