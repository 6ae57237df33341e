package a2a

import (
	"github.com/cleveragents/agents/resource"
)

func resourceOps() []Info {
	return []Info{ResourceAdd().info(), ResourceList().info(), ResourceShow().info()}
}

// ResourceAdd registers a resource.
func ResourceAdd() Op[ResourceAddRequest, ResourceView] {
	return Op[ResourceAddRequest, ResourceView]{Method: prefix + "resource/add", Role: Writer, Doc: "register a resource"}
}

// ResourceList lists resources.
func ResourceList() Op[ResourceListQuery, ResourcesView] {
	return Op[ResourceListQuery, ResourcesView]{Method: prefix + "resource/list", Role: Reader, Doc: "list resources"}
}

// ResourceShow shows one resource.
func ResourceShow() Op[RefQuery, ResourceView] {
	return Op[RefQuery, ResourceView]{Method: prefix + "resource/show", Role: Reader, Doc: "show a resource"}
}

// ResourceAddRequest registers a resource.
type ResourceAddRequest struct {
	Type     string `json:"type"`
	Location string `json:"location"` // absolute path
	Name     string `json:"name,omitempty"`
	Force    bool   `json:"force,omitempty"`
}

// ResourceListQuery narrows a list of resources.
type ResourceListQuery struct {
	Type string `json:"type,omitempty"`
}

// ResourceView is one resource and the projects that link it.
type ResourceView struct {
	Resource resource.Resource `json:"resource"`
	Projects []string          `json:"projects"`
}

// ResourcesView is a list of resources.
type ResourcesView struct {
	Resources []ResourceView `json:"resources"`
}
