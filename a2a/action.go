package a2a

import (
	"github.com/cleveragents/agents/action"
)

func actionOps() []Info {
	return []Info{ActionCreate().info(), ActionList().info(), ActionShow().info(), ActionValidate().info()}
}

// ActionCreate registers an action.
func ActionCreate() Op[ActionSource, ActionView] {
	return Op[ActionSource, ActionView]{Method: prefix + "action/create", Role: Writer, Doc: "register an action"}
}

// ActionList lists actions.
func ActionList() Op[ActionListQuery, ActionsView] {
	return Op[ActionListQuery, ActionsView]{Method: prefix + "action/list", Role: Reader, Doc: "list actions"}
}

// ActionShow shows one action.
func ActionShow() Op[NameQuery, ActionView] {
	return Op[NameQuery, ActionView]{Method: prefix + "action/show", Role: Reader, Doc: "show an action"}
}

// ActionValidate checks an action and stores nothing.
func ActionValidate() Op[ActionSource, ActionView] {
	return Op[ActionSource, ActionView]{Method: prefix + "action/validate", Role: Reader, Doc: "check an action without storing it"}
}

// ActionSource is an action as YAML text, or the name of a stored one.
type ActionSource struct {
	File   string         `json:"file,omitempty"` // shown in errors
	Text   string         `json:"text,omitempty"`
	Action *action.Action `json:"action,omitempty"` // instead of Text
	Name   string         `json:"name,omitempty"`   // validate only: a stored action
	Update bool           `json:"update,omitempty"` // replace one of that name
}

// ActionListQuery narrows a list of actions.
type ActionListQuery struct {
	Namespace string       `json:"namespace,omitempty"`
	State     action.State `json:"state,omitempty"`
}

// ActionView is one action.
type ActionView struct {
	Action  action.Action `json:"action"`
	Builtin bool          `json:"builtin"`
}

// ActionsView is a list of actions, by name.
type ActionsView struct {
	Actions []ActionView `json:"actions"`
}
