package decode_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/decode"
	"github.com/cleveragents/agents/fault"
)

type sample struct {
	Name   string         `yaml:"name" json:"name"`
	Count  int            `yaml:"count" json:"count"`
	Size   uint8          `yaml:"size" json:"size"`
	Ratio  *float64       `yaml:"ratio" json:"ratio"`
	On     bool           `yaml:"on" json:"on"`
	List   []string       `yaml:"list" json:"list"`
	Map    map[string]any `yaml:"map" json:"map"`
	Sizes  []int          `yaml:"sizes" json:"sizes"`
	Any    any            `yaml:"any" json:"any"`
	Hidden string         `yaml:"-" json:"-"`
	Plain  string
	Inside struct {
		Deep int `yaml:"deep" json:"deep"`
	} `yaml:"inside" json:"inside"`
}

func TestYAMLReads(t *testing.T) {
	text := `# a comment
name: "a: b"
count: 3
ratio: 0.5
on: true
list: &l [x, y]
map:
  again: *l
  base: &b {k: 1}
  more: {<<: *b, j: 2}
any: {deep: 1.5}
plain: p
inside: {<<: [{deep: 6}], deep: 7}
`
	ratio := 0.5
	want := sample{Name: "a: b", Count: 3, Ratio: &ratio, On: true, List: []string{"x", "y"},
		Any: map[string]any{"deep": 1.5}, Plain: "p",
		Map: map[string]any{
			"again": []any{"x", "y"},
			"base":  map[string]any{"k": 1},
			"more":  map[string]any{"k": 1, "j": 2},
		}}
	want.Inside.Deep = 7
	var got sample
	if err := decode.YAML("a.yaml", []byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if err := decode.YAML("a.yaml", []byte("name: a\n...\n"), &got); err != nil {
		t.Errorf("an end marker: %v", err)
	}
}

// T66
func TestYAMLRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":         {"name: a\nnope: 1\n", `f.yaml:2: unknown key "nope"`},
		"hidden key":          {"hidden: a\n", `f.yaml:1: unknown key "hidden"`},
		"unknown inner key":   {"name: a\ninside:\n  deep: 1\n  nope: 1\n", `f.yaml:4: unknown key "nope"`},
		"key in other case":   {"Name: a\n", `f.yaml:1: unknown key "Name"`},
		"long unknown key":    {strings.Repeat("é", 60) + ": 1\n", "f.yaml:1: unknown key \"" + strings.Repeat("é", 40) + "…\""},
		"duplicate key":       {"name: a\ncount: 1\nname: b\n", `f.yaml:3: the key "name" is given twice (first on line 1)`},
		"duplicate free key":  {"map:\n  a: 1\n  a: 2\n", `f.yaml:3: the key "a" is given twice (first on line 2)`},
		"two problems":        {"count: x\non: perhaps\n", "f.yaml:1: `x` is not a whole number\nf.yaml:2: `perhaps` is not true or false"},
		"list for text":       {"name: [1]\n", "f.yaml:1: a list is not a text"},
		"mapping for text":    {"name: {a: 1}\n", "f.yaml:1: a mapping is not a text"},
		"text for whole":      {"count: many\n", "f.yaml:1: `many` is not a whole number"},
		"fraction for whole":  {"count: 1.5\n", "f.yaml:1: `1.5` is not a whole number"},
		"negative for size":   {"size: -1\n", "f.yaml:1: `-1` is not a whole number"},
		"fraction, aliased":   {"map: {a: &a 1.5}\ncount: *a\n", "f.yaml:1: `1.5` is not a whole number"},
		"fraction, merged":    {"inside:\n  <<: [{deep: 1.5}]\n", "f.yaml:2: `1.5` is not a whole number"},
		"unknown, merged":     {"map: {b: &b {deep: 1, nope: 2}}\ninside: {<<: *b}\n", `f.yaml:1: unknown key "nope"`},
		"empty for whole":     {"count: \"\"\n", "f.yaml:1: an empty value is not a whole number"},
		"wrong inside a list": {"list:\n  - a\n  - [b]\n", "f.yaml:3: a list is not a text"},
		"fraction in a list":  {"sizes: [1, 1.5]\n", "f.yaml:1: `1.5` is not a whole number"},
		"too large":           {"size: 256\n", "f.yaml:1: `256` is not a whole number"},
		"text for number":     {"ratio: much\n", "f.yaml:1: `much` is not a number"},
		"text for bool":       {"on: maybe\n", "f.yaml:1: `maybe` is not true or false"},
		"text for list":       {"list: a\n", "f.yaml:1: `a` is not a list"},
		"list for mapping":    {"map: [1]\n", "f.yaml:1: a list is not a mapping"},
		"number for struct":   {"inside: 3\n", "f.yaml:1: `3` is not what this key takes"},
		"list at the top":     {"- a\n", "f.yaml:1: a list is not what this key takes"},
		"second document":     {"name: a\n---\nname: b\n", "f.yaml:2: one document is expected, a second one starts here"},
		"broken second":       {"name: a\n---\nname: [\n", "f.yaml:3: did not find expected node content"},
		"empty":               {"", "f.yaml:1: the file is empty"},
		"comment only":        {"# c\n", "f.yaml:1: the file is empty"},
		"tab":                 {"name: a\n\tcount: 1\n", "f.yaml:2: found a tab character that violates indentation"},
		"not closed":          {"name: a\nlist: [a", "f.yaml:1: did not find expected ',' or ']'"},
		"known tag":           {"name: a\nmap:\n  k: !!binary aGk=\n", "f.yaml:3: the tag !!binary is not accepted"},
		"own tag":             {"name: !x a\n", "f.yaml:1: the tag !x is not accepted"},
		"tag on key":          {"!!str name: a\n", "f.yaml:1: the tag !!str is not accepted"},
		"directive":           {"# c\n%YAML 1.1\n---\nname: a\n", "f.yaml:2: YAML directives are not accepted"},
		"unknown anchor":      {"name: a\nlist: *gone\n", "f.yaml:2: unknown anchor 'gone' referenced"},
		"anchor in itself":    {"name: a\nmap: &x\n  a: *x\n", "f.yaml:3: nested deeper than 1000, or an alias inside its own anchor"},
		"merge of a number":   {"name: a\ninside:\n  <<: 3\n", "f.yaml:3: the key << takes an alias of a mapping, or a list of them"},
		"merge of an alias":   {"name: &n a\ninside:\n  <<: *n\n", "f.yaml:3: the key << takes an alias of a mapping, or a list of them"},
		"merge of bad list":   {"inside:\n  <<: [3]\n", "f.yaml:2: the key << takes an alias of a mapping, or a list of them"},
		"bad UTF-8":           {"name: a\nlist: [\"\xff\"]\n", "f.yaml:2: the text is not UTF-8"},
		"UTF-16":              {"\xff\xfen\x00:\x00", "f.yaml:1: the text is not UTF-8"},
		"NUL":                 {"name: a\n\x00", "f.yaml:2: control characters are not accepted"},
		"escape":              {"name: \"\x1b[31m\"\n", "f.yaml:1: control characters are not accepted"},
		"C1 control":          {"name: \"\u009b31m\"\n", "f.yaml:1: control characters are not accepted"},
		"name: a: b":          {"count: 1\nname: a: b\n", "f.yaml:2: mapping values are not allowed in this context"},
		"list as mapping key": {"map:\n  [a]: b\n", "f.yaml:2: a list is not a text"},
	} {
		t.Run(name, func(t *testing.T) {
			var v sample
			err := decode.YAML("f.yaml", []byte(c.text), &v)
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("got %v, want a fault of kind Invalid", err)
			}
			if d := cmp.Diff(c.want, err.Error()); d != "" {
				t.Error(d)
			}
		})
	}
}

