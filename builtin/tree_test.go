package builtin

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/tool"
)

const canary = "canary-of-the-outside"

// fenced makes a tree inside a directory with canaries around it, and links
// in the tree that lead there.
func fenced(t testing.TB) (b *bench, outside string) {
	t.Helper()
	outer := t.TempDir()
	b = newBench(t, nil)
	b.dir = filepath.Join(outer, "tree")
	b.in.Dir = b.dir
	b.put("in", "inside\n", 0o644)
	b.put("sub/in", "inside\n", 0o644)
	b.put(".git/config", canary, 0o644)
	b.put("sub/.GIT/config", canary, 0o644)
	b.put("../secret", canary, 0o644)
	b.put("../dir/secret", canary, 0o644)
	for name, target := range map[string]string{
		"up": "..", "abs": outer, "secretlink": "../secret", "abslink": filepath.Join(outer, "secret"),
		"sub/up": "../..", "loop": "loop", "loop2": "sub/loop3", "sub/loop3": "../loop2", "git": ".git", "proc": "/proc/self/root",
	} {
		if err := os.Symlink(target, b.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	return b, outer
}

// outsideOf is everything in outer that the tools must leave alone.
func outsideOf(t testing.TB, outer string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(outer, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(outer, p)
		if strings.HasPrefix(rel, "tree") && !strings.Contains(strings.ToLower(rel), ".git") {
			return nil
		}
		if d.Type().IsRegular() {
			content, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			all[rel] = string(content)
			return nil
		}
		all[rel] = d.Type().String()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// everyTool calls every file tool on a path.
func everyTool(p string) map[string]args {
	return map[string]args{
		"read": {"path": p}, "list": {"path": p}, "glob": {"path": p, "pattern": "**"},
		"grep": {"path": p, "pattern": "."}, "edit": {"path": p, "old": "c", "new": "x"},
		"write": {"path": p, "content": "x"}, "delete": {"path": p},
		"move": {"from": p, "to": "moved"}, "shell": {"dir": p, "argv": []string{"pwd", "-P"}},
	}
}

// T01 (the file tools' part): no path leads out of the tree or into .git.
func TestNoPathLeadsOut(t *testing.T) {
	paths := []string{
		"..", "../secret", "sub/../../secret", "/etc/passwd", "/proc/self/environ", "up", "up/secret", "abs", "abs/secret",
		"secretlink", "abslink", "sub/up/secret", "loop", "loop2", "loop/x", "proc/etc/passwd", "git/config",
		".git", ".git/config", ".GIT/config", "sub/.git/config", "sub/.GiT", ".git./config", ".git /config", "git~1/config",
		".g\u200cit/config", ".git:stream", "./.git", "sub/./../.git/config", "", "a\x00b", strings.Repeat("x/", 3000),
	}
	for _, p := range paths {
		t.Run(fmt.Sprintf("%.40q", p), func(t *testing.T) {
			b, outer := fenced(t)
			before := outsideOf(t, outer)
			for _, name := range []string{"read", "list", "glob", "grep", "edit", "write", "move", "shell"} {
				a := everyTool(p)[name]
				b.seen[p] = hash([]byte(canary))
				res := b.call(name, a)
				root := p == "" && (name == "list" || name == "glob" || name == "grep" || name == "shell")
				isLink := name == "move" && res.Status == tool.OK && !strings.Contains(p, "/") // the link itself may move
				if res.Status == tool.OK && !root && !isLink || strings.Contains(res.Output, canary) {
					t.Errorf("%s: %s %s", name, res.Status, res.Output)
				}
			}
			b.call("move", args{"from": "in", "to": p})
			b.call("delete", args{"path": p})
			if d := cmp.Diff(before, outsideOf(t, outer)); d != "" {
				t.Errorf("the outside changed: %s", d)
			}
		})
	}
}

// FuzzRootedPath: no path argument of any file tool reads or writes outside
// the tree, or inside a .git.
func FuzzRootedPath(f *testing.F) {
	for _, p := range []string{"in", "sub/in", "../secret", "up/secret", "sub/up/dir/secret", ".git/config", "sub/.GIT/config", "loop", "new/dir/file", "abs/secret", "./sub/../in", "sub//up", "git/config", "secretlink"} {
		f.Add(p, "moved")
		f.Add("in", p)
	}
	f.Fuzz(func(t *testing.T, p, to string) {
		b, outer := fenced(t)
		before := outsideOf(t, outer)
		for _, seen := range []string{p, filepath.Clean(p)} {
			b.seen[seen] = hash([]byte(canary))
		}
		for _, name := range []string{"read", "list", "glob", "grep", "edit", "write", "move", "delete"} {
			a := everyTool(p)[name]
			if name == "move" {
				a["to"] = to
			}
			if res := b.call(name, a); strings.Contains(res.Output, canary) {
				t.Errorf("%s %q reads outside: %s", name, p, res.Output)
			}
		}
		b.call("write", args{"path": to, "content": "x"})
		if d := cmp.Diff(before, outsideOf(t, outer)); d != "" {
			t.Errorf("%q, %q: the outside changed: %s", p, to, d)
		}
	})
}

// T09: traps are named and neither followed nor waited for.
func TestTraps(t *testing.T) {
	b := newBench(t, map[string]string{"plain": "text\n"})
	if err := syscall.Mkfifo(b.path("pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(b.dir) // a socket's path has to be short
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	traps := map[string]string{"pipe": "named pipe", "socket": "socket"}
	if err := syscall.Mknod(b.path("device"), syscall.S_IFCHR|0o666, 1<<8|5); err == nil { // /dev/zero
		traps["device"] = "device"
	}
	for name, word := range traps {
		t.Run(name, func(t *testing.T) {
			b.seen[name] = "something"
			for _, call := range []string{"read", "edit", "write", "grep"} {
				b.want(call, everyTool(name)[call], tool.Refused, word)
			}
			for _, call := range []string{"list", "glob", "shell"} {
				b.want(call, everyTool(name)[call], tool.Failed, word)
			}
			if out := b.must("list", args{}); !strings.Contains(out, fmt.Sprintf("%-11s %10s  %s\n", word, "", name)) {
				t.Errorf("list shows\n%s", out)
			}
			b.want("grep", args{"pattern": "text"}, tool.OK, "plain:1:text")
			b.must("delete", args{"path": name})
			if _, err := os.Lstat(b.path(name)); !os.IsNotExist(err) {
				t.Errorf("still there: %v", err)
			}
		})
	}
}

// T09: what is at a path may be something else by the time it is opened.
func TestSwapWhileOpening(t *testing.T) {
	swaps := map[string]func(b *bench) error{
		"pipe":       func(b *bench) error { return syscall.Mkfifo(b.path("f"), 0o644) },
		"inner link": func(b *bench) error { return os.Symlink("other", b.path("f")) },
		"outer link": func(b *bench) error { return os.Symlink("/etc/passwd", b.path("f")) },
		"directory":  func(b *bench) error { return os.Mkdir(b.path("f"), 0o755) },
		"other file": func(b *bench) error { return os.Link(b.path("other"), b.path("f")) },
		"nothing":    func(*bench) error { return nil },
	}
	for name, swap := range swaps {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": "text\n", "other": "text\n"})
			root, err := os.OpenRoot(b.dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			w := newTree(root)
			info, err := w.regular("f")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(b.path("f"), b.path("was")); err != nil { // keeps its number taken
				t.Fatal(err)
			}
			if err := swap(b); err != nil {
				t.Fatal(err)
			}
			if f, _, err := w.open("f", info); err == nil {
				f.Close()
				t.Error("it was opened")
			}
		})
	}
}

func TestHostileNames(t *testing.T) {
	b := newBench(t, map[string]string{
		"line\nbreak": "needle\n", "\x1b[31mred": "needle\n", "bad\xffutf8": "needle\n", "rtl\u202etxt": "needle\n",
		"-rf": "needle\n", " space ": "needle\n", "ünï": "needle\n", strings.Repeat("n", 255): "needle\n",
	})
	for name, a := range map[string]args{"list": {}, "glob": {"pattern": "*"}, "grep": {"pattern": "needle"}} {
		out := b.must(name, a)
		if n := strings.Count(out, "\n"); n != 8 {
			t.Errorf("%s: %d lines\n%s", name, n, out)
		}
		for _, bad := range []string{"\x1b", "\u202e", "\xff", "line\nbreak"} {
			if strings.Contains(out, bad) {
				t.Errorf("%s shows %q", name, bad)
			}
		}
		for _, good := range []string{`"line\nbreak"`, `"\x1b[31mred"`, `"rtl\u202etxt"`, "ünï"} {
			if !strings.Contains(out, good) {
				t.Errorf("%s does not show %s:\n%s", name, good, out)
			}
		}
	}
	for _, p := range []string{"line\nbreak", "\x1b[31mred", "-rf", " space "} {
		b.want("read", args{"path": p}, tool.OK, "needle")
		b.must("delete", args{"path": p})
	}
}

// T06 (the file tools' part): a huge or sparse file, very many lines and very
// many entries take bounded memory.
func TestSizesAreBounded(t *testing.T) {
	b := newBench(t, map[string]string{"lines": strings.Repeat("\n", maxLines+1)})
	f, err := os.Create(b.path("sparse"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 40); err != nil {
		t.Fatal("make a sparse file: ", err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, name := range []string{"read", "edit", "write"} {
		b.want(name, everyTool("sparse")[name], tool.Exceeded, "1099511627776 bytes")
	}
	for _, name := range []string{"read", "edit"} {
		b.seen["lines"] = hash([]byte(b.get("lines")))
		b.want(name, everyTool("lines")[name], tool.Exceeded, "1000001 lines")
	}
	b.want("grep", args{"pattern": "x"}, tool.OK, "1 files were skipped")
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
}

// A tool that is declared read-only is given a view and nothing else, and a view
// has no method that could write: whoever adds one, or the root itself, to what
// reading tools get, fails here.
func TestViewCannotWrite(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[look](), reflect.TypeFor[view](), reflect.TypeFor[sight]()} {
		for i := range typ.NumField() {
			switch f := typ.Field(i); f.Type {
			case reflect.TypeFor[*os.Root]():
				if typ != reflect.TypeFor[sight]() {
					t.Errorf("%s.%s is a root that can be written through", typ, f.Name)
				}
			case reflect.TypeFor[tree](), reflect.TypeFor[engine.ToolContext]():
				t.Errorf("%s.%s can write", typ, f.Name)
			}
		}
	}
	s := reflect.TypeFor[sight]()
	var have []string
	for i := range s.NumMethod() {
		have = append(have, s.Method(i).Name)
	}
	if want := []string{"Lstat", "Open", "Readlink"}; !slices.Equal(have, want) {
		t.Errorf("sight has the methods %v, want %v", have, want)
	}
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	// Flags that would write or make a file are taken off.
	if _, err := (sight{root}).Open("new", os.O_RDWR|os.O_CREATE|os.O_TRUNC); err == nil {
		t.Error("a view made a file")
	}
	if err := root.WriteFile("old", []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := (sight{root}).Open("old", os.O_RDWR|os.O_TRUNC)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write([]byte("x")); err == nil {
		t.Error("a view opened a file for writing")
	}
	if b, err := root.ReadFile("old"); err != nil || string(b) != "text" {
		t.Errorf("the file holds %q (%v)", b, err)
	}
}
