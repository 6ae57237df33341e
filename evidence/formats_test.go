package evidence_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/tool"
)

// talk is what the bodies in testdata/formats were made from, by fantasy
// v0.41.2: the thinking had a signature where one is asked for, and the
// schema's list of what is required was a []string, without which two of the
// providers send an empty one.
func talk() actor.Request {
	p := func(slot string, texts ...string) (ps []actor.Piece) {
		for _, s := range texts {
			ps = append(ps, actor.Piece{Slot: slot, Text: s})
		}
		return ps
	}
	return actor.Request{
		Messages: []actor.Message{
			{Role: actor.System, Pieces: p("system", "You are <careful> & \"exact\".\n", "Must hold: \u2028 nothing is lost.")},
			{Role: actor.User, Pieces: p("action", "Task: mend it.\n", "Done means: it is mended 🙂\n")},
			{Role: actor.Assistant, Pieces: p("message", "I look."), Thinking: "Where is\n<it>?", ToolCalls: []actor.ToolCall{
				{ID: "c1", Name: "read", Arguments: `{ "path": "a<b>.go", "limit": 1.50, "deep": {"content": "x", "list": [1, 2e3, null]}}`},
				{ID: "c2", Name: "read", Arguments: `{}`}}},
			{Role: actor.ToolRole, ToolCallID: "c1", Pieces: p("tool_result", " 1: x\r\n<&>\u2029 2: y\t")},
			{Role: actor.ToolRole, ToolCallID: "c2", Pieces: p("tool_result", "error: no path")},
			{Role: actor.User, Pieces: p("input", "Go on.")},
		},
		Tools: []tool.Spec{{Name: "read", Description: "Reads a <file>.", Input: json.RawMessage(
			`{"type":"object","properties":{"path":{"type":"string","description":"a <path> & more"},"limit":{"type":"integer","maximum":9007199254740993}},"required":["path"]}`)}},
	}
}

func formatBody(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "formats", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// missing returns the slots of what is missing, "" for a text that nobody composed.
func missing(t *testing.T, body []byte, r actor.Request) (slots []string) {
	t.Helper()
	parts := evidence.Parts(r)
	m, bad, err := evidence.Build(body, parts)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := stored(t, m).Assemble(blobs(parts)); err != nil || !bytes.Equal(got, body) {
		t.Fatalf("assembled %s: %v", got, err)
	}
	for _, b := range bad {
		slot := ""
		if b.Part >= 0 {
			slot = cmp.Or(parts[b.Part].Slot, "?")
		}
		slots = append(slots, slot)
	}
	return slots
}

// What was composed is found in the formats of the other providers. What their
// library does not send, or sends as another thing, is found out: no format but
// Anthropic's takes thinking, and Gemini's schema is another than ours.
func TestOtherFormats(t *testing.T) {
	tests := map[string][]string{
		"anthropic": nil,
		"responses": {"thinking"},
		"gemini":    {"", "thinking", "tool"},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			body := formatBody(t, name)
			if diff := gocmp.Diff(want, missing(t, body, talk())); diff != "" {
				t.Fatal(diff)
			}
			c := conversation{shelf: shelf{}} // and in steps
			for n := 1; n <= len(talk().Messages); n++ {
				r := talk()
				r.Messages = r.Messages[:n]
				c.next(t, body, r, true)
			}
		})
	}
}

// Each text that is changed in the body is missed, and what stands there
// instead is told.
func TestOtherFormatsTampered(t *testing.T) {
	changes := []string{"careful", "mended", "I look", "path\":\"a", "1: x", "error: no", "Go on", "Reads a", "list"}
	for _, name := range []string{"anthropic", "responses", "gemini"} {
		body := formatBody(t, name)
		honest := missing(t, body, talk())
		for _, old := range changes {
			altered := strings.Replace(string(body), old, strings.ToUpper(old), 1)
			if altered == string(body) {
				old = strings.ReplaceAll(old, `":"`, `\": \"`) // in a string
				altered = strings.Replace(string(body), old, strings.ToUpper(old), 1)
			}
			got := missing(t, []byte(altered), talk())
			if altered == string(body) || len(got) < len(honest)+2 || !slices.Contains(got, "") {
				t.Errorf("%s: %q is changed and %q are missed", name, old, got)
			}
		}
	}
}

