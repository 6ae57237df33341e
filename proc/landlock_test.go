package proc_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/cleveragents/agents/proc"
)

// The kernel's own list of what is switched on tells the same.
func TestLandlock(t *testing.T) {
	list, err := os.ReadFile("/sys/kernel/security/lsm")
	on := err == nil && strings.Contains(string(list), "landlock")
	got := proc.Landlock()
	if on && got < 1 {
		t.Error("the kernel has Landlock, and it is not found")
	}
	if runtime.GOOS != "linux" && got != 0 {
		t.Errorf("version %d on %s", got, runtime.GOOS)
	}
	if got < 0 || got > 100 {
		t.Errorf("version %d", got)
	}
}
