package local_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/a2a/local"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// exported is a plan as a file.
func exported(t *testing.T, f *local.Facade, q a2a.PlanExportRequest) (a2a.ExportView, []byte) {
	t.Helper()
	var b bytes.Buffer
	q.To = func(a2a.PlanSummary) (io.Writer, error) { return &b, nil }
	return do(t, f, a2a.PlanExport(), q), b.Bytes()
}

func importing(b []byte) a2a.PlanImportRequest {
	return a2a.PlanImportRequest{File: "x.tar.zst", From: bytes.NewReader(b)}
}

// What was exported is history in another place: it reads as it did, and
// nothing can be done with it.
func TestAPlanMovesAsHistory(t *testing.T) {
	f, _ := newFacade(t)
	out, _ := waiting(t, f, "echo x > a.txt; echo new > new.txt")
	id := string(out.Plan.ID)
	do(t, f, a2a.PlanLabel(), a2a.PlanLabelRequest{Ref: id, Set: map[string]string{"team": "red"}})
	made, file := exported(t, f, a2a.PlanExportRequest{Ref: id, Artifacts: true})
	if made.Blobs == 0 || made.Rows < 10 || len(made.Missing) > 0 {
		t.Errorf("exported: %+v", made)
	}
	before, err := f.Engine.History(t.Context(), out.Plan.ID)
	must(t, err)
	diff := do(t, f, a2a.PlanDiff(), a2a.PlanDiffQuery{Ref: id})
	refused(t, f, a2a.PlanImport(), importing(file), fault.Exists)

	other, _ := newFacade(t)
	got := do(t, other, a2a.PlanImport(), importing(file))
	if got.Plan.ID != out.Plan.ID || !got.Plan.Archived || !got.Plan.Imported || got.Project != out.Plan.Project || got.Blobs != made.Blobs {
		t.Errorf("imported: %+v", got)
	}
	refused(t, other, a2a.PlanImport(), importing(file), fault.Exists)
	after, err := other.Engine.History(t.Context(), out.Plan.ID)
	must(t, err)
	if after.Plan.Project != "" || after.Approvals[0].State != plan.Lapsed {
		t.Errorf("the project is %q, the approval %s", after.Plan.Project, after.Approvals[0].State)
	}
	after.Plan.Project, after.Plan.Name, after.Approvals[0].State = before.Plan.Project, before.Plan.Name, before.Approvals[0].State
	if after.Resources[0].Location == before.Resources[0].Location {
		t.Error("a place of another machine is taken over")
	}
	after.Resources = before.Resources
	if d := cmp.Diff(before, after, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("-exported +imported:\n%s", d)
	}
	if d := cmp.Diff(diff.Files, do(t, other, a2a.PlanDiff(), a2a.PlanDiffQuery{Ref: id}).Files); d != "" {
		t.Errorf("the diff:\n%s", d)
	}
	for _, view := range []func(){
		func() { do(t, other, a2a.PlanShow(), a2a.RefQuery{Ref: id}) },
		func() { do(t, other, a2a.PlanTree(), a2a.RefQuery{Ref: id}) },
		func() { do(t, other, a2a.PlanLogs(), a2a.PlanLogsQuery{Ref: id}) },
		func() { do(t, other, a2a.PlanWatch(), a2a.PlanWatchQuery{Ref: id}) },
	} {
		view()
	}
	if v := do(t, other, a2a.PlanStatus(), a2a.RefQuery{Ref: id}); len(v.Next)+len(v.Approvals) > 0 || len(v.Changed) != 2 {
		t.Errorf("status: %+v", v)
	}
	refused(t, other, a2a.PlanResume(), a2a.RefQuery{Ref: id}, fault.Conflict)
	refused(t, other, a2a.PlanApply(), a2a.PlanApplyRequest{Ref: id}, fault.Conflict)
	refused(t, other, a2a.PlanRetry(), a2a.RefQuery{Ref: id}, fault.Conflict)
	refused(t, other, a2a.PlanPause(), a2a.RefQuery{Ref: id}, fault.Conflict)
	refused(t, other, a2a.PlanCancel(), a2a.PlanCancelRequest{Ref: id}, fault.Conflict)
	refused(t, other, a2a.PlanPrompt(), a2a.PlanPromptRequest{Ref: id, Text: "x"}, fault.Conflict)
	refused(t, other, a2a.PlanArchive(), a2a.PlanArchiveRequest{Ref: id, Undo: true}, fault.Conflict)
	refused(t, other, a2a.ApprovalApprove(), a2a.ApproveRequest{Refs: []string{string(before.Approvals[0].ID)}}, fault.Conflict)
	if v := do(t, other, a2a.UsageShow(), a2a.UsageQuery{}); v.Total.ToolCalls != 0 {
		t.Errorf("others' calls count: %+v", v.Total)
	}
}

func TestImportsWithoutArtifacts(t *testing.T) {
	f, _ := newFacade(t)
	out, _ := waiting(t, f, "echo x > a.txt")
	id := string(out.Plan.ID)
	_, file := exported(t, f, a2a.PlanExportRequest{Ref: id, Redact: true})
	other, _ := newFacade(t)
	do(t, other, a2a.PlanImport(), importing(file))
	if v := do(t, other, a2a.PlanShow(), a2a.RefQuery{Ref: id}); !v.Imported || len(v.Changed) > 0 {
		t.Errorf("shown: %+v", v.Changed)
	}
	refused(t, other, a2a.PlanDiff(), a2a.PlanDiffQuery{Ref: id}, fault.NotFound)
}

// Nothing is stored of a file that is not good to its end.
func TestDamagedImportsLeaveNothing(t *testing.T) {
	f, _ := newFacade(t)
	out, _ := waiting(t, f, "echo x > a.txt")
	_, file := exported(t, f, a2a.PlanExportRequest{Ref: string(out.Plan.ID), Artifacts: true})
	other, _ := newFacade(t)
	for _, n := range []int{0, 1, len(file) / 2, len(file) - 1} {
		refused(t, other, a2a.PlanImport(), importing(file[:n]), fault.Corrupt)
	}
	must(t, other.Engine.Store.View(t.Context(), func(tx engine.Tx) error {
		if all, err := tx.Plans(engine.PlanFilter{}); len(all) > 0 || err != nil {
			t.Errorf("%d plans (%v)", len(all), err)
		}
		return nil
	}))
	h, err := f.Engine.History(t.Context(), out.Plan.ID)
	must(t, err)
	if _, err := other.Engine.Blobs.Get(t.Context(), h.ToolCalls[0].Output); !fault.Is(err, fault.NotFound) {
		t.Errorf("a blob was stored: %v", err)
	}
}