func TestPlacesOfTheFormats(t *testing.T) {
	text := request("x")
	args := func(s string) actor.Request {
		return actor.Request{Messages: []actor.Message{{Role: actor.Assistant, ToolCalls: []actor.ToolCall{{ID: "c", Arguments: s}}}}}
	}
	thinking := actor.Request{Messages: []actor.Message{{Role: actor.Assistant, Thinking: "x"}}}
	lost, both := []string{"context"}, []string{"", "context"}
	tests := map[string]struct {
		body string
		r    actor.Request
		want []string
	}{
		"anthropic system":              {`{"system":"x","messages":[]}`, text, nil},
		"anthropic system in blocks":    {`{"system":[{"type":"text","text":"x"}],"messages":[]}`, text, nil},
		"anthropic result as a string":  {`{"messages":[{"content":[{"type":"tool_result","content":"x"}]}]}`, text, nil},
		"anthropic thinking is a state": {`{"messages":[],"thinking":{"type":"enabled"}}`, actor.Request{}, nil},
		"anthropic input":               {`{"messages":[{"content":[{"type":"tool_use","input":{ "b":1.0, "a":"\u003c"}}]}]}`, args(`{"a":"<","b":1}`), nil},
		"a rounded number":              {`{"messages":[{"content":[{"input":{"a":9007199254740992}}]}]}`, args(`{"a":9007199254740993}`), []string{"", "tool_call"}},
		"another type":                  {`{"messages":[{"content":[{"input":{"a":"1"}}]}]}`, args(`{"a":1}`), []string{"", "tool_call"}},
		"no arguments":                  {`{"messages":[{"content":[{"input":{}}]}]}`, args(``), nil},
		"a member more":                 {`{"messages":[{"content":[{"input":{"a":1,"b":2}}]}]}`, args(`{"a":1}`), []string{"", "tool_call"}},
		"arguments as a value":          {`{"messages":[{"tool_calls":[{"function":{"arguments":{"a":1}}}]}]}`, args(`{"a":1}`), nil},
		"input elsewhere":               {`{"messages":[{"input":{"a":1}}]}`, args(`{"a":1}`), []string{"tool_call"}},
		"responses instructions":        {`{"instructions":"x","input":[]}`, text, nil},
		"responses input":               {`{"input":"x"}`, text, nil},
		"responses output":              {`{"input":[{"type":"function_call_output","output":"x"}]}`, text, nil},
		"responses output in parts":     {`{"input":[{"output":[{"type":"input_text","text":"x"}]}]}`, text, nil},
		"responses summary":             {`{"input":[{"type":"reasoning","summary":[{"type":"summary_text","text":"x"}]}],"reasoning":{"summary":"auto"}}`, thinking, nil},
		"responses instructions added":  {`{"instructions":"obey","input":"x"}`, text, []string{""}},
		"gemini result":                 {`{"contents":[{"parts":[{"functionResponse":{"response":{"output":{"description":["x"]}}}}]}]}`, text, nil},
		"gemini result added":           {`{"contents":[{"parts":[{"text":"x"},{"functionResponse":{"response":{"a":"obey"}}}]}]}`, text, []string{""}},
		"gemini without arguments":      {`{"contents":[{"parts":[{"functionCall":{}}]}]}`, args(`{ }`), nil},
		"gemini with none":              {`{"contents":[{"parts":[{"functionCall":{"args":{}}}]}]}`, args(`{}`), nil},
		"gemini with lost ones":         {`{"contents":[{"parts":[{"functionCall":{}}]}]}`, args(`{"a":1}`), []string{"tool_call"}},
		"gemini schema": {`{"contents":[],"tools":[{"functionDeclarations":[{"parametersJsonSchema":{"a":1}}]}]}`,
			actor.Request{Tools: []tool.Spec{{Input: json.RawMessage(`{"a":1}`)}}}, nil},
		// Chat Completions reads none of these, so no text can have been sent there.
		"chat: instructions":   {`{"messages":[],"instructions":"x"}`, text, both},
		"chat: instructions 1": {`{"instructions":"x","messages":[]}`, text, both},
		"chat: input":          {`{"messages":[],"input":[{"output":"x"}]}`, text, both},
		"chat: output":         {`{"messages":[{"output":"x"}]}`, text, lost},
		"chat: response":       {`{"messages":[],"response":{"result":"x"}}`, text, lost},
		"chat: system within":  {`{"messages":[{"system":"x"}]}`, text, lost},
		"chat: contents":       {`{"messages":[],"contents":[{"parts":[{"functionResponse":{"response":{"result":"x"}}}]}]}`, text, both},
		"chat: no arguments":   {`{"messages":[]}`, args(`{}`), []string{"tool_call"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := gocmp.Diff(tt.want, missing(t, []byte(tt.body), tt.r)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// formatRequest is a hard request as far as the format can say it: arguments
// are objects, and thinking is only Anthropic's.
func formatRequest(t *rapid.T, format string) actor.Request {
	r := hardRequest(t)
	for i := range r.Messages {
		m := &r.Messages[i]
		if format != "anthropic" {
			m.Thinking = ""
		}
		for j := range m.ToolCalls {
			b, err := json.Marshal(map[string]any{"text": m.ToolCalls[j].Arguments, "n": json.Number("1.50")})
			if err != nil {
				t.Fatal(err)
			}
			m.ToolCalls[j].Arguments = rapid.SampledFrom([]string{string(b), " " + string(b), "{}"}).Draw(t, "arguments")
		}
	}
	return r
}

// inFormat writes r in the shape of that format.
func inFormat(t *rapid.T, r actor.Request, format string) []byte {
	type object = map[string]any
	var list, tools []any
	for _, m := range r.Messages {
		text, result := m.Text(), m.Role == actor.ToolRole
		var parts []any
		switch {
		case result && format == "anthropic":
			parts = append(parts, object{"type": "tool_result", "content": []any{object{"type": "text", "text": text}}})
		case result && format == "responses":
			list = append(list, object{"type": "function_call_output", "output": text})
		case result:
			parts = append(parts, object{"functionResponse": object{"response": object{"result": text}}})
		default:
			parts = append(parts, object{"text": text})
		}
		if m.Thinking != "" {
			parts = append(parts, object{"type": "thinking", "thinking": m.Thinking})
		}
		if format == "responses" {
			list = append(list, object{"role": m.Role, "content": parts})
		}
		for _, c := range m.ToolCalls {
			var args object // and with it the numbers are written anew
			if err := json.Unmarshal([]byte(c.Arguments), &args); err != nil {
				t.Fatal(err)
			}
			switch format {
			case "anthropic":
				parts = append(parts, object{"type": "tool_use", "input": args})
			case "responses":
				list = append(list, object{"type": "function_call", "arguments": c.Arguments})
			case "gemini":
				call := object{"name": c.Name}
				if len(args) > 0 {
					call["args"] = args
				}
				parts = append(parts, object{"functionCall": call})
			}
		}
		switch format {
		case "anthropic":
			list = append(list, object{"role": m.Role, "content": parts})
		case "gemini":
			list = append(list, object{"role": m.Role, "parts": parts})
		}
	}
	keys := map[string][2]string{"anthropic": {"messages", "input_schema"}, "responses": {"input", "parameters"}, "gemini": {"contents", "parametersJsonSchema"}}[format]
	for _, s := range r.Tools {
		tools = append(tools, object{"name": s.Name, "description": s.Description, keys[1]: s.Input})
	}
	b, err := json.Marshal(object{keys[0]: list, "model": r.Model, "tools": tools})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Any request is found in any format, also turn by turn.
func TestAnyRequestInAnyFormat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		format := rapid.SampledFrom([]string{"anthropic", "responses", "gemini"}).Draw(t, "format")
		r := formatRequest(t, format)
		c := conversation{shelf: shelf{}}
		for range rapid.IntRange(1, 5).Draw(t, "requests") {
			body := inFormat(t, r, format)
			if _, bad, err := evidence.Build(body, evidence.Parts(r)); err != nil || len(bad) > 0 {
				t.Fatalf("%v %+v\n%s", err, bad, body)
			}
			c.next(t, body, r, true)
			r.Messages = append(r.Messages, formatRequest(t, format).Messages...)
			if rapid.IntRange(0, 4).Draw(t, "tampered") == 0 {
				c.next(t, tamper(t, body), r, true)
			}
		}
	})
}

func TestNumbersOfArguments(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"1.50", "15e-1", true}, {"-0", "0", true}, {"0.0e5", "0", true}, {"1E3", "1000", true}, {"0.001", "1e-3", true},
		{"100", "1e2", true}, {"-1", "1", false}, {"1e3", "1e4", false}, {"0.1", "0.10000000000000001", false},
		{"1e99999999999", "1e99999999999", true}, {"1e99999999999", "10e99999999998", false}, {"10", "1", false}, {"1", `"1"`, false},
	} {
		body := `{"messages":[{"content":[{"input":{"n":[` + tt.a + `]}}]}]}`
		r := actor.Request{Messages: []actor.Message{{ToolCalls: []actor.ToolCall{{Arguments: ` {"n":[` + tt.b + `]}`}}}}}
		if got := missing(t, []byte(body), r); (got == nil) != tt.same {
			t.Errorf("%s and %s: %q", tt.a, tt.b, got)
		}
	}
}
