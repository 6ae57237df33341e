package bundle

import (
	"encoding/json"
	"slices"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/plan"
)

// hidden stands for a text that is left out; equal texts stay equal.
func hidden(text string) string {
	if text == "" {
		return ""
	}
	return "sha256:" + evidence.Hash([]byte(text))
}

// redacted is the history without what was said to and by models and tools:
// prompts, arguments, inputs, summaries of calls and their output, and what
// persons said. The decisions of the actors stay: they are what a history is for.
func redacted(h engine.History) engine.History {
	p := &h.Plan
	if p.Order != nil {
		order := *p.Order
		order.Message = hidden(order.Message)
		p.Order = &order
	}
	p.Prompt, p.Action.Description = hidden(p.Prompt), hidden(p.Action.Description)
	p.Strategy.Prompt, p.Execution.Prompt = hidden(p.Strategy.Prompt), hidden(p.Execution.Prompt)
	for _, c := range []*actor.Config{&p.Strategy, &p.Execution} {
		c.Graph = slices.Clone(c.Graph)
		for i, n := range c.Graph {
			if n.Model != nil {
				m := *n.Model
				m.Prompt = hidden(m.Prompt)
				c.Graph[i].Model = &m
			}
		}
	}
	h.Decisions = slices.Clone(h.Decisions)
	for i := range h.Decisions {
		if d := &h.Decisions[i]; said(d.Type) {
			d.Chosen, d.Rationale = hidden(d.Chosen), hidden(d.Rationale)
		}
	}
	args := map[string]string{}
	for k, v := range p.Args {
		args[k] = hidden(v)
	}
	p.Args = args
	p.Inputs = slices.Clone(p.Inputs)
	for i := range p.Inputs {
		p.Inputs[i].Text = hidden(p.Inputs[i].Text)
	}
	p.Reason = hidden(p.Reason)
	h.Calls = slices.Clone(h.Calls)
	for i := range h.Calls {
		h.Calls[i].Error = hidden(h.Calls[i].Error)
	}
	h.Results = slices.Clone(h.Results)
	for i := range h.Results {
		h.Results[i].Message = hidden(h.Results[i].Message)
	}
	h.Approvals = slices.Clone(h.Approvals)
	for i := range h.Approvals {
		if a := &h.Approvals[i]; a.Kind != plan.ApproveGate {
			a.Summary = hidden(a.Summary)
			a.Question, a.Answer = hidden(a.Question), hidden(a.Answer)
			a.Choices = slices.Clone(a.Choices)
			for k := range a.Choices {
				a.Choices[k] = hidden(a.Choices[k])
			}
		}
	}
	h.Events = slices.Clone(h.Events)
	for i := range h.Events {
		h.Events[i].Data = hideData(h.Events[i])
	}
	return h
}

// said reports whether a decision of that type is the words of a person.
func said(t plan.DecisionType) bool { return t == plan.PromptDefinition || t == plan.UserIntervention }

// hideData hides the texts of an event that tell what was said or printed.
func hideData(e plan.Event) json.RawMessage {
	var m map[string]any
	if json.Unmarshal(e.Data, &m) != nil {
		return json.RawMessage("null")
	}
	keys := []string{"summary", "text", "error", "message", "detail", "reason"}
	if kind, _ := m["type"].(string); said(plan.DecisionType(kind)) {
		keys = append(keys, "chosen")
	}
	for _, key := range keys {
		if s, ok := m[key].(string); ok {
			m[key] = hidden(s)
		}
	}
	b, err := json.Marshal(m)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}
