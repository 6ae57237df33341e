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

// messagesRequest is a body of Anthropic's Messages. On Bedrock the model is in
// the address, and a version in the body.
type messagesRequest struct {
	Version     string            `json:"anthropic_version,omitempty"`
	Model       string            `json:"model,omitempty"`
	MaxTokens   int               `json:"max_tokens"`
	System      []messagesBlock   `json:"system,omitempty"`
	Messages    []messagesMessage `json:"messages"`
	Tools       []messagesTool    `json:"tools,omitempty"`
	Temperature *float64          `json:"temperature,omitempty"`
	Output      *messagesOutput   `json:"output_config,omitempty"`
	Stream      bool              `json:"stream,omitempty"`
}

type messagesOutput struct {
	Format messagesFormat `json:"format"`
}

type messagesFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type messagesMessage struct {
	Role    string          `json:"role"`
	Content []messagesBlock `json:"content"`
}

// messagesBlock is one block of a message; which fields it has depends on its
// type.
type messagesBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   []messagesBlock `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Cache     *messagesCache  `json:"cache_control,omitempty"`
}

type messagesCache struct {
	Type string `json:"type"`
}

type messagesTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// defaultMaxOutput is the limit of an answer where neither the actor nor the
// catalogue says one: this format has to have one.
const defaultMaxOutput = 8192

func composeBedrock(r actor.Request, o composeOptions) (any, error) {
	out, err := messagesBody(r, o)
	out.Version, out.Model, out.Stream = "bedrock-2023-05-31", "", false
	return out, err
}

func bedrockPath(model string) string {
	return "/model/" + url.PathEscape(model) + "/invoke-with-response-stream"
}

func composeMessages(r actor.Request, o composeOptions) (any, error) { return messagesBody(r, o) }

func messagesBody(r actor.Request, o composeOptions) (messagesRequest, error) {
	out := messagesRequest{Model: r.Model, MaxTokens: r.MaxTokens, Temperature: r.Temperature, Stream: true}
	if out.MaxTokens == 0 {
		out.MaxTokens = defaultMaxOutput
		if o.maxOutput > 0 {
			out.MaxTokens = o.maxOutput
		}
	}
	for i, m := range r.Messages {
		blocks, role, err := messagesBlocks(m)
		if err != nil {
			return out, fault.New(fault.Invalid, "message %d (%s): %w", i, m.Role, err)
		}
		if role == "system" {
			out.System = append(out.System, blocks...)
			continue
		}
		// What one side says in a row is one message.
		if n := len(out.Messages); n > 0 && out.Messages[n-1].Role == role {
			out.Messages[n-1].Content = append(out.Messages[n-1].Content, blocks...)
		} else if len(blocks) > 0 {
			out.Messages = append(out.Messages, messagesMessage{role, blocks})
		}
	}
	for _, s := range r.Tools {
		out.Tools = append(out.Tools, messagesTool{WireName(s.Name), s.Description, s.Input})
	}
	if len(r.Output) > 0 {
		out.Output = &messagesOutput{messagesFormat{"json_schema", r.Output}}
	}
	out.mark()
	return out, nil
}

// mark tells where the provider may keep what it has read, by how long that
// stays the same: the tools and the system, which do for the whole phase, and
// the conversation up to its end and up to the end before that, where the last
// request was marked.
func (r *messagesRequest) mark() {
	last := func(blocks []messagesBlock) {
		for i := len(blocks) - 1; i >= 0; i-- {
			if t := blocks[i].Type; t != "thinking" && t != "redacted_thinking" { // these take no mark
				blocks[i].Cache = &messagesCache{"ephemeral"}
				return
			}
		}
	}
	last(r.System)
	marks := 0
	for i := len(r.Messages) - 1; i >= 0 && marks < 2; i-- {
		if r.Messages[i].Role == "user" {
			last(r.Messages[i].Content)
			marks++
		}
	}
}

// messagesBlocks are the blocks of one message. The format refuses texts
// without a letter in them.
func messagesBlocks(m actor.Message) (blocks []messagesBlock, role string, err error) {
	text := m.Text()
	say := func() {
		if strings.TrimSpace(text) != "" {
			blocks = append(blocks, messagesBlock{Type: "text", Text: text})
		}
	}
	switch m.Role {
	case actor.System:
		say()
		return blocks, "system", nil
	case actor.User:
		if strings.TrimSpace(text) == "" {
			return nil, "", errors.New("it is blank, which this provider refuses")
		}
		say()
		return blocks, "user", nil
	case actor.ToolRole:
		b := messagesBlock{Type: "tool_result", ToolUseID: m.ToolCallID, IsError: m.IsError}
		if text != "" {
			b.Content = []messagesBlock{{Type: "text", Text: text}}
		}
		return append(blocks, b), "user", nil
	}
	unseal(m, Messages, &blocks)
	say()
	for _, c := range m.ToolCalls {
		input, ok := object(c.Arguments)
		if !ok {
			return nil, "", fmt.Errorf("the arguments of call %s are not a JSON object", c.ID)
		}
		blocks = append(blocks, messagesBlock{Type: "tool_use", ID: c.ID, Name: WireName(c.Name), Input: input})
	}
	return blocks, "assistant", nil
}
