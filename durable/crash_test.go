package durable

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/crash/crashtest"
	"github.com/cleveragents/agents/fault"
)

// Each run dies at its next crash point, and each goes on from what the
// one before has left.
func TestKilledAtEachPoint(t *testing.T) {
	const steps = 4
	for _, kept := range []bool{false, true} {
		t.Run(fmt.Sprintf("kept=%v", kept), func(t *testing.T) {
			dir := stateDir(t)
			deaths := crashtest.Walk(t, func(t *testing.T, env []string) error {
				if !kept {
					dir = stateDir(t)
				}
				return command(dir, "p.1", steps, env...).Run()
			}, func(t *testing.T) {
				if !kept {
					var got []int
					if err := open(t, dir).Run(t.Context(), "p.1", count(steps, &got)); err != nil {
						t.Fatal(err)
					}
					for _, n := range got {
						if err := note(dir, "%d", n); err != nil {
							t.Fatal(err)
						}
					}
				}
				checkOrder(t, calls(t, dir))
			})
			if deaths < steps {
				t.Errorf("deaths = %d, want at least one in each of %d steps", deaths, steps)
			}
			all := calls(t, dir)
			if last := all[len(all)-1]; last != fmt.Sprint(steps-1) {
				t.Errorf("the last step called is %s, want %d", last, steps-1)
			}
		})
	}
}

// checkOrder accepts 0 0 1 2 2 3: a step may be repeated, none is left out and
// none comes back after the next one.
func checkOrder(t *testing.T, calls []string) {
	t.Helper()
	next := 0
	for i, c := range calls {
		switch {
		case c == fmt.Sprint(next):
			next++
		case i > 0 && c == calls[i-1]:
		default:
			t.Fatalf("calls %v: %s at %d", calls, c, i)
		}
	}
}

func TestARecordedStepIsNotRepeatedAfterSIGKILL(t *testing.T) {
	for held := range 5 {
		t.Run(fmt.Sprint(held), func(t *testing.T) {
			dir := stateDir(t)
			kill(holder(t, dir, "p.1", held))
			var got []int
			if err := open(t, dir).Run(t.Context(), "p.1", count(6, &got)); err != nil {
				t.Fatal(err)
			}
			var want []int
			for n := held; n < 6; n++ {
				want = append(want, n)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALivingProcessKeepsItsKey(t *testing.T) {
	dir := stateDir(t)
	cmd := holder(t, dir, "p.1", 1)
	r := open(t, dir)
	var got []int
	err := r.Run(t.Context(), "p.1", count(3, &got))
	want := fmt.Sprintf("C%d-%d", cmd.Process.Pid, cmd.Process.Pid)
	if !fault.Is(err, fault.Busy) || fault.As(err).Details["holder"] != want {
		t.Fatalf("Run = %v, want Busy of %s", err, want)
	}
	if len(got) > 0 {
		t.Fatalf("calls %v beside a living process", got)
	}
	kill(cmd)
	if err := r.Run(t.Context(), "p.1", count(3, &got)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 2}, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// A take-over is of the asked key only.
func TestOtherRunsOfADeadProcessAreLeftAlone(t *testing.T) {
	dir := stateDir(t)
	kill(holder(t, dir, "p.1", 1))
	kill(holder(t, dir, "q.1", 1))
	r := open(t, dir)
	var got []int
	if err := r.Run(t.Context(), "p.1", count(3, &got)); err != nil {
		t.Fatal(err)
	}
	c, err := r.readClaim(t.Context(), "q.1")
	if err != nil || c == nil || c.status != "PENDING" || c.holder == r.live.Self() {
		t.Errorf("the other claim is %+v, %v", c, err)
	}
}

func TestSeveralTakeOversAtOnceRunItOnce(t *testing.T) {
	for range 5 {
		dir := stateDir(t)
		kill(holder(t, dir, "p.1", 1))
		runs := make([]*Runner, 4)
		for i := range runs {
			runs[i] = open(t, dir)
		}
		start := make(chan struct{})
		errs := make([]error, len(runs))
		got := make([][]int, len(runs))
		var all sync.WaitGroup
		for i, r := range runs {
			all.Go(func() {
				<-start
				errs[i] = r.Run(context.Background(), "p.1", count(3, &got[i]))
			})
		}
		close(start)
		all.Wait()
		ran := 0
		for i, err := range errs {
			if err != nil && !fault.Is(err, fault.Busy) {
				t.Errorf("Run = %v", err)
			}
			if len(got[i]) > 0 {
				ran++
				if diff := cmp.Diff([]int{1, 2}, got[i]); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
			}
		}
		if ran != 1 {
			t.Errorf("%d of %d ran it: %v", ran, len(runs), got)
		}
	}
}

// Start-up race: four processes on a directory in which nothing exists yet.
func TestFourProcessesStartAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	outs := make([]string, 4)
	errs := make([]error, 4)
	for i := range outs {
		all.Go(func() {
			out, err := command(dir, fmt.Sprintf("p%d.1", i), 25).CombinedOutput()
			outs[i], errs[i] = string(out), err
		})
	}
	all.Wait()
	for i := range outs {
		// Silence, too: nothing may write to a user's terminal.
		if errs[i] != nil || outs[i] != "" {
			t.Errorf("process %d: %v %q", i, errs[i], outs[i])
		}
	}
	if n := len(calls(t, dir)); n != 4*25 {
		t.Errorf("calls = %d, want 100", n)
	}
}

// The kind of a failure survives a death between the failed step's record and
// the run's end.
func TestAFailureKeepsItsKindWhereverTheProcessDies(t *testing.T) {
	dir := stateDir(t)
	run := func(env ...string) (int, error) {
		cmd := command(dir, "p.1", 4, append(env, childFail+"=1")...)
		err := cmd.Run()
		return cmd.ProcessState.ExitCode(), err
	}
	denied := fault.Denied.Meaning().Exit
	crashtest.Walk(t, func(t *testing.T, env []string) error {
		code, err := run(env...)
		if code == denied {
			return nil
		}
		return err
	}, func(*testing.T) {})
	if code, err := run(); code != denied {
		t.Errorf("after the end: %v, want exit status %d", err, denied)
	}
	all := calls(t, dir)
	checkOrder(t, all)
	if all[len(all)-1] != "1" {
		t.Errorf("calls %v go on after the failure", all)
	}
}

func TestFourProcessesOnOneKey(t *testing.T) {
	dir := stateDir(t)
	var all sync.WaitGroup
	codes := make([]int, 4)
	for i := range codes {
		all.Go(func() {
			cmd := command(dir, "p.1", 50)
			_ = cmd.Run() // the exit status is looked at
			codes[i] = cmd.ProcessState.ExitCode()
		})
	}
	all.Wait()
	for _, c := range codes {
		if c != 0 && c != fault.Busy.Meaning().Exit {
			t.Errorf("exit statuses %v, want 0 or Busy's", codes)
		}
	}
	if n := len(calls(t, dir)); n != 50 {
		t.Errorf("calls = %d, want each of 50 once", n)
	}
}
