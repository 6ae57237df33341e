package sandbox

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/fault"
)

func sample() []entry {
	st := stamp{size: 3, mtime: 1_700_000_000_000_000_001, ctime: 1_700_000_000_000_000_000, ino: 7, dev: 9, mode: 0o644}
	return []entry{
		{path: "a b", kind: isFile, mode: 0o644, size: 3, hash: sum([]byte("abc")), seen: st, ours: st},
		{path: "d", kind: isDir, mode: 0o755, seen: st},
		{path: "d/l", kind: isLink, size: 5, hash: sum([]byte("t\n \xff\"")), target: "t\n \xff\"", seen: st},
		{path: "d/p", kind: isSpecial, what: "fifo", seen: st},
	}
}

var entryOptions = cmp.AllowUnexported(entry{}, stamp{}, state{})

func TestManifestRoundTrip(t *testing.T) {
	want := sample()
	got, err := parseManifest(encodeManifest(want))
	if err != nil {
		t.Fatal(err)
	}
	for i := range want { // what a manifest leaves out
		want[i].seen, want[i].ours = stamp{}, stamp{}
	}
	if d := cmp.Diff(want, got, entryOptions); d != "" {
		t.Error(d)
	}
}

func TestManifestRefusals(t *testing.T) {
	hash := sum(nil).String()
	for name, text := range map[string]string{
		"no head":        "f 0644 0 " + hash + " a\n",
		"cut short":      manifestHead + "f 0644 0 " + hash + " a",
		"out":            manifestHead + "f 0644 0 " + hash + " ../a\n",
		"absolute":       manifestHead + "d 0755 /a\n",
		"not sorted":     manifestHead + "d 0755 b\nd 0755 a\n",
		"twice":          manifestHead + "d 0755 a\nd 0755 a\n",
		"short hash":     manifestHead + "f 0644 0 00 a\n",
		"setuid":         manifestHead + "f 4755 0 " + hash + " a\n",
		"negative size":  manifestHead + "f 0644 -1 " + hash + " a\n",
		"open quote":     manifestHead + "l " + hash + " \"x a\n",
		"unknown kind":   manifestHead + "x 0755 a\n",
		"no path":        manifestHead + "d 0755 \n",
		"empty part":     manifestHead + "d 0755 a//b\n",
		"nothing at all": "",
	} {
		if _, err := parseManifest([]byte(text)); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: got %v, want Corrupt", name, err)
		}
	}
}

func FuzzManifest(f *testing.F) {
	f.Add(encodeManifest(sample()))
	f.Add([]byte(manifestHead))
	f.Fuzz(func(t *testing.T, b []byte) {
		es, err := parseManifest(b)
		if err != nil {
			return
		}
		again, err := parseManifest(encodeManifest(es))
		if err != nil {
			t.Fatalf("what was parsed cannot be read again: %v", err)
		}
		if d := cmp.Diff(es, again, entryOptions); d != "" {
			t.Fatal(d)
		}
		for _, e := range es {
			if e.what != "name" && !safePath(e.path) {
				t.Fatalf("path %q", e.path)
			}
		}
	})
}

func TestStateRoundTrip(t *testing.T) {
	want := &state{location: "/x", manifest: "abc", read: 12, entries: sample()}
	b := want.encode()
	got, ok := parseState(b)
	if !ok {
		t.Fatal("not read")
	}
	if d := cmp.Diff(want, got, entryOptions); d != "" {
		t.Error(d)
	}
	for i := range b {
		damaged := bytes.Clone(b)
		damaged[i] ^= 0x10
		if _, ok := parseState(damaged); ok {
			t.Fatalf("a flipped bit at %d was not seen", i)
		}
		if _, ok := parseState(b[:i]); ok {
			t.Fatalf("a state of %d bytes was read", i)
		}
	}
}

func FuzzState(f *testing.F) {
	b := (&state{location: "/x", entries: sample()}).encode()
	f.Add(b[len(stateHead) : len(b)-len(digest{})])
	f.Fuzz(func(t *testing.T, body []byte) {
		b := append([]byte(stateHead), body...)
		d := sum(b)
		s, ok := parseState(append(b, d[:]...))
		if !ok {
			return
		}
		if _, ok := parseState(s.encode()); !ok {
			t.Fatal("what was parsed cannot be read again")
		}
	})
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"a/b", "../a", ".git/config", "a/.GIT", "x\ny", "a/./b", ".g\u200dit"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if checkPath(s) != nil {
			return
		}
		if !safePath(s) {
			t.Fatalf("%q is let through", s)
		}
		for _, part := range bytes.Split([]byte(s), []byte("/")) {
			if bytes.EqualFold(part, []byte(".git")) {
				t.Fatalf("%q is let through", s)
			}
		}
	})
}
