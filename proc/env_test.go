package proc_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/proc"
)

// T30: what a child prints of its environment holds no secret of ours.
func TestChildSeesOnlyTheAllowList(t *testing.T) {
	secrets := []string{
		"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GITHUB_TOKEN",
		"SSH_AUTH_SOCK", "GOPROXY", "HTTPS_PROXY", "DATABASE_URL", "LD_PRELOAD_NOTE", "MY_NOTE", "PATH_SECRET",
	}
	for _, name := range secrets {
		t.Setenv(name, "canary-"+name)
	}
	t.Setenv("LC_TIME", "C")
	t.Setenv("EDITOR_NOTE", "wanted")
	c := sh("env; cat /proc/self/environ | tr '\\0' '\\n'")
	c.Env = proc.Env(map[string]string{"GIVEN": "by value"}, "EDITOR_NOTE", "OPENAI_API_KEY")
	out := string(run(t, c).Output)
	if strings.Contains(out, "canary") {
		t.Errorf("a secret passed:\n%s", out)
	}
	for _, want := range []string{"LC_TIME=C", "EDITOR_NOTE=wanted", "GIVEN=by value", "GOPROXY=off", "PATH=" + os.Getenv("PATH")} {
		if !strings.Contains(out, want+"\n") {
			t.Errorf("%s is missing in\n%s", want, out)
		}
	}
}

func TestEnvIsNeverNil(t *testing.T) {
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		t.Setenv(name, "") // so that it comes back after the test
		os.Unsetenv(name)
	}
	if got := proc.Env(nil); !slices.Equal(got, []string{"GOPROXY=off", "PATH=/usr/local/bin:/usr/bin:/bin"}) {
		t.Errorf("got %q", got)
	}
}

func TestEnvNamesTheGoCachesOfOurHome(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{"go/pkg/mod", ".cache/go-build"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	for _, name := range []string{"GOPATH", "GOMODCACHE", "GOCACHE"} {
		t.Setenv(name, "")
	}
	env := proc.Env(map[string]string{"HOME": "/elsewhere"})
	for _, want := range []string{
		"HOME=/elsewhere", "GOPATH=" + home + "/go", "GOMODCACHE=" + home + "/go/pkg/mod", "GOCACHE=" + home + "/.cache/go-build",
	} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in %q", want, env)
		}
	}
}

func TestLookupTakesNoRelativePath(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("tool", []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", ".:"+"bin")
	if got, err := proc.Lookup("tool"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %q, %v", got, err)
	}
	t.Setenv("PATH", ".:"+dir)
	if got, err := proc.Lookup("tool"); err != nil || got != filepath.Join(dir, "tool") {
		t.Errorf("got %q, %v", got, err)
	}
}
