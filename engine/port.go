// Package engine carries a plan from words to applied files.
//
// One loop (run.go) takes a plan one step at a time: load what is recorded,
// decide what is next, do it, record it. Every step is safe to run again after
// a crash at any point, because it finds in the records how far it got; so
// resume, restart and the tests share this one way.
//
// The engine declares here what it needs from the outside and imports none of
// it. It does not promise that an effect outside a sandbox happens at most
// once; inside, it restores the last recorded state before it runs a tool
// again.
package engine

import (
	"context"
	"time"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
	"github.com/cleveragents/agents/project"
	"github.com/cleveragents/agents/provider"
	"github.com/cleveragents/agents/resource"
	"github.com/cleveragents/agents/session"
	"github.com/cleveragents/agents/tool"
)

// Store keeps the records. Implementations pass store/storetest.
type Store interface {
	// View runs f on one consistent state. Writes through its Tx fail.
	View(ctx context.Context, f func(Tx) error) error
	// Update runs f in one transaction that is durable when Update returns
	// nil; any error of f rolls all of it back. Writers wait for each other;
	// one that waits longer than the store's limit gets fault.Busy. f must
	// have no effect but through its Tx.
	Update(ctx context.Context, f func(Tx) error) error
	// UpdateRelaxed is Update for what can be done again: no death of this
	// process takes it back, but a machine that loses power may, until the next
	// Update returns, and then with everything that was committed after it.
	UpdateRelaxed(ctx context.Context, f func(Tx) error) error
}

// Tx is one transaction. A thing that is not there is fault.NotFound; a second
// one of the same name or id is fault.Exists. Lists come in creation order
// unless said; an empty list is not an error.
type Tx interface {
	ActionTx
	ActorTx
	ProjectTx
	ResourceTx
	PlanTx
	DecisionTx
	EvidenceTx
	ApprovalTx
	SettingTx
	BlobTx
	ProviderTx
	SessionTx
}

// ActionTx keeps actions by canonical name.
type ActionTx interface {
	PutAction(a action.Action, replace bool) error // Exists unless replace
	Action(name string) (action.Action, error)
	Actions() ([]action.Action, error) // by name
}

// ActorTx keeps actors by canonical name.
type ActorTx interface {
	PutActor(a actor.Config, replace bool) error
	Actor(name string) (actor.Config, error)
	Actors() ([]actor.Config, error) // by name
	RemoveActor(name string) error
}

// ProviderTx keeps the configuration of providers by name. None holds a key.
type ProviderTx interface {
	PutProvider(c provider.Config, replace bool) error // Exists unless replace
	Provider(name string) (provider.Config, error)
	Providers() ([]provider.Config, error) // by name
	RemoveProvider(name string) error
}

// ProjectTx keeps projects with their links.
type ProjectTx interface {
	InsertProject(p project.Project) error
	UpdateProject(p project.Project) error
	Project(name string) (project.Project, error)
	Projects() ([]project.Project, error) // by name
}

// ResourceTx keeps resources.
type ResourceTx interface {
	InsertResource(r resource.Resource) error
	Resource(id ident.ResourceID) (resource.Resource, error)
	ResourceByName(name string) (resource.Resource, error)
	Resources() ([]resource.Resource, error)
}

// PlanFilter narrows a list of plans; zero fields do not filter.
type PlanFilter struct {
	Project string
	Phase   plan.Phase
	State   plan.State
	Name    string
	Marks   map[string]string // plans that have all of them
	Without string            // plans that do not have the mark of that key
	Limit   int               // newest first; 0 means all
	Touched bool              // the last changed first instead
}

// The marks of a plan that the program knows. Labels of people have the prefix.
const (
	MarkArchived = "archived" // hidden from lists; the value is when
	MarkImported = "imported" // history of another place, never run here; the value is its project there
	MarkLabel    = "label/"
)

