package models_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/models"
	"github.com/cleveragents/agents/provider"
	"github.com/cleveragents/agents/secret"
	"github.com/cleveragents/agents/store/sqlite"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// world is a desk over an empty store, with what is sent.
type world struct {
	*models.Desk
	env  map[string]string
	sent []*http.Request
	body []string
}

func newWorld(t *testing.T, env map[string]string) *world {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "data.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	w := &world{env: env}
	look := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	w.Desk = models.New(models.Config{
		Store: db, Env: look, Now: time.Now, Secrets: secret.New(secret.Options{Env: look}),
		Built: map[string]llm.Provider{scripted.Name: scripted.Provider(scripted.Config{})},
		Network: roundTrip(func(r *http.Request) (*http.Response, error) {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			w.sent, w.body = append(w.sent, r), append(w.body, string(b))
			return nil, errors.New("the test has no network")
		}),
		Loopback: roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Port() != "11434" || env["OLLAMA"] == "" {
				return nil, errors.New("nobody listens")
			}
			body := `{"data":[{"id":"qwen3:8b"},{"id":"a-model"}]}`
			if strings.HasSuffix(r.URL.Path, "/api/tags") {
				body = `{"models":[{"name":"qwen3:8b"},{"name":"a-model"}]}`
			}
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewBufferString(body)), Request: r}, nil
		}),
	})
	return w
}

const key = "sk-ant-REDACTED"

func (w *world) ask(t *testing.T, name, model string) error {
	t.Helper()
	_, err := w.Generate(t.Context(), actor.Request{Provider: name, Model: model,
		Messages: []actor.Message{{Role: actor.User, Pieces: []actor.Piece{{Text: "Hi."}}}}}, nil)
	return err
}

// A key in the environment is enough to call a model by its name, in its
// provider's format and with the key in its header and nowhere else.
func TestAKeyInTheEnvironmentIsEnough(t *testing.T) {
	w := newWorld(t, map[string]string{"ANTHROPIC_API_KEY": key})
	if err := w.ask(t, "anthropic", "claude-sonnet-4-5-20250929"); !fault.Is(err, fault.Unavailable) {
		t.Fatal(err)
	}
	r := w.sent[0]
	if r.URL.String() != "https://api.anthropic.com/v1/messages" || r.Header.Get("X-Api-Key") != key || strings.Contains(w.body[0], key) {
		t.Errorf("asked %s with %v: %s", r.URL, r.Header, w.body[0])
	}
	c, ok, err := w.Actor(t.Context(), "anthropic/claude-sonnet-4-5-20250929")
	if err != nil || !ok || c.Provider != "anthropic" || c.Model != "claude-sonnet-4-5-20250929" || c.Validate() != nil {
		t.Errorf("actor %+v, %t, %v", c, ok, err)
	}
	d, err := w.Default(t.Context())
	if err != nil || d.Provider != "anthropic" || d.Model == "" || !strings.Contains(d.Why, "ANTHROPIC_API_KEY") {
		t.Errorf("default %+v, %v", d, err)
	}
	if _, known := w.Price("anthropic", d.Model, actor.Usage{}); !known {
		t.Errorf("the price of the default model %s is not known", d.Model)
	}
}

func TestWhatIsNotSetUp(t *testing.T) {
	w := newWorld(t, map[string]string{"ANTHROPIC_API_KEY": key})
	for _, c := range []struct {
		provider, model string
		kind            fault.Kind
		says            string
	}{
		{"openai", "gpt-5", fault.Unavailable, "OPENAI_API_KEY"},
		{"antropic", "m", fault.NotFound, "did you mean anthropic"},
		{"anthropic", "claude-opus-4-l", fault.NotFound, "did you mean claude-opus-4"},
		{"anthropic", "quite-another", fault.NotFound, "provider models anthropic"},
		{"scripted", "no-script", fault.NotFound, "no-script"},
	} {
		err := w.ask(t, c.provider, c.model)
		if f := fault.As(err); !fault.Is(err, c.kind) || !strings.Contains(f.Msg+f.Hint, c.says) {
			t.Errorf("%s/%s: %v (%s)", c.provider, c.model, err, fault.As(err).Hint)
		}
	}
	if len(w.sent) > 0 {
		t.Errorf("%d requests left", len(w.sent))
	}
	if _, err := newWorld(t, nil).Default(t.Context()); !fault.Is(err, fault.Unavailable) || fault.CodeOf(err) != "NoProvider" {
		t.Errorf("the default of nothing is %v", err)
	}
}

