package local_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/a2a/local"
	"github.com/cleveragents/agents/blob"
	"github.com/cleveragents/agents/builtin"
	"github.com/cleveragents/agents/durable"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/jail"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/proc"
	"github.com/cleveragents/agents/resource"
	"github.com/cleveragents/agents/sandbox"
	"github.com/cleveragents/agents/stock"
	"github.com/cleveragents/agents/store/sqlite"
)

// newFacade returns a facade on real hands; home is its user's home directory.
func newFacade(t *testing.T) (f *local.Facade, home string) {
	t.Helper()
	ctx, data := t.Context(), t.TempDir()
	home = t.TempDir()
	db, err := sqlite.Open(ctx, filepath.Join(data, "data.db"), sqlite.Options{})
	must(t, err)
	blobs, err := blob.Open(filepath.Join(data, "blobs"), db)
	must(t, err)
	ids := ident.NewSource(time.Now, rand.Reader)
	live, err := durable.NewWorkers(filepath.Join(data, "workers"), ids.New())
	must(t, err)
	runner, err := durable.Open(ctx, durable.Config{Path: filepath.Join(data, "engine.db"), Live: live})
	must(t, err)
	t.Cleanup(func() {
		for _, c := range []interface{ Close() error }{runner, live, blobs, db} {
			must(t, c.Close())
		}
	})
	actions, err := stock.Actions()
	must(t, err)
	actors, err := stock.Actors()
	must(t, err)
	target := sandbox.NewTarget(sandbox.TargetConfig{Blobs: blobs, Kept: filepath.Join(data, "kept"), Dir: filepath.Join(data, "applies")})
	// What a test keeps beside the data can be read, its FIFOs written to.
	confine := jail.New(jail.Config{Proc: proc.New(time.Now), Dir: filepath.Join(data, "jail"), ReadOnly: []string{filepath.Dir(data)}})
	return local.New(local.Config{Home: home, Engine: engine.New(engine.Config{
		Store: db, Blobs: blobs,
		Sandboxes: sandbox.New(sandbox.Config{Dir: filepath.Join(data, "trees"), Blobs: blobs, Target: target}),
		Target:    target,
		Tools:     builtin.New(builtin.Config{Jail: confine}), Checker: builtin.NewChecker(confine, 0), Programs: builtin.NewPrograms(confine),
		Runner: runner, Live: live, IDs: ids, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Actions: actions, Actors: actors,
	})}), home
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// do does an operation that has to succeed.
func do[Q, R any](t *testing.T, f *local.Facade, o a2a.Op[Q, R], q Q) R {
	t.Helper()
	r, err := a2a.Call(t.Context(), f, o, q, nil)
	must(t, err)
	return r
}

// refused does an operation that has to fail with that kind.
func refused[Q, R any](t *testing.T, f *local.Facade, o a2a.Op[Q, R], q Q, kind fault.Kind) error {
	t.Helper()
	_, err := a2a.Call(t.Context(), f, o, q, nil)
	if err == nil || fault.KindOf(err) != kind {
		t.Fatalf("%s: %v, want %s", o.Method, err, kind)
	}
	return err
}

func TestEveryOperationOfTheTableIsAnswered(t *testing.T) {
	f, _ := newFacade(t)
	var want []string
	for _, o := range a2a.Table() {
		want = append(want, o.Method)
	}
	got := f.Methods()
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-table +handlers:\n%s", d)
	}
	if _, err := f.Do(t.Context(), "_cleveragents/no/such", a2a.Nothing{}, nil); !fault.Is(err, fault.NotImplemented) {
		t.Errorf("an unknown method: %v", err)
	}
	if _, err := f.Do(t.Context(), a2a.PlanShow().Method, a2a.Nothing{}, nil); !fault.Is(err, fault.Internal) {
		t.Errorf("a request of the wrong type: %v", err)
	}
}

