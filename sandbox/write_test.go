package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/blob"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
)

// applying is a live tree with changes to it, applied in this process.
type applying struct {
	t           testing.TB
	live        string
	before, now map[string]string
	target      *Target
	order       engine.Application
	fault       func(op, path string) error
}

func newApplying(t testing.TB, before, after map[string]string) *applying {
	t.Helper()
	dir := quick(t)
	a := &applying{t: t, live: filepath.Join(dir, "live")}
	lay(t, a.live, before)
	lay(t, filepath.Join(dir, "want"), after)
	a.before, a.now = picture(t, a.live), picture(t, filepath.Join(dir, "want"))
	blobs, err := blob.Open(filepath.Join(dir, "blobs"), nil)
	must(t, err)
	t.Cleanup(func() { must(t, blobs.Close()) })
	a.order = engine.Application{Plan: "P", Parts: []engine.Part{{Location: a.live, Changes: changesOf(t, blobs, before, after)}}}
	a.target = NewTarget(TargetConfig{Blobs: blobs, Kept: filepath.Join(dir, "kept"), Dir: filepath.Join(dir, "applies"), Fault: func(op, path string) error {
		if a.fault == nil {
			return nil
		}
		return a.fault(op, path)
	}})
	return a
}

func (a *applying) apply() error {
	_, err := a.target.Apply(context.Background(), a.order)
	return err
}

// settle ends what was cut short, if anything was.
func (a *applying) settle(back bool) {
	a.t.Helper()
	if _, err := a.target.Settle(context.Background(), "P", back); err != nil && !fault.Is(err, fault.NotFound) {
		a.t.Fatal(err)
	}
}

func (a *applying) is(what string, want map[string]string) {
	a.t.Helper()
	if diff := cmp.Diff(want, picture(a.t, a.live)); diff != "" {
		a.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// T35: a person's edit at any point of an application is not lost. When it came
// before the turn of that file, the rest stops and is written or taken back.
func TestEditDuringApply(t *testing.T) {
	before, after := small()
	save := map[string]func(path string) error{
		"in place": func(path string) error { return os.WriteFile(path, []byte("user"), 0o644) },
		"by rename": func(path string) error {
			return errors.Join(os.WriteFile(path+"~", []byte("user"), 0o644), os.Rename(path+"~", path))
		},
	}
	stopped := 0
	for how, edit := range save {
		for _, name := range []string{"a", "gone/x"} {
			for _, back := range []bool{false, true} {
				for n := 1; ; n += 2 {
					a := newApplying(t, before, after)
					calls, path := 0, filepath.Join(a.live, filepath.FromSlash(name))
					a.fault = func(string, string) error {
						if calls++; calls == n {
							must(t, os.MkdirAll(filepath.Dir(path), 0o755))
							return edit(path)
						}
						return nil
					}
					err := a.apply()
					a.fault = nil
					if calls < n {
						break
					}
					what := fmt.Sprintf("%s of %s at call %d, back %v", how, name, n, back)
					if err != nil && !fault.Is(err, fault.Conflict) {
						t.Fatalf("%s: %v", what, err)
					}
					want := a.now
					if err != nil {
						want = a.before
						if fault.As(err).Code == engine.ApplyStopped {
							stopped++
							if fault.As(err).Hint == "" {
								t.Errorf("%s: no way out", what)
							}
							a.settle(back)
							if !back {
								want = a.now
							}
						}
					}
					mine := map[string]string{}
					for k, v := range want {
						mine[k] = v
					}
					if mine[name] = "-rw-r--r-- user"; how == "in place" && mode(t, path)&0o100 != 0 {
						mine[name] = "-rwxr-xr-x user"
					}
					if d := filepath.Dir(name); d != "." && mine[d] == "" {
						mine[d] = "drwxr-xr-x"
					}
					a.is(what, mine)
					must(t, a.target.Forget(context.Background(), "P"))
					if t.Failed() {
						return
					}
				}
			}
		}
	}
	if stopped < 20 {
		t.Errorf("only %d applications stopped in the middle", stopped)
	}
	t.Logf("%d applications stopped in the middle", stopped)
}

func mode(t testing.TB, path string) os.FileMode {
	t.Helper()
	fi, err := os.Lstat(path)
	must(t, err)
	return fi.Mode()
}

// T35: what somebody writes through a file that they had open, after it was
// swapped, is kept.
func TestLateWriteIsKept(t *testing.T) {
	a := newApplying(t, map[string]string{"f": "old", "g": "old"}, map[string]string{"f": "new", "g": "new"})
	open, err := os.OpenFile(filepath.Join(a.live, "f"), os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(a.live, "f"), []byte("old"), 0o644))
	a.fault = func(op, path string) error {
		if op == "exchange" && path == "g" { // f is done
			_, err := open.WriteString(" and mine")
			return err
		}
		return nil
	}
	l, err := a.target.Apply(context.Background(), a.order)
	must(t, err)
	must(t, open.Close())
	a.is("the tree", a.now)
	if len(l.Left) != 1 || !strings.HasPrefix(l.Left[0], "f (your version is in ") {
		t.Fatalf("left: %q", l.Left)
	}
	where := strings.TrimSuffix(strings.TrimPrefix(l.Left[0], "f (your version is in "), ")")
	if b, err := os.ReadFile(where); err != nil || string(b) != "old and mine" {
		t.Errorf("%s holds %q, %v", where, b, err)
	}
}

// T33: what is left is ended by whoever comes next: another plan that applies,
// and a snapshot.
func TestNextOneEndsWhatWasCutShort(t *testing.T) {
	for _, next := range []string{"apply", "snapshot"} {
		k := newKillable(t, map[string]string{"a": "old", "b": "old"}, map[string]string{"a": "new", "b": "new"})
		n := 1
		for ; k.copyTo(t, fmt.Sprint(next, n)).run(t, n, false); n++ {
			c := &killable{dir: filepath.Join(k.top, fmt.Sprint(next, n)), top: k.top, before: k.before, now: k.now}
			blobs, err := blob.Open(filepath.Join(k.top, "blobs"), nil)
			must(t, err)
			target := NewTarget(TargetConfig{Blobs: blobs, Kept: filepath.Join(c.dir, "kept"), Dir: filepath.Join(c.dir, "applies")})
			live := filepath.Join(c.dir, "live")
			if next == "apply" {
				set := changesOf(t, blobs, nil, map[string]string{"c": "other"})
				_, err = target.Apply(context.Background(), engine.Application{Plan: "Q", Parts: []engine.Part{{Location: live, Changes: set}}})
			} else {
				var release func()
				release, err = target.quiet(context.Background(), live)
				if err == nil {
					release()
				}
			}
			must(t, err)
			got := picture(t, live)
			delete(got, "c")
			if !cmp.Equal(got, k.before) && !cmp.Equal(got, k.now) {
				t.Fatalf("killed at %d, then %s: %v", n, next, got)
			}
			must(t, blobs.Close())
		}
		if n < 10 {
			t.Errorf("only %d points", n)
		}
	}
}

// A journal that is damaged stops everything, names itself and is left alone.
func TestDamagedJournal(t *testing.T) {
	for name, text := range map[string]string{
		"garbage": "\x00nonsense", "empty": "", "of another plan": `{"version":1,"plan":"Q"}`, "of a later version": `{"version":2,"plan":"P"}`,
		"with more in it": `{"version":1,"plan":"P","news":1}`,
	} {
		a := newApplying(t, map[string]string{"f": "old"}, map[string]string{"f": "new"})
		file := filepath.Join(a.target.cfg.Dir, "P.json")
		must(t, os.MkdirAll(a.target.cfg.Dir, 0o700))
		must(t, os.WriteFile(file, []byte(text), 0o600))
		for _, id := range []string{"P", "OTHER"} {
			a.order.Plan = ident.PlanID(id)
			if err := a.apply(); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), file) || !strings.Contains(fault.As(err).Hint, file) {
				t.Errorf("%s, plan %s: %v", name, id, err)
			}
		}
		a.is(name, a.before)
		if b, err := os.ReadFile(file); err != nil || string(b) != text {
			t.Errorf("%s: the journal holds %q, %v", name, b, err)
		}
	}
}

