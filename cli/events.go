package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cleveragents/agents/plan"
)

// facts are the data of an event.
type facts map[string]any

func factsOf(e plan.Event) facts {
	f := facts{}
	_ = json.Unmarshal(e.Data, &f) // data that is no object has no facts to show
	return f
}

func (f facts) text(key string) string {
	switch v := f[key].(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		var words []string
		for _, w := range v {
			words = append(words, fmt.Sprint(w))
		}
		return strings.Join(words, ", ")
	default:
		return fmt.Sprint(v)
	}
}

func (f facts) number(key string) float64 {
	n, _ := f[key].(float64)
	return n
}

// took returns " (1.2s)" from a number of milliseconds.
func (f facts) took() string {
	ms := f.number("ms")
	if ms <= 0 {
		return ""
	}
	return " (" + duration(time.Duration(ms)*time.Millisecond) + ")"
}

// duration is for people: no more digits than they read.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// tone is how a line of progress is painted.
type tone int

const (
	plainTone tone = iota
	goodTone
	warnTone
	badTone
	noteTone
)

// telling is what one event says to a person: a line that stays, or only what
// is going on right now.
type telling struct {
	mark    string
	text    string
	tone    tone
	passing bool // replaced by the next; a line of its own only with --verbose
}

// tell puts an event in words. An event of a type that it does not know is
// shown with its data.
func tell(e plan.Event) telling {
	f := factsOf(e)
	switch e.Type {
	case "plan.created":
		return telling{"●", fmt.Sprintf("plan %s: %s on %s", f.text("name"), f.text("action"), f.text("project")), noteTone, false}
	case "plan.state":
		return tellState(f)
	case "call.started":
		return telling{"…", fmt.Sprintf("turn %s: asking %s", f.text("turn"), f.text("model")), plainTone, true}
	case "call.finished":
		return telling{"…", fmt.Sprintf("turn %s: %s in, %s out, %s%s", f.text("turn"), f.text("input"), f.text("output"), f.text("stop"), f.took()), plainTone, true}
	case "call.retry":
		return telling{"!", fmt.Sprintf("asking again in %s: %s", duration(time.Duration(f.number("wait_ms"))*time.Millisecond), f.text("error")), warnTone, false}
	case "call.waiting":
		return telling{"!", fmt.Sprintf("%s is busy; going on in %s: %s", f.text("provider"), duration(time.Duration(f.number("wait_ms"))*time.Millisecond), f.text("error")), warnTone, false}
	case "call.cut":
		return telling{"!", fmt.Sprintf("turn %s is cut short: %s", f.text("turn"), f.text("reason")), warnTone, false}
	case "prompt.cut":
		return telling{"…", fmt.Sprintf("turn %s: %s results and %s turns are left out of the prompt, %s tokens instead of %s", f.text("turn"), f.text("results"), f.text("turns"), f.text("tokens"), f.text("whole")), plainTone, true}
	case "prompt.left":
		return telling{"●", "message: " + f.text("text"), noteTone, false}
	case "plan.renamed":
		return telling{"●", f.text("from") + " is called " + f.text("to"), noteTone, false}
	case "call.failed":
		return telling{"✗", fmt.Sprintf("turn %s: %s", f.text("turn"), f.text("error")), badTone, false}
	case "model.text":
		return telling{"…", f.text("text"), plainTone, true}
	case "node.entered":
		return telling{"▸", fmt.Sprintf("node %s, visit %s: %s", f.text("node"), f.text("visit"), f.text("what")), noteTone, strings.HasPrefix(f.text("what"), "tool ")}
	case "decision.recorded":
		return tellDecision(f)
	case "tool.started":
		return telling{"▸", strings.TrimSpace(f.text("tool") + " " + f.text("summary")), plainTone, true}
	case "tool.finished":
		return tellTool(f)
	case "change.recorded":
		return tellChange(f)
	case "validation.finished":
		return tellValidation(f)
	case "validation.fix":
		return telling{"!", fmt.Sprintf("fixing, round %s: %s", f.text("round"), f.text("validations")), warnTone, false}
	case "approval.asked":
		return telling{"?", fmt.Sprintf("approval %s asked: %s", shortID(f.text("id")), f.text("summary")), warnTone, false}
	case "approval.decided":
		return telling{"●", fmt.Sprintf("approval %s is %s", shortID(f.text("id")), f.text("state")), noteTone, false}
	case "apply.file":
		return telling{"✓", fmt.Sprintf("applied %s (%s)", f.text("path"), f.text("status")), goodTone, false}
	case "apply.landed":
		return tellLanded(f)
	case "gap.found":
		return telling{"!", strings.TrimSpace(fmt.Sprintf("not in the record: %s %s", f.text("path"), f.text("detail"))), warnTone, false}
	case "checkpoint.created":
		return telling{"●", "checkpoint " + shortID(f.text("id")), plainTone, true}
	case "sandbox.snapshot":
		return telling{"●", fmt.Sprintf("snapshot taken (%s)", f.text("backend")), plainTone, true}
	}
	return tellOther(e.Type, f)
}

