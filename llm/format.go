package llm

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
)

// Format is the language that a provider speaks.
type Format string

// The formats. The zero value is Chat.
const (
	// Chat is Chat Completions as the many servers that are compatible with it
	// take it: POST …/chat/completions.
	Chat Format = ""
	// OpenAIChat is Chat Completions in OpenAI's own, stricter reading.
	OpenAIChat Format = "openai-chat"
	// Responses is OpenAI's Responses: POST …/responses.
	Responses Format = "openai-responses"
	// Messages is Anthropic's Messages: POST …/v1/messages.
	Messages Format = "anthropic"
	// Gemini is Google's: POST …/v1beta/models/<model>:streamGenerateContent.
	Gemini Format = "gemini"
	// Bedrock is Anthropic's Messages as Amazon Bedrock carries them: POST
	// …/model/<model>/invoke-with-response-stream, answered in binary frames.
	Bedrock Format = "bedrock"
	// Azure is Chat Completions at Azure OpenAI, whose base URL is the resource's
	// endpoint: POST …/openai/v1/chat/completions. The model is a deployment.
	Azure Format = "azure"
	// AzureResponses is Responses there: POST …/openai/v1/responses.
	AzureResponses Format = "azure-responses"
)

// dialect is all that a format does in its own way.
type dialect struct {
	// path is what follows the base URL, with the query.
	path func(model string) string
	// compose writes the request body.
	compose func(r actor.Request, o composeOptions) (any, error)
	// sign puts the key into the one header that carries it.
	sign func(h http.Header, key string)
	// headers are those that the format always has.
	headers map[string]string
	// accept is what kind of answer is asked for.
	accept string
	// framed answers come as Amazon's event stream, not as server-sent events.
	framed bool
	reader func() reader
}

// composeOptions is what a composer knows of the provider and the model.
type composeOptions struct {
	maxOutput int  // tokens; 0 is not known
	reasons   bool // the model thinks before it answers
}

// reader takes the events of one answer, strictly and in order.
type reader interface {
	// event takes the next event and returns the text that it adds.
	event(data []byte) (text string, err error)
	// whole returns nil when nothing of the answer can be missing.
	whole() error
	// response is the answer, once it is whole.
	response() actor.Response
}

func dialectOf(f Format) (dialect, bool) {
	fixed := func(p string) func(string) string { return func(string) string { return p } }
	switch f {
	case Chat, OpenAIChat:
		d := dialect{path: fixed("/chat/completions"), compose: composeChat, sign: bearer, accept: sse, reader: newChatReader}
		if f == OpenAIChat {
			d.compose, d.reader = composeOpenAIChat, newOpenAIChatReader
		}
		return d, true
	case Azure:
		return dialect{path: fixed("/openai/v1/chat/completions"), compose: composeOpenAIChat, sign: header("Api-Key"), accept: sse, reader: newOpenAIChatReader}, true
	case AzureResponses:
		return dialect{path: fixed("/openai/v1/responses"), compose: composeResponses, sign: header("Api-Key"), accept: sse, reader: newResponsesReader}, true
	case Responses:
		return dialect{path: fixed("/responses"), compose: composeResponses, sign: bearer, accept: sse, reader: newResponsesReader}, true
	case Messages:
		return dialect{
			path: fixed("/v1/messages"), compose: composeMessages, sign: header("X-Api-Key"), accept: sse,
			headers: map[string]string{"Anthropic-Version": "2023-06-01"}, reader: newMessagesReader,
		}, true
	case Gemini:
		return dialect{path: geminiPath, compose: composeGemini, sign: header("X-Goog-Api-Key"), accept: sse, reader: newGeminiReader}, true
	case Bedrock:
		return dialect{
			path: bedrockPath, compose: composeBedrock, sign: bearer, accept: "application/vnd.amazon.eventstream",
			framed: true, reader: newMessagesReader,
		}, true
	}
	return dialect{}, false
}

const sse = "text/event-stream"

func bearer(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

func header(name string) func(http.Header, string) {
	return func(h http.Header, key string) { h.Set(name, key) }
}

// encode writes a request body: as JSON, with the letters < > & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fault.New(fault.Internal, "encode the request: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// object returns text as a JSON object: what a model wrote as the arguments of
// a call, for formats that hold them as a value. Empty arguments are {}.
func object(text string) (json.RawMessage, bool) {
	t := strings.TrimSpace(text)
	if t == "" {
		return json.RawMessage("{}"), true
	}
	if !strings.HasPrefix(t, "{") || !json.Valid([]byte(t)) {
		return nil, false
	}
	return json.RawMessage(t), true
}

// sealed is how a model's thinking goes back to it: in the form, and with the
// signatures, in which its provider gave it. Another format cannot read it.
type sealed struct {
	Format Format          `json:"format"`
	Items  json.RawMessage `json:"items,omitempty"`
}

func seal(f Format, items any) json.RawMessage {
	b, err := encode(items)
	if err != nil {
		return nil // items are texts and raw JSON
	}
	out, err := encode(sealed{Format: f, Items: b})
	if err != nil {
		return nil
	}
	return out
}

// unseal fills items from what seal made for the format; false when there is
// nothing of it.
func unseal(m actor.Message, f Format, items any) bool {
	var s sealed
	return len(m.Sealed) > 0 && json.Unmarshal(m.Sealed, &s) == nil && s.Format == f && json.Unmarshal(s.Items, items) == nil
}
