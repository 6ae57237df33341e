package a2a

import (
	"github.com/cleveragents/agents/project"
	"github.com/cleveragents/agents/resource"
)

func projectOps() []Info {
	return []Info{ProjectInit().info(), ProjectCreate().info(), ProjectList().info(), ProjectShow().info(), ProjectUse().info(), ProjectLinkResource().info()}
}

// ProjectInit makes a directory a project: resource, project, link, current.
func ProjectInit() Op[ProjectInitRequest, ProjectView] {
	return Op[ProjectInitRequest, ProjectView]{Method: prefix + "project/init", Role: Writer, Doc: "make a directory a project"}
}

// ProjectCreate makes an empty project.
func ProjectCreate() Op[ProjectCreateRequest, ProjectView] {
	return Op[ProjectCreateRequest, ProjectView]{Method: prefix + "project/create", Role: Writer, Doc: "make a project"}
}

// ProjectList lists projects.
func ProjectList() Op[Nothing, ProjectsView] {
	return Op[Nothing, ProjectsView]{Method: prefix + "project/list", Role: Reader, Doc: "list projects"}
}

// ProjectShow shows one project with its resources.
func ProjectShow() Op[NameQuery, ProjectView] {
	return Op[NameQuery, ProjectView]{Method: prefix + "project/show", Role: Reader, Doc: "show a project"}
}

// ProjectUse makes a project the current one.
func ProjectUse() Op[NameQuery, ProjectView] {
	return Op[NameQuery, ProjectView]{Method: prefix + "project/use", Role: Writer, Doc: "make a project the current one"}
}

// ProjectLinkResource links resources to a project.
func ProjectLinkResource() Op[LinkRequest, ProjectView] {
	return Op[LinkRequest, ProjectView]{Method: prefix + "project/link_resource", Role: Writer, Doc: "link resources to a project"}
}

// ProjectInitRequest makes Dir a project.
type ProjectInitRequest struct {
	Dir   string `json:"dir"` // absolute
	Name  string `json:"name,omitempty"`
	Type  string `json:"type,omitempty"` // resource type; "" detects
	Force bool   `json:"force,omitempty"`
}

// ProjectCreateRequest makes an empty project.
type ProjectCreateRequest struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// ProjectView is a project with its resources.
type ProjectView struct {
	Project   project.Project     `json:"project"`
	Resources []resource.Resource `json:"resources"`
	Current   bool                `json:"current"`
}

// ProjectsView is a list of projects, by name.
type ProjectsView struct {
	Projects []ProjectView `json:"projects"`
}

// LinkRequest links resources to a project.
type LinkRequest struct {
	Project   string   `json:"project"`
	Resources []string `json:"resources"` // names, ids or suffixes of ids
	ReadOnly  bool     `json:"read_only,omitempty"`
}
