package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"go.uber.org/goleak"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/jail"
	"github.com/cleveragents/agents/proc"
	"github.com/cleveragents/agents/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a toolbox on a tree, with what its caller has seen.
type bench struct {
	t    testing.TB
	box  *Toolbox
	dir  string
	in   engine.ToolContext
	seen memo
}

type memo map[string]string

func (m memo) Last(p string) (string, bool) { h, ok := m[p]; return h, ok }
func (m memo) Note(p, h string)             { m[p] = h }

func newBench(t testing.TB, files map[string]string) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), seen: memo{}, box: New(Config{Jail: testJail(t)})}
	b.in = engine.ToolContext{Place: engine.Place{Dir: b.dir}, Seen: b.seen}
	for p, content := range files {
		b.put(p, content, 0o644)
	}
	return b
}

// testJail is a jail that knows of no home.
func testJail(t testing.TB) *jail.Jail {
	return jail.New(jail.Config{Proc: proc.New(time.Now), Dir: filepath.Join(t.TempDir(), "jail")})
}

func (b *bench) path(p string) string { return filepath.Join(b.dir, p) }

func (b *bench) put(p, content string, mode os.FileMode) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(b.path(p)), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.path(p), []byte(content), mode); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Chmod(b.path(p), mode); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) get(p string) string {
	b.t.Helper()
	content, err := os.ReadFile(b.path(p))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(content)
}

// args is the arguments of a call.
type args map[string]any

func (b *bench) call(name string, a args) tool.Result {
	b.t.Helper()
	res, err := b.try(context.Background(), name, a)
	if err != nil {
		b.t.Fatalf("%s %v: %v", name, a, err)
	}
	return res
}

func (b *bench) try(ctx context.Context, name string, a args) (tool.Result, error) {
	b.t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.box.Call(ctx, "builtin/"+name, raw, b.in)
}

// must is call for what has to succeed; it returns the output.
func (b *bench) must(name string, a args) string {
	b.t.Helper()
	res := b.call(name, a)
	if res.Status != tool.OK {
		b.t.Fatalf("%s %v: %s\n%s", name, a, res.Status, res.Output)
	}
	return res.Output
}

// want fails unless the call ends so and its output holds the text.
func (b *bench) want(name string, a args, status tool.Status, text string) tool.Result {
	b.t.Helper()
	res := b.call(name, a)
	if res.Status != status || !strings.Contains(res.Output, text) {
		b.t.Errorf("%s %v: got %s\n%s\nwant %s with %q", name, a, res.Status, res.Output, status, text)
	}
	return res
}

