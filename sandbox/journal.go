package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// stage is how far an application got. Each is made durable before the effects
// that it allows.
type stage string

const (
	staging    stage = "staging"    // files are being prepared; nothing shows yet
	committing stage = "committing" // they are being put in place; from here it goes on to the end
	landed     stage = "landed"     // all are in place; what was kept to go back is being removed
	applied    stage = "applied"    // done, and not yet recorded with the plan
	reverting  stage = "reverting"  // everything is being put back
	reverted   stage = "reverted"   // it is, and that is not yet recorded
)

// journal is one application, written ahead of what it does. Paths are
// relative to one of its roots.
type journal struct {
	Version int            `json:"version"`
	Plan    ident.PlanID   `json:"plan"`
	Hash    string         `json:"hash"` // of what was asked for
	Step    stage          `json:"step"`
	Roots   []string       `json:"roots"`
	Dirs    []place        `json:"dirs,omitempty"`    // made, those above first
	Parents []place        `json:"parents,omitempty"` // that may become empty, with their modes
	Moves   []move         `json:"moves,omitempty"`
	Left    []string       `json:"left,omitempty"` // where a person's bytes stay
	Log     []logLine      `json:"log,omitempty"`  // for git's history of the names that moved
	Result  engine.Landing `json:"result"`
}

// journalVersion is the form of the file.
const journalVersion = 1

// place is a directory of a root.
type place struct {
	Root int    `json:"root"`
	Path string `json:"path"`
	Mode uint32 `json:"mode,omitempty"`
}

// how a move changes its path.
type how string

const (
	takeOut how = "remove" // a file or link goes
	aside   how = "aside"  // an emptied directory makes room
	putIn   how = "put"    // a file or link comes
)

// move is what happens at one path. New is where the file was prepared and Old
// where what was there before is kept until all is done, both in a directory
// that stays; Lock is a second name of the prepared file that keeps git away.
type move struct {
	How    how            `json:"how"`
	Root   int            `json:"root"`
	Path   string         `json:"path"`
	Before plan.FileState `json:"before"`
	After  plan.FileState `json:"after"`
	New    string         `json:"new,omitempty"`
	Old    string         `json:"old,omitempty"`
	Lock   string         `json:"lock,omitempty"`
	Ours   bool           `json:"ours,omitempty"` // a file of a repository, not of the work tree
}

const journalSuffix = ".json"

// journals opens the directory of the journals, which it makes.
func (t *Target) journals() (*os.Root, error) {
	if err := os.MkdirAll(t.cfg.Dir, 0o700); err != nil {
		return nil, fail("the journal of apply", err)
	}
	root, err := os.OpenRoot(t.cfg.Dir)
	if err != nil {
		return nil, fail("the journal of apply", err)
	}
	return root, nil
}

// readJournal returns the journal of a plan, nil when there is none.
func (d disk) readJournal(dir *os.Root, id ident.PlanID) (j *journal, err error) {
	if err := checkID(string(id)); err != nil {
		return nil, err
	}
	name := string(id) + journalSuffix
	var b []byte
	err = d.see("read", name, func() (err error) { b, err = dir.ReadFile(name); return err })
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fail("the journal of apply", err)
	}
	j = &journal{}
	in := json.NewDecoder(bytes.NewReader(b))
	in.DisallowUnknownFields()
	if err := in.Decode(j); err != nil || j.Version != journalVersion || j.Plan != id {
		where := filepath.Join(dir.Name(), name)
		return nil, fault.New(fault.Corrupt, "%s is not the journal of an apply of plan %s", where, id).
			WithHint("compare your files with: agents plan diff %s; then move %s away", id, where)
	}
	return j, nil
}

// save makes the journal durable as it is now, at that step.
func (x *txn) save(at stage) error {
	x.j.Step = at
	b, err := json.Marshal(x.j)
	if err != nil {
		return fault.New(fault.Internal, "journal of apply: %w", err)
	}
	name := string(x.j.Plan) + journalSuffix
	next := name + ".new"
	err = x.write(x.dir, next, 0o600, func(f *os.File) error { _, err := f.Write(b); return err }, nil)
	if err == nil {
		err = x.rename(x.dir, next, name)
	}
	if err == nil {
		err = x.sync(x.dir, name)
	}
	return fail("the journal of apply", err)
}

// drop forgets the journal.
func (x *txn) drop() error {
	name := string(x.j.Plan) + journalSuffix
	err := x.remove(x.dir, name+".new")
	if err == nil {
		err = x.remove(x.dir, name)
	}
	if err == nil {
		err = x.sync(x.dir, name)
	}
	return fail("the journal of apply", err)
}

// unfinished returns the plans other than one whose applications were cut short
// at one of the directories, or in or above it.
func (d disk) unfinished(ctx context.Context, dir *os.Root, not ident.PlanID, at []string) (out []*journal, err error) {
	var names []string
	if err := d.see("readdir", ".", func() (err error) { names, err = readNames(dir); return err }); err != nil {
		return nil, fail("the journal of apply", err)
	}
	for _, name := range names {
		id, ok := strings.CutSuffix(name, journalSuffix)
		if !ok || id == string(not) || ctx.Err() != nil {
			continue
		}
		j, err := d.readJournal(dir, ident.PlanID(id))
		if err != nil {
			return nil, err
		}
		if j != nil && !j.done() && j.touches(at) {
			out = append(out, j)
		}
	}
	return out, ctx.Err()
}

func (j *journal) done() bool { return j.Step == applied || j.Step == reverted }

func (j *journal) touches(dirs []string) bool {
	for _, a := range j.Roots {
		for _, b := range dirs {
			if inside(a, b) || inside(b, a) {
				return true
			}
		}
	}
	return false
}

// inside reports whether a directory is another or lies in it.
func inside(a, b string) bool {
	rel, err := filepath.Rel(b, a)
	return err == nil && filepath.IsLocal(rel)
}
