package a2a

const prefix = "_cleveragents/"

// Table returns every operation, grouped by noun. A door may do nothing that
// is not in it.
func Table() []Info {
	return []Info{
		ActionCreate().info(), ActionList().info(), ActionShow().info(), ActionValidate().info(),
		ActorAdd().info(), ActorList().info(), ActorShow().info(),
		ApprovalList().info(), ApprovalShow().info(), ApprovalApprove().info(), ApprovalReject().info(),
		DBPath().info(), DBStatus().info(), DoctorRun().info(),
		PlanUse().info(), PlanList().info(), PlanShow().info(), PlanStatus().info(),
		PlanStrategize().info(), PlanExecute().info(), PlanApply().info(), PlanResume().info(),
		PlanPause().info(), PlanCancel().info(), PlanTree().info(), PlanExplain().info(), PlanDiff().info(),
		ProjectInit().info(), ProjectCreate().info(), ProjectList().info(), ProjectShow().info(),
		ProjectUse().info(), ProjectLinkResource().info(),
		ResourceAdd().info(), ResourceList().info(), ResourceShow().info(),
	}
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

// ApprovalList lists what waits for a person.
func ApprovalList() Op[ApprovalListQuery, ApprovalsView] {
	return Op[ApprovalListQuery, ApprovalsView]{Method: prefix + "approval/list", Role: Reader, Doc: "list approvals"}
}

// ApprovalShow shows one approval.
func ApprovalShow() Op[RefQuery, ApprovalView] {
	return Op[RefQuery, ApprovalView]{Method: prefix + "approval/show", Role: Reader, Doc: "show an approval"}
}

// ApprovalApprove says yes.
func ApprovalApprove() Op[ApproveRequest, ApprovalsView] {
	return Op[ApproveRequest, ApprovalsView]{Method: prefix + "approval/approve", Role: Writer, Doc: "approve"}
}

// ApprovalReject says no, with guidance or without.
func ApprovalReject() Op[RejectRequest, ApprovalView] {
	return Op[RejectRequest, ApprovalView]{Method: prefix + "approval/reject", Role: Writer, Doc: "reject"}
}

// DBPath tells where the store is.
func DBPath() Op[Nothing, DBPathView] {
	return Op[Nothing, DBPathView]{Method: prefix + "db/path", Role: Admin, Doc: "where the store is"}
}

// DBStatus tells how the store is.
func DBStatus() Op[DBStatusQuery, DBStatusView] {
	return Op[DBStatusQuery, DBStatusView]{Method: prefix + "db/status", Role: Admin, Doc: "how the store is"}
}

// DoctorRun checks the machine and the store.
func DoctorRun() Op[Nothing, DoctorView] {
	return Op[Nothing, DoctorView]{Method: prefix + "doctor/run", Role: Admin, Doc: "check the machine and the store"}
}

// PlanUse makes a plan from an action.
func PlanUse() Op[PlanUseRequest, PlanOutcome] {
	return Op[PlanUseRequest, PlanOutcome]{Method: prefix + "plan/use", Role: Writer, Streams: true, Doc: "make a plan from an action"}
}

// PlanList lists plans.
func PlanList() Op[PlanListQuery, PlansView] {
	return Op[PlanListQuery, PlansView]{Method: prefix + "plan/list", Role: Reader, Doc: "list plans"}
}

// PlanShow shows one plan with all that belongs to it.
func PlanShow() Op[RefQuery, PlanView] {
	return Op[RefQuery, PlanView]{Method: prefix + "plan/show", Role: Reader, Doc: "show a plan"}
}

// PlanStatus tells in short where a plan is and what is next.
func PlanStatus() Op[RefQuery, PlanOutcome] {
	return Op[RefQuery, PlanOutcome]{Method: prefix + "plan/status", Role: Reader, Doc: "where a plan is and what is next"}
}

// PlanStrategize begins Strategize and goes on as far as the profile allows.
func PlanStrategize() Op[RefQuery, PlanOutcome] {
	return Op[RefQuery, PlanOutcome]{Method: prefix + "plan/strategize", Role: Writer, Streams: true, Doc: "begin Strategize"}
}

// PlanExecute begins Execute and goes on as far as the profile allows.
func PlanExecute() Op[RefQuery, PlanOutcome] {
	return Op[RefQuery, PlanOutcome]{Method: prefix + "plan/execute", Role: Writer, Streams: true, Doc: "begin Execute"}
}

// PlanApply merges the changes into the real resource.
func PlanApply() Op[PlanApplyRequest, PlanOutcome] {
	return Op[PlanApplyRequest, PlanOutcome]{Method: prefix + "plan/apply", Role: Writer, Streams: true, Doc: "merge the changes into the real resource"}
}

// PlanResume goes on with a plan that stopped.
func PlanResume() Op[RefQuery, PlanOutcome] {
	return Op[RefQuery, PlanOutcome]{Method: prefix + "plan/resume", Role: Writer, Streams: true, Doc: "go on with a plan"}
}

// PlanPause stops a plan at its next safe point.
func PlanPause() Op[RefQuery, PlanOutcome] {
	return Op[RefQuery, PlanOutcome]{Method: prefix + "plan/pause", Role: Writer, Doc: "stop a plan at its next safe point"}
}

// PlanCancel gives a plan up.
func PlanCancel() Op[PlanCancelRequest, PlanOutcome] {
	return Op[PlanCancelRequest, PlanOutcome]{Method: prefix + "plan/cancel", Role: Writer, Doc: "give a plan up"}
}

// PlanTree returns a plan's decisions.
func PlanTree() Op[RefQuery, TreeView] {
	return Op[RefQuery, TreeView]{Method: prefix + "plan/tree", Role: Reader, Doc: "a plan's decision tree"}
}

// PlanExplain explains one decision.
func PlanExplain() Op[RefQuery, ExplainView] {
	return Op[RefQuery, ExplainView]{Method: prefix + "plan/explain", Role: Reader, Doc: "explain a decision"}
}

// PlanDiff shows what a plan would change, or has changed.
func PlanDiff() Op[PlanDiffQuery, DiffView] {
	return Op[PlanDiffQuery, DiffView]{Method: prefix + "plan/diff", Role: Reader, Doc: "what a plan changes"}
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
