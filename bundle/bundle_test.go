package bundle_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/cleveragents/agents/bundle"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/resource"
	"github.com/cleveragents/agents/tool"
)

const (
	planID = "01HZX3V5T8Q0PXANAAAA7K3MQX"
	d1, d2 = "01HZX3V5T8Q0DECS0000000001", "01HZX3V5T8Q0DECS0000000002"
	callID = "01HZX3V5T8Q0CAXX0000000001"
	workID = "01HZX3V5T8Q0T00X0000000001"
	resID  = "01HZX3V5T8Q0RESR0000000001"
	hunkID = "01HZX3V5T8Q0HXNK0000000001"
)

// store is blobs by their hashes.
type store map[string][]byte

func (s store) put(text string) string {
	h := evidence.Hash([]byte(text))
	s[h] = []byte(text)
	return h
}

func (s store) get(_ context.Context, hash string) ([]byte, error) {
	if b, ok := s[hash]; ok {
		return b, nil
	}
	return nil, fault.New(fault.NotFound, "no blob %s", hash)
}

// sample is a small history with every kind of reference, and its blobs.
func sample() (engine.History, store) {
	s := store{}
	at := time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)
	part := s.put("You are the strategist.")
	manifest, err := json.Marshal(evidence.Manifest{Body: strings.Repeat("a", 64), Spans: []evidence.Span{{Blob: part}}})
	if err != nil {
		panic(err)
	}
	m := s.put(string(manifest))
	before, after := s.put("old\n"), s.put("new\n")
	return engine.History{
		Plan: plan.Plan{ID: planID, Name: "local/fix", Project: "local/shop", Prompt: "the secret prompt", Attempt: 1, Version: 7,
			Status: plan.Status{Phase: plan.PhaseApply, State: plan.Applied}, Changed: s.put("[]"), Args: map[string]string{"word": "hush"},
			Order:  &plan.ApplyOrder{As: plan.AsCommit, Message: "the secret message"},
			Inputs: []plan.Input{{Text: "said in between"}}, Created: at, Updated: at},
		Labels:    map[string]string{"team": "red"},
		Resources: []resource.Resource{{ID: resID, Name: "local/shop", Type: resource.FSDirectory, Location: "/home/ann/shop"}},
		Decisions: []plan.Decision{
			{ID: d1, Plan: planID, Seq: 1, Attempt: 1, Type: plan.PromptDefinition, Chosen: "the secret prompt", Alternatives: []plan.Option{}, Created: at},
			{ID: d2, Plan: planID, Seq: 2, Attempt: 1, Type: plan.ImplementationChoice, Chosen: "kept choice", Parent: d1, Call: callID, ToolCall: workID,
				Context: plan.ContextSnapshot{Manifest: m}, Alternatives: []plan.Option{{Option: "other"}}, Created: at},
		},
		Influences: []plan.Influence{{Up: d1, Down: d2}},
		Calls: []evidence.Call{{ID: callID, Plan: planID, Phase: plan.PhaseExecute, Attempt: 1, Turn: 1, Manifest: m,
			Response: s.put("the secret answer"), Message: s.put(`{"secret":1}`), Started: at}},
		ToolCalls: []evidence.ToolCall{{ID: workID, Plan: planID, Phase: plan.PhaseExecute, Attempt: 1, Turn: 1, Call: callID, Tool: "builtin/shell",
			Proposed: s.put("secret args"), Output: s.put("secret output"), Status: tool.OK, Started: at}},
		Hunks: []evidence.Hunk{{ID: hunkID, Plan: planID, Seq: 1, Decision: d2, ToolCall: workID, Call: callID, Resource: resID, Path: "a/b.txt",
			Before: plan.FileState{Kind: plan.Regular, Mode: 0o644, Hash: before}, After: plan.FileState{Kind: plan.Regular, Mode: 0o755, Hash: after},
			Ranges: []evidence.LineRange{{From: 0, To: 1}}, Created: at}},
		Events: []plan.Event{
			{Plan: planID, Seq: 1, At: at, Type: "plan.created", Data: json.RawMessage(`{"name":"local/fix"}`)},
			{Plan: planID, Seq: 2, At: at, Type: "tool.finished", Data: json.RawMessage(`{"summary":"secret args","tool":"builtin/shell"}`)},
		},
	}, s
}

