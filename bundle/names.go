package bundle

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/plan"
)

// names are the blobs that a history names, by what they hold.
type names struct {
	kept      map[string]bool // states of files and change sets
	said      map[string]bool // what models were sent and answered, tools were given and printed
	manifests map[string]bool // those of said that name others
}

func namesOf(h engine.History) names {
	n := names{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	add := func(to map[string]bool, hashes ...string) {
		for _, hash := range hashes {
			if hash != "" {
				to[hash] = true
			}
		}
	}
	state := func(s plan.FileState) {
		if s.Kind == plan.Regular || s.Kind == plan.Symlink {
			add(n.kept, s.Hash)
		}
	}
	add(n.kept, h.Plan.Changed)
	add(n.said, h.Plan.Vars, h.Plan.Conversation)
	for _, l := range h.Plan.Landed {
		add(n.kept, l.Changes)
	}
	for _, b := range h.Plan.Bases {
		add(n.kept, b.Snapshot)
	}
	for _, d := range h.Decisions {
		add(n.said, d.Context.Manifest, d.Context.ActorState)
		add(n.manifests, d.Context.Manifest)
	}
	for _, c := range h.Checkpoints {
		add(n.kept, c.Changes)
	}
	for _, c := range h.Calls {
		add(n.said, c.LeftOut, c.Manifest, c.Response, c.Message)
		add(n.manifests, c.Manifest)
	}
	for _, t := range h.ToolCalls {
		add(n.said, t.Proposed, t.Executed, t.Output, t.Whole)
	}
	for _, x := range h.Hunks {
		state(x.Before)
		state(x.After)
	}
	for _, r := range h.Results {
		add(n.said, r.Output)
	}
	return n
}

// wanted are the blobs that rows name and that belong into the file. A blob
// that is both a file and an output stays out of a redacted one.
func (n names) wanted(redacted bool) []string {
	all := maps.Clone(n.kept)
	for hash := range n.said {
		if redacted {
			delete(all, hash)
		} else {
			all[hash] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// inManifest are the blobs that a manifest names; none of what is none.
func inManifest(b []byte) []string {
	base, out := partsOf(b)
	if base != "" {
		out = append(out, base)
	}
	return out
}

// partsOf are the manifest that a manifest goes on from and the texts of its
// spans.
func partsOf(b []byte) (base string, texts []string) {
	var m evidence.Manifest
	if json.Unmarshal(b, &m) != nil {
		return "", nil
	}
	for _, s := range m.Spans {
		if s.Blob != "" {
			texts = append(texts, s.Blob)
		}
	}
	return m.Base, texts
}
