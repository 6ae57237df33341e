package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
	"github.com/cleveragents/agents/project"
	"github.com/cleveragents/agents/resource"
)

// UseInput is what plan use takes.
type UseInput struct {
	Action         string
	Project        string // canonical name
	Args           map[string]string
	Name           string
	Profile        string
	Prompt         string
	Invariants     []string
	StrategyActor  string
	ExecutionActor string
	NoInput        bool
	// Adjust changes the execution actor of this plan alone; nil leaves it.
	Adjust   func(*actor.Config)
	Settings Settings
	// Conversation is what was said before the task, by a person and an actor
	// in turn: the models of the plan get it before the task. Within, where it
	// is set, stores more in the transaction that makes the plan.
	Conversation []actor.Message
	Within       func(Tx, plan.Plan) error
}

// Settings is what the person's configuration says about new plans.
type Settings struct {
	Profile      string         // the global automation profile; "" is the default one
	MaxCost      *float64       // USD; the lower of it and the profile's counts
	Network      policy.Network // for programs, where the safety profile does not say
	MaxToolCalls *int           // a step; likewise
}

// Use makes a plan from an action: everything it depends on is looked up,
// checked (Preflight) and copied in. Nothing is stored when anything is wrong.
func (e *Engine) Use(ctx context.Context, in UseInput) (plan.Plan, error) {
	if err := in.checkText(); err != nil {
		return plan.Plan{}, err
	}
	a, _, err := e.Action(ctx, in.Action)
	if err != nil {
		return plan.Plan{}, err
	}
	args, err := a.Bind(in.Args)
	if err != nil {
		return plan.Plan{}, err
	}
	a.Invariants = append(append([]string{}, a.Invariants...), in.Invariants...)
	p := plan.Plan{
		ID:      ident.PlanID(e.IDs.New()),
		Project: in.Project,
		Status:  plan.Status{Phase: plan.PhaseAction, State: plan.Queued},
		Attempt: 1,
		NoInput: in.NoInput,
		Action:  a,
		Args:    args,
		Prompt:  strings.TrimSpace(in.Prompt),
		Created: e.Now(),
		Updated: e.Now(),
		Version: 1,
	}
	if p.Name, err = planName(in.Name, a, p.ID); err != nil {
		return plan.Plan{}, err
	}
	if err := e.cast(ctx, &p, in); err != nil {
		return plan.Plan{}, err
	}
	var scope project.Project
	var linked []resource.Resource
	err = e.Store.View(ctx, func(tx Tx) error {
		if scope, err = tx.Project(in.Project); err != nil {
			return err
		}
		for _, l := range scope.Links {
			r, err := tx.Resource(l.Resource)
			if err != nil {
				return err
			}
			linked = append(linked, r)
		}
		return nil
	})
	if err != nil {
		return plan.Plan{}, err
	}
	if err := resolveProfile(&p, in.Profile, scope.AutomationProfile, in.Settings); err != nil {
		return plan.Plan{}, err
	}
	if err := e.Preflight(ctx, p, linked); err != nil {
		return plan.Plan{}, err
	}
	if p.Conversation, err = e.putConversation(ctx, in.Conversation); err != nil {
		return plan.Plan{}, err
	}
	ev := e.event(p.ID, "plan.created", fields{
		"name": p.Name, "action": a.Name, "project": p.Project, "profile": p.Profile.Name,
	})
	err = e.Store.Update(ctx, func(tx Tx) error {
		if err := tx.InsertPlan(p); err != nil {
			return err
		}
		if in.Within != nil {
			if err := in.Within(tx, p); err != nil {
				return err
			}
		}
		return tx.AppendEvent(&ev)
	})
	if fault.Is(err, fault.Exists) {
		err = fault.New(fault.Exists, "there is a plan called %s", p.Name).WithHint("choose another --name")
	}
	return p, err
}

// checkText refuses what a record or a request could not say as it is.
func (in UseInput) checkText() error {
	all := append([]string{in.Prompt}, in.Invariants...)
	for _, v := range in.Args {
		all = append(all, v)
	}
	for _, s := range all {
		if !utf8.ValidString(s) {
			return fault.New(fault.Invalid, "%s: the text is not UTF-8", strings.ToValidUTF8(clip(s, 80), "\uFFFD"))
		}
	}
	return nil
}

