// Package evidence is what every later claim rests on: which bytes a model was
// sent and what each of them was, which tool call wrote which bytes, and where
// the record has a hole.
//
// Everything with content is kept by its SHA-256 in a blob store; the records
// here carry hashes. Build reads a request body into the places where its
// format can hold a text (place.go), claims one for each part that was composed
// (find.go) and names every byte; Tracker does so for a whole conversation and
// reads only what a request has beyond the one before. Neither checks in which
// role or order the provider reads the messages.
//
// What is kept and why: docs/evidence.md. Package evidence is pure.
package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/tool"
)

// Hash returns the name of b in the blob store: its SHA-256 in hex.
func Hash(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// Call is one model call. It is stored before it is made (without a response)
// and completed before anything acts on the answer, so that a paid answer is
// never asked for twice: (Plan, Phase, Attempt, Turn) is unique.
type Call struct {
	ID         ident.CallID     `json:"id"`
	Plan       ident.PlanID     `json:"plan"`
	Phase      plan.Phase       `json:"phase"`
	Attempt    int              `json:"attempt"`
	Turn       int              `json:"turn"`           // from 1 within phase and attempt
	Node       string           `json:"node,omitempty"` // of a graph; each has a conversation of its own
	Actor      string           `json:"actor"`
	Provider   string           `json:"provider"`
	Model      string           `json:"model"`              // as asked for
	Resolved   string           `json:"resolved"`           // as the provider answered
	RequestKey string           `json:"request_key"`        // hash of the composed request, before any provider's format
	LeftOut    string           `json:"left_out,omitempty"` // blob: LeftOut; "" when the prompt has all of the conversation
	Manifest   string           `json:"manifest"`           // blob: Manifest
	Request    string           `json:"request"`            // SHA-256 of the body that was sent
	Response   string           `json:"response"`           // blob: the body that came back
	Message    string           `json:"message"`            // blob: actor.Response as JSON
	Stop       actor.StopReason `json:"stop"`
	Usage      actor.Usage      `json:"usage"`
	Cost       float64          `json:"cost"`   // USD; 0 when the price is not known
	Priced     bool             `json:"priced"` // the price is known
	Attempts   int              `json:"attempts"`
	Error      string           `json:"error,omitempty"`
	Started    time.Time        `json:"started"`
	Finished   *time.Time       `json:"finished,omitempty"`
}

// Answered reports whether the response is stored.
func (c Call) Answered() bool { return c.Message != "" }

// ToolCall is one call of a tool, by a model or by a graph node.
type ToolCall struct {
	ID       ident.ToolCallID `json:"id"`
	Plan     ident.PlanID     `json:"plan"`
	Phase    plan.Phase       `json:"phase"`
	Attempt  int              `json:"attempt"`
	Turn     int              `json:"turn"`
	Index    int              `json:"index"`          // position within the turn, from 0
	Call     ident.CallID     `json:"call,omitempty"` // of a model; a tool node has none
	Node     string           `json:"node,omitempty"` // of a graph, the tool's or the model's
	Ref      string           `json:"ref"`            // the model's own id of this call
	Tool     string           `json:"tool"`
	Proposed string           `json:"proposed"`           // blob: arguments as the caller wrote them
	Executed string           `json:"executed"`           // blob: canonical arguments that ran; "" when nothing ran
	Decision ident.DecisionID `json:"decision,omitempty"` // the open decision it ran under
	Status   tool.Status      `json:"status"`
	Exit     *int             `json:"exit,omitempty"`
	Backend  string           `json:"backend,omitempty"` // what confined the program that ran; "" where none did
	Output   string           `json:"output"`            // blob: text given back to the caller
	Whole    string           `json:"whole,omitempty"`   // blob: the uncut output, where it was cut
	// Noted is what the call read or wrote: the hash of each path as it was then.
	Noted    map[string]string `json:"noted,omitempty"`
	Started  time.Time         `json:"started"`
	Finished *time.Time        `json:"finished,omitempty"`
}

// Origin is who wrote a hunk.
type Origin string

// The origins of a hunk.
const (
	Reported  Origin = "reported"  // the tool said that it wrote this path
	Untracked Origin = "untracked" // it changed while the tool ran, and the tool did not say so
	Human     Origin = "human"     // it changed between tool calls
)

// Hunk is one path changed by one tool call (or by nobody we know). Before and
// After are blobs; Ranges are the line intervals of After that are new.
type Hunk struct {
	ID       ident.HunkID     `json:"id"`
	Plan     ident.PlanID     `json:"plan"`
	ToolCall ident.ToolCallID `json:"tool_call,omitempty"`
	Call     ident.CallID     `json:"call,omitempty"`
	Decision ident.DecisionID `json:"decision"`
	Seq      int              `json:"seq"` // order within the plan, from 1
	Origin   Origin           `json:"origin"`
	Resource ident.ResourceID `json:"resource"`
	Path     string           `json:"path"`
	Before   plan.FileState   `json:"before"`
	After    plan.FileState   `json:"after"`
	Ranges   []LineRange      `json:"ranges"`
	Created  time.Time        `json:"created"`
}

// LineRange is a half-open interval of lines, from 0.
type LineRange struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// GapKind is why a part of the record is missing.
type GapKind string

// The kinds of gap.
const (
	GapUntracked GapKind = "untracked_write"
	GapTruncated GapKind = "truncated"
	GapOther     GapKind = "special_file" // a FIFO, device or socket in the sandbox
	GapContext   GapKind = "context_file" // advice of the repository that is not shown to models
	GapIgnored   GapKind = "ignored_path" // changed, but ignored by the resource's own rules
)

// Gap is a hole in the record, said aloud.
type Gap struct {
	Plan     ident.PlanID     `json:"plan"`
	Seq      int              `json:"seq"`
	Kind     GapKind          `json:"kind"`
	ToolCall ident.ToolCallID `json:"tool_call,omitempty"`
	Path     string           `json:"path,omitempty"`
	Detail   string           `json:"detail"`
	At       time.Time        `json:"at"`
}

// ValidationResult is one run of a validation, bound to the change set it saw.
type ValidationResult struct {
	ID        ident.ResultID `json:"id"`
	Plan      ident.PlanID   `json:"plan"`
	Attempt   int            `json:"attempt"`
	Round     int            `json:"round"` // fixes before this run
	Name      string         `json:"name"`
	Mode      tool.Mode      `json:"mode"`
	Verdict   tool.Verdict   `json:"verdict"`
	Exit      *int           `json:"exit,omitempty"`
	Message   string         `json:"message"`           // one line for a person
	Output    string         `json:"output"`            // blob
	ChangeSet string         `json:"change_set"`        // ChangeSet.Hash it ran on
	Backend   string         `json:"backend,omitempty"` // what confined the program; "" where none ran
	Started   time.Time      `json:"started"`
	Finished  time.Time      `json:"finished"`
}