func written(t testing.TB, h engine.History, s store, o bundle.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, _, err := bundle.Write(context.Background(), &b, h, o, s.get); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	for _, artifacts := range []bool{false, true} {
		h, s := sample()
		file := written(t, h, s, bundle.Options{Artifacts: artifacts})
		got := store{}
		b, err := bundle.Read(bytes.NewReader(file), func(hash string, b []byte) error {
			got[hash] = bytes.Clone(b)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(h, b.History); d != "" {
			t.Errorf("-written +read:\n%s", d)
		}
		want := store{}
		if artifacts {
			want = s
		}
		if d := cmp.Diff(want, got); d != "" || len(b.End.Missing) > 0 {
			t.Errorf("blobs (missing %v):\n%s", b.End.Missing, d)
		}
		if again := written(t, h, s, bundle.Options{Artifacts: artifacts}); !bytes.Equal(file, again) {
			t.Error("the same plan makes another file")
		}
	}
}

func TestRedactedFilesKeepHashesOnly(t *testing.T) {
	h, s := sample()
	file := written(t, h, s, bundle.Options{Artifacts: true, Redact: true})
	var all bytes.Buffer
	for _, e := range entries(t, file) {
		all.Write(e.data)
	}
	for _, word := range []string{"secret", "hush", "said in between", "strategist"} {
		if strings.Contains(all.String(), word) {
			t.Errorf("%q is in the file", word)
		}
	}
	for _, word := range []string{"kept choice", h.Calls[0].Response, "new\n", "builtin/shell"} {
		if !strings.Contains(all.String(), word) {
			t.Errorf("%q is not in the file", word)
		}
	}
	if _, err := bundle.Read(bytes.NewReader(file), nil); err != nil {
		t.Errorf("it cannot be read: %v", err)
	}
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	h, s := sample()
	delete(s, h.Calls[0].Response)
	file := written(t, h, s, bundle.Options{Artifacts: true})
	b, err := bundle.Read(bytes.NewReader(file), nil)
	if err != nil || len(b.End.Missing) != 1 || b.End.Missing[0] != h.Calls[0].Response {
		t.Errorf("missing %v (%v)", b.End.Missing, err)
	}
}

// entry is one file of an archive.
type entry struct {
	tar.Header
	data []byte
}

func entries(t testing.TB, file []byte) (out []entry) {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, entry{*h, b})
	}
}

