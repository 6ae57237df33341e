package config_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/config"
	"github.com/cleveragents/agents/fault"
)

func TestTableIsWellFormed(t *testing.T) {
	seen, vars := map[string]bool{}, map[string]bool{}
	for _, k := range config.Keys() {
		if strings.Count(k.Name, ".") != 1 || strings.ToLower(k.Name) != k.Name || seen[k.Name] {
			t.Errorf("%s is not section.name, or there twice", k.Name)
		}
		seen[k.Name] = true
		if k.Env != "" && vars[k.Env] {
			t.Errorf("%s: another key has the variable %s", k.Name, k.Env)
		}
		vars[k.Env] = true
		if !strings.HasSuffix(k.Doc, ".") || k.Wants() == "" || len(k.Layers) == 0 {
			t.Errorf("%s: it is not explained, or nobody may set it", k.Name)
		}
		if k.May(config.Default) || !k.May(config.User) && k.Instead == "" {
			t.Errorf("%s: how is it set?", k.Name)
		}
		if k.Default != "" {
			if got, err := k.Check(k.Default); err != nil || got != k.Default {
				t.Errorf("%s: the default is read as %q, %v", k.Name, got, err)
			}
		}
		if err := config.Unknown(k.Name); !strings.Contains(err.Error(), "unknown key "+k.Name) {
			t.Errorf("%s sounds like a secret: %v", k.Name, err)
		}
	}
}

