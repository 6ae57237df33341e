package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
)

// Apply makes every path of a what its change says, or none.
//
// Each file is prepared beside its place and synced; then a journal says that
// all of it is to be put in place, and from there on it goes on to the end,
// whoever dies: with two renames a file, which need no room. What was there is
// kept until everything is in place. A fault on the way puts all back.
//
// A path that a person changed is fault.Conflict. Before the commit nothing was
// written; after it, it stops there (code ApplyStopped), and Settle ends it.
func (t *Target) Apply(ctx context.Context, a engine.Application) (engine.Landing, error) {
	if err := checkID(string(a.Plan)); err != nil {
		return engine.Landing{}, err
	}
	dirs, err := t.places(a)
	if err != nil {
		return engine.Landing{}, err
	}
	if a.Dry {
		return t.dry(ctx, a, dirs)
	}
	x, err := t.enter(ctx, a.Plan, dirs)
	if err != nil {
		return engine.Landing{}, err
	}
	defer x.close()
	if x.j != nil && x.j.Step == applied && x.j.Hash == orderHash(a) {
		return x.j.Result, nil
	}
	if x.j != nil {
		if ended, err := x.goOn(); ended || err != nil {
			return x.j.Result, err
		}
	}
	if err := x.start(a); err != nil {
		return engine.Landing{}, err
	}
	if err = ctx.Err(); err != nil {
		return engine.Landing{}, errors.Join(err, x.giveUp())
	}
	x.ctx = context.WithoutCancel(ctx) // from here on it ends, one way or the other
	err = x.save(committing)
	if err == nil {
		err = x.forward(false)
	}
	if isClash(err) {
		return engine.Landing{}, stoppedAt(x.j.Plan, err)
	}
	if err != nil {
		return engine.Landing{}, errors.Join(err, x.giveUp())
	}
	return x.land()
}

// dry looks and changes nothing, not even what another one has left.
func (t *Target) dry(ctx context.Context, a engine.Application, dirs []string) (engine.Landing, error) {
	x, err := t.begin(ctx, dirs)
	if err != nil {
		return engine.Landing{}, err
	}
	defer x.close()
	others, err := x.unfinished(ctx, x.dir, a.Plan, dirs)
	if err == nil && len(others) > 0 {
		err = fault.New(fault.Busy, "an apply of plan %s was cut short here", others[0].Plan).
			WithHint("agents plan apply %s --recover, or --abort", others[0].Plan)
	}
	if err != nil {
		return engine.Landing{}, err
	}
	err = x.look(a)
	return x.j.Result, err
}

// places are the directories that an application works in.
func (t *Target) places(a engine.Application) (dirs []string, err error) {
	for _, p := range a.Parts {
		dirs = append(dirs, p.Location)
	}
	if len(dirs) == 0 {
		return nil, fault.New(fault.Invalid, "nothing to apply")
	}
	if a.Commit != nil {
		more, err := gitPlaces(dirs[0])
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, more...)
	}
	return dirs, nil
}

// orderHash tells the applications of one plan apart.
func orderHash(a engine.Application) string {
	text := ""
	for _, p := range a.Parts {
		text += p.Changes.Hash() + "\n"
	}
	if c := a.Commit; c != nil {
		text += fmt.Sprintf("%q %q %s", c.Branch, c.Message, c.When.UTC())
	}
	return sum([]byte(text)).String()
}

// enter locks the directories with those of what others have left there, ends
// that, and reads the plan's own journal.
func (t *Target) enter(ctx context.Context, id ident.PlanID, dirs []string) (*txn, error) {
	dirs, err := t.withOthers(ctx, id, dirs)
	if err != nil {
		return nil, err
	}
	x, err := t.begin(ctx, dirs)
	if err != nil {
		return nil, err
	}
	if err := x.mend(id, dirs); err != nil {
		x.close()
		return nil, err
	}
	if id != "" {
		if x.j, err = x.readJournal(x.dir, id); err == nil && x.j != nil {
			err = x.open()
		}
	}
	if err != nil {
		x.close()
		return nil, err
	}
	return x, nil
}

