package evidence_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/tool"
)

// shelf is a blob store that holds only what it was given.
type shelf map[string][]byte

func (s shelf) put(b []byte) string {
	h := evidence.Hash(b)
	s[h] = b
	return h
}

func (s shelf) get(h string) ([]byte, error) {
	b, ok := s[h]
	if !ok {
		return nil, fault.New(fault.NotFound, "no blob %s", h)
	}
	return b, nil
}

// conversation drives a tracker and compares all that it says with a build
// from nothing.
type conversation struct {
	tracker evidence.Tracker
	shelf   shelf
}

type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func (c *conversation) next(t failer, body []byte, r actor.Request, store bool) {
	t.Helper()
	before := bytes.Clone(body)
	want, wantBad, wantErr := evidence.Build(body, evidence.Parts(r))
	got, err := c.tracker.Next(body, r)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("error %v, want %v", err, wantErr)
	}
	if !bytes.Equal(before, body) {
		t.Fatal("Next changed the body")
	}
	if err != nil {
		return
	}
	if diff := cmp.Diff(wantBad, got.Mismatches); diff != "" {
		t.Fatal("mismatches", diff)
	}
	if diff := cmp.Diff(evidence.Parts(r), got.Parts); diff != "" {
		t.Fatal("parts", diff)
	}
	m := stored(t, got.Manifest)
	whole, err := m.Resolve(c.shelf.get)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, whole); diff != "" {
		t.Fatal("manifest", diff)
	}
	if !store {
		return
	}
	for _, f := range got.Fresh {
		if c.shelf.put([]byte(f.Text)) != f.Blob {
			t.Fatalf("%q is not %s", f.Text, f.Blob)
		}
	}
	b, err := json.Marshal(got.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	c.tracker.Stored(c.shelf.put(b))
	back, err := m.Assemble(c.shelf.get)
	if err != nil || !bytes.Equal(back, body) {
		t.Fatalf("assembled %q of %q: %v", back, body, err)
	}
}

func hardMessage(t *rapid.T) actor.Message {
	r := actor.Request{}
	for len(r.Messages) == 0 {
		r = hardRequest(t)
	}
	return r.Messages[0]
}

// change makes one random change to the conversation.
func change(t *rapid.T, r *actor.Request) {
	n := len(r.Messages)
	at := func() int { return rapid.IntRange(0, n-1).Draw(t, "at") }
	switch what := rapid.IntRange(0, 9).Draw(t, "change"); {
	case what <= 4 || n == 0:
		for range rapid.IntRange(1, 3).Draw(t, "turns") {
			r.Messages = append(r.Messages, hardMessage(t))
		}
	case what == 5:
		r.Messages[at()] = hardMessage(t)
	case what == 6:
		i := at()
		r.Messages = slices.Delete(r.Messages, i, i+1)
	case what == 7:
		r.Tools = hardRequest(t).Tools
	case what == 8: // only the record changes, not the body
		m := &r.Messages[at()]
		for i := range m.Pieces {
			m.Pieces[i].Reason += "!"
		}
	case what == 9: // the same text in other pieces
		m := &r.Messages[at()]
		m.Pieces = []actor.Piece{{Slot: "joined", Text: m.Text()}}
	}
}

// tamper changes the bytes that were sent.
func tamper(t *rapid.T, body []byte) []byte {
	body = bytes.Clone(body)
	i := rapid.IntRange(0, len(body)-1).Draw(t, "byte")
	switch rapid.IntRange(0, 3).Draw(t, "tamper") {
	case 0:
		body[i] = rapid.SampledFrom([]byte(`ab"{}[],:\0 `)).Draw(t, "with")
	case 1:
		body = body[:i]
	case 2:
		body = slices.Insert(body, i, []byte(rapid.SampledFrom([]string{"a", `{"content":"a"},`, `,"content":"x"`, ` `, `\n`}).Draw(t, "insert"))...)
	case 3:
		body = bytes.Replace(body, []byte(`"messages"`), []byte(rapid.SampledFrom([]string{`"input"`, `"contents"`, `"system"`, `"tools"`}).Draw(t, "name")), 1)
	}
	return body
}

