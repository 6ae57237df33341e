package a2a

import (
	"time"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
	"github.com/cleveragents/agents/project"
	"github.com/cleveragents/agents/resource"
)

// Nothing is the request of an operation that needs none.
type Nothing struct{}

// NameQuery names a namespaced entity; the namespace defaults to local.
type NameQuery struct {
	Name string `json:"name"`
}

// RefQuery names something by ULID, unique suffix of a ULID, name where it has
// one, or @last.
type RefQuery struct {
	Ref string `json:"ref"`
}

// ActionSource is an action as YAML text, or the name of a stored one.
type ActionSource struct {
	File   string         `json:"file,omitempty"` // shown in errors
	Text   string         `json:"text,omitempty"`
	Action *action.Action `json:"action,omitempty"` // instead of Text
	Name   string         `json:"name,omitempty"`   // validate only: a stored action
	Update bool           `json:"update,omitempty"` // replace one of that name
}

// ActionListQuery narrows a list of actions.
type ActionListQuery struct {
	Namespace string       `json:"namespace,omitempty"`
	State     action.State `json:"state,omitempty"`
}

// ActionView is one action.
type ActionView struct {
	Action  action.Action `json:"action"`
	Builtin bool          `json:"builtin"`
}

// ActionsView is a list of actions, by name.
type ActionsView struct {
	Actions []ActionView `json:"actions"`
}

// ActorSource is an actor as YAML text.
type ActorSource struct {
	File   string `json:"file"`
	Text   string `json:"text"`
	Update bool   `json:"update,omitempty"`
}

// ActorView is one actor.
type ActorView struct {
	Actor   actor.Config `json:"actor"`
	Builtin bool         `json:"builtin"`
}

// ActorsView is a list of actors, by name.
type ActorsView struct {
	Actors []ActorView `json:"actors"`
}

// ApprovalListQuery narrows a list of approvals.
type ApprovalListQuery struct {
	Plan string `json:"plan,omitempty"` // a plan's ref; "" is every plan
	All  bool   `json:"all,omitempty"`  // the decided ones too
}

// ApprovalView is one approval; Diff is set where it is about changes.
type ApprovalView struct {
	Approval plan.Approval `json:"approval"`
	Diff     *DiffView     `json:"diff,omitempty"`
	Next     string        `json:"next"` // the command that goes on
}

// ApprovalsView is a list of approvals, oldest first.
type ApprovalsView struct {
	Approvals []plan.Approval `json:"approvals"`
	Next      string          `json:"next,omitempty"` // after approve: the command that goes on
}

// ApproveRequest says yes to each of Refs.
type ApproveRequest struct {
	Refs []string `json:"refs"`
	Note string   `json:"note,omitempty"`
}

// RejectRequest says no. Guidance becomes a user_intervention decision.
type RejectRequest struct {
	Ref      string `json:"ref"`
	Guidance string `json:"guidance,omitempty"`
}

// DBPathView is where the program keeps its data.
type DBPathView struct {
	Store  string `json:"store"`  // the database file
	Blobs  string `json:"blobs"`  // directory
	Engine string `json:"engine"` // the workflow engine's database file
	Trees  string `json:"trees"`  // directory of snapshots and sandboxes
}

// DBStatusQuery asks for a full check too.
type DBStatusQuery struct {
	Check bool `json:"check,omitempty"`
}

// DBStatusView is how the store is.
type DBStatusView struct {
	Path   string           `json:"path"`
	Schema int64            `json:"schema_version"`
	Bytes  int64            `json:"bytes"`
	Rows   map[string]int64 `json:"rows"`
	Check  string           `json:"check,omitempty"` // ok, or what is wrong
}

// DoctorView is what doctor found.
type DoctorView struct {
	Findings []Finding `json:"findings"`
}

// Finding is one check: ok, warning or problem, with the way out.
type Finding struct {
	Name   string `json:"name"`
	Level  string `json:"level"` // ok, warning, problem
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
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
}

// PlanOutcome is where a plan is after an operation. Next are the exact
// commands with which a person goes on, best first; none when it has ended.
type PlanOutcome struct {
	Plan      PlanSummary     `json:"plan"`
	Next      []string        `json:"next,omitempty"`
	Approvals []plan.Approval `json:"approvals,omitempty"` // open ones
	Fault     *FaultView      `json:"fault,omitempty"`     // why it stopped without reaching its goal
	Changed   []FileStat      `json:"changed,omitempty"`
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
	Profile   policy.Profile    `json:"profile"`
	ProfileBy string            `json:"profile_by"`
	Bases     []plan.Base       `json:"bases"`
	Created   time.Time         `json:"created"`
	Updated   time.Time         `json:"updated"`
}