// PlanTx keeps plans, their events and who may run them.
type PlanTx interface {
	InsertPlan(p plan.Plan) error
	// UpdatePlan stores p, but for its name, when the stored version is
	// p.Version and then makes it one more, in p too; otherwise fault.Conflict.
	UpdatePlan(p *plan.Plan) error
	// RenamePlan changes the name alone, and no version: a process that runs
	// the plan is not disturbed.
	RenamePlan(id ident.PlanID, name string) error
	Plan(id ident.PlanID) (plan.Plan, error)
	Plans(f PlanFilter) ([]plan.Plan, error) // newest first, unless the filter says otherwise
	// SetMark attaches a value to the plan under the key, "" takes it away.
	// Marks lie beside the plan's row and are set whoever runs it.
	SetMark(id ident.PlanID, key, value string) error
	Marks(id ident.PlanID) (map[string]string, error)
	// FindIDs returns the ids of that table that end with the suffix, at most
	// limit. The table is plan, decision, approval, checkpoint, resource or
	// session.
	FindIDs(table, suffix string, limit int) ([]string, error)

	// AppendEvent gives e the next Seq of its plan and stores it.
	AppendEvent(e *plan.Event) error
	// Events returns the events of a plan with Seq > after, in order, at most
	// limit (0: all).
	Events(id ident.PlanID, after int64, limit int) ([]plan.Event, error)

	// Claim makes holder the only one who may run the plan. It fails with
	// fault.Busy when another holder has it; that error's detail "holder"
	// names it. Claiming what one holds already succeeds.
	Claim(id ident.PlanID, holder string, at time.Time) error
	// Release ends holder's claim; it is no error when there is none.
	Release(id ident.PlanID, holder string) error
	// Holder returns who holds the plan, "" for nobody.
	Holder(id ident.PlanID) (string, error)
}

// DecisionTx keeps decisions, their influence edges and checkpoints.
type DecisionTx interface {
	// InsertDecision gives d the next Seq of its plan and stores it with one
	// edge from each of ups.
	InsertDecision(d *plan.Decision, ups []ident.DecisionID) error
	UpdateDecision(d plan.Decision) error
	Decision(id ident.DecisionID) (plan.Decision, error)
	Decisions(id ident.PlanID) ([]plan.Decision, error) // by Seq
	Influences(id ident.PlanID) ([]plan.Influence, error)
	InsertCheckpoint(c plan.Checkpoint) error
	Checkpoint(id ident.CheckpointID) (plan.Checkpoint, error)
	Checkpoints(id ident.PlanID) ([]plan.Checkpoint, error)
	DeleteCheckpoints(id ident.PlanID) error // all of the plan; none is not an error
}

// EvidenceTx keeps the records of evidence.
type EvidenceTx interface {
	InsertCall(c evidence.Call) error // Exists for a second (plan, phase, attempt, turn)
	UpdateCall(c evidence.Call) error
	Call(id ident.CallID) (evidence.Call, error)
	Calls(id ident.PlanID) ([]evidence.Call, error)
	InsertToolCall(t evidence.ToolCall) error // Exists for a second (plan, phase, attempt, turn, index)
	UpdateToolCall(t evidence.ToolCall) error
	ToolCall(id ident.ToolCallID) (evidence.ToolCall, error)
	ToolCalls(id ident.PlanID) ([]evidence.ToolCall, error)
	InsertHunk(h *evidence.Hunk) error // gives Seq
	Hunks(id ident.PlanID) ([]evidence.Hunk, error)
	InsertGap(g *evidence.Gap) error // gives Seq
	Gaps(id ident.PlanID) ([]evidence.Gap, error)
	InsertResult(r evidence.ValidationResult) error
	Results(id ident.PlanID) ([]evidence.ValidationResult, error)
	// Usage sums what was used since a time (zero: ever), in groups, those that
	// cost most first. Imported plans do not count: others paid for them.
	Usage(by evidence.UsageBy, since time.Time) ([]evidence.UsageRow, error)
}

// ApprovalTx keeps approvals.
type ApprovalTx interface {
	InsertApproval(a plan.Approval) error
	UpdateApproval(a plan.Approval) error
	Approval(id ident.ApprovalID) (plan.Approval, error)
	// Approvals lists those of a plan ("" for every plan); openOnly leaves the
	// decided ones out.
	Approvals(id ident.PlanID, openOnly bool) ([]plan.Approval, error)
}

// SessionTx keeps conversations and what was said in them.
type SessionTx interface {
	InsertSession(s session.Session) error // Exists for a second of that id or name
	UpdateSession(s session.Session) error // its name and when it was touched
	Session(id ident.SessionID) (session.Session, error)
	SessionByName(name string) (session.Session, error)
	// Sessions lists those of a project ("" for every one), the last touched
	// first, at most limit (0: all).
	Sessions(project string, limit int) ([]session.Session, error)
	// InsertSessionMessage stores the next message of its session; one whose
	// number is not the next is fault.Conflict.
	InsertSessionMessage(m session.Message) error
	// SessionMessages returns the newest messages, at most so many (0: all), in
	// their order.
	SessionMessages(id ident.SessionID, newest int) ([]session.Message, error)
	DeleteSession(id ident.SessionID) error // with its messages, and nothing else
}

