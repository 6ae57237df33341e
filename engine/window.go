package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/prompt"
)

// unknownWindow is taken for the tokens of a model that nothing is known of.
const unknownWindow = 100_000

// budget is how many tokens the prompt of a model may have: what it takes, less
// the longest answer and a fiftieth, since tokens are only estimated.
func (r *run) budget(w actor.Model) int {
	window, answer := 0, 0
	if r.Window != nil {
		window, answer = r.Window(w.Provider, w.Name)
	}
	if window <= 0 {
		window = unknownWindow
	}
	if w.MaxTokens > 0 {
		answer = w.MaxTokens
	}
	// Some models are listed with answers as long as all that they take.
	budget := window - min(max(answer, 0), window/2) - window/50
	if w.MaxContext > 0 {
		budget = min(budget, w.MaxContext)
	}
	return budget
}

// heaviest names what takes the most of a prompt that cannot be made to fit.
func (t *talk) heaviest(req actor.Request) string {
	type part struct {
		what string
		size int
	}
	said := 0
	for _, s := range t.first {
		said += prompt.Weigh(s.Message)
	}
	for _, after := range t.After {
		for _, s := range after {
			if !s.Loose {
				said += prompt.Weigh(s.Message)
			}
		}
	}
	task := len(req.Messages) - 1 - len(t.first)
	parts := []part{
		{"the instructions", prompt.Weigh(req.Messages[0])},
		{"what was said before the task", prompt.Weigh(req.Messages[1:task]...)},
		{"the task with the advice of the repository", prompt.Weigh(req.Messages[task])},
		{"what was said since", said},
		{"the tools", prompt.WeighTools(req.Tools)},
	}
	if n := len(t.Turns); n > 0 {
		parts = append(parts, part{"the newest turn", t.Turns[n-1].Size()})
	}
	slices.SortStableFunc(parts, func(a, b part) int { return b.size - a.size })
	var words []string
	for _, p := range parts[:3] {
		words = append(words, fmt.Sprintf("%s: %d", p.what, prompt.Tokens(p.size)))
	}
	return strings.Join(words, ", ")
}
