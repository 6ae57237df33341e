// Package gitrepo reads a git repository as what it is, files, and makes the
// bytes of a commit.
//
// No git program runs and nothing of the repository's configuration is obeyed:
// hooks, filters, signing programs and lazy fetches do not exist here. Loose
// objects and packs are read by their formats, through os.Root; new objects,
// the new index and the new value of a reference are returned as bytes, and who
// asked writes them.
//
// It does not know repositories in SHA-256 or with reftables, split or sparse
// indexes, and says so. A file that git would convert on its way in (a filter,
// line endings) is refused and not guessed at.
package gitrepo

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/cleveragents/agents/fault"
)

// maxSmall bounds the files of a repository that are read whole, but for its
// index and objects.
const maxSmall = 16 << 20

// Repo is an open repository. It belongs to one goroutine.
type Repo struct {
	Dir    string // of this work tree: HEAD and the index
	Common string // of all work trees: objects and references
	Top    string // of the work tree
	git    *os.Root
	common *os.Root
	stores []*store
	config Config
}

// Open opens the repository whose directory is dir and whose work tree is top.
func Open(dir, top string) (r *Repo, err error) {
	r = &Repo{Dir: dir, Common: dir, Top: top}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	if r.git, err = os.OpenRoot(dir); err != nil {
		return r, unusable(dir, err)
	}
	if b, err := small(r.git, "commondir"); err == nil {
		r.Common = strings.TrimSpace(string(b))
		if !filepath.IsAbs(r.Common) {
			r.Common = filepath.Join(dir, r.Common)
		}
	}
	if r.common, err = os.OpenRoot(r.Common); err != nil {
		return r, unusable(dir, err)
	}
	b, err := small(r.common, "config")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, unusable(dir, err)
	}
	r.config = parseConfig(b)
	if f := r.config.Get("extensions.objectformat"); f != "" && f != "sha1" {
		return r, unknown(dir, "its objects are named by "+f)
	}
	if f := r.config.Get("extensions.refstorage"); f != "" && f != "files" {
		return r, unknown(dir, "its references are kept as "+f)
	}
	if r.stores, err = openStores(r.common); err != nil {
		return r, unusable(dir, err)
	}
	return r, nil
}

// Close closes the repository.
func (r *Repo) Close() {
	for _, s := range r.stores {
		s.close()
	}
	for _, root := range []*os.Root{r.git, r.common} {
		if root != nil {
			root.Close()
		}
	}
}

func unusable(dir string, err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return err
	}
	return fault.New(fault.Unavailable, "the repository %s: %w", dir, err)
}

func unknown(dir, why string) error {
	return fault.New(fault.NotImplemented, "no commit can be made in %s: %s", dir, why).
		WithHint("apply --as files, and commit yourself")
}

// small reads a file of bounded size that is no link and no pipe.
func small(root *os.Root, name string) ([]byte, error) { return readFile(root, name, maxSmall) }

func readFile(root *os.Root, name string, limit int64) ([]byte, error) {
	fi, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > limit {
		return nil, fault.New(fault.Corrupt, "%s is no file of a repository", path.Join(root.Name(), name))
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, limit))
	return b, errors.Join(err, f.Close())
}

// Head is where HEAD points: to a branch, or with Ref "HEAD" to a commit.
type Head struct {
	Ref    string // refs/heads/..., or HEAD
	Commit string // "" for a branch without commits
}

// Head reads HEAD.
func (r *Repo) Head() (Head, error) {
	b, err := small(r.git, "HEAD")
	if err != nil {
		return Head{}, unusable(r.Dir, err)
	}
	text := strings.TrimSpace(string(b))
	ref, ok := strings.CutPrefix(text, "ref: ")
	if !ok {
		if !isID(text) {
			return Head{}, unknown(r.Dir, "its HEAD cannot be read")
		}
		return Head{"HEAD", text}, nil
	}
	if !ValidRef(ref) {
		return Head{}, unknown(r.Dir, "its HEAD names "+ref)
	}
	id, err := r.Ref(ref)
	return Head{ref, id}, err
}

// Ref returns the value of a reference, "" when it is not there.
func (r *Repo) Ref(name string) (string, error) {
	if name == "HEAD" {
		b, err := small(r.git, name)
		return strings.TrimSpace(string(b)), err
	}
	if !ValidRef(name) {
		return "", fault.New(fault.Invalid, "%q is not the name of a branch", strings.TrimPrefix(name, "refs/heads/"))
	}
	b, err := small(r.common, name)
	if err == nil {
		id := strings.TrimSpace(string(b))
		if !isID(id) {
			return "", unknown(r.Dir, name+" is not a plain reference")
		}
		return id, nil
	}
	if !absent(err) {
		return "", unusable(r.Dir, err)
	}
	b, err = small(r.common, "packed-refs")
	if absent(err) {
		return "", nil
	}
	if err != nil {
		return "", unusable(r.Dir, err)
	}
	lines := bufio.NewScanner(bytes.NewReader(b))
	for lines.Scan() {
		if id, ref, ok := strings.Cut(lines.Text(), " "); ok && ref == name && isID(id) {
			return id, nil
		}
	}
	return "", lines.Err()
}

func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Busy names what is under way in the repository that a commit of ours would
// disturb, "" for nothing.
func (r *Repo) Busy() string {
	for name, what := range map[string]string{
		"MERGE_HEAD": "a merge", "CHERRY_PICK_HEAD": "a cherry-pick", "REVERT_HEAD": "a revert",
		"rebase-merge": "a rebase", "rebase-apply": "a rebase",
	} {
		if _, err := r.git.Lstat(name); err == nil {
			return what
		}
	}
	return ""
}

func isID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 20 && strings.ToLower(s) == s
}

// ValidRef reports whether git would take a name for a branch, as refs/heads/x.
// Such a name is a clean path below the directory of branches.
func ValidRef(ref string) bool {
	name, ok := strings.CutPrefix(ref, "refs/heads/")
	if !ok || name == "" || len(ref) > 240 || strings.HasPrefix(name, "-") || strings.HasSuffix(name, ".") || name == "@" || name == "HEAD" ||
		strings.Contains(name, "..") || strings.Contains(name, "@{") ||
		strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) || r == 0xfffd }) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(strings.ToLower(part), ".lock") {
			return false
		}
	}
	return true
}
