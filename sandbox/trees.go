// Package sandbox isolates plans by copying: the backend "copy".
//
// Snapshot walks a resource and records a manifest: path, kind, mode, size and
// hash of everything but .git. The bytes are copied once a resource into a
// base directory, which later snapshots only bring up to date: a stat cache
// tells which files to read again. Before a file of the base is replaced, its
// old bytes go to the blob store, so that every older manifest can still be
// forked. Open copies a base, never the live tree, into a plan's own tree.
// Changes compares that tree with its manifest, Restore makes it what a
// checkpoint says, and Target carries changes into the live tree.
//
// Files are reached through os.Root and descriptors whose identity was
// checked; links are never followed, special files never opened, no inode is
// shared with the live tree, and no program is run: what a repository's .git
// says is never read. A state on disk is either whole or made again.
//
// It does not confine the tools that run in a tree, does not keep owners,
// extended attributes and hard links, and does not sync the trees it makes:
// after a power failure a damaged base is found by its stats and reported.
package sandbox

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/resource"
)

// Backend is the name that plan.Base carries for sandboxes of this package.
const Backend = "copy"

// Blobs is the blob store that a sandbox needs: that of the engine, batches,
// and streams for files that should not be held in memory.
type Blobs interface {
	engine.Blobs
	// PutAll stores every element and returns the hashes in the same order.
	PutAll(ctx context.Context, bs [][]byte) ([]string, error)
	// PutFrom stores what r gives and returns its hash and size.
	PutFrom(ctx context.Context, r io.Reader) (string, int64, error)
	// Mend is Put that writes the blob again when something is there, which may
	// be damaged.
	Mend(ctx context.Context, b []byte) (hash string, err error)
	// GetTo writes a blob to w; on an error w may have got wrong bytes.
	GetTo(ctx context.Context, hash string, w io.Writer) error
	// Touch keeps blobs that are files from being removed as unused for a
	// while, and reports which of them are there.
	Touch(ctx context.Context, hashes ...string) (map[string]bool, error)
}

// Config says where and how.
type Config struct {
	Dir      string // holds bases and plans; made with mode 0700
	Blobs    Blobs
	MaxFiles int // most entries of one tree; 0 means a million
	// Target, when set, ends an application that was cut short in a resource
	// before a snapshot of it, and waits for one that is under way.
	Target *Target
}

// Trees implements engine.Sandboxes. It is safe for concurrent use by several
// processes, as long as one plan is worked on by one of them.
type Trees struct{ cfg Config }

var _ engine.Sandboxes = (*Trees)(nil)

// New returns the sandboxes below cfg.Dir.
func New(cfg Config) *Trees {
	if cfg.MaxFiles == 0 {
		cfg.MaxFiles = 1_000_000
	}
	return &Trees{cfg}
}

// open returns the root of a directory below cfg.Dir, making it when absent.
func (t *Trees) open(name string) (*os.Root, error) {
	if err := os.MkdirAll(t.cfg.Dir, 0o700); err != nil {
		return nil, fault.New(fault.Unavailable, "sandboxes: %w", err)
	}
	top, err := os.OpenRoot(t.cfg.Dir)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "sandboxes: %w", err)
	}
	defer top.Close()
	if err := top.MkdirAll(name, 0o700); err != nil {
		return nil, fault.New(fault.Unavailable, "sandboxes: %w", err)
	}
	root, err := top.OpenRoot(name)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "sandboxes: %w", err)
	}
	return root, nil
}

// Remove deletes the plan's sandbox; none is not an error.
func (t *Trees) Remove(_ context.Context, id ident.PlanID) error {
	if err := checkID(string(id)); err != nil {
		return err
	}
	plans, err := t.open("plans")
	if err != nil {
		return err
	}
	defer plans.Close()
	return errors.Join(removeAll(plans, string(id)+".new"), removeAll(plans, string(id)))
}

// removeAll is Root.RemoveAll that also gets rid of directories which a tool
// made unreadable.
func removeAll(root *os.Root, name string) error {
	err := root.RemoveAll(name)
	if errors.Is(err, fs.ErrPermission) {
		loosen(root, name)
		err = root.RemoveAll(name)
	}
	if err != nil {
		return fault.New(fault.Unavailable, "remove %s: %w", filepath.Join(root.Name(), name), err)
	}
	return nil
}

func loosen(root *os.Root, name string) {
	fi, err := root.Lstat(name)
	if err != nil || !fi.IsDir() || root.Chmod(name, 0o700) != nil {
		return // RemoveAll reports it
	}
	sub, err := root.OpenRoot(name)
	if err != nil {
		return
	}
	defer sub.Close()
	names, err := readNames(sub)
	if err != nil {
		return
	}
	for _, n := range names {
		loosen(sub, n)
	}
}

// checkID refuses an id that would not be one path component.
func checkID(id string) error {
	if id == "" || strings.ContainsFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '-' && r != '_'
	}) {
		return fault.New(fault.Invalid, "%q is not an id", id)
	}
	return nil
}

// openLive opens the directory of a resource after refusing one that holds the
// sandboxes or lies in them, and a bare repository.
func (t *Trees) openLive(r resource.Resource) (*os.Root, error) {
	if !filepath.IsAbs(r.Location) {
		return nil, fault.New(fault.Invalid, "resource %s: location %q is not an absolute path", r.Name, r.Location)
	}
	root, err := os.OpenRoot(r.Location)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "resource %s: there is no directory %s", r.Name, r.Location)
	}
	if err != nil {
		return nil, fault.New(fault.Invalid, "resource %s: %w", r.Name, err)
	}
	if err := t.refuse(r, root); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

func (t *Trees) refuse(r resource.Resource, root *os.Root) error {
	if within(t.cfg.Dir, r.Location) || within(r.Location, t.cfg.Dir) {
		return fault.New(fault.Invalid, "resource %s: %s and the sandboxes in %s lie in each other", r.Name, r.Location, t.cfg.Dir).
			WithHint("register a directory beside it, or move the state directory")
	}
	if r.Type == resource.GitCheckout && bare(root) {
		return fault.New(fault.Invalid, "resource %s: %s is a bare repository, which has no files to work on", r.Name, r.Location).
			WithHint("register a checkout of it")
	}
	return nil
}

// within reports whether path is dir or below it, by identity of directories,
// so that links and letter case make no difference.
func within(path, dir string) bool {
	di, err := os.Stat(dir)
	if err != nil {
		return false
	}
	if path, err = filepath.Abs(path); err != nil {
		return false
	}
	resolved := false
	for {
		fi, err := os.Stat(path)
		if err == nil && os.SameFile(fi, di) {
			return true
		}
		if err == nil && !resolved { // the deepest part that exists
			resolved = true
			if real, err := filepath.EvalSymlinks(path); err == nil {
				path = real
			}
		}
		up := filepath.Dir(path)
		if up == path {
			return false
		}
		path = up
	}
}

func bare(root *os.Root) bool {
	if _, err := root.Lstat(".git"); err == nil {
		return false
	}
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := root.Lstat(name); err != nil {
			return false
		}
	}
	return true
}
