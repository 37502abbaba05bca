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
	b.WriteString("Written by `make fidelity`: the tapes of all recordings, compared with what really\n")
	b.WriteString("happened. A cell is right of compared; where the telemetry holds no such value,\n")
	b.WriteString("there is nothing to compare. Described are spans that were written after a\n")
	b.WriteString("description, where no recording was at hand.\n\n")
	b.WriteString("| dialect | recordings | described |")
	for _, c := range columns {
		b.WriteString(" " + c.title + " |")
	}
	b.WriteString("\n|---|--:|--:|" + strings.Repeat("--:|", len(columns)) + "\n")
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
	b.WriteString("| recording | field | reason |\n|---|---|---|\n")
	for _, e := range exceptions {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", e.Case, e.Field, strings.ReplaceAll(e.Reason, "|", `\|`))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownRow(b *strings.Builder, title string, scores []Score) {
	described := 0
	for _, s := range scores {
		if s.Described {
			described++
		}
	}
	fmt.Fprintf(b, "| %s | %d | %d |", title, len(scores)-described, described)
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
