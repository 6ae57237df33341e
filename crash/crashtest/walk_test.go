package crashtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cleveragents/agents/crash"
)

const childEnv = "CRASHTEST_CHILD"

func TestMain(m *testing.M) {
	file := os.Getenv(childEnv)
	if file == "" {
		os.Exit(m.Run())
	}
	// A write by rename: at each point the file is the old or the new one.
	crash.Point("write.start")
	if err := os.WriteFile(file+".new", []byte("new"), 0o600); err != nil {
		os.Exit(1)
	}
	crash.Point("write.written")
	if err := os.Rename(file+".new", file); err != nil {
		os.Exit(1)
	}
	crash.Point("write.renamed")
	os.Exit(0)
}

func TestWalkDiesOnceAtEachPoint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	var seen []string
	n := Walk(t, func(t *testing.T, env []string) error {
		if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(append(os.Environ(), childEnv+"="+file), env...)
		return cmd.Run()
	}, func(t *testing.T) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, string(b))
	})
	if n != 3 {
		t.Errorf("Walk = %d deaths, want 3", n)
	}
	if got, want := strings.Join(seen, " "), "old old new new"; got != want {
		t.Errorf("states = %q, want %q", got, want)
	}
}

func TestOnlySIGKILLCountsAsACrash(t *testing.T) {
	for _, tt := range []struct {
		script string
		want   bool
	}{
		{"kill -9 $$", true},
		{"kill -15 $$", false},
		{"exit 137", false},
	} {
		if got := killed(exec.Command("sh", "-c", tt.script).Run()); got != tt.want {
			t.Errorf("killed(%q) = %v, want %v", tt.script, got, tt.want)
		}
	}
}
