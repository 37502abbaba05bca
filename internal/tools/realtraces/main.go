// Command realtraces sends files of OTLP/JSON, one request a line, through the
// built collector and prints what became of each set as a Markdown table.
//
//	realtraces [-bin DIR] [-config FILE] DIR...
//
// Each DIR is one set: every *.jsonl and *.jsonl.gz in it is sent in order, then
// the collector is stopped, so that every run is decided, and the store is read.
package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/harness"
	"github.com/tapedeck/tapedeck/tape"
)

func main() {
	bin := flag.String("bin", "bin", "directory of the binaries")
	config := flag.String("config", "deploy/local.yaml", "collector configuration")
	flag.Parse()
	if err := run(context.Background(), *bin, *config, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "realtraces:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, bin, config string, sets []string) error {
	fmt.Println("| set | requests | spans | traces | received | kept spans | summarised spans | let go spans | dropped spans | decided | kept runs (failed, recovered, incomplete) | summaries | no calls | tapes that replay | records |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, set := range sets {
		row, err := measure(ctx, bin, config, set)
		if err != nil {
			return fmt.Errorf("%s: %w", set, err)
		}
		fmt.Println(row)
	}
	return nil
}

// sent counts what went in.
type sent struct {
	requests, spans int
	traces          map[string]bool
}

func measure(ctx context.Context, bin, config, set string) (row string, err error) {
	dir, err := os.MkdirTemp("", "realtraces-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c, err := harness.Start(ctx, bin, config, dir,
		"processors::tape::idle_timeout=2s", "processors::tape::root_settle=500ms")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	in := sent{traces: map[string]bool{}}
	files, err := filepath.Glob(filepath.Join(set, "*.jsonl*"))
	if err != nil {
		return "", err
	}
	for _, file := range files {
		if err := in.send(ctx, c, file); err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
	}
	err = harness.Eventually(ctx, time.Minute, func() (bool, error) {
		open, err := c.Sum(ctx, "otelcol_processor_tape_open_runs")
		return open == 0, err
	})
	if err != nil {
		return "", fmt.Errorf("runs stay open: %w", err)
	}
	return in.table(ctx, c, filepath.Base(set))
}

func (s *sent) send(ctx context.Context, c *harness.Collector, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return err
		}
	}
	br := bufio.NewReader(r)
	for {
		line, err := br.ReadBytes('\n')
		if len(strings.TrimSpace(string(line))) > 0 {
			if err := s.request(ctx, c, line); err != nil {
				return fmt.Errorf("request %d: %w", s.requests+1, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *sent) request(ctx context.Context, c *harness.Collector, line []byte) error {
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
	if err != nil {
		return err
	}
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				s.spans++
				s.traces[span.TraceID().String()] = true
			}
		}
	}
	status, err := c.SendJSON(ctx, line)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the collector answered %d", status)
	}
	s.requests++
	return err
}

// table reads what came out and adds it up.
func (s *sent) table(ctx context.Context, c *harness.Collector, name string) (string, error) {
	var sums []float64
	for _, m := range []string{"received_spans", "kept_spans", "summarised_spans", "let_go_spans", "dropped_spans", "decided_runs"} {
		v, err := c.Sum(ctx, "otelcol_processor_tape_"+m)
		if err != nil {
			return "", err
		}
		sums = append(sums, v)
	}
	noCalls, err := c.Sum(ctx, "otelcol_processor_tape_decided_runs", `outcome="none"`)
	if err != nil {
		return "", err
	}
	var out counts
	if err := out.read(ctx, c); err != nil {
		return "", err
	}
	if in, fates := sums[0], sums[1]+sums[2]+sums[3]+sums[4]; in != fates || int(in) != s.spans {
		return "", fmt.Errorf("%d spans sent, %v received, %v accounted for", s.spans, in, fates)
	}
	if int(sums[5]) != len(s.traces) || out.kept()+out.summaries+int(noCalls) != len(s.traces) {
		return "", fmt.Errorf("%d traces, %v decided, %d kept + %d summarised + %v without calls",
			len(s.traces), sums[5], out.kept(), out.summaries, noCalls)
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %d (%d, %d, %d) | %d | %.0f | %d | %d |",
		name, s.requests, s.spans, len(s.traces), sums[0], sums[1], sums[2], sums[3], sums[4], sums[5],
		out.kept(), out.outcomes[tape.OutcomeFailed], out.outcomes[tape.OutcomeRecovered], out.outcomes[tape.OutcomeIncomplete],
		out.summaries, noCalls, out.whole, out.records), nil
}

type counts struct {
	outcomes  map[tape.Outcome]int
	summaries int
	// whole counts tapes without a gap.
	whole, records int
}

func (n *counts) kept() int {
	sum := 0
	for _, k := range n.outcomes {
		sum += k
	}
	return sum
}

// read lists every row and pulls every tape.
func (n *counts) read(ctx context.Context, c *harness.Collector) error {
	n.outcomes = map[tape.Outcome]int{}
	for cursor := ""; ; {
		var page struct {
			Tapes      []tape.Row `json:"tapes"`
			NextCursor string     `json:"next_cursor"`
		}
		_, body, err := harness.Get(ctx, c.API+"/v1/tapes?limit=100&cursor="+cursor)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return fmt.Errorf("list: %w: %s", err, body)
		}
		for _, row := range page.Tapes {
			if !row.Kept {
				n.summaries++
				continue
			}
			n.outcomes[row.Outcome]++
			if err := n.pull(ctx, c, row.TraceID); err != nil {
				return fmt.Errorf("pull %s: %w", row.TraceID, err)
			}
		}
		if page.NextCursor == "" {
			return nil
		}
		cursor = page.NextCursor
	}
}

func (n *counts) pull(ctx context.Context, c *harness.Collector, id string) error {
	status, body, err := harness.Get(ctx, c.API+"/v1/tapes/"+id)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("the API answered %d: %s", status, body)
	}
	t, err := tape.ReadAll(strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	n.records += len(t.Records)
	if t.Manifest != nil && t.Manifest.Complete {
		n.whole++
	}
	return nil
}
