package evidence_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/tool"
)

// blobs returns a get function over the parts' texts, which is all that a
// manifest may ask for.
func blobs(parts []evidence.Part) func(string) ([]byte, error) {
	m := map[string][]byte{}
	for _, p := range parts {
		m[evidence.Hash([]byte(p.Text))] = []byte(p.Text)
	}
	return func(h string) ([]byte, error) {
		b, ok := m[h]
		if !ok {
			return nil, fault.New(fault.NotFound, "no blob %s", h)
		}
		return b, nil
	}
}

// stored returns m as it comes back from the store.
func stored(t interface{ Fatal(...any) }, m evidence.Manifest) evidence.Manifest {
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back evidence.Manifest
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

// openAI writes r in the shape of a chat completions body.
func openAI(t interface{ Fatal(...any) }, r actor.Request, escapeHTML, arrays bool) []byte {
	var msgs, tools []any
	for _, m := range r.Messages {
		w := map[string]any{"role": m.Role, "content": m.Text()}
		if arrays && len(m.Pieces) > 0 {
			var list []any
			for _, p := range m.Pieces {
				list = append(list, map[string]any{"type": "text", "text": p.Text})
			}
			w["content"] = list
		}
		if m.Thinking != "" {
			w["reasoning_content"] = m.Thinking
		}
		var calls []any
		for _, c := range m.ToolCalls {
			calls = append(calls, map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments}})
		}
		if calls != nil {
			w["tool_calls"] = calls
		}
		msgs = append(msgs, w)
	}
	for _, s := range r.Tools {
		tools = append(tools, map[string]any{"type": "function", "function": map[string]any{"name": s.Name, "description": s.Description, "parameters": s.Input}})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escapeHTML)
	if err := e.Encode(map[string]any{"model": r.Model, "messages": msgs, "tools": tools, "stream": true}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func hard() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"", " ", "user", "content", "a", "a", "\n", `"`, `\`, `\u003c`, "<b>&", "\u2028\u2029", "\x00\x01\x1f\x7f", "\b\f", "🙂é", "\ufffd", "{}", "   x   "}),
		rapid.StringOfN(rapid.RuneFrom([]rune("ab\"\\<>&\n\t\u2028🙂")), 0, 12, -1),
	)
}

func hardRequest(t *rapid.T) actor.Request {
	r := actor.Request{Provider: "p", Model: hard().Draw(t, "model")}
	for range rapid.IntRange(0, 5).Draw(t, "messages") {
		m := actor.Message{Role: rapid.SampledFrom([]actor.Role{actor.System, actor.User, actor.Assistant, actor.ToolRole}).Draw(t, "role")}
		for i := range rapid.IntRange(0, 4).Draw(t, "pieces") {
			m.Pieces = append(m.Pieces, actor.Piece{Slot: "context", Origin: fmt.Sprint(i), Text: hard().Draw(t, "text")})
		}
		m.Thinking = hard().Draw(t, "thinking")
		for i := range rapid.IntRange(0, 2).Draw(t, "calls") {
			m.ToolCalls = append(m.ToolCalls, actor.ToolCall{ID: fmt.Sprint(i), Name: "n", Arguments: hard().Draw(t, "args")})
		}
		r.Messages = append(r.Messages, m)
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "tools") {
		in, err := json.Marshal(map[string]any{"type": "object", "properties": map[string]any{hard().Draw(t, "key"): map[string]any{"description": hard().Draw(t, "d")}}, "n": 9007199254740993})
		if err != nil {
			t.Fatal(err)
		}
		r.Tools = append(r.Tools, tool.Spec{Name: fmt.Sprintf("t/%d", i), Description: hard().Draw(t, "description"), Input: in})
	}
	return r
}

func TestManifestRebuildsAnyBody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := hardRequest(t)
		body := openAI(t, r, rapid.Bool().Draw(t, "html"), rapid.Bool().Draw(t, "arrays"))
		parts := evidence.Parts(r)
		m, bad, err := evidence.Build(body, parts)
		if err != nil {
			t.Fatal(err)
		}
		if len(bad) > 0 {
			t.Fatalf("mismatch: %+v\n%s", bad, body)
		}
		got, err := stored(t, m).Assemble(blobs(parts))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(body), string(got)); diff != "" {
			t.Fatal(diff)
		}
		checkSpans(t, m, body, parts)
	})
}

// checkSpans asserts that every part with text has exactly one span, and that
// the bytes of the span decode to that text.
func checkSpans(t *rapid.T, m evidence.Manifest, body []byte, parts []evidence.Part) {
	want, got := map[string]int{}, map[string]int{}
	for _, p := range parts {
		if p.Text != "" {
			want[string(p.Kind)+p.Origin+evidence.Hash([]byte(p.Text))]++
		}
	}
	for _, s := range m.Spans {
		if s.Blob == "" {
			continue
		}
		got[string(s.Kind)+s.Origin+s.Blob]++
		raw := body[s.From:s.To]
		text := string(raw)
		if s.Kind != evidence.PartSchema {
			if err := json.Unmarshal([]byte(`"`+text+`"`), &text); err != nil {
				t.Fatalf("span %+v is not the inside of a string: %v", s, err)
			}
			if evidence.Hash([]byte(text)) != s.Blob {
				t.Fatalf("span %+v decodes to %q", s, text)
			}
		}
	}
	if !maps.Equal(want, got) {
		t.Fatalf("spans %v, parts %v", got, want)
	}
}

func request(texts ...string) actor.Request {
	r := actor.Request{Model: "m", Messages: []actor.Message{{Role: actor.User}}}
	for i, s := range texts {
		r.Messages[0].Pieces = append(r.Messages[0].Pieces, actor.Piece{Slot: "context", Origin: fmt.Sprintf("file:%d", i), Reason: "view", Text: s})
	}
	return r
}

func TestManifestSpansOfOneMessage(t *testing.T) {
	body := []byte(`{"messages":[{"role":"user","content":"a\n\u0041\ud83d\ude42<"}]}`)
	m, bad, err := evidence.Build(body, evidence.Parts(request("a\n", "", "A🙂", "<")))
	if err != nil || len(bad) > 0 {
		t.Fatal(err, bad)
	}
	s := func(from, to, at int, i int, text string, enc evidence.Encoding, raw string) evidence.Span {
		return evidence.Span{From: from, To: to, Kind: evidence.PartText, Role: actor.User, Slot: "context", Origin: fmt.Sprintf("file:%d", i),
			Reason: "view", Blob: evidence.Hash([]byte(text)), Enc: enc, At: at, Of: 8, Raw: raw}
	}
	want := []evidence.Span{
		{From: 0, To: 39, Raw: `{"messages":[{"role":"user","content":"`},
		s(39, 42, 0, 0, "a\n", evidence.EncodedJSON, ""),
		s(42, 60, 2, 2, "A🙂", evidence.EncodedRaw, `\u0041\ud83d\ude42`),
		s(60, 61, 7, 3, "<", evidence.EncodedJSON, ""),
		{From: 61, To: 65, Raw: `"}]}`},
	}
	if diff := cmp.Diff(want, m.Spans); diff != "" {
		t.Fatal(diff)
	}
}

func TestManifestReportsWhatDiffers(t *testing.T) {
	tests := map[string]struct {
		body string
		r    actor.Request
		want []int // parts of the mismatches
	}{
		"trimmed":             {`{"messages":[{"role":"user","content":"x"}]}`, request(" x"), []int{0, -1}},
		"dropped":             {`{"messages":[]}`, request("x", "", "y"), []int{0, 2}},
		"only in a role":      {`{"messages":[{"role":"user"}]}`, request("user"), []int{0}},
		"only inside another": {`{"messages":[{"role":"user","content":"say ok now"}]}`, request("ok"), []int{0, -1}},
		"added":               {`{"messages":[{"role":"system","content":"be nice"},{"role":"user","content":"x"}]}`, request("x"), []int{-1}},
		"sent once of twice": {`{"messages":[{"role":"user","content":"x"}]}`,
			actor.Request{Messages: append(request("x").Messages, request("x").Messages...)}, []int{1}},
		"not UTF-8":      {`{"messages":[{"role":"user","content":"\ufffd"}]}`, request("\xff"), []int{0, -1}},
		"another schema": {`{"tools":[{"function":{"parameters":{"a":1}}}]}`, actor.Request{Tools: []tool.Spec{{Input: json.RawMessage(`{"a":2}`)}}}, []int{1, -1}},
		"all there":      {`{"messages":[{"content":"x","role":"user"}]}`, request("x"), nil},
		"schema by value, not by its bytes": {`{"tools":[{"function":{"parameters":{ "b":[1],"a":"\u003c" }}}]}`,
			actor.Request{Tools: []tool.Spec{{Input: json.RawMessage(`{"a":"<","b":[1]}`)}}}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			parts := evidence.Parts(tt.r)
			m, bad, err := evidence.Build([]byte(tt.body), parts)
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, b := range bad {
				got = append(got, b.Part)
			}
			if diff := cmp.Diff(sortedLast(tt.want), sortedLast(got)); diff != "" {
				t.Errorf("mismatches %+v\n%s", bad, diff)
			}
			if b, err := m.Assemble(blobs(parts)); err != nil || string(b) != tt.body {
				t.Errorf("assembled %q, %v", b, err)
			}
		})
	}
}

// sortedLast puts -1 behind the parts, since the order between them says nothing.
func sortedLast(in []int) (out []int) {
	tail := 0
	for _, i := range in {
		if i < 0 {
			tail++
			continue
		}
		out = append(out, i)
	}
	for range tail {
		out = append(out, -1)
	}
	return out
}

// The search goes on behind the last find, so that of equal texts the one that
// stands out of the order is the one that nobody composed.
func TestEqualTextsAreFoundInOrder(t *testing.T) {
	two := actor.Request{Messages: append(request("b").Messages, request("a").Messages...)}
	_, bad, err := evidence.Build([]byte(`[{"content":"a"},{"content":"b"},{"content":"a"}]`), evidence.Parts(two))
	if err != nil || len(bad) != 1 || bad[0].Part != -1 || bad[0].At != 13 {
		t.Errorf("%+v, %v", bad, err)
	}
}

func TestBuildRefusesABody(t *testing.T) {
	for _, body := range []string{``, ` `, `{`, `{} {}`, `{"a":1,"a":2}`, "\"\xff\"", `"\ud800"`, `[1,]`, strings.Repeat(`[`, 20000)} {
		if _, _, err := evidence.Build([]byte(body), nil); !fault.Is(err, fault.Invalid) {
			t.Errorf("%.20q: %v, want an Invalid fault", body, err)
		}
	}
}

func TestAssembleFindsDamage(t *testing.T) {
	parts := evidence.Parts(request("one", "two"))
	body := openAI(t, request("one", "two"), true, false)
	good, _, err := evidence.Build(body, parts)
	if err != nil {
		t.Fatal(err)
	}
	if err := good.Verify(blobs(parts)); err != nil {
		t.Fatal(err)
	}
	damage := map[string]func(m *evidence.Manifest){
		"a span left out":     func(m *evidence.Manifest) { m.Spans = m.Spans[1:] },
		"glue changed":        func(m *evidence.Manifest) { m.Spans[0].Raw = "X" + m.Spans[0].Raw[1:] },
		"blobs exchanged":     func(m *evidence.Manifest) { m.Spans[1].Blob, m.Spans[2].Blob = m.Spans[2].Blob, m.Spans[1].Blob },
		"unknown encoding":    func(m *evidence.Manifest) { m.Spans[1].Enc = "rot13" },
		"size":                func(m *evidence.Manifest) { m.Size++ },
		"hash":                func(m *evidence.Manifest) { m.Body = evidence.Hash(nil) },
		"end before start":    func(m *evidence.Manifest) { m.Spans[1].To = 0 },
		"an encoding it isnt": func(m *evidence.Manifest) { m.Spans[1].Enc = evidence.EncodedRaw },
	}
	for name, f := range damage {
		m := stored(t, good)
		f(&m)
		if err := m.Verify(blobs(parts)); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: %v, want a Corrupt fault", name, err)
		}
	}
	if err := good.Verify(blobs(parts[1:])); !fault.Is(err, fault.NotFound) {
		t.Errorf("a blob that is gone: %v, want get's NotFound", err)
	}
}

