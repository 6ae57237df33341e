package builtin

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/tool"
)

func utf16le(s string) string { return string(utf16LE.encode(s)) }
func utf16be(s string) string { return string(utf16BE.encode(s)) }

func TestEdit(t *testing.T) {
	tests := []struct {
		name, file, old, new, want string
		all                        bool
	}{
		{name: "exact", file: "a\nb\nc\n", old: "b", new: "B", want: "a\nB\nc\n"},
		{name: "inside a line", file: "x = foo(1)\n", old: "foo(1)", new: "bar(2)", want: "x = bar(2)\n"},
		{name: "more lines", file: "a\nb\n", old: "a\n", new: "1\n2\n", want: "1\n2\nb\n"},
		{name: "delete", file: "a\nb\nc\n", old: "b\n", new: "", want: "a\nc\n"},
		{name: "all", file: "a b a\na\n", old: "a", new: "xx", all: true, want: "xx b xx\nxx\n"},
		{name: "no final newline", file: "a\nb", old: "b", new: "c", want: "a\nc"},
		{name: "no final newline, old has one", file: "a\nb", old: "b\n", new: "c\n", want: "a\nc"},
		{name: "other bytes stay", file: "caf\xe9\nb\n\xff", old: "b", new: "é", want: "caf\xe9\né\n\xff"},

		{name: "CRLF", file: "a\r\nb\r\nc\r\n", old: "a\nb\n", new: "1\n2\n3\n", want: "1\r\n2\r\n3\r\nc\r\n"},
		{name: "CRLF given", file: "a\r\nb\r\n", old: "a\r\nb", new: "1\r\n2", want: "1\r\n2\r\n"},
		{name: "CRLF in one line", file: "a\r\nb\r\n", old: "a", new: "1\n2", want: "1\r\n2\r\nb\r\n"},
		{name: "CRLF old begins with a break", file: "a\r\nb\r\n", old: "\nb", new: "\n1\n2", want: "a\r\n1\r\n2\r\n"},
		{name: "LF, CRLF given", file: "a\nb\n", old: "a\r\nb", new: "1\r\n2", want: "1\n2\n"},
		{name: "mixed, LF touched", file: "a\r\nb\nc\r\n", old: "b", new: "1\n2", want: "a\r\n1\n2\nc\r\n"},
		{name: "mixed, CRLF touched", file: "a\nb\r\nc\n", old: "b", new: "1\n2", want: "a\n1\r\n2\r\nc\n"},
		{name: "last line of CRLF", file: "a\r\nb", old: "b", new: "1\n2", want: "a\r\n1\r\n2"},

		{name: "BOM", file: "\xef\xbb\xbfa\nb\n", old: "a", new: "1", want: "\xef\xbb\xbf1\nb\n"},
		{name: "UTF-16 LE", file: utf16le("a\r\nü😀\r\n"), old: "ü😀", new: "ö\nß", want: utf16le("a\r\nö\r\nß\r\n")},
		{name: "UTF-16 BE", file: utf16be("a\nb\n"), old: "b", new: "€", want: utf16be("a\n€\n")},

		{name: "loose: trailing space stays off", file: "if x {   \n\ty()\n}\n", old: "if x {\n\ty()\n}", new: "if x {\n\tz()\n}", want: "if x {   \n\tz()\n}\n"},
		{name: "loose: deeper in the file", file: "f:\n    if a:\n        b()\n", old: "if a:\n    b()", new: "if a:\n    c()\n    if d:\n        e()",
			want: "f:\n    if a:\n        c()\n        if d:\n            e()\n"},
		{name: "loose: deeper in old", file: "if a:\n    b()\n", old: "    if a:\n        b()\n", new: "    if a:\n        c()\n    d()\n", want: "if a:\n    c()\nd()\n"},
		{name: "loose: tabs in the file", file: "func f() {\n\tif a {\n\t\tb()\n\t}\n}\n", old: "    if a {\n        b()\n    }", new: "    if a {\n        for {\n            c()\n        }\n    }",
			want: "func f() {\n\tif a {\n\t\tfor {\n\t\t\tc()\n\t\t}\n\t}\n}\n"},
		{name: "loose: one line of tabs", file: "{\n\tone()\n}\n", old: "    one() ", new: "    one()\n        two()", want: "{\n\tone()\n\t\ttwo()\n}\n"},
		{name: "loose: less deep than old", file: "{\n\t\tb()\n}\n", old: "    b() ", new: "c()\n    b()", want: "{\n\tc()\n\t\tb()\n}\n"},
		{name: "loose: other step", file: "a:\n    b:\n        c\n", old: "a:\n  b:\n    c\n", new: "a:\n  b:\n    d:\n      e\n", want: "a:\n    b:\n        d:\n            e\n"},
		{name: "loose: spaces in the file", file: "a {\n    b\n}\n", old: "\tb\n", new: "\tb\n\t\tc\n", want: "a {\n    b\n        c\n}\n"},
		{name: "loose: CRLF", file: "a  \r\n\tb\r\nc\r\n", old: "a\n  b\n", new: "a\n  x\n  y\n", want: "a  \r\n\tx\r\n\ty\r\nc\r\n"},
		{name: "loose: kept lines keep their endings", file: "a \nb\r\nc\n", old: "a\nb\nc", new: "a\nb\nd", want: "a \nb\r\nd\n"},
		{name: "loose: delete", file: "a\n  b  \nc\n", old: "\tb\n", new: "", want: "a\nc\n"},
		{name: "loose: blank line at the end", file: "\ta \n\nb\n", old: "a\n\n", new: "c\n\n", want: "\tc\n\nb\n"},
		{name: "loose: append", file: "a \nb", old: "a\nb\n", new: "a\nb\nc\n", want: "a \nb\nc"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, nil)
			b.put("f", tt.file, 0o750)
			b.must("read", args{"path": "f"})
			res := b.call("edit", args{"path": "f", "old": tt.old, "new": tt.new, "replace_all": tt.all})
			if res.Status != tool.OK {
				t.Fatalf("%s: %s", res.Status, res.Output)
			}
			if d := cmp.Diff(tt.want, b.get("f")); d != "" {
				t.Error(d)
			}
			if got := strings.Contains(res.Output, "white space"); got != strings.HasPrefix(tt.name, "loose") && tt.name != "no final newline, old has one" {
				t.Errorf("output %q", res.Output)
			}
			if d := cmp.Diff([]string{"f"}, res.Reported); d != "" {
				t.Error(d)
			}
			if b.seen["f"] != hash([]byte(tt.want)) {
				t.Error("the new content is not noted")
			}
			if info, err := os.Stat(b.path("f")); err != nil || info.Mode().Perm() != 0o750 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			wantOnly(t, b, "f")
		})
	}
}

