package crash

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const childEnv = "CRASH_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		os.Exit(m.Run())
	}
	for _, name := range []string{"a", "b", "c"} {
		Point(name)
	}
	os.Exit(0)
}

func TestPointKillsTheProcessAtTheNthPoint(t *testing.T) {
	tests := []struct {
		at     string
		killed bool
		want   string
	}{
		{"", false, "a\nb\nc\n"},
		{"1", true, "a\n"},
		{"3", true, "a\nb\nc\n"},
		{"4", false, "a\nb\nc\n"},
		{"0", false, "a\nb\nc\n"},
		{"-1", false, "a\nb\nc\n"},
		{"two", false, "a\nb\nc\n"},
	}
	for _, tt := range tests {
		t.Run("at="+tt.at, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "points")
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"=1", AtEnv+"="+tt.at, LogEnv+"="+log)
			err := cmd.Run()
			killed := err != nil && cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
			if killed != tt.killed || !killed && err != nil {
				t.Fatalf("killed = %v (%v), want %v", killed, err, tt.killed)
			}
			got, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWithoutItsVariablesNothingIsArmed(t *testing.T) {
	if tr := load("", ""); tr != nil {
		t.Fatalf("load = %+v, want nil", tr)
	}
	if tr := load("2", ""); tr == nil || tr.at != 2 {
		t.Fatalf("load of 2 = %+v", tr)
	}
}

func TestALogThatCannotBeOpenedDoesNotStopTheKilling(t *testing.T) {
	tr := load("2", filepath.Join(t.TempDir(), strings.Repeat("x", 300), "log"))
	kills := 0
	tr.kill = func() { kills++ }
	tr.hit("a")
	tr.hit("b")
	tr.hit("c")
	if kills != 1 {
		t.Fatalf("kills = %d, want 1", kills)
	}
}

func BenchmarkPointOff(b *testing.B) {
	for b.Loop() {
		Point("bench.off")
	}
}
