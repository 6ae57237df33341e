package builtin

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/tool"
)

func TestWrite(t *testing.T) {
	tests := []struct {
		name, was string
		mode      os.FileMode // of the file before; 0: there is none
		content   string
		exec      bool
		want      string
		wantMode  os.FileMode
	}{
		{name: "new", content: "a\n", want: "a\n", wantMode: 0o644},
		{name: "new executable", content: "#!/bin/sh\n", exec: true, want: "#!/bin/sh\n", wantMode: 0o755},
		{name: "new empty", content: "", want: "", wantMode: 0o644},
		{name: "new CRLF", content: "a\r\n", want: "a\r\n", wantMode: 0o644},
		{name: "mode stays", was: "a\n", mode: 0o710, content: "b\n", want: "b\n", wantMode: 0o710},
		{name: "made executable", was: "a\n", mode: 0o640, content: "b\n", exec: true, want: "b\n", wantMode: 0o750},
		{name: "CRLF stays", was: "a\r\nb\r\n", mode: 0o644, content: "c\nd\n", want: "c\r\nd\r\n", wantMode: 0o644},
		{name: "CRLF given as it is", was: "a\r\n", mode: 0o644, content: "c\r\nd\n", want: "c\r\nd\n", wantMode: 0o644},
		{name: "mixed is given up", was: "a\r\nb\n", mode: 0o644, content: "c\nd\n", want: "c\nd\n", wantMode: 0o644},
		{name: "BOM stays", was: "\xef\xbb\xbfa\n", mode: 0o644, content: "b\n", want: "\xef\xbb\xbfb\n", wantMode: 0o644},
		{name: "BOM is not doubled", was: "\xef\xbb\xbfa\n", mode: 0o644, content: "\uFEFFb\n", want: "\xef\xbb\xbfb\n", wantMode: 0o644},
		{name: "UTF-16 stays", was: utf16le("a\r\n"), mode: 0o644, content: "ü\n", want: utf16le("ü\r\n"), wantMode: 0o644},
		{name: "binary becomes text", was: "a\x00", mode: 0o644, content: "b\n", want: "b\n", wantMode: 0o644},
		{name: "setuid goes", was: "a\n", mode: 0o755 | os.ModeSetuid, content: "b\n", want: "b\n", wantMode: 0o755},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, nil)
			if tt.mode != 0 {
				b.put("f", tt.was, tt.mode)
				b.must("read", args{"path": "f"})
			}
			res := b.want("write", args{"path": "f", "content": tt.content, "executable": tt.exec}, tool.OK, "f")
			if d := cmp.Diff(tt.want, b.get("f")); d != "" {
				t.Error(d)
			}
			if info, err := os.Stat(b.path("f")); err != nil || info.Mode() != tt.wantMode {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			if d := cmp.Diff([]string{"f"}, res.Reported); d != "" || b.seen["f"] != hash([]byte(tt.want)) {
				t.Errorf("reported %v, noted %q", res.Reported, b.seen["f"])
			}
			wantOnly(t, b, "f")
		})
	}
}

