package builtin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/cleveragents/agents/fault"
)

// maxFile is the largest file that a file tool takes into memory.
const maxFile = 16 << 20

const maxPath = 4096

// view is a sandbox seen through a root that can only be looked through. The
// tools that are declared read-only get nothing else, so there is no call by
// which one of them could write, whatever it is asked for.
type view struct{ sight sight }

// sight is the reading half of an os.Root. It follows links no more than that.
type sight struct{ root *os.Root }

func (s sight) Lstat(p string) (fs.FileInfo, error) { return s.root.Lstat(p) }
func (s sight) Readlink(p string) (string, error)   { return s.root.Readlink(p) }

// Open opens a file, or with syscall.O_DIRECTORY a directory, for reading and
// without waiting for the other end of a pipe.
func (s sight) Open(p string, more int) (*os.File, error) {
	return s.root.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK|more&syscall.O_DIRECTORY, 0)
}

// tree is a sandbox that can be written, too.
type tree struct {
	view
	root *os.Root
}

func newTree(root *os.Root) tree { return tree{view{sight{root}}, root} }

// clean checks a path of a caller and returns its shortest form, slash
// separated and relative to the root; "." is the root itself.
func clean(p string) (string, error) {
	switch {
	case p == "":
		return "", fault.New(fault.Invalid, "the path is empty")
	case len(p) > maxPath:
		return "", fault.New(fault.Invalid, "the path is longer than %d bytes", maxPath)
	case strings.ContainsRune(p, 0) || !utf8.ValidString(p):
		return "", fault.New(fault.Invalid, "the path %q is not a valid name", p)
	case strings.HasPrefix(p, "/"):
		return "", fault.New(fault.Denied, "%s is an absolute path", show(p)).
			WithHint("give the path relative to the project's root, such as src/main.go")
	}
	c := path.Clean(p)
	if !filepath.IsLocal(c) {
		return "", fault.New(fault.Denied, "%s leads out of the project", show(p))
	}
	for part := range strings.SplitSeq(c, "/") {
		if isGit(part) {
			return "", fault.New(fault.Denied, "%s is inside .git, which file tools do not touch", show(p))
		}
	}
	return c, nil
}

// isGit reports whether some file system takes a name for .git: any letter
// case, ignorable characters (HFS+), trailing dots, spaces or a stream, and
// the short form (NTFS).
func isGit(name string) bool {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}

// lookup returns what is at a clean path, without following it. A symbolic
// link on the way there is refused.
func (t view) lookup(p string) (fs.FileInfo, error) {
	for i, c := range p {
		if c != '/' {
			continue
		}
		info, err := t.sight.Lstat(p[:i])
		switch {
		case err != nil:
			return nil, fsFault(p[:i], err)
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, t.linkFault(p[:i])
		case !info.IsDir():
			return nil, fault.New(fault.NotFound, "%s is not a directory", show(p[:i]))
		}
	}
	info, err := t.sight.Lstat(p)
	if err != nil {
		return nil, fsFault(p, err)
	}
	return info, nil
}

// regular is lookup for a path that has to be a file.
func (t view) regular(p string) (fs.FileInfo, error) {
	info, err := t.lookup(p)
	if err != nil {
		return nil, err
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return info, nil
	case mode.IsDir():
		return nil, fault.New(fault.Invalid, "%s is a directory", show(p)).WithHint("use list to see what is in it")
	case mode&fs.ModeSymlink != 0:
		return nil, t.linkFault(p)
	default:
		return nil, fault.New(fault.Denied, "%s is a %s, not a file", show(p), kind(mode))
	}
}

func (t view) linkFault(p string) error {
	target, err := t.sight.Readlink(p)
	if err != nil {
		return fsFault(p, err)
	}
	return fault.New(fault.Denied, "%s is a symbolic link to %s, and links are not followed", show(p), show(target)).
		WithHint("name the target itself when it is inside the project")
}

