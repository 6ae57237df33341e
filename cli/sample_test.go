package cli

import (
	"encoding/json"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
	"github.com/cleveragents/agents/project"
	"github.com/cleveragents/agents/provider"
	"github.com/cleveragents/agents/resource"
	"github.com/cleveragents/agents/tool"
)

const (
	planID     = "01HZX3V5T8Q0PLANAAAA7K3MQX"
	approvalID = "01HZX3V5T8Q0APPRAAAA9Y2WKB"
	sessionID  = "01HZX3V5T8Q0SESSAAAA4T7NKE"
	rootID     = "01HZX3V5T8Q0DECS000000ROOT"
)

func money(v float64) *float64 { return &v }

func at() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

func summary(p plan.Phase, s plan.State) a2a.PlanSummary {
	return a2a.PlanSummary{
		ID: planID, Name: "local/fix-1", Action: "local/fix", Project: "local/shop",
		Status: plan.Status{Phase: p, State: s}, Attempt: 1, Profile: "auto", Created: "2026-03-04T05:06:07Z",
	}
}

func sampleTree() a2a.TreeView {
	d := func(id, question, chosen string, more func(*plan.Decision)) plan.Decision {
		x := plan.Decision{
			ID: ident.DecisionID("01HZX3V5T8Q0DECS000000" + id), Plan: planID, Attempt: 1, Phase: plan.PhaseStrategize,
			Type: plan.StrategyChoice, Question: question, Chosen: chosen, Created: at(),
		}
		if more != nil {
			more(&x)
		}
		return x
	}
	old := d("0LD1", "Which parser?", "regexp", func(x *plan.Decision) { x.Superseded = "01HZX3V5T8Q0DECS000000NEW1" })
	kept := d("KEPT", "Which test?", "table", nil)
	now := d("NEW1", "Which parser?", "hand-written", func(x *plan.Decision) {
		x.Alternatives = []plan.Option{{Option: "regexp", Why: "slow"}, {Option: "yacc"}}
	})
	loose := d("L00S", "What was changed outside a recorded decision?", "1 path", func(x *plan.Decision) {
		x.Implicit, x.Type, x.Phase = true, plan.ImplementationChoice, plan.PhaseExecute
	})
	root := d("R00T", "What is to be done?", "fix the parser", func(x *plan.Decision) { x.Type = plan.PromptDefinition })
	return a2a.TreeView{Plan: summary(plan.PhaseExecute, plan.Complete), Roots: []*plan.Tree{{Decision: root, Children: []*plan.Tree{
		{Decision: old, Children: []*plan.Tree{{Decision: kept}}},
		{Decision: now, Children: []*plan.Tree{{Decision: loose}}},
	}}}}
}

func sampleDiff() a2a.DiffView {
	return a2a.DiffView{Plan: summary(plan.PhaseExecute, plan.Complete), Hash: "f00d", Ignored: true, Files: []a2a.FileDiff{
		{FileStat: a2a.FileStat{Path: "a.go", Status: "modified", Added: 1, Removed: 1},
			Unified: "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-old\n+\tnew\r\n"},
		{FileStat: a2a.FileStat{Path: "run.sh", Status: "mode"}, OldMode: "0644", NewMode: "0755"},
		{FileStat: a2a.FileStat{Path: "logo.png", Status: "added", Binary: true}},
	}}
}

