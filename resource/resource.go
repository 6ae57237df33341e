// Package resource is anything that can be read, written or queried, by type.
// This form knows two physical types, both trees of files.
package resource

import (
	"time"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
)

// Resource is a registered resource.
type Resource struct {
	ID       ident.ResourceID `json:"id"`
	Name     string           `json:"name"` // [[server:]namespace/]name, unique
	Type     string           `json:"type"`
	Location string           `json:"location"` // absolute path for the file types
	Created  time.Time        `json:"created"`
}

// Type is the schema of a category of resources.
type Type struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Sandbox     string `json:"sandbox"` // sandbox strategy, by the spec's name
}

// The built-in types.
const (
	GitCheckout = "git-checkout"
	FSDirectory = "fs-directory"
)

// Types returns the built-in types.
func Types() []Type {
	return []Type{
		{GitCheckout, "a work tree of a git repository", "git_worktree"},
		{FSDirectory, "a directory of files", "filesystem_copy"},
	}
}

// FindType returns the type of that name.
func FindType(name string) (Type, error) {
	for _, t := range Types() {
		if t.Name == name {
			return t, nil
		}
	}
	return Type{}, fault.New(fault.NotFound, "no resource type %q", name).
		WithHint("choose %s or %s", GitCheckout, FSDirectory)
}