// open opens a regular file that lookup saw as info and makes sure that it is
// still the same: between the two somebody may have put a pipe or a link there.
func (t view) open(p string, info fs.FileInfo) (*os.File, fs.FileInfo, error) {
	f, err := t.sight.Open(p, 0)
	if err != nil {
		return nil, nil, fsFault(p, err)
	}
	now, err := f.Stat()
	if err != nil || !os.SameFile(info, now) {
		f.Close()
		return nil, nil, fault.New(fault.Conflict, "%s was replaced while it was opened", show(p))
	}
	return f, now, nil
}

// read returns the whole of a regular file of at most maxFile bytes.
func (t view) read(p string) ([]byte, fs.FileInfo, error) {
	seen, err := t.regular(p)
	if err != nil {
		return nil, nil, err
	}
	f, info, err := t.open(p, seen)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	tooLarge := fault.New(fault.Exhausted, "%s has %d bytes; file tools take at most %d", show(p), info.Size(), maxFile).
		WithHint("look at a part of it with the shell, such as head, tail or sed -n")
	if info.Size() > maxFile {
		return nil, nil, tooLarge
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, nil, fsFault(p, err)
	}
	if len(b) > maxFile {
		return nil, nil, tooLarge
	}
	return b, info, nil
}

// write puts a file in place of what is at p: a temporary file beside it, then
// a rename, so that a reader sees the old bytes or the new ones, a hard link to
// the old file keeps the old bytes, and a link put there meanwhile is replaced
// and not followed. It is not synced: a sandbox is restored from the records.
func (t tree) write(p string, data []byte, mode fs.FileMode) error {
	if err := t.mkdirs(path.Dir(p)); err != nil {
		return err
	}
	f, temp, err := t.temp(path.Dir(p))
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode.Perm())
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = t.root.Rename(temp, p)
	}
	if err != nil {
		t.root.Remove(temp)
		return fsFault(p, err)
	}
	return nil
}

// temp makes a new file in dir. A leftover of an earlier run only costs a name.
func (t tree) temp(dir string) (*os.File, string, error) {
	for n := range 1000 {
		name := path.Join(dir, fmt.Sprintf(".agents-%d.tmp", n))
		f, err := t.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, "", fsFault(dir, err)
		}
		return f, name, nil
	}
	return nil, "", fault.New(fault.Exhausted, "%s is full of temporary files", show(dir))
}

// mkdirs makes a clean path and what is missing above it.
func (t tree) mkdirs(dir string) error {
	if dir == "." {
		return nil
	}
	info, err := t.lookup(dir)
	switch {
	case fault.Is(err, fault.NotFound):
		if err := t.mkdirs(path.Dir(dir)); err != nil {
			return err
		}
		if err := t.root.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fsFault(dir, err)
		}
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return t.linkFault(dir)
	case !info.IsDir():
		return fault.New(fault.Exists, "%s is a %s, so nothing can be put under it", show(dir), kind(info.Mode()))
	}
	return nil
}

// fsFault gives an error of the file system its kind.
func fsFault(p string, err error) error {
	var pe *fs.PathError
	cause := err
	if errors.As(err, &pe) {
		cause = pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		cause = le.Err
	}
	k := fault.Unavailable
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fault.New(fault.NotFound, "%s is not there", show(p))
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ELOOP),
		strings.Contains(err.Error(), "path escapes"): // os does not export that error
		k = fault.Denied
	case errors.Is(err, fs.ErrExist):
		k = fault.Exists
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EMFILE):
		k = fault.Exhausted
	case errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EINVAL):
		k = fault.Invalid
	}
	return fault.New(k, "%s: %w", show(p), cause)
}

// kind is the word for what is at a path.
func kind(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "file"
	case m.IsDir():
		return "directory"
	case m&fs.ModeSymlink != 0:
		return "link"
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

// show returns a name as it is when it is plain, else quoted, so that a line
// break or an escape in a name cannot pass for something else.
func show(name string) string {
	for _, r := range name {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return strconv.Quote(name)
		}
	}
	return name
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
