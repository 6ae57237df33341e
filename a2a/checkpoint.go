package a2a

import (
	"time"

	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

func checkpointOps() []Info {
	return []Info{CheckpointList().info(), CheckpointShow().info(), CheckpointDiff().info(), CheckpointGC().info(), PlanRollback().info()}
}

// CheckpointList lists the checkpoints of a plan, oldest first.
func CheckpointList() Op[CheckpointListQuery, CheckpointsView] {
	return Op[CheckpointListQuery, CheckpointsView]{Method: prefix + "checkpoint/list", Role: Reader, Doc: "list the checkpoints of a plan"}
}

// CheckpointShow shows one checkpoint: what it changes of the base.
func CheckpointShow() Op[RefQuery, CheckpointDiffView] {
	return Op[RefQuery, CheckpointDiffView]{Method: prefix + "checkpoint/show", Role: Reader, Doc: "show what a checkpoint holds"}
}

// CheckpointDiff shows what changed from one checkpoint to another, or to what
// the plan has now.
func CheckpointDiff() Op[CheckpointDiffQuery, CheckpointDiffView] {
	return Op[CheckpointDiffQuery, CheckpointDiffView]{Method: prefix + "checkpoint/diff", Role: Reader, Doc: "compare checkpoints"}
}

// CheckpointGC forgets the checkpoints of plans that have ended.
func CheckpointGC() Op[CheckpointGCRequest, CheckpointGCView] {
	return Op[CheckpointGCRequest, CheckpointGCView]{Method: prefix + "checkpoint/gc", Role: Admin, Doc: "forget checkpoints that no plan can go back to"}
}

// PlanRollback puts the sandbox of a plan back to a checkpoint.
func PlanRollback() Op[RollbackRequest, RollbackView] {
	return Op[RollbackRequest, RollbackView]{Method: prefix + "plan/rollback", Role: Writer, Doc: "put a plan back to a checkpoint"}
}

// CheckpointListQuery names the plan, and a decision when only its checkpoints
// are wanted.
type CheckpointListQuery struct {
	Plan     string `json:"plan"`
	Decision string `json:"decision,omitempty"`
}

// CheckpointsView is the checkpoints of one plan.
type CheckpointsView struct {
	Plan        PlanSummary      `json:"plan"`
	Tier        plan.Tier        `json:"rollback_tier"`
	Checkpoints []CheckpointView `json:"checkpoints"`
	Next        []string         `json:"next,omitempty"`
}

// CheckpointView is one checkpoint: one entry for each resource that the plan
// had changed then.
type CheckpointView struct {
	ID         ident.CheckpointID   `json:"id"`
	Plan       ident.PlanID         `json:"plan"`
	Decision   ident.DecisionID     `json:"decision,omitempty"`
	Question   string               `json:"question,omitempty"` // of the decision
	Chosen     string               `json:"chosen_option,omitempty"`
	Superseded bool                 `json:"superseded,omitempty"` // the decision is
	Resources  []CheckpointResource `json:"resources"`
	Files      int                  `json:"files"`
	Created    time.Time            `json:"created"`
}

// CheckpointResource is what a checkpoint holds of one resource.
type CheckpointResource struct {
	Resource ident.ResourceID `json:"resource"`
	Files    int              `json:"files"`
	Hash     string           `json:"hash"` // of its changes
}

// CheckpointDiffQuery names what is compared; To may be empty for what the plan
// has now.
type CheckpointDiffQuery struct {
	From string `json:"from"`
	To   string `json:"to,omitempty"`
}

// CheckpointDiffView is the files in which two states differ.
type CheckpointDiffView struct {
	Checkpoint CheckpointView `json:"checkpoint"`
	To         string         `json:"to"` // a checkpoint, or now; base for what Checkpoint changes
	Files      []FileDiff     `json:"files"`
}

// CheckpointGCRequest forgets those of plans that ended that long ago; DryRun
// only tells.
type CheckpointGCRequest struct {
	OlderThan time.Duration `json:"older_than"`
	DryRun    bool          `json:"dry_run,omitempty"`
}

// CheckpointGCView is what was forgotten.
type CheckpointGCView struct {
	Plans       []string `json:"plans"` // their names
	Checkpoints int      `json:"checkpoints"`
	DryRun      bool     `json:"dry_run,omitempty"`
}

// RollbackRequest names a plan and a checkpoint of it; DryRun only tells.
type RollbackRequest struct {
	Plan       string `json:"plan"`
	Checkpoint string `json:"checkpoint"`
	DryRun     bool   `json:"dry_run,omitempty"`
}

// RollbackView is what a rollback did or would do.
type RollbackView struct {
	Plan       PlanSummary        `json:"plan"`
	Checkpoint ident.CheckpointID `json:"checkpoint"`
	Before     ident.CheckpointID `json:"before,omitempty"` // what the sandbox held: rolling back to it undoes this
	Tier       plan.Tier          `json:"rollback_tier"`
	Files      []FileStat         `json:"files"`
	Decisions  []RolledBack       `json:"superseded"`
	DryRun     bool               `json:"dry_run,omitempty"`
	Next       []string           `json:"next,omitempty"`
}

// RolledBack is a decision that a rollback supersedes.
type RolledBack struct {
	ID       ident.DecisionID `json:"id"`
	Question string           `json:"question"`
	Chosen   string           `json:"chosen_option"`
}
