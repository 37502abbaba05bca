package fidelity

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// columns are those of the Markdown table, each of one or more fields.
var columns = []struct {
	title  string
	fields []string
}{
	{"tool calls found", []string{"tool"}},
	{"ids", []string{"id"}},
	{"arguments", []string{"args"}},
	{"results", []string{"result"}},
	{"model calls found", []string{"models"}},
	{"model requests", []string{"requests"}},
	{"model answers", []string{"answers"}},
	{"failure seen", []string{"failed", "error"}},
	{"order, spans", []string{"order", "spans"}},
	{"outcome", []string{"outcome"}},
}

// Markdown writes the score by dialect and field, with the reasons for what is
// not right.
func Markdown(w io.Writer, scores []Score, exceptions []Exception) error {
	var b strings.Builder
	b.WriteString("# How right the tapes are\n\n")
	b.WriteString("Written by `make fidelity`: the tapes of all cases in the tests, compared with what\n")
	b.WriteString("happened. A cell is right of compared; where the telemetry holds no such value,\n")
	b.WriteString("there is nothing to compare. Captures are exports of programs that ran.\n")
	b.WriteString("Samples follow the source of the instrumentation, described cases only a\n")
	b.WriteString("description of it; the values of both are invented.\n\n")
	b.WriteString("| dialect | captures | samples | described |")
	for _, c := range columns {
		b.WriteString(" " + c.title + " |")
	}
	b.WriteString("\n|---|--:|--:|--:|" + strings.Repeat("--:|", len(columns)) + "\n")
	byDialect := map[string][]Score{}
	var names []string
	for _, s := range scores {
		name := s.Dialect
		if byDialect[name] == nil {
			names = append(names, name)
		}
		byDialect[name] = append(byDialect[name], s)
	}
	slices.Sort(names)
	for _, name := range names {
		title := "`" + name + "`"
		if name == "" {
			title = "none"
		}
		markdownRow(&b, title, byDialect[name])
	}
	markdownRow(&b, "**all**", scores)
	b.WriteString("\n## What is not right, and why\n\n")
	b.WriteString("| case | field | reason |\n|---|---|---|\n")
	for _, e := range exceptions {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", e.Case, e.Field, strings.ReplaceAll(e.Reason, "|", `\|`))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownRow(b *strings.Builder, title string, scores []Score) {
	origins := map[string]int{}
	for _, s := range scores {
		origins[s.Origin]++
	}
	fmt.Fprintf(b, "| %s | %d | %d | %d |", title, origins["captures"], origins["samples"], origins["described"])
	for _, c := range columns {
		right, of := 0, 0
		for _, s := range scores {
			for _, f := range c.fields {
				right += s.Right[f]
				of += s.Of[f]
			}
		}
		if of == 0 {
			b.WriteString(" – |")
			continue
		}
		fmt.Fprintf(b, " %d/%d |", right, of)
	}
	b.WriteString("\n")
}