func TestInitMakesOneProjectOfADirectory(t *testing.T) {
	f, _ := newFacade(t)
	dir := filepath.Join(t.TempDir(), "My Project!")
	must(t, os.MkdirAll(filepath.Join(dir, ".git"), 0o755))
	first := do(t, f, a2a.ProjectInit(), a2a.ProjectInitRequest{Dir: dir})
	if first.Project.Name != "local/my-project" || !first.Current || len(first.Resources) != 1 || first.Resources[0].Type != resource.GitCheckout {
		t.Errorf("got %+v", first)
	}
	again := do(t, f, a2a.ProjectInit(), a2a.ProjectInitRequest{Dir: dir})
	if d := cmp.Diff(first, again); d != "" {
		t.Errorf("a second init made something new:\n%s", d)
	}
	other := filepath.Join(t.TempDir(), "my-project")
	must(t, os.Mkdir(other, 0o755))
	third := do(t, f, a2a.ProjectInit(), a2a.ProjectInitRequest{Dir: other})
	if third.Project.Name != "local/my-project-2" || third.Resources[0].Type != resource.FSDirectory {
		t.Errorf("a second directory of the name: %+v", third)
	}
	refused(t, f, a2a.ProjectInit(), a2a.ProjectInitRequest{Dir: other, Name: "my-project"}, fault.Exists)
}

func TestADirectoryIsAProjectOnlyWhenItIsMadeOne(t *testing.T) {
	f, _ := newFacade(t)
	dir := t.TempDir()
	refused(t, f, a2a.ProjectShow(), a2a.NameQuery{Name: dir}, fault.NotFound)
	refused(t, f, a2a.PlanList(), a2a.PlanListQuery{Project: dir}, fault.NotFound)
	refused(t, f, a2a.ApprovalShow(), a2a.RefQuery{Ref: "@last"}, fault.NotFound)
	if got := do(t, f, a2a.ProjectList(), a2a.Nothing{}); len(got.Projects) != 0 {
		t.Fatalf("looking made %+v", got.Projects)
	}
	do(t, f, a2a.PlanUse(), a2a.PlanUseRequest{Action: "builtin/command", Project: dir, Args: map[string]string{"command": "true"}})
	if got := do(t, f, a2a.ProjectShow(), a2a.NameQuery{Name: dir}); got.Current {
		t.Errorf("a plan's project became the current one: %+v", got)
	}
}

func TestTooWideDirectoriesAreRefused(t *testing.T) {
	f, home := newFacade(t)
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(home, link))
	for _, dir := range []string{"/", home, home + "/.", link} {
		err := refused(t, f, a2a.ProjectInit(), a2a.ProjectInitRequest{Dir: dir}, fault.Invalid)
		if !strings.Contains(fault.As(err).Hint, "--force") {
			t.Errorf("%s: no way out in %q", dir, fault.As(err).Hint)
		}
		refused(t, f, a2a.ResourceAdd(), a2a.ResourceAddRequest{Type: resource.FSDirectory, Location: dir}, fault.Invalid)
		refused(t, f, a2a.PlanUse(), a2a.PlanUseRequest{Action: "builtin/command", Project: dir}, fault.Invalid)
	}
	if got := do(t, f, a2a.ProjectInit(), a2a.ProjectInitRequest{Dir: home, Force: true, Name: "home"}); got.Project.Name != "local/home" {
		t.Errorf("forced: %+v", got)
	}
	file := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(file, nil, 0o600))
	refused(t, f, a2a.ProjectInit(), a2a.ProjectInitRequest{Dir: file}, fault.Invalid)
	refused(t, f, a2a.ProjectInit(), a2a.ProjectInitRequest{Dir: "relative"}, fault.Invalid)
	refused(t, f, a2a.ProjectInit(), a2a.ProjectInitRequest{Dir: filepath.Join(home, "absent")}, fault.NotFound)
}

