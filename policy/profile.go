// Package policy decides what may happen without a person: automation
// profiles (confidence thresholds), the safety profile and the guard. It is
// pure: a decision is a function of the profile and of recorded facts.
//
// Source: the specification, Behavior, "Automation Profiles"; the settled questions in
// docs/decisions.md (a threshold of 1.0 is always manual, even at confidence
// 1.0; a missing or impossible confidence counts as 0).
package policy

import (
	"math"

	"github.com/cleveragents/agents/fault"
)

// Task is one automatable step of a plan's life that a threshold gates.
type Task int

// The eleven tasks, in the order of the spec's table.
const (
	EnterStrategize Task = iota
	EnterExecute
	EnterApply
	DecideStrategy
	DecideExecution
	FixValidation
	ReviseStrategy
	RevertFromApply
	SpawnChild
	RetryTransient
	RestoreCheckpoint
	taskCount
)

// TaskName is a task's two names: the clear one that people are shown and the
// key of the spec, which is kept in files although it misleads.
type TaskName struct{ Alias, Key, Meaning string }

// TaskNames returns the names of every task, indexed by task.
func TaskNames() []TaskName {
	return []TaskName{
		EnterStrategize:   {"enter_strategize", "decompose_task", "enter Strategize after plan use"},
		EnterExecute:      {"enter_execute", "create_tool", "go from Strategize to Execute"},
		EnterApply:        {"enter_apply", "select_tool", "go from Execute to Apply"},
		DecideStrategy:    {"decide_strategy", "edit_code", "make decisions during Strategize"},
		DecideExecution:   {"decide_execution", "execute_command", "make decisions during Execute"},
		FixValidation:     {"fix_validation", "create_file", "try to fix a failed validation"},
		ReviseStrategy:    {"revise_strategy", "delete_content", "revise the strategy when Execute hits a constraint"},
		RevertFromApply:   {"revert_from_apply", "access_network", "go back from a constrained Apply to Strategize"},
		SpawnChild:        {"spawn_child", "install_dependency", "start child plans"},
		RetryTransient:    {"retry_transient", "modify_config", "retry after a transient failure"},
		RestoreCheckpoint: {"restore_checkpoint", "approve_plan", "restore a checkpoint after a failure"},
	}
}

// String returns the clear name.
func (t Task) String() string { return TaskNames()[t].Alias }

// Threshold is the confidence from which a task goes ahead by itself:
// 0 always, 1 never.
type Threshold float64

// Valid reports whether t is a number from 0 to 1.
func (t Threshold) Valid() bool { return t >= 0 && t <= 1 }

// Confidence is a computed score from 0 to 1. The zero value is "not known",
// which is 0.
type Confidence struct{ v float64 }

// NewConfidence returns the confidence v; anything that is not a number from
// 0 to 1 is read as 0 (T22 in docs/threats.txt).
func NewConfidence(v float64) Confidence {
	if math.IsNaN(v) || v < 0 || v > 1 {
		return Confidence{}
	}
	return Confidence{v}
}

// Float returns the score.
func (c Confidence) Float() float64 { return c.v }

// Passes reports whether a task with threshold t may go ahead at confidence c.
func (t Threshold) Passes(c Confidence) bool {
	if !t.Valid() || t >= 1 {
		return false
	}
	return c.v >= float64(t)
}

// Safety is the hard limits of a profile; none of them depends on confidence.
type Safety struct {
	RequireSandbox       bool `json:"require_sandbox" yaml:"require_sandbox"`
	RequireCheckpoints   bool `json:"require_checkpoints" yaml:"require_checkpoints"`
	AllowUnsafeTools     bool `json:"allow_unsafe_tools" yaml:"allow_unsafe_tools"`
	RequireHumanApproval bool `json:"require_human_approval" yaml:"require_human_approval"`
	// AllowedSkillCategories is absent for any category. The spec reads a
	// written empty list as any, too; renderings print "any" for both.
	AllowedSkillCategories *[]string `json:"allowed_skill_categories,omitempty" yaml:"allowed_skill_categories,omitempty"`
	MaxCostPerPlan         *float64  `json:"max_cost_per_plan,omitempty" yaml:"max_cost_per_plan,omitempty"` // USD
	MaxTotalCost           *float64  `json:"max_total_cost,omitempty" yaml:"max_total_cost,omitempty"`       // USD
	MaxRetriesPerStep      int       `json:"max_retries_per_step" yaml:"max_retries_per_step"`
	// Network is what programs may reach; absent for what the configuration says
	// when a plan is made, which then is here.
	Network *Network `json:"network,omitempty" yaml:"network,omitempty"`
}

// Profile is a named set of thresholds with its safety profile and guard.
type Profile struct {
	Name        string               `json:"name"`
	Description string               `json:"description,omitempty"`
	Thresholds  [taskCount]Threshold `json:"thresholds"` // indexed by Task
	Safety      Safety               `json:"safety"`
	Guard       Guard                `json:"guard"`
}

// Auto reports whether the profile lets the task go ahead at confidence c.
func (p Profile) Auto(t Task, c Confidence) bool { return p.Thresholds[t].Passes(c) }

// DefaultProfile is the profile of a plan for which none is set anywhere.
const DefaultProfile = "manual"

// FullAuto is the profile whose choice is a person's word that nobody looks at
// what is applied.
const FullAuto = "full-auto"

// Builtin returns the eight profiles of the spec's table, in its order.
func Builtin() []Profile {
	type row = [taskCount]Threshold
	safe := Safety{RequireSandbox: true, RequireCheckpoints: true, MaxRetriesPerStep: 3}
	mk := func(name, description string, t row) Profile {
		return Profile{Name: name, Description: description, Thresholds: t, Safety: safe}
	}
	all := []Profile{
		mk("manual", "every step waits for a person", row{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}),
		mk("review", "phases run, every decision waits for a person", row{0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1}),
		mk("supervised", "plans by itself, waits before Execute", row{0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1}),
		mk("cautious", "goes ahead only where confidence is high", row{.7, .7, 1, .6, .8, .7, .8, .9, .7, 0, .6}),
		mk("trusted", "runs by itself, waits before Apply and for plan-level corrections", row{0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 1}),
		mk("auto", "runs by itself, waits only before Apply", row{0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0}),
		mk("ci", "everything by itself, Apply included; sandbox and checkpoints stay", row{}),
		mk("full-auto", "everything by itself, Apply included; unsafe tools allowed", row{}),
	}
	last := &all[len(all)-1]
	last.Safety.RequireSandbox, last.Safety.RequireCheckpoints, last.Safety.AllowUnsafeTools = false, false, true
	return all
}

// Find returns the built-in profile of that name.
func Find(name string) (Profile, error) {
	var names []string
	for _, p := range Builtin() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Profile{}, fault.New(fault.NotFound, "no automation profile %q", name).
		WithHint("choose one of %v", names)
}

// Resolve returns the profile name that counts for a plan: the first that is
// set of plan, action, project and global, and which tier that was.
func Resolve(plan, action, project, global string) (name, tier string) {
	for _, c := range []struct{ name, tier string }{
		{plan, "plan"}, {action, "action"}, {project, "project"}, {global, "global"},
	} {
		if c.name != "" {
			return c.name, c.tier
		}
	}
	return DefaultProfile, "default"
}
