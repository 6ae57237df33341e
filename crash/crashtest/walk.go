// Package crashtest walks a program through every place where it can crash.
//
// Walk runs a child process again and again: it dies at its first crash point,
// then at its second, and so on until it ends normally; after each death the
// test's check looks at what is left. It does not start processes itself and
// does not clean up between the runs: whether each run goes on from the state
// of the one before or from a fresh one is the test's choice.
package crashtest

import (
	"errors"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/cleveragents/agents/crash"
)

// limit bounds a walk whose child dies for ever, because its crash points lie
// in a loop that never gets further.
const limit = 5000

// Walk calls run with the environment that makes the child die at crash point
// 1, 2, 3, …, until run returns nil; the environment is to be added to the
// child's. After each run, the last one too, it calls check. It fails the test
// when the child ends in another way than by SIGKILL, or when no point was
// reached at all. It returns how many times the child died.
func Walk(t *testing.T, run func(t *testing.T, env []string) (exit error), check func(t *testing.T)) int {
	t.Helper()
	for n := 1; n <= limit; n++ {
		err := run(t, []string{crash.AtEnv + "=" + strconv.Itoa(n)})
		if err != nil && !killed(err) {
			t.Fatalf("crash point %d: the child ended with %v, want SIGKILL or success", n, err)
		}
		check(t)
		if t.Failed() {
			t.Fatalf("crash point %d: the check failed", n)
		}
		if err == nil {
			if n == 1 {
				t.Fatal("the child reached no crash point")
			}
			return n - 1
		}
	}
	t.Fatalf("the child still dies at crash point %d", limit)
	return limit
}

func killed(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
