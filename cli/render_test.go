package cli

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/plan"
)

// readers is a command line for every operation, by method.
func readers() map[string][]string {
	return map[string][]string{
		"action/create": {"action", "create", "fmt"}, "action/list": {"action", "list"},
		"action/show": {"action", "show", "fmt"}, "action/validate": {"action", "validate", "fmt"},
		"actor/add": {"actor", "add", "coder", "--provider", "p", "--model", "m"}, "actor/list": {"actor", "list"}, "actor/show": {"actor", "show", "coder"},
		"actor/validate": {"actor", "validate", "fixer"}, "actor/remove": {"actor", "remove", "fixer"}, "actor/graph": {"actor", "graph", "fixer"}, "actor/run": {"actor", "run", "coder", "Why?"},
		"approval/list": {"approval", "list"}, "approval/show": {"approval", "show", "9Y2WKB"},
		"approval/approve": {"approval", "approve", "9Y2WKB"}, "approval/reject": {"approval", "reject", "9Y2WKB"}, "approval/answer": {"approval", "answer", "9Y2WKB", "--choose", "2"},
		"config/get": {"config", "get", "plan.max-cost", "--origin"}, "config/list": {"config", "list", "--origin"}, "config/set": {"config", "set", "plan.max-cost", "9"},
		"config/unset": {"config", "unset", "plan.max-cost"}, "config/explain": {"config", "explain", "plan.max-cost"}, "config/path": {"config", "path"},
		"config/edit": {"--no-input=false", "config", "edit"}, "config/validate": {"config", "validate"},
		"db/path": {"db", "path"}, "db/status": {"db", "status"},
		"db/backup": {"db", "backup", "-o", "monday.tar"}, "db/restore": {"db", "restore", "store.tar", "--yes"}, "db/migrate": {"db", "migrate", "--dry-run"}, "db/gc": {"db", "gc"},
		"doctor/run": {"doctor"},
		"plan/use":   {"plan", "use", "fmt"}, "plan/list": {"plan", "list"}, "plan/show": {"plan", "show", "--checkpoints", "--validations", "--costs"},
		"plan/status": {"plan", "status"}, "plan/strategize": {"plan", "strategize"}, "plan/execute": {"plan", "execute"},
		"plan/apply": {"plan", "apply"}, "plan/resume": {"plan", "resume"}, "plan/pause": {"plan", "pause"}, "plan/cancel": {"plan", "cancel", "7K3MQX"},
		"plan/tree": {"plan", "tree", "--show-superseded"}, "plan/explain": {"plan", "explain", "NEW1"}, "plan/diff": {"plan", "diff"},
		"plan/retry":  {"plan", "retry"},
		"plan/export": {"plan", "export", "-o", "fix.tar.zst"}, "plan/import": {"plan", "import", "fix.tar.zst"},
		"plan/prompt": {"plan", "prompt", "7K3MQX", "keep it short"},
		"plan/rename": {"plan", "rename", "7K3MQX", "better"}, "plan/label": {"plan", "label", "7K3MQX", "team=red", "old-"}, "plan/archive": {"plan", "archive", "7K3MQX"},
		"plan/logs": {"plan", "logs"}, "plan/watch": {"plan", "watch"}, "plan/wait": {"plan", "wait", "7K3MQX"},
		"session/create": {"session", "create"}, "session/list": {"session", "list"}, "session/show": {"session", "show", "--messages", "2"},
		"session/tell": {"session", "tell", "talk", "Why?"}, "session/resume": {"session", "resume", "talk"}, "session/rename": {"session", "rename", "talk", "rounding"},
		"session/export": {"session", "export", "talk", "-o", "talk.jsonl"}, "session/import": {"session", "import", "talk.jsonl"},
		"session/delete": {"session", "delete", "talk", "--yes"},
		"status/show":    {"status"}, "usage/show": {"usage", "--by", "plan"},
		"project/init": {"init"}, "project/create": {"project", "create", "shop"}, "project/list": {"project", "list"},
		"provider/add": {"provider", "add", "work", "--kind", "anthropic"}, "provider/list": {"provider", "list"}, "provider/show": {"provider", "show", "work"},
		"provider/models": {"provider", "models", "work", "--prices"}, "provider/test": {"provider", "test", "work"},
		"provider/remove": {"provider", "remove", "work"},
		"project/show":    {"project", "show"}, "project/use": {"project", "use", "shop"}, "project/link_resource": {"project", "link-resource", "shop", "code"},
		"checkpoint/list": {"plan", "checkpoints"}, "checkpoint/show": {"checkpoint", "show", "9Y2WKB"}, "checkpoint/diff": {"checkpoint", "diff", "9Y2WKB"},
		"checkpoint/gc": {"checkpoint", "gc"}, "plan/rollback": {"plan", "rollback", "--checkpoint", "9Y2WKB", "--yes"},
		"sandbox/exec": {"sandbox", "exec", "--net", "--", "make"},
		"resource/add": {"resource", "add", "git-checkout"}, "resource/list": {"resource", "list"}, "resource/show": {"resource", "show", "code"},
	}
}

