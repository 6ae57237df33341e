package upkeep

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/fault"
)

// The swap. The marker is written when everything staged is durable; before it
// a restore has not happened, after it it has, and finish does what is left. The
// staged database is moved last: as long as it is there, whatever lies in the
// places of the old data is old and moves aside, or was moved already. Every
// step is one rename and is right to do again.

// marker is the record of a restore that is not finished.
type marker struct {
	Aside string `json:"aside"` // directory that the old data goes to, "" for none
	Whole bool   `json:"whole"` // the blobs are replaced, too
}

func (m marker) save(root *os.Root) error {
	b, err := json.Marshal(m)
	if err != nil {
		return fault.New(fault.Internal, "restore: %w", err)
	}
	part := markerName + ".part"
	if err := root.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unavailable("restore", err)
	}
	f, err := create(root, part)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(part, markerName)
	}
	if err == nil {
		err = syncName(root, ".")
	}
	if err != nil {
		return unavailable("restore", err)
	}
	return nil
}

// finish does what is left of a restore whose marker is written. The caller is
// the only user of the directory.
func finish(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return unavailable("finish the restore", err)
	}
	defer root.Close()
	b, err := root.ReadFile(markerName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return unavailable("finish the restore", err)
	}
	var m marker
	if err := json.Unmarshal(b, &m); err != nil || m.Aside != "" && (!strings.HasPrefix(m.Aside, asideName) || strings.Contains(m.Aside, "/")) {
		return fault.New(fault.Corrupt, "%s/%s is damaged: a restore was cut short", dir, markerName).
			WithHint("move the file away, then restore again")
	}
	s := swap{root, m}
	if err := s.run(); err != nil {
		return unavailable("finish the restore", err)
	}
	return nil
}

type swap struct {
	root *os.Root
	m    marker
}

// old are the names that only a store of its own time may lie beside: the log of
// the database, the records of runs and the sandboxes of plans.
func old() []string {
	return []string{
		storeName + "-wal", storeName + "-shm", "engine.db", "engine.db-wal", "engine.db-shm", "trees/plans",
	}
}

func (s swap) run() error {
	if s.there(stageName + "/" + storeName) {
		for _, name := range old() {
			if err := s.aside(name); err != nil {
				return err
			}
		}
		if s.m.Whole && s.there(stageName+"/"+blobsName) {
			if err := s.replace(blobsName); err != nil {
				return err
			}
		}
		if err := s.replace(storeName); err != nil {
			return err
		}
	}
	crash.Point("restore.swapped")
	if err := s.root.Remove(markerName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	crash.Point("restore.unmarked")
	return errors.Join(s.root.RemoveAll(stageName), syncName(s.root, "."))
}

// replace moves what is old aside and what is staged into its place.
func (s swap) replace(name string) error {
	if err := s.aside(name); err != nil {
		return err
	}
	if err := s.root.Rename(stageName+"/"+name, name); err != nil {
		return err
	}
	crash.Point("restore.placed")
	return syncName(s.root, ".")
}

// aside moves something old away. Without a place for it there was nothing when
// the restore began.
func (s swap) aside(name string) error {
	if !s.there(name) {
		return nil
	}
	if s.m.Aside == "" {
		return fault.New(fault.Conflict, "%s/%s came while a restore was at work", s.root.Name(), name).WithHint("move it away, then try again")
	}
	to := s.m.Aside + "/" + name
	if err := s.root.MkdirAll(path.Dir(to), 0o700); err != nil {
		return err
	}
	if err := s.root.Rename(name, to); err != nil {
		return err
	}
	crash.Point("restore.aside")
	return errors.Join(syncName(s.root, s.m.Aside), syncName(s.root, "."))
}

func (s swap) there(name string) bool {
	_, err := s.root.Lstat(name)
	return err == nil
}
