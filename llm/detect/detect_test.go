package detect_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm/detect"
	"github.com/cleveragents/agents/provider"
)

const canary = "sk-canary-0123456789"

func env(pairs ...string) func(string) (string, bool) {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) (string, bool) { v, ok := m[name]; return v, ok }
}

// machine answers for the servers of a machine: "host:port/path" -> handler.
type machine struct {
	at   map[string]http.HandlerFunc
	mu   sync.Mutex
	urls []string
	bad  []string // what no request may be
}

func (m *machine) RoundTrip(r *http.Request) (*http.Response, error) {
	m.mu.Lock()
	m.urls = append(m.urls, r.URL.Host+r.URL.Path)
	if r.Method != http.MethodGet || r.Header.Get("Authorization") != "" || r.Body != nil ||
		!strings.HasPrefix(r.URL.Host, "127.0.0.1:") && !strings.HasPrefix(r.URL.Host, "[::1]:") || r.URL.Scheme != "http" {
		m.bad = append(m.bad, r.Method+" "+r.URL.String())
	}
	m.mu.Unlock()
	h := m.at[r.URL.Host+r.URL.Path]
	if h == nil {
		return nil, fmt.Errorf("connection refused")
	}
	w := httptest.NewRecorder()
	h(w, r)
	return w.Result(), nil
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

func TestKeys(t *testing.T) {
	for name, c := range map[string]struct {
		env  []string
		want []detect.Found
	}{
		"nothing": {nil, nil},
		"empty":   {[]string{"OPENAI_API_KEY", " "}, nil},
		"in their order": {[]string{"OPENROUTER_API_KEY", canary, "GOOGLE_API_KEY", canary, "OPENAI_API_KEY", canary, "ANTHROPIC_API_KEY", canary}, []detect.Found{
			{Config: provider.Config{Name: "anthropic", Kind: provider.Anthropic, KeyEnv: "ANTHROPIC_API_KEY"}, How: "ANTHROPIC_API_KEY"},
			{Config: provider.Config{Name: "openai", Kind: provider.OpenAI, KeyEnv: "OPENAI_API_KEY"}, How: "OPENAI_API_KEY"},
			{Config: provider.Config{Name: "gemini", Kind: provider.Gemini, KeyEnv: "GOOGLE_API_KEY"}, How: "GOOGLE_API_KEY"},
			{Config: provider.Config{Name: "openrouter", Kind: provider.OpenRouter, KeyEnv: "OPENROUTER_API_KEY"}, How: "OPENROUTER_API_KEY"},
		}},
		"another address": {[]string{"OPENAI_API_KEY", canary, "OPENAI_BASE_URL", "https://gateway.example.com/v1 "}, []detect.Found{
			{Config: provider.Config{Name: "openai", Kind: provider.OpenAI, KeyEnv: "OPENAI_API_KEY", BaseURL: "https://gateway.example.com/v1"}, How: "OPENAI_API_KEY"},
		}},
		"an address without a key": {[]string{"OPENAI_BASE_URL", "https://gateway.example.com/v1"}, nil},
		"a bad address": {[]string{"OPENAI_API_KEY", canary, "OPENAI_BASE_URL", "http://me:" + canary + "@x.org"}, []detect.Found{
			{Config: provider.Config{Name: "openai", Kind: provider.OpenAI, KeyEnv: "OPENAI_API_KEY"}, How: "OPENAI_API_KEY", Problem: "OPENAI_BASE_URL: "},
		}},
		"azure": {[]string{"AZURE_OPENAI_API_KEY", canary, "AZURE_OPENAI_ENDPOINT", "https://x.openai.azure.com"}, []detect.Found{
			{Config: provider.Config{Name: "azure", Kind: provider.Azure, KeyEnv: "AZURE_OPENAI_API_KEY", BaseURL: "https://x.openai.azure.com"}, How: "AZURE_OPENAI_API_KEY"},
		}},
		"azure nowhere": {[]string{"AZURE_OPENAI_API_KEY", canary}, []detect.Found{
			{Config: provider.Config{Name: "azure", Kind: provider.Azure, KeyEnv: "AZURE_OPENAI_API_KEY"}, How: "AZURE_OPENAI_API_KEY", Problem: "AZURE_OPENAI_ENDPOINT is not set"},
		}},
		"bedrock": {[]string{"AWS_BEARER_TOKEN_BEDROCK", canary, "AWS_DEFAULT_REGION", "eu-central-1"}, []detect.Found{
			{Config: provider.Config{Name: "bedrock", Kind: provider.Bedrock, KeyEnv: "AWS_BEARER_TOKEN_BEDROCK", Region: "eu-central-1"}, How: "AWS_BEARER_TOKEN_BEDROCK"},
		}},
		"bedrock nowhere": {[]string{"AWS_BEARER_TOKEN_BEDROCK", canary}, []detect.Found{
			{Config: provider.Config{Name: "bedrock", Kind: provider.Bedrock, KeyEnv: "AWS_BEARER_TOKEN_BEDROCK"}, How: "AWS_BEARER_TOKEN_BEDROCK", Problem: "AWS_REGION is not set"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := detect.Detect(context.Background(), detect.Options{Env: env(c.env...)})
			for i := range got { // the rest of such a problem is what provider says
				if at := strings.Index(got[i].Problem, "_BASE_URL: "); at >= 0 {
					got[i].Problem = got[i].Problem[:at] + "_BASE_URL: "
				}
				if strings.Contains(fmt.Sprintf("%+v", got[i]), "canary") {
					t.Errorf("%+v holds the key", got[i])
				}
				if err := got[i].Config.Validate(); got[i].Problem == "" && err != nil {
					t.Error(err)
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestServers(t *testing.T) {
	local := func(name string, k provider.Kind, address string, models ...string) detect.Found {
		return detect.Found{Config: provider.Config{Name: name, Kind: k, BaseURL: address + "/v1"}, How: address, Local: true, Models: models}
	}
	with := func(f detect.Found, problem string) detect.Found { f.Problem = problem; return f }
	big := `{"data":[{"id":"` + strings.Repeat("a", detect.MaxBody) + `"}]}`
	for name, c := range map[string]struct {
		at   map[string]http.HandlerFunc
		env  []string
		want []detect.Found
	}{
		"nobody": {nil, nil, nil},
		"all, in order": {map[string]http.HandlerFunc{
			"127.0.0.1:8000/v1/models":  says(`{"object":"list","data":[{"id":"meta/llama","object":"model"}]}`),
			"127.0.0.1:8080/v1/models":  says(`{"data":[{"id":"b"},{"id":"a"},{"id":"a"}],"models":[{"name":"c"}]}`),
			"127.0.0.1:1234/v1/models":  says(`{"data":[{"id":"qwen"}]}`),
			"127.0.0.1:11434/api/tags":  says(`{"models":[{"name":"llama3:8b","size":1}]}`),
			"127.0.0.1:11434/v1/models": says(`{"data":[{"id":"not asked"}]}`),
		}, nil, []detect.Found{
			local("ollama", provider.Ollama, "http://127.0.0.1:11434", "llama3:8b"),
			local("lm-studio", provider.Compatible, "http://127.0.0.1:1234", "qwen"),
			local("llama-cpp", provider.Compatible, "http://127.0.0.1:8080", "a", "b"),
			local("vllm", provider.Compatible, "http://127.0.0.1:8000", "meta/llama"),
		}},
		"both addresses": {map[string]http.HandlerFunc{
			"127.0.0.1:8000/v1/models": says(`{"data":[{"id":"four"}]}`), "[::1]:8000/v1/models": says(`{"data":[{"id":"six"}]}`),
			"[::1]:8080/v1/models": says(`{"data":[{"id":"six"}]}`),
		}, nil, []detect.Found{
			local("llama-cpp", provider.Compatible, "http://[::1]:8080", "six"),
			local("vllm", provider.Compatible, "http://127.0.0.1:8000", "four"),
		}},
		"only OpenAI's format": {map[string]http.HandlerFunc{"127.0.0.1:11434/v1/models": says(`{"data":[{"id":"x"}]}`)}, nil,
			[]detect.Found{local("ollama", provider.Ollama, "http://127.0.0.1:11434", "x")}},
		"no models": {map[string]http.HandlerFunc{"127.0.0.1:11434/api/tags": says(`{"models":[]}`)}, nil,
			[]detect.Found{with(local("ollama", provider.Ollama, "http://127.0.0.1:11434"), "it lists no model; run: ollama pull MODEL")}},
		"another port": {map[string]http.HandlerFunc{"127.0.0.1:7777/api/tags": says(`{"models":[{"name":"x"}]}`)}, []string{"OLLAMA_HOST", "http://0.0.0.0:7777/"},
			[]detect.Found{local("ollama", provider.Ollama, "http://127.0.0.1:7777", "x")}},
		"elsewhere": {map[string]http.HandlerFunc{"127.0.0.1:7777/api/tags": says(`{"models":[{"name":"x"}]}`)}, []string{"OLLAMA_HOST", "192.0.2.1:7777"}, nil},
		"names that are none": {map[string]http.HandlerFunc{"127.0.0.1:8000/v1/models": says(`{"data":[{"id":"ok"},{"id":"a\u001b[31m"},{"id":""},{"id":"two words"},{}]}`)}, nil,
			[]detect.Found{local("vllm", provider.Compatible, "http://127.0.0.1:8000", "ok")}},
		"something else": {map[string]http.HandlerFunc{
			"127.0.0.1:8000/v1/models": says(`<html>hello</html>`),
			"127.0.0.1:8080/v1/models": says(`{"error":"no"}`),
			"127.0.0.1:1234/v1/models": func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, `{"data":[{"id":"x"}]}`, http.StatusUnauthorized)
			},
			"127.0.0.1:11434/api/tags": says(big),
			"[::1]:11434/api/tags":     says(`{"models":[{"name":"x"}]}` + strings.Repeat(" ", detect.MaxBody)),
			"127.0.0.1:11434/v1/models": func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://evil.org/v1/models", http.StatusFound)
			},
		}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := &machine{at: c.at}
			got := detect.Detect(context.Background(), detect.Options{Env: env(c.env...), Transport: m})
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if len(m.bad) > 0 || len(m.urls) < 8 {
				t.Errorf("asked %q, of that wrongly %q", m.urls, m.bad)
			}
			for _, f := range got {
				if err := f.Config.Validate(); err != nil || !f.Config.Loopback() {
					t.Errorf("%+v: %v", f.Config, err)
				}
			}
		})
	}
}

// A server that takes the call and says nothing, before or after its header,
// costs no more than the limit, and hides no other.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &slow{next: &machine{at: map[string]http.HandlerFunc{"127.0.0.1:8000/v1/models": says(`{"data":[{"id":"x"}]}`)}}}
		start := time.Now()
		got := detect.Detect(t.Context(), detect.Options{Transport: m})
		if took := time.Since(start); took != detect.Limit {
			t.Errorf("took %s, want %s", took, detect.Limit)
		}
		if len(got) != 1 || got[0].Config.Name != "vllm" {
			t.Errorf("got %+v", got)
		}
	})
}

type slow struct{ next http.RoundTripper }

func (s *slow) RoundTrip(r *http.Request) (*http.Response, error) {
	switch r.URL.Port() {
	case "1234":
		<-r.Context().Done()
		return nil, r.Context().Err()
	case "8080":
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(io.MultiReader(bytes.NewReader([]byte(`{"data":[`)), waiting{r.Context()}))}, nil
	}
	return s.next.RoundTrip(r)
}

