// Package file reads and replaces the files of package config.
//
// The person's file is read whole and replaced whole: Update holds a lock beside
// it, hands its text to a function, writes the outcome to a new file of the same
// directory and renames that over the old one, so that a reader sees the old
// text or the new one. A link to the file is followed, since people keep such
// files elsewhere; the link stays.
//
// The file among a project's own files is hostile: it is opened below the
// project's root only, without following links, and only when it is a regular
// file. It is never written.
//
// It does not promise that a program that ignores the lock, such as an editor,
// writes nothing at the same time: Update then replaces what that wrote.
package file

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cleveragents/agents/config"
	"github.com/cleveragents/agents/fault"
)

// InTree is where a project keeps its file, below its root.
const InTree = ".agents/config.toml"

// patience is how long Update waits for another writer.
const patience = 5 * time.Second

// Read returns the text of the person's file, nil when there is none.
func Read(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "read the configuration: %w", err)
	}
	defer f.Close()
	return readAll(f, path)
}

func readAll(f *os.File, path string) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fault.New(fault.Unavailable, "read the configuration: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(fault.Invalid, "%s is not a regular file", path)
	}
	b, err := io.ReadAll(io.LimitReader(f, config.MaxBytes+1)) // one more, so that Parse refuses it
	if err != nil {
		return nil, fault.New(fault.Unavailable, "read the configuration: %w", err)
	}
	return b, nil
}

// Tree returns the text of the file that came with the project at root, nil when
// there is none, and its path.
func Tree(root string) (text []byte, path string, err error) {
	path = filepath.Join(root, InTree)
	r, err := os.OpenRoot(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, path, nil
	}
	if err != nil {
		return nil, path, fault.New(fault.Unavailable, "read %s: %w", path, err)
	}
	defer r.Close()
	for _, name := range []string{filepath.Dir(InTree), InTree} {
		info, err := r.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, path, nil
		case err != nil:
			return nil, path, fault.New(fault.Unavailable, "read %s: %w", path, err)
		case name == InTree && !info.Mode().IsRegular(), name != InTree && !info.IsDir():
			if name != InTree && info.Mode().IsRegular() {
				return nil, path, nil // somebody's file of that name
			}
			return nil, path, fault.New(fault.Invalid, "%s: %s is a link or no regular file, which is not followed", path, name)
		}
	}
	f, err := r.OpenFile(InTree, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, path, fault.New(fault.Unavailable, "read %s: %w", path, err)
	}
	defer f.Close()
	text, err = readAll(f, path)
	return text, path, err
}

// Update replaces the text of the person's file by what edit makes of it. When
// edit fails or changes nothing, nothing is written.
func Update(ctx context.Context, path string, edit func(old []byte) ([]byte, error)) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fault.New(fault.Unavailable, "write the configuration: %w", err)
	}
	unlock, err := lock(ctx, path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	old, err := Read(path)
	if err != nil {
		return err
	}
	text, err := edit(old)
	if err != nil || string(text) == string(old) {
		return err
	}
	if err := replace(dir, path, text); err != nil {
		return fault.New(fault.Unavailable, "write the configuration: %w", err)
	}
	return nil
}

// replace writes a new file and renames it over path. The mode stays.
func replace(dir, path string, text []byte) (err error) {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(dir, ".config-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	if _, err := f.Write(text); err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(mode), f.Sync()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	_ = f.Close() // it was synced
	d, err := os.Open(dir)
	if err != nil {
		return nil // the file is there; only a loss of power could take it back
	}
	_ = d.Sync()
	return d.Close()
}

// lock waits for other writers. The lock file stays: removing it would let two
// in at once.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "lock the configuration: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	retry := time.NewTicker(5 * time.Millisecond)
	defer retry.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil // closing frees the lock
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = f.Close()
			return nil, fault.New(fault.Unavailable, "lock %s: %w", path, err)
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			_ = f.Close()
			return nil, fault.New(fault.Busy, "another process changes the configuration (%s)", path).WithHint("try again")
		}
	}
}
