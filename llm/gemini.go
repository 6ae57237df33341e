package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
)

// geminiRequest is a body of Gemini's generateContent.
type geminiRequest struct {
	System   *geminiContent  `json:"systemInstruction,omitempty"`
	Contents []geminiContent `json:"contents"`
	Tools    []geminiTools   `json:"tools,omitempty"`
	Config   *geminiConfig   `json:"generationConfig,omitempty"`
}

type geminiContent struct {
	Role  string       `json:"role,omitempty"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text      *string       `json:"text,omitempty"`
	Call      *geminiCall   `json:"functionCall,omitempty"`
	Result    *geminiResult `json:"functionResponse,omitempty"`
	Signature string        `json:"thoughtSignature,omitempty"`
}

type geminiCall struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type geminiResult struct {
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

type geminiTools struct {
	Functions []geminiFunction `json:"functionDeclarations"`
}

type geminiFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema"`
}

type geminiConfig struct {
	Temperature *float64        `json:"temperature,omitempty"`
	MaxOutput   int             `json:"maxOutputTokens,omitempty"`
	MIME        string          `json:"responseMimeType,omitempty"`
	Schema      json.RawMessage `json:"responseJsonSchema,omitempty"`
	Thinking    *geminiThinking `json:"thinkingConfig,omitempty"`
}

type geminiThinking struct {
	Include bool `json:"includeThoughts"`
}

func geminiPath(model string) string {
	return "/v1beta/models/" + url.PathEscape(model) + ":streamGenerateContent?alt=sse"
}

// geminiSeal is the signatures of a model's turn: of its text, and of each call.
type geminiSeal struct {
	Text  string   `json:"text,omitempty"`
	Calls []string `json:"calls,omitempty"`
}

func composeGemini(r actor.Request, o composeOptions) (any, error) {
	out := geminiRequest{}
	names := map[string]string{} // of the calls, by id: a result names its function
	for i, m := range r.Messages {
		text := m.Text()
		if m.Role == actor.System {
			if out.System == nil {
				out.System = &geminiContent{}
			}
			out.System.Parts = append(out.System.Parts, geminiPart{Text: &text})
			continue
		}
		parts, role, err := geminiParts(m, text, names)
		if err != nil {
			return nil, fault.New(fault.Invalid, "message %d (%s): %w", i, m.Role, err)
		}
		if n := len(out.Contents); n > 0 && out.Contents[n-1].Role == role {
			out.Contents[n-1].Parts = append(out.Contents[n-1].Parts, parts...)
		} else if len(parts) > 0 {
			out.Contents = append(out.Contents, geminiContent{role, parts})
		}
	}
	var fs []geminiFunction
	for _, s := range r.Tools {
		fs = append(fs, geminiFunction{WireName(s.Name), s.Description, s.Input})
	}
	if len(fs) > 0 {
		out.Tools = []geminiTools{{fs}}
	}
	c := geminiConfig{Temperature: r.Temperature, MaxOutput: r.MaxTokens}
	if len(r.Output) > 0 {
		c.MIME, c.Schema = "application/json", r.Output
	}
	if o.reasons {
		c.Thinking = &geminiThinking{Include: true}
	}
	if c.Temperature != nil || c.MaxOutput > 0 || c.MIME != "" || c.Thinking != nil {
		out.Config = &c
	}
	return out, nil
}

func geminiParts(m actor.Message, text string, names map[string]string) ([]geminiPart, string, error) {
	switch m.Role {
	case actor.User:
		return []geminiPart{{Text: &text}}, "user", nil
	case actor.ToolRole:
		key := "result"
		if m.IsError {
			key = "error"
		}
		name, ok := names[m.ToolCallID]
		if !ok {
			return nil, "", errors.New("it answers a call that is not there")
		}
		return []geminiPart{{Result: &geminiResult{name, map[string]string{key: text}}}}, "user", nil
	}
	var s geminiSeal
	unseal(m, Gemini, &s)
	var parts []geminiPart
	if text != "" || s.Text != "" {
		parts = append(parts, geminiPart{Text: &text, Signature: s.Text})
	}
	for i, c := range m.ToolCalls {
		args, ok := object(c.Arguments)
		if !ok {
			return nil, "", fmt.Errorf("the arguments of call %s are not a JSON object", c.ID)
		}
		names[c.ID] = WireName(c.Name)
		p := geminiPart{Call: &geminiCall{names[c.ID], args}}
		if i < len(s.Calls) {
			p.Signature = s.Calls[i]
		}
		parts = append(parts, p)
	}
	return parts, "model", nil
}

// geminiReader reads a stream of Gemini's answers. It has no terminal event:
// the one with the finish reason is the last.
type geminiReader struct {
	text, thinking strings.Builder
	calls          []actor.ToolCall
	seal           geminiSeal
	model, finish  string
	blocked        string
	usage          *geminiUsage
}

