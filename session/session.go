// Package session is a conversation that goes on: a person asks one actor, in
// one project, again and again, and each question sees what was said before.
//
// A session is a row and its messages, numbered from 1 without a gap. A question
// is the task of a plan of its own, and its answer is the message after it.
// Window (window.go) chooses how much of the conversation the next plan sees;
// Encode and Decode (file.go) are a session as one file. Package session is
// pure; the engine makes the plans, a store keeps the rows.
package session

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
)

// Bounds of texts, in bytes.
const (
	MaxSaid   = 64 << 10 // what a person says at once
	MaxAnswer = 1 << 20  // an answer as it is kept here; the plan has all of it
)

// Session is one conversation.
type Session struct {
	ID      ident.SessionID `json:"id"`
	Name    string          `json:"name"`    // canonical and unique
	Project string          `json:"project"` // canonical name
	Actor   string          `json:"actor"`   // canonical name; looked up anew for each question
	Created time.Time       `json:"created"`
	Updated time.Time       `json:"updated"` // when something was said last, or the name changed
}

// Message is one thing that was said.
type Message struct {
	Session ident.SessionID `json:"session"`
	N       int             `json:"n"`    // from 1
	Role    actor.Role      `json:"role"` // actor.User or actor.Assistant
	Text    string          `json:"text"`
	Plan    ident.PlanID    `json:"plan"` // whose task it is, or that answered
	// Imported says that it was said elsewhere: its plan may not be here, and
	// nobody vouches for who said it.
	Imported bool      `json:"imported,omitempty"`
	At       time.Time `json:"at"`
}

// CheckSaid refuses what a person cannot say: nothing, too much, or what is no
// text.
func CheckSaid(text string) error {
	switch {
	case !isText(text):
		return fault.New(fault.Invalid, "the message is not UTF-8 text")
	case strings.TrimSpace(text) == "":
		return fault.New(fault.Invalid, "the message says nothing")
	case len(text) > MaxSaid:
		return fault.New(fault.Invalid, "the message has %d bytes, at most %d", len(text), MaxSaid).
			WithHint("put it into a file of the project and name the file")
	}
	return nil
}

// isText reports whether both databases can keep s as text.
func isText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// Answer is what a model said, as it is kept: text, bounded, and never nothing.
func Answer(said string, p ident.PlanID) string {
	said = strings.ReplaceAll(strings.ToValidUTF8(said, "\uFFFD"), "\x00", "\uFFFD")
	if strings.TrimSpace(said) == "" {
		return "(the actor said nothing)"
	}
	if len(said) > MaxAnswer {
		said = cut(said, MaxAnswer-100) + "\n(the rest is in plan " + string(p) + ")"
	}
	return said
}

// cut is at most the first n bytes of s, whole letters.
func cut(s string, n int) string {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:min(n, len(s))]
}
