package llm_test

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/cleveragents/agents/actor"
)

func naiveMessages(t *testing.T, body string) actor.Response {
	t.Helper()
	return naiveEvents(dataLines(t, body))
}

// naiveBedrock finds the events of the binary answer by the look of them.
func naiveBedrock(t *testing.T, body string) actor.Response {
	t.Helper()
	var events []map[string]any
	for _, m := range regexp.MustCompile(`"bytes":"([A-Za-z0-9+/=]+)"`).FindAllStringSubmatch(body, -1) {
		b, err := base64.StdEncoding.DecodeString(m[1])
		if err != nil {
			t.Fatal(err)
		}
		var e map[string]any
		if err := json.Unmarshal(b, &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return naiveEvents(events)
}

func naiveEvents(events []map[string]any) actor.Response {
	r := unsaid()
	kinds, texts, signed := []string{}, []string{}, true
	count := func(u map[string]any) {
		has(u, "input_tokens", &r.Usage.Input)
		has(u, "output_tokens", &r.Usage.Output)
		has(u, "cache_read_input_tokens", &r.Usage.CacheRead)
		has(u, "cache_creation_input_tokens", &r.Usage.CacheWrite)
	}
	stop := ""
	signatures := map[int]string{}
	for _, e := range events {
		switch e["type"] {
		case "message_start":
			r.Model = str(child(e, "message")["model"])
			count(child(e, "message", "usage"))
		case "content_block_start":
			b := child(e, "content_block")
			kinds, texts = append(kinds, str(b["type"])), append(texts, str(b["text"]))
			if b["type"] == "tool_use" {
				r.Message.ToolCalls = append(r.Message.ToolCalls, actor.ToolCall{ID: str(b["id"]), Name: str(b["name"])})
			}
		case "content_block_delta":
			i, d := int(num(e["index"])), child(e, "delta")
			texts[i] += str(d["text"]) + str(d["thinking"]) + str(d["partial_json"])
			signatures[i] += str(d["signature"])
		case "message_delta":
			stop = str(child(e, "delta")["stop_reason"])
			count(child(e, "usage"))
		}
	}
	text, thinking, n := "", "", 0
	for i, k := range kinds {
		switch k {
		case "text":
			text += texts[i]
		case "thinking":
			thinking += texts[i]
			signed = signed && signatures[i] != ""
		case "tool_use":
			if r.Message.ToolCalls[n].Arguments = texts[i]; texts[i] == "" {
				r.Message.ToolCalls[n].Arguments = "{}"
			}
			n++
		}
	}
	said(&r, text)
	if signed {
		r.Message.Thinking = thinking
	} else {
		r.Thoughts = thinking
	}
	r.Stop = map[string]actor.StopReason{"end_turn": actor.StopEnd, "tool_use": actor.StopTools, "max_tokens": actor.StopLength}[stop]
	return r
}

// naiveResponses reads the whole answer that the terminal event repeats.
func naiveResponses(t *testing.T, body string) actor.Response {
	t.Helper()
	r := unsaid()
	for _, e := range dataLines(t, body) {
		if e["type"] != "response.completed" && e["type"] != "response.incomplete" {
			continue
		}
		end := child(e, "response")
		r.Model, r.Stop = str(end["model"]), actor.StopEnd
		text, thinking, sealed := "", "", false
		for _, it := range list(end["output"]) {
			switch it["type"] {
			case "function_call":
				r.Message.ToolCalls = append(r.Message.ToolCalls, actor.ToolCall{ID: str(it["call_id"]), Name: str(it["name"]), Arguments: str(it["arguments"])})
				r.Stop = actor.StopTools
			case "reasoning":
				sealed = str(it["encrypted_content"]) != ""
				for _, s := range list(it["summary"]) {
					thinking += str(s["text"])
				}
			case "message":
				for _, c := range list(it["content"]) {
					text += str(c["text"])
				}
			}
		}
		said(&r, text)
		if sealed {
			r.Message.Thinking = thinking
		} else {
			r.Thoughts = thinking
		}
		u := child(end, "usage")
		has(u, "input_tokens", &r.Usage.Input)
		has(u, "output_tokens", &r.Usage.Output)
		if has(child(u, "input_tokens_details"), "cached_tokens", &r.Usage.CacheRead) {
			r.Usage.Input -= r.Usage.CacheRead
		}
		has(child(u, "output_tokens_details"), "reasoning_tokens", &r.Usage.Reasoning)
	}
	return r
}

func naiveGemini(t *testing.T, body string) actor.Response {
	t.Helper()
	r := unsaid()
	text, finish := "", ""
	for _, e := range dataLines(t, body) {
		r.Model = str(e["modelVersion"])
		if u := child(e, "usageMetadata"); u != nil {
			r.Usage = unsaid().Usage
			r.Usage.Output = 0 // where only thoughts are told so far
			has(u, "promptTokenCount", &r.Usage.Input)
			has(u, "candidatesTokenCount", &r.Usage.Output)
			if has(u, "cachedContentTokenCount", &r.Usage.CacheRead) {
				r.Usage.Input -= r.Usage.CacheRead
			}
			if has(u, "thoughtsTokenCount", &r.Usage.Reasoning) {
				r.Usage.Output += r.Usage.Reasoning
			}
		}
		for _, c := range list(e["candidates"]) {
			for _, p := range list(child(c, "content")["parts"]) {
				call := child(p, "functionCall")
				switch {
				case call != nil:
					args, err := json.Marshal(child(call, "args"))
					if err != nil {
						t.Fatal(err)
					}
					id := str(call["id"])
					if id == "" {
						id = "call-" + string(rune('0'+len(r.Message.ToolCalls)))
					}
					r.Message.ToolCalls = append(r.Message.ToolCalls, actor.ToolCall{ID: id, Name: str(call["name"]), Arguments: string(args)})
				case p["thought"] == true:
					r.Thoughts += str(p["text"])
				default:
					text += str(p["text"])
				}
			}
			if s := str(c["finishReason"]); s != "" {
				finish = s
			}
		}
	}
	said(&r, text)
	r.Stop = map[string]actor.StopReason{"STOP": actor.StopEnd, "MAX_TOKENS": actor.StopLength}[finish]
	if len(r.Message.ToolCalls) > 0 && r.Stop == actor.StopEnd {
		r.Stop = actor.StopTools
	}
	return r
}

// naiveChat reads a recording of Chat Completions.
func naiveChat(t *testing.T, body string) actor.Response {
	t.Helper()
	r := actor.Response{Message: actor.Message{Role: actor.Assistant}, Usage: actor.Usage{Input: -1, Output: -1, CacheRead: -1, CacheWrite: -1, Reasoning: -1}}
	text, finish := "", ""
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var c map[string]any
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Fatal(err)
		}
		if u, ok := c["usage"].(map[string]any); ok {
			r.Usage = actor.Usage{Input: num(u["prompt_tokens"]), Output: num(u["completion_tokens"]), CacheRead: -1, CacheWrite: -1, Reasoning: -1}
			if d, ok := u["prompt_tokens_details"].(map[string]any); ok && d["cached_tokens"] != nil {
				r.Usage.CacheRead = num(d["cached_tokens"])
				r.Usage.Input -= r.Usage.CacheRead
			}
			if has(child(u, "prompt_tokens_details"), "cache_write_tokens", &r.Usage.CacheWrite) {
				r.Usage.Input -= r.Usage.CacheWrite
			}
			has(child(u, "completion_tokens_details"), "reasoning_tokens", &r.Usage.Reasoning)
		}
		if m, ok := c["model"].(string); ok && m != "" {
			r.Model = m
		}
		for _, ch := range list(c["choices"]) {
			d, _ := ch["delta"].(map[string]any)
			text += str(d["content"])
			r.Message.Thinking += thinking(d)
			for _, tc := range list(d["tool_calls"]) {
				f, _ := tc["function"].(map[string]any)
				i := int(num(tc["index"]))
				for len(r.Message.ToolCalls) <= i {
					r.Message.ToolCalls = append(r.Message.ToolCalls, actor.ToolCall{})
				}
				call := &r.Message.ToolCalls[i]
				if call.ID == "" {
					call.ID = str(tc["id"])
				}
				if call.Name == "" {
					call.Name = str(f["name"])
				}
				call.Arguments += str(f["arguments"])
			}
			if s := str(ch["finish_reason"]); s != "" {
				finish = s
			}
		}
	}
	if text != "" {
		r.Message.Pieces = []actor.Piece{{Slot: "message", Text: text}}
	}
	r.Stop = map[string]actor.StopReason{"stop": actor.StopEnd, "tool_calls": actor.StopTools, "length": actor.StopLength}[finish]
	return r
}

func thinking(d map[string]any) string {
	if s := str(d["reasoning_content"]); s != "" {
		return s
	}
	return str(d["reasoning"])
}

func list(v any) (out []map[string]any) {
	l, _ := v.([]any)
	for _, e := range l {
		m, _ := e.(map[string]any)
		out = append(out, m)
	}
	return out
}

func str(v any) string { s, _ := v.(string); return s }

func num(v any) int64 { f, _ := v.(float64); return int64(f) }
