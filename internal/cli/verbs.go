package cli

import "github.com/spf13/cobra"

// verbs lists the commands.
func (a *app) verbs() []*cobra.Command {
	return []*cobra.Command{
		a.diffCmd(), a.dryCmd(), a.testCmd(), a.trimCmd(), a.triageCmd(),
		a.attributeCmd(), a.doctorCmd(), a.exportCmd(), a.importCmd(), a.keepCmd(), a.lsCmd(), a.mcpCmd(), a.pullCmd(), a.retentionCmd(), a.rmCmd(), a.rulesCmd(), a.runCmd(), a.serveCmd(), a.showCmd(), a.verifyCmd(), a.keyCmd(), a.versionCmd(),
	}
}