func TestSpecsAreStrictAndFitTheArguments(t *testing.T) {
	argTypes := map[string]reflect.Type{
		"builtin/read": reflect.TypeFor[readArgs](), "builtin/list": reflect.TypeFor[listArgs](),
		"builtin/glob": reflect.TypeFor[globArgs](), "builtin/grep": reflect.TypeFor[grepArgs](),
		"builtin/edit": reflect.TypeFor[editArgs](), "builtin/write": reflect.TypeFor[writeArgs](),
		"builtin/delete": reflect.TypeFor[deleteArgs](), "builtin/move": reflect.TypeFor[moveArgs](),
		"builtin/shell": reflect.TypeFor[shellArgs](), "builtin/page": reflect.TypeFor[pageArgs](),
		"builtin/record_decision": nil, "builtin/ask": nil,
	}
	specs := New(Config{}).Specs()
	if len(specs) != len(argTypes) || !slices.IsSortedFunc(specs, func(a, b tool.Spec) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("%d specs, or not by name", len(specs))
	}
	for _, s := range specs {
		typ, ok := argTypes[s.Name]
		if !ok {
			t.Errorf("%s is not expected", s.Name)
		}
		if len(s.Description) < 80 {
			t.Errorf("%s: the description is %q", s.Name, s.Description)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(s.Input, &schema); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if resolved.Validate(map[string]any{"no_such_argument": 1}) == nil || schema.Type != "object" || schema.Required == nil {
			t.Errorf("%s: the schema is not a strict object", s.Name)
		}
		if typ == nil {
			continue
		}
		want := map[string]bool{}
		for i := range typ.NumField() {
			want[typ.Field(i).Tag.Get("json")] = true
		}
		got := map[string]bool{}
		for name := range schema.Properties {
			got[name] = true
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: arguments and schema differ: %s", s.Name, d)
		}
	}
}

func TestCapabilitiesAreTruthful(t *testing.T) {
	readOnly := []string{"ask", "glob", "grep", "list", "page", "read", "record_decision"}
	for _, s := range New(Config{}).Specs() {
		base := strings.TrimPrefix(s.Name, "builtin/")
		want := tool.Capability{ReadOnly: true}
		if !slices.Contains(readOnly, base) {
			want = tool.Capability{Writes: true, Checkpointable: true}
		}
		if s.Capability != want {
			t.Errorf("%s: %+v", s.Name, s.Capability)
		}
	}
}

func TestReadOnlyRefusesWhatMayWrite(t *testing.T) {
	b := newBench(t, map[string]string{"a": "text\n"})
	b.must("read", args{"path": "a"})
	b.in.ReadOnly = true
	for name, a := range map[string]args{
		"edit":   {"path": "a", "old": "text", "new": "x"},
		"write":  {"path": "new", "content": "x"},
		"delete": {"path": "a"},
		"move":   {"from": "a", "to": "b"},
		"shell":  {"script": "true"},
	} {
		b.want(name, a, tool.Refused, "nothing may be written")
	}
	b.want("read", args{"path": "a"}, tool.OK, "text")
	if entries, err := os.ReadDir(b.dir); err != nil || len(entries) != 1 || b.get("a") != "text\n" {
		t.Errorf("the tree changed: %v %v", entries, err)
	}
}

func TestCallFaults(t *testing.T) {
	b := newBench(t, nil)
	for _, name := range []string{"record_decision", "ask", "no_such"} {
		if _, err := b.try(t.Context(), name, args{}); !fault.Is(err, fault.Internal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.want("read", args{"path": "a", "more": true}, tool.Failed, "more")
	b.in.Dir = filepath.Join(b.dir, "gone")
	if _, err := b.try(t.Context(), "list", args{}); !fault.Is(err, fault.Internal) {
		t.Errorf("a missing sandbox: %v", err)
	}
}

func TestReadShowsNumberedLines(t *testing.T) {
	b := newBench(t, map[string]string{
		"three":  "one\ntwo\nthree\n",
		"nonl":   "one\ntwo",
		"crlf":   "one\r\ntwo\r\n",
		"mixed":  "one\r\ntwo\n",
		"bom":    "\xef\xbb\xbfone\n",
		"utf16":  "\xff\xfeo\x00n\x00e\x00\n\x00",
		"utf16b": "\xfe\xff\x00o\x00n\x00e\x00\n",
		"latin":  "caf\xe9\n",
		"binary": "\x7fELF\x00\x01",
		"empty":  "",
		"wide":   strings.Repeat("x", 5000) + "\n",
	})
	tests := []struct {
		args args
		want string
	}{
		{args{"path": "three"}, "     1\tone\n     2\ttwo\n     3\tthree\n"},
		{args{"path": "./three", "offset": 2, "limit": 1}, "     2\ttwo\n[lines 2 to 2 of 3; go on with offset=3]\n"},
		{args{"path": "nonl"}, "     1\tone\n     2\ttwo\n[no line break at the end]\n"},
		{args{"path": "crlf"}, "     1\tone\n     2\ttwo\n[CRLF line endings]\n"},
		{args{"path": "mixed"}, "     1\tone\n     2\ttwo\n[mixed line endings, 1 CRLF and 1 LF]\n"},
		{args{"path": "bom"}, "     1\tone\n[UTF-8 with a byte order mark]\n"},
		{args{"path": "utf16"}, "     1\tone\n[UTF-16 little endian]\n"},
		{args{"path": "utf16b"}, "     1\tone\n[UTF-16 big endian]\n"},
		{args{"path": "latin"}, "     1\tcaf\uFFFD\n[some bytes are not UTF-8 and are shown as \uFFFD]\n"},
		{args{"path": "binary"}, "[binary is binary: 6 bytes, application/octet-stream]"},
		{args{"path": "empty"}, "[the file is empty]"},
		{args{"path": "wide"}, "     1\t" + strings.Repeat("x", 2000) + " [3000 more bytes in this line]\n"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.args), func(t *testing.T) {
			if d := cmp.Diff(tt.want, b.must("read", tt.args)); d != "" {
				t.Error(d)
			}
			p := strings.TrimPrefix(tt.args["path"].(string), "./")
			if b.seen[p] != hash([]byte(b.get(p))) {
				t.Errorf("noted %q", b.seen[p])
			}
		})
	}
	b.want("read", args{"path": "three", "offset": 9}, tool.Failed, "3 lines")
	b.want("read", args{"path": "none"}, tool.Failed, "none is not there")
	b.want("read", args{"path": "."}, tool.Failed, "directory")
}

func TestReadIsPagedThrough(t *testing.T) {
	var content strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&content, "line number %d %s\n", i+1, strings.Repeat("y", i%90))
	}
	b := newBench(t, map[string]string{"long": content.String()})
	var got strings.Builder
	for offset, pages := 1, 0; offset > 0; pages++ {
		out := b.must("read", args{"path": "long", "offset": offset})
		if len(out) > maxOutput+200 || pages > 20 {
			t.Fatalf("page %d has %d bytes", pages, len(out))
		}
		offset = 0
		for l := range strings.Lines(out) {
			if _, text, ok := strings.Cut(l, "\t"); ok {
				got.WriteString(text)
			} else if _, err := fmt.Sscanf(l[strings.LastIndex(l, " ")+1:], "offset=%d]", &offset); err != nil {
				t.Fatalf("%q: %v", l, err)
			}
		}
	}
	if got.String() != content.String() {
		t.Error("the pages together are not the file")
	}
}