func sampleShow() a2a.PlanView {
	v := a2a.PlanView{
		Plan: a2a.PlanDetail{
			ID: planID, Name: "local/fix-1", Project: "local/shop", Status: plan.Status{Phase: plan.PhaseExecute, State: plan.Complete},
			Attempt: 1, ProfileBy: "action", Action: action.Action{Name: "local/fix", Validations: []tool.Validation{
				{Name: "build", Mode: tool.Required}, {Name: "lint", Mode: tool.Informational},
			}},
			Created: at(), Updated: at(),
		},
		Next:      []string{"agents plan apply " + planID},
		Labels:    map[string]string{"team": "red"},
		Approvals: []plan.Approval{{ID: approvalID, Plan: planID, Kind: plan.ApproveGate, State: plan.Open, Summary: "enter apply"}},
		Results: []evidence.ValidationResult{
			{Name: "build", Mode: tool.Required, Verdict: tool.NotPassed, Message: "exit 1", Attempt: 1},
			{Name: "build", Mode: tool.Required, Verdict: tool.Passed, Message: "ok", Attempt: 1, Round: 1},
			{Name: "lint", Mode: tool.Informational, Verdict: tool.CouldNotLook, Message: "no linter", Attempt: 1},
		},
		Checkpoints: []plan.Checkpoint{{ID: "01HZX3V5T8Q0CHKP0000001234", Decision: rootID, Files: 2, Created: at()}},
		Calls:       []evidence.Call{{ID: "01HZX3V5T8Q0CALL0000001234", Phase: plan.PhaseExecute, Turn: 1, Provider: "scripted", Model: "demo", Usage: actor.Usage{Input: 10, Output: 5}, Cost: .25, Priced: true}},
		Gaps:        []evidence.Gap{{Kind: evidence.GapUntracked, Path: "x", Detail: "changed while the tool ran"}},
		Decisions:   5, Cost: .25, Usage: actor.Usage{Input: 10, Output: 5},
	}
	v.Plan.Profile = policy.Profile{Name: "auto"}
	v.Plan.Strategy, v.Plan.Execution = actor.Config{Name: "local/planner"}, actor.Config{Name: "local/coder"}
	v.Plan.Estimation, v.Plan.Invariant = &actor.Config{Name: "local/guess"}, &actor.Config{Name: "local/keeper"}
	for _, f := range sampleDiff().Files {
		v.Changed = append(v.Changed, f.FileStat)
	}
	return v
}

// samplePoints are two checkpoints of the sample plan.
func samplePoints() (point, later a2a.CheckpointView) {
	point = a2a.CheckpointView{ID: "01HZX3V5T8Q0CHKP0000001234", Plan: planID, Decision: rootID, Question: "How?", Chosen: "so", Files: 2, Created: at(),
		Resources: []a2a.CheckpointResource{{Resource: "01HZX3V5T8Q0RES00000001234", Files: 2, Hash: "f00d"}}}
	later = point
	later.ID, later.Superseded = "01HZX3V5T8Q0CHKP0000005678", true
	return point, later
}