// DetailOf is the detail of a plan.
func DetailOf(p plan.Plan) PlanDetail {
	return PlanDetail{
		ID: p.ID, Name: p.Name, Project: p.Project, Status: p.Status, Reason: p.Reason, Fault: p.Fault,
		Attempt: p.Attempt, Fixes: p.Fixes, Action: p.Action, Args: p.Args, Prompt: p.Prompt,
		Strategy: p.Strategy, Execution: p.Execution, Profile: p.Profile, ProfileBy: p.ProfileBy,
		Bases: p.Bases, Created: p.Created, Updated: p.Updated,
	}
}

// PlanView is a plan with all that belongs to it.
type PlanView struct {
	Plan        PlanDetail                  `json:"plan"`
	Held        bool                        `json:"held"`
	Next        []string                    `json:"next,omitempty"`
	Approvals   []plan.Approval             `json:"approvals"`
	Checkpoints []plan.Checkpoint           `json:"checkpoints"`
	Results     []evidence.ValidationResult `json:"validations"`
	Decisions   int                         `json:"decisions"`
	Calls       []evidence.Call             `json:"calls"`
	ToolCalls   []evidence.ToolCall         `json:"tool_calls"`
	Gaps        []evidence.Gap              `json:"gaps"`
	Changed     []FileStat                  `json:"changed"`
	Cost        float64                     `json:"cost"` // USD
	Usage       actor.Usage                 `json:"usage"`
}

// PlanApplyRequest applies a plan. Expect, when set, is the hash of the change
// set that the person was shown; another one is refused.
type PlanApplyRequest struct {
	Ref    string `json:"ref"`
	Expect string `json:"expect,omitempty"`
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
}

// DiffView is a plan's changes as a person reads them.
type DiffView struct {
	Plan    PlanSummary `json:"plan"`
	Hash    string      `json:"hash"` // plan.ChangeSet.Hash
	Files   []FileDiff  `json:"files"`
	Ignored bool        `json:"ignored,omitempty"` // there are changed paths that the resource's own rules ignore
}

// FileStat is how much one path changed.
type FileStat struct {
	Path    string `json:"path"`
	Status  string `json:"status"` // added, modified, deleted, mode
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Binary  bool   `json:"binary,omitempty"`
}

// FileDiff is one path's change; Unified is empty for a binary file.
type FileDiff struct {
	FileStat
	OldMode string `json:"old_mode,omitempty"`
	NewMode string `json:"new_mode,omitempty"`
	Unified string `json:"unified,omitempty"`
}

// ProjectInitRequest makes Dir a project.
type ProjectInitRequest struct {
	Dir   string `json:"dir"` // absolute
	Name  string `json:"name,omitempty"`
	Type  string `json:"type,omitempty"` // resource type; "" detects
	Force bool   `json:"force,omitempty"`
}

// ProjectCreateRequest makes an empty project.
type ProjectCreateRequest struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// ProjectView is a project with its resources.
type ProjectView struct {
	Project   project.Project     `json:"project"`
	Resources []resource.Resource `json:"resources"`
	Current   bool                `json:"current"`
}

// ProjectsView is a list of projects, by name.
type ProjectsView struct {
	Projects []ProjectView `json:"projects"`
}

// LinkRequest links resources to a project.
type LinkRequest struct {
	Project   string   `json:"project"`
	Resources []string `json:"resources"` // names, ids or suffixes of ids
	ReadOnly  bool     `json:"read_only,omitempty"`
}

// ResourceAddRequest registers a resource.
type ResourceAddRequest struct {
	Type     string `json:"type"`
	Location string `json:"location"` // absolute path
	Name     string `json:"name,omitempty"`
	Force    bool   `json:"force,omitempty"`
}

// ResourceListQuery narrows a list of resources.
type ResourceListQuery struct {
	Type string `json:"type,omitempty"`
}

// ResourceView is one resource and the projects that link it.
type ResourceView struct {
	Resource resource.Resource `json:"resource"`
	Projects []string          `json:"projects"`
}

// ResourcesView is a list of resources.
type ResourcesView struct {
	Resources []ResourceView `json:"resources"`
}
