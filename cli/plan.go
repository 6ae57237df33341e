package cli

import "github.com/spf13/cobra"

func newPlanGroup(a *app) *cobra.Command {
	return group(a, "plan", "Plans, from use to apply, and their decisions",
		"A plan goes through strategize, execute and apply. <plan> is an id, the end of\none (4 letters or more), a name, or @last.",
		newPlanUse(a), newPlanList(a), newPlanShow(a), newPlanStatus(a),
		newPlanStrategize(a), newPlanExecute(a), newPlanApply(a), newPlanResume(a),
		newPlanPause(a), newPlanCancel(a), newPlanTree(a), newPlanExplain(a), newPlanDiff(a), newPlanCheckpoints(a), newPlanRollback(a),
		newPlanExport(a), newPlanImport(a), newPlanPrompt(a), newPlanRetry(a), newPlanRename(a), newPlanLabel(a), newPlanArchive(a), newPlanLogs(a), newPlanWatch(a), newPlanWait(a))
}