func tellLanded(f facts) telling {
	text := "all changes are in place"
	if id := f.text("commit"); id != "" {
		text = "commit " + id[:min(12, len(id))] + " on " + f.text("ref")
	}
	return telling{"✓", text, goodTone, f.text("commit") == ""}
}

func tellState(f facts) telling {
	t := telling{"●", f.text("to"), noteTone, false}
	_, state, _ := strings.Cut(f.text("to"), "/")
	switch plan.State(state) {
	case plan.Complete, plan.Applied:
		t.tone = goodTone
	case plan.Waiting, plan.Paused, plan.Blocked:
		t.tone = warnTone
	case plan.Errored, plan.Constrained, plan.Cancelled:
		t.tone = badTone
	}
	if why := f.text("reason"); why != "" {
		t.text += ": " + why
	}
	return t
}

func tellDecision(f facts) telling {
	text := fmt.Sprintf("%s: %s → %s", f.text("type"), f.text("question"), f.text("chosen"))
	if n := int(f.number("alternatives")); n > 0 {
		text += fmt.Sprintf(" (%s)", plural(n, "alternative"))
	}
	if implicit, _ := f["implicit"].(bool); implicit {
		text += " [implicit]"
	}
	return telling{"◆", text, noteTone, false}
}

func tellTool(f facts) telling {
	t := telling{"▸", strings.TrimSpace(f.text("tool")+" "+f.text("summary")) + f.took(), plainTone, false}
	if status := f.text("status"); status != "ok" {
		t.text, t.tone = t.text+": "+status, warnTone
	}
	return t
}

func tellChange(f facts) telling {
	text := f.text("status") + " " + f.text("path")
	switch o := f.text("origin"); o {
	case "", "reported":
	case "untracked": // git means something else by the word
		text += " (found after the tool ran)"
	case "human":
		text += " (not by a tool)"
	default:
		text += " (" + o + ")"
	}
	return telling{"±", text, plainTone, false}
}

func tellValidation(f facts) telling {
	t := telling{"✗", fmt.Sprintf("%s %s (%s)", f.text("name"), f.text("verdict"), f.text("mode")), badTone, false}
	switch f.text("verdict") {
	case "passed":
		t.mark, t.tone = "✓", goodTone
	case "skipped":
		t.mark, t.tone = "-", warnTone
	default:
		if f.text("mode") != "required" {
			t.tone = warnTone
		}
	}
	if m := f.text("message"); m != "" {
		t.text += ": " + m
	}
	return t
}

func tellOther(kind string, f facts) telling {
	words := []string{kind}
	for _, k := range slices.Sorted(maps.Keys(f)) {
		words = append(words, k+"="+f.text(k))
	}
	return telling{"·", strings.Join(words, " "), plainTone, false}
}
