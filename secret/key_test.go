package secret_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"go.yaml.in/yaml/v3"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/provider"
	"github.com/cleveragents/agents/secret"
)

const canary = "sk-canary-0123456789"

func env(pairs ...string) func(string) (string, bool) {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) (string, bool) { v, ok := m[name]; return v, ok }
}

func key(t testing.TB, name, value string) secret.Key {
	t.Helper()
	k, err := secret.New(secret.Options{Env: env(name, value)}).
		Get(context.Background(), provider.Config{Name: "p", Kind: provider.OpenAI, KeyEnv: name})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// T31: a key is not shown by printing, logging or encoding what holds it, not
// even from within a private field, where no method is asked.
func TestKeyIsNotShown(t *testing.T) {
	k := key(t, "MY_KEY", canary)
	type public struct{ Key secret.Key }
	type private struct {
		key  secret.Key
		keys map[string]secret.Key
		ptr  *secret.Key
	}
	holders := []any{k, &k, public{k}, &public{k}, private{k, map[string]secret.Key{"a": k}, &k}, []secret.Key{k}, map[string]any{"k": k}}
	for _, h := range holders {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p", "%10.30s", "%T"} {
			check(t, "fmt "+verb, fmt.Sprintf(verb, h))
		}
		if b, err := json.Marshal(h); err == nil {
			check(t, "json", string(b))
		}
		if b, err := jsonv2.Marshal(h); err == nil {
			check(t, "jsonv2", string(b))
		}
		if b, err := yaml.Marshal(h); err == nil {
			check(t, "yaml", string(b))
		}
		if b, err := xml.Marshal(h); err == nil {
			check(t, "xml", string(b))
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "k", h)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "k", h)
		check(t, "slog", log.String())
	}
	check(t, "error", fmt.Errorf("x: %v", k).Error())

	const shown = "[redacted MY_KEY]"
	b, err := json.Marshal(public{k})
	if err != nil || string(b) != `{"Key":"`+shown+`"}` {
		t.Errorf("json gives %s, %v", b, err)
	}
	text, err := k.MarshalText()
	if err != nil || string(text) != shown {
		t.Errorf("text gives %s, %v", text, err)
	}
	for _, got := range []string{k.String(), k.GoString(), fmt.Sprintf("%d", k), k.LogValue().String()} {
		if got != shown {
			t.Errorf("got %s, want %s", got, shown)
		}
	}
	if k.Reveal() != canary || k.Name() != "MY_KEY" || k.Empty() {
		t.Errorf("got %s, %v", k.Name(), k.Empty())
	}
	var none secret.Key
	if none.Reveal() != "" || !none.Empty() || none.String() != "[no key]" {
		t.Errorf("no key reads %q", none.String())
	}
}

func check(t *testing.T, how, text string) {
	t.Helper()
	for _, c := range []string{"canary", fmt.Sprintf("%x", "canary"), fmt.Sprintf("%X", "canary"), "[99 97 110"} {
		if strings.Contains(text, c) {
			t.Errorf("%s shows it: %s", how, text)
		}
	}
}

func TestGetFromEnvironment(t *testing.T) {
	home := provider.Config{Name: "work", Kind: provider.Gemini}
	for name, c := range map[string]struct {
		config provider.Config
		env    []string
		key    string // name=value
		kind   fault.Kind
		text   string
	}{
		"usual":          {home, []string{"GEMINI_API_KEY", canary}, "GEMINI_API_KEY=" + canary, 0, ""},
		"second":         {home, []string{"GEMINI_API_KEY", " ", "GOOGLE_API_KEY", canary}, "GOOGLE_API_KEY=" + canary, 0, ""},
		"first of two":   {home, []string{"GEMINI_API_KEY", canary, "GOOGLE_API_KEY", "other-key"}, "GEMINI_API_KEY=" + canary, 0, ""},
		"trimmed":        {home, []string{"GEMINI_API_KEY", canary + "\n"}, "GEMINI_API_KEY=" + canary, 0, ""},
		"named":          {provider.Config{Name: "w", Kind: provider.OpenAI, KeyEnv: "X"}, []string{"X", canary, "OPENAI_API_KEY", "other-key"}, "X=" + canary, 0, ""},
		"none":           {home, nil, "", fault.Unavailable, "provider work has no key: GEMINI_API_KEY or GOOGLE_API_KEY is not set"},
		"named, none":    {provider.Config{Name: "w", Kind: provider.OpenAI, KeyEnv: "X"}, []string{"OPENAI_API_KEY", canary}, "", fault.Unavailable, "provider w has no key: X is not set"},
		"elsewhere":      {provider.Config{Name: "w", Kind: provider.OpenAI, BaseURL: "https://x.org/v1"}, []string{"OPENAI_API_KEY", canary}, "", fault.Unavailable, "provider w has no key: its address is https://x.org/v1, and OPENAI_API_KEY is only for openai's own"},
		"two words":      {home, []string{"GEMINI_API_KEY", canary + " b"}, "", fault.Denied, "the variable GEMINI_API_KEY is not a key: it holds a space"},
		"not ASCII":      {home, []string{"GEMINI_API_KEY", canary + "é"}, "", fault.Denied, "the variable GEMINI_API_KEY is not a key: it holds"},
		"too long":       {home, []string{"GEMINI_API_KEY", canary + strings.Repeat("a", secret.MaxKey)}, "", fault.Denied, "the variable GEMINI_API_KEY is not a key: it is longer"},
		"none needed":    {provider.Config{Name: "o", Kind: provider.Ollama}, []string{"OPENAI_API_KEY", canary}, "", 0, ""},
		"loopback":       {provider.Config{Name: "o", Kind: provider.OpenAI, BaseURL: "http://127.0.0.1:1/v1"}, []string{"OPENAI_API_KEY", canary}, "", 0, ""},
		"local, but so":  {provider.Config{Name: "o", Kind: provider.Ollama, KeyEnv: "X"}, nil, "", fault.Unavailable, "provider o has no key: X is not set"},
		"no environment": {home, []string{}, "", fault.Unavailable, "provider work has no key"},
	} {
		t.Run(name, func(t *testing.T) {
			o := secret.Options{}
			if c.env != nil {
				o.Env = env(c.env...)
			}
			k, err := secret.New(o).Get(context.Background(), c.config)
			if c.text == "" {
				got := ""
				if !k.Empty() {
					got = k.Name() + "=" + k.Reveal()
				}
				if err != nil || got != c.key {
					t.Errorf("got %s, %v, want %s", got, err, c.key)
				}
				return
			}
			f := fault.As(err)
			if !fault.Is(err, c.kind) || !strings.HasPrefix(err.Error(), c.text) || f.Hint == "" || !k.Empty() {
				t.Errorf("got %v %v, want %v %s", fault.KindOf(err), err, c.kind, c.text)
			}
			check(t, "the error", err.Error()+f.Hint)
			if c.kind == fault.Unavailable && !(strings.Contains(f.Hint, "keyring") && strings.Contains(f.Hint, "key_file") && f.Code == "NoKey") {
				t.Errorf("the hint does not name the ways out: %s", f.Hint)
			}
		})
	}
}
