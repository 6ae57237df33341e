package cli

import "github.com/spf13/cobra"

func newDBGroup(a *app) *cobra.Command {
	return group(a, "db", "Where the data is and how it is", "",
		newDBPath(a), newDBStatus(a), newDBBackup(a), newDBRestore(a), newDBMigrate(a), newDBGC(a))
}