type waiting struct{ ctx context.Context }

func (w waiting) Read([]byte) (int, error) { <-w.ctx.Done(); return 0, w.ctx.Err() }

func TestTransport(t *testing.T) {
	s := httptest.NewServer(says(`hello`))
	defer s.Close()
	t.Setenv("HTTP_PROXY", "http://192.0.2.1:1")
	get := func(url string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := detect.Transport().RoundTrip(req)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	if err := get(s.URL); err != nil {
		t.Error(err)
	}
	if err := get("http://192.0.2.1:1/"); !fault.Is(err, fault.Blocked) {
		t.Errorf("another machine: %v", err)
	}
	if detect.Transport().Proxy != nil {
		t.Error("it has a proxy")
	}
}

func TestChoose(t *testing.T) {
	found := func(name, how string, local bool, problem string) detect.Found {
		return detect.Found{Config: provider.Config{Name: name}, How: how, Local: local, Problem: problem}
	}
	a, o := found("anthropic", "ANTHROPIC_API_KEY", false, ""), found("openai", "OPENAI_API_KEY", false, "")
	local := found("ollama", "http://127.0.0.1:11434", true, "")
	azure := found("azure", "AZURE_OPENAI_API_KEY", false, "AZURE_OPENAI_ENDPOINT is not set")
	for _, c := range []struct {
		list         []detect.Found
		name, reason string
	}{
		{[]detect.Found{a}, "anthropic", "anthropic is used because ANTHROPIC_API_KEY is set."},
		{[]detect.Found{a, o, local}, "anthropic", "anthropic is used because ANTHROPIC_API_KEY is set; it comes before openai, ollama."},
		{[]detect.Found{azure, local}, "ollama", "ollama is used because a server answers at http://127.0.0.1:11434 and the environment holds no key that can be used."},
	} {
		got, reason, err := detect.Choose(c.list)
		if err != nil || got.Config.Name != c.name || reason != c.reason {
			t.Errorf("got %s %q, %v", got.Config.Name, reason, err)
		}
	}
	for _, list := range [][]detect.Found{nil, {azure}} {
		_, _, err := detect.Choose(list)
		hint := fault.As(err).Hint
		ways := []string{"ANTHROPIC_API_KEY", "ollama", "agents provider add"}
		if fault.Exit(err) != 8 || fault.CodeOf(err) != "NoProvider" || slices.ContainsFunc(ways, func(w string) bool { return !strings.Contains(hint, w) }) {
			t.Errorf("got %v (%s)", err, hint)
		}
		if len(list) > 0 && !strings.Contains(err.Error(), "azure (AZURE_OPENAI_API_KEY): AZURE_OPENAI_ENDPOINT is not set") {
			t.Errorf("the problem is not told: %v", err)
		}
	}
}