// T66
func TestJSON(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"good":             {`{"name":"a","count":2}`, ""},
		"unknown key":      {"{\n\"nope\":1}", `f.json:2: unknown key "nope"`},
		"other case":       {`{"Name":"a"}`, `f.json:1: unknown key "Name"`},
		"duplicate":        {"{\"name\":\"a\",\n\"name\":\"b\"}", `f.json:2: duplicate object member name "name"`},
		"number for text":  {"{\"name\":\n1}", `f.json:2: /name: a number is not a text`},
		"text for whole":   {`{"count":"x"}`, `f.json:1: /count: a text is not a whole number`},
		"fraction":         {`{"count":1.5}`, `f.json:1: /count: 1.5 is not a whole number`},
		"huge number":      {`{"ratio":1e999}`, `f.json:1: /ratio: 1e999 is not a number`},
		"text for bool":    {`{"on":"yes"}`, `f.json:1: /on: a text is not true or false`},
		"bool for text":    {`{"name":true}`, `f.json:1: /name: true is not a text`},
		"text for list":    {`{"list":"x"}`, `f.json:1: /list: a text is not a list`},
		"list for mapping": {`{"map":[]}`, `f.json:1: /map: a list is not a mapping`},
		"mapping for text": {`{"name":{}}`, `f.json:1: /name: a mapping is not a text`},
		"list at the top":  {`[]`, `f.json:1: a list is not a mapping`},
		"long text":        {`{"count":"` + strings.Repeat("x", 100) + `"}`, `f.json:1: /count: a text is not a whole number`},
		"second value":     {"{}\n{}", `f.json:2: invalid character '{' after top-level value after offset 3`},
		"bad UTF-8":        {"{\"name\":\"\xff\"}", `f.json:1: invalid UTF-8 within "/name" after offset 9`},
		"empty":            {"", `f.json:1: unexpected EOF`},
	} {
		t.Run(name, func(t *testing.T) {
			var v sample
			got := ""
			if err := decode.JSON("f.json", []byte(c.text), &v); err != nil {
				got = err.Error()
				if !fault.Is(err, fault.Invalid) {
					t.Errorf("kind %v, want Invalid", fault.KindOf(err))
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestJSONValue(t *testing.T) {
	for _, pair := range [][2]string{
		{`{"b":1,"a":[1.0,"é"]}`, ` { "a" : [ 1 , "\u00e9" ] , "b" : 1e0 } `},
		{`{}`, "{\n}"},
	} {
		a, errA := decode.JSONValue("v", []byte(pair[0]))
		b, errB := decode.JSONValue("v", []byte(pair[1]))
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if string(a) != string(b) {
			t.Errorf("%s and %s: got %s and %s, want equal bytes", pair[0], pair[1], a, b)
		}
	}
	in := []byte(`{"b":1,"a":2}`)
	if _, err := decode.JSONValue("v", in); err != nil || string(in) != `{"b":1,"a":2}` {
		t.Errorf("the input was changed to %s (%v)", in, err)
	}
	if _, err := decode.JSONValue("args", []byte("{\"a\":1,\n\"a\":2}")); err == nil ||
		!strings.HasPrefix(err.Error(), "args:2: duplicate") {
		t.Errorf("duplicate key: got %v", err)
	}
}

func TestAt(t *testing.T) {
	text := "name: a\nlist:\n  - x\n  - y\nmap:\n  k:\n    - v\nalias: *a\n"
	sound := strings.ReplaceAll(text, "*a", "1")
	for _, c := range []struct {
		text string
		path []string
		want string
	}{
		{sound, nil, "f:1"},
		{sound, []string{"list", "1"}, "f:4"},
		{sound, []string{"list", "2"}, "f:2"},
		{sound, []string{"list", "-1"}, "f:2"},
		{sound, []string{"list", "x"}, "f:2"},
		{sound, []string{"map", "k", "0"}, "f:7"},
		{sound, []string{"map", "gone"}, "f:5"},
		{sound, []string{"alias", "deeper"}, "f:8"},
		{sound, []string{"gone"}, "f:1"},
		{text, []string{"map"}, "f:1"},
		{"", []string{"map"}, "f:1"},
	} {
		if got := decode.At("f", []byte(c.text), c.path...); got != c.want {
			t.Errorf("At(%q): got %s, want %s", c.path, got, c.want)
		}
	}
}

var where = regexp.MustCompile(`^f:[1-9][0-9]*: .`)

// T66
func FuzzYAML(f *testing.F) {
	for _, s := range []string{"name: a\n", "list: [a, *b]\n", "a: &a [*a]\n", "? x\n", "<<: *a", "!!int 3", "\xff", "- - -", "{a: {b: c}}", "x: |\n  %a\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var v sample
		err := decode.YAML("f", []byte(text), &v)
		if err == nil {
			if !utf8.ValidString(text) {
				t.Errorf("%q: accepted though it is not UTF-8", text)
			}
			return
		}
		for _, l := range strings.Split(err.Error(), "\nf:")[:1] {
			if !where.MatchString(l) {
				t.Errorf("%q: error %q does not start with file:line", text, l)
			}
		}
	})
}

// T66
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"name":"a"}`, `{"a":[1,2.0,{}]}`, `[`, `"\ud800"`, `1e400`, `{"a":1,"a":2}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var v sample
		if err := decode.JSON("f", []byte(text), &v); err != nil && !where.MatchString(err.Error()) {
			t.Errorf("%q: error %q does not start with file:line", text, err)
		}
		canonical, err := decode.JSONValue("f", []byte(text))
		if err != nil {
			return
		}
		if !json.Valid(canonical) {
			t.Errorf("%q: canonical form %q is not JSON", text, canonical)
		}
		again, err := decode.JSONValue("f", canonical)
		if err != nil || string(again) != string(canonical) {
			t.Errorf("%q: canonical form of %q is %q (%v)", text, canonical, again, err)
		}
	})
}