func packed(t testing.TB, all []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, e := range all {
		h := e.Header
		h.Size = int64(len(e.data))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Files that were made by hand are refused, and no blob of a wrong hash is
// handed on.
func TestHostileArchives(t *testing.T) {
	h, s := sample()
	good := entries(t, written(t, h, s, bundle.Options{Artifacts: true}))
	at := func(all []entry, name string) int {
		for i, e := range all {
			if strings.HasPrefix(e.Name, name) {
				return i
			}
		}
		t.Fatalf("no %s", name)
		return -1
	}
	for name, spoil := range map[string]func(all []entry) []entry{
		"nothing":            func([]entry) []entry { return nil },
		"cut off":            func(all []entry) []entry { return all[:len(all)-1] },
		"a table is missing": func(all []entry) []entry { return append(all[:3:3], all[4:]...) },
		"tables in another order": func(all []entry) []entry {
			all[3], all[4] = all[4], all[3]
			return all
		},
		"another format": func(all []entry) []entry { all[0].data = []byte(`{"format":"x","version":1}`); return all },
		"another version": func(all []entry) []entry {
			all[0].data = []byte(`{"format":"agents.plan-export","version":2}`)
			return all
		},
		"unknown key": func(all []entry) []entry { all[0].data = append([]byte(`{"x":1,`), all[0].data[1:]...); return all },
		"path out of the archive": func(all []entry) []entry {
			all[at(all, "blobs/")].Name = "../../etc/passwd"
			return all
		},
		"absolute path":   func(all []entry) []entry { all[at(all, "blobs/")].Name = "/etc/passwd"; return all },
		"path for a hash": func(all []entry) []entry { all[at(all, "blobs/")].Name = "blobs/../../x"; return all },
		"link":            func(all []entry) []entry { return linked(all, at(all, "blobs/")) },
		"another content": func(all []entry) []entry { all[at(all, "blobs/")].data = []byte("evil"); return all },
		"a blob too few":  func(all []entry) []entry { i := at(all, "blobs/"); return append(all[:i:i], all[i+1:]...) },
		"a blob twice":    func(all []entry) []entry { i := at(all, "blobs/"); return append(all[:i+1:i+1], all[i:]...) },
		"another row": func(all []entry) []entry {
			i := at(all, "rows/plan")
			all[i].data = append(all[i].data, '\n')
			return all
		},
		"more after the end": func(all []entry) []entry { return append(all, all[len(all)-1]) },
		"a blob that nothing names": func(all []entry) []entry {
			e := all[len(all)-1]
			extra := entry{tar.Header{Typeflag: tar.TypeReg, Name: "blobs/" + evidence.Hash([]byte("extra"))}, []byte("extra")}
			i := at(all, "blobs/")
			for i < len(all)-1 && all[i].Name < extra.Name {
				i++
			}
			e.data = []byte(`{"blobs":10}`)
			return append(append(append([]entry{}, all[:i]...), extra), append(append([]entry{}, all[i:len(all)-1]...), e)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			all := append([]entry{}, good...)
			file := packed(t, spoil(all))
			_, err := bundle.Read(bytes.NewReader(file), func(hash string, b []byte) error {
				if evidence.Hash(b) != hash {
					t.Errorf("blob %s was handed on with other bytes", hash)
				}
				return nil
			})
			if name == "a blob that nothing names" && (err == nil || !strings.Contains(err.Error(), "nothing names it")) {
				t.Errorf("read with %v", err)
			}
			if k := fault.KindOf(err); err == nil || k != fault.Corrupt && k != fault.Unavailable && k != fault.Exhausted {
				t.Errorf("read with %v", err)
			}
		})
	}
}

func linked(all []entry, i int) []entry {
	all[i].Typeflag, all[i].Linkname, all[i].data = tar.TypeSymlink, "/etc/passwd", nil
	return all
}

// Rows that do not fit together are refused, whatever their hashes say.
func TestRowsThatDoNotFit(t *testing.T) {
	for name, spoil := range map[string]func(*engine.History){
		"plan id":             func(h *engine.History) { h.Plan.ID = "../x" },
		"status":              func(h *engine.History) { h.Plan.State = "odd" },
		"name":                func(h *engine.History) { h.Plan.Name = "../../x" },
		"changes":             func(h *engine.History) { h.Plan.Changed = "../x" },
		"label":               func(h *engine.History) { h.Labels = map[string]string{"": "x"} },
		"decision of another": func(h *engine.History) { h.Decisions[0].Plan = ident.PlanID(d1) },
		"decision twice":      func(h *engine.History) { h.Decisions[1].ID = d1 },
		"number":              func(h *engine.History) { h.Decisions[1].Seq = 7 },
		"parent":              func(h *engine.History) { h.Decisions[1].Parent = hunkID },
		"own parent":          func(h *engine.History) { h.Decisions[1].Parent = d2 },
		"influence of itself": func(h *engine.History) { h.Influences[0].Up = d2 },
		"influence of none":   func(h *engine.History) { h.Influences[0].Up = hunkID },
		"call of a decision":  func(h *engine.History) { h.Decisions[1].Call = hunkID },
		"call of a tool call": func(h *engine.History) { h.ToolCalls[0].Call = hunkID },
		"hash of an answer":   func(h *engine.History) { h.Calls[0].Response = "ABCD" },
		"path of a hunk":      func(h *engine.History) { h.Hunks[0].Path = "../../etc/passwd" },
		"resource of a hunk":  func(h *engine.History) { h.Hunks[0].Resource = hunkID },
		"mode of a hunk":      func(h *engine.History) { h.Hunks[0].After.Mode = 0o4755 },
		"event number":        func(h *engine.History) { h.Events[1].Seq = 1 },
		"event of another":    func(h *engine.History) { h.Events[1].Plan = ident.PlanID(d1) },
		"result":              func(h *engine.History) { h.Results = []evidence.ValidationResult{{ID: "x", Plan: planID}} },
		"approval":            func(h *engine.History) { h.Approvals = []plan.Approval{{ID: hunkID}} },
	} {
		h, s := sample()
		spoil(&h)
		var b bytes.Buffer
		if _, _, err := bundle.Write(context.Background(), &b, h, bundle.Options{}, s.get); err != nil {
			t.Fatal(err)
		}
		if _, err := bundle.Read(&b, nil); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A small file that decodes to a large one is given up at the bound, in little
// memory.
func TestBombs(t *testing.T) {
	h, s := sample()
	good := entries(t, written(t, h, s, bundle.Options{}))
	for name, size := range map[string]int64{"manifest.json": 1 << 30, "rows/plan.jsonl": 1 << 40, "blobs/" + strings.Repeat("0", 64): 1 << 40} {
		var b bytes.Buffer
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w := tar.NewWriter(z)
		for _, e := range good {
			if e.Name == name || e.Name == "end.json" {
				break
			}
			if err := w.WriteHeader(&e.Header); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(e.data); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		_, err = bundle.Read(&b, nil)
		if k := fault.KindOf(err); err == nil || k != fault.Exhausted && k != fault.Corrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	h, s := sample()
	file := written(f, h, s, bundle.Options{Artifacts: true})
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Add([]byte("not an archive"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := bundle.Read(bytes.NewReader(b), func(hash string, b []byte) error {
			if evidence.Hash(b) != hash {
				t.Errorf("blob %s holds other bytes", hash)
			}
			return nil
		})
		if err != nil {
			return
		}
		var out bytes.Buffer
		if _, _, err := bundle.Write(context.Background(), &out, got.History, bundle.Options{}, store{}.get); err != nil {
			t.Errorf("what was read cannot be written: %v", err)
		}
	})
}
