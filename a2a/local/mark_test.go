package local_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
)

// A plan is renamed and labelled while it is being run, and goes on.
func TestMarksOfARunningPlan(t *testing.T) {
	f, _ := newFacade(t)
	ref, open := gated(t, f, "ci")
	do(t, f, a2a.PlanRename(), a2a.PlanRenameRequest{Ref: ref, Name: "other"})
	refused(t, f, a2a.PlanShow(), a2a.RefQuery{Ref: ref}, fault.NotFound)
	do(t, f, a2a.PlanLabel(), a2a.PlanLabelRequest{Ref: "other", Set: map[string]string{"a": "1", "b/c.d": "2"}})
	got := do(t, f, a2a.PlanLabel(), a2a.PlanLabelRequest{Ref: "other", Remove: []string{"a", "none"}})
	if d := cmp.Diff(map[string]string{"b/c.d": "2"}, got.Labels); d != "" || !got.Held {
		t.Errorf("held %v, labels %s", got.Held, d)
	}
	refused(t, f, a2a.PlanArchive(), a2a.PlanArchiveRequest{Ref: "other"}, fault.Conflict)
	open()
	out := do(t, f, a2a.PlanStatus(), a2a.RefQuery{Ref: "other"})
	if out.Plan.Name != "local/other" || out.Plan.State != "applied" || out.Plan.Labels["b/c.d"] != "2" {
		t.Errorf("after the run: %+v", out.Plan)
	}
	do(t, f, a2a.PlanArchive(), a2a.PlanArchiveRequest{Ref: "other"})
	do(t, f, a2a.PlanArchive(), a2a.PlanArchiveRequest{Ref: "other"})
	refused(t, f, a2a.PlanStatus(), a2a.RefQuery{Ref: "@last"}, fault.NotFound)
	for q, want := range map[*a2a.PlanListQuery]int{
		{}: 0, {All: true}: 1, {All: true, Labels: map[string]string{"b/c.d": "2"}}: 1, {All: true, Labels: map[string]string{"b/c.d": "3"}}: 0,
	} {
		if got := do(t, f, a2a.PlanList(), *q); len(got.Plans) != want {
			t.Errorf("%+v lists %+v", *q, got.Plans)
		}
	}
	if got := do(t, f, a2a.PlanArchive(), a2a.PlanArchiveRequest{Ref: "other", Undo: true}); got.Archived {
		t.Error("it stays archived")
	}
}

func TestLabelsAreBounded(t *testing.T) {
	f, _ := newFacade(t)
	out, _ := waiting(t, f, "true")
	many := map[string]string{}
	for i := range 100 {
		many["k"+strings.Repeat("x", i%60)+string(rune('a'+i%26))] = "v"
	}
	for name, set := range map[string]map[string]string{
		"empty key": {"": "v"}, "blank": {"a b": "v"}, "dash at the end": {"a-": "v"}, "long key": {strings.Repeat("k", 64): "v"},
		"empty value": {"k": ""}, "long value": {"k": strings.Repeat("v", 257)}, "not UTF-8": {"k": "\xff"}, "many": many,
	} {
		err := refused(t, f, a2a.PlanLabel(), a2a.PlanLabelRequest{Ref: string(out.Plan.ID), Set: set}, fault.Invalid)
		if err == nil {
			t.Error(name)
		}
	}
	if got := do(t, f, a2a.PlanLabel(), a2a.PlanLabelRequest{Ref: "@last"}); len(got.Labels) > 0 {
		t.Errorf("something was stored: %v", got.Labels)
	}
	refused(t, f, a2a.PlanRename(), a2a.PlanRenameRequest{Ref: "@last", Name: "No Name"}, fault.Invalid)
}
