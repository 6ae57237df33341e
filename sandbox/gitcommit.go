package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/sandbox/gitrepo"
)

// A commit is made of files like any other change: its objects are written
// first, where nothing refers to them; the new index and the new value of the
// branch are prepared under git's own locks, and take their places in the same
// journal as the files of the work tree. No program of git or of the repository
// runs.

// commitJob is a commit that was looked at and can be made.
type commitJob struct {
	repo        *gitrepo.Repo
	prefix      string // from the top of the work tree to the resource
	git, common int    // roots of the journal
	ref         string // that will name the commit
	parent      string
	edits       []gitrepo.Edit
	blobs       []gitrepo.Object
	files       map[string]string // path below the top -> name of the prepared file
	onto        bool              // the current branch, with the index
}

// gitPlaces adds the directories of the repository that a commit goes to.
func gitPlaces(location string) ([]string, error) {
	dir, _, err := gitDir(location)
	if err != nil {
		return nil, fail(location, err)
	}
	if dir == "" {
		return nil, fault.New(fault.Invalid, "%s is in no git repository", location).WithHint("apply --as files")
	}
	r, err := gitrepo.Open(dir, location)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	out := []string{r.Dir, r.Common}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// lookAtCommit checks everything that could stand in the way of a commit.
func (x *txn) lookAtCommit(a engine.Application) (err error) {
	location := a.Parts[0].Location
	dir, prefix, err := gitDir(location)
	if err != nil {
		return fail(location, err)
	}
	c := &commitJob{prefix: prefix, files: map[string]string{}, onto: a.Commit.Branch == ""}
	top := location
	if prefix != "." {
		top = strings.TrimSuffix(location, string(filepath.Separator)+filepath.FromSlash(prefix))
	}
	if c.repo, err = gitrepo.Open(dir, top); err != nil {
		return err
	}
	x.commit = c
	c.git, c.common = slices.Index(x.j.Roots, c.repo.Dir), slices.Index(x.j.Roots, c.repo.Common)
	if _, _, err := c.repo.People(x.t.cfg.Git.own()); err != nil {
		return err
	}
	head, err := c.repo.Head()
	if err != nil {
		return err
	}
	c.ref, c.parent = head.Ref, head.Commit
	if what := c.repo.Busy(); c.onto && what != "" {
		return fault.New(fault.Busy, "%s is under way in %s", what, top).WithHint("end it first, or apply --as branch:NAME")
	}
	if !c.onto {
		c.ref = "refs/heads/" + a.Commit.Branch
		id, err := c.repo.Ref(c.ref)
		if err != nil {
			return err
		}
		if id != "" {
			return fault.New(fault.Exists, "there is a branch %s already", a.Commit.Branch).WithHint("--as branch:ANOTHER")
		}
	}
	for _, ch := range a.Parts[0].Changes {
		if err := x.edit(c, ch); err != nil {
			return err
		}
	}
	tree, err := c.repo.TreeOf(c.parent)
	if err != nil {
		return err
	}
	differs, err := c.repo.Differs(tree, c.edits)
	if err == nil && len(differs) > 0 {
		err = fault.New(fault.Conflict, "%s was not committed as the plan found it", strings.Join(differs, ", ")).
			With("path", differs[0]).WithCode(notCommitted).
			WithHint("apply --as files and commit it with your own changes, or commit those first and let a new plan do the work")
	}
	return err
}

// notCommitted is the code of a conflict with what was never committed.
const notCommitted = "NotCommitted"

// edit adds a change to the commit.
func (x *txn) edit(c *commitJob, ch plan.Change) error {
	e := gitrepo.Edit{Path: path.Join(c.prefix, ch.Path)}
	was, err := x.blobOf(ch.Before)
	if err != nil {
		return err
	}
	now, err := x.blobOf(ch.After)
	if err != nil {
		return err
	}
	if was != nil {
		e.Was = gitrepo.Entry{Mode: gitMode(ch.Before), ID: was.ID()}
	}
	if now != nil {
		e.Now = gitrepo.Entry{Mode: gitMode(ch.After), ID: now.ID()}
		c.blobs = append(c.blobs, *now)
		if ch.After.Kind == plan.Regular {
			why, err := c.repo.Converts(x.t.cfg.Git.own(), e.Path, now.Body)
			if err == nil && why != "" {
				err = fault.New(fault.Conflict, "git would not store %s as it is: %s", e.Path, why).
					With("path", ch.Path).WithCode(notCommitted).WithHint("apply --as files, and commit it with git")
			}
			if err != nil {
				return err
			}
		}
	}
	c.edits = append(c.edits, e)
	return nil
}

// maxCommitted is the largest file that goes into a commit of ours.
const maxCommitted = 512 << 20

func (x *txn) blobOf(s plan.FileState) (*gitrepo.Object, error) {
	if s.Kind != plan.Regular && s.Kind != plan.Symlink {
		return nil, nil
	}
	if s.Size > maxCommitted {
		return nil, fault.New(fault.Exhausted, "a file of %d bytes is too large for a commit of ours", s.Size).WithHint("apply --as files, and commit yourself")
	}
	b, err := x.t.cfg.Blobs.Get(x.ctx, s.Hash)
	return &gitrepo.Object{Kind: "blob", Body: b}, err
}

// gitMode is what git keeps of a mode.
func gitMode(s plan.FileState) string {
	switch {
	case s.Kind == plan.Symlink:
		return gitrepo.ModeLink
	case s.Mode&0o100 != 0:
		return gitrepo.ModeExec
	}
	return gitrepo.ModeFile
}

// prepareCommit writes the objects, and prepares the branch and the index under
// git's locks.
func (x *txn) prepareCommit(a engine.Application) error {
	c := x.commit
	author, committer, err := c.repo.People(x.t.cfg.Git.own())
	if err != nil {
		return err
	}
	made, err := c.repo.Commit(c.parent, c.edits, author, committer, a.Commit.When, a.Commit.Message)
	if err != nil {
		return err
	}
	if err := x.writeObjects(append(c.blobs, made.Objects...)); err != nil {
		return err
	}
	x.j.Result.Commit, x.j.Result.Ref = made.ID, c.ref
	if c.repo.Signs(x.t.cfg.Git.own()) {
		x.j.Result.Notes = append(x.j.Result.Notes, "the commit is not signed: that would run a program")
	}
	x.j.Log = []logLine{}
	line := gitrepo.LogLine(c.parent, made.ID, committer, a.Commit.When, "commit: "+firstLine(a.Commit.Message))
	root := c.common
	if c.ref == "HEAD" {
		root = c.git
	}
	x.j.Log = append(x.j.Log, logLine{root, "logs/" + c.ref, line})
	if c.onto && c.ref != "HEAD" {
		x.j.Log = append(x.j.Log, logLine{c.git, "logs/HEAD", line})
	}
	old := []byte(nil)
	if c.parent != "" {
		old = []byte(c.parent + "\n")
	}
	if err := x.prepareGit(root, c.ref, old, []byte(made.ID+"\n")); err != nil {
		return err
	}
	if now, err := c.repo.Ref(c.ref); err != nil || now != c.parent && c.onto || now != "" && !c.onto {
		return errors.Join(err, fault.New(fault.Busy, "%s moved while the commit was made", c.ref).WithHint("apply again"))
	}
	if !c.onto {
		return nil
	}
	stats, err := x.stats(a)
	if err != nil {
		return err
	}
	was, is, err := c.repo.Index(c.edits, stats)
	if err != nil {
		return err
	}
	return x.prepareGit(c.git, "index", was, is)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// stats is what the index keeps of the prepared files, which keep it when they
// get their names, but for the time of the change itself.
func (x *txn) stats(a engine.Application) (map[string]gitrepo.Stat, error) {
	out := map[string]gitrepo.Stat{}
	for _, m := range x.j.Moves {
		if m.How != putIn || m.Ours {
			continue
		}
		err := x.in(m.Root, m.New, func(dir *os.Root, name string) error {
			fi, err := dir.Lstat(name)
			if err == nil {
				out[path.Join(x.commit.prefix, m.Path)] = indexStat(fi)
			}
			return err
		})
		if err != nil {
			return nil, fail(m.Path, err)
		}
	}
	return out, nil
}

// prepareGit prepares a file of the repository and takes git's lock of it. What
// was there has to be what was read.
func (x *txn) prepareGit(root int, p string, was, is []byte) error {
	m := move{How: putIn, Root: root, Path: p, Ours: true, Lock: p + ".lock", Before: plan.FileState{Kind: plan.Absent}}
	now, err := x.state(root, p)
	if err != nil {
		return fail(p, err)
	}
	mode := uint32(0o644)
	if now.Kind == plan.Regular {
		if m.Before = now; now.Hash != sum(was).String() {
			return fault.New(fault.Busy, "%s of the repository changed while it was read", p).WithHint("apply again")
		}
		mode = now.Mode
	} else if now.Kind != plan.Absent {
		return fault.New(fault.Exists, "%s of the repository is in the way", p).WithHint("choose another name")
	}
	for _, b := range [][]byte{was, is} {
		if _, err := x.t.cfg.Blobs.Put(x.ctx, b); err != nil {
			return err
		}
	}
	m.After = plan.FileState{Kind: plan.Regular, Mode: mode, Size: int64(len(is)), Hash: sum(is).String()}
	dirs, err := x.missing(root, path.Dir(p))
	if err != nil {
		return fail(p, err)
	}
	temp := join(path.Dir(p), tempPrefix+sum([]byte(string(x.j.Plan) + "\x00git\x00" + p)).String()[:16])
	m.New, m.Old = temp+newSuffix, temp+oldSuffix
	x.j.Moves, x.j.Dirs = append(x.j.Moves, m), append(x.j.Dirs, dirs...)
	if err := x.save(staging); err != nil {
		return err
	}
	for _, d := range dirs {
		err := x.in(root, d.Path, func(dir *os.Root, name string) error {
			return x.act("mkdir", name, func() error { return dir.Mkdir(name, 0o755) })
		})
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fail(d.Path, err)
		}
		x.touch(root, d.Path)
	}
	if err := x.prepare(m, m.After, m.New); err != nil {
		return err
	}
	err = x.in(root, m.New, func(dir *os.Root, name string) error {
		return x.act("lock", m.Lock, func() error { return dir.Link(name, path.Base(m.Lock)) })
	})
	if errors.Is(err, fs.ErrExist) {
		return gitLocked(filepath.Join(x.j.Roots[root], m.Lock))
	}
	if err != nil {
		return fail(p, err)
	}
	again, err := x.state(root, p)
	if err == nil && !again.Same(now) {
		err = fault.New(fault.Busy, "%s of the repository changed while it was read", p).WithHint("apply again")
	}
	if err != nil {
		return fail(p, err)
	}
	return x.flush()
}

// missing are the directories at and above one that are not there.
func (x *txn) missing(root int, dir string) (out []place, err error) {
	for ; dir != "."; dir = path.Dir(dir) {
		err := x.in(root, dir, func(parent *os.Root, name string) error {
			fi, err := parent.Lstat(name)
			if err == nil && !fi.IsDir() {
				err = fault.New(fault.Exists, "there is a branch %s already, so there can be none below it", strings.TrimPrefix(dir, "refs/heads/")).
					WithHint("choose another name")
			}
			return err
		})
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		out = append(out, place{Root: root, Path: dir})
	}
	slices.Reverse(out)
	return out, nil
}

// writeObjects makes objects that are not there. One that no commit comes to
// name is swept by git itself, as is one that is half written.
func (x *txn) writeObjects(all []gitrepo.Object) error {
	root := x.commit.common
	for _, o := range all {
		name, content, err := o.Loose()
		if err != nil {
			return fault.New(fault.Internal, "pack an object: %w", err)
		}
		there, err := x.state(root, name)
		if err != nil {
			return fail(name, err)
		}
		if there.Kind != plan.Absent {
			continue
		}
		dir := path.Dir(name)
		err = x.in(root, dir, func(objects *os.Root, sub string) error {
			err := x.act("mkdir", sub, func() error { return objects.Mkdir(sub, 0o755) })
			if errors.Is(err, fs.ErrExist) {
				return nil
			}
			x.touch(root, dir)
			return err
		})
		if err == nil {
			err = x.in(root, name, func(objects *os.Root, id string) error {
				temp := "tmp_obj_" + id[:14]
				err := x.write(objects, temp, 0o444, func(f *os.File) error { _, err := f.Write(content); return err }, nil)
				if err == nil {
					err = x.rename(objects, temp, id)
				}
				return err
			})
		}
		if err != nil {
			return fail(name, err)
		}
		x.touch(root, name)
	}
	return x.flush()
}

// logLine is what git's own history of a name gets.
type logLine struct {
	Root int    `json:"root"`
	Path string `json:"path"`
	Line string `json:"line"`
}

// writeLogs adds the commit to the histories that git keeps, once.
func (x *txn) writeLogs() error {
	for _, l := range x.j.Log {
		err := x.in(l.Root, l.Path, func(dir *os.Root, name string) error {
			want, err := lstatFile(dir, name)
			if err != nil {
				return err
			}
			f, _, err := openFile(dir, name, want)
			if err != nil {
				return err
			}
			end := make([]byte, len(l.Line))
			n, _ := f.ReadAt(end, max(0, want.size-int64(len(l.Line)))) // a short one is another one
			if err := f.Close(); err != nil || string(end[:n]) == l.Line {
				return err
			}
			return x.act("append", name, func() error {
				f, err := dir.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
				if err != nil {
					return err
				}
				_, err = f.WriteString(l.Line)
				return errors.Join(err, f.Sync(), f.Close())
			})
		})
		if err != nil && !goneDir(err) {
			return fail(l.Path, err)
		}
	}
	return nil
}

// gitLocked is the fault for a lock of git's that somebody holds.
func gitLocked(file string) error {
	return fault.New(fault.Busy, "git is at work: %s is there", file).
		WithHint("%s", fmt.Sprintf("try again when it has ended; if no git is running, remove %s", file))
}

// GitConfig is what commits are made with.
type GitConfig struct {
	Home string                      // where the person's own configuration of git is; "" for none
	Env  func(string) (string, bool) // the environment, for GIT_AUTHOR_NAME and the like; nil for an empty one
}

func (g GitConfig) own() gitrepo.Own { return gitrepo.Own{Home: g.Home, Env: g.Env} }
