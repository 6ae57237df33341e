package a2a

import (
	"slices"
	"time"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
)

func planOps() []Info {
	return append(slices.Concat(planFollowOps(), planMarkOps(), planSteerOps(), planCarryOps()), PlanUse().info(), PlanList().info(), PlanShow().info(), PlanStatus().info(), PlanStrategize().info(), PlanExecute().info(), PlanApply().info(), PlanResume().info(), PlanPause().info(), PlanCancel().info(), PlanTree().info(), PlanExplain().info(), PlanDiff().info())
}

// PlanUse makes a plan from an action.
func PlanUse() Op[PlanUseRequest, PlanOutcome] {
	return Op[PlanUseRequest, PlanOutcome]{Method: prefix + "plan/use", Role: Writer, Streams: true, Doc: "make a plan from an action"}
}

// PlanList lists plans.
func PlanList() Op[PlanListQuery, PlansView] {
	return Op[PlanListQuery, PlansView]{Method: prefix + "plan/list", Role: Reader, Doc: "list plans"}
}

// PlanShow shows one plan with all that belongs to it.
func PlanShow() Op[RefQuery, PlanView] {
	return Op[RefQuery, PlanView]{Method: prefix + "plan/show", Role: Reader, Doc: "show a plan"}
}

// PlanStatus tells in short where a plan is and what is next.
func PlanStatus() Op[RefQuery, PlanOutcome] {
	return Op[RefQuery, PlanOutcome]{Method: prefix + "plan/status", Role: Reader, Doc: "where a plan is and what is next"}
}

// PlanStrategize begins Strategize and goes on as far as the profile allows.
func PlanStrategize() Op[RefQuery, PlanOutcome] {
	return Op[RefQuery, PlanOutcome]{Method: prefix + "plan/strategize", Role: Writer, Streams: true, Doc: "begin Strategize"}
}

// PlanExecute begins Execute and goes on as far as the profile allows.
func PlanExecute() Op[RefQuery, PlanOutcome] {
	return Op[RefQuery, PlanOutcome]{Method: prefix + "plan/execute", Role: Writer, Streams: true, Doc: "begin Execute"}
}

// PlanApply merges the changes into the real resource.
func PlanApply() Op[PlanApplyRequest, PlanOutcome] {
	return Op[PlanApplyRequest, PlanOutcome]{Method: prefix + "plan/apply", Role: Writer, Streams: true, Doc: "merge the changes into the real resource"}
}

// PlanResume goes on with a plan that stopped.
func PlanResume() Op[RefQuery, PlanOutcome] {
	return Op[RefQuery, PlanOutcome]{Method: prefix + "plan/resume", Role: Writer, Streams: true, Doc: "go on with a plan"}
}

// PlanPause stops a plan at its next safe point.
func PlanPause() Op[RefQuery, PlanOutcome] {
	return Op[RefQuery, PlanOutcome]{Method: prefix + "plan/pause", Role: Writer, Doc: "stop a plan at its next safe point"}
}

// PlanCancel gives a plan up.
func PlanCancel() Op[PlanCancelRequest, PlanOutcome] {
	return Op[PlanCancelRequest, PlanOutcome]{Method: prefix + "plan/cancel", Role: Writer, Doc: "give a plan up"}
}

// PlanTree returns a plan's decisions.
func PlanTree() Op[RefQuery, TreeView] {
	return Op[RefQuery, TreeView]{Method: prefix + "plan/tree", Role: Reader, Doc: "a plan's decision tree"}
}

// PlanExplain explains one decision.
func PlanExplain() Op[RefQuery, ExplainView] {
	return Op[RefQuery, ExplainView]{Method: prefix + "plan/explain", Role: Reader, Doc: "explain a decision"}
}

// PlanDiff shows what a plan would change, or has changed.
func PlanDiff() Op[PlanDiffQuery, DiffView] {
	return Op[PlanDiffQuery, DiffView]{Method: prefix + "plan/diff", Role: Reader, Doc: "what a plan changes"}
}

// PlanUseRequest makes a plan.
type PlanUseRequest struct {
	Action         string            `json:"action"`
	Project        string            `json:"project,omitempty"` // name, a directory, or "" for the current one
	Args           map[string]string `json:"args,omitempty"`
	Name           string            `json:"name,omitempty"`
	Profile        string            `json:"automation_profile,omitempty"`
	Prompt         string            `json:"prompt,omitempty"`
	Invariants     []string          `json:"invariants,omitempty"`
	StrategyActor  string            `json:"strategy_actor,omitempty"`
	ExecutionActor string            `json:"execution_actor,omitempty"`
	// Start lets the plan go on at once as far as its profile allows.
	Start bool `json:"start,omitempty"`
	// Force accepts a home directory or / as the project.
	Force bool `json:"force,omitempty"`
	// NoInput says that nobody can be asked: a tool that a guard holds back is
	// then refused instead of waiting for approval.
	NoInput bool `json:"no_input,omitempty"`
}

