package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Report is one run of the comparison.
type Report struct {
	Machine Machine `json:"machine"`
	Release string  `json:"collector_release"`
	// Gzip tells whether requests were compressed.
	Gzip  bool         `json:"gzip"`
	Loads []LoadReport `json:"loads"`
}

// Machine is what the figures depend on.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
}

// LoadReport is what all collectors made of one load.
type LoadReport struct {
	Load    Weight     `json:"load"`
	Systems []Measured `json:"systems"`
}

func thisMachine() Machine {
	m := Machine{CPU: "unknown", Cores: runtime.NumCPU(), Kernel: "unknown", Go: runtime.Version()}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
				m.CPU = strings.TrimSpace(value)
				break
			}
		}
	}
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(kernel))
	}
	return m
}

// write keeps the figures for programs.
func (r Report) write(file string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o600)
}

// The table stands in a document between lines that begin like this.
const begin, end = "<!-- figures begin", "<!-- figures end"

// document replaces the table in a document.
func (r Report) document(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), begin)
	mark, rest, ok2 := strings.Cut(rest, "\n")
	_, after, ok3 := strings.Cut(rest, end)
	if !ok || !ok2 || !ok3 {
		return fmt.Errorf("%s: no lines that begin with %q and %q", file, begin, end)
	}
	var b strings.Builder
	b.WriteString(before + begin + mark + "\n\n")
	if err := r.Markdown(&b); err != nil {
		return err
	}
	b.WriteString("\n" + end + after)
	return os.WriteFile(file, []byte(b.String()), 0o600)
}

// Markdown writes the table.
func (r Report) Markdown(to io.Writer) error {
	var b strings.Builder
	compression := "none"
	if r.Gzip {
		compression = "gzip"
	}
	fmt.Fprintf(&b, "%s, %d cores, Linux %s, %s, collector %s, OTLP/gRPC with compression: %s.\n",
		r.Machine.CPU, r.Machine.Cores, r.Machine.Kernel, r.Machine.Go, r.Release, compression)
	for _, l := range r.Loads {
		w := l.Load
		fmt.Fprintf(&b, "\n%s: %d runs, %d open at once, %d spans, %s MB as OTLP protobuf, %s MB as OTLP JSON.\n\n",
			w.Name, w.Runs, w.Open, w.Spans, megabytes(w.Proto), megabytes(w.JSON))
		b.WriteString("| collector | CPU s | × bare | GC % of CPU | peak RSS MiB | accepted spans/s | accepted MB/s | stored MB | % of OTLP JSON | lost spans |\n")
		b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
		bare := l.bare()
		for _, m := range l.Systems {
			ratio := "–"
			if bare > 0 {
				ratio = fmt.Sprintf("%.1f", m.CPU/bare)
			}
			stored, part := "–", "–"
			if m.Stored > 0 {
				stored, part = megabytes(m.Stored), fmt.Sprintf("%.1f", 100*share(float64(m.Stored), float64(w.JSON)))
			}
			fmt.Fprintf(&b, "| %s | %.2f | %s | %.1f | %d | %.0f | %.1f | %s | %s | %d |\n", m.System, m.CPU, ratio,
				100*share(m.GC, m.CPU), m.PeakRSS>>20, share(float64(m.Spans), m.Elapsed),
				share(float64(w.Proto)/1e6, m.Elapsed), stored, part, m.Lost)
		}
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// lost is an error when spans that we accepted were not stored: then there is
// nothing to compare.
func (r Report) lost() (err error) {
	for _, l := range r.Loads {
		for _, m := range l.Systems {
			if m.System == "tapedeck" && m.Lost > 0 {
				err = errors.Join(err, fmt.Errorf("%s: tapedeck lost %d of %d spans", l.Load.Name, m.Lost, m.Spans))
			}
		}
	}
	return err
}

// bare is the processor time of the floor, 0 if it was not measured.
func (l LoadReport) bare() float64 {
	for _, m := range l.Systems {
		if m.System == "bare" {
			return m.CPU
		}
	}
	return 0
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f", float64(n)/1e6) }

func share(part, of float64) float64 {
	if of == 0 {
		return 0
	}
	return part / of
}
