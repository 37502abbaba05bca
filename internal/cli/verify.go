package cli

import (
	"errors"
	"fmt"
	"io/fs"
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
				r := a.verify(file)
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

// verify checks one file.
func (a *app) verify(file string) verifyReport {
	t, err := a.readTape(file)
	if err != nil {
		return verifyReport{File: file, Error: fault(err)}
	}
	r := verifyReport{File: file, Records: len(t.Records), Problems: tape.Verify(t)}
	r.Valid = len(r.Problems) == 0
	return r
}

// fault is why a file could not be read, without its name.
func fault(err error) string {
	var syntax *tape.SyntaxError
	var of *fs.PathError
	switch {
	case errors.As(err, &syntax):
		return syntax.Error()
	case errors.Is(err, tape.ErrEmpty):
		return tape.ErrEmpty.Error()
	case errors.As(err, &of):
		return of.Err.Error()
	}
	return err.Error()
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