// SettingTx keeps small values by key, such as the current project.
type SettingTx interface {
	PutSetting(key, value string) error
	Setting(key string) (string, error) // NotFound when unset
}

// BlobTx keeps the blobs that are small enough to be stored in the transaction
// that names them.
type BlobTx interface {
	PutBlob(b SmallBlob) error // one that is there already is not an error
	Blob(hash string) (SmallBlob, error)
}

// SmallBlob is a blob in the form that Blobs gave it for a row of the store.
type SmallBlob struct {
	Hash string
	Data []byte
}

// Blobs keeps bytes by their SHA-256. Put of bytes that are there is cheap and
// not an error; a blob is durable when Put returns, and so are all of PutAll,
// whose hashes are in the order of bs. Get checks the hash and returns
// fault.Corrupt when it does not match, fault.NotFound when it is not there; it
// finds what Put stored and what was stored through BlobTx.
type Blobs interface {
	Put(ctx context.Context, b []byte) (hash string, err error)
	PutAll(ctx context.Context, bs [][]byte) (hashes []string, err error)
	// Split stores the blobs (by hash) that are too large for a row, durably,
	// and returns the others for BlobTx, in the order of their hashes.
	Split(ctx context.Context, bs map[string][]byte) ([]SmallBlob, error)
	Get(ctx context.Context, hash string) ([]byte, error)
}

// Model makes one call of one model. An error of kind Unavailable may be
// retried; any other is final. A response is whole: a stream that ends early
// is an error, and no tool call is returned before its end was seen.
type Model interface {
	Generate(ctx context.Context, r actor.Request, progress func(textDelta string)) (actor.Response, error)
	// Check reports whether the model can be asked at all: its provider is set
	// up. It asks nobody; the error is for a person.
	Check(provider, model string) error
}

// Sandboxes makes and reopens the isolated trees that plans work in.
type Sandboxes interface {
	// Snapshot records the bytes of the resource as they are on disk now.
	Snapshot(ctx context.Context, r resource.Resource) (plan.Base, error)
	// Open returns the plan's sandbox, forking it from the bases when it does
	// not exist yet. A sandbox whose making was cut short is made again.
	Open(ctx context.Context, id ident.PlanID, bases []plan.Base) (Sandbox, error)
	// Has reports whether the plan's sandbox is there and whole.
	Has(ctx context.Context, id ident.PlanID) (bool, error)
	// Remove deletes the plan's sandbox; none is not an error.
	Remove(ctx context.Context, id ident.PlanID) error
}

// Sandbox is a plan's private copy of its resources.
type Sandbox interface {
	// Dir is the directory that tools start in: the first resource's tree.
	Dir() string
	// Scratch is a directory beside the trees for what programs keep while the
	// sandbox is there. It need not exist.
	Scratch() string
	// Changes compares the trees with the base. Paths that the resource's own
	// rules ignore are in ignored and not in the change set; special files are
	// in special. The bytes of every changed file, before and after, are in
	// the blob store when it returns.
	Changes(ctx context.Context) (Changes, error)
	// Restore makes the trees base plus want, checking every hash. Ignored
	// paths are left alone.
	Restore(ctx context.Context, want plan.ChangeSet) error
	// Base returns the state of a path in the base.
	Base(ctx context.Context, r ident.ResourceID, path string) (plan.FileState, error)
	// BaseFile returns the bytes of a regular file in the base. What is not one
	// is fault.NotFound, one of more than limit bytes fault.Exhausted.
	BaseFile(ctx context.Context, r ident.ResourceID, path string, limit int) ([]byte, error)
}

// Changes is the outcome of one comparison.
type Changes struct {
	Set     plan.ChangeSet
	Ignored []string
	Special []string
}

// Target is the real resource, at Apply only.
type Target interface {
	// States returns the state of each path as it is on disk now. A path that
	// leads through a link or out of the resource is fault.Denied.
	States(ctx context.Context, location string, paths []string) (map[string]plan.FileState, error)
	// Apply makes every path of every part what its change says, or none, and is
	// durable when it returns. A path that is neither what its change began with
	// nor what it wants is fault.Conflict, whose detail "paths" has them all:
	// nothing was written then, unless the code is ApplyStopped, when a person
	// changed one between the commit and its own turn. A resource that somebody
	// else is writing is fault.Busy. After any other fault all is as it was, or
	// Stage says otherwise. What was applied already is not applied again.
	Apply(ctx context.Context, a Application) (Landing, error)
	// Stage tells how far an application of the plan got.
	Stage(ctx context.Context, id ident.PlanID) (Stage, error)
	// Settle carries an application that was cut short or stopped on to its end,
	// or back to its beginning. What a person changed meanwhile stays and is in
	// Left. Without one it is fault.NotFound.
	Settle(ctx context.Context, id ident.PlanID, back bool) (Landing, error)
	// Forget ends an application that the plan's records tell of by now.
	Forget(ctx context.Context, id ident.PlanID) error
	// Keep writes the bytes of one side of a conflict beside the plan's data
	// and returns where.
	Keep(ctx context.Context, id ident.PlanID, side, path string, f plan.FileState) (string, error)
}

