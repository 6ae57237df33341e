package gitrepo

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidRef(t *testing.T) {
	for _, ok := range []string{"main", "feature/x", "a.b", "é", "a@b", "x-"} {
		if !ValidRef("refs/heads/" + ok) {
			t.Errorf("%q is refused", ok)
		}
		if out, err := exec.Command("git", "check-ref-format", "--branch", ok).CombinedOutput(); err != nil {
			t.Errorf("git refuses %q: %s", ok, out)
		}
	}
	for _, bad := range []string{"", "-x", ".x", "a/.x", "a..b", "a b", "a~b", "a^", "a:b", "a?", "a*", "a[", `a\b`, "a/", "/a", "a//b", "a.lock", "a.LOCK/b",
		"a.", "a@{b", "@", "HEAD", "\x01", "../x", "a/../b", strings.Repeat("x", 300)} {
		if ValidRef("refs/heads/" + bad) {
			t.Errorf("%q is taken", bad)
		}
	}
	if ValidRef("refs/tags/x") || ValidRef("HEAD") {
		t.Error("what is no branch is taken")
	}
}

func TestConfig(t *testing.T) {
	c := parseConfig([]byte("[user]\n name = \"A \\\"b\\\" # c\" ; note\n\temail=a@b\n[User] name = Last\n[includeIf \"gitdir:~/w/\"]\n path = x\n" +
		"[core]\n bare\n[a \"B.c\"]\nk = one\\\ntwo\n[bad\n= x\n"))
	for key, want := range map[string]string{"user.name": "Last", "user.email": "a@b", "core.bare": "true", "a.B.c.k": "onetwo", "none": ""} {
		if got := c.Get(key); got != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
	if diff := cmp.Diff([]include{{"gitdir:~/w/", "x"}}, c.includes, cmp.AllowUnexported(include{})); diff != "" {
		t.Error(diff)
	}
}

// Who makes a commit is what git would say, from the same files.
func TestPeople(t *testing.T) {
	dir := t.TempDir()
	home, top := filepath.Join(dir, "home"), filepath.Join(dir, "home", "jobs", "repo")
	for name, text := range map[string]string{
		"home/.gitconfig":         "[user]\n\tname = Home\n\temail = home@x\n[include]\n\tpath = more\n[includeIf \"gitdir:~/jobs/\"]\n\tpath = ~/w.conf\n[includeIf \"gitdir:~/other/\"]\n\tpath = ~/o.conf\n",
		"home/more":               "[user]\n\tname = More\n",
		"home/w.conf":             "[user]\n\temail = jobs@x\n",
		"home/o.conf":             "[user]\n\temail = other@x\n",
		"home/.config/git/config": "[user]\n\tname = Xdg\n\temail = xdg@x\n",
	} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = top
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if err := os.MkdirAll(top, 0o755); err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	r, err := Open(filepath.Join(top, ".git"), top)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	author, _, err := r.People(Own{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := author.Name+" <"+author.Email+">", git("config", "user.name")+" <"+git("config", "user.email")+">"; got != want || want != "More <jobs@x>" {
		t.Errorf("%s, git says %s", got, want)
	}
	author, committer, err := r.People(Own{Home: home, Env: func(k string) (string, bool) { return "Env", k == "GIT_AUTHOR_NAME" }})
	if err != nil || author.Name != "Env" || committer.Name != "More" {
		t.Errorf("%v, %v, %v", author, committer, err)
	}
	if _, _, err := r.People(Own{}); err == nil {
		t.Error("nobody is somebody")
	}
}

func TestAttributes(t *testing.T) {
	for _, c := range []struct {
		lines, path string
		want        string
	}{
		{"*.png filter=lfs", "a/b.png", "lfs"}, {"/a/* filter=x", "a/b", "x"}, {"/a/* filter=x", "a/b/c", ""}, {"a/** filter=x", "a/b/c", "x"},
		{"*.png filter=lfs\nb.png -filter", "a/b.png", "unset"}, {"[attr]mine filter=y\n*.t mine", "x.t", "y"}, {"\"sp ace\" filter=z", "sp ace", "z"},
		{"# *.png filter=lfs", "b.png", ""}, {"**/deep/f filter=d", "a/b/deep/f", "d"},
	} {
		got := ""
		for _, a := range parseAttributes([]byte(c.lines), "") {
			if v, ok := a.set["filter"]; ok && a.matches(c.path) {
				got = v
			}
		}
		if got != c.want {
			t.Errorf("%q of %s: %q, want %q", c.lines, c.path, got, c.want)
		}
	}
}

// What is read of an index is written again, and nothing makes it fall over.
func FuzzIndex(f *testing.F) {
	one, err := newSlot(Edit{Path: "a/b", Now: Entry{ModeFile, strings.Repeat("0a", 20)}}, Stat{Bytes: 3})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encodeIndex([]slot{one}))
	f.Add([]byte("DIRC"))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := parseIndex(b)
		if err != nil || len(all) == 0 {
			return
		}
		again := encodeIndex(all)
		same, err := parseIndex(again)
		if err != nil || len(same) != len(all) || !bytes.Equal(encodeIndex(same), again) {
			t.Errorf("%v: %d entries became %d", err, len(all), len(same))
		}
	})
}

func FuzzDelta(f *testing.F) {
	f.Add([]byte("base"), []byte("\x04\x04\x90\x04"))
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		o, err := undelta(Object{"blob", base}, delta)
		if err == nil && len(o.Body) > maxObject {
			t.Error("too large")
		}
	})
}