type geminiUsage struct {
	Prompt   int64  `json:"promptTokenCount"`
	Output   int64  `json:"candidatesTokenCount"`
	Thoughts *int64 `json:"thoughtsTokenCount"`
	Cached   *int64 `json:"cachedContentTokenCount"`
}

type geminiEvent struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Parts []struct {
				Text      string `json:"text"`
				Thought   bool   `json:"thought"`
				Signature string `json:"thoughtSignature"`
				Call      *struct {
					ID   string          `json:"id"`
					Name string          `json:"name"`
					Args json.RawMessage `json:"args"`
				} `json:"functionCall"`
			} `json:"parts"`
		} `json:"content"`
		Finish string `json:"finishReason"`
	} `json:"candidates"`
	Feedback struct {
		Block string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *geminiUsage    `json:"usageMetadata"`
	Model string          `json:"modelVersion"`
	Error json.RawMessage `json:"error"`
}

func newGeminiReader() reader { return &geminiReader{} }

func (a *geminiReader) event(data []byte) (string, error) {
	if err := checkEvent(data); err != nil {
		return "", err
	}
	var e geminiEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return "", fault.New(fault.Unavailable, "an event is not valid: %w", err)
	}
	if isError(e.Error) {
		return "", inBand(e.Error)
	}
	if e.Model != "" {
		a.model = e.Model
	}
	if e.Usage != nil {
		a.usage = e.Usage
	}
	if e.Feedback.Block != "" {
		a.blocked = e.Feedback.Block
	}
	added := ""
	for _, c := range e.Candidates {
		if c.Index != 0 {
			return "", fault.New(fault.Unavailable, "it has more than one candidate")
		}
		if a.finish != "" && len(c.Content.Parts) > 0 {
			return "", fault.New(fault.Unavailable, "it goes on after its end")
		}
		for _, p := range c.Content.Parts {
			switch {
			case p.Call != nil:
				args := "{}"
				if len(p.Call.Args) > 0 {
					args = string(p.Call.Args)
				}
				a.calls = append(a.calls, actor.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Arguments: args})
				a.seal.Calls = append(a.seal.Calls, p.Signature)
			case p.Thought:
				a.thinking.WriteString(p.Text)
			default:
				a.text.WriteString(p.Text)
				added += p.Text
				if p.Signature != "" {
					a.seal.Text = p.Signature
				}
			}
		}
		if c.Finish != "" {
			a.finish = c.Finish
		}
	}
	if len(a.calls) > maxCalls {
		return "", tooManyCalls()
	}
	return added, nil
}

func (a *geminiReader) whole() error {
	switch {
	case a.blocked != "":
		return nil // the provider took the request and will not answer it
	case a.finish == "":
		return errors.New("it ends without a finish reason")
	case a.finish == "MALFORMED_FUNCTION_CALL", a.finish == "UNEXPECTED_TOOL_CALL", a.finish == "OTHER":
		return fmt.Errorf("the provider says that it failed midway: %s", a.finish)
	}
	return nil
}

func (a *geminiReader) response() actor.Response {
	r := actor.Response{
		Message: actor.Message{Role: actor.Assistant}, Model: a.model, Thoughts: a.thinking.String(),
		Usage: actor.Usage{Input: -1, Output: -1, CacheRead: -1, CacheWrite: -1, Reasoning: -1},
	}
	if s := a.text.String(); s != "" {
		r.Message.Pieces = []actor.Piece{{Slot: "message", Text: s}}
	}
	ids := uniqueIDs{taken: map[string]int{}}
	signed := a.seal.Text != ""
	for i, c := range a.calls {
		c.ID = ids.of(c.ID, i)
		r.Message.ToolCalls = append(r.Message.ToolCalls, c)
		signed = signed || a.seal.Calls[i] != ""
	}
	if signed {
		r.Message.Sealed = seal(Gemini, a.seal)
	}
	if u := a.usage; u != nil {
		r.Usage.Input, r.Usage.Output = u.Prompt, u.Output
		if u.Cached != nil {
			r.Usage.CacheRead, r.Usage.Input = *u.Cached, max(u.Prompt-*u.Cached, 0)
		}
		if u.Thoughts != nil {
			r.Usage.Reasoning = *u.Thoughts
			r.Usage.Output += *u.Thoughts // told apart here, and paid for as output
		}
	}
	switch {
	case a.blocked != "":
		r.Stop = actor.StopRefused
	case a.finish == "MAX_TOKENS":
		r.Stop = actor.StopLength
	case a.finish != "STOP" && a.finish != "FINISH_REASON_UNSPECIFIED":
		r.Stop = actor.StopRefused // SAFETY, RECITATION, PROHIBITED_CONTENT and the like
	case len(r.Message.ToolCalls) > 0:
		r.Stop = actor.StopTools
	default:
		r.Stop = actor.StopEnd
	}
	return r
}
