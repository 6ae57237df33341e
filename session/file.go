package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/decode"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
)

// A file is lines of JSON: a head, one line a message, and an end that has the
// number of messages and the hash of every byte before it. Nothing in it is a
// path, and nothing is run.

// What a file says about itself.
const (
	Format  = "agents.session-export"
	Version = 1
)

// Bounds of a file.
const (
	maxLine     = 7 << 20 // MaxAnswer, with every byte written as an escape
	maxFile     = 256 << 20
	maxMessages = 100_000
)

type head struct {
	Format  string          `json:"format"`
	Version int             `json:"version"`
	ID      ident.SessionID `json:"id"`
	Name    string          `json:"name"`
	Project string          `json:"project"`
	Actor   string          `json:"actor"`
	Created time.Time       `json:"created"`
	Updated time.Time       `json:"updated"`
	Made    time.Time       `json:"made"`
}

type line struct {
	N        int          `json:"n"`
	Role     actor.Role   `json:"role"`
	Text     string       `json:"text"`
	Hash     string       `json:"sha256"` // of the text
	Plan     ident.PlanID `json:"plan"`
	Imported bool         `json:"imported,omitempty"`
	At       time.Time    `json:"at"`
}

type end struct {
	Messages *int   `json:"messages"`
	Hash     string `json:"sha256"` // of every byte before this line
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// Encode writes a session with all its messages.
func Encode(w io.Writer, s Session, ms []Message, made time.Time) error {
	h := sha256.New()
	write := func(v any) error {
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		b = append(b, '\n')
		_, _ = h.Write(b) // a hash takes everything
		_, err = w.Write(b)
		return err
	}
	if len(ms) > maxMessages {
		return fault.New(fault.Exhausted, "the session has %d messages, a file holds %d", len(ms), maxMessages)
	}
	err := write(head{Format, Version, s.ID, s.Name, s.Project, s.Actor, s.Created.UTC(), s.Updated.UTC(), made.UTC()})
	for _, m := range ms {
		if err == nil {
			err = write(line{m.N, m.Role, m.Text, sum([]byte(m.Text)), m.Plan, m.Imported, m.At.UTC()})
		}
	}
	if err == nil {
		n := len(ms)
		err = write(end{&n, hex.EncodeToString(h.Sum(nil))})
	}
	if err != nil {
		return fault.New(fault.Internal, "write the session: %w", err)
	}
	return nil
}

// Decode reads a whole file and checks it: its form, its hashes, its numbers and
// names. What is wrong with it is fault.Corrupt, too much fault.Exhausted. It
// does not prove who wrote the file: all its messages come out as imported.
func Decode(r io.Reader) (s Session, ms []Message, err error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return s, nil, fault.New(fault.Corrupt, "this is no export of a session: %w", err)
	case len(data) > maxFile:
		return s, nil, fault.New(fault.Exhausted, "the file has more than %d bytes", maxFile)
	}
	next := lines(data)
	if s, err = decodeHead(next); err != nil {
		return Session{}, nil, err
	}
	for {
		from, text, ok := next()
		if !ok {
			return Session{}, nil, fault.New(fault.Corrupt, "the file is cut off: it has no end")
		}
		if bytes.HasPrefix(text, []byte(`{"messages":`)) {
			if err := checkEnd(text, data[:from], len(ms)); err != nil {
				return Session{}, nil, err
			}
			break
		}
		m, err := decodeLine(text, s.ID, ms)
		if err != nil {
			return Session{}, nil, err
		}
		ms = append(ms, m)
	}
	if _, _, more := next(); more {
		return Session{}, nil, fault.New(fault.Corrupt, "there is more after the end")
	}
	return s, ms, nil
}

// lines gives one whole line after the other, and where it begins; what has no
// end of line is none.
func lines(data []byte) func() (from int, text []byte, ok bool) {
	at := 0
	return func() (int, []byte, bool) {
		n := bytes.IndexByte(data[at:], '\n')
		if n < 0 {
			rest := data[at:]
			at = len(data)
			return at - len(rest), rest, len(rest) > 0
		}
		from := at
		at += n + 1
		return from, data[from : from+n], true
	}
}