// wantOnly fails when anything but the named file is in the root, such as a
// temporary file.
func wantOnly(t *testing.T, b *bench, name string) {
	t.Helper()
	entries, err := os.ReadDir(b.dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("in the directory: %v, %v", entries, err)
	}
}

func TestEditRefuses(t *testing.T) {
	long := strings.Repeat("filler\n", 40)
	tests := []struct {
		name, file, old, new string
		all                  bool
		want                 []string
	}{
		{name: "empty old", file: "a\n", new: "x", want: []string{"old is empty", "write"}},
		{name: "no change", file: "a\n", old: "a", new: "a", want: []string{"nothing would change"}},
		{name: "ambiguous", file: "x = 1\ny\nx = 1\n", old: "x = 1", new: "z", want: []string{"more than one place", "     1\tx = 1", "     3\tx = 1"}},
		{name: "overlapping", file: "aaa\n", old: "aa", new: "b", want: []string{"more than one place"}},
		{name: "ambiguous loosely", file: "  x \ny\n\tx\t\n", old: "x\t \n", new: "z\n", want: []string{"white space", "     1\t  x", "     3\t\tx"}},
		{name: "ambiguous loosely, all", file: "  x \ny\n\tx\t\n", old: "x\t \n", new: "z\n", all: true, want: []string{"white space"}},
		{name: "only white space", file: "a\n\n\n\nb\n", old: " \n ", new: "z", want: []string{"not in the file"}},
		{name: "not found, nearest shown", file: long + "func total(items []Item) int {\n\treturn 0\n}\n" + long, old: "func total(items []Thing) int {\n\treturn 1\n}", new: "x",
			want: []string{"nearest lines", "    41\tfunc total(items []Item) int {", "    42\t\treturn 0"}},
		{name: "not found, nothing like it", file: "alpha\n", old: "zzzzzzzz", new: "x", want: []string{"nothing in the file is like it"}},
		{name: "not found in an empty file", file: "", old: "a", new: "x", want: []string{"the file is empty"}},
		{name: "binary", file: "a\x00b", old: "a", new: "x", want: []string{"binary (3 bytes)"}},
		{name: "broken UTF-16", file: "\xff\xfea", old: "a", new: "x", want: []string{"binary"}},
		{name: "half a surrogate", file: "\xff\xfe\x00\xd8a\x00", old: "a", new: "x", want: []string{"binary"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": tt.file})
			b.must("read", args{"path": "f"})
			for _, want := range tt.want {
				b.want("edit", args{"path": "f", "old": tt.old, "new": tt.new, "replace_all": tt.all}, tool.Failed, want)
			}
			if b.get("f") != tt.file {
				t.Errorf("the file is now %q", b.get("f"))
			}
			wantOnly(t, b, "f")
		})
	}
}

// T46 (the file tools' part): what changed since it was read is not overwritten.
func TestStaleFilesAreNotChanged(t *testing.T) {
	b := newBench(t, map[string]string{"f": "one\n"})
	change := args{"path": "f", "old": "one", "new": "two"}
	b.want("edit", change, tool.Failed, "was not read yet")
	b.want("write", args{"path": "f", "content": "new"}, tool.Failed, "was not read yet")
	b.must("read", args{"path": "f"})
	b.put("f", "one more\n", 0o644)
	b.want("edit", change, tool.Failed, "changed since it was read\nread it again")
	b.want("write", args{"path": "f", "content": "new"}, tool.Failed, "changed since")
	if b.get("f") != "one more\n" {
		t.Fatalf("the file is now %q", b.get("f"))
	}
	b.must("read", args{"path": "f"})
	b.must("edit", change)
	b.must("edit", args{"path": "f", "old": "two", "new": "three"}) // its own edit is known
	b.must("write", args{"path": "f", "content": "all\n"})
	if b.get("f") != "all\n" {
		t.Errorf("the file is now %q", b.get("f"))
	}
}

