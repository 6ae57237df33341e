package a2a

import (
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

func dbOps() []Info {
	return []Info{DBPath().info(), DBStatus().info()}
}

// DBPath tells where the store is.
func DBPath() Op[Nothing, DBPathView] {
	return Op[Nothing, DBPathView]{Method: prefix + "db/path", Role: Admin, Doc: "where the store is"}
}

// DBStatus tells how the store is.
func DBStatus() Op[DBStatusQuery, DBStatusView] {
	return Op[DBStatusQuery, DBStatusView]{Method: prefix + "db/status", Role: Admin, Doc: "how the store is"}
}

// DBPathView is where the program keeps its data.
type DBPathView struct {
	Store  string `json:"store"`  // the database file
	Blobs  string `json:"blobs"`  // directory
	Engine string `json:"engine"` // the workflow engine's database file
	Trees  string `json:"trees"`  // directory of snapshots and sandboxes
}

// DBStatusQuery asks for a check too: of the whole database, and of the blobs
// that plans name, a sample of them or all.
type DBStatusQuery struct {
	Check bool `json:"check,omitempty"`
	Full  bool `json:"full,omitempty"`
}

// DBStatusView is how the store is.
type DBStatusView struct {
	Path   string           `json:"path"`
	Schema int64            `json:"schema_version"`
	Bytes  int64            `json:"bytes"`
	Rows   map[string]int64 `json:"rows"`
	Check  string           `json:"check,omitempty"` // ok, or what is wrong
	Blobs  *BlobsView       `json:"blobs,omitempty"` // where a check was asked for
}

// BlobsView is whether the blobs that plans name are there and whole.
type BlobsView struct {
	Plans   int        `json:"plans"` // looked at
	Read    int        `json:"read"`
	Sampled bool       `json:"sampled"` // not all of them were read
	Hurt    []HurtPlan `json:"hurt"`
}

// HurtPlan is a plan that has lost blobs.
type HurtPlan struct {
	ID   ident.PlanID `json:"id"`
	Name string       `json:"name"`
	plan.Status
	Missing int      `json:"missing"`
	Damaged int      `json:"damaged"`
	Blobs   []string `json:"blobs"` // some of them
}
