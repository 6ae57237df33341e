package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// gitDir finds the directory of the repository that a directory belongs to, by
// looking and never by asking git: "" for none. Prefix is the way from the top
// of the work tree to the directory.
func gitDir(location string) (dir, prefix string, err error) {
	for top := location; ; top = filepath.Dir(top) {
		dir, err := gitDirAt(top)
		if err != nil {
			return "", "", err
		}
		if dir != "" {
			prefix, err := filepath.Rel(top, location)
			return dir, filepath.ToSlash(prefix), err
		}
		if top == filepath.Dir(top) {
			return "", "", nil
		}
	}
}

func gitDirAt(top string) (string, error) {
	root, err := os.OpenRoot(top)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer root.Close()
	fi, err := root.Lstat(".git")
	switch {
	case err != nil:
		return "", nil
	case fi.IsDir():
		return filepath.Join(top, ".git"), nil
	case !fi.Mode().IsRegular():
		return "", nil
	}
	f, _, err := openFile(root, ".git", stampOf(fi))
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
	if !ok {
		return "", nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(top, dir)
	}
	return dir, nil
}

// gitAtRest is fault.Busy while git holds the lock of its index.
func gitAtRest(location string) error {
	dir, _, err := gitDir(location)
	if err != nil || dir == "" {
		return err
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Lstat("index.lock"); err == nil {
		return gitLocked(filepath.Join(dir, "index.lock"))
	}
	return nil
}
