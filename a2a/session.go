package a2a

import (
	"io"
	"time"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/session"
)

func sessionOps() []Info {
	return []Info{SessionCreate().info(), SessionList().info(), SessionShow().info(), SessionTell().info(), SessionResume().info(),
		SessionRename().info(), SessionExport().info(), SessionImport().info(), SessionDelete().info()}
}

// SessionCreate begins a conversation.
func SessionCreate() Op[SessionCreateRequest, SessionSummary] {
	return Op[SessionCreateRequest, SessionSummary]{Method: prefix + "session/create", Role: Writer, Doc: "begin a conversation with an actor"}
}

// SessionList lists conversations.
func SessionList() Op[SessionListQuery, SessionsView] {
	return Op[SessionListQuery, SessionsView]{Method: prefix + "session/list", Role: Reader, Doc: "list conversations"}
}

// SessionShow shows what was said in a conversation.
func SessionShow() Op[SessionShowQuery, SessionView] {
	return Op[SessionShowQuery, SessionView]{Method: prefix + "session/show", Role: Reader, Doc: "show a conversation"}
}

// SessionTell says the next thing in a conversation. It is a plan of builtin/ask
// that sees what was said before.
func SessionTell() Op[SessionTellRequest, PlanOutcome] {
	return Op[SessionTellRequest, PlanOutcome]{Method: prefix + "session/tell", Role: Writer, Streams: true, Doc: "say the next thing in a conversation"}
}

// SessionResume goes on with the question that was not answered.
func SessionResume() Op[RefQuery, PlanOutcome] {
	return Op[RefQuery, PlanOutcome]{Method: prefix + "session/resume", Role: Writer, Streams: true, Doc: "go on with a question that was cut off"}
}

// SessionRename gives a conversation another name.
func SessionRename() Op[SessionRenameRequest, SessionSummary] {
	return Op[SessionRenameRequest, SessionSummary]{Method: prefix + "session/rename", Role: Writer, Doc: "give a conversation another name"}
}

// SessionExport writes a conversation as one file.
func SessionExport() Op[SessionExportRequest, SessionCarryView] {
	return Op[SessionExportRequest, SessionCarryView]{Method: prefix + "session/export", Role: Reader, Doc: "write a conversation as one file"}
}

// SessionImport takes a conversation in.
func SessionImport() Op[SessionImportRequest, SessionCarryView] {
	return Op[SessionImportRequest, SessionCarryView]{Method: prefix + "session/import", Role: Writer, Doc: "take a conversation in"}
}

// SessionDelete deletes a conversation. Its plans stay.
func SessionDelete() Op[RefQuery, SessionSummary] {
	return Op[RefQuery, SessionSummary]{Method: prefix + "session/delete", Role: Writer, Doc: "delete a conversation, and none of its plans"}
}

// SessionCreateRequest begins a conversation. No actor is that of builtin/ask.
type SessionCreateRequest struct {
	Name    string `json:"name,omitempty"`
	Actor   string `json:"actor,omitempty"`
	Project string `json:"project,omitempty"`
}

// SessionListQuery narrows a list of conversations.
type SessionListQuery struct {
	Project string `json:"project,omitempty"`
	Limit   int    `json:"limit,omitempty"` // 0 is all
}

// SessionSummary is a conversation in one line.
type SessionSummary struct {
	ID       ident.SessionID `json:"id"`
	Name     string          `json:"name"`
	Project  string          `json:"project"`
	Actor    string          `json:"actor"`
	Messages int             `json:"messages"`
	// Open is the plan of the last question, where that is not answered.
	Open    *PlanSummary `json:"open,omitempty"`
	Created string       `json:"created"`
	Updated string       `json:"updated"` // when something was said last
	Next    []string     `json:"next,omitempty"`
}

// SessionsView is a list of conversations, the last touched first.
type SessionsView struct {
	Sessions []SessionSummary `json:"sessions"`
}

// SessionShowQuery names a conversation and how many of its newest messages are
// wanted; 0 is all.
type SessionShowQuery struct {
	Ref      string `json:"ref"`
	Messages int    `json:"messages,omitempty"`
}

// SessionView is a conversation with what was said, oldest first.
type SessionView struct {
	Session  SessionSummary   `json:"session"`
	Earlier  int              `json:"earlier"` // messages before the first one here
	Messages []SessionMessage `json:"messages"`
}

// SessionMessage is one thing that was said.
type SessionMessage struct {
	N        int          `json:"n"`
	Role     actor.Role   `json:"role"`
	Text     string       `json:"text"`
	Plan     ident.PlanID `json:"plan,omitempty"`
	Imported bool         `json:"imported,omitempty"`
	At       string       `json:"at"`
}

// MessageOf is a stored message as it is shown.
func MessageOf(m session.Message) SessionMessage {
	return SessionMessage{N: m.N, Role: m.Role, Text: m.Text, Plan: m.Plan, Imported: m.Imported, At: m.At.UTC().Format(time.RFC3339)}
}

// SessionTellRequest is the next thing that a person says.
type SessionTellRequest struct {
	Ref     string `json:"ref"`
	Text    string `json:"text"`
	NoInput bool   `json:"no_input,omitempty"`
}

// SessionRenameRequest gives a conversation another name.
type SessionRenameRequest struct {
	Ref  string `json:"ref"`
	Name string `json:"name"`
}

// SessionExportRequest names a conversation. To is asked once, for where the
// bytes go, when it is found; they are no part of the message.
type SessionExportRequest struct {
	Ref string                                  `json:"ref"`
	To  func(SessionSummary) (io.Writer, error) `json:"-"`
}

// SessionImportRequest is the file; its bytes are no part of the message. Name
// and Project are those that it gets here: where they are not given, its own
// name, and the project of the directory.
type SessionImportRequest struct {
	File    string    `json:"file"` // for messages
	Name    string    `json:"name,omitempty"`
	Project string    `json:"project,omitempty"`
	From    io.Reader `json:"-"`
}

// SessionCarryView is a conversation that was written or taken in.
type SessionCarryView struct {
	Session SessionSummary `json:"session"`
	File    string         `json:"file,omitempty"` // filled in by who has it
}
