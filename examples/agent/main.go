// Command agent is a small agent of four tools, instrumented with the
// OpenTelemetry SDK after the GenAI semantic conventions: it fetches a document,
// has a model shorten it, writes a report and notifies a channel.
//
// With OTEL_EXPORTER_OTLP_ENDPOINT set it exports its spans. With TAPE_URL set it
// runs no tool at all: every answer comes from a tape.
//
//	agent [-run N] [-max-words N] [-report FILE]
//
// The outside world of this example is in the process: a document server, a
// model that counts its calls, and a webhook that is down on every third run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
)

func main() {
	run := flag.Int("run", 1, "number of this run; the webhook is down on every third")
	maxWords := flag.Int("max-words", 120, "length of the summary")
	report := flag.String("report", "report.md", "file the report is written to")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := start(ctx, *run, *maxWords, *report)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, run, maxWords int, report string) (err error) {
	var caller caller
	if url := os.Getenv("TAPE_URL"); url != "" {
		caller = &tapeCaller{url: url}
	} else {
		shutdown, err := setUpTracing(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, shutdown(context.WithoutCancel(ctx))) }()
		caller = &liveCaller{tracer: otel.Tracer("agent")}
	}
	w := newWorld(run, report)
	defer w.close()
	a := agent{caller: caller, world: w}
	return a.run(ctx, maxWords)
}

func setUpTracing(ctx context.Context) (func(context.Context) error, error) {
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" {
		return func(context.Context) error { return nil }, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("set up the exporter: %w", err)
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(
			semconv.ServiceName("report-agent"),
			semconv.ServiceVersion("1.0.0"),
		)),
	)
	otel.SetTracerProvider(provider)
	return provider.Shutdown, nil
}