func FuzzBuild(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":"a\nb"}]}`), "a\n", "b")
	f.Add([]byte(`{"content":["a\u2028","b"],"parameters":{"content":1}}`), "a\u2028", "b")
	f.Add([]byte(`{"content":"\ud83d\ude42\u003c\/"}`), "🙂", "</")
	f.Fuzz(func(t *testing.T, body []byte, a, b string) {
		before := bytes.Clone(body)
		r := request(a, b, a)
		r.Tools = []tool.Spec{{Name: "t", Description: b, Input: json.RawMessage(a)}}
		parts := evidence.Parts(r)
		m, _, err := evidence.Build(body, parts)
		if !bytes.Equal(before, body) {
			t.Fatal("Build changed the body")
		}
		if err != nil {
			return
		}
		got, err := stored(t, m).Assemble(blobs(parts))
		if err != nil || !bytes.Equal(got, body) {
			t.Fatalf("assembled %q of %q: %v", got, body, err)
		}
	})
}

func benchRequest() actor.Request {
	r := actor.Request{Model: "m"}
	line := "\tif n > 500 && s[\"limit\"] != nil { // see <docs/limits.md>\n"
	for i := range 10 {
		m := actor.Message{Role: actor.User}
		for j := range 6 {
			m.Pieces = append(m.Pieces, actor.Piece{Slot: "context", Origin: fmt.Sprintf("file:%d-%d", i, j), Text: fmt.Sprint(i, j) + strings.Repeat(line, 28)})
		}
		r.Messages = append(r.Messages, m)
	}
	for i := range 10 {
		r.Tools = append(r.Tools, tool.Spec{Name: fmt.Sprint(i), Description: line, Input: json.RawMessage(`{"properties":{"path":{"description":"a path","type":"string"}},"required":["path"],"type":"object"}`)})
	}
	return r
}

func BenchmarkBuild(b *testing.B) {
	r := benchRequest()
	for _, html := range []bool{false, true} {
		body := openAI(b, r, html, false)
		b.Run(fmt.Sprintf("60pieces_%dKB_html=%v", len(body)/1000, html), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				_, bad, err := evidence.Build(body, evidence.Parts(r))
				if err != nil || len(bad) > 0 {
					b.Fatal(err, bad)
				}
			}
		})
	}
}

func BenchmarkAssemble(b *testing.B) {
	r := benchRequest()
	body, parts := openAI(b, r, false, false), evidence.Parts(r)
	m, _, err := evidence.Build(body, parts)
	if err != nil {
		b.Fatal(err)
	}
	get := blobs(parts)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if err := m.Verify(get); err != nil {
			b.Fatal(err)
		}
	}
}
