package local_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/a2a/local"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/llm"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/plan"
)

// talkRules answer by what was said before, and once only after a look at a file.
const talkRules = `rules:
  - when: {last_user_contains: break it}
    reply: {status: 400, text: no}
  - when: {last_user_contains: which file, turn: 0}
    reply: {tool_calls: [{name: builtin/read, args: {path: price.sh, why: it was asked}}]}
  - when: {last_user_contains: which file}
    reply: {text: "It is price.sh."}
  - when: {last_user_contains: and the line, contains: [which file, It is price.sh.]}
    reply: {text: "Line 2 of price.sh."}
  - when: {last_user_contains: long}
    reply: {repeat_text: {text: "0123456789abcde\n", bytes: 60000}}
  - when: {last_user_contains: what did I say}
    reply: {text: "I do not know."}
`

// newTalker is a facade with a project and a scripted model as the actor
// local/talker.
func newTalker(t *testing.T) *local.Facade {
	t.Helper()
	f, _ := newFacade(t)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "price.sh"), []byte("#!/bin/sh\nround\n"), 0o644))
	do(t, f, a2a.ProjectInit(), a2a.ProjectInitRequest{Dir: dir, Name: "shop"})
	do(t, f, a2a.ActorAdd(), a2a.ActorSource{File: "a.yaml", Text: "name: talker\nprovider: scripted\nmodel: talk\n"})
	speak(t, f, talkRules)
	return f
}

// speak makes the rules what the model answers by.
func speak(t *testing.T, f *local.Facade, rules string) {
	t.Helper()
	script, err := scripted.Parse("talk.yaml", []byte(rules))
	must(t, err)
	f.Engine.Model = llm.New(llm.Config{Providers: map[string]llm.Provider{
		scripted.Name: scripted.Provider(scripted.Config{Scripts: map[string]scripted.Script{"talk": script}}),
	}})
}

// mended are the rules without the one that fails.
func mended() string {
	return strings.Replace(talkRules, "status: 400, text: no", "text: mended", 1)
}

func tell(t *testing.T, f *local.Facade, ref, text string) a2a.PlanOutcome {
	t.Helper()
	return do(t, f, a2a.SessionTell(), a2a.SessionTellRequest{Ref: ref, Text: text})
}

// said is a conversation in short.
func said(v a2a.SessionView) (out []string) {
	for _, m := range v.Messages {
		out = append(out, fmt.Sprintf("%d %s: %s", m.N, m.Role, m.Text))
	}
	return out
}

func TestASessionSeesWhatWasSaid(t *testing.T) {
	f := newTalker(t)
	s := do(t, f, a2a.SessionCreate(), a2a.SessionCreateRequest{Name: "talk", Actor: "talker"})
	if s.Name != "local/talk" || s.Project != "local/shop" || s.Actor != "local/talker" || s.Messages != 0 {
		t.Errorf("got %+v", s)
	}
	one := tell(t, f, "talk", "which file rounds?")
	two := tell(t, f, string(s.ID[18:]), "and the line?")
	if two.Answer != "Line 2 of price.sh." || two.Plan.State != plan.Applied || two.Session.Messages != 4 || two.Plan.ID == one.Plan.ID {
		t.Errorf("got %+v", two)
	}
	v := do(t, f, a2a.SessionShow(), a2a.SessionShowQuery{Ref: "@last"})
	want := []string{"1 user: which file rounds?", "2 assistant: It is price.sh.", "3 user: and the line?", "4 assistant: Line 2 of price.sh."}
	if d := cmp.Diff(want, said(v)); d != "" || v.Earlier != 0 {
		t.Errorf("-want +got:\n%s", d)
	}
	for i, p := range []ident.PlanID{one.Plan.ID, one.Plan.ID, two.Plan.ID, two.Plan.ID} {
		if v.Messages[i].Plan != p {
			t.Errorf("message %d is of plan %s, want %s", i+1, v.Messages[i].Plan, p)
		}
	}
	newest := do(t, f, a2a.SessionShow(), a2a.SessionShowQuery{Ref: "talk", Messages: 1})
	if d := cmp.Diff(want[3:], said(newest)); d != "" || newest.Earlier != 3 {
		t.Errorf("%d earlier\n%s", newest.Earlier, d)
	}
	list := do(t, f, a2a.SessionList(), a2a.SessionListQuery{Project: "shop"})
	if len(list.Sessions) != 1 || list.Sessions[0].Messages != 4 || list.Sessions[0].Open != nil {
		t.Errorf("list: %+v", list)
	}
	// A session of another name knows nothing of it.
	do(t, f, a2a.SessionCreate(), a2a.SessionCreateRequest{Name: "other", Actor: "talker"})
	if got := tell(t, f, "other", "what did I say?"); got.Answer != "I do not know." {
		t.Errorf("another session: %q", got.Answer)
	}
}

