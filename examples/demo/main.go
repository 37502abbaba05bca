// Command demo walks the whole line on one machine: a collector with a directory
// store, an agent of four tools whose third run fails, its tape by trace id, a
// replay without a single live call, and a changed argument shown as drift.
//
//	demo -bin DIR
//
// DIR holds the binaries otelcol-tape, tape and agent. Everything else lives in
// a temporary directory that is removed at the end; -keep leaves it there.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/tapedeck/tapedeck/internal/harness"
)

func main() {
	bin := flag.String("bin", "bin", "directory of the binaries")
	config := flag.String("config", "deploy/local.yaml", "collector configuration")
	keep := flag.Bool("keep", false, "leave the temporary directory in place")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *bin, *config, *keep)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, bin, config string, keep bool) (err error) {
	dir, err := os.MkdirTemp("", "tapedeck-demo-")
	if err != nil {
		return err
	}
	d := &demo{dir: dir}
	if d.bin, err = filepath.Abs(bin); err != nil {
		return err
	}
	if d.config, err = filepath.Abs(config); err != nil {
		return err
	}
	defer func() {
		if keep {
			fmt.Printf("\nEverything is in %s\n", dir)
			return
		}
		err = errors.Join(err, os.RemoveAll(dir))
		fmt.Printf("\nCleaned up: %s is gone. To look around: go run ./examples/demo -keep\n", dir)
	}()
	stop, err := d.startCollector(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return d.tour(ctx)
}

type demo struct {
	dir, bin, config string
	collector        *harness.Collector
}

// startCollector runs the distribution on free ports of the loopback interface
// and waits until it answers.
func (d *demo) startCollector(ctx context.Context) (stop func() error, err error) {
	title("A collector with a directory store")
	// The demo does not wait the usual five seconds for stragglers.
	c, err := harness.Start(ctx, d.bin, d.config, d.dir, "processors::tape::root_settle=300ms")
	if err != nil {
		return nil, err
	}
	d.collector = c
	fmt.Printf("OTLP on %s, tapes on %s, store in %s, log in %s\n", c.OTLP, c.API, c.StoreDir(), c.LogPath())
	return c.Stop, nil
}

func (d *demo) tour(ctx context.Context) error {
	report := filepath.Join(d.dir, "report.md")
	tapeFile := filepath.Join(d.dir, "failed.jsonl")
	agent := filepath.Join(d.bin, "agent")

	title("Three runs of the agent; the third fails")
	var trace string
	for n := 1; n <= 3; n++ {
		out, code, err := d.show(ctx, true, "agent", "-run", fmt.Sprint(n), "-report", report)
		if err != nil {
			return err
		}
		if want := n / 3; code != want {
			return fmt.Errorf("run %d of the agent exited with %d, want %d", n, code, want)
		}
		m := regexp.MustCompile(`trace ([0-9a-f]{32})`).FindStringSubmatch(out)
		if m == nil {
			return fmt.Errorf("run %d of the agent named no trace", n)
		}
		trace = m[1]
	}
	before, err := os.ReadFile(report)
	if err != nil {
		return err
	}
	if err := d.waitDecided(ctx, trace); err != nil {
		return err
	}

	title("What the collector kept: one tape, and a row for each run")
	if err := d.mustShow(ctx, 0, "tape", "ls"); err != nil {
		return err
	}
	title("The failed run's tape, by trace id")
	if err := d.mustShow(ctx, 0, "tape", "pull", trace, "-o", tapeFile); err != nil {
		return err
	}
	if err := d.mustShow(ctx, 0, "tape", "show", tapeFile); err != nil {
		return err
	}

	title("The same agent against the tape: same failure, nothing runs")
	if err := os.Remove(report); err != nil {
		return err
	}
	out, code, err := d.show(ctx, false, "tape", "run", tapeFile, "--", agent, "-run", "1", "-report", report)
	if err != nil {
		return err
	}
	// 1 is also the code of a replay that is not clean.
	if code != 1 || !strings.Contains(out, "webhook answered 503") || !strings.Contains(out, "records): clean") {
		return fmt.Errorf("the replay exited with %d and was not that of the recorded failure", code)
	}
	if _, err := os.Stat(report); !errors.Is(err, os.ErrNotExist) {
		return errors.New("the replay wrote the report: a side effect happened")
	}
	fmt.Printf("\nThe recorded run wrote %d bytes to report.md. The replay wrote none: %s does not exist.\n", len(before), report)

	title("One argument changed: drift, not a guess")
	out, code, err = d.show(ctx, false, "tape", "run", tapeFile, "--", agent, "-max-words", "80", "-report", report)
	if err != nil {
		return err
	}
	if code != 1 || !strings.Contains(out, "max_words") {
		return fmt.Errorf("the changed argument did not show as drift (exit %d)", code)
	}
	return nil
}

// waitDecided waits until the tape can be read.
func (d *demo) waitDecided(ctx context.Context, trace string) error {
	return harness.Eventually(ctx, 20*time.Second, func() (bool, error) {
		status, _, err := harness.Get(ctx, d.collector.API+"/v1/tapes/"+trace)
		return status == http.StatusOK, err
	})
}

func (d *demo) mustShow(ctx context.Context, want int, name string, args ...string) error {
	_, code, err := d.show(ctx, false, name, args...)
	if err == nil && code != want {
		err = fmt.Errorf("%s %s exited with %d, want %d", name, strings.Join(args, " "), code, want)
	}
	return err
}

// show prints a command as a user would type it, runs it and returns what it
// printed.
func (d *demo) show(ctx context.Context, export bool, name string, args ...string) (out string, code int, err error) {
	words := make([]string, 0, len(args))
	for _, a := range args {
		words = append(words, strings.TrimPrefix(strings.TrimPrefix(a, d.dir+"/"), d.bin+"/"))
	}
	fmt.Printf("\n$ %s %s\n", name, strings.Join(words, " "))
	cmd := exec.CommandContext(ctx, filepath.Join(d.bin, name), args...)
	cmd.Env = append(os.Environ(), "TAPE_SERVER="+d.collector.API)
	if export {
		cmd.Env = append(cmd.Env, "OTEL_EXPORTER_OTLP_ENDPOINT="+d.collector.OTLP)
	}
	var buf bytes.Buffer
	cmd.Stdout = io.MultiWriter(os.Stdout, &buf)
	cmd.Stderr = cmd.Stdout
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return buf.String(), exit.ExitCode(), nil
	}
	return buf.String(), 0, err
}

// title is bold on a terminal.
func title(s string) {
	if term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == "" {
		s = "\033[1m== " + s + "\033[0m"
	} else {
		s = "== " + s
	}
	fmt.Printf("\n%s\n", s)
}
