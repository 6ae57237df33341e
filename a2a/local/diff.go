package local

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

func (f *Facade) planDiff(ctx context.Context, q a2a.PlanDiffQuery, _ func(plan.Event)) (a2a.DiffView, error) {
	p, err := f.plan(ctx, q.Ref)
	if err != nil {
		return a2a.DiffView{}, err
	}
	if q.ToApply {
		v, err := f.diff(ctx, p, nil)
		if err != nil {
			return v, err
		}
		set, err := f.Engine.ToApply(ctx, p.ID, q.Paths)
		if err != nil {
			return v, err
		}
		if q.Patch {
			if v.Patch, err = f.patch(ctx, set); err != nil {
				return v, err
			}
		}
		return f.show(ctx, v, set)
	}
	if q.Patch {
		return a2a.DiffView{}, fault.New(fault.Invalid, "a patch is made of what is not applied yet")
	}
	return f.diff(ctx, p, q.Paths)
}

// changes reads the recorded change set of a plan.
func (f *Facade) changes(ctx context.Context, p plan.Plan) (plan.ChangeSet, error) {
	set := plan.ChangeSet{}
	if p.Changed == "" {
		return set, nil
	}
	b, err := f.Engine.Blobs.Get(ctx, p.Changed)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &set); err != nil {
		return nil, fault.New(fault.Corrupt, "change set of plan %s: %w", p.ID, err)
	}
	return set, nil
}

// diff renders the recorded changes of a plan, all of them or those at or
// below the paths.
func (f *Facade) diff(ctx context.Context, p plan.Plan, paths []string) (a2a.DiffView, error) {
	v := a2a.DiffView{Files: []a2a.FileDiff{}}
	set, err := f.changes(ctx, p)
	if err != nil {
		return v, err
	}
	v.Hash = set.Hash()
	var gaps []evidence.Gap
	err = f.view(ctx, func(tx engine.Tx) error {
		if v.Plan, err = f.summary(ctx, tx, p); err != nil {
			return err
		}
		gaps, err = tx.Gaps(p.ID)
		return err
	})
	if err != nil {
		return v, err
	}
	for _, g := range gaps {
		if g.Kind == evidence.GapIgnored {
			v.Ignored = true
		}
	}
	set = slices.DeleteFunc(set, func(c plan.Change) bool { return !under(c.Path, paths) })
	if len(paths) > 0 && len(set) == 0 {
		return v, fault.New(fault.NotFound, "plan %s changes nothing at %s", p.ID, strings.Join(paths, ", "))
	}
	return f.show(ctx, v, set)
}

// show fills in the files, and which of them run by themselves.
func (f *Facade) show(ctx context.Context, v a2a.DiffView, set plan.ChangeSet) (a2a.DiffView, error) {
	var err error
	if v.Files, err = f.render(ctx, set); err != nil {
		return v, err
	}
	exec, bound, err := f.Engine.Executable(ctx, set)
	if err != nil {
		return v, err
	}
	v.Executable = bound
	for _, e := range exec {
		for i := range v.Files {
			if v.Files[i].Path == e.Path {
				v.Files[i].Runs = e.Why
			}
		}
	}
	return v, nil
}

func (f *Facade) render(ctx context.Context, set plan.ChangeSet) ([]a2a.FileDiff, error) {
	out := []a2a.FileDiff{}
	for _, c := range set {
		d, err := f.fileDiff(ctx, c)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

func under(path string, paths []string) bool {
	return len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool {
		p = strings.TrimSuffix(strings.TrimPrefix(p, "./"), "/")
		return p == "." || path == p || strings.HasPrefix(path, p+"/")
	})
}

// maxDiff is the largest side of a file that is shown line by line.
const maxDiff = 4 << 20

func (f *Facade) fileDiff(ctx context.Context, c plan.Change) (a2a.FileDiff, error) {
	d := a2a.FileDiff{FileStat: a2a.FileStat{Path: c.Path, Status: "modified"}}
	switch {
	case c.Before.Kind == plan.Absent:
		d.Status = "added"
	case c.After.Kind == plan.Absent:
		d.Status = "deleted"
	case c.Before.Hash == c.After.Hash && c.Before.Kind == c.After.Kind:
		d.Status = "mode"
	}
	d.OldMode, d.NewMode = modeWord(c.Before), modeWord(c.After)
	before, err := f.side(ctx, c.Before)
	if err != nil {
		return d, err
	}
	after, err := f.side(ctx, c.After)
	if err != nil {
		return d, err
	}
	if isBinary(before) || isBinary(after) || len(before) > maxDiff || len(after) > maxDiff {
		d.Binary = true
		return d, nil
	}
	from, to := "a/"+c.Path, "b/"+c.Path
	if c.Before.Kind == plan.Absent {
		from = "/dev/null"
	}
	if c.After.Kind == plan.Absent {
		to = "/dev/null"
	}
	d.Unified = udiff.Unified(from, to, string(before), string(after))
	body := d.Unified
	for line := range strings.SplitSeq(body, "\n") {
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		case strings.HasPrefix(line, "+"):
			d.Added++
		case strings.HasPrefix(line, "-"):
			d.Removed++
		}
	}
	return d, nil
}

func modeWord(s plan.FileState) string {
	switch s.Kind {
	case plan.Regular:
		return fmt.Sprintf("100%03o", s.Mode)
	case plan.Symlink:
		return "120000"
	}
	return ""
}

func (f *Facade) side(ctx context.Context, s plan.FileState) ([]byte, error) {
	if s.Kind != plan.Regular && s.Kind != plan.Symlink {
		return nil, nil
	}
	if s.Size > maxDiff {
		return []byte{0}, nil // shown as binary
	}
	return f.Engine.Blobs.Get(ctx, s.Hash)
}

func isBinary(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 || !utf8.Valid(b) }

func stats(d a2a.DiffView) []a2a.FileStat {
	out := []a2a.FileStat{}
	for _, f := range d.Files {
		out = append(out, f.FileStat)
	}
	return out
}
