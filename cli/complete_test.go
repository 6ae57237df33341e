package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

func TestPlaceholder(t *testing.T) {
	for _, c := range []struct {
		use  string
		at   int
		want string
	}{
		{"show [<plan>]", 0, "plan"}, {"show [<plan>]", 1, ""}, {"wait <plan>...", 3, "plan"},
		{"link-resource <project> <resource>...", 0, "project"}, {"link-resource <project> <resource>...", 4, "resource"},
		{"diff [<plan> [<path>...]]", 1, "path"}, {"diff [<plan> [<path>...]]", 5, "path"},
		{"validate {<action> | --config <file>}", 0, "action"}, {"create <project>", 0, ""}, {"list", 0, ""},
	} {
		if got := placeholder(c.use, c.at); got != c.want {
			t.Errorf("%q at %d: %q, want %q", c.use, c.at, got, c.want)
		}
	}
}

func TestCompletion(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"plan|show|", "AA7K3MQX\tlocal/fix-1 execute/waiting"},
		{"plan|wait|x|", "AA7K3MQX\t"},
		{"session|tell|", "local/talk\t3 messages about local/shop"},
		{"plan|use|lo", "local/fmt\tFormat the code. All of it."},
		{"run|", "local/fmt\t"},
		{"actor|show|", "local/coder"},
		{"project|use|", "local/shop\tthe web shop"},
		{"project|link-resource|shop|", "local/shop-code\t/home/ann/shop"},
		{"approval|approve|", "AA9Y2WKB\tenter apply"},
		{"plan|explain|", "0000R00T\tWhat is to be done? → fix the parser"},
		{"plan|use|fmt|--automation-profile|", "ci\teverything"},
		{"plan|list|-p|", "local/shop\t"},
		{"plan|use|fmt|--execution-actor|", "local/coder"},
		{"--format|j", "jsonl"},
		{"config|get|log", "log.level"},
		{"plan|list|--sort|", "created\n"},
		{"plan|list|--filter|", "state=\n"},
		{"help|", "exit-codes"},
		{"help|plan|", "explain"},
	} {
		w := newWorld(answers())
		w.want(t, 0, append([]string{"__complete"}, strings.Split(c.args, "|")...)...)
		if !strings.Contains("\n"+w.out.String(), "\n"+c.want) {
			t.Errorf("%s: no %q in\n%s", c.args, c.want, &w.out)
		}
		if w.opened > 0 && !w.opts.Existing {
			t.Errorf("%s may make a store", c.args)
		}
	}
	w := newWorld(answers())
	w.want(t, 0, "__complete", "plan", "use", "nothing-like-it")
	if strings.Contains(w.out.String(), "local/") {
		t.Errorf("stdout %s", &w.out)
	}
	w.want(t, 0, "__complete", "plan", "import", "")
	if !strings.Contains(w.out.String(), ":0\n") { // files are left to the shell
		t.Errorf("stdout %s", &w.out)
	}
}

// What a name holds cannot move the cursor or look like another candidate.
func TestHostileCompletion(t *testing.T) {
	list := answers()
	list["action/list"] = poisoned(list["action/list"], hostile)
	w := newWorld(list)
	w.want(t, 0, "__complete", "plan", "use", "")
	if r, found := harmful(w.out.String(), "\n\t"); found || strings.Count(w.out.String(), "\n") != 2 {
		t.Errorf("%U in %q", r, &w.out)
	}
}

func TestCompletionIsSilent(t *testing.T) {
	for _, bad := range []any{fault.New(fault.Corrupt, "damaged"), errors.New("boom")} {
		w := newWorld(map[string]any{"plan/list": bad})
		w.want(t, 0, "__complete", "plan", "show", "")
		if strings.Contains(w.err.String(), "damaged") || strings.Contains(w.err.String(), "boom") || w.out.String() != ":4\n" {
			t.Errorf("stdout %q, stderr %q", &w.out, &w.err)
		}
	}
	w := newWorld(answers())
	w.env.Open = func(context.Context, Options) (a2a.Client, io.Closer, error) {
		return nil, nil, fault.New(fault.NotFound, "no store")
	}
	w.want(t, 0, "__complete", "plan", "show", "")
	if w.out.String() != ":4\n" || strings.Contains(w.err.String(), "no store") {
		t.Errorf("stdout %q, stderr %q", &w.out, &w.err)
	}
}

func TestCompletionIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(map[string]any{"plan/list": answerer(func(ctx context.Context, _ any, _ func(plan.Event)) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})})
		began := time.Now()
		w.want(t, 0, "__complete", "plan", "show", "")
		if took := time.Since(began); took != completionTime || w.out.String() != ":4\n" {
			t.Errorf("took %s: %q", took, &w.out)
		}
	})
}