func TestWriteOfTheSameNeedsNoReading(t *testing.T) {
	b := newBench(t, map[string]string{"f": "same\n"})
	res := b.want("write", args{"path": "f", "content": "same\n"}, tool.OK, "already")
	if len(res.Reported) != 0 {
		t.Errorf("reported %v", res.Reported)
	}
	b.must("edit", args{"path": "f", "old": "same", "new": "other"})
	b.want("write", args{"path": "f", "content": "other\n", "executable": true}, tool.OK, "overwrote")
	if info, err := os.Stat(b.path("f")); err != nil || info.Mode() != 0o755 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestWriteMakesParents(t *testing.T) {
	b := newBench(t, map[string]string{"file": "x"})
	res := b.want("write", args{"path": "a/./b//c.txt", "content": "x"}, tool.OK, "a/b/c.txt")
	if b.get("a/b/c.txt") != "x" || !cmp.Equal(res.Reported, []string{"a/b/c.txt"}) {
		t.Errorf("reported %v", res.Reported)
	}
	b.want("write", args{"path": "file/below", "content": "x"}, tool.Failed, "file")
	b.want("write", args{"path": "a/b", "content": "x"}, tool.Failed, "directory")
	b.want("write", args{"path": ".", "content": "x"}, tool.Failed, "directory")
	b.want("write", args{"path": strings.Repeat("n", 256), "content": "x"}, tool.Failed, "name too long")
}

func TestDelete(t *testing.T) {
	b := newBench(t, map[string]string{"f": "x", "full/f": "x", "keep": "x"})
	if err := os.Mkdir(b.path("empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("keep", b.path("link")); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"f", "empty", "link"} {
		if res := b.want("delete", args{"path": p}, tool.OK, "deleted"); !cmp.Equal(res.Reported, []string{p}) {
			t.Errorf("%s: reported %v", p, res.Reported)
		}
		if _, err := os.Lstat(b.path(p)); !os.IsNotExist(err) {
			t.Errorf("%s is there: %v", p, err)
		}
	}
	b.want("delete", args{"path": "full"}, tool.Failed, "1 entries")
	b.want("delete", args{"path": "none"}, tool.Failed, "not there")
	b.want("delete", args{"path": "."}, tool.Refused, "root")
	if b.get("full/f")+b.get("keep") != "xx" {
		t.Error("something else was deleted")
	}
}

func TestMove(t *testing.T) {
	b := newBench(t, map[string]string{"f": "file\n", "d/one": "1", "d/e/two": "2", "there": "x"})
	b.must("read", args{"path": "f"})
	b.must("read", args{"path": "d/e/two"})
	res := b.want("move", args{"from": "f", "to": "new/place/f"}, tool.OK, "moved file f")
	if d := cmp.Diff([]string{"f", "new/place/f"}, res.Reported); d != "" {
		t.Error(d)
	}
	b.must("edit", args{"path": "new/place/f", "old": "file", "new": "known"}) // what was read stays known
	res = b.want("move", args{"from": "d", "to": "moved"}, tool.OK, "moved directory d")
	if d := cmp.Diff([]string{"d/e/two", "moved/e/two", "d/one", "moved/one"}, res.Reported); d != "" {
		t.Error(d)
	}
	b.must("edit", args{"path": "moved/e/two", "old": "2", "new": "3"})
	b.want("move", args{"from": "moved/one", "to": "there"}, tool.Failed, "exists already")
	b.want("move", args{"from": "moved", "to": "moved/in/it"}, tool.Failed, "inside it")
	b.want("move", args{"from": "moved", "to": "moved"}, tool.Failed, "itself")
	b.want("move", args{"from": "moved", "to": "."}, tool.Refused, "root")
	b.want("move", args{"from": "none", "to": "x"}, tool.Failed, "not there")
	if b.get("there")+b.get("moved/one") != "x1" {
		t.Error("something was overwritten")
	}
}

func TestList(t *testing.T) {
	b := newBench(t, map[string]string{"b.txt": "12345", "a/x": "", ".hidden": ""})
	if err := os.Symlink("nowhere", b.path("c")); err != nil {
		t.Fatal(err)
	}
	want := "" +
		"file                 0  .hidden\n" +
		"directory               a/\n" +
		"file                 5  b.txt\n" +
		"link                    c -> nowhere\n"
	if d := cmp.Diff(want, b.must("list", args{})); d != "" {
		t.Error(d)
	}
	b.want("list", args{"path": "b.txt"}, tool.Failed, "not a directory")
	b.must("delete", args{"path": "a/x"})
	b.want("list", args{"path": "a"}, tool.OK, "empty")
}

func TestListIsPagedThrough(t *testing.T) {
	b := newBench(t, nil)
	for i := range 2500 {
		b.put(fmt.Sprintf("%04d", i), "", 0o644)
	}
	got, offset := 0, 0
	for range 4 {
		out := b.must("list", args{"offset": offset})
		got += strings.Count(out, "file ")
		i := strings.LastIndex(out, "offset=")
		if i < 0 {
			break
		}
		fmt.Sscanf(out[i:], "offset=%d", &offset)
	}
	if got != 2500 || offset != 2000 {
		t.Errorf("%d entries, last offset %d", got, offset)
	}
	b.want("list", args{"offset": 2500}, tool.Failed, "2500 entries")
}

func TestGlob(t *testing.T) {
	b := newBench(t, map[string]string{
		"main.go": "", "a/b.go": "", "a/b/c.go": "", "a/b/c.txt": "", "a.b/x.go": "", ".git/x.go": "", "a/.Git/x.go": "", ".hidden/x.go": "",
	})
	if err := os.Symlink("a", b.path("link")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args args
		want string
	}{
		{args{"pattern": "*.go"}, "main.go\n"},
		{args{"pattern": "**/*.go"}, ".hidden/x.go\na.b/x.go\na/b.go\na/b/c.go\nmain.go\n"},
		{args{"pattern": "*.go", "path": "a"}, "a/b.go\n"},
		{args{"pattern": "**/c.{go,txt}", "path": "a"}, "a/b/c.go\na/b/c.txt\n"},
		{args{"pattern": "li*"}, "link\n"},
		{args{"pattern": "*.rs"}, "[no file matches]\n"},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, b.must("glob", tt.args)); d != "" {
			t.Errorf("%v: %s", tt.args, d)
		}
	}
}

// T66 (patterns): a pattern made to be slow is refused or is fast.
func TestPatternsAreBounded(t *testing.T) {
	files := map[string]string{strings.Repeat("a/", 50) + strings.Repeat("a", 200) + "b": strings.Repeat("a", 1<<16) + "\n"}
	b := newBench(t, files)
	began := processorTime(t)
	for _, p := range []string{
		strings.Repeat("**/", 50) + "x", strings.Repeat("*a", 100) + "x", strings.Repeat("*", 200) + "x",
		strings.Repeat("{a,a,a,a,a,a,a,a,a,a}", 3) + "**/x", strings.Repeat("{a,*,**}", 3) + "/x", "[", "{a", strings.Repeat("a", 300), strings.Repeat("{a,b}", 20),
	} {
		if res := b.call("glob", args{"pattern": p}); res.Status == tool.OK && !strings.Contains(res.Output, "no file") {
			t.Errorf("%q: %s", p, res.Output)
		}
		b.call("grep", args{"pattern": "x", "glob": p})
	}
	for _, p := range []string{"(a*)*x", strings.Repeat("a?", 300) + strings.Repeat("a", 300) + "x", "((((a{10}){10}){10}){10}){10}", "(", "(?=a)", strings.Repeat("x", 1001)} {
		if res := b.call("grep", args{"pattern": p}); res.Status == tool.OK && !strings.Contains(res.Output, "no line") {
			t.Errorf("%q: %s", p, res.Output)
		}
	}
	// Some seconds; a pattern that is not bounded takes years.
	if took := processorTime(t) - began; took > 5*time.Minute {
		t.Errorf("took %v of processor time", took)
	}
}

// processorTime is what the process has used so far: unlike the clock's time it
// does not grow when the machine is busy with something else.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func TestGrep(t *testing.T) {
	long := strings.Repeat("x", 1000) + "needle" + strings.Repeat("y", 1000)
	b := newBench(t, map[string]string{
		"a.go": "one\nNeedle here\r\n", "d/b.go": "needle\n", "d/c.txt": "a needle, \xff\n", "long": long,
		"bin": "needle\x00", "u16": utf16le("first\r\nneedle\r\n"), ".git/x": "needle\n",
	})
	if err := os.Symlink("a.go", b.path("link")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args args
		want string
	}{
		{args{"pattern": "^needle", "glob": "*.go"}, "d/b.go:1:needle\n"},
		{args{"pattern": "^needle", "glob": "*.go", "ignore_case": true}, "a.go:2:Needle here\nd/b.go:1:needle\n"},
		{args{"pattern": "needle", "glob": "d/*.txt"}, "d/c.txt:1:a needle, \uFFFD\n"},
		{args{"pattern": "needle", "path": "d", "glob": "c.*"}, "d/c.txt:1:a needle, \uFFFD\n"},
		{args{"pattern": "needle$", "path": "u16"}, "u16:2:needle\n"},
		{args{"pattern": "here$", "path": "a.go"}, "a.go:2:Needle here\n"},
		{args{"pattern": "nothing", "path": "d"}, "[no line matches]\n"},
		{args{"pattern": "needle", "path": "bin"}, "[no line matches]\n[1 files were skipped: binary, larger than 16777216 bytes, or not readable]\n"},
		{args{"pattern": "needle", "path": "long"}, "long:1:…" + strings.Repeat("x", 100) + "needle" + strings.Repeat("y", 194) + "…\n"},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, b.must("grep", tt.args)); d != "" {
			t.Errorf("%v: %s", tt.args, d)
		}
	}
	if len(b.seen) != 0 {
		t.Errorf("a search counts as reading: %v", b.seen)
	}
	b.put("many", strings.Repeat("hit\n", 1000), 0o644)
	out := b.must("grep", args{"pattern": "hit"})
	if strings.Count(out, "many:") != maxMatches || !strings.Contains(out, "stopped after 200 matches") {
		t.Errorf("%d matches\n%s", strings.Count(out, "many:"), out[len(out)-200:])
	}
}