func TestActionsAreCheckedBeforeTheyAreStored(t *testing.T) {
	f, _ := newFacade(t)
	const good = "name: a\ndescription: d\ndefinition_of_done: d\nstrategy_actor: builtin/command-strategy\nexecution_actor: builtin/command-execution\n"
	for name, c := range map[string]struct {
		text string
		kind fault.Kind
		want string
	}{
		"unknown key":   {good + "wat: 1\n", fault.Invalid, "f.yaml:6: "},
		"duplicate key": {good + "name: b\n", fault.Invalid, "f.yaml:6: "},
		"wrong type":    {good + "args: 7\n", fault.Invalid, "f.yaml:6: "},
		"undeclared":    {good + "validations:\n  - {name: v, mode: required, command: 'test {{args.nope}}'}\n", fault.Invalid, "f.yaml:7: "},
		"no such limit": {good + "safety_profile: {max_total_cost: 1}\n", fault.Invalid, "f.yaml:6: "},
		"no actor":      {strings.Replace(good, "builtin/command-strategy", "local/nobody", 1), fault.NotFound, "f.yaml: no actor local/nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			err := refused(t, f, a2a.ActionCreate(), a2a.ActionSource{File: "f.yaml", Text: c.text}, c.kind)
			if !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%q does not start with %q", err, c.want)
			}
			refused(t, f, a2a.ActionShow(), a2a.NameQuery{Name: "a"}, fault.NotFound)
		})
	}
	do(t, f, a2a.ActionValidate(), a2a.ActionSource{File: "f.yaml", Text: good})
	refused(t, f, a2a.ActionShow(), a2a.NameQuery{Name: "a"}, fault.NotFound)
	do(t, f, a2a.ActionCreate(), a2a.ActionSource{File: "f.yaml", Text: good})
	refused(t, f, a2a.ActionCreate(), a2a.ActionSource{File: "f.yaml", Text: good}, fault.Exists)
	do(t, f, a2a.ActionCreate(), a2a.ActionSource{File: "f.yaml", Text: good, Update: true})
	refused(t, f, a2a.ActionCreate(), a2a.ActionSource{Text: strings.Replace(good, "name: a", "name: builtin/command", 1)}, fault.Exists)
	list := do(t, f, a2a.ActionList(), a2a.ActionListQuery{Namespace: "local"})
	if len(list.Actions) != 1 || list.Actions[0].Action.Name != "local/a" || list.Actions[0].Builtin {
		t.Errorf("list: %+v", list)
	}
	const actor = "name: x\ngraph: [{id: a, tool: builtin/nosuch}]\n"
	refused(t, f, a2a.ActorAdd(), a2a.ActorSource{File: "x.yaml", Text: actor}, fault.Invalid)
}

// waiting makes a plan of builtin/command that waits before Apply.
func waiting(t *testing.T, f *local.Facade, command string) (out a2a.PlanOutcome, dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"a.txt": "one\ntwo\n", "sub/b.txt": "b\n", "bin": "\x00\x01"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return do(t, f, a2a.PlanUse(), a2a.PlanUseRequest{
		Action: "builtin/command", Project: dir, Args: map[string]string{"command": command}, Profile: "auto", Start: true,
	}), dir
}

