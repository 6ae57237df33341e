package a2a

import (
	"github.com/cleveragents/agents/actor"
)

func actorOps() []Info {
	return []Info{ActorAdd().info(), ActorList().info(), ActorShow().info(), ActorValidate().info(),
		ActorRemove().info(), ActorGraph().info(), ActorRun().info()}
}

// ActorAdd registers an actor.
func ActorAdd() Op[ActorSource, ActorView] {
	return Op[ActorSource, ActorView]{Method: prefix + "actor/add", Role: Writer, Doc: "register an actor"}
}

// ActorList lists actors.
func ActorList() Op[Nothing, ActorsView] {
	return Op[Nothing, ActorsView]{Method: prefix + "actor/list", Role: Reader, Doc: "list actors"}
}

// ActorShow shows one actor.
func ActorShow() Op[NameQuery, ActorView] {
	return Op[NameQuery, ActorView]{Method: prefix + "actor/show", Role: Reader, Doc: "show an actor"}
}

// ActorValidate checks an actor and stores nothing.
func ActorValidate() Op[ActorSource, ActorView] {
	return Op[ActorSource, ActorView]{Method: prefix + "actor/validate", Role: Reader, Doc: "check an actor without storing it"}
}

// ActorRemove forgets an actor. Plans have their own copy.
func ActorRemove() Op[NameQuery, ActorView] {
	return Op[NameQuery, ActorView]{Method: prefix + "actor/remove", Role: Writer, Doc: "forget an actor"}
}

// ActorGraph draws an actor with the actors that it names in their place.
func ActorGraph() Op[ActorGraphQuery, ActorGraphView] {
	return Op[ActorGraphQuery, ActorGraphView]{Method: prefix + "actor/graph", Role: Reader, Doc: "draw the graph of an actor"}
}

// ActorRun asks an actor about a project, which it can only read. It is a plan
// of builtin/ask, so that its calls are recorded as those of any plan.
func ActorRun() Op[ActorRunRequest, PlanOutcome] {
	return Op[ActorRunRequest, PlanOutcome]{Method: prefix + "actor/run", Role: Writer, Streams: true, Doc: "ask an actor about a project"}
}

// ActorSource is an actor as YAML text, or the name of a stored one.
type ActorSource struct {
	File   string `json:"file,omitempty"`
	Text   string `json:"text,omitempty"`
	Name   string `json:"name,omitempty"` // validate only: instead of Text
	Update bool   `json:"update,omitempty"`
}

// ActorGraphQuery names an actor and the language to draw it in.
type ActorGraphQuery struct {
	Name   string `json:"name"`
	Export string `json:"export,omitempty"` // dot or mermaid; "" draws nothing
}

// ActorGraphView is an actor as a plan runs it, and the drawing.
type ActorGraphView struct {
	Actor  actor.Config `json:"actor"`
	Arrows []ActorArrow `json:"arrows"`
	Drawn  string       `json:"drawn,omitempty"`
}

// ActorArrow is one way from a node to another; Why says when it is taken.
type ActorArrow struct {
	From string `json:"from"`
	To   string `json:"to"`
	Why  string `json:"why,omitempty"`
}

// ActorRunRequest asks an actor something. Absent tools are the actor's own.
type ActorRunRequest struct {
	Actor    string    `json:"actor"`
	Project  string    `json:"project,omitempty"`
	Prompt   string    `json:"prompt"`
	Tools    *[]string `json:"tools,omitzero"`
	MaxTurns int       `json:"max_turns,omitempty"`
	NoInput  bool      `json:"no_input,omitempty"`
}

// ActorView is one actor.
type ActorView struct {
	Actor   actor.Config `json:"actor"`
	Builtin bool         `json:"builtin"`
}

// ActorsView is a list of actors, by name.
type ActorsView struct {
	Actors []ActorView `json:"actors"`
}
