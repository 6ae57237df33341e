package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/fault"
)

// The exits are promised to scripts, the RPC codes and statuses to clients.
func TestTable(t *testing.T) {
	want := []struct {
		kind fault.Kind
		fault.Meaning
	}{
		{fault.Internal, fault.Meaning{Name: "Internal", Exit: 1, RPC: -32603, HTTP: 500}},
		{fault.Invalid, fault.Meaning{Name: "Invalid", Exit: 2, RPC: -32602, HTTP: 400}},
		{fault.NotFound, fault.Meaning{Name: "NotFound", Exit: 3, RPC: -32001, HTTP: 404}},
		{fault.Waiting, fault.Meaning{Name: "Waiting", Exit: 4, RPC: -32010, HTTP: 409}},
		{fault.ValidationFailed, fault.Meaning{Name: "ValidationFailed", Exit: 5, RPC: -32011, HTTP: 422}},
		{fault.Blocked, fault.Meaning{Name: "Blocked", Exit: 6, RPC: -32012, HTTP: 403}},
		{fault.Exhausted, fault.Meaning{Name: "Exhausted", Exit: 6, RPC: -32013, HTTP: 429}},
		{fault.Conflict, fault.Meaning{Name: "Conflict", Exit: 7, RPC: -32014, HTTP: 409}},
		{fault.Exists, fault.Meaning{Name: "Exists", Exit: 7, RPC: -32015, HTTP: 409}},
		{fault.Busy, fault.Meaning{Name: "Busy", Exit: 7, RPC: -32016, HTTP: 409}},
		{fault.Unavailable, fault.Meaning{Name: "Unavailable", Exit: 8, RPC: -32017, HTTP: 503}},
		{fault.Cancelled, fault.Meaning{Name: "Cancelled", Exit: 9, RPC: -32018, HTTP: 499}},
		{fault.Denied, fault.Meaning{Name: "Denied", Exit: 10, RPC: -32019, HTTP: 401}},
		{fault.NotImplemented, fault.Meaning{Name: "NotImplemented", Exit: 11, RPC: -32601, HTTP: 501}},
		{fault.Corrupt, fault.Meaning{Name: "Corrupt", Exit: 1, RPC: -32020, HTTP: 500}},
		{fault.Timeout, fault.Meaning{Name: "Timeout", Exit: 124, RPC: -32021, HTTP: 504}},
		{fault.Interrupted, fault.Meaning{Name: "Interrupted", Exit: 130, RPC: -32022, HTTP: 499}},
	}
	if len(want) != len(fault.Table()) {
		t.Fatalf("%d kinds in the table, %d here", len(fault.Table()), len(want))
	}
	name, rpc := map[string]bool{}, map[int]bool{}
	for i, w := range want {
		if int(w.kind) != i {
			t.Errorf("%s is number %d, want %d: stored events hold the number", w.Name, w.kind, i)
		}
		if d := cmp.Diff(w.Meaning, w.kind.Meaning()); d != "" {
			t.Error(d)
		}
		if name[w.Name] || rpc[w.RPC] {
			t.Errorf("%s or its code %d is there twice", w.Name, w.RPC)
		}
		name[w.Name], rpc[w.RPC] = true, true
	}
	for _, k := range []fault.Kind{-1, fault.Kind(len(want))} {
		if got := k.String(); got != "Internal" {
			t.Errorf("kind %d reads %s, want Internal", int(k), got)
		}
	}
}

func TestNew(t *testing.T) {
	cause := errors.New("disk gone")
	other := errors.New("net gone")
	inner := fault.New(fault.NotFound, "no plan %q", "x").WithHint("try %s", "y")

	for name, c := range map[string]struct {
		err   error
		kind  fault.Kind
		text  string
		hint  string
		holds []error
	}{
		"plain":         {fault.New(fault.Busy, "held by %d", 3), fault.Busy, "held by 3", "", nil},
		"one cause":     {fault.New(fault.Corrupt, "read: %w", cause), fault.Corrupt, "read: disk gone", "", []error{cause}},
		"two causes":    {fault.New(fault.Corrupt, "%w and %w", cause, other), fault.Corrupt, "disk gone and net gone", "", []error{cause, other}},
		"fault as one":  {fault.New(fault.Invalid, "f:3: %w", inner), fault.Invalid, `f:3: no plan "x"`, "try y", []error{inner}},
		"fault of two":  {fault.New(fault.Invalid, "%w, %w", cause, inner), fault.Invalid, `disk gone, no plan "x"`, "try y", []error{cause, inner}},
		"own hint wins": {fault.New(fault.Invalid, "f: %w", inner).WithHint("z"), fault.Invalid, `f: no plan "x"`, "z", []error{inner}},
		"wrapped after": {fmt.Errorf("use: %w", inner), fault.NotFound, `use: no plan "x"`, "try y", []error{inner}},
		"joined":        {errors.Join(cause, inner), fault.NotFound, "disk gone\nno plan \"x\"", "try y", []error{inner}},
	} {
		t.Run(name, func(t *testing.T) {
			got := fault.As(c.err)
			if got.Kind != c.kind || got.Msg != c.text || got.Hint != c.hint || got.Error() != c.text {
				t.Errorf("got %v %q hint %q, want %v %q hint %q", got.Kind, got.Msg, got.Hint, c.kind, c.text, c.hint)
			}
			for _, h := range c.holds {
				if !errors.Is(c.err, h) {
					t.Errorf("the cause %q is lost", h)
				}
			}
			if fault.KindOf(c.err) != c.kind || !fault.Is(c.err, c.kind) || fault.Is(c.err, fault.Denied) {
				t.Errorf("kind %v, want only %v", fault.KindOf(c.err), c.kind)
			}
			if fault.Exit(c.err) != c.kind.Meaning().Exit {
				t.Errorf("exit %d", fault.Exit(c.err))
			}
		})
	}
}

func TestForeignErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		kind fault.Kind
	}{
		{errors.New("x"), fault.Internal},
		{fmt.Errorf("x: %w", context.Canceled), fault.Cancelled},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), fault.Timeout},
		{fault.New(fault.Busy, "x: %w", context.Canceled), fault.Busy},
	} {
		got := fault.As(c.err)
		if got.Kind != c.kind || got.Msg != c.err.Error() || !errors.Is(got, errors.Unwrap(c.err)) && errors.Unwrap(c.err) != nil {
			t.Errorf("%v: got %v %q", c.err, got.Kind, got.Msg)
		}
	}
	if fault.As(nil) != nil || fault.Exit(nil) != 0 || fault.Is(nil, fault.Internal) {
		t.Error("nil is a fault")
	}
}

func TestCopies(t *testing.T) {
	plain := fault.New(fault.Conflict, "moved")
	one := plain.With("path", "a")
	two := one.With("path", "b").With("n", 1).WithCode("BaseMoved").WithHint("look")
	if d := cmp.Diff(map[string]any{"path": "a"}, one.Details); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]any{"path": "b", "n": 1}, two.Details); d != "" {
		t.Error(d)
	}
	if plain.Details != nil || plain.Hint != "" || plain.Code != "" || one.Code != "" || one.Hint != "" {
		t.Errorf("an earlier copy changed: %+v %+v", plain, one)
	}
	if got := fault.CodeOf(fmt.Errorf("x: %w", two)); got != "BaseMoved" {
		t.Errorf("code %s", got)
	}
	if got := fault.CodeOf(plain); got != "Conflict" {
		t.Errorf("code %s", got)
	}
}
