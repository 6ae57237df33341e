package bundle_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/bundle"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// chain adds to the sample a manifest that goes on from the one that is there,
// and a change set, and returns what each blob is.
func chain(t *testing.T, s store) (manifest, changed string) {
	t.Helper()
	base, err := json.Marshal(evidence.Manifest{Spans: []evidence.Span{{Blob: s.put("base text")}}})
	if err != nil {
		t.Fatal(err)
	}
	next, err := json.Marshal(evidence.Manifest{Base: s.put(string(base)), Spans: []evidence.Span{{Blob: s.put("next text")}, {Raw: "{"}}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := json.Marshal(plan.ChangeSet{
		{Path: "a", Before: plan.FileState{Kind: plan.Regular, Hash: s.put("was")}, After: plan.FileState{Kind: plan.Symlink, Hash: s.put("target")}},
		{Path: "b", Before: plan.FileState{Kind: plan.Absent}, After: plan.FileState{Kind: plan.Regular, Hash: s.put("made")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.put(string(next)), s.put(string(set))
}

// Every blob of a plan is found missing when it is, also those that only
// another blob names.
func TestSurveyFindsEveryBlob(t *testing.T) {
	h, s := sample()
	h.Plan.Bases = []plan.Base{{Resource: resID, Snapshot: s.put("snapshot")}}
	h.Plan.Vars = s.put("vars")
	h.Plan.Landed = []plan.Landed{{Changes: s.put("[ ]")}}
	h.Calls[0].Manifest, h.Plan.Changed = chain(t, s)
	_, checked := chain(t, s)
	h.Checkpoints = []plan.Checkpoint{{Plan: planID, Changes: checked}}
	delete(s, evidence.Hash([]byte("[]"))) // the sample's own change set, which nothing names now
	sound := bundle.Survey{Get: s.get}
	if lost, err := sound.Plan(t.Context(), h); err != nil || len(lost) > 0 || sound.Read != len(s) || sound.Sampled {
		t.Fatalf("a sound plan: lost %v (%v), read %d of %d", lost, err, sound.Read, len(s))
	}
	if _, err := sound.Plan(t.Context(), h); err != nil || sound.Read != len(s) {
		t.Errorf("a second look reads %d blobs more (%v)", sound.Read-len(s), err)
	}
	for hash, b := range s {
		damaged := bytes.Equal(b, []byte("made"))
		v := bundle.Survey{Get: func(ctx context.Context, want string) ([]byte, error) {
			switch {
			case want == hash && damaged:
				return nil, fault.New(fault.Corrupt, "blob %s is damaged", want)
			case want == hash:
				return nil, fault.New(fault.NotFound, "no blob %s", want)
			}
			return s.get(ctx, want)
		}}
		lost, err := v.Plan(t.Context(), h)
		if err != nil || len(lost) != 1 || lost[0].Hash != hash || lost[0].Missing() == damaged {
			t.Errorf("without %q: lost %v (%v)", b, lost, err)
		}
	}
}

func TestSurveySamples(t *testing.T) {
	h, s := sample()
	h.Plan.Bases = []plan.Base{{Resource: resID, Snapshot: strings.Repeat("f", 64)}} // last by its name
	for i := range 100 {
		h.ToolCalls = append(h.ToolCalls, evidence.ToolCall{Output: s.put(fmt.Sprint("output ", i))})
	}
	v := bundle.Survey{Get: s.get, Max: 20}
	lost, err := v.Plan(t.Context(), h)
	if err != nil || v.Read != 20 || !v.Sampled {
		t.Errorf("read %d of at most 20, sampled %v (%v)", v.Read, v.Sampled, err)
	}
	if d := cmp.Diff([]string{strings.Repeat("f", 64)}, hashesOf(lost)); d != "" {
		t.Errorf("the snapshot is looked at first (-want +got):\n%s", d)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := (&bundle.Survey{Get: s.get}).Plan(ended, h); err == nil {
		t.Error("goes on after its end")
	}
}

func hashesOf(lost []bundle.Lost) (out []string) {
	for _, l := range lost {
		out = append(out, l.Hash)
	}
	slices.Sort(out)
	return out
}
