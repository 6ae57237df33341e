package durable

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/fault"
)

func TestRunCallsEachStepOnceInOrder(t *testing.T) {
	r := open(t, stateDir(t))
	var got []int
	if err := r.Run(t.Context(), "p.1", count(4, &got)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1, 2, 3}, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestAnEndedKeyIsNotRunAgain(t *testing.T) {
	dir := stateDir(t)
	first := open(t, dir)
	var got []int
	if err := first.Run(t.Context(), "p.1", count(2, &got)); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*Runner{first, open(t, dir)} {
		if err := r.Run(t.Context(), "p.1", count(2, &got)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]int{0, 1}, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if err := first.Run(t.Context(), "p.2", count(1, &got)); err != nil || len(got) != 3 {
		t.Errorf("another key: %v, calls %v", err, got)
	}
}

// oddError cannot be compared and cannot be told from its text.
type oddError struct{ parts []string }

func (e oddError) Error() string { return "odd" }

func TestAFailureComesBackAsItIsAndIsFinal(t *testing.T) {
	denied := fault.New(fault.Denied, "no such right").WithCode("NoRight").WithHint("ask for it").With("right", "x")
	tests := []struct {
		name string
		err  error
		want *fault.Error // later
	}{
		{"fault", denied, &fault.Error{Kind: fault.Denied, Code: "NoRight", Msg: "no such right", Hint: "ask for it"}},
		{"plain", errors.New("plain"), &fault.Error{Kind: fault.Internal, Msg: "plain"}},
		{"uncomparable", oddError{[]string{"a"}}, &fault.Error{Kind: fault.Internal, Msg: "odd"}},
		{"context error of its own", context.DeadlineExceeded, &fault.Error{Kind: fault.Timeout, Msg: "context deadline exceeded"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := stateDir(t)
			r := open(t, dir)
			calls := 0
			step := func(_ context.Context, n int) (bool, error) {
				calls++
				if n == 1 {
					return false, tt.err
				}
				return false, nil
			}
			err := r.Run(t.Context(), "p.1", step)
			var odd oddError
			if same := errors.As(tt.err, &odd) && errors.As(err, &odd); !same && err != tt.err {
				t.Fatalf("Run = %#v, want the step's own %#v", err, tt.err)
			}
			for _, again := range []*Runner{r, open(t, dir)} {
				var got *fault.Error
				if err := again.Run(t.Context(), "p.1", step); !errors.As(err, &got) {
					t.Fatalf("Run again = %v", err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("Run again (-want +got):\n%s", diff)
				}
			}
			if calls != 2 {
				t.Errorf("calls = %d, want 2", calls)
			}
		})
	}
}

func TestAPanicEndsTheKeyAsADefect(t *testing.T) {
	dir := stateDir(t)
	step := func(context.Context, int) (bool, error) { panic("boom") }
	r := open(t, dir)
	for range 2 {
		if err := r.Run(t.Context(), "p.1", step); !fault.Is(err, fault.Internal) {
			t.Errorf("Run = %v, want Internal", err)
		}
		step = func(context.Context, int) (bool, error) { return true, nil }
	}
}

func TestCancelStopsAndALaterRunGoesOn(t *testing.T) {
	stop := fault.New(fault.Interrupted, "stopped by the user")
	tests := []struct {
		name string
		// stopIn is step 2, in which ctx is cancelled.
		stopIn func(ctx context.Context) (bool, error)
		want   error
		rest   []int
	}{
		{"the step succeeds all the same", func(context.Context) (bool, error) { return false, nil }, stop, []int{3, 4}},
		{"the step gives up", func(ctx context.Context) (bool, error) { return false, ctx.Err() }, context.Canceled, []int{2, 3, 4}},
	}
	for _, tt := range tests {
		for _, same := range []bool{true, false} {
			t.Run(tt.name, func(t *testing.T) {
				dir := stateDir(t)
				r := open(t, dir)
				ctx, cancel := context.WithCancelCause(t.Context())
				var got []int
				err := r.Run(ctx, "p.1", func(ctx context.Context, n int) (bool, error) {
					got = append(got, n)
					if n < 2 {
						return false, nil
					}
					cancel(stop)
					<-ctx.Done()
					return tt.stopIn(ctx)
				})
				if err != tt.want {
					t.Fatalf("Run = %v, want %v", err, tt.want)
				}
				if diff := cmp.Diff([]int{0, 1, 2}, got); diff != "" {
					t.Fatalf("calls (-want +got):\n%s", diff)
				}
				if !same {
					r = open(t, dir)
				}
				got = nil
				if err := r.Run(t.Context(), "p.1", count(5, &got)); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.rest, got); diff != "" {
					t.Errorf("later calls (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestACancelledContextStartsNothing(t *testing.T) {
	r := open(t, stateDir(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var got []int
	if err := r.Run(ctx, "p.1", count(1, &got)); !errors.Is(err, context.Canceled) || len(got) > 0 {
		t.Errorf("Run = %v, calls %v", err, got)
	}
}

func TestDoneUnderACancelledContextIsDone(t *testing.T) {
	r := open(t, stateDir(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := r.Run(ctx, "p.1", func(context.Context, int) (bool, error) { cancel(); return true, nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context(), "p.1", func(context.Context, int) (bool, error) {
		t.Error("called again")
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestOneProcessRunsAKeyOnce(t *testing.T) {
	r := open(t, stateDir(t))
	var inner error
	err := r.Run(t.Context(), "p.1", func(ctx context.Context, _ int) (bool, error) {
		inner = r.Run(ctx, "p.1", func(context.Context, int) (bool, error) { return true, nil })
		return true, r.Run(ctx, "p.2", func(context.Context, int) (bool, error) { return true, nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	if !fault.Is(inner, fault.Busy) || fault.As(inner).Details["holder"] != r.live.Self() {
		t.Errorf("the second Run = %v", inner)
	}
}

func TestCloseInterruptsRunsAndTheyCanGoOn(t *testing.T) {
	dir := stateDir(t)
	r := open(t, dir)
	in, end := make(chan struct{}), make(chan error, 1)
	go func() {
		end <- r.Run(context.Background(), "p.1", func(ctx context.Context, n int) (bool, error) {
			if n < 1 {
				return false, nil
			}
			close(in)
			<-ctx.Done()
			return false, context.Cause(ctx)
		})
	}()
	<-in
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-end; !fault.Is(err, fault.Interrupted) {
		t.Errorf("Run = %v, want Interrupted", err)
	}
	if err := r.Run(t.Context(), "p.1", nil); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Run after Close = %v, want Unavailable", err)
	}
	var got []int
	if err := open(t, dir).Run(t.Context(), "p.1", count(2, &got)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1}, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// The file must not grow with the number of runs.
func TestEndedRunsAreForgottenBeyondKeep(t *testing.T) {
	r := openKeeping(t, stateDir(t), 3)
	var got []int
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		if err := r.Run(t.Context(), key, count(4, &got)); err != nil {
			t.Fatal(err)
		}
	}
	rows := map[string]int{}
	for _, table := range []string{"workflow_status", "workflow_input", "workflow_output", "operation_outputs"} {
		rows[table] = rowsIn(t, r.db, table)
	}
	want := map[string]int{"workflow_status": 3, "workflow_input": 3, "workflow_output": 3, "operation_outputs": 0}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestALivingRunIsNotForgotten(t *testing.T) {
	r := openKeeping(t, stateDir(t), 1)
	var got []int
	err := r.Run(t.Context(), "old", func(ctx context.Context, n int) (bool, error) {
		for _, key := range []string{"a", "b", "c"} {
			if err := r.Run(ctx, key, count(1, &got)); err != nil {
				return false, err
			}
		}
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func rowsIn(t *testing.T, db *sql.DB, table string) int {
	t.Helper()
	var n int
	if err := db.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A process that was taken for dead must not record any more, and must not
// keep its caller waiting.
func TestAfterATakeOverTheOldProcessCannotRecord(t *testing.T) {
	dir := stateDir(t)
	old := open(t, dir)
	other := open(t, dir)
	other.live = deadTo{other.live}
	var got []int
	err := old.Run(t.Context(), "p.1", func(ctx context.Context, n int) (bool, error) {
		if n == 0 {
			return false, nil
		}
		return true, other.Run(ctx, "p.1", count(3, &got))
	})
	if !fault.Is(err, fault.Busy) {
		t.Errorf("the old process's Run = %v, want Busy", err)
	}
	if diff := cmp.Diff([]int{1, 2}, got); diff != "" {
		t.Errorf("calls after the take-over (-want +got):\n%s", diff)
	}
}

// deadTo takes every other process for dead.
type deadTo struct{ self interface{ Self() string } }

func (d deadTo) Self() string                       { return d.self.Self() }
func (d deadTo) Alive(context.Context, string) bool { return false }

func TestKeysAreChecked(t *testing.T) {
	r := open(t, stateDir(t))
	for _, key := range []string{"", string(make([]byte, maxKey+1))} {
		if err := r.Run(t.Context(), key, nil); !fault.Is(err, fault.Internal) {
			t.Errorf("Run(%d bytes) = %v", len(key), err)
		}
	}
}
