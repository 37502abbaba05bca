package fidelity

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// Exception is a miss that is no fault of the translation.
type Exception struct {
	Case   string `json:"case"`
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// ReadExceptions reads the list of exceptions.
func ReadExceptions(name string) ([]Exception, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var out []Exception
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, e := range out {
		if e.Case == "" || e.Field == "" || e.Reason == "" {
			return nil, fmt.Errorf("%s: exception %+v lacks a case, a field or a reason", name, e)
		}
	}
	return out, nil
}

// Unexplained are the misses without an exception, and the exceptions without
// a miss.
func Unexplained(scores []Score, exceptions []Exception) (misses []Miss, stale []Exception) {
	used := make([]bool, len(exceptions))
	for _, s := range scores {
	next:
		for _, m := range s.Misses {
			for i, e := range exceptions {
				if e.Case == m.Case && e.Field == m.Field {
					used[i] = true
					continue next
				}
			}
			misses = append(misses, m)
		}
	}
	for i, e := range exceptions {
		if !used[i] {
			stale = append(stale, e)
		}
	}
	return misses, stale
}

// Print writes a table of cases by field: right of compared.
func Print(w io.Writer, scores []Score) error {
	total := Score{Case: "all", Right: map[string]int{}, Of: map[string]int{}}
	rows := []string{"case\t" + strings.Join(Fields, "\t")}
	for _, s := range scores {
		rows = append(rows, s.row())
		for _, f := range Fields {
			total.Right[f] += s.Right[f]
			total.Of[f] += s.Of[f]
		}
	}
	rows = append(rows, total.row())
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(tw, strings.Join(rows, "\n")+"\n"); err != nil {
		return err
	}
	return tw.Flush()
}

func (s Score) row() string {
	cells := []string{s.Case}
	for _, f := range Fields {
		if s.Of[f] == 0 {
			cells = append(cells, "-")
		} else {
			cells = append(cells, fmt.Sprintf("%d/%d", s.Right[f], s.Of[f]))
		}
	}
	return strings.Join(cells, "\t")
}
