package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/plan"
)

// Several processes want to run one plan: one does, the others are told so.
func TestOneProcessRunsAPlan(t *testing.T) {
	t.Parallel()
	data, tree, pipes := t.TempDir(), t.TempDir(), t.TempDir()
	begun, goOn := filepath.Join(pipes, "begun"), filepath.Join(pipes, "go")
	must(t, mkfifo(begun))
	must(t, mkfifo(goOn))
	w := newWorld(t, data, tree, noModel{}, nil, nil)
	p := w.use(command(map[string]string{"command": "echo line >> log.txt; echo > '" + begun + "'; cat '" + goOn + "'"}, "ci"))
	first := make(chan error)
	go func() { first <- runChild(t, "command", data, tree, p.ID, nil) }()
	_, err := os.ReadFile(begun)
	must(t, err)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if code := exitCode(runChild(t, "command", data, tree, p.ID, nil)); code != busyExit {
				t.Errorf("another process ended with %d, want %d", code, busyExit)
			}
		})
	}
	wg.Wait()
	must(t, os.WriteFile(goOn, nil, 0o600))
	must(t, <-first)
	w.status(w.plan(p.ID), plan.Applied)
	w.decisions(p, 3)
	if got := read(t, tree, "log.txt"); got != "line\n" {
		t.Errorf("log.txt is %q", got)
	}
}

// Processes that run different plans on one store lose nothing.
func TestProcessesShareAStore(t *testing.T) {
	t.Parallel()
	data, tree := t.TempDir(), t.TempDir()
	w := newWorld(t, data, tree, noModel{}, nil, nil)
	t.Cleanup(w.audit)
	var plans []plan.Plan
	for i := range 4 {
		plans = append(plans, w.use(command(map[string]string{
			"command": fmt.Sprintf("echo %d > f%d.txt", i, i), "validate": fmt.Sprintf("grep -q %d f%d.txt", i, i),
		}, "ci")))
	}
	var wg sync.WaitGroup
	for _, p := range plans {
		wg.Go(func() {
			if err := runChild(t, "command", data, tree, p.ID, nil); err != nil {
				t.Errorf("plan %s: %v", p.ID, err)
			}
		})
	}
	wg.Wait()
	want := w.story(w.plan(plans[0].ID))
	for i, p := range plans {
		w.status(w.plan(p.ID), plan.Applied)
		w.decisions(p, 3)
		if got := read(t, tree, fmt.Sprintf("f%d.txt", i)); got != fmt.Sprintf("%d\n", i) {
			t.Errorf("f%d.txt is %q", i, got)
		}
		if n := len(w.story(p)); n != len(want) {
			t.Errorf("plan %d has %d records, the first has %d", i, n, len(want))
		}
		var holder string
		w.view(func(tx engine.Tx) (err error) {
			holder, err = tx.Holder(p.ID)
			return err
		})
		if holder != "" {
			t.Errorf("plan %d is still held by %s", i, holder)
		}
	}
	if err := w.Cancel(context.Background(), plans[0].ID, "", false); err == nil {
		t.Error("an applied plan can be cancelled")
	}
}
