package local

import (
	"github.com/cleveragents/agents/a2a"
)

func (f *Facade) actorHandlers() []a2a.Handler {
	return []a2a.Handler{
		a2a.Handle(a2a.ActorAdd(), f.actorAdd),
		a2a.Handle(a2a.ActorList(), f.actorList),
		a2a.Handle(a2a.ActorShow(), f.actorShow),
	}
}
