package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/internal/buildinfo"
)

func versionText() string {
	return fmt.Sprintf("tape %s (%s, %s)", buildinfo.Read().Version, runtime.Version(), platform)
}

const platform = runtime.GOOS + "/" + runtime.GOARCH

func (a *app) versionCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version and the commit",
		Args:  args(0, 0),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				build := buildinfo.Read()
				return a.printJSON(map[string]string{
					"version": build.Version, "commit": build.Commit, "go": runtime.Version(), "platform": platform,
				})
			}
			return a.print(versionText() + "\n")
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
