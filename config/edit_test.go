package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cleveragents/agents/config"
	"github.com/cleveragents/agents/fault"
)

func TestSetChangesOneLine(t *testing.T) {
	for _, c := range []struct{ name, in, key, value, want string }{
		{"a new file", "", config.Format, "json", "[core]\nformat = \"json\"\n"},
		{"only comments", "# mine\n", config.Format, "json", "# mine\n\n[core]\nformat = \"json\"\n"},
		{"a new section", "[core]\ncolor = \"auto\"\n", config.MaxCost, "2.50", "[core]\ncolor = \"auto\"\n\n[plan]\nmax-cost = 2.5\n"},
		{"no end of line", "[core]\ncolor = \"auto\"", config.Format, "json", "[core]\ncolor = \"auto\"\nformat = \"json\"\n"},
		{
			"the value only", "# a\n[core] # b\n  format  =  'json'   # why\n# c\ncolor = \"auto\"\n", config.Format, "yaml",
			"# a\n[core] # b\n  format  =  \"yaml\"   # why\n# c\ncolor = \"auto\"\n",
		},
		{
			"below the last of its section", "[core]\n  color = \"auto\" # x\n\n# the log\n[log]\nlevel = \"info\"\n", config.Format, "json",
			"[core]\n  color = \"auto\" # x\n  format = \"json\"\n\n# the log\n[log]\nlevel = \"info\"\n",
		},
		{"an empty section", "[plan] # limits\n\n[log]\n", config.MaxCost, "none", "[plan] # limits\nmax-cost = \"none\"\n\n[log]\n"},
		{"dotted keys", "core.color = \"auto\"\n[log]\n", config.Format, "json", "core.color = \"auto\"\ncore.format = \"json\"\n[log]\n"},
		{"quoted keys", "\"core\".\"color\" = \"auto\"\n", config.Format, "json", "\"core\".\"color\" = \"auto\"\n\"core\".format = \"json\"\n"},
		{"another kind of line end", "[core]\r\ncolor = \"auto\"\r\n", config.Format, "json", "[core]\r\ncolor = \"auto\"\r\nformat = \"json\"\r\n"},
		{"a text of several lines", "[log]\nfile = '''\n/a'''\nlevel = \"info\"\n", config.LogFile, "/b c\"d\\e", "[log]\nfile = \"/b c\\\"d\\\\e\"\nlevel = \"info\"\n"},
		{"a number", "[plan]\nmax-tool-calls = 0x10\n", config.MaxToolCalls, "+8", "[plan]\nmax-tool-calls = 8\n"},
	} {
		got, kept, err := config.Set("c.toml", []byte(c.in), config.User, c.key, c.value)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d := cmp.Diff(c.want, string(got)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		entries, err := config.Parse("c.toml", got, config.User)
		if s := (config.Settings{}).Over(entries...); err != nil || s.Text(c.key) != kept {
			t.Errorf("%s: reads as %q, %v, want %q", c.name, s.Text(c.key), err, kept)
		}
	}
}

func TestUnset(t *testing.T) {
	const in = "# a\n[core]\n# why\nformat = \"json\" # b\ncolor = \"auto\"\n"
	got, was, err := config.Unset("c.toml", []byte(in), config.User, config.Format)
	if err != nil || !was || string(got) != "# a\n[core]\n# why\ncolor = \"auto\"\n" {
		t.Errorf("%q, %v, %v", got, was, err)
	}
	got, was, err = config.Unset("c.toml", got, config.User, config.Format)
	if err != nil || was || !strings.Contains(string(got), "color") {
		t.Errorf("the second time: %q, %v, %v", got, was, err)
	}
	if got, was, err := config.Unset("c", []byte("[core]\nformat = \"json\""), config.User, config.Format); err != nil || !was || string(got) != "[core]\n" {
		t.Errorf("the last line: %q, %v, %v", got, was, err)
	}
}

func TestEditsAreRefused(t *testing.T) {
	secret := "sk" + "-test-" + strings.Repeat("aB3", 10)
	for _, c := range []struct {
		in, key, value, want string
		layer                config.Layer
	}{
		{"", "core.formt", "json", "unknown key core.formt", config.User},
		{"", config.Format, "xml", "core.format: \"xml\" is not one of", config.User},
		{"", config.CurrentProject, "shop", "core.project is not kept", config.User},
		{"", config.Format, "json", "core.format cannot be set for one project", config.Project},
		{"", config.LogFile, secret, "log.file: this looks like a secret", config.User},
		{"", "openai.api-key", secret, "openai.api-key: this looks like a secret", config.User},
		{"[core]\ncolour = 1\n", config.Format, "json", "c.toml:2: unknown key core.colour", config.User},
	} {
		_, _, err := config.Set("c.toml", []byte(c.in), c.layer, c.key, c.value)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
			t.Errorf("set %s %q: %v, want %s", c.key, c.value, err, c.want)
		}
	}
	full := "#" + strings.Repeat("x", config.MaxBytes-2) + "\n"
	if _, _, err := config.Set("c.toml", []byte(full), config.User, config.Format, "json"); err == nil || !strings.Contains(err.Error(), "cannot be changed by itself") {
		t.Errorf("a text that is too large then: %.200v", err)
	}
	if _, _, err := config.Unset("c.toml", []byte("[core]\ncolour = 1\n"), config.User, config.Format); err == nil {
		t.Error("a text with an error was changed")
	}
	if _, _, err := config.Unset("c.toml", nil, config.User, "core.formt"); fault.CodeOf(err) != "UnknownKey" {
		t.Errorf("unset of an unknown key: %v", err)
	}
}

