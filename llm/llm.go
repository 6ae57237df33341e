// Package llm makes calls of language models.
//
// A request is written in the provider's own format (format.go and one file a
// format), sent once, and answered by a stream. Every byte of both directions
// is kept for the record; the texts of a request are in its body exactly as
// they were composed, which the wire check of package evidence asks for. The
// answer's events are read strictly (one reader a format): only an answer with
// its reason to stop and its terminal event, whole to its last byte, is a
// success, and tool calls are taken from there, as the model wrote them.
// Everything else becomes a fault with a kind (error.go).
//
// The formats are written here, and not by the providers' own libraries: those
// leave out parts of a tool's schema, round numbers, drop thinking, read the
// environment and try again by themselves.
//
// Tool names are translated for the wire, which allows fewer characters, and
// back (toolname.go). Calls of one provider share a limiter (limit.go).
//
// It does not promise to try again: one Generate is one HTTP request, whatever
// comes of it, and waiting and trying again is for the caller.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
)

// MaxAnswer is the most bytes of one answer that are read when Config does not
// say.
const MaxAnswer = 8 << 20

// How long a provider may be silent when Config does not say: before its answer
// begins, and within it.
const (
	FirstByte    = 5 * time.Minute
	BetweenBytes = 2 * time.Minute
)

// Provider is one place where models are asked.
type Provider struct {
	Format  Format
	BaseURL string // what the format's path is put behind
	// Key is asked at each call, so that a key is held no longer than it is
	// needed; nil or "" sends none.
	Key       func(context.Context) (string, error)
	Transport http.RoundTripper // nil is the network
	Limits    Limits
	// Check reports whether the model can be asked; nil says yes to any.
	Check func(model string) error
	// Model says what is known of a model; nil knows nothing.
	Model func(model string) ModelInfo
}

// ModelInfo is what a composer may know of a model.
type ModelInfo struct {
	MaxOutput int  // tokens of one answer; 0 is not known
	Reasons   bool // it thinks before it answers
}

// Config is what New needs.
type Config struct {
	Providers map[string]Provider // by the name that requests ask for
	// Find finds a provider that is not among them: an error of kind NotFound
	// for one that nobody knows. It is asked at each call. Nil finds none.
	Find         func(name string) (Provider, error)
	MaxAnswer    int64            // bytes of one answer; 0 is MaxAnswer
	FirstByte    time.Duration    // 0 is FirstByte
	BetweenBytes time.Duration    // 0 is BetweenBytes
	Now          func() time.Time // for the limiters; required where a provider has limits
}

// Model calls the models of several providers; it implements engine.Model and
// is safe for use by several goroutines.
type Model struct {
	c        Config
	network  http.RoundTripper
	mu       sync.Mutex
	limiters map[string]*limiter
}

// New returns a Model over the providers.
func New(c Config) *Model {
	c.Providers = maps.Clone(c.Providers)
	if c.MaxAnswer <= 0 {
		c.MaxAnswer = MaxAnswer
	}
	if c.FirstByte <= 0 {
		c.FirstByte = FirstByte
	}
	if c.BetweenBytes <= 0 {
		c.BetweenBytes = BetweenBytes
	}
	m := &Model{c: c, limiters: map[string]*limiter{}}
	network := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute}
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
	p, err := m.provider(r.Provider)
	if err == nil && p.Check != nil {
		err = p.Check(r.Model)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return actor.Response{}, err
	}
	d, ok := dialectOf(p.Format)
	if !ok {
		return actor.Response{}, fault.New(fault.Invalid, "provider %s: there is no format %q", r.Provider, p.Format)
	}
	names, err := newToolNames(r)
	if err != nil {
		return actor.Response{}, err
	}
	body, err := compose(r, p, d)
	if err != nil {
		return actor.Response{}, err
	}
	x := &exchange{
		provider: r.Provider, model: r.Model, dialect: d, next: p.Transport,
		max: m.c.MaxAnswer, first: m.c.FirstByte, between: m.c.BetweenBytes,
	}
	if x.next == nil {
		x.next = m.network
	}
	if l := m.limiter(r.Provider, p.Limits); l != nil {
		if err := l.wait(ctx, r.Provider, len(body)); err != nil {
			return actor.Response{}, err
		}
		x.told = l.told
	}
	a := d.reader()
	h, key, err := p.headers(ctx, d)
	if err != nil {
		return actor.Response{}, err
	}
	err = x.run(ctx, joinURL(p.BaseURL, d.path(r.Model)), h, body, a, progress)
	x.wire.Response = hideIn(x.wire.Response, key)
	if err != nil {
		return actor.Response{Wire: x.wire}, hide(err, key)
	}
	resp := a.response()
	resp.Wire = x.wire
	names.restore(resp.Message.ToolCalls)
	return resp, nil
}

