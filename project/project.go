// Package project is the named scope of work: which resources it links, and
// what holds for every plan in it. A project does not own its resources.
package project

import (
	"time"

	"github.com/cleveragents/agents/ident"
)

// Project is a scope. Its name is its only identity.
type Project struct {
	Name              string    `json:"name"`
	Description       string    `json:"description,omitempty"`
	AutomationProfile string    `json:"automation_profile,omitempty"`
	Links             []Link    `json:"links"`
	Created           time.Time `json:"created"`
}

// Link is a resource as one project sees it.
type Link struct {
	Resource ident.ResourceID `json:"resource"`
	ReadOnly bool             `json:"read_only,omitempty"`
}
