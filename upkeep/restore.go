package upkeep

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/store/sqlite"
)

// RestoreRequest says what is brought back.
type RestoreRequest struct {
	DataDir string
	File    string
	Replace bool // there may be data, which is set aside
	Now     time.Time
	Check   func(ctx context.Context, hash string, raw io.Reader) error // of one blob
}

// Restored is what a restore did.
type Restored struct {
	Head  Head
	Aside string // where the old data is, "" when there was none
}

// Restore puts a backup in the place of the data. The caller is the only user
// of the directory (Use.Alone). Nothing there changes before all of the backup
// is checked, copied and synced; data that is there is refused with
// fault.Waiting unless Replace is set.
func Restore(ctx context.Context, r RestoreRequest) (out Restored, err error) {
	in, err := os.Open(r.File)
	if errors.Is(err, fs.ErrNotExist) {
		return out, fault.New(fault.NotFound, "no file %s", r.File)
	}
	if err != nil {
		return out, fault.New(fault.Invalid, "%w", err)
	}
	defer in.Close()
	if fi, err := in.Stat(); err != nil || !fi.Mode().IsRegular() {
		return out, fault.New(fault.Invalid, "%s is not a regular file", r.File)
	}
	root, err := os.OpenRoot(r.DataDir)
	if err != nil {
		return out, unavailable("restore", err)
	}
	defer root.Close()
	there, err := holdsData(root)
	if err != nil {
		return out, err
	}
	if err := root.RemoveAll(stageName); err != nil {
		return out, unavailable("restore", err)
	}
	if out.Head, err = stage(ctx, root, in, r); err != nil {
		return out, errors.Join(err, root.RemoveAll(stageName))
	}
	if there && !r.Replace {
		return out, errors.Join(fault.New(fault.Waiting, "%s holds data, which the backup of %s would take the place of",
			r.DataDir, out.Head.Made.Format(time.RFC3339)).
			WithHint("agents db restore '%s' --yes keeps the old data in a directory beside it", r.File), root.RemoveAll(stageName))
	}
	m := marker{Whole: out.Head.Whole}
	if there || anything(root) {
		if m.Aside, err = freeName(root, asideName+r.Now.UTC().Format("20060102T150405Z")); err != nil {
			return out, errors.Join(err, root.RemoveAll(stageName))
		}
		out.Aside = filepath.Join(r.DataDir, m.Aside)
	}
	crash.Point("restore.staged")
	if err := m.save(root); err != nil { // from here on it is the new data
		return out, err
	}
	crash.Point("restore.marked")
	return out, finish(r.DataDir)
}

// freeName is the name, with a number behind it when something has it already:
// two restores can happen in one second.
func freeName(root *os.Root, name string) (string, error) {
	for n := 1; n <= 1000; n++ {
		free := name
		if n > 1 {
			free += "-" + strconv.Itoa(n)
		}
		switch _, err := root.Lstat(free); {
		case errors.Is(err, fs.ErrNotExist):
			return free, nil
		case err != nil:
			return "", unavailable("restore", err)
		}
	}
	return "", fault.New(fault.Exists, "%s is there already, and 999 more", filepath.Join(root.Name(), name)).
		WithHint("move those that you no longer need away")
}

// holdsData reports whether a restore would take the place of something.
func holdsData(root *os.Root) (bool, error) {
	for _, name := range []string{storeName, storeName + "-wal"} {
		fi, err := root.Lstat(name)
		if err == nil && fi.Size() > 0 {
			return true, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, unavailable("restore", err)
		}
	}
	return false, nil
}

// anything reports whether there is something to set aside.
func anything(root *os.Root) bool {
	for _, name := range append(old(), storeName, blobsName) {
		if _, err := root.Lstat(name); err == nil {
			return true
		}
	}
	return false
}

// stage checks the backup and lays its parts out beside the data.
func stage(ctx context.Context, root *os.Root, in io.Reader, r RestoreRequest) (h Head, err error) {
	if err := root.Mkdir(stageName, 0o700); err != nil {
		return h, unavailable("restore", err)
	}
	made := map[string]bool{}
	rd := reading{name: r.File, check: r.Check}
	rd.database = func(h Head) (io.WriteCloser, error) {
		latest, err := sqlite.Look(ctx, filepath.Join(r.DataDir, "none"), false)
		if err == nil && h.Schema > latest.Latest {
			err = newer(r.File, h.Schema, latest.Latest)
		}
		if err != nil {
			return nil, err
		}
		return create(root, stageName+"/"+storeName)
	}
	rd.blob = func(hash string) (io.WriteCloser, error) {
		dir := stageName + "/" + blobsName + "/" + hash[:2]
		if !made[dir] {
			if err := root.MkdirAll(dir, 0o700); err != nil {
				return nil, unavailable("restore", err)
			}
			made[dir] = true
		}
		return create(root, dir+"/"+hash)
	}
	if h, err = rd.read(ctx, in); err != nil {
		return h, err
	}
	if h.Whole {
		if err := root.MkdirAll(stageName+"/"+blobsName, 0o700); err != nil {
			return h, unavailable("restore", err)
		}
	}
	db := filepath.Join(r.DataDir, stageName, storeName)
	look, err := sqlite.Look(ctx, db, true)
	switch {
	case err != nil:
		return h, err
	case look.Schema > look.Latest:
		return h, newer(r.File, look.Schema, look.Latest)
	case look.Schema == 0:
		return h, rd.damaged("it holds no store")
	case len(look.Problems) > 0:
		return h, rd.damaged("%s", look.Problems[0])
	}
	if err := sqlite.Settle(ctx, db); err != nil {
		return h, err
	}
	return h, syncTree(root)
}

func newer(file string, has, knows int64) error {
	return fault.New(fault.Unavailable, "%s was written by a newer version of agents: its schema is %d, this one knows up to %d", file, has, knows).
		WithHint("use the newer version; nothing was changed")
}

// synced is a file that is on the disk when it is closed.
type synced struct{ *os.File }

// Close implements io.Closer.
func (s synced) Close() error { return errors.Join(s.Sync(), s.File.Close()) }

func create(root *os.Root, name string) (io.WriteCloser, error) {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, unavailable("restore", err)
	}
	return synced{f}, nil
}

// syncTree makes the names of what was staged durable; the files are.
func syncTree(root *os.Root) error {
	err := fs.WalkDir(root.FS(), stageName, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() || name == stageName+"/"+storeName { // SQLite wrote the store once more
			return syncName(root, name)
		}
		return nil
	})
	if err == nil {
		err = syncName(root, ".")
	}
	if err != nil {
		return unavailable("restore", err)
	}
	return nil
}

func syncName(root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