// headers are all that leaves besides the body, and the key in them.
func (p Provider) headers(ctx context.Context, d dialect) (h http.Header, key string, err error) {
	h = http.Header{}
	h.Set("Accept", d.accept)
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "cleveragents")
	for k, v := range d.headers {
		h.Set(k, v)
	}
	if p.Key == nil {
		return h, "", nil
	}
	if key, err = p.Key(ctx); err != nil {
		return nil, "", err
	}
	if key != "" {
		d.sign(h, key)
	}
	return h, key, nil
}

// compose checks what no format can say, and writes the body.
func compose(r actor.Request, p Provider, d dialect) ([]byte, error) {
	for i, m := range r.Messages {
		if err := checkMessage(m); err != nil {
			return nil, fault.New(fault.Invalid, "message %d (%s): %w", i, m.Role, err)
		}
	}
	for _, s := range r.Tools {
		var object map[string]json.RawMessage
		if json.Unmarshal(s.Input, &object) != nil || object == nil {
			return nil, fault.New(fault.Invalid, "tool %s: its input is not a JSON Schema object", s.Name)
		}
		if !utf8.ValidString(s.Description) {
			return nil, fault.New(fault.Invalid, "tool %s: its description is not UTF-8", s.Name)
		}
	}
	o := composeOptions{}
	if p.Model != nil {
		info := p.Model(r.Model)
		o = composeOptions{maxOutput: info.MaxOutput, reasons: info.Reasons}
	}
	v, err := d.compose(r, o)
	if err != nil {
		return nil, err
	}
	return encode(v)
}

func checkMessage(m actor.Message) error {
	text := m.Text()
	if !utf8.ValidString(text) || !utf8.ValidString(m.Thinking) {
		return errors.New("its text is not UTF-8")
	}
	for _, c := range m.ToolCalls {
		if !utf8.ValidString(c.Arguments) {
			return errors.New("the arguments of a call are not UTF-8")
		}
	}
	switch m.Role {
	case actor.System:
		if strings.TrimSpace(text) == "" {
			return errors.New("it is blank, and a blank system message says nothing")
		}
	case actor.ToolRole:
		if m.ToolCallID == "" {
			return errors.New("it does not say which call it answers")
		}
	case actor.User, actor.Assistant:
	default:
		return errors.New("unknown role")
	}
	return nil
}

// limiter is the one that all calls of a provider share; nil without a clock.
func (m *Model) limiter(name string, l Limits) *limiter {
	if m.c.Now == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.limiters[name] == nil {
		m.limiters[name] = newLimiter(l, m.c.Now)
	}
	m.limiters[name].set(l)
	return m.limiters[name]
}

func (m *Model) provider(name string) (Provider, error) {
	p, ok := m.c.Providers[name]
	switch {
	case ok:
		return p, nil
	case m.c.Find != nil:
		return m.c.Find(name)
	}
	return p, fault.New(fault.NotFound, "no provider %q is set up", name).
		WithHint("set up here: %s; the actor's provider says which one is asked", orNone(slices.Sorted(maps.Keys(m.c.Providers))))
}

// Check returns an error of kind NotFound, or what the provider says against
// the model, when it cannot be asked.
func (m *Model) Check(provider, model string) error {
	p, err := m.provider(provider)
	if err != nil || p.Check == nil {
		return err
	}
	return p.Check(model)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
