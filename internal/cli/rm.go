package cli

import (
	"github.com/spf13/cobra"
)

func (a *app) rmCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "rm ID...",
		Short: "Delete the tapes of runs",
		Long: `Delete the stored tapes of runs by trace id. All ids are checked before the first
is deleted.`,
		Args: args(1, -1),
		RunE: func(cmd *cobra.Command, argv []string) error {
			ids, err := traceIDs(argv)
			if err != nil {
				return err
			}
			c, done, err := a.client()
			if err != nil {
				return err
			}
			defer done()
			for _, id := range ids {
				if err := c.remove(cmd.Context(), id); err != nil {
					return explain(id, err)
				}
				a.note("%s deleted", id)
			}
			return nil
		},
	}
}