// answers is an answer to every operation.
func answers() map[string]any {
	limit := sampleLimit()
	point, later := samplePoints()
	change := a2a.ConfigChange{Key: limit.Key, Value: "9", Where: limit.Origin.File, Changed: true, Now: limit}
	text := "."
	act := a2a.ActionView{Builtin: true, Action: action.Action{
		Name: "local/fmt", Description: "Format the code.\nAll of it.", DefinitionOfDone: "gofmt -l prints nothing",
		StrategyActor: "local/planner", ExecutionActor: "local/coder", State: action.Available,
		Args:        []action.Arg{{Name: "dir", Type: action.Text, Default: &text}, {Name: "deep", Type: action.Boolean, Required: true}},
		Validations: []tool.Validation{{Name: "clean", Mode: tool.Required, Argv: []string{"gofmt", "-l", "."}}},
		Invariants:  []string{"no new dependency"},
	}}
	agent := a2a.ActorView{Actor: actor.Config{Name: "local/coder", Provider: "anthropic", Model: "m", Prompt: "Be brief.", Tools: &[]string{}}}
	fixer := a2a.ActorView{Actor: actor.Config{
		Name: "local/fixer", Description: "Repairs.", State: map[string]actor.Key{"test": {Reducer: actor.Last}},
		Graph: []actor.Node{
			{ID: "fix", Model: &actor.Model{Name: actor.DefaultModel, Prompt: "Mend it.\nAll of it."}, Input: "Go on.", Next: "test"},
			{ID: "test", Tool: "builtin/shell", Save: "test", Interrupt: actor.After, OnReject: "fix",
				Edges: []actor.Edge{{When: map[string]any{"state.test.status": "ok"}, To: "end"}, {To: "fix"}}},
		},
	}}
	place := a2a.ProviderView{How: "added", Key: "the variable WORK_KEY", Provider: provider.Config{
		Name: "work", Kind: provider.Anthropic, BaseURL: "https://api.anthropic.com", KeyEnv: "WORK_KEY", Limits: provider.Limits{RequestsPerMinute: 50},
		Models: []string{"claude-sonnet-4-5", "new-one"},
	}}
	drawn := a2a.ActorGraphView{Actor: fixer.Actor, Arrows: []a2a.ActorArrow{{From: "fix", To: "test"}, {From: "test", To: "end", Why: "state.test.status = ok"}}}
	res := resource.Resource{ID: "01HZX3V5T8Q0RESR0000001234", Name: "local/shop-code", Type: resource.GitCheckout, Location: "/home/ann/shop", Created: at()}
	proj := a2a.ProjectView{Current: true, Resources: []resource.Resource{res}, Project: project.Project{
		Name: "local/shop", Description: "the web shop", Created: at(), Links: []project.Link{{Resource: res.ID, ReadOnly: true}},
	}}
	appr := plan.Approval{ID: approvalID, Plan: planID, Kind: plan.ApproveGate, Subject: "apply", Summary: "enter apply: profile auto asks", Bound: "f00d", State: plan.Open, Created: at()}
	question := plan.Approval{ID: approvalID, Plan: planID, Kind: plan.ApproveQuestion, Subject: "01HZX3V5T8Q0TQQL0000001234", Summary: "Which colour? The old one is red.", Bound: "f00d",
		Question: "Which colour?\nThe old one is red.", Choices: []string{"red", "blue"}, State: plan.Answered, Choice: 2, Answer: "blue", Created: at()}
	diff := sampleDiff()
	tree := sampleTree()
	claimed := .9
	why := tree.Roots[0].Children[1].Decision
	why.Rationale, why.Claimed = "It is small.\nAnd fast.", &claimed
	why.Context.Manifest = "beef"
	ready := a2a.PlanOutcome{Plan: summary(plan.PhaseExecute, plan.Waiting), Next: []string{"agents plan apply " + planID}, Approvals: []plan.Approval{appr}, Changed: sampleShow().Changed}
	done := a2a.PlanOutcome{Plan: summary(plan.PhaseApply, plan.Applied), Changed: sampleShow().Changed}
	stopped := a2a.PlanOutcome{Plan: summary(plan.PhaseExecute, plan.Paused), Next: []string{"agents plan resume " + planID}}
	stopped.Plan.Reason = "paused on request"
	used := evidence.UsageRow{Key: planID, Calls: 3, Failed: 1, Input: 1200, Output: 340, CacheRead: 100, Cost: 0.0425, ToolCalls: 7}
	labelled, archived := ready.Plan, done.Plan
	labelled.Labels = map[string]string{"team": "red", "area": "parser"}
	archived.Archived = true
	asked := a2a.PlanOutcome{Plan: summary(plan.PhaseApply, plan.Applied), Answer: "It is rounded in price.go.\nTwice."}
	talk := a2a.SessionSummary{
		ID: sessionID, Name: "local/talk", Project: "local/shop", Actor: "builtin/ask-execution", Messages: 3, Open: &stopped.Plan,
		Created: "2026-03-04T05:06:07Z", Updated: "2026-03-04T05:06:09Z", Next: []string{"agents session resume " + sessionID},
	}
	quiet := talk
	quiet.Open, quiet.Messages, quiet.Next = nil, 2, nil
	answered := asked
	answered.Session = &quiet
	return map[string]any{
		"action/create": act, "action/list": a2a.ActionsView{Actions: []a2a.ActionView{act}}, "action/show": act, "action/validate": act,
		"provider/add": place, "provider/show": place, "provider/remove": place,
		"provider/list": a2a.ProvidersView{
			Providers: []a2a.ProviderView{place, {Provider: provider.Config{Name: "openai", Kind: provider.OpenAI}, How: "environment", Problem: "no key; set OPENAI_API_KEY"}},
			Default:   &a2a.DefaultModelView{Provider: "work", Model: "claude-sonnet-4-5", Why: "work was added"},
		},
		"provider/models": a2a.ModelsView{Provider: "work", Models: []a2a.ModelView{
			{ID: "claude-sonnet-4-5", Context: 200_000, MaxOutput: 64_000, Reasons: true, Input: money(3), Output: money(15), CacheRead: money(.3), CacheWrite: money(3.75)},
			{ID: "new-one", Context: 1_500_000},
		}},
		"provider/test": a2a.ProviderTestView{Provider: "work", Model: "claude-haiku-4-5", Resolved: "claude-haiku-4-5-20251001", Said: "ready",
			Usage: actor.Usage{Input: 14, Output: 4, CacheRead: -1, CacheWrite: -1, Reasoning: -1}, Cost: money(.000034), Millis: 812},
		"actor/add": agent, "actor/list": a2a.ActorsView{Actors: []a2a.ActorView{agent}}, "actor/show": fixer,
		"actor/validate": fixer, "actor/remove": fixer, "actor/graph": drawn, "actor/run": asked,
		"approval/list": a2a.ApprovalsView{Approvals: []plan.Approval{appr, question}, Next: "agents approval approve " + approvalID}, "approval/show": a2a.ApprovalView{Approval: appr, Diff: &diff, Next: "agents approval approve " + approvalID},
		"approval/approve": a2a.ApprovalsView{Approvals: []plan.Approval{appr}, Next: "agents plan resume " + planID}, "approval/reject": a2a.ApprovalView{Approval: appr},
		"approval/answer": a2a.ApprovalView{Approval: question, Next: "agents plan resume " + planID},
		"db/path":         a2a.DBPathView{Store: "/d/data.db", Blobs: "/d/blobs", Engine: "/d/engine.db", Trees: "/d/trees"},
		"db/status": a2a.DBStatusView{Path: "/d/data.db", Schema: 3, Bytes: 4096, Rows: map[string]int64{"plan": 1, "action": 2}, Check: "ok",
			Blobs: &a2a.BlobsView{Plans: 3, Read: 2000, Sampled: true, Hurt: []a2a.HurtPlan{{ID: planID, Name: "local/fix-1", Status: plan.Status{Phase: plan.PhaseExecute, State: plan.Complete}, Missing: 2, Damaged: 1, Blobs: []string{"f00d"}}}}},
		"db/backup":       a2a.DBBackupView{File: "/b/monday.tar", Bytes: 10240, Made: "2026-03-04T05:06:07Z", Schema: 6, Whole: true, Blobs: 12},
		"db/restore":      a2a.DBRestoreView{Backup: a2a.DBBackupView{File: "/b/store.tar", Bytes: 10240, Made: "2026-03-04T05:06:07Z", Schema: 6}, Aside: "/d/before-restore-20260304T050607Z"},
		"db/migrate":      a2a.DBMigrateView{Path: "/d/data.db", Schema: 4, Latest: 6, Steps: []string{"0005_call_nodes", "0006_providers"}, DryRun: true},
		"db/gc":           a2a.DBGCView{Path: "/d", BlobsLeft: true, Blobs: a2a.Freed{Count: 3, Bytes: 4096}, Sandboxes: a2a.Freed{Count: 1, Bytes: 99}},
		"checkpoint/list": a2a.CheckpointsView{Plan: ready.Plan, Tier: plan.TierFull, Checkpoints: []a2a.CheckpointView{point, later}, Next: []string{"agents plan rollback"}},
		"checkpoint/show": a2a.CheckpointDiffView{Checkpoint: point, To: "base", Files: diff.Files},
		"checkpoint/diff": a2a.CheckpointDiffView{Checkpoint: point, To: "now", Files: diff.Files},
		"checkpoint/gc":   a2a.CheckpointGCView{Plans: []string{"local/fix-1"}, Checkpoints: 12},
		"plan/rollback": a2a.RollbackView{Plan: ready.Plan, Checkpoint: point.ID, Before: later.ID, Tier: plan.TierFull, Files: []a2a.FileStat{{Path: "a.go", Status: "modified", Added: 1}},
			Decisions: []a2a.RolledBack{{ID: later.Decision, Question: "How?", Chosen: "so"}}, Next: []string{"agents plan resume"}},
		"sandbox/exec": a2a.SandboxExecView{Backend: "none", Stopped: "over its limit of memory", Refused: []string{"elsewhere.org:443"}, Changed: []a2a.FileStat{{Path: "a.o", Status: "added"}}},
		"doctor/run":   a2a.DoctorView{Findings: []a2a.Finding{{Name: "store", Level: "ok", Detail: "fine"}, {Name: "jail", Level: "warning", Detail: "no jail", Fix: "install one"}, {Name: "modes", Level: "ok", Detail: "1 file", Fixed: "chmod go-rwx"}}, Bundle: "report.tgz"},
		"plan/use":     ready, "plan/list": a2a.PlansView{Plans: []a2a.PlanSummary{ready.Plan, done.Plan}}, "plan/show": sampleShow(), "plan/status": stopped,
		"plan/strategize": ready, "plan/execute": ready, "plan/apply": done, "plan/resume": done, "plan/pause": stopped, "plan/cancel": stopped,
		"plan/tree": tree, "plan/diff": diff, "plan/explain": a2a.ExplainView{
			Plan: tree.Plan, Decision: why, Upstream: []plan.Decision{tree.Roots[0].Decision},
			Hunks: []evidence.Hunk{{Path: "a.go", Origin: evidence.Reported, Ranges: []evidence.LineRange{{From: 0, To: 1}, {From: 4, To: 9}}}},
		},
		"plan/logs": a2a.LogsView{Plan: ready.Plan, Next: ready.Next, Events: []plan.Event{
			{Plan: planID, Seq: 1, At: at(), Type: "plan.created", Data: json.RawMessage(`{"name":"local/fix-1","action":"local/fix","project":"local/shop"}`)},
			{Plan: planID, Seq: 2, At: at(), Type: "tool.finished", Data: json.RawMessage(`{"tool":"builtin/shell","status":"failed","summary":"go test","ms":1500}`)},
		}},
		"plan/watch": done, "plan/wait": a2a.WaitView{Plans: []a2a.WaitedPlan{{Reached: true, Outcome: done}, {Reached: true, Outcome: ready}}},
		"plan/retry":  done,
		"plan/export": a2a.ExportView{Plan: done.Plan, Rows: 42, Artifacts: true, Redacted: true, Blobs: 17, Missing: []string{"beef"}},
		"plan/import": a2a.ImportView{Plan: archived, Project: "local/shop", Rows: 42, Blobs: 17},
		"plan/prompt": a2a.PromptView{Plan: ready.Plan, Messages: 2, Next: stopped.Next},
		"plan/rename": ready.Plan, "plan/label": labelled, "plan/archive": archived,
		"status/show": a2a.StatusView{
			Project: "local/shop", More: 2, Today: a2a.Spent{Since: "2026-03-04T00:00:00Z", UsageRow: used},
			Running: []a2a.RunningPlan{{PlanSummary: summary(plan.PhaseExecute, plan.Running), Holder: "01HZX3V5T8Q0W0RK0000001234"}},
			Waiting: []a2a.WaitingPlan{{PlanSummary: ready.Plan, Approvals: 1, Next: ready.Next}, {PlanSummary: stopped.Plan, Next: stopped.Next}},
		},
		"session/create": quiet, "session/rename": talk, "session/delete": quiet, "session/tell": answered, "session/resume": answered,
		"session/list":   a2a.SessionsView{Sessions: []a2a.SessionSummary{talk, quiet}},
		"session/export": a2a.SessionCarryView{Session: quiet}, "session/import": a2a.SessionCarryView{Session: quiet},
		"session/show": a2a.SessionView{Session: talk, Earlier: 1, Messages: []a2a.SessionMessage{
			{N: 2, Role: actor.Assistant, Text: "In price.go.\nTwice.", Plan: planID, Imported: true, At: "2026-03-04T05:06:08Z"},
			{N: 3, Role: actor.User, Text: "Why twice?", Plan: planID, At: "2026-03-04T05:06:09Z"},
		}},
		"config/get": limit, "config/list": a2a.ConfigListView{Project: "local/shop", Values: []a2a.ConfigValue{limit}},
		"config/set": change, "config/unset": change, "config/explain": sampleKey(limit),
		"config/edit":     a2a.ConfigTextView{Where: "/home/ann/.config/cleveragents/config.toml", Text: "[plan]\n", Hash: "ab12", Changed: true},
		"config/path":     a2a.ConfigPathView{Path: "/home/ann/.config/cleveragents/config.toml", Exists: true},
		"config/validate": a2a.ConfigCheckView{Looked: []string{"/home/ann/.config/cleveragents/config.toml"}, Problems: []a2a.ConfigProblem{}},
		"usage/show":      a2a.UsageView{By: evidence.UsageByPlan, Rows: []a2a.UsageRow{{UsageRow: used, Name: "local/fix-1"}, {UsageRow: evidence.UsageRow{ToolCalls: 1}}}, Total: used},
		"project/init":    proj, "project/create": proj, "project/list": a2a.ProjectsView{Projects: []a2a.ProjectView{proj}}, "project/show": proj, "project/use": proj, "project/link_resource": proj,
		"resource/add": a2a.ResourceView{Resource: res, Projects: []string{"local/shop"}}, "resource/list": a2a.ResourcesView{Resources: []a2a.ResourceView{{Resource: res, Projects: []string{"local/shop"}}}},
		"resource/show": a2a.ResourceView{Resource: res, Projects: []string{"local/shop"}},
	}
}