// A provider that was added comes before what the environment says, keeps its
// own models, and is forgotten when it is removed.
func TestAdded(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, map[string]string{"ANTHROPIC_API_KEY": key, "WORK": "sk-work-000011112222"})
	c := provider.Config{Name: "anthropic", Kind: provider.Anthropic, BaseURL: "https://proxy.example.com/a", KeyEnv: "WORK", Models: []string{"newer-than-the-catalogue"}}
	if err := w.Add(ctx, c, false); err != nil {
		t.Fatal(err)
	}
	if err := w.Add(ctx, c, false); !fault.Is(err, fault.Exists) {
		t.Errorf("twice: %v", err)
	}
	if err := w.Add(ctx, c, true); err != nil {
		t.Error(err)
	}
	if err := w.ask(t, "anthropic", "newer-than-the-catalogue"); !fault.Is(err, fault.Unavailable) || len(w.sent) != 1 ||
		w.sent[0].URL.String() != "https://proxy.example.com/a/v1/messages" || w.sent[0].Header.Get("X-Api-Key") != "sk-work-000011112222" {
		t.Fatalf("%v, sent %d", err, len(w.sent))
	}
	if _, known := w.Price("anthropic", "newer-than-the-catalogue", actor.Usage{}); known {
		t.Error("the price of another address is known")
	}
	if d, err := w.Default(ctx); err != nil || d.Model != "newer-than-the-catalogue" {
		t.Errorf("default %+v, %v", d, err)
	}
	if err := w.Remove(ctx, "anthropic"); err != nil {
		t.Error(err)
	}
	if got, how, err := w.Config(ctx, "anthropic"); err != nil || how != models.Environment || got.BaseURL != "" {
		t.Errorf("after its removal: %+v %s %v", got, how, err)
	}
	if err := w.Remove(ctx, "anthropic"); !fault.Is(err, fault.Invalid) {
		t.Errorf("one of the environment is removed: %v", err)
	}
	if err := w.Add(ctx, provider.Config{Name: scripted.Name, Kind: provider.Ollama}, true); !fault.Is(err, fault.Exists) {
		t.Errorf("a built-in one is replaced: %v", err)
	}
}

// Without a key a server of this machine is taken, and is there again later.
func TestAServerOfThisMachine(t *testing.T) {
	w := newWorld(t, map[string]string{"OLLAMA": "1"})
	d, err := w.Default(t.Context())
	if err != nil || d.Provider != "ollama" || d.Model == "" || !strings.Contains(d.Why, "11434") {
		t.Fatalf("default %+v, %v", d, err)
	}
	if err := w.ask(t, d.Provider, d.Model); !fault.Is(err, fault.Unavailable) || len(w.sent) != 1 ||
		w.sent[0].URL.Host != "127.0.0.1:11434" || w.sent[0].Header.Get("Authorization") != "" {
		t.Errorf("%v, sent %v", err, w.sent)
	}
	if usd, known := w.Price(d.Provider, d.Model, actor.Usage{Input: 10}); !known || usd != 0 {
		t.Errorf("it costs %v, %t", usd, known)
	}
}

func TestPrices(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, map[string]string{"ANTHROPIC_API_KEY": key})
	for _, c := range []provider.Config{
		{Name: "proxy", Kind: provider.Compatible, BaseURL: "http://127.0.0.1:4000/v1"},
		{Name: "mine", Kind: provider.Compatible, BaseURL: "http://127.0.0.1:8080/v1", Free: true},
	} {
		if err := w.Add(ctx, c, false); err != nil {
			t.Fatal(err)
		}
	}
	type cost struct {
		usd   float64
		known bool
	}
	price := func(name, model string, u actor.Usage) cost {
		usd, known := w.Price(name, model, u)
		return cost{usd, known}
	}
	const haiku = "claude-haiku-4-5-20251001" // a dollar in, five out, a tenth and five quarters for the cache
	got := []cost{
		price("anthropic", haiku, actor.Usage{Input: 1e6, Output: 1e6, CacheRead: -1, CacheWrite: -1, Reasoning: -1}),
		price("anthropic", haiku, actor.Usage{Input: 1e6, Output: 1e6, CacheRead: 1e6, CacheWrite: 1e6, Reasoning: 5}),
		price("anthropic", haiku, actor.Usage{Input: -1, Output: 1}),
		price("proxy", "m", actor.Usage{Input: 1}),
		price("mine", "m", actor.Usage{Input: 1}),
		price(scripted.Name, "m", actor.Usage{Input: 1}),
		price("nobody", "m", actor.Usage{Input: 1}),
	}
	want := []cost{{6, true}, {7.35, true}, {0, false}, {0, false}, {0, true}, {0, true}, {0, false}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(cost{}), cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })); d != "" {
		t.Error(d)
	}
}

// What a model takes is that of the catalogue; nothing is known of others.
func TestWindow(t *testing.T) {
	w := newWorld(t, map[string]string{"ANTHROPIC_API_KEY": key})
	for name, known := range map[string]bool{
		"anthropic/claude-haiku-4-5-20251001": true, "anthropic/no-such": false, "nobody/m": false, scripted.Name + "/m": false,
	} {
		provider, model, _ := strings.Cut(name, "/")
		tokens, answer := w.Window(provider, model)
		if known != (tokens == 200_000 && answer > 0) || !known && tokens+answer != 0 {
			t.Errorf("%s: %d and %d", name, tokens, answer)
		}
	}
}
