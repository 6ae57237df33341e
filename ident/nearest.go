package ident

import (
	"cmp"
	"slices"
)

// maxNearest is how many names are offered for one that is not there.
const maxNearest = 3

// Nearest returns the names that a person who typed name may have meant, the
// likeliest first, at most three: those that are few letters away from it.
func Nearest(name string, have []string) []string {
	type near struct {
		name  string
		steps int
	}
	limit := max(1, min(len(name)/3, 4))
	var found []near
	for _, h := range have {
		if d := distance(name, h, limit); d <= limit {
			found = append(found, near{h, d})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Or(cmp.Compare(a.steps, b.steps), cmp.Compare(a.name, b.name)) })
	var out []string
	for _, f := range found[:min(len(found), maxNearest)] {
		out = append(out, f.name)
	}
	return out
}

// distance is the fewest bytes to put in, take out, change or swap with their
// neighbour to make b of a; more than limit is limit+1.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	two, one, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range one {
		one[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(one[j]+1, row[j-1]+1, one[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
		}
		two, one, row = one, row, two
	}
	return min(one[len(b)], limit+1)
}
