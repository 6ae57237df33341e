package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/actor"
)

func newSessionGroup(a *app) *cobra.Command {
	return group(a, "session", "Conversations with an actor about a project", `Conversations with an actor about a project, which it can read and not change. Each
thing that is told is a plan of builtin/ask that sees what was said before, so that its
calls are recorded, counted and shown like those of any plan.`,
		newSessionCreate(a), newSessionList(a), newSessionShow(a), newSessionTell(a), newSessionResume(a), newSessionRename(a),
		newSessionExport(a), newSessionImport(a), newSessionDelete(a))
}

// sessionOutput is a conversation in a few lines.
func sessionOutput(v a2a.SessionSummary) output {
	next := v.Next
	return output{schema: "agents.session.v1", data: v, next: next, human: func(p *printer) { sessionLines(p, v) }}
}

func sessionLines(p *printer, v a2a.SessionSummary) {
	p.printf("%s %s", p.bold(v.Name), p.dim(shortID(v.ID)))
	p.field("project", v.Project)
	p.field("actor", v.Actor)
	p.field("messages", v.Messages)
	if v.Open != nil {
		p.printf("%s %s %s %s", p.dim(padded("not answered:", fieldWidth-1)), p.dim("plan "+shortID(v.Open.ID)), stateWord(p.styles, v.Open.Status), heldWord(v.Open.Held))
	}
}

// speaker is who said a message.
func speaker(m a2a.SessionMessage) string {
	who := "you"
	if m.Role == actor.Assistant {
		who = "actor"
	}
	if m.Imported {
		who += " (imported)"
	}
	return who
}