func TestEditKeepsLinks(t *testing.T) {
	b := newBench(t, map[string]string{"real/f": "one\n"})
	for name, target := range map[string]string{"link": "real/f", "dir": "real"} {
		if err := os.Symlink(target, b.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(b.path("real/f"), b.path("hard")); err != nil {
		t.Fatal(err)
	}
	b.must("read", args{"path": "real/f"})
	for _, p := range []string{"link", "dir/f"} {
		b.seen[p] = b.seen["real/f"]
		b.want("edit", args{"path": p, "old": "one", "new": "two"}, tool.Refused, "symbolic link to real")
		b.want("write", args{"path": p, "content": "two"}, tool.Refused, "symbolic link to real")
	}
	b.want("write", args{"path": "dir/new", "content": "two"}, tool.Refused, "symbolic link to real")
	if target, err := os.Readlink(b.path("link")); err != nil || target != "real/f" || b.get("real/f") != "one\n" {
		t.Errorf("link to %q, %v; content %q", target, err, b.get("real/f"))
	}
	b.must("edit", args{"path": "real/f", "old": "one", "new": "two"})
	if b.get("hard") != "one\n" || b.get("real/f") != "two\n" {
		t.Errorf("hard link %q, file %q", b.get("hard"), b.get("real/f"))
	}
}

// FuzzEdit: whatever is replaced was old, line endings and, loosely, white
// space aside; every byte outside stays, and new is what is there.
func FuzzEdit(f *testing.F) {
	for _, s := range [][3]string{
		{"a\nb\nc\n", "b", "B"}, {"a\r\nb\r\n", "a\nb", "1\n2\n3"}, {"a\r\n\r\rb\n", "\n", "\n\n"},
		{"\tif x {\n\t\ty()\n\t}\n", "  if x {\n    y()\n  }\n", "  if x {\n    z()\n  }\n"},
		{"caf\xe9\r\nx", "x", ""}, {"aaaa", "aa", "b"}, {"a\r\r\nb", "a\r\n", "\r"}, {" \n\n x\n\n", "x\n\n", "\n\n"},
	} {
		for _, all := range []bool{false, true} {
			f.Add(s[0], s[1], s[2], all)
		}
	}
	f.Fuzz(func(t *testing.T, text, old, new string, all bool) {
		if old == "" || len(text) > 1<<12 || len(old) > 1<<10 {
			return
		}
		regions, loose, err := replacement(text, old, new, all)
		if err != nil {
			return
		}
		if !all && len(regions) != 1 || loose && len(regions) != 1 {
			t.Fatalf("%d regions", len(regions))
		}
		after := splice(text, regions)
		kept, at, now := "", 0, 0
		for _, r := range regions {
			if r.start < at || r.end < r.start || r.end > len(text) {
				t.Fatalf("region %d to %d after %d", r.start, r.end, at)
			}
			gap := text[at:r.start]
			if after[now:now+len(gap)] != gap {
				t.Fatalf("bytes %d to %d changed", at, r.start)
			}
			now += len(gap)
			if after[now:now+len(r.text)] != r.text {
				t.Fatalf("new is not at %d", now)
			}
			now += len(r.text)
			at = r.end
			kept += gap
			was := text[r.start:r.end]
			switch {
			case !loose && toLF(was) != toLF(old):
				t.Fatalf("replaced %q, which is not %q", was, old)
			case !loose && toLF(r.text) != toLF(new):
				t.Fatalf("put %q, which is not %q", r.text, new)
			case loose && squeeze(was) != squeeze(old):
				t.Fatalf("replaced %q, which is not like %q", was, old)
			case loose && squeeze(r.text) != squeeze(new):
				t.Fatalf("put %q, which is not like %q", r.text, new)
			}
		}
		if after[now:] != text[at:] {
			t.Fatalf("bytes from %d changed", at)
		}
	})
}

// squeeze leaves what is not white space.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// FuzzText: the bytes of a text come back from its decoded form.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a\n", "\xef\xbb\xbfa", utf16le("a😀"), utf16be("ü"), "\xff\xfe\x00\xd8", "\xff\xfe", "\xc3"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text, enc, ok := decodeText(b)
		if ok && string(enc.encode(text)) != string(b) {
			t.Errorf("%q became %q", b, enc.encode(text))
		}
		at := 0
		for _, l := range linesOf(text) {
			if l.start != at || l.end < l.start || l.next < l.end {
				t.Fatalf("line %+v after %d", l, at)
			}
			at = l.next
		}
		if at != len(text) {
			t.Errorf("lines end at %d of %d", at, len(text))
		}
	})
}