// resolveProfile finds the profile that counts and locks it, with the limits of
// the configuration, into the plan.
func resolveProfile(p *plan.Plan, asked, ofProject string, set Settings) error {
	name, tier := policy.Resolve(asked, p.Action.AutomationProfile, ofProject, set.Profile)
	prof, err := policy.Find(name)
	if err != nil {
		return err
	}
	if p.Action.Safety != nil {
		prof.Safety = *p.Action.Safety
	}
	prof.Safety.MaxCostPerPlan = lower(prof.Safety.MaxCostPerPlan, set.MaxCost)
	if prof.Safety.Network == nil {
		prof.Safety.Network = &set.Network
	}
	prof.Guard.MaxToolCallsPerStep = lower(prof.Guard.MaxToolCallsPerStep, set.MaxToolCalls)
	p.Profile, p.ProfileBy = prof, tier
	return nil
}

// lower returns the lower of two limits; nil is none.
func lower[N int | float64](a, b *N) *N {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

// planName returns the name that was asked for, or the action's name with the
// end of the plan's id.
func planName(asked string, a action.Action, id ident.PlanID) (string, error) {
	if asked != "" {
		return ident.Canonical(asked)
	}
	n, err := ident.ParseName(a.Name)
	if err != nil {
		return "", err
	}
	s := strings.ToLower(string(id))
	base := n.Base
	if len(base) > 50 {
		base = base[:50]
	}
	return ident.LocalNamespace + "/" + base + "-" + s[len(s)-6:], nil
}

// Preflight makes the checks of the specification (Behavior, "Plan Generation
// Guardrails") that this form can make. The error names the check that failed.
func (e *Engine) Preflight(ctx context.Context, p plan.Plan, linked []resource.Resource) error {
	fail := func(check, format string, args ...any) *fault.Error {
		f := fault.New(fault.Unavailable, "preflight: "+check+": "+format, args...)
		return f.WithCode("PreflightFailed").With("check", check)
	}
	if p.Action.State != action.Available {
		return fail("action", "%s is %s", p.Action.Name, p.Action.State)
	}
	if err := p.Action.Validate(); err != nil {
		return fail("action", "%v", err)
	}
	if len(linked) == 0 {
		return fail("resources", "project %s has no linked resource", p.Project).
			WithHint("agents init DIR, or agents resource add … and agents project link-resource %s …", p.Project)
	}
	for _, r := range linked {
		if _, err := e.Target.States(ctx, r.Location, nil); err != nil {
			return fail("resources", "%s: %v", r.Name, err)
		}
	}
	if p.Profile.Safety.RequireSandbox && e.Confined != nil {
		if err := e.Confined(ctx); err != nil {
			return fail("sandbox", "%w", err).WithCode("SandboxUnavailable").WithHint("%s", fault.As(err).Hint)
		}
	}
	for _, a := range p.Actors() {
		for _, m := range a.Models() {
			if err := e.Model.Check(m.Provider, m.Name); err != nil {
				return fail("actors", "%s: %w", a.Name, err)
			}
		}
	}
	return e.preflightTools(p, fail)
}

// preflightTools checks that every tool the actors name exists, and that what
// a policy with required checkpoints may call can be checkpointed.
func (e *Engine) preflightTools(p plan.Plan, fail func(check, format string, args ...any) *fault.Error) error {
	check := func(who, name string) error {
		s, ok := e.specs[name]
		if !ok {
			return fail("tools", "actor %s names tool %s, which does not exist", who, name)
		}
		if p.Profile.Safety.RequireCheckpoints && s.Capability.Writes && !s.Capability.Checkpointable {
			return fail("rollback", "tool %s cannot be checkpointed, and profile %s requires checkpoints", name, p.Profile.Name)
		}
		if s.Capability.Unsafe && !p.Profile.Safety.AllowUnsafeTools {
			return fail("policy", "tool %s is unsafe, and profile %s forbids unsafe tools", name, p.Profile.Name)
		}
		return nil
	}
	for _, a := range p.Actors() {
		for _, name := range a.ToolNames() {
			if err := check(a.Name, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// digest is the hash that an approval is bound to, over its parts.
func digest(parts ...string) string {
	h := sha256.New()
	for _, s := range parts {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}