// ApplyStopped is the code of the Conflict of an application that stopped in the
// middle.
const ApplyStopped = "ApplyStopped"

// Application is what Apply is to make true as one.
type Application struct {
	Plan   ident.PlanID `json:"plan"`
	Parts  []Part       `json:"parts"`
	Commit *Commit      `json:"commit,omitempty"` // in the repository of the first part as well
	Dry    bool         `json:"-"`                // only look whether it could be done
}

// Part is what changes in one resource.
type Part struct {
	Location string         `json:"location"`
	Changes  plan.ChangeSet `json:"changes"`
}

// Commit asks for a commit of the changes. With a branch the commit is put on a
// new one of that name and the work tree stays as it is; without one it goes
// onto the current branch, with the files.
type Commit struct {
	Branch  string    `json:"branch,omitempty"`
	Message string    `json:"message"`
	When    time.Time `json:"when"`
}

// Landing is what came of an application.
type Landing struct {
	Files  int      `json:"files"`            // written or removed
	Left   []string `json:"left,omitempty"`   // paths where a person's bytes stay
	Commit string   `json:"commit,omitempty"` // its id
	Ref    string   `json:"ref,omitempty"`    // where it is
	Notes  []string `json:"notes,omitempty"`  // what a person should know
}

// Stage is how far an application got.
type Stage string

// The stages. None has left no trace among the files.
const (
	StageNone     Stage = ""
	StageHalf     Stage = "half"     // cut short or stopped; some files may be new
	StageApplied  Stage = "applied"  // all is in place
	StageReverted Stage = "reverted" // all was put back
)

// Toolbox is the tools that exist.
type Toolbox interface {
	Specs() []tool.Spec // by name
	// Call runs one tool on canonical JSON arguments that its schema accepts.
	// An error is a fault of ours; what the tool itself has to say is in the
	// result. It returns soon after ctx is done.
	Call(ctx context.Context, name string, args []byte, in ToolContext) (tool.Result, error)
}

// Place is where the programs of a plan run.
type Place struct {
	Dir     string         // the sandbox's root
	At      string         // where the resource is; programs see the tree there where that can be done
	Scratch string         // outside the tree; holds what programs keep: home, caches. "" keeps nothing
	Network policy.Network // what programs may reach
	Confine bool           // a program that cannot be confined is fault.Unavailable, SandboxUnavailable, and not run
}

// ToolContext is where a call runs.
type ToolContext struct {
	Place
	// ReadOnly asks for a view through which nothing can be written.
	ReadOnly bool
	// Seen tells and asks what the caller has read, so that an edit of a file
	// that changed since is refused. Path is relative to Dir.
	Seen Seen
	Page func(hash string) ([]byte, error) // earlier uncut outputs, by blob hash
}

// Seen remembers the hash of each path when it was last read or written by
// this plan's actor.
type Seen interface {
	Last(path string) (hash string, ok bool)
	Note(path, hash string)
}

// Checker runs the program of a validation in the sandbox. It must not change
// the sandbox; the engine restores it when it does.
type Checker interface {
	Check(ctx context.Context, in Place, v tool.Validation) (CheckOutcome, error)
}

// CheckOutcome is what a validation's program did.
type CheckOutcome struct {
	Verdict tool.Verdict
	Exit    *int
	Message string
	Output  []byte
	Backend string // what confined the program; "" when none was run
}

// Runner carries a step loop durably: Run calls step until it returns done,
// recording after each call, and after a crash a new Run of the same key goes
// on after the last recorded call. Only one process runs a key at a time.
type Runner interface {
	Run(ctx context.Context, key string, step func(ctx context.Context, n int) (done bool, err error)) error
}

// Liveness tells whether the process that a holder's name stands for is alive.
type Liveness interface {
	Self() string
	Alive(ctx context.Context, holder string) bool
}

// Emit receives what happens, as it happens. It must not block for long.
type Emit func(plan.Event)