func TestDiffSaysWhatChanges(t *testing.T) {
	f, _ := newFacade(t)
	out, _ := waiting(t, f, `printf 'one\n2\nthree\n' > a.txt; rm sub/b.txt; printf '\0' > bin; echo n > new; chmod 755 new`)
	v := do(t, f, a2a.PlanDiff(), a2a.PlanDiffQuery{Ref: string(out.Plan.ID)})
	var got []a2a.FileStat
	for _, d := range v.Files {
		got = append(got, d.FileStat)
	}
	want := []a2a.FileStat{
		{Path: "a.txt", Status: "modified", Added: 2, Removed: 1},
		{Path: "bin", Status: "modified", Binary: true},
		{Path: "new", Status: "added", Added: 1, Runs: "new executable bit"},
		{Path: "sub/b.txt", Status: "deleted", Removed: 1},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if v.Files[2].NewMode != "100755" || !strings.Contains(v.Files[0].Unified, "-two\n+2\n+three\n") {
		t.Errorf("mode %s, diff\n%s", v.Files[2].NewMode, v.Files[0].Unified)
	}
	if d := cmp.Diff(want, out.Changed); d != "" {
		t.Errorf("the outcome says something else:\n%s", d)
	}
	some := do(t, f, a2a.PlanDiff(), a2a.PlanDiffQuery{Ref: "@last", Paths: []string{"./sub/"}})
	if len(some.Files) != 1 || some.Files[0].Path != "sub/b.txt" {
		t.Errorf("only sub: %+v", some.Files)
	}
}

// T23: the part of plan apply.
func TestApplyIsBoundToWhatWasShown(t *testing.T) {
	f, _ := newFacade(t)
	out, dir := waiting(t, f, "echo x > a.txt")
	refused(t, f, a2a.PlanApply(), a2a.PlanApplyRequest{Ref: string(out.Plan.ID), Expect: "something else"}, fault.Conflict)
	if b, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(b) != "one\ntwo\n" {
		t.Fatalf("a.txt is %q (%v)", b, err)
	}
	shown := do(t, f, a2a.PlanDiff(), a2a.PlanDiffQuery{Ref: string(out.Plan.ID)})
	done := do(t, f, a2a.PlanApply(), a2a.PlanApplyRequest{Ref: string(out.Plan.ID), Expect: shown.Hash})
	if done.Plan.State != plan.Applied || len(done.Next) != 0 {
		t.Errorf("got %+v", done)
	}
	again := do(t, f, a2a.PlanApply(), a2a.PlanApplyRequest{Ref: string(out.Plan.ID)})
	if again.Plan.State != plan.Applied {
		t.Errorf("a second apply: %+v", again)
	}
	refused(t, f, a2a.PlanResume(), a2a.RefQuery{Ref: string(out.Plan.ID)}, fault.Conflict)
}

// The project of the directory counts before the current one, and @last is the
// plan of that project that was touched last, not made last.
func TestWhereThePersonIsDecides(t *testing.T) {
	f, _ := newFacade(t)
	top := t.TempDir()
	for _, d := range []string{"a/inner/deep", "b/sub"} {
		must(t, os.MkdirAll(filepath.Join(top, d), 0o755))
	}
	for _, d := range []string{"a", "a/inner", "b"} { // b is the current one
		do(t, f, a2a.ProjectInit(), a2a.ProjectInitRequest{Dir: filepath.Join(top, d)})
	}
	use := func() a2a.PlanOutcome {
		return do(t, f, a2a.PlanUse(), a2a.PlanUseRequest{Action: "builtin/command", Args: map[string]string{"command": "true"}})
	}
	for dir, want := range map[string]string{
		"a": "local/a", "a/inner": "local/inner", "a/inner/deep": "local/inner", "b/sub": "local/b", ".": "local/b", "": "local/b",
	} {
		if f.Dir = filepath.Join(top, dir); dir == "" {
			f.Dir = ""
		}
		if got := use(); got.Plan.Project != want {
			t.Errorf("in %q the project is %s, want %s", dir, got.Plan.Project, want)
		}
	}
	f.Dir = filepath.Join(top, "a")
	first, second := use(), use()
	if got := do(t, f, a2a.PlanStatus(), a2a.RefQuery{Ref: "@last"}); got.Plan.ID != second.Plan.ID {
		t.Errorf("the newest: %+v", got.Plan)
	}
	do(t, f, a2a.PlanPause(), a2a.RefQuery{Ref: string(first.Plan.ID)})
	if got := do(t, f, a2a.PlanStatus(), a2a.RefQuery{Ref: "@last"}); got.Plan.ID != first.Plan.ID {
		t.Errorf("the one touched last: %+v", got.Plan)
	}
	f.Dir = filepath.Join(top, "a/inner")
	if got := do(t, f, a2a.PlanStatus(), a2a.RefQuery{}); got.Plan.Project != "local/inner" {
		t.Errorf("another project's plan: %+v", got.Plan)
	}
}

func TestRefs(t *testing.T) {
	f, _ := newFacade(t)
	refused(t, f, a2a.PlanShow(), a2a.RefQuery{Ref: "@last"}, fault.NotFound)
	out, _ := waiting(t, f, "echo x > a.txt")
	id := string(out.Plan.ID)
	for _, ref := range []string{id, strings.ToLower(id), id[len(id)-6:], "@last", "", out.Plan.Name, strings.TrimPrefix(out.Plan.Name, "local/")} {
		if got := do(t, f, a2a.PlanShow(), a2a.RefQuery{Ref: ref}); got.Plan.ID != out.Plan.ID {
			t.Errorf("%q is %s", ref, got.Plan.ID)
		}
	}
	refused(t, f, a2a.PlanList(), a2a.PlanListQuery{State: "bogus"}, fault.Invalid)
	refused(t, f, a2a.PlanList(), a2a.PlanListQuery{Phase: "bogus"}, fault.Invalid)
	refused(t, f, a2a.PlanDiff(), a2a.PlanDiffQuery{Ref: id, Paths: []string{"no/such"}}, fault.NotFound)
	refused(t, f, a2a.PlanUse(), a2a.PlanUseRequest{
		Action: "builtin/command", Project: out.Plan.Project, Name: out.Plan.Name, Args: map[string]string{"command": "true"},
	}, fault.Exists)
	other := "X"
	if strings.HasSuffix(id, other) {
		other = "Y"
	}
	for _, ref := range []string{"nosuch", "ZZZZZZZZ", id[:25] + other} {
		refused(t, f, a2a.PlanShow(), a2a.RefQuery{Ref: ref}, fault.NotFound)
	}
	tree := do(t, f, a2a.PlanTree(), a2a.RefQuery{Ref: "@last"})
	d := tree.Roots[0].Children[0].Decision
	e := do(t, f, a2a.PlanExplain(), a2a.RefQuery{Ref: string(d.ID)})
	if last := do(t, f, a2a.PlanExplain(), a2a.RefQuery{Ref: "@last"}); last.Decision.Phase != plan.PhaseExecute {
		t.Errorf("the last decision: %+v", last.Decision)
	}
	if e.Decision.ID != d.ID || len(e.Upstream) != 1 || e.Upstream[0].Type != plan.PromptDefinition {
		t.Errorf("explain: %+v", e)
	}
}

func TestApprovalsGoThroughTheInbox(t *testing.T) {
	f, _ := newFacade(t)
	out, dir := waiting(t, f, "echo x > a.txt")
	list := do(t, f, a2a.ApprovalList(), a2a.ApprovalListQuery{})
	if len(list.Approvals) != 1 || list.Approvals[0].Plan != out.Plan.ID {
		t.Fatalf("the inbox holds %+v", list)
	}
	ref := string(list.Approvals[0].ID)
	shown := do(t, f, a2a.ApprovalShow(), a2a.RefQuery{Ref: ref})
	if shown.Diff == nil || len(shown.Diff.Files) != 1 || shown.Next != "agents approval approve "+ref {
		t.Errorf("shown: %+v", shown)
	}
	refused(t, f, a2a.ApprovalApprove(), a2a.ApproveRequest{Refs: []string{ref, "ZZZZZZZZ"}}, fault.NotFound)
	said := do(t, f, a2a.ApprovalApprove(), a2a.ApproveRequest{Refs: []string{ref}, Note: "fine"})
	if said.Approvals[0].State != plan.Approved || said.Next != "agents plan resume "+string(out.Plan.ID) {
		t.Errorf("approved: %+v", said)
	}
	refused(t, f, a2a.ApprovalReject(), a2a.RejectRequest{Ref: ref}, fault.Conflict)
	if got := do(t, f, a2a.PlanResume(), a2a.RefQuery{Ref: string(out.Plan.ID)}); got.Plan.State != plan.Applied {
		t.Errorf("resumed: %+v", got)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(b) != "x\n" {
		t.Errorf("a.txt is %q (%v)", b, err)
	}
}

func TestEventsArriveInOrder(t *testing.T) {
	f, _ := newFacade(t)
	var seqs []int64
	_, err := a2a.Call(context.Background(), f, a2a.PlanUse(), a2a.PlanUseRequest{
		Action: "builtin/command", Project: t.TempDir(), Args: map[string]string{"command": "true"}, Profile: "ci", Start: true,
	}, func(e plan.Event) {
		if e.Seq != 0 { // 0 is told and not stored
			seqs = append(seqs, e.Seq)
		}
	})
	must(t, err)
	for i, n := range seqs {
		if n != int64(i+1) {
			t.Fatalf("events arrived as %v", seqs)
		}
	}
	if len(seqs) < 8 {
		t.Errorf("only %d events", len(seqs))
	}
}
