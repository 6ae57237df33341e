package sandbox

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// T37: from any tree to any other and back, byte for byte, with modes, links and
// directories, in one step each.
func TestApplyAnything(t *testing.T) {
	contents := []string{"", "x", "+x #!/bin/sh\n", "a\r\nb\r\n", "\ufeffbom", "no end", "nul\x00\x01\xff", "-> a", "-> ../../etc/passwd", "-> gone", "+x " + strings.Repeat("long ", 1000)}
	names := []string{"a", "b", "d", "d/a", "d/e", "d/e/f", "d/e/g", "h/i", "h", "ü/é", "sp ace/\"q\"", ".hidden", "d/.git-like"}
	trees := rapid.Custom(func(t *rapid.T) map[string]string {
		out := map[string]string{}
		for _, n := range rapid.SliceOfDistinct(rapid.SampledFrom(names), func(s string) string { return s }).Draw(t, "names") {
			fits := true
			for other := range out { // a file has nothing below it
				fits = fits && !strings.HasPrefix(other, n+"/") && !strings.HasPrefix(n, other+"/")
			}
			if fits {
				out[n] = rapid.SampledFrom(contents).Draw(t, "content")
			}
		}
		return out
	})
	rapid.Check(t, func(r *rapid.T) {
		before, after := trees.Draw(r, "before"), trees.Draw(r, "after")
		a := newApplying(t, before, after)
		must(t, a.apply())
		a.is("applied", a.now)
		must(t, a.apply())
		a.is("applied again", a.now)
		a.settle(true)
		a.is("taken back", a.before)
		must(t, a.target.Forget(context.Background(), "P"))
		if t.Failed() {
			r.Fatalf("from %q to %q", before, after)
		}
	})
}
