package secret

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/cleveragents/agents/fault"
)

// readFile returns the text of a key file. The file is looked at through the
// same handle that it is read by, so that nobody can exchange it in between.
func (s *Store) readFile(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if s.home == "" {
			return "", fault.New(fault.Unavailable, "key file %s: there is no home directory here", path).WithHint("write the whole path")
		}
		path = filepath.Join(s.home, rest)
	}
	if !filepath.IsAbs(path) {
		return "", fault.New(fault.Invalid, "key file %s is not an absolute path", path)
	}
	if filepath.Dir(path) == filepath.Clean(path) {
		return "", notRegular(path, fs.ModeDir)
	}
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return "", absent(path, err)
	}
	defer dir.Close()
	if err := checkDir(dir, filepath.Dir(path)); err != nil {
		return "", err
	}
	named, err := dir.Lstat(filepath.Base(path))
	if err != nil {
		return "", absent(path, err)
	}
	if !named.Mode().IsRegular() { // before it is opened: opening a device can do something
		return "", notRegular(path, named.Mode())
	}
	f, err := dir.OpenFile(filepath.Base(path), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", absent(path, err)
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return "", absent(path, err)
	}
	if !os.SameFile(named, opened) {
		return "", fault.New(fault.Blocked, "key file %s was exchanged while it was opened", path)
	}
	if err := checkFile(path, opened); err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxKey+1))
	if err != nil {
		return "", absent(path, err)
	}
	if len(b) > MaxKey {
		return "", fault.New(fault.Denied, "key file %s is larger than %d bytes: it is not a key", path, MaxKey)
	}
	return string(b), nil
}

// absent turns an error of the file system into ours.
func absent(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fault.New(fault.Blocked, "key file %s: %w", path, err).WithHint("run: chmod 600 %s, as its owner", shellQuote(path))
	}
	return fault.New(fault.Unavailable, "key file %s: %w", path, err).
		WithCode("NoKey").WithHint("write the key into it, then run: chmod 600 %s", shellQuote(path))
}

func notRegular(path string, m fs.FileMode) error {
	if m&fs.ModeSymlink != 0 {
		return fault.New(fault.Blocked, "key file %s is a link", path).WithHint("name the file that it leads to")
	}
	return fault.New(fault.Blocked, "key file %s is not a regular file", path)
}

// checkDir refuses a directory in which somebody else could exchange the file.
func checkDir(dir *os.Root, path string) error {
	info, err := dir.Stat(".")
	if err != nil {
		return absent(path, err)
	}
	if info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return fault.New(fault.Blocked, "others can exchange the files of %s (mode %04o)", path, info.Mode().Perm()).
			WithHint("run: chmod go-w %s", shellQuote(path))
	}
	return nil
}

func checkFile(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return notRegular(path, info.Mode())
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != os.Geteuid() {
		return fault.New(fault.Blocked, "key file %s belongs to user %d, not to you", path, sys.Uid).
			WithHint("make a copy of your own with mode 0600")
	}
	if info.Mode().Perm()&^0o600 != 0 {
		return fault.New(fault.Blocked, "key file %s is not private (mode %04o, at most 0600)", path, info.Mode().Perm()).
			WithHint("run: chmod 600 %s; if others could read it, the key should be replaced", shellQuote(path))
	}
	return nil
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