// What was said before is in the manifest of the call, piece by piece, and the
// wire check found nothing wrong with it.
func TestTheConversationIsEvidence(t *testing.T) {
	f := newTalker(t)
	s := do(t, f, a2a.SessionCreate(), a2a.SessionCreateRequest{Actor: "talker"})
	tell(t, f, "", "which file rounds?")
	out := tell(t, f, "", "and the line?")
	calls := callsOf(t, f, out.Plan.ID)
	if len(calls) != 1 {
		t.Fatalf("%d calls", len(calls))
	}
	b, err := f.Engine.Blobs.Get(t.Context(), calls[0].Manifest)
	must(t, err)
	var m evidence.Manifest
	must(t, json.Unmarshal(b, &m))
	var got []string
	for _, sp := range m.Spans {
		if sp.Slot == "message" {
			text, err := f.Engine.Blobs.Get(t.Context(), sp.Blob)
			must(t, err)
			got = append(got, fmt.Sprintf("%s %s: %s", sp.Role, strings.TrimPrefix(sp.Origin, "session:"+string(s.ID)), text))
		}
	}
	want := []string{"user #1: which file rounds?", "assistant #2: It is price.sh."}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	must(t, f.Engine.Store.View(t.Context(), func(tx engine.Tx) error {
		gaps, err := tx.Gaps(out.Plan.ID)
		for _, g := range gaps {
			t.Errorf("gap %+v", g)
		}
		return err
	}))
}

func callsOf(t *testing.T, f *local.Facade, id ident.PlanID) (calls []evidence.Call) {
	t.Helper()
	must(t, f.Engine.Store.View(t.Context(), func(tx engine.Tx) (err error) {
		calls, err = tx.Calls(id)
		return err
	}))
	return calls
}

func TestALongConversationIsBounded(t *testing.T) {
	f := newTalker(t)
	do(t, f, a2a.SessionCreate(), a2a.SessionCreateRequest{Actor: "talker"})
	tell(t, f, "", "which file rounds?")
	tell(t, f, "", "something long")
	out := tell(t, f, "", "what did I say?")
	var p plan.Plan
	must(t, f.Engine.Store.View(t.Context(), func(tx engine.Tx) (err error) {
		p, err = tx.Plan(out.Plan.ID)
		return err
	}))
	b, err := f.Engine.Blobs.Get(t.Context(), p.Conversation)
	must(t, err)
	var ms []actor.Message
	must(t, json.Unmarshal(b, &ms))
	if len(ms) != 2 || !strings.HasPrefix(ms[0].Text(), "[3 earlier messages") || !strings.HasSuffix(ms[1].Text(), " bytes of this message are left out]") {
		t.Errorf("%d messages, %.80q", len(ms), ms[0].Text())
	}
	v := do(t, f, a2a.SessionShow(), a2a.SessionShowQuery{})
	if len(v.Messages) != 6 || len(v.Messages[3].Text) != 60000 {
		t.Errorf("the session itself lost something: %d messages", len(v.Messages))
	}
}

