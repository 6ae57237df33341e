package prompt

import (
	"cmp"
	"slices"
)

// How much of the room that the pinned part leaves is filled after a cut: by
// all that stays, and, once whole turns have to go, by all but the results.
// Turns go in larger blocks than results, as the message that stands for them
// comes before everything else.
const (
	fillPercent  = 70
	turnsPercent = 50
)

// Fit returns the layout of the prompt after the last turn under a budget in
// bytes, and by how many bytes what cannot be left out is larger than it, 0
// when it fits.
func (c *Conversation) Fit(budget int) (l Layout, over int) {
	f := fold{
		head: c.Head, budget: budget, all: c.KeepDecisions,
		whole: []int{0}, cut: []int{0}, kept: []int{0}, notes: []int{0}, decisions: []int{0},
	}
	for i, t := range c.Turns {
		f.add(t, c.After[i])
	}
	return f.Layout, max(0, f.size(f.Results, f.Turns)-budget)
}

// fold goes through a conversation turn by turn. The sums are over the first i
// turns.
type fold struct {
	Layout
	head, budget int
	all          bool  // every decision is pinned
	whole        []int // as they are
	cut          []int // with markers for results
	kept         []int // what stays when they are gone
	notes        []int
	decisions    []int // in the message that stands for them
}

func (f *fold) turns() int { return len(f.whole) - 1 }

func last(s []int) int { return s[len(s)-1] }

// size is that of the prompt with results from the turn on and turns from the
// other on. There results ≥ turns.
func (f *fold) size(results, turns int) int {
	n := f.head + f.kept[turns] + f.cut[results] - f.cut[turns] + last(f.whole) - f.whole[results]
	if turns > 0 {
		n += frame + len(goneHead) + foldMax + min(f.notes[turns], noteMax(f.budget)) + f.decisions[turns]
	}
	return n
}

func (f *fold) add(t *Turn, after []Said) {
	said, kept := 0, 0
	for _, s := range after {
		n := Weigh(s.Message)
		if said += n; !s.Loose {
			kept += n
		}
	}
	decisions := last(f.decisions)
	if f.all {
		decisions += sum(t.decisions)
	} else if len(t.decisions) > 0 {
		decisions = last(t.decisions)
	}
	f.whole = append(f.whole, last(f.whole)+t.answer+sum(t.results)+said)
	f.cut = append(f.cut, last(f.cut)+t.answer+sum(t.markers)+said)
	f.kept = append(f.kept, last(f.kept)+kept)
	f.notes = append(f.notes, last(f.notes)+len(t.Note))
	f.decisions = append(f.decisions, decisions)
	if f.size(f.Results, f.Turns) > f.budget {
		f.shorten(t)
		f.advance()
	}
}

// shorten takes the largest results out of the newest turn when no prompt could
// hold it as it is.
func (f *fold) shorten(t *Turn) {
	n := f.turns()
	least := min(f.size(n-1, n-1), f.size(n-1, f.Turns))
	if least <= f.budget {
		return
	}
	var order []int
	for i := range t.results {
		if _, ok := t.ResultSize(i); ok {
			order = append(order, i)
		}
	}
	gain := func(i int) int { return t.results[i] - t.markers[i] }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(gain(b), gain(a)) })
	var out []int
	for _, i := range order {
		if least <= f.budget*3/4 {
			break
		}
		out = append(out, i)
		least -= gain(i)
		f.whole[n] -= gain(i)
	}
	if len(out) == 0 {
		return
	}
	slices.Sort(out)
	if f.Short == nil {
		f.Short = map[int][]int{}
	}
	f.Short[n-1] = out
}

// advance moves the cut on, as little as leaves the room that it has to.
func (f *fold) advance() {
	newest := f.turns() - 1
	if f.size(f.Results, f.Turns) <= f.budget || newest == 0 {
		return
	}
	pinned := f.head + f.kept[newest] + f.whole[newest+1] - f.whole[newest]
	fill := func(percent int) int { return pinned + max(0, f.budget-pinned)*percent/100 }
	if f.size(newest, f.Turns) > fill(fillPercent) {
		best := f.Turns
		for b := f.Turns; b <= newest; b++ {
			if f.size(newest, b) < f.size(newest, best) {
				best = b
			}
			if f.size(newest, best) <= fill(turnsPercent) {
				break
			}
		}
		f.Turns = best
	}
	f.Results = max(f.Results, f.Turns)
	for f.Results < newest && f.size(f.Results, f.Turns) > fill(fillPercent) {
		f.Results++
	}
}
