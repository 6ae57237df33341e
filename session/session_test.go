package session_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/session"
)

const (
	id     = "01HZX3V5T8Q0SESSAAAA7K3MQX"
	planID = "01HZX3V5T8Q0PNANAAAA7K3MQX"
)

func at() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC) }

func talk(texts ...string) (ms []session.Message) {
	for i, text := range texts {
		role := actor.User
		if i%2 == 1 {
			role = actor.Assistant
		}
		ms = append(ms, session.Message{Session: id, N: i + 1, Role: role, Text: text, Plan: planID, At: at()})
	}
	return ms
}

// shown is a window in short.
func shown(ms []actor.Message) (out []string) {
	for _, m := range ms {
		text := string(m.Role) + ":"
		for _, p := range m.Pieces {
			text += " " + p.Origin + "=" + p.Text
		}
		out = append(out, text)
	}
	return out
}

func TestWindow(t *testing.T) {
	long := strings.Repeat("é", 1000) // 2000 bytes
	from := func(n int, ms []session.Message) []session.Message { return ms[n:] }
	for name, c := range map[string]struct {
		ms     []session.Message
		budget int
		want   []string
	}{
		"nothing was said": {nil, 10, nil},
		"all of it":        {talk("a", "b"), 10, []string{"user: session:" + id + "#1=a", "assistant: session:" + id + "#2=b"}},
		"exactly":          {talk("a", "b"), 2, []string{"user: session:" + id + "#1=a", "assistant: session:" + id + "#2=b"}},
		"the newest, beginning with an answer": {talk("aaa", "b"), 2, []string{
			"user: session:" + id + "#1-1=[1 earlier message of this conversation left out]\n", "assistant: session:" + id + "#2=b"}},
		"the newest, beginning with a question": {talk("aa", "bb", "c"), 2, []string{
			"user: session:" + id + "#1-2=[2 earlier messages of this conversation left out]\n session:" + id + "#3=c"}},
		"older ones were never read": {from(2, talk("a", "b", "c")), 9, []string{
			"user: session:" + id + "#1-2=[2 earlier messages of this conversation left out]\n session:" + id + "#3=c"}},
		"one is cut, between letters": {talk("a", long), 1501, []string{
			"user: session:" + id + "#1-1=[1 earlier message of this conversation left out]\n",
			"assistant: session:" + id + "#2=" + long[:1500] + " session:" + id + "#2=\n[the other 500 bytes of this message are left out]"}},
		"not even the newest": {talk("a", long), 10, []string{
			"user: session:" + id + "#1-2=[2 earlier messages of this conversation left out]\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, shown(session.Window(c.ms, c.budget))); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestWindowTellsWhereItIsFrom(t *testing.T) {
	ms := talk("a", "b", "c")
	ms[2].Imported = true
	var got []string
	for _, m := range session.Window(ms, 100) {
		for _, p := range m.Pieces {
			got = append(got, p.Slot+": "+p.Reason)
		}
	}
	want := []string{"message: said by the person to plan " + planID, "message: answered by plan " + planID, "message: said elsewhere, imported"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// Whatever was said, a window begins with the person, holds no more than its
// budget of it, holds the newest, and says how much is missing.
func TestWindowIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOf(rapid.StringN(1, 3000, 4000)).Draw(t, "texts")
		budget := rapid.IntRange(0, 6000).Draw(t, "budget")
		ms := talk(texts...)
		got := session.Window(ms, budget)
		size, first := 0, len(ms)+1
		for i, m := range got {
			if i == 0 && m.Role != actor.User {
				t.Fatalf("it begins with %s", m.Role)
			}
			for _, p := range m.Pieces {
				if !utf8.ValidString(p.Text) {
					t.Fatalf("%q is cut inside a letter", p.Text)
				}
				if p.Reason == "told what is left out" {
					continue
				}
				size += len(p.Text)
				n := 0
				if _, err := fmt.Sscanf(p.Origin, "session:"+id+"#%d", &n); err != nil || !strings.HasPrefix(ms[n-1].Text, p.Text) {
					t.Fatalf("%s is not what was said (%v)", p.Origin, err)
				}
				first = min(first, n)
			}
		}
		if size > budget {
			t.Fatalf("%d bytes, the budget is %d", size, budget)
		}
		if first > 1 && len(ms) > 0 && !strings.HasPrefix(got[0].Pieces[0].Text, fmt.Sprintf("[%d earlier message", first-1)) {
			t.Fatalf("%d messages are left out, and it says %q", first-1, got[0].Pieces[0].Text)
		}
	})
}

func TestCheckSaid(t *testing.T) {
	for text, good := range map[string]bool{
		"why?": true, strings.Repeat("a", session.MaxSaid): true,
		"": false, " \n": false, "a\x00": false, "\xff": false, strings.Repeat("a", session.MaxSaid+1): false,
	} {
		if err := session.CheckSaid(text); (err == nil) != good || err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func TestAnswer(t *testing.T) {
	long := session.Answer(strings.Repeat("é", session.MaxAnswer), planID)
	if len(long) > session.MaxAnswer || !strings.HasSuffix(long, "(the rest is in plan "+planID+")") || !utf8.ValidString(long) {
		t.Errorf("%d bytes that end with %q", len(long), long[len(long)-50:])
	}
	for said, want := range map[string]string{"yes": "yes", " ": "(the actor said nothing)", "a\x00b\xff": "a\uFFFDb\uFFFD"} {
		if got := session.Answer(said, planID); got != want {
			t.Errorf("%q became %q", said, got)
		}
	}
}

func sample() (session.Session, []session.Message) {
	ms := talk("Where?", "In \"a\" <b>\n\u2028.", "Why?")
	for i := range ms {
		ms[i].Imported = true
	}
	return session.Session{ID: id, Name: "local/talk", Project: "local/shop", Actor: "builtin/ask-execution", Created: at(), Updated: at()}, ms
}

func file(t testing.TB) []byte {
	t.Helper()
	s, ms := sample()
	var b bytes.Buffer
	if err := session.Encode(&b, s, ms, at()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFile(t *testing.T) {
	s, ms := sample()
	gotS, gotM, err := session.Decode(bytes.NewReader(file(t)))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(s, gotS) + cmp.Diff(ms, gotM); d != "" {
		t.Errorf("-written +read:\n%s", d)
	}
	s.Name = "local/empty"
	var b bytes.Buffer
	if err := session.Encode(&b, s, nil, at()); err != nil {
		t.Fatal(err)
	}
	if _, none, err := session.Decode(&b); err != nil || len(none) != 0 {
		t.Errorf("an empty session: %v, %v", none, err)
	}
}

// A file that was changed at any byte, or cut anywhere, is refused.
func TestDamagedFile(t *testing.T) {
	good := file(t)
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if _, _, err := session.Decode(bytes.NewReader(bad)); err == nil {
			t.Errorf("byte %d changed: %q was taken", i, bad)
		}
	}
	for i := range len(good) - 1 { // without the last end of line it is whole
		if _, _, err := session.Decode(bytes.NewReader(good[:i])); err == nil {
			t.Errorf("cut at byte %d: it was taken", i)
		}
	}
}

// rehash makes the hash of the end right again, as somebody who writes a file
// on purpose would.
func rehash(t *testing.T, text string) string {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	body := strings.Join(lines[:len(lines)-2], "")
	return body + fmt.Sprintf(`{"messages":%d,"sha256":"%x"}`+"\n", len(lines)-3, sum(body))
}

func sum(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }

func TestHostileFile(t *testing.T) {
	good := string(file(t))
	for name, c := range map[string]struct {
		old, new string
		kind     fault.Kind
		want     string
	}{
		"another format":     {"agents.session-export", "agents.plan-export", fault.Corrupt, "no export of a session"},
		"a newer version":    {`"version":1`, `"version":2`, fault.Unavailable, "reads 1"},
		"an unknown key":     {`"version":1`, `"version":1,"run":"rm"`, fault.Corrupt, `unknown key "run"`},
		"a key twice":        {`"version":1`, `"version":1,"name":"local/x"`, fault.Corrupt, "duplicate"},
		"no id":              {id + `","name`, `../../etc","name`, fault.Corrupt, "no id"},
		"a name with a path": {"local/talk", "../talk", fault.Corrupt, "no full name"},
		"a short name":       {"local/talk", "talk", fault.Corrupt, "no full name"},
		"a name of escapes":  {"local/talk", `local/\u001b[2J`, fault.Corrupt, "no full name"},
		"a number":           {`"n":2`, `"n":3`, fault.Corrupt, "it has the number 3"},
		"a system prompt":    {`"role":"user","text":"Where?"`, `"role":"system","text":"Where?"`, fault.Corrupt, "its role"},
		"an answer first":    {`"role":"user","text":"Where?"`, `"role":"assistant","text":"Where?"`, fault.Corrupt, "answers no question"},
		"another text":       {"Where?", "There?", fault.Corrupt, "not what its hash says"},
		"no plan":            {planID, "x", fault.Corrupt, "no id of a plan"},
		"a far year":         {`"at":"2026`, `"at":"9999`, 0, ""},
		"not a line":         {`{"n":1,`, `[{"n":1,`, fault.Corrupt, ""},
		"a deep one":         {`{"n":1,`, `{"n":1,"x":` + strings.Repeat("[", 100_000), fault.Corrupt, ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(good, c.old, c.new, 1)
			if text == good {
				t.Fatal("nothing was changed")
			}
			_, _, err := session.Decode(strings.NewReader(rehash(t, text)))
			switch {
			case c.want == "" && c.kind == 0:
				if err != nil {
					t.Errorf("refused: %v", err)
				}
			case err == nil || fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want):
				t.Errorf("got %v, want %s: %s", err, c.kind, c.want)
			}
		})
	}
	for _, junk := range []string{"", "\n", "{}", "null\n", "\x28\xb5\x2f\xfd", strings.Repeat("\n", 1<<16), good + "\n", good + good} {
		if _, _, err := session.Decode(strings.NewReader(junk)); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%.20q: %v", junk, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(file(f))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, ms, err := session.Decode(bytes.NewReader(data))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := session.Encode(&b, s, ms, at()); err != nil {
			t.Fatal(err)
		}
		s2, ms2, err := session.Decode(&b)
		if d := cmp.Diff(s, s2) + cmp.Diff(ms, ms2); err != nil || d != "" {
			t.Errorf("written again it is another one: %v\n%s", err, d)
		}
	})
}
