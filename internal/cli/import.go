package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/otlpfile"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/tape"
)

// importReport is what import says about its work.
type importReport struct {
	Files      int           `json:"files"`
	Documents  int           `json:"documents"`
	Spans      int           `json:"spans"`
	LogRecords int           `json:"log_records"`
	Redacted   int           `json:"redacted"`
	Runs       []importedRun `json:"runs"`
	// WithoutCalls lists the traces that hold no tool or model call.
	WithoutCalls []string `json:"without_calls,omitempty"`
}

type importedRun struct {
	TraceID  string       `json:"trace_id"`
	File     string       `json:"file"`
	Outcome  tape.Outcome `json:"outcome"`
	Records  int          `json:"records"`
	Gaps     int          `json:"gaps"`
	Complete bool         `json:"complete"`

	run dialect.Run
}

func (a *app) importCmd() *cobra.Command {
	var out, config string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Make tapes of trace exports",
		Long: `Make tapes of the runs in trace exports. All files are one import, so a run may be
spread over several, traces and logs mixed. Files may be OTLP JSON (one request a
line, pretty-printed, concatenated, in an array) or OTLP protobuf (one message,
or size-prefixed as the collector's file exporter writes), exports of Jaeger,
Tempo, Langfuse and Phoenix, OpenInference JSON lines, or what the console
exporters of Python, JavaScript and Go print; gzip or zstd around any of it. - is
standard input. Secrets are redacted first.

--config names a YAML file with the sections translation and attribution of the
collector's tape_store extension, so that spans are read as the collector reads
them; the defaults are those of the extension.

One run goes to -o FILE or standard output; several go to -o DIR/, each as
<trace_id>.jsonl. The report goes to standard error.`,
		Args: args(1, -1),
		RunE: func(_ *cobra.Command, files []string) error {
			read := append(slices.Clone(files), config)
			if i := slices.IndexFunc(read, func(file string) bool { return sameFile(file, out) }); i >= 0 {
				return usage("-o %s is %s, which is to be read", out, read[i])
			}
			opts, err := readReading(config)
			if err != nil {
				return err
			}
			report, err := a.readRuns(files, opts)
			if err != nil {
				return err
			}
			none := len(report.Runs) == 0
			if none && !asJSON {
				return no("%s: no tool or model call among %s and %s, so there is no tape to make",
					strings.Join(files, ", "), count(report.Spans, "span"), count(report.LogRecords, "log record"))
			}
			if !none {
				if err := a.writeRuns(report, out); err != nil {
					return err
				}
			}
			text := []byte(report.text())
			if asJSON {
				if text, err = marshal(report); err != nil {
					return err
				}
			}
			if _, err := a.Err.Write(text); err != nil {
				return err
			}
			if none {
				// The report says it, and one more line would not be JSON.
				return &exitError{code: exitNo}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&config, "config", "", "YAML file with translation and attribution, as the tape_store extension has them")
	outFlag(cmd, &out)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// sameFile reports whether two paths lead to one regular file.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && x.Mode().IsRegular() && os.SameFile(x, y)
}

// readRuns reads all files into one translation. Each part of a document is
// redacted and let go of before the next is read, so that memory is bounded by
// what the spans say once.
func (a *app) readRuns(files []string, opts dialect.Options) (*importReport, error) {
	report := &importReport{Files: len(files), Runs: []importedRun{}}
	policy := redact.Default()
	opts.Lean = true
	in := importing{Translation: dialect.NewTranslation(opts), scrubber: scrub.New(policy), report: report}
	for _, file := range files {
		if err := a.readExport(file, &in); err != nil {
			return nil, err
		}
	}
	runs, err := in.Runs()
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		t := run.Tape
		if len(t.Records) == 0 {
			report.WithoutCalls = append(report.WithoutCalls, t.Manifest.TraceID)
			continue
		}
		t.Manifest.Redaction = policy.Manifest()
		report.Runs = append(report.Runs, importedRun{
			TraceID: t.Manifest.TraceID, Outcome: t.Manifest.Outcome, Records: len(t.Records),
			Gaps: len(t.Manifest.Gaps), Complete: t.Manifest.Complete, run: run,
		})
	}
	return report, nil
}

// importing is a translation that counts what goes into it.
type importing struct {
	*dialect.Translation
	scrubber *scrub.Scrubber
	report   *importReport
}

func (in *importing) add(d *otlpfile.Document) error {
	in.report.Spans += d.Traces.SpanCount()
	in.report.LogRecords += d.Logs.LogRecordCount()
	in.report.Redacted += in.scrubber.Traces(d.Traces).Values + in.scrubber.Logs(d.Logs).Values
	in.AddLogs(d.Logs)
	return in.Add(d.Traces)
}

// readExport adds the documents of one file.
func (a *app) readExport(file string, in *importing) (err error) {
	var r *otlpfile.Reader
	if file == "-" {
		r = otlpfile.NewReader("standard input", a.In)
	} else if r, err = otlpfile.Open(file); err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	empty, firstEmpty := 0, 0
	for {
		d, err := r.Next()
		if errors.Is(err, io.EOF) {
			if empty > 0 {
				a.note("%s: neither a span nor a log record in %s, the first of them document %d", file, count(empty, "document"), firstEmpty)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if !d.Part {
			in.report.Documents++
			if d.Empty() {
				if empty++; empty == 1 {
					firstEmpty = d.Number
				}
			}
		}
		if err := in.add(d); err != nil {
			return err
		}
	}
}

// writeRuns writes each run where out says.
func (a *app) writeRuns(report *importReport, out string) error {
	toDir := strings.HasSuffix(out, "/") || strings.HasSuffix(out, string(filepath.Separator))
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		toDir = true
	}
	switch {
	case !toDir && len(report.Runs) > 1:
		return usage("%s in the input: name a directory for one file each with -o DIR/", count(len(report.Runs), "run"))
	case !toDir:
		run := &report.Runs[0]
		run.File = out
		return a.output(out, run.write)
	}
	if err := os.MkdirAll(out, 0o700); err != nil {
		return err
	}
	for i := range report.Runs {
		run := &report.Runs[i]
		run.File = filepath.Join(out, run.TraceID+".jsonl")
		if err := a.output(run.File, run.write); err != nil {
			return err
		}
	}
	return nil
}

// write writes the tape record by record.
func (r *importedRun) write(w io.Writer) error {
	return tape.NewWriter(w).WriteAll(r.run.Tape.Manifest, r.run.Each())
}

func (r *importReport) text() string {
	var b strings.Builder
	from := count(r.Documents, "document") + ", " + count(r.Spans, "span")
	if r.LogRecords > 0 {
		from += ", " + count(r.LogRecords, "log record")
	}
	fmt.Fprintf(&b, "read %s; redacted %s; %s:\n", from, count(r.Redacted, "value"), count(len(r.Runs), "run"))
	for _, run := range r.Runs {
		to := ""
		if run.File != "-" {
			to = " -> " + run.File
		}
		gaps := ""
		if run.Gaps > 0 || !run.Complete {
			gaps = ", " + count(run.Gaps, "gap")
		}
		fmt.Fprintf(&b, "  %s  %s, %s%s%s\n", run.TraceID, run.Outcome, count(run.Records, "step"), gaps, clean(to))
	}
	if n := len(r.WithoutCalls); n > 0 {
		fmt.Fprintf(&b, "%s without a tool or model call left out\n", count(n, "trace"))
	}
	return b.String()
}
