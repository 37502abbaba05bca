package cli

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/tape"
)

// pageSize is how many rows are asked for at once.
const pageSize = 200

func (a *app) lsCmd() *cobra.Command {
	var asJSON bool
	var limit int
	var since, until string
	// The filters of the API, by flag.
	filters := []struct {
		flag, param, usage string
		values             []string
	}{
		{flag: "outcome", param: "outcome", usage: "failed, recovered, incomplete or succeeded"},
		{flag: "tool", param: "tool", usage: "runs that called this tool"},
		{flag: "class", param: "class", usage: "the retention class that holds the run, or the class of its failure"},
		{flag: "service", param: "service", usage: "service name"},
		{flag: "agent", param: "agent", usage: "agent name"},
		{flag: "conversation", param: "conversation_id", usage: "conversation id"},
	}
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the runs that were decided, newest first",
		Long: `List decided runs, kept or summarised, newest first. --since and --until take an
RFC 3339 time, or a span such as 90m, 24h or 7d before now. A filter given several
times takes any of its values. Columns that do not fit a terminal are cut; a pipe
gets them whole.`,
		Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			query := url.Values{}
			for _, f := range filters {
				if f.values != nil {
					query[f.param] = f.values
				}
			}
			for _, t := range []struct{ param, value string }{{"since", since}, {"until", until}} {
				if t.value == "" {
					continue
				}
				at, err := moment(t.value, time.Now())
				if err != nil {
					return usage("--%s: %w", t.param, err)
				}
				query.Set(t.param, at.UTC().Format(time.RFC3339Nano))
			}
			if limit < 1 {
				return usage("--limit is 1 or more, not %d", limit)
			}
			rows, more, err := a.list(cmd.Context(), query, limit)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(struct {
					Tapes []tape.Row `json:"tapes"`
					// More is set when there are further rows.
					More bool `json:"more"`
				}{rows, more})
			}
			if len(rows) == 0 {
				a.note("no runs match")
				return nil
			}
			if more {
				defer a.note("there are more: raise --limit to see them")
			}
			t := a.terminal(a.Out)
			if t.assumed {
				// A pipe has room for all, and what reads it wants all.
				t.width = unlimited
			}
			return a.print(t.table(rowColumns, t.rowCells(rows)))
		},
	}
	jsonFlag(cmd, &asJSON)
	for i := range filters {
		f := &filters[i]
		cmd.Flags().StringArrayVar(&f.values, f.flag, nil, f.usage)
	}
	cmd.Flags().StringVar(&since, "since", "", "runs decided at or after this time")
	cmd.Flags().StringVar(&until, "until", "", "runs decided before this time")
	cmd.Flags().IntVar(&limit, "limit", 50, "the most rows to list")
	return cmd
}

// list reads pages until there are enough rows, and says whether there are more.
func (a *app) list(ctx context.Context, query url.Values, limit int) (rows []tape.Row, more bool, err error) {
	c, done, err := a.client()
	if err != nil {
		return nil, false, err
	}
	defer done()
	rows = []tape.Row{}
	for {
		query.Set("limit", strconv.Itoa(min(pageSize, limit-len(rows))))
		page, next, err := c.list(ctx, query)
		if err != nil {
			return nil, false, err
		}
		rows = append(rows, page...)
		if next == "" || len(rows) >= limit {
			return rows[:min(limit, len(rows))], next != "" || len(rows) > limit, nil
		}
		if next == query.Get("cursor") {
			return nil, false, missing("%s: the list does not advance", c.where)
		}
		query.Set("cursor", next)
	}
}

// moment reads a time, or a span before now; a span may be in days.
func moment(s string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n >= 0 && n < 1e5 {
			return now.Add(-time.Duration(n * 24 * float64(time.Hour))), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%q is neither an RFC 3339 time nor a span such as 24h", s)
}

// unlimited is a width that no row reaches.
const unlimited = 1 << 20

var rowColumns = []column{
	{title: "trace id"}, {title: "started"}, {title: "outcome"}, {title: "service/agent", share: 2},
	{title: "steps", right: true}, {title: "time", right: true}, {title: "kept"}, {title: "failure, else tools", share: 3},
}

func (t terminal) rowCells(rows []tape.Row) [][]cell {
	out := make([][]cell, len(rows))
	for i := range rows {
		r := &rows[i]
		kept := cell{text: "summary", colour: faint}
		if r.Kept {
			kept = cell{text: r.Class}
			if r.Class == "" {
				kept.text = "yes"
			}
		}
		out[i] = []cell{
			{text: r.TraceID}, {text: shortTime(r.Start)}, {string(r.Outcome), outcomeColour(r.Outcome)},
			{text: rowName(r)}, {text: strconv.Itoa(r.Steps)}, {text: millis(r.DurationMS)}, kept, {text: rowReason(r)},
		}
	}
	return out
}

// rowName says who ran, once where service and agent have one name.
func rowName(r *tape.Row) string {
	if r.Agent == "" || r.Agent == r.Service {
		return r.Service
	}
	return r.Service + "/" + r.Agent
}

// rowReason says why a run failed, else what it used.
func rowReason(r *tape.Row) string {
	if r.FailureClass == "" && r.FailureReason == "" && r.FailingTool == "" {
		return strings.Join(r.Tools, " ")
	}
	var parts []string
	for _, p := range []string{r.FailingTool, r.FailureClass, r.FailureReason} {
		if p != "" {
			parts = append(parts, oneLine(p))
		}
	}
	return strings.Join(parts, ": ")
}

// shortTime is a time to the minute, as it came when it is none.
func shortTime(s string) string {
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return s
	}
	return at.UTC().Format("2006-01-02 15:04")
}

// millis is a time span given in milliseconds.
func millis(ms float64) string { return duration(time.Duration(ms * float64(time.Millisecond))) }
