package cli

import "github.com/spf13/cobra"

func newApprovalGroup(a *app) *cobra.Command {
	return group(a, "approval", "What waits for a person, and the answers", "",
		newApprovalList(a), newApprovalShow(a), newApprovalApprove(a), newApprovalReject(a), newApprovalAnswer(a))
}
