package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/llm/scripted"
)

const killRules = `rules:
  - when: {turn: 0}
    reply: {tool_calls: [{name: builtin/read, args: {path: price.sh, why: it was asked}}]}
  - when: {turn: 1}
    reply: {text: "It is price.sh."}
`

// counted serves a scripted model on loopback and counts what it was asked.
func counted(t *testing.T, rules string, asked *atomic.Int64) *httptest.Server {
	t.Helper()
	script, err := scripted.Parse("rules.yaml", []byte(rules))
	if err != nil {
		t.Fatal(err)
	}
	p := scripted.Provider(scripted.Config{Scripts: map[string]scripted.Script{"m": script}})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		out, err := http.NewRequestWithContext(r.Context(), r.Method, p.BaseURL+strings.TrimPrefix(r.URL.Path, "/v1"), r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		out.Header = r.Header.Clone()
		resp, err := p.Transport.RoundTrip(out)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		maps.Copy(w.Header(), resp.Header)
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body) // the asker may be dead
	}))
	t.Cleanup(s.Close)
	return s
}

// killed is one home in which the program is run and killed.
type killed struct {
	t    *testing.T
	home string
}

func (k killed) run(env []string, args ...string) (string, error) {
	cmd := exec.Command("agents", args...)
	cmd.Dir = filepath.Join(k.home, "shop")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + k.home, "GOCOVERDIR=" + os.Getenv("GOCOVERDIR")}, env...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("agents %s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return string(out), err
}

func (k killed) must(args ...string) string {
	k.t.Helper()
	out, err := k.run(nil, args...)
	if err != nil {
		k.t.Fatal(err)
	}
	return out
}

// talk is what is there of a session, and how many calls of its plans have an
// answer.
type talk struct {
	Data struct {
		Messages []struct{ Role, Text, Plan string }
	}
}

func (k killed) look(name string) (v talk, answered int) {
	k.t.Helper()
	if err := json.Unmarshal([]byte(k.must("--format=json", "session", "show", name)), &v); err != nil {
		k.t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range v.Data.Messages {
		if seen[m.Plan] {
			continue
		}
		seen[m.Plan] = true
		var p struct {
			Data struct{ Calls []struct{ Message string } }
		}
		if err := json.Unmarshal([]byte(k.must("--format=json", "plan", "show", m.Plan)), &p); err != nil {
			k.t.Fatal(err)
		}
		for _, c := range p.Data.Calls {
			if c.Message != "" {
				answered++
			}
		}
	}
	return v, answered
}

// points are the numbers of the crash points to die at: the first and the last
// one of each name.
func points(names []string) (out []int) {
	for i, name := range names {
		if slices.Index(names, name) == i || !slices.Contains(names[i+1:], name) {
			out = append(out, i+1)
		}
	}
	return out
}

// TestSessionKilled kills "session tell" at its crash points. A question that
// was stored is answered by "session resume", one that was not is told again; no
// message is lost or there twice, and no call that has an answer is made again.
func TestSessionKilled(t *testing.T) {
	var asked atomic.Int64
	server := counted(t, killRules, &asked)
	k := killed{t, t.TempDir()}
	if err := os.Mkdir(filepath.Join(k.home, "shop"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(k.home, "shop", "price.sh"), []byte("round\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	k.must("init", "--name", "shop")
	k.must("provider", "add", "fake", "--kind", "openai-compatible", "--base-url", server.URL+"/v1", "--model", "m", "--free")
	k.must("session", "create", "--name", "whole")
	log := filepath.Join(k.home, "points")
	if _, err := k.run([]string{crash.LogEnv + "=" + log}, "session", "tell", "whole", "Which file?"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(b))
	if v, n := k.look("whole"); len(v.Data.Messages) != 2 || n != 2 || asked.Load() != 2 {
		t.Fatalf("undisturbed: %+v, %d calls, asked %d times", v, n, asked.Load())
	}
	for _, at := range points(names) {
		name := fmt.Sprint("killed-", at)
		k.must("session", "create", "--name", name)
		_, err := k.run([]string{fmt.Sprint(crash.AtEnv, "=", at)}, "session", "tell", name, "Which file?")
		if !diedOf(err, syscall.SIGKILL) {
			t.Errorf("point %d (%s): the program ended with %v", at, names[at-1], err)
			continue
		}
		left, answered := k.look(name)
		asked.Store(0)
		switch len(left.Data.Messages) {
		case 0:
			k.must("session", "tell", name, "Which file?")
		case 1:
			k.must("session", "resume", name)
		}
		v, n := k.look(name)
		ms := v.Data.Messages
		if len(ms) != 2 || ms[0].Text != "Which file?" || ms[1].Text != "It is price.sh." || ms[0].Plan != ms[1].Plan {
			t.Errorf("point %d (%s): %+v was left, then there is %+v", at, names[at-1], left, v)
		}
		if got := int(asked.Load()); n != 2 || got != 2-answered {
			t.Errorf("point %d (%s): %d calls had an answer, then the model was asked %d times", at, names[at-1], answered, got)
		}
	}
	for _, want := range []string{"session.tell", "session.answer"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s was not reached: %v", want, names)
		}
	}
}

func diedOf(err error, sig syscall.Signal) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == sig
}
