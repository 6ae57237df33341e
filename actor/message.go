package actor

import (
	"encoding/json"

	"github.com/cleveragents/agents/tool"
)

// Role is who speaks in a message.
type Role string

// The roles of a conversation.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Piece is one part of a request with a known origin: the unit that evidence
// can name and an experiment can leave out. A message's text is its pieces'
// texts, one after the other, with nothing between.
type Piece struct {
	Slot   string `json:"slot"`             // what it is for: system, action, invariant, context, decision, message, tool_result, tool
	Origin string `json:"origin"`           // where it was born: plan:…#definition, file:path@hash, call:ID, tool_call:ID
	Reason string `json:"reason,omitempty"` // what admitted it
	Text   string `json:"text"`
}

// ToolCall is a model's wish to call a tool. Arguments is the raw JSON text
// as the model wrote it; it may be invalid.
type ToolCall struct {
	ID        string `json:"id"` // the provider's id, unique within one response
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Message is one turn. A tool message answers exactly one ToolCall.
type Message struct {
	Role     Role    `json:"role"`
	Pieces   []Piece `json:"pieces,omitempty"`
	Thinking string  `json:"thinking,omitempty"` // goes back to the model with the next turn
	// Sealed is what the provider wants back besides, such as the signature of
	// the thinking, in a form that only package llm reads.
	Sealed     json.RawMessage `json:"sealed,omitempty"`
	ToolCalls  []ToolCall      `json:"tool_calls,omitempty"`   // Assistant only
	ToolCallID string          `json:"tool_call_id,omitempty"` // ToolRole only
	IsError    bool            `json:"is_error,omitempty"`     // ToolRole only
}

// Text returns the message's text.
func (m Message) Text() string {
	if len(m.Pieces) == 1 {
		return m.Pieces[0].Text
	}
	n := 0
	for _, p := range m.Pieces {
		n += len(p.Text)
	}
	b := make([]byte, 0, n)
	for _, p := range m.Pieces {
		b = append(b, p.Text...)
	}
	return string(b)
}

// Request is one model call, before any provider's format.
type Request struct {
	Provider    string      `json:"provider"`
	Model       string      `json:"model"`
	Messages    []Message   `json:"messages"`
	Tools       []tool.Spec `json:"tools,omitempty"`
	Temperature *float64    `json:"temperature,omitempty"`
	MaxTokens   int         `json:"max_tokens,omitempty"`
	// Output is the JSON Schema that the answer's text has to fit; nil lets the
	// model write what it likes.
	Output json.RawMessage `json:"output,omitempty"`
}

// StopReason is why the model stopped.
type StopReason string

// The reasons a model stops.
const (
	StopEnd     StopReason = "end"
	StopTools   StopReason = "tool_calls"
	StopLength  StopReason = "length"
	StopRefused StopReason = "refused"
)

// Usage is what a call cost in tokens; -1 where the provider did not say. The
// whole request is Input, CacheRead and CacheWrite together.
type Usage struct {
	Input      int64 `json:"input"`       // neither read from the provider's cache nor written to it
	Output     int64 `json:"output"`      // with the reasoning
	CacheRead  int64 `json:"cache_read"`  // of the request
	CacheWrite int64 `json:"cache_write"` // of the request
	Reasoning  int64 `json:"reasoning"`   // of the output
}

// Response is a whole answer. Wire holds the bytes that went over the wire;
// they are evidence and are stored apart from the message.
type Response struct {
	Message Message    `json:"message"`
	Stop    StopReason `json:"stop"`
	Usage   Usage      `json:"usage"`
	Model   string     `json:"model"` // as the provider resolved it
	// Thoughts is thinking that the provider tells and does not take back.
	Thoughts string `json:"thoughts,omitempty"`
	Wire     Wire   `json:"-"`
}

// Wire is the raw traffic of one call: the last request body that was sent and
// the response body as received, and how many attempts were made.
type Wire struct {
	Request  []byte
	Response []byte
	Attempts int
}
