package a2a

func planMarkOps() []Info {
	return []Info{PlanRename().info(), PlanLabel().info(), PlanArchive().info()}
}

// PlanRename gives a plan another name.
func PlanRename() Op[PlanRenameRequest, PlanSummary] {
	return Op[PlanRenameRequest, PlanSummary]{Method: prefix + "plan/rename", Role: Writer, Doc: "give a plan another name"}
}

// PlanLabel sets and takes away labels of a plan.
func PlanLabel() Op[PlanLabelRequest, PlanSummary] {
	return Op[PlanLabelRequest, PlanSummary]{Method: prefix + "plan/label", Role: Writer, Doc: "label a plan"}
}

// PlanArchive hides a plan that has ended from lists.
func PlanArchive() Op[PlanArchiveRequest, PlanSummary] {
	return Op[PlanArchiveRequest, PlanSummary]{Method: prefix + "plan/archive", Role: Writer, Doc: "hide an ended plan from lists"}
}

// PlanRenameRequest names a plan anew.
type PlanRenameRequest struct {
	Ref  string `json:"ref"`
	Name string `json:"name"`
}

// PlanLabelRequest sets labels and takes others away; with neither it only
// reads them.
type PlanLabelRequest struct {
	Ref    string            `json:"ref"`
	Set    map[string]string `json:"set,omitempty"`
	Remove []string          `json:"remove,omitempty"`
}

// PlanArchiveRequest hides a plan, or with Undo shows it again.
type PlanArchiveRequest struct {
	Ref  string `json:"ref"`
	Undo bool   `json:"undo,omitempty"`
}
