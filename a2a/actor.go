package a2a

import (
	"github.com/cleveragents/agents/actor"
)

func actorOps() []Info {
	return []Info{ActorAdd().info(), ActorList().info(), ActorShow().info()}
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

// ActorSource is an actor as YAML text.
type ActorSource struct {
	File   string `json:"file"`
	Text   string `json:"text"`
	Update bool   `json:"update,omitempty"`
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