// TestRenderings keeps what a person sees of every answer in a golden file. The
// JSON of every command is kept by the scripts of e2e, from real answers.
func TestRenderings(t *testing.T) {
	for method, args := range readers() {
		name := strings.ReplaceAll(method, "/", "_")
		var all strings.Builder
		for _, format := range []string{"plain", "rich"} {
			w := newWorld(answers())
			w.want(t, 0, append([]string{"--format", format}, args...)...)
			all.WriteString("-- " + format + " --\n" + w.out.String())
			if w.err.Len() > 0 {
				all.WriteString("-- " + format + " stderr --\n" + w.err.String())
			}
		}
		golden(t, name, all.String())
	}
}

func TestRenderingsCoverTheTable(t *testing.T) {
	for _, info := range a2a.Table() {
		short := strings.TrimPrefix(info.Method, "_cleveragents/")
		if readers()[short] == nil {
			t.Errorf("no rendering test of %s", info.Method)
		}
		if got := reflect.TypeOf(answers()[short]); got != info.Response {
			t.Errorf("%s: the sample answer is %v, want %v", info.Method, got, info.Response)
		}
	}
}

const hostile = "x\x1b[2J\x1b]8;;http://e\a\r\u202eevil\u009b31m\n\ty"

// poison sets every text that v holds to s.
func poison(v reflect.Value, s string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), s)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				poison(v.Field(i), s)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if v.Type().Elem().Kind() != reflect.Uint8 {
				poison(v.Index(i), s)
			}
		}
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String && v.Len() > 0 {
			k := reflect.New(v.Type().Key()).Elem()
			k.SetString(s)
			v.SetMapIndex(k, v.MapIndex(v.MapKeys()[0]))
		}
	}
}

// poisoned is a copy of an answer in which every text is s.
func poisoned(answer any, s string) any {
	v := reflect.New(reflect.TypeOf(answer)).Elem()
	v.Set(reflect.ValueOf(answer))
	poison(v, s)
	return v.Interface()
}

// T18: terminal escapes in names, output and model text are neutralised in
// every rendering for people, and JSON and YAML keep the value.
func TestHostileText(t *testing.T) {
	for method, args := range readers() {
		bad := map[string]any{}
		for m, a := range answers() {
			bad[m] = poisoned(a, hostile)
		}
		for _, format := range []string{"plain", "table", "rich"} {
			w := newWorld(bad)
			w.run(append([]string{"--format", format, "--verbose"}, args...)...)
			for name, text := range map[string]string{"stdout": w.out.String(), "stderr": w.err.String()} {
				if r, found := harmful(text, "\n\t"); found {
					t.Errorf("%s, %s: %s holds %U:\n%q", method, format, name, r, text)
				}
			}
			if !strings.Contains(w.out.String()+w.err.String(), `\x1b[2J`) {
				t.Errorf("%s, %s: the text is not shown at all:\n%s", method, format, &w.out)
			}
		}
		w := newWorld(bad)
		w.run(append([]string{"--format", "json"}, args...)...)
		var env struct{ Data any }
		if err := json.Unmarshal(w.out.Bytes(), &env); err != nil {
			t.Errorf("%s: %v in %s", method, err, &w.out)
		}
		if r, found := harmful(w.out.String(), "\n"); found {
			t.Errorf("%s: JSON holds %U", method, r)
		}
		if !holds(env.Data, hostile) {
			t.Errorf("%s: JSON lost the value", method)
		}
		w.run(append([]string{"--format", "yaml"}, args...)...)
		var y struct{ Data any }
		if err := yaml.Unmarshal(w.out.Bytes(), &y); err != nil || !holds(y.Data, hostile) {
			t.Errorf("%s: YAML lost the value: %v", method, err)
		}
	}
}

// TestHostileEvents is the same for progress.
func TestHostileEvents(t *testing.T) {
	data, err := json.Marshal(map[string]string{
		"name": hostile, "reason": hostile, "text": hostile, "summary": hostile, "path": hostile, "to": hostile, "tool": hostile,
		"question": hostile, "chosen": hostile, "message": hostile, "status": hostile, "detail": hostile, "error": hostile, "id": "\x1b[2J",
		"model": hostile, "commit": hostile, "ref": hostile, "stop": hostile, "state": hostile, "backend": hostile, "validations": hostile, "node": hostile, "what": hostile, "turns": hostile, "results": hostile,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range append(eventTypes(), hostile) {
		bad := answers()
		bad["plan/execute"] = streaming(answers()["plan/execute"], plan.Event{Plan: planID, Seq: 1, Type: kind, Data: data})
		w := newWorld(bad)
		w.want(t, 0, "plan", "execute", "--verbose", "--format", "plain")
		if r, found := harmful(w.err.String(), "\n"); found || !strings.Contains(w.err.String(), `\x1b[2J`) {
			t.Errorf("%s: %U in %q", kind, r, &w.err)
		}
		if got := strings.Count(w.err.String(), "\n"); got != 2 { // the event and "next:"
			t.Errorf("%s: %d lines: %q", kind, got, &w.err)
		}
	}
}

func holds(v any, s string) bool {
	switch v := v.(type) {
	case string:
		return v == s
	case []any:
		for _, e := range v {
			if holds(e, s) {
				return true
			}
		}
	case map[string]any:
		for k, e := range v {
			if k == s || holds(e, s) {
				return true
			}
		}
	}
	return false
}
