package provider

import (
	"cmp"
	"slices"
	"strings"
)

// maxNear is how many names are offered for one that is unknown.
const maxNear = 3

// Nearest returns the names that are most like word, the nearest first and at
// most three: those a few slips of the fingers away, then those that hold the
// word or its parts. It returns none rather than one that is only the least
// unlike.
func Nearest(word string, names []string) []string {
	if len(word) > maxModel {
		return nil
	}
	type hit struct {
		name string
		far  int
	}
	var hits []hit
	low := strings.ToLower(word)
	for _, n := range names {
		if len(n) > maxModel {
			continue
		}
		if far, ok := distance(low, strings.ToLower(n)); ok {
			hits = append(hits, hit{n, far})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(a.far-b.far, cmp.Compare(a.name, b.name)) })
	var out []string
	for _, h := range hits {
		if len(out) < maxNear && !slices.Contains(out, h.name) {
			out = append(out, h.name)
		}
	}
	return out
}

// held is added to the distance of names that only hold the word.
const held = 1000

func distance(word, name string) (int, bool) {
	most := 1 + len(word)/4
	if gap := len(word) - len(name); gap <= most && -gap <= most {
		if d := slips(word, name); d <= most {
			return d, true
		}
	}
	if len(word) < 3 {
		return 0, false
	}
	if strings.Contains(name, word) {
		return held + len(name) - len(word), true
	}
	if parts := strings.FieldsFunc(word, isJoint); len(parts) > 1 && holdsAll(name, parts) {
		return 2*held + len(name) - len(word), true
	}
	return 0, false
}

func isJoint(r rune) bool { return strings.ContainsRune("-._/: ", r) }

func holdsAll(name string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(name, p) {
			return false
		}
	}
	return true
}

// slips counts the letters to insert, delete, replace or swap with their
// neighbour to make b of a, each place being touched once.
func slips(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
