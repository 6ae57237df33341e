package tool_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/tool"
)

func TestDone(t *testing.T) {
	for s, want := range map[tool.Status]bool{
		tool.Pending: false, tool.Waiting: false, tool.Running: false,
		tool.OK: true, tool.Failed: true, tool.Refused: true, tool.Exceeded: true,
	} {
		if s.Done() != want {
			t.Errorf("%s: got %v", s, s.Done())
		}
	}
}

func TestFail(t *testing.T) {
	for _, c := range []struct {
		err  error
		want tool.Result
	}{
		{errors.New("no such file"), tool.Result{Status: tool.Failed, Output: "error: no such file"}},
		{fault.New(fault.NotFound, "no file x").WithHint("list the directory"), tool.Result{Status: tool.Failed, Output: "error: no file x\nlist the directory"}},
		{fault.New(fault.Exhausted, "too long"), tool.Result{Status: tool.Exceeded, Output: "error: too long"}},
		{fault.New(fault.Timeout, "too late"), tool.Result{Status: tool.Exceeded, Output: "error: too late"}},
		{fault.New(fault.Blocked, "guard"), tool.Result{Status: tool.Refused, Output: "error: guard"}},
		{fault.New(fault.Denied, "link"), tool.Result{Status: tool.Refused, Output: "error: link"}},
	} {
		if d := cmp.Diff(c.want, tool.Fail(c.err)); d != "" {
			t.Errorf("%v:\n%s", c.err, d)
		}
	}
}