func TestAQuestionWithoutAnAnswer(t *testing.T) {
	f := newTalker(t)
	s := do(t, f, a2a.SessionCreate(), a2a.SessionCreateRequest{Name: "talk", Actor: "talker"})
	refused(t, f, a2a.SessionResume(), a2a.RefQuery{Ref: "talk"}, fault.Conflict)
	out := tell(t, f, "talk", "break it")
	resume := "agents session resume " + string(s.ID)
	if out.Plan.State == plan.Applied || out.Fault == nil || out.Fault.Hint != resume || out.Next[0] != resume || out.Session.Open == nil {
		t.Fatalf("got %+v", out)
	}
	err := refused(t, f, a2a.SessionTell(), a2a.SessionTellRequest{Ref: "talk", Text: "and now?"}, fault.Conflict)
	if !strings.HasPrefix(fault.As(err).Hint, resume) {
		t.Errorf("the hint is %q", fault.As(err).Hint)
	}
	// It goes on where it stopped when the cause is gone.
	speak(t, f, mended())
	if got := do(t, f, a2a.SessionResume(), a2a.RefQuery{Ref: "talk"}); got.Answer != "mended" || got.Session.Open != nil || got.Session.Messages != 2 {
		t.Errorf("got %+v", got)
	}
	refused(t, f, a2a.SessionResume(), a2a.RefQuery{Ref: "talk"}, fault.Conflict)

	// One that is given up stays a message, and the next question follows it.
	speak(t, f, talkRules)
	out = tell(t, f, "talk", "break it")
	do(t, f, a2a.PlanCancel(), a2a.PlanCancelRequest{Ref: string(out.Plan.ID)})
	refused(t, f, a2a.SessionResume(), a2a.RefQuery{Ref: "talk"}, fault.Conflict)
	tell(t, f, "talk", "what did I say?")
	want := []string{"1 user: break it", "2 assistant: mended", "3 user: break it", "4 user: what did I say?", "5 assistant: I do not know."}
	if d := cmp.Diff(want, said(do(t, f, a2a.SessionShow(), a2a.SessionShowQuery{Ref: "talk"}))); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// The plan of a question that was answered elsewhere, such as by plan resume, is
// the session's answer: shown at once, and stored by who tells next.
func TestAnAnswerIsFoundInItsPlan(t *testing.T) {
	f := newTalker(t)
	do(t, f, a2a.SessionCreate(), a2a.SessionCreateRequest{Name: "talk", Actor: "talker"})
	out := tell(t, f, "talk", "break it")
	speak(t, f, mended())
	do(t, f, a2a.PlanResume(), a2a.RefQuery{Ref: string(out.Plan.ID)})
	want := []string{"1 user: break it", "2 assistant: mended"}
	for range 2 { // to look stores nothing
		v := do(t, f, a2a.SessionShow(), a2a.SessionShowQuery{Ref: "talk"})
		if d := cmp.Diff(want, said(v)); d != "" || v.Session.Messages != 2 || v.Session.Open != nil {
			t.Errorf("%+v\n%s", v.Session, d)
		}
	}
	must(t, f.Engine.Store.View(t.Context(), func(tx engine.Tx) error {
		ms, err := tx.SessionMessages(ident.SessionID(out.Session.ID), 0)
		if len(ms) != 1 {
			t.Errorf("%d messages are stored", len(ms))
		}
		return err
	}))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { must(t, f.Engine.Settle(t.Context(), out.Session.ID)) })
	}
	all.Wait()
	tell(t, f, "talk", "what did I say?")
	want = append(want, "3 user: what did I say?", "4 assistant: I do not know.")
	if d := cmp.Diff(want, said(do(t, f, a2a.SessionShow(), a2a.SessionShowQuery{Ref: "talk"}))); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// Of several who tell at once one is heard; the others are told, and none of
