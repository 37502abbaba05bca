package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/tape"
)

func (a *app) pullCmd() *cobra.Command {
	var out, bodies, conversationID string
	var bare bool
	cmd := &cobra.Command{
		Use:   "pull ID | --conversation ID",
		Short: "Fetch the tape of a run, or of all runs of a conversation",
		Long: `Fetch the tape of a run by its trace id, rebuilt from what is stored. A run that
was not kept, is still open or is unknown is said to be so, with exit code 3.

With --conversation it is one tape of all stored runs of a conversation, oldest
first, numbered on. Runs that were not kept are gaps of it.`,
		Args: args(0, 1),
		RunE: func(cmd *cobra.Command, argv []string) error {
			if (len(argv) == 1) == cmd.Flags().Changed("conversation") {
				return usage("pull: name one trace id, or a conversation with --conversation")
			}
			query := url.Values{}
			switch bodies {
			case "inline":
			case "ref":
				query.Set("bodies", "ref")
			default:
				return usage("--bodies is inline or ref, not %q", bodies)
			}
			if len(argv) == 0 {
				return a.pullConversation(cmd.Context(), conversationID, query, bare, out)
			}
			if bare {
				query.Set("bare", "1")
			}
			id, err := traceID(argv[0])
			if err != nil {
				return err
			}
			text, err := a.pull(cmd.Context(), id, query)
			if err != nil {
				return err
			}
			manifest, err := tape.NewReader(bytes.NewReader(text)).Manifest()
			if err != nil {
				return missing("%s: the answer is not a tape: %w", id, err)
			}
			if err := a.output(out, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
				return err
			}
			a.noteGaps(id, manifest)
			return nil
		},
	}
	outFlag(cmd, &out)
	cmd.Flags().StringVar(&bodies, "bodies", "inline", "large bodies: inline, or ref to leave them by reference")
	cmd.Flags().StringVar(&conversationID, "conversation", "", "conversation whose runs make one tape")
	cmd.Flags().BoolVar(&bare, "bare", false, "leave out the manifest")
	return cmd
}

// pull fetches the text of a tape and explains why there is none.
func (a *app) pull(ctx context.Context, id string, query url.Values) ([]byte, error) {
	c, done, err := a.client()
	if err != nil {
		return nil, err
	}
	defer done()
	text, err := c.pull(ctx, id, query)
	return text, explain(id, err)
}

// explain puts the answers about a run without a tape into words. A summarised
// run shows its row.
func explain(id string, err error) error {
	var e *apiError
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case "summarised":
		row := ""
		if e.Row != nil {
			row = ": " + rowText(e.Row)
		}
		return missing("%s was not kept, only its summary%s", id, row)
	case "pending":
		return missing("%s is still open: its tape can be read when the run has ended", id)
	case "not_found":
		return missing("%s is not known to %s", id, e.where)
	}
	return &exitError{e.code(), fmt.Errorf("%s: %w", id, e)}
}

// rowText is a row in one sentence.
func rowText(r *tape.Row) string {
	var failed string
	if r.FailedCalls > 0 {
		failed = fmt.Sprintf(", %d failed", r.FailedCalls)
	}
	facts := pairs("service", r.Service, "agent", r.Agent, "started", r.Start)
	if facts != "" {
		facts = ", " + facts
	}
	return fmt.Sprintf("%s, %s (%d tool, %d model%s), %s%s", r.Outcome, count(r.Steps, "step"),
		r.ToolCalls, r.ModelCalls, failed, millis(r.DurationMS), facts)
}

// pullTape fetches and reads a tape.
func (a *app) pullTape(ctx context.Context, id string) (*tape.Tape, error) {
	text, err := a.pull(ctx, id, nil)
	if err != nil {
		return nil, err
	}
	t, err := tape.ReadAll(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the tape of %s: %w", id, err)
	}
	return t, nil
}

// noteGaps says on standard error that a pulled tape lacks something.
func (a *app) noteGaps(id string, m *tape.Manifest) {
	if m == nil || m.Complete && len(m.Gaps) == 0 {
		return
	}
	gaps := gapTexts(m.Gaps)
	if n := len(gaps) - 3; n > 0 {
		gaps = append(gaps[:3], fmt.Sprintf("and %d more", n))
	}
	a.note("%s: %s %s", id, gapTitle(m), strings.Join(gaps, "; "))
}
