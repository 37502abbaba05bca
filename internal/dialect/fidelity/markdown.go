package fidelity

import (
	"cmp"
	"fmt"
	"io"
	"maps"
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

// Markdown writes the score by dialect, by instrumentation and by field, with the
// reasons for what is not right.
func Markdown(w io.Writer, scores []Score, exceptions []Exception) error {
	var b strings.Builder
	b.WriteString("# How right the tapes are\n\n")
	b.WriteString("Written by `make fidelity`: the tapes of all cases in the tests, compared with what\n")
	b.WriteString("happened. A cell is right of compared; where the telemetry holds no such value,\n")
	b.WriteString("there is nothing to compare. Captures are exports of programs that ran.\n")
	b.WriteString("Samples follow the source of the instrumentation, described cases only a\n")
	b.WriteString("description of it; the values of both are invented.\n\n")
	b.WriteString("## By dialect\n\n")
	b.WriteString("A case counts in the row of every dialect that read one of its calls.\n\n")
	table(&b, "dialect", scores, func(s Score) []string { return quoted(s.Dialects) })
	b.WriteString("\n## By instrumentation\n\n")
	b.WriteString("What has no name is one case each, named after its file.\n\n")
	table(&b, "instrumentation | read as", scores, func(s Score) []string {
		return []string{s.Instrumentation + " | " + strings.Join(quoted(dialectsFor(scores, s.Instrumentation)), ", ")}
	})
	b.WriteString("\n## What is not right, and why\n\n")
	b.WriteString("| case | field | reason |\n|---|---|---|\n")
	for _, e := range exceptions {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", e.Case, e.Field, strings.ReplaceAll(e.Reason, "|", `\|`))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// table writes a row for each title that the scores have, and their sum.
func table(b *strings.Builder, head string, scores []Score, titles func(Score) []string) {
	b.WriteString("| " + head + " | captures | samples | described |")
	for _, c := range columns {
		b.WriteString(" " + c.title + " |")
	}
	first := strings.Count(head, "|") + 1
	b.WriteString("\n|" + strings.Repeat("---|", first) + strings.Repeat("--:|", 3+len(columns)) + "\n")
	rows := map[string][]Score{}
	for _, s := range scores {
		for _, title := range titles(s) {
			rows[title] = append(rows[title], s)
		}
	}
	for _, title := range slices.SortedFunc(maps.Keys(rows), byText) {
		markdownRow(b, title, rows[title])
	}
	markdownRow(b, "**all**"+strings.Repeat(" | ", first-1), scores)
}

// byText orders titles as a reader looks for them.
func byText(a, b string) int {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "`", "")) }
	return cmp.Or(cmp.Compare(plain(a), plain(b)), cmp.Compare(a, b))
}

// quoted are names as code; a case without a call has no dialect.
func quoted(names []string) []string {
	out := make([]string, 0, len(names))
	for _, name := range names {
		if name != "" {
			out = append(out, "`"+name+"`")
		}
	}
	if len(out) == 0 {
		return []string{"none"}
	}
	return out
}

// dialectsFor are the dialects of all cases of an instrumentation.
func dialectsFor(scores []Score, instrumentation string) []string {
	var out []string
	for _, s := range scores {
		if s.Instrumentation == instrumentation {
			out = append(out, s.Dialects...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
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
