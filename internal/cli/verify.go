package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/tape"
)

// verifyReport is one file of what verify --json prints.
type verifyReport struct {
	File    string `json:"file"`
	Valid   bool   `json:"valid"`
	Records int    `json:"records"`
	// Error is why the file could not be read to its end.
	Error    string         `json:"error,omitempty"`
	Problems []tape.Problem `json:"problems,omitempty"`
}

func (a *app) verifyCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify FILE...",
		Short: "Check that tapes are whole and agree with themselves",
		Long: `Check tapes: syntax, version, order, keys against arguments, and that members
agree with one another. FILE may be - for standard input. Exit code 1 when a
tape is not right, 2 when one cannot be read to its end.`,
		Args: args(1, -1),
		RunE: func(_ *cobra.Command, files []string) error {
			reports := make([]verifyReport, 0, len(files))
			var bad []string
			code := exitNo
			for _, file := range files {
				r, err := a.verify(file)
				if err != nil {
					return err
				}
				reports = append(reports, r)
				if !r.Valid {
					bad = append(bad, r.summary())
				}
				if r.Error != "" {
					code = exitUsage
				}
			}
			var err error
			if asJSON {
				err = a.printJSON(reports)
			} else {
				err = a.print(verifyText(reports))
			}
			if err == nil && bad != nil {
				err = &exitError{code, errors.New(strings.Join(bad, "; "))}
			}
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// verify checks one file. Its error is for a file that cannot be opened.
func (a *app) verify(file string) (verifyReport, error) {
	t, err := a.readTape(file)
	var syntax *tape.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return verifyReport{File: file, Error: syntax.Error()}, nil
	case err != nil:
		return verifyReport{}, err
	}
	r := verifyReport{File: file, Records: len(t.Records), Problems: tape.Verify(t)}
	if t.Manifest == nil && len(t.Records) == 0 {
		r.Error = "empty: there is neither a manifest nor a record in it"
	}
	r.Valid = r.Error == "" && len(r.Problems) == 0
	return r, nil
}

// summary is a fault in one sentence.
func (r verifyReport) summary() string {
	switch n := len(r.Problems); {
	case r.Error != "":
		return r.File + ": " + r.Error
	case n == 1:
		return r.File + ": " + r.Problems[0].String()
	default:
		return fmt.Sprintf("%s: %d problems, the first: %s", r.File, n, r.Problems[0])
	}
}

func verifyText(reports []verifyReport) string {
	var b strings.Builder
	for _, r := range reports {
		switch {
		case r.Valid:
			fmt.Fprintf(&b, "%s: good, %s\n", clean(r.File), count(r.Records, "record"))
		case r.Error != "":
			fmt.Fprintf(&b, "%s: %s\n", clean(r.File), clean(r.Error))
		}
		for _, p := range r.Problems {
			fmt.Fprintf(&b, "%s: %s\n", clean(r.File), clean(p.String()))
		}
	}
	return b.String()
}
