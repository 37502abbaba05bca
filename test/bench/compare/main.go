package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/encoding/gzip"

	"github.com/tapedeck/tapedeck/test/bench/load"
)

const seed = 1

type options struct {
	bin, ocb, work string
	doc            string
	short, gzip    bool
	only           []string
}

func main() {
	var o options
	flag.StringVar(&o.bin, "bin", "bin", "directory of otelcol-tape")
	flag.StringVar(&o.ocb, "ocb", ".tools/bin/ocb", "the OpenTelemetry Collector builder")
	flag.StringVar(&o.work, "work", "dist/bench", "directory for the built collector and the results")
	flag.BoolVar(&o.short, "short", false, "a fifth of the content-rich load and a tenth of the light one")
	flag.BoolVar(&o.gzip, "gzip", true, "compress requests, as the OTLP exporter of a collector does by default")
	flag.StringVar(&o.doc, "doc", "", "also write the table into this file, between its marks")
	only := flag.String("only", "", "compare these collectors alone, by name, with commas between")
	flag.Parse()
	// The sender works on the same cores as what is measured.
	if err := gzip.SetLevel(1); err != nil {
		panic(err) // 1 is a level
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	rich, light, wait := 100, 20_000, 30*time.Second
	if o.short {
		rich, light, wait = rich/5, light/10, wait/3
	}
	for _, name := range o.only {
		if !slices.ContainsFunc(systems, func(s system) bool { return s.name == name }) {
			return fmt.Errorf("-only: there is no %q", name)
		}
	}
	work, err := filepath.Abs(o.work)
	if err != nil {
		return err
	}
	usual, err := build(ctx, o.ocb, work)
	if err != nil {
		return fmt.Errorf("build the usual collector: %w", err)
	}
	bins := map[string]string{usualBinary: usual, tapeBinary: filepath.Join(o.bin, tapeBinary)}
	report := Report{Machine: thisMachine(), Release: release(), Gzip: o.gzip}
	for _, l := range []load.Load{load.Rich(rich, seed), load.Light(light, seed)} {
		facts, err := weigh(l)
		if err != nil {
			return fmt.Errorf("%s: %w", l.Name, err)
		}
		measured := LoadReport{Load: facts}
		for _, s := range systems {
			if len(o.only) > 0 && !slices.Contains(o.only, s.name) {
				continue
			}
			fmt.Fprintf(os.Stderr, "%s: %s\n", l.Name, s.name)
			m, err := measure(ctx, trial{s, bins[s.binary], wait, o.gzip}, work, l)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", l.Name, s.name, err)
			}
			measured.Systems = append(measured.Systems, m)
		}
		report.Loads = append(report.Loads, measured)
	}
	errs := []error{report.Markdown(os.Stdout), report.write(filepath.Join(work, "compare.json")), report.lost()}
	if o.doc != "" {
		errs = append(errs, report.document(o.doc))
	}
	return errors.Join(errs...)
}