// withOthers adds the directories of what was cut short there.
func (t *Target) withOthers(ctx context.Context, id ident.PlanID, dirs []string) ([]string, error) {
	dir, err := t.journals()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	d := disk{t.cfg.Fault}
	others, err := d.unfinished(ctx, dir, id, dirs)
	if err != nil {
		return nil, err
	}
	if id != "" {
		own, err := d.readJournal(dir, id)
		if err != nil {
			return nil, err
		}
		if own != nil {
			others = append(others, own)
		}
	}
	out := slices.Clone(dirs)
	for _, j := range others {
		out = append(out, j.Roots...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// mend ends what other plans have left at the directories, which are locked:
// whoever did that is dead.
func (x *txn) mend(not ident.PlanID, dirs []string) error {
	others, err := x.unfinished(x.ctx, x.dir, not, dirs)
	if err != nil {
		return err
	}
	for _, j := range others {
		for _, r := range j.Roots {
			if !slices.Contains(dirs, r) {
				return fault.New(fault.Busy, "an apply of plan %s has just been cut short here", j.Plan).WithHint("try again")
			}
		}
		x.j = j
		if err := x.open(); err != nil {
			return err
		}
		_, err := x.goOn()
		if isClash(err) {
			return fault.New(fault.Conflict, "an apply of plan %s was cut short here, and %w", j.Plan, err).
				WithHint("agents plan apply %s --recover, or --abort", j.Plan)
		}
		if err != nil {
			return err
		}
	}
	x.j = nil
	return nil
}

// goOn carries a journal that was left to the nearest end. It reports whether
// that is the one where everything is applied.
func (x *txn) goOn() (ended bool, err error) {
	x.ctx = context.WithoutCancel(x.ctx)
	switch x.j.Step {
	case staging, reverting:
		return false, x.giveUp()
	case committing:
		if err := x.forward(false); err != nil {
			if isClash(err) {
				err = stoppedAt(x.j.Plan, err)
			}
			return false, err
		}
		_, err := x.land()
		return err == nil, err
	case landed:
		_, err := x.land()
		return err == nil, err
	case applied:
		return false, fault.New(fault.Conflict, "another apply of plan %s is not recorded yet", x.j.Plan)
	}
	return false, x.drop()
}

// look surveys the targets, and writes nothing.
func (x *txn) look(a engine.Application) error {
	x.j = &journal{Version: journalVersion, Plan: a.Plan, Hash: orderHash(a)}
	dirs, err := x.t.places(a)
	if err != nil {
		return err
	}
	x.j.Roots = dirs
	if err := x.open(); err != nil {
		return err
	}
	if err := x.atRest(); err != nil {
		return err
	}
	var bad []string
	if a.Commit != nil {
		if err := x.lookAtCommit(a); err != nil {
			return err
		}
		if a.Commit.Branch != "" {
			return nil // the files stay as they are
		}
	}
	for i, p := range a.Parts {
		err := x.survey(i, p.Changes)
		if paths, ok := clashing(err); ok && fault.As(err).Code != sameName {
			bad = append(bad, paths...)
		} else if err != nil {
			return err
		}
	}
	if len(bad) > 0 {
		return clash(bad...)
	}
	x.j.Result.Files = len(x.j.Moves)
	return nil
}

// start looks, prepares every file, and is durable when it returns.
func (x *txn) start(a engine.Application) error {
	if err := x.look(a); err != nil {
		return err
	}
	if err := x.save(staging); err != nil {
		return errors.Join(err, x.drop())
	}
	err := x.prepareAll()
	if err == nil {
		err = x.atRest()
	}
	if err == nil && a.Commit != nil {
		err = x.prepareCommit(a)
	}
	if err != nil {
		err = errors.Join(err, x.giveUp())
	}
	return err
}

// prepareAll writes every file beside its place.
func (x *txn) prepareAll() error {
	for _, m := range x.j.Moves {
		if m.How != putIn {
			continue
		}
		if err := x.prepare(m, m.After, m.New); err != nil {
			return err
		}
	}
	return x.flush()
}

// atRest is fault.Busy while the person's own git writes there.
func (x *txn) atRest() error {
	for _, dir := range x.j.Roots {
		err := x.see("stat", ".git", func() error { return gitAtRest(dir) })
		if err != nil {
			return fail(dir, err)
		}
	}
	return nil
}

// land ends an application whose files are all in place.
func (x *txn) land() (engine.Landing, error) {
	x.j.Result.Left = x.j.Left
	steps := []func() error{
		func() error { return x.save(landed) },
		x.tidy, x.prune, x.writeLogs,
		func() error {
			x.j.Result.Left = x.j.Left
			return x.save(applied)
		},
	}
	for _, f := range steps {
		if err := f(); err != nil {
			return engine.Landing{}, err
		}
	}
	return x.j.Result, nil
}

// giveUp puts everything back and forgets the application. What it cannot put
// back now, the next look at the journal does.
func (x *txn) giveUp() error {
	x.ctx = context.WithoutCancel(x.ctx)
	if err := x.back(); err != nil {
		return err
	}
	return x.drop()
}

func (x *txn) back() error {
	if err := x.save(reverting); err != nil {
		return err
	}
	if err := x.backward(); err != nil {
		return err
	}
	return x.tidy()
}

// stoppedAt is the fault for a person's edit after the commit.
func stoppedAt(id ident.PlanID, err error) error {
	f := *fault.As(err)
	f.Err = err
	f.Msg = "stopped in the middle: " + f.Msg
	return f.WithCode(engine.ApplyStopped).WithHint("agents plan apply %s --recover writes the rest, --abort takes back what was written; your version stays", id)
}

// clashing returns the paths of a clash.
func clashing(err error) ([]string, bool) {
	if !isClash(err) {
		return nil, false
	}
	paths, ok := fault.As(err).Details["paths"].([]string)
	return paths, ok
}