func strict(what string, text []byte, v any) error {
	if len(text) > maxLine {
		return fault.New(fault.Exhausted, "%s has %d bytes, at most %d", what, len(text), maxLine)
	}
	if err := decode.JSON(what, text, v); err != nil {
		return fault.New(fault.Corrupt, "%w", err)
	}
	return nil
}

func decodeHead(next func() (int, []byte, bool)) (s Session, err error) {
	_, text, ok := next()
	var h head
	var probe struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if !ok || len(text) > maxLine || json.Unmarshal(text, &probe) != nil || probe.Format != Format {
		return s, fault.New(fault.Corrupt, "this is no export of a session: its format is %.80q", probe.Format)
	}
	if probe.Version != Version {
		return s, fault.New(fault.Unavailable, "the export has version %d, this program reads %d", probe.Version, Version).
			WithHint("use the version of agents that wrote it, or a newer one")
	}
	if err := strict("head", text, &h); err != nil {
		return s, err
	}
	if !isID(string(h.ID)) {
		return s, fault.New(fault.Corrupt, "head: %.80q is no id", string(h.ID))
	}
	for _, name := range []string{h.Name, h.Project, h.Actor} {
		if full, err := ident.Canonical(name); err != nil || full != name {
			return s, fault.New(fault.Corrupt, "head: %.80q is no full name", name)
		}
	}
	if err := checkTime("head", h.Created, h.Updated, h.Made); err != nil {
		return s, err
	}
	return Session{h.ID, h.Name, h.Project, h.Actor, h.Created.UTC(), h.Updated.UTC()}, nil
}

func isID(s string) bool {
	id, whole, err := ident.ParseRef(s)
	return err == nil && whole && id == s
}

// checkTime refuses what a store could not sort as text.
func checkTime(what string, all ...time.Time) error {
	for _, t := range all {
		if y := t.UTC().Year(); y < 1 || y > 9999 {
			return fault.New(fault.Corrupt, "%s: the year %d", what, y)
		}
	}
	return nil
}

func decodeLine(text []byte, id ident.SessionID, before []Message) (m Message, err error) {
	n := len(before) + 1
	what := fmt.Sprintf("message %d", n)
	bad := func(format string, args ...any) error {
		return fault.New(fault.Corrupt, what+": "+format, args...)
	}
	if n > maxMessages {
		return m, fault.New(fault.Exhausted, "there are more than %d messages", maxMessages)
	}
	var l line
	if err := strict(what, text, &l); err != nil {
		return m, err
	}
	most := MaxSaid
	if l.Role == actor.Assistant {
		most = MaxAnswer
	}
	switch {
	case l.N != n:
		return m, bad("it has the number %d", l.N)
	case l.Role != actor.User && l.Role != actor.Assistant:
		return m, bad("its role is %.80q", string(l.Role))
	case l.Role == actor.Assistant && (n == 1 || before[n-2].Role != actor.User):
		return m, bad("it answers no question")
	case !isText(l.Text) || l.Text == "":
		return m, bad("it is no text")
	case len(l.Text) > most:
		return m, fault.New(fault.Exhausted, "%s has %d bytes, at most %d", what, len(l.Text), most)
	case sum([]byte(l.Text)) != l.Hash:
		return m, bad("its text is not what its hash says")
	case l.Plan != "" && !isID(string(l.Plan)):
		return m, bad("%.80q is no id of a plan", string(l.Plan))
	}
	if err := checkTime(what, l.At); err != nil {
		return m, err
	}
	return Message{Session: id, N: n, Role: l.Role, Text: l.Text, Plan: l.Plan, Imported: true, At: l.At.UTC()}, nil
}

func checkEnd(text, before []byte, messages int) error {
	var e end
	if err := strict("end", text, &e); err != nil {
		return err
	}
	if e.Messages == nil || *e.Messages != messages || e.Hash != sum(before) {
		return fault.New(fault.Corrupt, "the file is not what its end says")
	}
	return nil
}
