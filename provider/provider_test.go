package provider_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/provider"
)

func TestParse(t *testing.T) {
	got, err := provider.Parse("p.yaml", []byte(`name: work
kind: openai
base_url: https://gateway.example.com/v1/
api: responses
key_env: GATEWAY_KEY
limits: {requests_per_minute: 60, tokens_per_minute: 100000}
models: [gpt-5, team/own]
`))
	want := provider.Config{
		Name: "work", Kind: provider.OpenAI, BaseURL: "https://gateway.example.com/v1/", API: provider.Responses, KeyEnv: "GATEWAY_KEY",
		Limits: provider.Limits{RequestsPerMinute: 60, TokensPerMinute: 100000}, Models: []string{"gpt-5", "team/own"},
	}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
}

func TestParseAccepts(t *testing.T) {
	for _, text := range []string{
		"kind: anthropic",
		"kind: openai\nkey_env: _k1",
		"kind: openai\napi: chat",
		"kind: gemini\nkeyring: true",
		"kind: openrouter\nkey_file: ~/.config/openrouter.key",
		"kind: azure\nbase_url: https://x.openai.azure.com\napi: responses",
		"kind: bedrock\nregion: eu-central-1",
		"kind: bedrock\nregion: us-gov-west-1",
		"kind: bedrock\nbase_url: https://bedrock-runtime.us-east-1.amazonaws.com",
		"kind: ollama",
		"kind: ollama\nbase_url: http://[::1]:11434/v1",
		"kind: openai-compatible\nbase_url: http://localhost:8000/v1",
		"kind: openai-compatible\nbase_url: http://127.9.9.9:8000/v1",
		"kind: openai-compatible\nbase_url: http://gpu_box.lan:8000/v1\ninsecure: true",
		"kind: openai-compatible\nbase_url: https://gateway.example.com/v1/0123456789abcdef0123456789abcdef/openai",
		"kind: scripted",
		"kind: replay",
		"kind: ollama # the key: none is needed",
		"kind: ollama\nkey_file: /nix/store/0c9f3yp3b7p0xcbbgrbj9yy9vfgi0h1r-key",
		"kind: ollama\nmodels: [\"llama3@sha256:0123456789abcdef0123456789abcdef0123456789abcdef\", task-0123456789abcdefgh]",
	} {
		if _, err := provider.Parse("p.yaml", []byte("name: p\n"+text+"\n")); err != nil {
			t.Errorf("%s\n%v", text, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"name: 4o\nkind: ollama":                              `p.yaml:1: "4o" is not a provider's name`,
		"name: -a\nkind: ollama":                              `p.yaml:1: "-a" is not a provider's name`,
		"name: " + strings.Repeat("a", 41) + "\nkind: ollama": `p.yaml:1: "aaaaaaaa`,
		"name: p\nkind: openai\nkey_env: 1KEY":                "p.yaml:3: provider p: key_env is not the name",
		"name: p\nkind: bedrock\nregion: eu-central-100":      `p.yaml:3: provider p: "eu-central-100" is not a region`,
		"":                                                                                  "p.yaml:1: the file is empty",
		"kind: ollama":                                                                      "p.yaml:1: give the provider a name",
		"name: Work\nkind: ollama":                                                          `p.yaml:1: "Work" is not a provider's name`,
		"name: a/b\nkind: ollama":                                                           `p.yaml:1: "a/b" is not a provider's name`,
		"name: a-\nkind: ollama":                                                            `p.yaml:1: "a-" is not a provider's name`,
		"kind: ollama\nname: local":                                                         "p.yaml:2: the name local is taken",
		"name: builtin\nkind: ollama":                                                       "p.yaml:1: the name builtin is taken",
		"name: p":                                                                           "p.yaml:1: provider p: give a kind",
		"name: p\nkind: antropic":                                                           `p.yaml:2: provider p: there is no kind "antropic"`,
		"name: p\nkind: ollama\nurl: x":                                                     "p.yaml:3: unknown key \"url\"",
		"name: p\nkind: ollama\nkind: x":                                                    "p.yaml:3",
		"name: p\nkind: gemini\napi: chat":                                                  "p.yaml:3: provider p: api is for the kinds openai and azure",
		"name: p\nkind: openai\napi: v2":                                                    `p.yaml:3: provider p: api "v2" is neither`,
		"name: p\nkind: openai\nregion: x":                                                  "p.yaml:3: provider p: region is for the kind bedrock",
		"name: p\nkind: bedrock\nregion: x":                                                 `p.yaml:3: provider p: "x" is not a region`,
		"name: p\nkind: bedrock":                                                            "p.yaml:2: provider p: give a region",
		"name: p\nkind: azure":                                                              "p.yaml:2: provider p: a provider of kind azure needs a base_url",
		"name: p\nkind: openai-compatible":                                                  "p.yaml:2: provider p: a provider of kind openai-compatible needs a base_url",
		"name: p\nkind: scripted\nbase_url: https://x.org":                                  "p.yaml:3: provider p: a provider of kind scripted has no address",
		"name: p\nkind: scripted\ninsecure: true":                                           "p.yaml:3: provider p: a provider of kind scripted has no address",
		"name: p\nkind: replay\nkey_env: X":                                                 "p.yaml:3: provider p: a provider of kind replay takes no key",
		"name: p\nkind: openai\nbase_url: ftp://x.org":                                      "p.yaml:3: provider p: base_url does not start with",
		"name: p\nkind: openai\nbase_url: api.openai.com/v1":                                "p.yaml:3: provider p: base_url does not start with",
		"name: p\nkind: openai\nbase_url: 'http://%zz'":                                     "p.yaml:3: provider p: base_url is not a URL",
		"name: p\nkind: openai\nbase_url: https:///v1":                                      "p.yaml:3: provider p: base_url names no host",
		"name: p\nkind: openai\nbase_url: 'https://a b/v1'":                                 "p.yaml:3: provider p: base_url is not a URL",
		"name: p\nkind: openai\nbase_url: https://x..org/v1":                                "p.yaml:3: provider p: base_url names no host",
		"name: p\nkind: openai\nbase_url: https://x.org:70000":                              "p.yaml:3: provider p: base_url has a port",
		"name: p\nkind: openai\nbase_url: https://x.org:0":                                  "p.yaml:3: provider p: base_url has a port",
		"name: p\nkind: openai\nbase_url: https://me:hunter2@x.org":                         "p.yaml:3: provider p: base_url holds a user",
		"name: p\nkind: openai\nbase_url: https://x.org/v1?k=v":                             "p.yaml:3: provider p: base_url holds a query",
		"name: p\nkind: openai\nbase_url: 'https://x.org/v1#a'":                             "p.yaml:3: provider p: base_url holds a query",
		"name: p\nkind: openai\nbase_url: http://x.org/v1":                                  `p.yaml:3: provider p: http to "x.org" would send`,
		"name: p\nkind: openai\nbase_url: http://localhost.x.org/v1":                        `p.yaml:3: provider p: http to "localhost.x.org"`,
		"name: p\nkind: openai\nbase_url: http://127.0.0.1.x.org/v1":                        `p.yaml:3: provider p: http to "127.0.0.1.x.org"`,
		"name: p\nkind: openai\nbase_url: http://0.0.0.0/v1":                                `p.yaml:3: provider p: http to "0.0.0.0"`,
		"name: p\nkind: openai\nbase_url: http://192.168.1.2/v1":                            `p.yaml:3: provider p: http to "192.168.1.2"`,
		"name: p\nkind: openai\nkey_env: MY-KEY":                                            "p.yaml:3: provider p: key_env is not the name",
		"name: p\nkind: openai\nkey_file: keys/openai":                                      "p.yaml:3: provider p: key_file is not an absolute path",
		"name: p\nkind: openai\nkey_file: \"/a\\nb\"":                                       "p.yaml:3: provider p: key_file holds a control character",
		"name: p\nkind: openai\nkey_env: A\nkey_file: /b":                                   "p.yaml:4: provider p: key_env and key_file: name one place",
		"name: p\nkind: openai\nkey_env: A\nkeyring: true":                                  "p.yaml:4: provider p: key_env and keyring: name one place",
		"name: p\nkind: openai\nlimits:\n  requests_per_minute: -1":                         "p.yaml:4: provider p: requests_per_minute is negative",
		"name: p\nkind: openai\nlimits:\n  requests_per_minute: 1\n  tokens_per_minute: -1": "p.yaml:5: provider p: tokens_per_minute is negative",
		"name: p\nkind: openai\nlimits: {tokens_per_minute: 1.5}":                           "p.yaml:3: `1.5` is not a whole number",
		"name: p\nkind: openai\nmodels: []":                                                 "p.yaml:3: provider p: models is empty",
		"name: p\nkind: openai\nmodels:\n- a\n- b c":                                        `p.yaml:5: provider p: the model "b c" holds a space`,
		"name: p\nkind: openai\nmodels:\n- a\n- ''":                                         "p.yaml:5: provider p: the name of the model is empty",
		"name: p\nkind: openai\nmodels:\n- a\n- b\n- a":                                     `p.yaml:6: provider p: the model "a" is listed twice`,
	} {
		_, err := provider.Parse("p.yaml", []byte(text))
		if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// A configuration is kept, shown and copied: no key may get into one, nor into
// the error that says so.
func TestLiteralKeys(t *testing.T) {
	for text, line := range map[string]string{
		"name: p\nkind: openai\napi_key: CANARY":                                                "3",
		"name: p\nkind: openai\nkey: CANARY":                                                    "3",
		"name: p\nkind: openai\nAPI-Key: CANARY":                                                "3",
		"name: p\nkind: openai\nopenai_api_key: CANARY":                                         "3",
		"name: p\nkind: openai\nheaders: {Authorization: CANARY}":                               "3",
		"{name: p, kind: openai, 'token': CANARY}":                                              "1",
		"name: p\nkind: openai\npassword:\n  CANARY":                                            "3",
		"name: p\nkind: openai\nkey_env: sk-proj-CANARY0123456789":                              "3",
		"name: p\nkind: openai\nkey_file: sk-ant-api03-CANARY0123456789":                        "3",
		"name: p\nkind: openai\nkey_env: CANARYCANARYCANARY0123456789abcdef":                    "3",
		"name: p\nkind: gemini\nbase_url: https://x.org/v1?key=AIzaCANARYCANARYCANARYCANARY000": "3",
		"name: p\nkind: openai\nmodels: [gsk_CANARYCANARYCANARY]":                               "3",
		"# use sk-proj-CANARY0123456789\nname: p\nkind: openai":                                 "1",
		"name: p\nkind: openai # Bearer CANARYCANARY":                                           "2",
		"name: p\nkind: openai\nkey_env: \"s\\x6b-proj-CANARY0123456789\"":                      "3",
		"name: p\nkind: openai\nmodels:\n- a\n- \"s\\x6b-proj-CANARY0123456789\"":               "5",
		"name: p\nkind: \"s\\x6b-proj-CANARY0123456789\"":                                       "2",
		"name: \"s\\x6b-proj-CANARY0123456789\"\nkind: openai":                                  "1",
		"name: p\nkind: openai\nbase_url: https://me:CANARY@x.org":                              "3",
		"name: p\nkind: openai\nbase_url: '://me:CANARY@x.org'":                                 "3",
		"name: p\nkind: openai\nkey_env: CANARY-CANARY":                                         "3",
	} {
		_, err := provider.Parse("p.yaml", []byte(text))
		f := fault.As(err)
		if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), "p.yaml:"+line+": ") {
			t.Errorf("%s\ngot %v, want line %s", text, err, line)
			continue
		}
		if strings.Contains(err.Error()+f.Hint, "CANARY") {
			t.Errorf("%s\nthe error repeats it: %v (%s)", text, err, f.Hint)
		}
	}
	err := provider.Config{Name: "p", Kind: provider.OpenAI, KeyEnv: "sk-proj-CANARY0123456789"}.Validate()
	if fault.CodeOf(err) != "LiteralKey" || !strings.Contains(err.Error(), "never stored") || !strings.Contains(fault.As(err).Hint, "key_env: NAME") {
		t.Errorf("got %v", err)
	}
}

// The usual key of a kind goes to the hosts of that kind and nowhere else.
func TestKeyEnvs(t *testing.T) {
	for _, c := range []struct {
		c     provider.Config
		want  []string
		needs bool
	}{
		{provider.Config{Kind: provider.Anthropic}, []string{"ANTHROPIC_API_KEY"}, true},
		{provider.Config{Kind: provider.Anthropic, BaseURL: "https://api.anthropic.com/"}, []string{"ANTHROPIC_API_KEY"}, true},
		{provider.Config{Kind: provider.Anthropic, BaseURL: "https://API.anthropic.com"}, []string{"ANTHROPIC_API_KEY"}, true},
		{provider.Config{Kind: provider.Anthropic, BaseURL: "http://api.anthropic.com", Insecure: true}, nil, true},
		{provider.Config{Kind: provider.Anthropic, BaseURL: "https://api.anthropic.com.evil.org"}, nil, true},
		{provider.Config{Kind: provider.Anthropic, BaseURL: "https://evil-api.anthropic.com"}, nil, true},
		{provider.Config{Kind: provider.Anthropic, BaseURL: "https://evilapi.anthropic.com"}, nil, true},
		{provider.Config{Kind: provider.Anthropic, BaseURL: "https://evil.org", KeyEnv: "X"}, []string{"X"}, true},
		{provider.Config{Kind: provider.Gemini}, []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, true},
		{provider.Config{Kind: provider.OpenAI, KeyFile: "/k"}, nil, true},
		{provider.Config{Kind: provider.OpenAI, KeyRing: true}, nil, true},
		{provider.Config{Kind: provider.OpenAI, BaseURL: "http://127.0.0.1:1/v1"}, nil, false},
		{provider.Config{Kind: provider.OpenAI, BaseURL: "http://[::ffff:127.0.0.1]:1/v1"}, nil, false},
		{provider.Config{Kind: provider.Azure, BaseURL: "https://x.openai.azure.com"}, []string{"AZURE_OPENAI_API_KEY"}, true},
		{provider.Config{Kind: provider.Azure, BaseURL: "https://evilazure.com"}, nil, true},
		{provider.Config{Kind: provider.Bedrock, Region: "eu-central-1"}, []string{"AWS_BEARER_TOKEN_BEDROCK"}, true},
		{provider.Config{Kind: provider.Bedrock, Region: "cn-north-1"}, []string{"AWS_BEARER_TOKEN_BEDROCK"}, true},
		{provider.Config{Kind: provider.Ollama}, nil, false},
		{provider.Config{Kind: provider.Ollama, KeyEnv: "X"}, []string{"X"}, true},
		{provider.Config{Kind: provider.Compatible, BaseURL: "https://x.org"}, nil, false},
		{provider.Config{Kind: provider.Scripted}, nil, false},
		{provider.Config{Kind: "?"}, nil, false},
	} {
		if d := cmp.Diff(c.want, c.c.KeyEnvs()); d != "" {
			t.Errorf("%+v\n%s", c.c, d)
		}
		if got := c.c.NeedsKey(); got != c.needs {
			t.Errorf("%+v needs a key: got %v", c.c, got)
		}
	}
}

func TestFilled(t *testing.T) {
	for _, c := range []struct {
		c        provider.Config
		url, api string
	}{
		{provider.Config{Kind: provider.OpenAI}, "https://api.openai.com/v1", provider.Chat},
		{provider.Config{Kind: provider.OpenAI, API: provider.Responses, BaseURL: "https://x.org/v1/"}, "https://x.org/v1", provider.Responses},
		{provider.Config{Kind: provider.Bedrock, Region: "eu-west-1"}, "https://bedrock-runtime.eu-west-1.amazonaws.com", ""},
		{provider.Config{Kind: provider.Bedrock, Region: "cn-north-1"}, "https://bedrock-runtime.cn-north-1.amazonaws.com.cn", ""},
		{provider.Config{Kind: provider.Ollama}, "http://127.0.0.1:11434/v1", ""},
		{provider.Config{Kind: provider.Scripted}, "", ""},
	} {
		if got := c.c.Filled(); got.BaseURL != c.url || got.API != c.api {
			t.Errorf("%+v: got %s %s", c.c, got.BaseURL, got.API)
		}
	}
}

// Every row of the table makes a provider that passes its own checks.
func TestKinds(t *testing.T) {
	seen := map[provider.Kind]bool{}
	for _, in := range provider.Kinds() {
		if seen[in.Kind] {
			t.Errorf("%s is there twice", in.Kind)
		}
		seen[in.Kind] = true
		c := provider.Config{Name: string(in.Kind), Kind: in.Kind}
		switch in.Kind {
		case provider.Azure, provider.Compatible:
			c.BaseURL = "https://x.openai.azure.com"
		case provider.Bedrock:
			c.Region = "us-east-1"
		}
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
		if in.NeedsKey != (len(c.KeyEnvs()) > 0) {
			t.Errorf("%s: needs a key %v, from %v", in.Kind, in.NeedsKey, c.KeyEnvs())
		}
	}
	if len(seen) != 10 {
		t.Errorf("%d kinds, want 10", len(seen))
	}
}