// reordered writes the members of the root in another order.
func reordered(t *rapid.T, body []byte, order []string) []byte {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		t.Fatal(err)
	}
	out := []byte("{")
	for i, name := range order {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(fmt.Appendf(out, "%q:", name), members[name]...)
	}
	return append(out, '}')
}

// Whatever a conversation does from one request to the next, the tracker finds
// what a build from nothing finds, and what it leaves out can be got back.
func TestATrackedManifestIsTheWholeOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := conversation{shelf: shelf{}}
		r := hardRequest(t)
		html, arrays := rapid.Bool().Draw(t, "html"), rapid.Bool().Draw(t, "arrays")
		order := rapid.Permutation([]string{"messages", "model", "stream", "tools"}).Draw(t, "order")
		for range rapid.IntRange(1, 8).Draw(t, "requests") {
			body := reordered(t, openAI(t, r, html, arrays), order)
			if rapid.IntRange(0, 4).Draw(t, "tampered") == 0 {
				body = tamper(t, body)
			}
			c.next(t, body, r, rapid.IntRange(0, 5).Draw(t, "stored") > 0)
			change(t, &r)
			if rapid.IntRange(0, 9).Draw(t, "writer") == 0 {
				html = !html
			}
		}
	})
}

// Bodies of nothing but what makes the search hard: few texts, many equal, in
// values of one and of several pieces, parts that are not there.
func TestATrackerOfEqualTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"a", "b", "aa", "ab", ""})
		c := conversation{shelf: shelf{}}
		var sent []any
		r := actor.Request{}
		for range rapid.IntRange(2, 6).Draw(t, "requests") {
			for range rapid.IntRange(0, 3).Draw(t, "values") {
				sent = append(sent, map[string]any{"content": text.Draw(t, "value")})
			}
			for range rapid.IntRange(0, 3).Draw(t, "messages") {
				m := actor.Message{}
				for range rapid.IntRange(0, 3).Draw(t, "pieces") {
					m.Pieces = append(m.Pieces, actor.Piece{Text: text.Draw(t, "text")})
				}
				r.Messages = append(r.Messages, m)
			}
			last := map[string]any{"content": text.Draw(t, "last")}
			body, err := json.Marshal(map[string]any{"m": append(slices.Clip(sent), last), "z": text.Draw(t, "tail"), "zz": []any{last}})
			if err != nil {
				t.Fatal(err)
			}
			c.next(t, body, r, true)
		}
	})
}

// Behind the same beginning everything may be another thing.
func TestATrackerOfTheSameBeginning(t *testing.T) {
	said := func(texts ...string) actor.Request {
		r := actor.Request{Messages: []actor.Message{{}}}
		for _, s := range texts {
			r.Messages[0].Pieces = append(r.Messages[0].Pieces, actor.Piece{Text: s})
		}
		return r
	}
	const head = `{"a":"","input":[{"output":"x"},{}`
	tests := map[string]struct {
		first, second string
		r, s          actor.Request
	}{
		"another format":       {`]}`, `],"messages":[]}`, said("x"), said("x")},
		"a piece more":         {`]}`, `]}`, said("x"), said("x", "y")},
		"a piece more of none": {`]}`, `]}`, said("x"), said("x", "")},
		"a name twice":         {`]}`, `],"a":""}`, said("x"), said("x")},
		"the array twice":      {`]}`, `],"input":""}`, said("x"), said("x")},
		"an object more":       {`]}`, `,{"output":"x"}]}`, said("x"), said("x")},
		"a part fewer":         {`]}`, `]}`, said("x"), actor.Request{}},
		"no value":             {`]}`, `.5]}`, said("x"), said("x")},
		"nothing":              {`]}`, ``, said("x"), said("x")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := conversation{shelf: shelf{}}
			c.next(t, []byte(head+tt.first), tt.r, true)
			c.next(t, []byte(head+tt.second), tt.s, true)
			c.next(t, []byte(head+tt.first), tt.r, true)
		})
	}
}

