package a2a

import "slices"

const prefix = "_cleveragents/"

// Table returns every operation, grouped by noun; each noun has its file, with
// the operations and what goes in and comes out. A door may do nothing that is
// not in it.
func Table() []Info {
	return slices.Concat(
		actionOps(),
		actorOps(),
		approvalOps(),
		checkpointOps(),
		configOps(),
		dbOps(),
		doctorOps(),
		planOps(),
		projectOps(),
		providerOps(),
		resourceOps(),
		sandboxOps(),
		sessionOps(),
		statusOps(),
		usageOps(),
	)
}

// Nothing is the request of an operation that needs none.
type Nothing struct{}

// NameQuery names a namespaced entity; the namespace defaults to local.
type NameQuery struct {
	Name string `json:"name"`
}

// RefQuery names something by ULID, unique suffix of a ULID, name where it has
// one, or @last.
type RefQuery struct {
	Ref string `json:"ref"`
}