// T15: whatever key is added, somebody has to decide here whether a hostile
// project may lower it; the rest may not be set by its files at all.
func TestTheFilesOfAProjectCannotWiden(t *testing.T) {
	lower := []string{config.MaxCost, config.MaxToolCalls}
	for _, k := range config.Keys() {
		section, name, _ := strings.Cut(k.Name, ".")
		value := map[config.Type]string{config.Whole: "7", config.Money: "7"}[k.Type]
		if value == "" {
			value = `"` + k.Default + `"`
		}
		text := "# theirs\n[" + section + "]\n" + name + " = " + value + "\n"
		entries, err := config.Parse("p/.agents/config.toml", []byte(text), config.Tree)
		if !slices.Contains(lower, k.Name) {
			if fault.KindOf(err) != fault.Invalid || !strings.HasPrefix(err.Error(), "p/.agents/config.toml:3: ") {
				t.Errorf("%s: %v", k.Name, err)
			}
			if _, err := (config.Settings{}).Narrow([]config.Entry{{Key: k.Name, Value: k.Default}}); !fault.Is(err, fault.Invalid) {
				t.Errorf("%s: Narrow took it: %v", k.Name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		mine := func(v string) config.Settings {
			return config.Settings{}.Over(config.Entry{Key: k.Name, Value: v, Origin: config.Origin{Layer: config.User, File: "mine", Line: 2}})
		}
		for _, c := range []struct {
			mine, want string
			ok         bool
		}{{"8", "7", true}, {"7", "7", true}, {"none", "7", true}, {"6", "", false}, {"0", "", false}} {
			got, err := mine(c.mine).Narrow(entries)
			if (err == nil) != c.ok || c.ok && got.Text(k.Name) != c.want {
				t.Errorf("%s: theirs 7, mine %s: %s, %v", k.Name, c.mine, got.Text(k.Name), err)
			}
			if !c.ok && (!fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "config.toml:3") || !strings.Contains(err.Error(), "mine:2")) {
				t.Errorf("%s: %v", k.Name, err)
			}
		}
		if _, err := config.Parse("f", []byte("["+section+"]\n"+name+" = \"none\"\n"), config.Tree); err != nil {
			t.Errorf("none is a value: %v", err)
		}
		if _, err := mine("6").Narrow([]config.Entry{{Key: k.Name, Value: config.None}}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: their none lifts mine: %v", k.Name, err)
		}
		two, err := mine("none").Narrow(entries, []config.Entry{{Key: k.Name, Value: "3", Origin: config.Origin{Layer: config.Tree}}})
		if err != nil || two.Text(k.Name) != "3" {
			t.Errorf("%s: of two files: %s, %v", k.Name, two.Text(k.Name), err)
		}
		// What the person says for this project or this run is stronger.
		over := two.Over(config.Entry{Key: k.Name, Value: "50", Origin: config.Origin{Layer: config.Env}})
		if over.Text(k.Name) != "50" {
			t.Errorf("%s: the environment says 50 and %s counts", k.Name, over.Text(k.Name))
		}
	}
}

func TestParse(t *testing.T) {
	const good = "# mine\n[core]\nformat = \"json\" # for scripts\n\"color\" = 'never'\n\n[plan]\nmax-cost = 2.50\nmax-tool-calls = 1_000\n" +
		"[shell]\ntimeout = \"90s\"\n"
	got, err := config.Parse("c.toml", []byte(good), config.User)
	if err != nil {
		t.Fatal(err)
	}
	at := func(line int) config.Origin { return config.Origin{Layer: config.User, File: "c.toml", Line: line} }
	want := []config.Entry{
		{Key: config.Format, Value: "json", Origin: at(3)}, {Key: config.Color, Value: "never", Origin: at(4)},
		{Key: config.MaxCost, Value: "2.5", Origin: at(7)}, {Key: config.MaxToolCalls, Value: "1000", Origin: at(8)},
		{Key: config.ShellTimeout, Value: "90s", Origin: at(10)},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got, err := config.Parse("c.toml", []byte("core.format = \"plain\"\r\nlog.level = \"debug\""), config.User); err != nil || len(got) != 2 {
		t.Errorf("dotted keys: %v, %v", got, err)
	}
	if got, err := config.Parse("c.toml", nil, config.User); err != nil || got != nil {
		t.Errorf("an empty file: %v, %v", got, err)
	}
}

func TestParseRefuses(t *testing.T) {
	secret := "sk" + "-test-" + strings.Repeat("aB3", 10)
	for _, c := range []struct{ text, want, hint string }{
		{"[core]\nformt = \"json\"\n", "c.toml:2: unknown key core.formt", "did you mean core.format?"},
		{"[core]\nmax_cost = 3\n", "c.toml:2: unknown key core.max_cost", ""},
		{"[cor]\nformat = \"json\"\n", "c.toml:1: unknown section [cor]", "did you mean [core]?"},
		{"format = \"json\"\n", "c.toml:1: unknown key format", "did you mean core.format?"},
		{"[core]\nformat = 3\n", "c.toml:2: core.format: a whole number is not one of auto, rich", ""},
		{"[core]\nformat = \"xml\"\n", "c.toml:2: core.format: \"xml\" is not one of", ""},
		{"[core]\nformat = [\"json\"]\n", "c.toml:2: core.format: a list is not", ""},
		{"[core]\nformat = 1979-05-27\n", "c.toml:2: core.format: a date", ""},
		{"[plan]\nmax-cost = \"2\"\n", "c.toml:2: plan.max-cost: a text in quotes is not a number of dollars from 0 to 1000000000 or none", ""},
		{"[plan]\nmax-cost = -1\n", "c.toml:2: plan.max-cost: \"-1\" is not", ""},
		{"[plan]\nmax-cost = nan\n", "c.toml:2: plan.max-cost: \"nan\" is not", ""},
		{"[plan]\nmax-cost = inf\n", "c.toml:2: plan.max-cost: \"inf\" is not", ""},
		{"[plan]\nmax-tool-calls = 1.5\n", "c.toml:2: plan.max-tool-calls: a fraction is not a whole number", ""},
		{"[plan]\nmax-tool-calls = 99999999999999999999\n", "c.toml:2: plan.max-tool-calls: a whole number is not", ""},
		{"[shell]\ntimeout = \"0s\"\n", "c.toml:2: shell.timeout: \"0s\" is not a time in whole seconds such as 90s or 5m, from 1s to 24h", ""},
		{"[shell]\ntimeout = \"1500ms\"\n", "c.toml:2: shell.timeout: \"1500ms\" is not", ""},
		{"[shell]\ntimeout = \"none\"\n", "c.toml:2: shell.timeout: \"none\" is not", ""},
		{"[log]\nfile = \"relative.log\"\n", "c.toml:2: log.file: \"relative.log\" is not an absolute path or stderr", ""},
		{"[log]\nfile = \"/a/../b\"\n", "c.toml:2: log.file:", ""},
		{"[log]\nfile = \"/a\\u001bb\"\n", "c.toml:2: log.file: the value is longer", ""},
		{"[core]\nproject = \"shop\"\n", "c.toml:2: core.project is not kept in the configuration file", "set it with: agents project use"},
		{"[core]\nformat = \"json\"\nformat = \"json\"\n", "c.toml:3: core.format is set a second time; the first is in line 2", ""},
		{"core.format = \"json\"\n[core]\nformat = \"json\"\n", "c.toml:3: core.format is set a second time", ""},
		{"[core]\ncolor = \"auto\"\n[core]\nformat = \"json\"\n", "c.toml:3: ", ""},
		{"[[core]]\nformat = \"json\"\n", "c.toml:1: [[core]]: no key takes a list of tables", ""},
		{"core = { format = \"json\" }\n", "c.toml:1: core: write its keys in lines of their own below [core]", ""},
		{"[core]\nformat = \n", "c.toml:2: ", ""},
		{"[core]\nformat = \"json\n", "c.toml:2: ", ""},
		{"[core\n", "c.toml:1: ", ""},
		{"\x00", "c.toml:1: ", ""},
		{"[core]\nformat = \"\xff\"\n", "c.toml:2: ", ""},
		{strings.Repeat("#", config.MaxBytes+1), "c.toml: more than 1048576 bytes", ""},
		{"a = " + strings.Repeat("[", 2000) + "\n", "c.toml: too many lists and tables", ""},
		{"a = [" + strings.Repeat("1,", 50_000) + "]\n", "c.toml: too many lists and tables", ""},
		{"[core]\nformat = \"" + secret + "\"\n", "c.toml:2: core.format: this looks like a secret", "ANTHROPIC_API_KEY"},
		{"[anthropic]\napi-key = \"x\"\n", "c.toml:1: unknown section [anthropic]", ""},
		{"api_key = \"x\"\n", "c.toml:1: api_key: this looks like a secret", "environment"},
		{"[core]\n" + secret + " = 1\n", "c.toml:2: a key: this looks like a secret", ""},
		{"[core]\nother = \"" + secret + "\"\n", "c.toml:2: core.other: this looks like a secret", ""},
		{"[log]\nfile = \"-----BEGIN RSA\"\n", "c.toml:2: log.file: this looks like a secret", ""},
	} {
		_, err := config.Parse("c.toml", []byte(c.text), config.User)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.80q: %v, want %s", c.text, err, c.want)
			continue
		}
		if f := fault.As(err); f.Kind != fault.Invalid || !strings.Contains(f.Hint, c.hint) {
			t.Errorf("%.80q: %s, hint %q, want %q", c.text, f.Kind, f.Hint, c.hint)
		}
		if strings.Contains(err.Error()+fault.As(err).Hint, secret) {
			t.Errorf("the error repeats the secret: %v", err)
		}
	}
}

func TestProblemsTellsAllOfThem(t *testing.T) {
	errs := config.Problems("c.toml", []byte("[core]\nformt = 1\nformat = 1\n[plan]\nmax-cost = \"x\"\n"), config.User)
	if len(errs) != 3 {
		t.Errorf("%d problems: %v", len(errs), errors.Join(errs...))
	}
	if errs := config.Problems("c.toml", []byte(strings.Repeat("x = 1\n", 5000)), config.User); len(errs) > 30 {
		t.Errorf("%d problems are told", len(errs))
	}
}

func TestLayersCount(t *testing.T) {
	file := []byte("[core]\nformat = \"json\"\ncolor = \"always\"\n[log]\nlevel = \"info\"\n")
	own := map[string]string{"AGENTS_FORMAT": "yaml", "NO_COLOR": "1", "AGENTS_LOG": ""}
	vars := map[string]string{"AGENTS_CFG_core__format": "table", "AGENTS_CFG_LOG__LEVEL": "error", "AGENTS_CFG_shell__max_timeout": "1h", "AGENTS_CFG_plan__max_cost": ""}
	s, err := config.Load("c.toml", file, func(n string) string { return own[n] }, vars)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		config.Format: "yaml environment AGENTS_FORMAT", config.Color: "never environment NO_COLOR",
		config.LogLevel: "error environment AGENTS_CFG_LOG__LEVEL", config.ShellMaxTimeout: "1h environment AGENTS_CFG_shell__max_timeout",
		config.MaxCost: "none default", config.LogFile: "stderr default",
	} {
		if e := s.Entry(key); e.Value+" "+e.Origin.String() != want {
			t.Errorf("%s: %s %s, want %s", key, e.Value, e.Origin, want)
		}
	}
	if got := s.Of(config.User, config.Format); got != "json" {
		t.Errorf("the file says %q", got)
	}
	if all := s.All(config.Format); len(all) != 3 || all[0].Origin.String() != "c.toml:2" {
		t.Errorf("all that is said: %v", all)
	}
	flag := s.Over(config.Entry{Key: config.Format, Value: "rich", Origin: config.Origin{Layer: config.Flag, Name: "--format"}})
	if e := flag.Entry(config.Format); e.Value != "rich" || e.Origin.String() != "flag --format" || s.Text(config.Format) != "yaml" {
		t.Errorf("flag: %v; before: %s", e, s.Text(config.Format))
	}
	if s.Span(config.ShellMaxTimeout).Hours() != 1 || s.Whole(config.MaxFiles) != 1_000_000 {
		t.Errorf("%v, %d", s.Span(config.ShellMaxTimeout), s.Whole(config.MaxFiles))
	}
	if n, ok := s.Limit(config.MaxCost); ok || n != 0 {
		t.Errorf("no limit is %v, %v", n, ok)
	}
}

func TestBadEnvironment(t *testing.T) {
	for name, c := range map[string]struct{ value, want, hint string }{
		"AGENTS_CFG_core__formt":  {"json", "environment AGENTS_CFG_core__formt: unknown key core.formt", "core.format"},
		"AGENTS_CFG_core__format": {"xml", "environment AGENTS_CFG_core__format: core.format: \"xml\" is not one of", ""},
		"AGENTS_CFG_api_key":      {"x", "environment AGENTS_CFG_api_key: api_key: this looks like a secret", ""},
	} {
		_, err := config.Load("c", nil, nil, map[string]string{name: c.value})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || !strings.Contains(fault.As(err).Hint, c.hint) {
			t.Errorf("%s=%s: %v", name, c.value, err)
		}
	}
}