func FuzzTracker(f *testing.F) {
	f.Add([]byte(`{"messages":[{"content":"a"}`), []byte(`]}`), []byte(`,{"content":"b"}],"tools":[]}`), "a", "b")
	f.Add([]byte(`{"a":1,"input":[{"output":"a"},{"output":"a"}`), []byte(`],"b":{}}`), []byte(`,{"output":"b"}],"a":0}`), "a", "b")
	f.Add([]byte(`{"contents":[{"parts":[{"functionCall":{"args":{"x":1.0}}}]}`), []byte(`]}`), []byte(`5]}`), "a", "b")
	f.Add([]byte(`{"a":[{},{"content":"a"}`), []byte(`.5]}`), []byte(`]}`), "a", "b")
	f.Fuzz(func(t *testing.T, head, tail, other []byte, a, b string) {
		c := conversation{shelf: shelf{}}
		r := request(a)
		r.Tools = []tool.Spec{{Name: "t", Description: b, Input: json.RawMessage(a)}}
		c.next(t, append(bytes.Clone(head), tail...), r, true)
		r.Messages = append(r.Messages, request(b, a).Messages...)
		c.next(t, append(bytes.Clone(head), other...), r, true)
		c.next(t, append(bytes.Clone(head), tail...), r, true)
	})
}

// turn adds what one turn adds.
func turn(r *actor.Request, i int) {
	id := fmt.Sprint("c", i)
	r.Messages = append(r.Messages,
		actor.Message{Role: actor.Assistant, Pieces: []actor.Piece{{Slot: "message", Text: fmt.Sprint("Turn ", i)}},
			ToolCalls: []actor.ToolCall{{ID: id, Name: "read", Arguments: fmt.Sprintf(`{"n":%d}`, i)}}},
		actor.Message{Role: actor.ToolRole, ToolCallID: id, Pieces: []actor.Piece{{Slot: "tool_result", Origin: id, Text: fmt.Sprintf("line %d\n\tof <many>\n", i)}}})
}

// Only what is new is in the manifest, is fresh, and a chain ends.
func TestATrackerStoresWhatIsNew(t *testing.T) {
	c := conversation{shelf: shelf{}}
	r := benchRequest()
	whole := 0
	for i := range 2*evidence.MaxChain + 3 {
		body := openAI(t, r, false, false)
		peek, err := c.tracker.Next(body, r)
		if err != nil {
			t.Fatal(err)
		}
		if spans, fresh := len(peek.Manifest.Spans), len(peek.Fresh); i > 0 && (fresh != 3 || peek.Manifest.Base != "" && spans > 8) {
			t.Fatalf("request %d: %d spans and %d texts are stored", i, spans, fresh)
		}
		if peek.Manifest.Base == "" {
			whole++
		}
		c.next(t, body, r, true)
		turn(&r, i)
	}
	if whole != 3 {
		t.Errorf("%d manifests are whole, want every %dth", whole, evidence.MaxChain)
	}
}

// However long the conversation is, the next request takes the same work; the
// number of allocations stands for it.
func TestATrackerReadsWhatIsNew(t *testing.T) {
	work := func(turns int) float64 {
		c := conversation{shelf: shelf{}}
		r := actor.Request{Model: "m", Tools: benchRequest().Tools}
		for i := range turns {
			turn(&r, i)
		}
		body := func() []byte { return renamed(openAI(t, r, false, false)) }
		c.next(t, body(), r, true)
		turn(&r, turns)
		b := body()
		return testing.AllocsPerRun(5, func() {
			if got, err := c.tracker.Next(b, r); err != nil || got.Manifest.Base == "" && turns > 9 {
				t.Error(got.Manifest, err)
			}
		})
	}
	// The list of the parts takes one a tool call.
	if few, many := work(10), work(400); many > few+390+20 {
		t.Errorf("%v allocations after 10 turns, %v after 400", few, many)
	}
}

