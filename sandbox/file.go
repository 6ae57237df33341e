package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/cleveragents/agents/fault"
)

var (
	errThroughLink = errors.New("the path leads through a symbolic link")
	errNotDir      = errors.New("a parent of the path is not a directory")
	errNotFile     = errors.New("not a regular file")
)

// descend opens a directory of the tree component by component, following no
// link and making sure of the identity of each.
func descend(root *os.Root, dir string) (*os.Root, error) {
	at, err := root.OpenRoot(".")
	if err != nil || dir == "." {
		return at, err
	}
	for name := range strings.SplitSeq(dir, "/") {
		sub, err := step(at, name)
		err = errors.Join(err, at.Close())
		if err != nil {
			if sub != nil {
				err = errors.Join(err, sub.Close())
			}
			return nil, err
		}
		at = sub
	}
	return at, nil
}

func step(at *os.Root, name string) (*os.Root, error) {
	fi, err := at.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case fi.Mode()&os.ModeSymlink != 0:
		return nil, errThroughLink
	case !fi.IsDir():
		return nil, errNotDir
	}
	sub, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if got, err := sub.Lstat("."); err != nil || !os.SameFile(fi, got) {
		return nil, errors.Join(errThroughLink, err, sub.Close())
	}
	return sub, nil
}

// at calls f with the parent directory of p and the last part of p.
func at(root *os.Root, p string, f func(parent *os.Root, name string) error) error {
	parent, err := descend(root, path.Dir(p))
	if err != nil {
		return err
	}
	defer parent.Close()
	return f(parent, path.Base(p))
}

// openFile opens the regular file called name. It never waits for the other
// end of a pipe and never returns what a link points to: the descriptor must
// be of the inode that want, or a fresh lstat, describes. The stamp is of the
// descriptor, taken before anything is read.
func openFile(dir *os.Root, name string, want stamp) (*os.File, stamp, error) {
	for range 3 {
		f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return nil, stamp{}, err
		}
		fi, err := f.Stat()
		if err != nil {
			return nil, stamp{}, errors.Join(err, f.Close())
		}
		if got := stampOf(fi); fi.Mode().IsRegular() && got.sameFile(want) {
			return f, got, nil
		}
		if err := f.Close(); err != nil {
			return nil, stamp{}, err
		}
		// Replaced since it was seen, perhaps by an editor: look again.
		if want, err = lstatFile(dir, name); err != nil {
			return nil, stamp{}, err
		}
	}
	return nil, stamp{}, fault.New(fault.Busy, "%s is being replaced while it is read", name)
}

func lstatFile(dir *os.Root, name string) (stamp, error) {
	fi, err := dir.Lstat(name)
	if err != nil {
		return stamp{}, err
	}
	if !fi.Mode().IsRegular() {
		return stamp{}, errNotFile
	}
	return stampOf(fi), nil
}

// byDir calls f for each directory of the entries that keep accepts, with the
// entries that lie in it, on several goroutines. f gets a buffer of its own.
func byDir(ctx context.Context, es []*entry, f func(dir string, in []*entry, buf []byte) error) error {
	dirs := map[string][]*entry{}
	var order []string
	for _, e := range es {
		d := path.Dir(e.path)
		if dirs[d] == nil {
			order = append(order, d)
		}
		dirs[d] = append(dirs[d], e)
	}
	todo := make(chan string, len(order))
	for _, d := range order {
		todo <- d
	}
	close(todo)
	g, ctx := errgroup.WithContext(ctx)
	for range min(workers, len(order)) {
		g.Go(func() error {
			buf := make([]byte, 256<<10)
			for d := range todo {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := f(d, dirs[d], buf); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// copyAll copies src to dst up to its end, through h too unless that is nil.
func copyAll(ctx context.Context, dst io.Writer, src *os.File, h hash.Hash, buf []byte) (int64, error) {
	var n int64
	for {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		k, err := src.Read(buf)
		if k > 0 {
			if h != nil {
				h.Write(buf[:k]) // a hash never fails
			}
			if _, err := dst.Write(buf[:k]); err != nil {
				return n, err
			}
			n += int64(k)
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// hashFile returns the hash and size of a regular file and the stamp it had
// before it was read.
func hashFile(ctx context.Context, dir *os.Root, name string, want stamp, buf []byte) (d digest, n int64, s stamp, err error) {
	f, s, err := openFile(dir, name, want)
	if err != nil {
		return d, 0, s, err
	}
	h := sha256.New()
	n, err = copyAll(ctx, io.Discard, f, h, buf)
	h.Sum(d[:0])
	return d, n, s, errors.Join(err, f.Close())
}

// tempName is where writeFile prepares name. It depends on name alone, so that
// writing again cleans up after a crash.
func tempName(name string) string { return ".agents-" + sum([]byte(name)).String()[:16] + ".tmp" }

// writer prepares a file beside its place.
type writer struct {
	mode    uint32
	owner   func(*os.File) error // or nil
	fill    func(*os.File) error
	sync    bool
	confirm func() error // asked last, before the file takes its place; or nil
}

// writeFile makes dir/name what w says by a rename, or leaves it as it was and
// no temp file behind.
func writeFile(dir *os.Root, name string, w writer) error {
	temp := tempName(name)
	f, err := create(dir, temp)
	if err != nil {
		return err
	}
	err = w.prepare(f)
	err = errors.Join(err, f.Close())
	if err == nil && w.confirm != nil {
		err = w.confirm()
	}
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, dir.Remove(temp))
	}
	if w.sync {
		return syncDir(dir)
	}
	return nil
}

func (w writer) prepare(f *os.File) error {
	if err := w.fill(f); err != nil {
		return err
	}
	if w.owner != nil {
		if err := w.owner(f); err != nil {
			return err
		}
	}
	if err := f.Chmod(os.FileMode(w.mode & 0o777)); err != nil {
		return err
	}
	if w.sync {
		return f.Sync()
	}
	return nil
}

// create makes a file that nothing else can have open, after removing what a
// crash left at its name.
func create(dir *os.Root, name string) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL | syscall.O_NONBLOCK
	f, err := dir.OpenFile(name, flags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if err := dir.Remove(name); err != nil {
			return nil, err
		}
		f, err = dir.OpenFile(name, flags, 0o600)
	}
	return f, err
}

// writeLink makes dir/name a link to target by a rename.
func writeLink(dir *os.Root, name, target string, sync bool, confirm func() error) error {
	temp := tempName(name)
	err := dir.Symlink(target, temp)
	if errors.Is(err, fs.ErrExist) {
		if err := dir.Remove(temp); err != nil {
			return err
		}
		err = dir.Symlink(target, temp)
	}
	if err != nil {
		return err
	}
	if confirm != nil {
		err = confirm()
	}
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, dir.Remove(temp))
	}
	if sync {
		return syncDir(dir)
	}
	return nil
}

func syncDir(dir *os.Root) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
