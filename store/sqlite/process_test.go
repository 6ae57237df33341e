package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/store/sqlite"
)

// The test binary runs itself as other processes: "child VERB PATH …".
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "child" {
		if err := child(context.Background(), os.Args[2], os.Args[3], os.Args[4:]); err != nil {
			fmt.Println(fault.KindOf(err), err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func child(ctx context.Context, verb, path string, args []string) error {
	if verb == "open-as" { // as a user whom permissions bind
		uid, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		if err := syscall.Setuid(uid); err != nil {
			return err
		}
	}
	s, err := sqlite.Open(ctx, path, sqlite.Options{Busy: 30 * time.Second})
	if err != nil {
		return err
	}
	defer s.Close()
	switch verb {
	case "count":
		n, err := strconv.Atoi(args[0])
		for i := 0; i < n && err == nil; i++ {
			err = s.Update(ctx, count)
		}
		return err
	case "groups": // until killed
		for i := 0; ; i++ {
			err := s.Update(ctx, func(tx engine.Tx) error {
				for part := range groupSize {
					fmt.Println("doing", i)
					e := plan.Event{Plan: "one", Type: fmt.Sprintf("%d/%d", i, part), Data: []byte(`"` + strings.Repeat("x", 3000) + `"`)}
					if err := tx.AppendEvent(&e); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			fmt.Println("done", i)
		}
	}
	return nil
}

const groupSize = 3

// count adds one to a number by reading and writing it, and one event.
func count(tx engine.Tx) error {
	v, err := tx.Setting("n")
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	n, _ := strconv.Atoi(v) // "" is 0
	return errors.Join(tx.PutSetting("n", strconv.Itoa(n+1)), tx.AppendEvent(&plan.Event{Plan: "one"}))
}

// spawn starts the test binary as a child.
func spawn(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command(self, append([]string{"child"}, args...)...)
}

func withPlan(t *testing.T, path string) {
	t.Helper()
	s := open(t, path, sqlite.Options{})
	if err := s.Update(t.Context(), func(tx engine.Tx) error { return tx.InsertPlan(plan.Plan{ID: "one"}) }); err != nil {
		t.Fatal(err)
	}
}

// T47: eight processes that read and write one number lose no step of it and
// never see the database busy. They also make its schema at the same moment.
func TestProcesses(t *testing.T) {
	const processes, each = 8, 200
	path := dbPath(t)
	run := func(verb string, args ...string) {
		var all sync.WaitGroup
		for range processes {
			cmd := spawn(t, append([]string{verb, path}, args...)...)
			all.Go(func() {
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s: %v: %s", verb, err, out)
				}
			})
		}
		all.Wait()
	}
	run("open")
	withPlan(t, path)
	run("count", strconv.Itoa(each))
	s := open(t, path, sqlite.Options{})
	err := s.View(t.Context(), func(tx engine.Tx) error {
		n, err := tx.Setting("n")
		if want := strconv.Itoa(processes * each); n != want {
			t.Errorf("got %s writes, want %s", n, want)
		}
		es, err2 := tx.Events("one", 0, 0)
		if len(es) != processes*each || es[len(es)-1].Seq != processes*each {
			t.Errorf("got %d events, want %d without a gap", len(es), processes*each)
		}
		return errors.Join(err, err2)
	})
	if err != nil {
		t.Error(err)
	}
}

// T47: a lock that is held longer than the limit is told, and nothing is half
// written.
func TestBusy(t *testing.T) {
	path := dbPath(t)
	withPlan(t, path)
	holder, quick := open(t, path, sqlite.Options{}), open(t, path, sqlite.Options{Busy: 30 * time.Millisecond})
	err := holder.Update(t.Context(), func(tx engine.Tx) error {
		for range 2 { // the second time the connection is there already
			err := quick.Update(t.Context(), count)
			if !fault.Is(err, fault.Busy) || fault.As(err).Hint == "" {
				t.Errorf("got error %v from another connection, want Busy with a hint", err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if err := holder.Update(ctx, count); !fault.Is(err, fault.Timeout) {
			t.Errorf("got error %v when the caller's time runs out first, want Timeout", err)
		}
		return count(tx)
	})
	if err != nil {
		t.Fatal(err)
	}
	// Within one process too.
	if err := quick.Update(t.Context(), func(engine.Tx) error {
		if err := quick.Update(t.Context(), count); !fault.Is(err, fault.Busy) {
			t.Errorf("got error %v from the same store, want Busy", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := quick.Update(t.Context(), count); err != nil {
		t.Errorf("after the lock is free: %v", err)
	}
}

var kills = flag.Int("kills", 15, "how often TestKill kills a writer")

// T48: a writer killed at any moment leaves a sound database with all that was
// acknowledged and no part of a transaction.
func TestKill(t *testing.T) {
	for i := range *kills {
		path := dbPath(t)
		withPlan(t, path)
		random := rand.New(rand.NewPCG(uint64(i), 48))
		acknowledged := killed(t, path, 1+random.IntN(60))

		s := open(t, path, sqlite.Options{})
		status, err := s.Status(t.Context())
		if err != nil || len(status.Problems) > 0 {
			t.Fatalf("kill %d: status %v, error %v", i, status.Problems, err)
		}
		err = s.View(t.Context(), func(tx engine.Tx) error {
			es, err := tx.Events("one", 0, 0)
			if len(es)%groupSize != 0 || len(es)/groupSize < acknowledged || len(es)/groupSize > acknowledged+1 {
				t.Errorf("kill %d: got %d events after %d acknowledged groups of %d", i, len(es), acknowledged, groupSize)
			}
			for j, e := range es {
				if want := fmt.Sprintf("%d/%d", j/groupSize, j%groupSize); e.Type != want || e.Seq != int64(j+1) {
					t.Fatalf("kill %d: event %d is %s with seq %d, want %s", i, j, e.Type, e.Seq, want)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Update(t.Context(), count); err != nil {
			t.Errorf("kill %d: the store cannot go on: %v", i, err)
		}
	}
}

// killed starts a writer, kills it when it has said so many lines, and returns
// how many groups it had acknowledged.
func killed(t *testing.T, path string, lines int) (acknowledged int) {
	t.Helper()
	cmd := spawn(t, "groups", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	for n := 1; said.Scan(); n++ { // also what it said between the signal and its death
		if strings.HasPrefix(said.Text(), "done ") {
			acknowledged++
		}
		if n == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the writer ended with %v, not by the kill", err)
	}
	return acknowledged
}
