package scripted

import (
	"encoding/json"
	"errors"
	"strings"
)

// Request is the body of a chat completions request, as far as a script can
// see it.
type Request struct {
	Model        string
	Messages     []Message
	Tools        []string // names as on the wire, such as builtin__read
	Turn         int      // how many answers the model has given before
	IncludeUsage bool
	Body         []byte // as received
}

// Message is one message of a request. Tool is the name, as on the wire, of
// the tool that a tool message is from.
type Message struct {
	Role  string
	Text  string
	Calls []Call
	Tool  string
}

// Call is a tool call that the model made before.
type Call struct {
	ID, Name, Arguments string
}

// Last returns the last message of the role; ok is false when there is none.
func (r Request) Last(role string) (m Message, ok bool) {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == role {
			return r.Messages[i], true
		}
	}
	return Message{}, false
}

// Results returns the tool messages after the model's last answer.
func (r Request) Results() []Message {
	var out []Message
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role != "assistant"; i-- {
		if r.Messages[i].Role == "tool" {
			out = append([]Message{r.Messages[i]}, out...)
		}
	}
	return out
}

// Contains reports whether a message of the role, or of any for "", has the
// text in it.
func (r Request) Contains(role, text string) bool {
	for _, m := range r.Messages {
		if (role == "" || m.Role == role) && strings.Contains(m.Text, text) {
			return true
		}
	}
	return false
}

type wireRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role      string   `json:"role"`
		Content   wireText `json:"content"`
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
		ToolCallID string `json:"tool_call_id"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// wireText is a text or a list of text parts.
type wireText string

// UnmarshalJSON takes both forms, and null.
func (t *wireText) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err == nil {
		*t = wireText(s)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return errors.New("content is neither a text nor a list of parts")
	}
	for _, p := range parts {
		*t += wireText(p.Text)
	}
	return nil
}

func parseRequest(body []byte) (Request, error) {
	var w wireRequest
	if err := json.Unmarshal(body, &w); err != nil {
		return Request{}, errors.New("the request is not valid: " + err.Error())
	}
	if !w.Stream {
		return Request{}, errors.New("the scripted model only streams")
	}
	r := Request{Model: w.Model, IncludeUsage: w.StreamOptions.IncludeUsage, Body: body}
	names := map[string]string{}
	for _, m := range w.Messages {
		out := Message{Role: m.Role, Text: string(m.Content), Tool: names[m.ToolCallID]}
		for _, c := range m.ToolCalls {
			names[c.ID] = c.Function.Name
			out.Calls = append(out.Calls, Call{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		if m.Role == "assistant" {
			r.Turn++
		}
		r.Messages = append(r.Messages, out)
	}
	for _, t := range w.Tools {
		r.Tools = append(r.Tools, t.Function.Name)
	}
	return r, nil
}
