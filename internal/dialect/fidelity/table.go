package fidelity

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
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
	known := map[string]bool{}
	for _, s := range scores {
		known[s.Case] = true
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
		if !used[i] && known[e.Case] {
			stale = append(stale, e)
		}
	}
	return misses, stale
}

// Print writes a table of cases by field: right of compared.
func Print(w io.Writer, scores []Score) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(tw, "case")
	for _, f := range Fields {
		fmt.Fprintf(tw, "\t%s", f)
	}
	fmt.Fprintln(tw)
	total := Score{Case: "all", Right: map[string]int{}, Of: map[string]int{}}
	row := func(s Score) {
		fmt.Fprint(tw, s.Case)
		for _, f := range Fields {
			if s.Of[f] == 0 {
				fmt.Fprint(tw, "\t-")
			} else {
				fmt.Fprintf(tw, "\t%d/%d", s.Right[f], s.Of[f])
			}
		}
		fmt.Fprintln(tw)
	}
	for _, s := range scores {
		row(s)
		for _, f := range Fields {
			total.Right[f] += s.Right[f]
			total.Of[f] += s.Of[f]
		}
	}
	row(total)
	return tw.Flush()
}