// their messages is half there.
func TestTwoCannotTellAtOnce(t *testing.T) {
	f := newTalker(t)
	do(t, f, a2a.SessionCreate(), a2a.SessionCreateRequest{Name: "talk", Actor: "talker"})
	var all sync.WaitGroup
	var mu sync.Mutex
	heard := 0
	for range 4 {
		all.Go(func() {
			_, err := a2a.Call(t.Context(), f, a2a.SessionTell(), a2a.SessionTellRequest{Ref: "talk", Text: "what did I say?"}, nil)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				heard++
			} else if !fault.Is(err, fault.Conflict) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	v := do(t, f, a2a.SessionShow(), a2a.SessionShowQuery{Ref: "talk"})
	if heard == 0 || len(v.Messages) != 2*heard {
		t.Errorf("%d were heard, and there are %d messages", heard, len(v.Messages))
	}
	if plans := do(t, f, a2a.PlanList(), a2a.PlanListQuery{}); len(plans.Plans) != heard {
		t.Errorf("%d were heard, and there are %d plans", heard, len(plans.Plans))
	}
}

func TestNamesOfSessions(t *testing.T) {
	f := newTalker(t)
	refused(t, f, a2a.SessionShow(), a2a.SessionShowQuery{Ref: "@last"}, fault.NotFound)
	do(t, f, a2a.SessionCreate(), a2a.SessionCreateRequest{Name: "talk", Actor: "talker"})
	refused(t, f, a2a.SessionCreate(), a2a.SessionCreateRequest{Name: "talk", Actor: "talker"}, fault.Exists)
	refused(t, f, a2a.SessionCreate(), a2a.SessionCreateRequest{Name: "Talk!", Actor: "talker"}, fault.Invalid)
	refused(t, f, a2a.SessionCreate(), a2a.SessionCreateRequest{Actor: "nobody"}, fault.NotFound)
	refused(t, f, a2a.SessionCreate(), a2a.SessionCreateRequest{Project: "nowhere"}, fault.NotFound)
	other := do(t, f, a2a.SessionCreate(), a2a.SessionCreateRequest{})
	if want := "local/session-" + strings.ToLower(string(other.ID[20:])); other.Name != want || other.Actor != "builtin/ask-execution" {
		t.Errorf("got %+v", other)
	}
	refused(t, f, a2a.SessionRename(), a2a.SessionRenameRequest{Ref: "talk", Name: other.Name}, fault.Exists)
	if got := do(t, f, a2a.SessionRename(), a2a.SessionRenameRequest{Ref: "talk", Name: "better"}); got.Name != "local/better" {
		t.Errorf("got %+v", got)
	}
	if got := do(t, f, a2a.SessionShow(), a2a.SessionShowQuery{Ref: "@last"}); got.Session.Name != "local/better" {
		t.Errorf("@last is %s", got.Session.Name)
	}
	for _, ref := range []string{"talk", "ZZZZZZZZ", string(other.ID[:25]) + "X", "T!"} {
		if _, err := a2a.Call(t.Context(), f, a2a.SessionShow(), a2a.SessionShowQuery{Ref: ref}, nil); !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	for _, text := range []string{"", " \n", "a\x00b", "\xff", strings.Repeat("a", 1<<17)} {
		refused(t, f, a2a.SessionTell(), a2a.SessionTellRequest{Ref: "better", Text: text}, fault.Invalid)
	}
	refused(t, f, a2a.SessionTell(), a2a.SessionTellRequest{Ref: other.Name, Text: "which file?"}, fault.Unavailable)
	if v := do(t, f, a2a.SessionShow(), a2a.SessionShowQuery{Ref: other.Name}); len(v.Messages) != 0 {
		t.Errorf("a question without a plan is there: %v", said(v))
	}
}

func TestDeleteLeavesThePlans(t *testing.T) {
	f := newTalker(t)
	do(t, f, a2a.SessionCreate(), a2a.SessionCreateRequest{Name: "talk", Actor: "talker"})
	out := tell(t, f, "talk", "which file?")
	if got := do(t, f, a2a.SessionDelete(), a2a.RefQuery{Ref: "talk"}); got.Messages != 2 {
		t.Errorf("got %+v", got)
	}
	refused(t, f, a2a.SessionShow(), a2a.SessionShowQuery{Ref: "talk"}, fault.NotFound)
	refused(t, f, a2a.SessionDelete(), a2a.RefQuery{Ref: string(out.Session.ID)}, fault.NotFound)
	if got := do(t, f, a2a.PlanStatus(), a2a.RefQuery{Ref: string(out.Plan.ID)}); got.Answer != "It is price.sh." {
		t.Errorf("the plan says %+v", got)
	}
	do(t, f, a2a.SessionCreate(), a2a.SessionCreateRequest{Name: "talk", Actor: "talker"}) // the name is free
}

func TestASessionGoesElsewhere(t *testing.T) {
	f := newTalker(t)
	s := do(t, f, a2a.SessionCreate(), a2a.SessionCreateRequest{Name: "talk", Actor: "talker"})
	tell(t, f, "talk", "which file rounds?")
	var file bytes.Buffer
	to := func(a2a.SessionSummary) (io.Writer, error) { return &file, nil }
	if got := do(t, f, a2a.SessionExport(), a2a.SessionExportRequest{Ref: "talk", To: to}); got.Session.Messages != 2 {
		t.Errorf("got %+v", got)
	}
	from := func() a2a.SessionImportRequest {
		return a2a.SessionImportRequest{File: "talk.jsonl", From: bytes.NewReader(file.Bytes())}
	}
	refused(t, f, a2a.SessionImport(), from(), fault.Exists)

	g := newTalker(t)
	in := do(t, g, a2a.SessionImport(), from())
	if in.Session.ID != s.ID || in.Session.Name != "local/talk" || in.Session.Messages != 2 || in.Session.Open != nil {
		t.Errorf("got %+v", in)
	}
	if got := tell(t, g, "talk", "and the line?"); got.Answer != "Line 2 of price.sh." {
		t.Errorf("it does not go on: %+v", got)
	}
	v := do(t, g, a2a.SessionShow(), a2a.SessionShowQuery{Ref: "talk"})
	for i, imported := range []bool{true, true, false, false} {
		if v.Messages[i].Imported != imported {
			t.Errorf("message %d: imported %v", i+1, !imported)
		}
	}

	h := newTalker(t)
	do(t, h, a2a.SessionCreate(), a2a.SessionCreateRequest{Name: "talk", Actor: "talker"})
	err := refused(t, h, a2a.SessionImport(), from(), fault.Exists)
	if !strings.Contains(fault.As(err).Hint, "--name") {
		t.Errorf("the hint is %q", fault.As(err).Hint)
	}
	q := from()
	q.Name = "second"
	if got := do(t, h, a2a.SessionImport(), q); got.Session.Name != "local/second" {
		t.Errorf("got %+v", got)
	}
	bad := from()
	bad.From = strings.NewReader(strings.Replace(file.String(), "price.sh", "prize.sh", 1))
	err = refused(t, g, a2a.SessionImport(), bad, fault.Corrupt)
	if !strings.HasPrefix(err.Error(), "talk.jsonl: ") {
		t.Errorf("got %v", err)
	}
}

// A question that was imported without its answer waits for nobody here, even
// where its plan's id is that of a plan here.
func TestAnImportedQuestionIsNotAnswered(t *testing.T) {
	f := newTalker(t)
	do(t, f, a2a.SessionCreate(), a2a.SessionCreateRequest{Name: "talk", Actor: "talker"})
	tell(t, f, "talk", "break it")
	var file bytes.Buffer
	do(t, f, a2a.SessionExport(), a2a.SessionExportRequest{Ref: "talk", To: func(a2a.SessionSummary) (io.Writer, error) { return &file, nil }})
	do(t, f, a2a.SessionDelete(), a2a.RefQuery{Ref: "talk"})
	in := do(t, f, a2a.SessionImport(), a2a.SessionImportRequest{File: "x", From: &file})
	if in.Session.Open != nil || in.Session.Messages != 1 {
		t.Errorf("got %+v", in)
	}
	refused(t, f, a2a.SessionResume(), a2a.RefQuery{Ref: "talk"}, fault.Conflict)
	tell(t, f, "talk", "what did I say?")
}
