package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/tape"
)

func (a *app) showCmd() *cobra.Command {
	var asJSON, full bool
	var step int
	cmd := &cobra.Command{
		Use:   "show FILE|ID",
		Short: "Show a tape as a timeline",
		Long: `Show a tape: a header with the facts of the run, one line a step with the
failing step marked, and at the end the failure and what the tape lacks. The
argument is a file, - for standard input, or a trace id, which is looked up with
--server or --store.`,
		Args: args(1, 1),
		RunE: func(cmd *cobra.Command, argv []string) error {
			t, err := a.tapeArg(cmd, argv[0])
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("step") {
				return a.showStep(t, argv[0], step, asJSON)
			}
			if asJSON {
				records := t.Records
				if records == nil {
					records = []tape.Record{}
				}
				return a.printJSON(struct {
					Manifest *tape.Manifest `json:"manifest"`
					Records  []tape.Record  `json:"records"`
				}{t.Manifest, records})
			}
			return a.print(a.terminal(a.Out).timeline(t, full))
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&full, "full", false, "show arguments and results whole")
	cmd.Flags().IntVar(&step, "step", 0, "show the record of this step whole, as JSON")
	return cmd
}

// tapeArg reads a tape from a file or, where there is no such file, by id.
func (a *app) tapeArg(cmd *cobra.Command, arg string) (*tape.Tape, error) {
	t, err := a.readTape(arg)
	if !errors.Is(err, os.ErrNotExist) {
		return t, err
	}
	id, idErr := traceID(arg)
	if idErr != nil {
		return nil, usage("%q is neither a file nor a trace id, which has 32 hex digits", arg)
	}
	return a.pullTape(cmd.Context(), id)
}

// showStep prints one record: for people indented, for programs as in the file.
func (a *app) showStep(t *tape.Tape, name string, step int, asJSON bool) error {
	for i := range t.Records {
		if t.Records[i].Seq != step {
			continue
		}
		line, err := t.Records[i].AppendJSON(nil)
		if err != nil {
			return err
		}
		if asJSON {
			return a.print(string(line) + "\n")
		}
		var b bytes.Buffer
		if err := json.Indent(&b, line, "", "  "); err != nil {
			return err
		}
		// Control characters are escapes inside JSON, but not all that a
		// terminal obeys are control characters to JSON.
		lines := strings.Split(b.String(), "\n")
		for i := range lines {
			lines[i] = clean(lines[i])
		}
		return a.print(strings.Join(lines, "\n") + "\n")
	}
	return missing("%s has no step %d; it has %s", name, step, count(len(t.Records), "step"))
}