// Who gives up waiting gets all or nothing, too: everything as it was before the
// commit, and the end of it after.
func TestCancelledApply(t *testing.T) {
	before, after := small()
	ended := map[bool]int{}
	for n := 1; ; n++ {
		a := newApplying(t, before, after)
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		a.fault = func(string, string) error {
			if calls++; calls == n {
				cancel()
			}
			return nil
		}
		_, err := a.target.Apply(ctx, a.order)
		cancel()
		if calls < n {
			break
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("call %d: %v", n, err)
		}
		ended[err == nil]++
		if want := map[bool]map[string]string{true: a.now, false: a.before}[err == nil]; !cmp.Equal(want, picture(t, a.live)) {
			t.Fatalf("given up at call %d, %v: %s", n, err, cmp.Diff(want, picture(t, a.live)))
		}
		if at, serr := a.target.Stage(context.Background(), "P"); serr != nil || err != nil && at != engine.StageNone {
			t.Fatalf("given up at call %d: the journal says %q, %v", n, at, serr)
		}
	}
	if ended[true] < 50 || ended[false] < 50 {
		t.Errorf("ended well %d times, put back %d times", ended[true], ended[false])
	}
}

// T38: a snapshot waits for an apply that is under way, and never sees half of it.
func TestSnapshotWaitsForAnApply(t *testing.T) {
	a := newApplying(t, map[string]string{"a": "old", "b": "old"}, map[string]string{"a": "new", "b": "new"})
	got := make(chan error, 1)
	begun := false
	a.fault = func(op, path string) error {
		if op == "exchange" && !begun { // the journal says that it is under way
			begun = true
			go func() {
				release, err := a.target.quiet(context.Background(), a.live)
				if err == nil {
					defer release()
					if !cmp.Equal(picture(t, a.live), a.now) {
						err = errors.New("half of it is seen")
					}
				}
				got <- err
			}()
		}
		return nil
	}
	must(t, a.apply())
	must(t, <-got)
	if !begun {
		t.Error("nobody waited")
	}
}
