// Package llm makes calls of language models over charm.land/fantasy.
//
// A request is turned into the provider's format by fantasy and its SDK, sent
// once, and answered by a stream. Below them sits our own transport (wire.go),
// which keeps the bytes of both directions for the record, bounds the answer
// and decides which headers leave the machine. It also reads every event of
// the stream strictly before it lets it pass (sse.go, answer.go): only an
// answer with a finish reason and the terminal event, whole to its last byte,
// is a success, and tool calls are taken from there, as the model wrote them.
// Everything else becomes a fault with a kind (error.go).
//
// Tool names are translated for the wire, which allows fewer characters, and
// back (toolname.go).
//
// It does not promise to try again: one Generate is one HTTP request, whatever
// comes of it, and waiting and trying again is for the caller.
package llm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/openaicompat"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
)

// MaxAnswer is the most bytes of one answer that are read when Config does not
// say.
const MaxAnswer = 8 << 20

// maxCalls is the most tool calls of one answer; what fantasy does for each
// grows with the square of their number.
const maxCalls = 2000

// Provider is one place that speaks OpenAI's Chat Completions.
type Provider struct {
	BaseURL   string            // up to and without /chat/completions
	Key       string            // sent as a bearer token; "" sends none
	Transport http.RoundTripper // nil is the network
	// Check reports whether the model can be asked; nil says yes to any.
	Check func(model string) error
}

// Config is what New needs.
type Config struct {
	Providers map[string]Provider // by the name that requests ask for
	MaxAnswer int64               // bytes of one answer; 0 is MaxAnswer
}

// Model calls the models of several providers; it implements engine.Model and
// is safe for use by several goroutines.
type Model struct {
	providers map[string]Provider
	maxAnswer int64
	network   http.RoundTripper
}

// New returns a Model over the providers.
func New(c Config) *Model {
	m := &Model{providers: maps.Clone(c.Providers), maxAnswer: c.MaxAnswer}
	if m.maxAnswer <= 0 {
		m.maxAnswer = MaxAnswer
	}
	network := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 4}
	network.DisableCompression = true // the record is of what was on the wire
	m.network = network
	return m
}

// Generate makes one call. Progress, which may be nil, gets the answer's text
// as it comes. The response's Wire is set as far as the call came even when
// the error is not nil. The error of a context that ended is passed on; any
// other is a fault: Denied, Invalid or NotFound when the provider refused the
// call, Exhausted when the answer or the account is too large a thing, and
// Unavailable, with the detail retry_after in seconds where the provider said
// it, when the same call may succeed later.
//
// The ids of the tool calls are made unique where the model's are not. With
// StopLength the last tool call may be cut, and is then not valid JSON.
func (m *Model) Generate(ctx context.Context, r actor.Request, progress func(textDelta string)) (actor.Response, error) {
	if err := m.Check(r.Provider, r.Model); err != nil {
		return actor.Response{}, err
	}
	p := m.providers[r.Provider]
	if err := ctx.Err(); err != nil {
		return actor.Response{}, err
	}
	names, err := newToolNames(r)
	if err != nil {
		return actor.Response{}, err
	}
	call, err := newCall(r, names)
	if err != nil {
		return actor.Response{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &wire{next: p.Transport, key: p.Key, max: m.maxAnswer}
	if w.next == nil {
		w.next = m.network
	}
	defer w.close()
	resp, err := stream(ctx, p, r, call, w, progress)
	resp.Wire = actor.Wire{Request: w.request, Response: w.response.Bytes(), Attempts: w.attempts}
	if err != nil {
		return actor.Response{Wire: resp.Wire}, err
	}
	names.restore(resp.Message.ToolCalls)
	return resp, nil
}

// Check returns an error of kind NotFound, or what the provider says against
// the model, when it cannot be asked.
func (m *Model) Check(provider, model string) error {
	p, ok := m.providers[provider]
	if !ok {
		names := slices.Sorted(maps.Keys(m.providers))
		return fault.New(fault.NotFound, "no provider %q is set up", provider).
			WithHint("set up here: %s; the actor's provider says which one is asked", orNone(names))
	}
	if p.Check == nil {
		return nil
	}
	return p.Check(model)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// stream sends the call and returns the answer once it is whole.
func stream(ctx context.Context, p Provider, r actor.Request, call fantasy.Call, w *wire, progress func(string)) (actor.Response, error) {
	lm, err := languageModel(ctx, p, r.Model, w)
	if err != nil {
		return actor.Response{}, fault.New(fault.Internal, "provider %s: %w", r.Provider, err)
	}
	parts, err := lm.Stream(ctx, call)
	if err != nil {
		return actor.Response{}, w.fault(ctx, r.Provider, err)
	}
	var text, thinking strings.Builder
	for part := range parts {
		switch part.Type {
		case fantasy.StreamPartTypeTextDelta:
			text.WriteString(part.Delta)
			if progress != nil {
				progress(part.Delta)
			}
		case fantasy.StreamPartTypeReasoningDelta:
			thinking.WriteString(part.Delta)
		case fantasy.StreamPartTypeError:
			err = part.Error
		}
	}
	if err == nil {
		err = w.err
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return actor.Response{}, w.fault(ctx, r.Provider, err)
	}
	if err = w.answer.whole(); err == nil && w.answer.text.String() != text.String() {
		err = errors.New("it reads as two different texts")
	}
	if err != nil {
		return actor.Response{}, fault.New(fault.Unavailable, "%s: the answer is not whole: %w", r.Provider, err)
	}
	return w.answer.response(thinking.String()), nil
}

// languageModel returns fantasy's model with everything off that would act
// without being asked: SDK retries, redirects, the Responses API.
func languageModel(ctx context.Context, p Provider, model string, w *wire) (fantasy.LanguageModel, error) {
	key := p.Key
	if key == "" {
		key = "none" // keeps the SDK from looking for one; wire takes it off again
	}
	client := &http.Client{Transport: w, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	provider, err := openaicompat.New(
		openaicompat.WithBaseURL(strings.TrimSuffix(p.BaseURL, "/")),
		openaicompat.WithAPIKey(key),
		openaicompat.WithHTTPClient(client),
		openaicompat.WithUserAgent("cleveragents"),
	)
	if err != nil {
		return nil, fmt.Errorf("set up: %w", err)
	}
	return provider.LanguageModel(ctx, model)
}