// renamed puts a member before the messages.
func renamed(body []byte) []byte {
	return append([]byte(`{"before":"\u0022",`), body[1:]...)
}

// What was not stored is not rested on.
func TestATrackerForgetsWhatWasNotStored(t *testing.T) {
	var tr evidence.Tracker
	r := request("one", "two")
	for range 2 {
		got, err := tr.Next(openAI(t, r, true, false), r)
		if err != nil || got.Manifest.Base != "" || len(got.Fresh) != 2 {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	tr.Stored("name")
	got, err := tr.Next(openAI(t, r, true, false), r)
	if err != nil || got.Manifest.Base != "name" || got.Manifest.Keep == 0 || len(got.Fresh) != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestResolveRefusesABadChain(t *testing.T) {
	span := evidence.Span{From: 0, To: 1, Raw: "x"}
	name := func(i int) string { return fmt.Sprint("m", i) }
	chain := func(n int) map[string]evidence.Manifest {
		out := map[string]evidence.Manifest{}
		for i := range n {
			out[name(i)] = evidence.Manifest{Base: name(i - 1), Keep: 1}
		}
		out[name(0)] = evidence.Manifest{Spans: []evidence.Span{span}}
		return out
	}
	with := func(m map[string]evidence.Manifest, name string, n evidence.Manifest) map[string]evidence.Manifest {
		m[name] = n
		return m
	}
	tests := map[string]struct {
		stored map[string]evidence.Manifest
		from   int
		ok     bool
	}{
		"as long as may be": {chain(evidence.MaxChain), evidence.MaxChain - 1, true},
		"too long":          {chain(evidence.MaxChain + 1), evidence.MaxChain, false},
		"a base is gone":    {map[string]evidence.Manifest{name(1): {Base: name(0), Keep: 1}}, 1, false},
		"a circle":          {with(chain(3), name(0), evidence.Manifest{Base: name(2), Keep: 1}), 2, false},
		"more than it has":  {with(chain(2), name(1), evidence.Manifest{Base: name(0), Keep: 2}), 1, false},
		"less than nothing": {with(chain(2), name(1), evidence.Manifest{Base: name(0), Keep: -1}), 1, false},
		"of nothing":        {with(chain(1), name(0), evidence.Manifest{Keep: 1}), 0, false},
		"one span twice":    {with(chain(2), name(1), evidence.Manifest{Base: name(0), Keep: 1, Tail: 1}), 1, false},
		"a tail too long":   {with(chain(2), name(1), evidence.Manifest{Base: name(0), Tail: 2}), 1, false},
		"a tail below none": {with(chain(2), name(1), evidence.Manifest{Base: name(0), Tail: -1}), 1, false},
	}
	for what, tt := range tests {
		get := func(h string) ([]byte, error) {
			m, ok := tt.stored[h]
			if !ok {
				return nil, fault.New(fault.NotFound, "no blob %s", h)
			}
			return json.Marshal(m)
		}
		got, err := tt.stored[name(tt.from)].Resolve(get)
		if tt.ok && (err != nil || !cmp.Equal(got, evidence.Manifest{Spans: []evidence.Span{span}})) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
		if !tt.ok && !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: %v, want a Corrupt fault", what, err)
		}
	}
	m := evidence.Manifest{Base: "b"}
	if _, err := m.Resolve(func(string) ([]byte, error) { return []byte("{"), nil }); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a base that is not a manifest: %v", err)
	}
	if err := m.Verify(func(string) ([]byte, error) { return nil, fault.New(fault.Unavailable, "away") }); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a store that fails: %v, want its own fault", err)
	}
}