// PlanListQuery narrows a list of plans.
type PlanListQuery struct {
	Project string     `json:"project,omitempty"`
	Phase   plan.Phase `json:"phase,omitempty"`
	State   plan.State `json:"state,omitempty"`
	Limit   int        `json:"limit,omitempty"`
	All     bool       `json:"all,omitempty"` // the archived ones too
	// Labels are those that a plan must have.
	Labels map[string]string `json:"labels,omitempty"`
}

// PlansView is a list of plans, newest first.
type PlansView struct {
	Plans []PlanSummary `json:"plans"`
}

// PlanSummary is a plan in one line.
type PlanSummary struct {
	ID      ident.PlanID `json:"id"`
	Name    string       `json:"name"`
	Action  string       `json:"action"`
	Project string       `json:"project"`
	plan.Status
	Reason  string `json:"reason,omitempty"`
	Attempt int    `json:"attempt"`
	Profile string `json:"profile"`
	Created string `json:"created"`
	Held    bool   `json:"held"` // a process is carrying it on right now

	Labels   map[string]string `json:"labels,omitempty"`
	Archived bool              `json:"archived,omitempty"` // hidden from lists
	Imported bool              `json:"imported,omitempty"` // history of another place, never run here
}

// PlanOutcome is where a plan is after an operation. Next are the exact
// commands with which a person goes on, best first; none when it has ended.
type PlanOutcome struct {
	Plan      PlanSummary     `json:"plan"`
	Next      []string        `json:"next,omitempty"`
	Approvals []plan.Approval `json:"approvals,omitempty"` // open ones
	Fault     *FaultView      `json:"fault,omitempty"`     // why it stopped without reaching its goal
	Changed   []FileStat      `json:"changed,omitempty"`
	Answer    string          `json:"answer,omitempty"` // what an actor said last in a plan that changes nothing
	// Landed is what the last apply of the plan did. Partial says that it was this
	// operation and that a part stays in the plan, Already that it was done before.
	Landed  *plan.Landed `json:"landed,omitempty"`
	Partial bool         `json:"partial,omitempty"`
	Already bool         `json:"already,omitempty"`
	// Ungated says that it was or is being applied, and no required validation
	// had anything to say.
	Ungated bool       `json:"ungated,omitempty"`
	Rest    int        `json:"rest,omitempty"`    // changed paths that are not applied yet, after a partial apply
	DryRun  *ApplyLook `json:"dry_run,omitempty"` // what an apply would do
	// Session is the conversation that the plan's task was said in, where the
	// operation was about that.
	Session *SessionSummary `json:"session,omitempty"`
}

// FaultView is why a plan stopped.
type FaultView struct {
	Kind    string `json:"kind"` // fault.Kind's name
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Output  string `json:"output,omitempty"` // the end of what the failed program printed
}

// PlanDetail is a plan as it was made and where it is: what a person may rely
// on, without the bookkeeping of the loop.
type PlanDetail struct {
	ID      ident.PlanID `json:"id"`
	Name    string       `json:"name"`
	Project string       `json:"project"`
	plan.Status
	Reason    string            `json:"reason,omitempty"`
	Fault     string            `json:"fault,omitempty"`
	Attempt   int               `json:"attempt"`
	Fixes     int               `json:"fixes"` // rounds of fixing validations
	Action    action.Action     `json:"action"`
	Args      map[string]string `json:"args"`
	Prompt    string            `json:"prompt,omitempty"`
	Strategy  actor.Config      `json:"strategy_actor"`
	Execution actor.Config      `json:"execution_actor"`
	// Estimation and Invariant are the actors of those roles, absent without.
	Estimation *actor.Config  `json:"estimation_actor,omitempty"`
	Invariant  *actor.Config  `json:"invariant_actor,omitempty"`
	Profile    policy.Profile `json:"profile"`
	ProfileBy  string         `json:"profile_by"`
	Bases      []plan.Base    `json:"bases"`
	Landed     []plan.Landed  `json:"landed,omitempty"` // what was applied
	Created    time.Time      `json:"created"`
	Updated    time.Time      `json:"updated"`
}

// DetailOf is the detail of a plan.
func DetailOf(p plan.Plan) PlanDetail {
	return PlanDetail{
		ID: p.ID, Name: p.Name, Project: p.Project, Status: p.Status, Reason: p.Reason, Fault: p.Fault,
		Attempt: p.Attempt, Fixes: p.Fixes, Action: p.Action, Args: p.Args, Prompt: p.Prompt,
		Strategy: p.Strategy, Execution: p.Execution, Estimation: p.Estimation, Invariant: p.Invariant, Profile: p.Profile, ProfileBy: p.ProfileBy,
		Bases: p.Bases, Landed: p.Landed, Created: p.Created, Updated: p.Updated,
	}
}

