// Command realtraces sends files of OTLP/JSON, one request a line, through the
// built collector and prints what became of each set as a Markdown table.
//
//	realtraces [-bin DIR] [-config FILE] [-all] DIR...
//
// Each DIR is one set: every *.jsonl and *.jsonl.gz in it is sent in order to a
// collector of its own. When all runs are decided, every row and every tape is
// read back through the API. It fails when the sums do not add up.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/tapedeck/tapedeck/internal/harness"
	"github.com/tapedeck/tapedeck/tape"
)

func main() {
	bin := flag.String("bin", "bin", "directory of the binaries")
	config := flag.String("config", "deploy/local.yaml", "collector configuration")
	all := flag.Bool("all", false, "keep every run whole, not only failures")
	flag.Parse()
	settings := []string{"processors::tape::idle_timeout=2s", "processors::tape::root_settle=500ms"}
	if *all {
		settings = append(settings, "processors::tape::keep::outcomes=[failed,recovered,incomplete,succeeded]")
	}
	if err := run(context.Background(), *bin, *config, settings, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "realtraces:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, bin, config string, settings, sets []string) error {
	fmt.Println("| set | requests | spans | runs | spans kept | summarised | let go | dropped | runs kept | failed | recovered | incomplete | succeeded | summaries | no calls | tapes without a gap | records |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, set := range sets {
		m, err := harness.Measure(ctx, bin, config, settings, set)
		if err != nil {
			return fmt.Errorf("%s: %w", set, err)
		}
		fmt.Printf("| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d |\n",
			m.Name, m.Requests, m.Spans, m.Traces, m.Kept, m.Summarised, m.LetGo, m.Dropped, m.KeptRuns(),
			m.Outcomes[tape.OutcomeFailed], m.Outcomes[tape.OutcomeRecovered], m.Outcomes[tape.OutcomeIncomplete],
			m.Outcomes[tape.OutcomeSucceeded], m.Summaries, m.NoCalls, m.Whole, m.Records)
	}
	return nil
}