// value draws a value that the key takes.
func value(t *rapid.T, k config.Key) string {
	if k.None && rapid.Bool().Draw(t, "none") {
		return config.None
	}
	switch k.Type {
	case config.Choice:
		return rapid.SampledFrom(k.Values).Draw(t, "choice")
	case config.Whole:
		return fmt.Sprint(rapid.IntRange(int(k.Least), int(k.Most)).Draw(t, "whole"))
	case config.Money:
		return fmt.Sprint(float64(rapid.IntRange(0, 1e6).Draw(t, "cents")) / 100)
	case config.Span:
		return fmt.Sprintf("%ds", rapid.IntRange(int(k.Least), int(k.Most)).Draw(t, "seconds"))
	case config.Hosts:
		return rapid.SampledFrom([]string{"none", "any", "a.org,*.b.org:8", "10.0.0.1"}).Draw(t, "hosts")
	case config.Paths:
		return "/a b:/" + rapid.StringMatching(`[a-z"\\'# =ü]{1,20}`).Draw(t, "path")
	case config.Path:
		return "/" + rapid.StringMatching(`[a-z"\\'# =ü]{1,20}`).Draw(t, "path")
	}
	return "shop"
}

// TestEditsKeepTheRest is the law of Set and Unset: after any of them the text
// says what a map would, and every comment is still there.
func TestEditsKeepTheRest(t *testing.T) {
	var keys []config.Key
	for _, k := range config.Keys() {
		if k.May(config.User) {
			keys = append(keys, k)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.SampledFrom([]string{"", "# note 1\n", "# note 1\n[log] # note 2\n\n# note 3\n[core]\n", "# note 1\r\ncore.color = \"auto\"\r\n# note 2\r\n\r\n"}).Draw(t, "start"))
		notes := strings.Count(string(text), "# note")
		model := map[string]string{}
		if strings.Contains(string(text), "core.color") {
			model[config.Color] = "auto"
		}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			k := rapid.SampledFrom(keys).Draw(t, "key")
			var err error
			if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
				var was bool
				text, was, err = config.Unset("c", text, config.User, k.Name)
				if _, had := model[k.Name]; had != was {
					t.Fatalf("unset %s: %v, want %v", k.Name, was, had)
				}
				delete(model, k.Name)
			} else {
				text, model[k.Name], err = config.Set("c", text, config.User, k.Name, value(t, k))
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", k.Name, err, text)
			}
			entries, err := config.Parse("c", text, config.User)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			got := map[string]string{}
			for _, e := range entries {
				got[e.Key] = e.Value
			}
			if d := cmp.Diff(model, got); d != "" {
				t.Fatalf("%s\n%s", d, text)
			}
			if strings.Count(string(text), "# note") != notes {
				t.Fatalf("a comment is gone:\n%s", text)
			}
		}
	})
}

// FuzzParse looks for panics, for entries without a place, and for texts that an
// edit spoils.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"[core]\nformat = \"json\"\n", "core.format='plain'\n[log]\nfile='''\n/a'''", "[[core]]\n", "a={b=[1,{c=2}]}", "[core]\r\nformat = 1\r\n",
		"\ufeff[core]\n", "[plan]\nmax-cost = 1e3\n", "\"core\".\"format\" = \"json\" # x", "[core", "=", "x = 1979-05-27T07:32:00Z",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, layer := range []config.Layer{config.User, config.Tree, config.Project} {
			entries, err := config.Parse("c", data, layer)
			if err != nil {
				if fault.KindOf(err) != fault.Invalid || len(err.Error()) > 1000 {
					t.Fatalf("%v", err)
				}
				continue
			}
			for _, e := range entries {
				k, ok := config.Find(e.Key)
				if got, err := k.Check(e.Value); !ok || !k.May(layer) || err != nil || got != e.Value || e.Origin.Line < 1 {
					t.Fatalf("%v: %v", e, err)
				}
			}
		}
		if out, kept, err := config.Set("c", data, config.User, config.Format, "yaml"); err == nil {
			entries, err := config.Parse("c", out, config.User)
			if s := (config.Settings{}).Over(entries...); err != nil || s.Text(config.Format) != kept {
				t.Fatalf("%q became %q: %v", data, out, err)
			}
		}
	})
}