// PlanView is a plan with all that belongs to it.
type PlanView struct {
	Plan        PlanDetail                  `json:"plan"`
	Held        bool                        `json:"held"`
	Labels      map[string]string           `json:"labels,omitempty"`
	Imported    bool                        `json:"imported,omitempty"`
	Next        []string                    `json:"next,omitempty"`
	Approvals   []plan.Approval             `json:"approvals"`
	Checkpoints []plan.Checkpoint           `json:"checkpoints"`
	Results     []evidence.ValidationResult `json:"validations"`
	Decisions   int                         `json:"decisions"`
	Calls       []evidence.Call             `json:"calls"`
	ToolCalls   []evidence.ToolCall         `json:"tool_calls"`
	Gaps        []evidence.Gap              `json:"gaps"`
	Changed     []FileStat                  `json:"changed"`
	ChangeSet   string                      `json:"change_set,omitempty"` // its hash: a result counts for the one that it saw
	Cost        float64                     `json:"cost"`                 // USD, of the calls whose price is known
	Unpriced    int                         `json:"unpriced,omitempty"`   // calls whose price is not known
	Usage       actor.Usage                 `json:"usage"`
}

// PlanApplyRequest applies a plan. Expect, when set, is the hash of the change
// set that the person was shown; another one is refused.
type PlanApplyRequest struct {
	Ref    string `json:"ref"`
	Expect string `json:"expect,omitempty"`
	// Executable is the hash of the executable configuration (DiffView) that the
	// person was shown and agreed to.
	Executable string       `json:"executable,omitempty"`
	Only       []string     `json:"only,omitempty"` // paths; the rest stays in the plan
	As         plan.ApplyAs `json:"as,omitempty"`
	Branch     string       `json:"branch,omitempty"`  // with As branch
	Message    string       `json:"message,omitempty"` // of the commit
	DryRun     bool         `json:"dry_run,omitempty"`
	// Recover writes the rest of an apply that was cut short or stopped at an
	// edit, Abort takes back what was written. Edits stay either way.
	Recover bool `json:"recover,omitempty"`
	Abort   bool `json:"abort,omitempty"`
}

// ApplyLook is what an apply would do.
type ApplyLook struct {
	Files []FileStat `json:"files"`
	Rest  int        `json:"rest,omitempty"` // paths that would stay in the plan
	Stop  *FaultView `json:"stop,omitempty"` // what would stop it
}

// PlanCancelRequest gives a plan up.
type PlanCancelRequest struct {
	Ref         string `json:"ref"`
	Reason      string `json:"reason,omitempty"`
	KeepSandbox bool   `json:"keep_sandbox,omitempty"`
}

// TreeView is a plan's decisions.
type TreeView struct {
	Plan       PlanSummary      `json:"plan"`
	Roots      []*plan.Tree     `json:"roots"`
	Influences []plan.Influence `json:"influences"`
}

// ExplainView is one decision with what it stands on and what stands on it.
type ExplainView struct {
	Plan       PlanSummary     `json:"plan"`
	Decision   plan.Decision   `json:"decision"`
	Upstream   []plan.Decision `json:"upstream"`
	Downstream []plan.Decision `json:"downstream_impact"`
	Call       *evidence.Call  `json:"call,omitempty"`
	Hunks      []evidence.Hunk `json:"hunks"`
}

// PlanDiffQuery asks for a plan's changes, all of them or only some paths.
type PlanDiffQuery struct {
	Ref   string   `json:"ref"`
	Paths []string `json:"paths,omitempty"`
	// ToApply asks for what is not applied yet instead.
	ToApply bool `json:"to_apply,omitempty"`
	// Patch asks for them in the form that git apply takes, too.
	Patch bool `json:"patch,omitempty"`
}

// DiffView is a plan's changes as a person reads them.
type DiffView struct {
	Plan PlanSummary `json:"plan"`
	Hash string      `json:"hash"` // plan.ChangeSet.Hash
	// Executable is the hash of the files among these that run by themselves,
	// which are approved apart; "" when there are none.
	Executable string     `json:"executable,omitempty"`
	Files      []FileDiff `json:"files"`
	Patch      []byte     `json:"patch,omitempty"`
	Ignored    bool       `json:"ignored,omitempty"` // there are changed paths that the resource's own rules ignore
}

// FileStat is how much one path changed.
type FileStat struct {
	Path    string `json:"path"`
	Status  string `json:"status"` // added, modified, deleted, mode
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Binary  bool   `json:"binary,omitempty"`
	Runs    string `json:"runs,omitempty"` // what runs it by itself, such as CI or git hook
}

// FileDiff is one path's change; Unified is empty for a binary file.
type FileDiff struct {
	FileStat
	OldMode string `json:"old_mode,omitempty"`
	NewMode string `json:"new_mode,omitempty"`
	Unified string `json:"unified,omitempty"`
}
