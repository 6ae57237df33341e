package main

import (
	"io"
	"os"
	"syscall"

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

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
