package cli

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"
)

func (a *app) keepCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "keep ID...",
		Short: "Keep runs for good, whatever the rules of retention say",
		Long: `Keep runs by trace id: one that is open is kept once it is decided, one that is still
in the look-back of a collector is stored, and one that is stored is pinned. Kept runs
go by tape rm alone.`,
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
				got, err := c.keep(cmd.Context(), id)
				if err != nil {
					return explain(id, err)
				}
				switch got.Kept {
				case "once_decided":
					a.note("%s will be kept once it has ended", id)
				default:
					a.note("%s is kept", id)
				}
				if len(got.MissingBodies) > 0 {
					a.note("%s: %s were gone before", id, count(len(got.MissingBodies), "blob"))
				}
			}
			return nil
		},
	}
}

// kept is the answer to a wish to keep a run.
type kept struct {
	Kept          string   `json:"kept"`
	MissingBodies []string `json:"missing_bodies"`
}

// keep asks for a run to be kept.
func (c *client) keep(ctx context.Context, id string) (kept, error) {
	resp, err := c.do(ctx, http.MethodPost, "/v1/tapes/"+id+"/keep", nil)
	if err != nil {
		return kept{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	var k kept
	if err := json.NewDecoder(resp.Body).Decode(&k); err != nil {
		return kept{}, missing("%s: the answer cannot be read: %w", c.where, err)
	}
	return k, nil
}
