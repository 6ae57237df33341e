package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/cleveragents/agents/cli"
	"github.com/cleveragents/agents/decode"
	"github.com/cleveragents/agents/fault"
)

// readFile reads a file that a person named: a regular one, and not more than
// one byte over what a configuration may have. It never waits for a pipe.
func readFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(fault.Invalid, "%s is not a regular file", path).
			WithHint("write - to read what comes through a pipe")
	}
	return io.ReadAll(io.LimitReader(f, decode.MaxBytes+1))
}

// openFile opens a file that a person named: a regular one, without waiting for
// a pipe.
func openFile(path string) (io.ReadSeekCloser, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "no file %s", path)
	}
	if err != nil {
		return nil, fault.New(fault.Invalid, "%w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New(path + " is not a regular file")
	}
	if err != nil {
		return nil, errors.Join(fault.New(fault.Invalid, "%w", err), f.Close())
	}
	return f, nil
}

// newFile is a file that only its owner reads until it is given on.
type newFile struct{ *os.File }

// createFile makes a file that a person named; one that is there is left alone.
func createFile(path string) (cli.NewFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, fault.New(fault.Exists, "%s is there already", path).WithHint("choose another file with -o")
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.NotFound, "the directory of %s is not there", path)
	case err != nil:
		return nil, fault.New(fault.Invalid, "%w", err)
	}
	return newFile{f}, nil
}

// Close implements cli.NewFile.
func (f newFile) Close() error { return errors.Join(f.Sync(), f.File.Close()) }

// Discard implements cli.NewFile.
func (f newFile) Discard() {
	_ = f.File.Close()
	_ = os.Remove(f.Name()) // what cannot be removed is a file that no import takes
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
