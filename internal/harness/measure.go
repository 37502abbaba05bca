package harness

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/tape"
)

// Measured is what became of a set of requests.
type Measured struct {
	Name string
	// Requests and Spans were sent, Traces is how many runs they belong to.
	Requests, Spans, Traces int
	// Received, Kept, Summarised, LetGo and Dropped count spans by the
	// processor's metrics, Decided and NoCalls runs.
	Received, Kept, Summarised, LetGo, Dropped, Decided, NoCalls int
	// Outcomes counts kept runs, Summaries index rows of others.
	Outcomes  map[tape.Outcome]int
	Summaries int
	// Records is the length of all tapes, Whole the number of tapes that replay
	// without a gap.
	Records, Whole int
}

// KeptRuns is the number of runs kept whole.
func (m *Measured) KeptRuns() (sum int) {
	for _, n := range m.Outcomes {
		sum += n
	}
	return sum
}

// sent counts what went in.
type sent struct {
	requests, spans int
	traces          map[string]bool
}

// Measure sends every *.jsonl and *.jsonl.gz of a directory, OTLP/JSON with one
// request a line, through a collector of its own and reads back what came out. It
// fails when the sums do not add up.
func Measure(ctx context.Context, bin, config string, settings []string, set string) (m *Measured, err error) {
	dir, err := os.MkdirTemp("", "measure-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c, err := Start(ctx, bin, config, dir, settings...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	in := sent{traces: map[string]bool{}}
	files, err := filepath.Glob(filepath.Join(set, "*.jsonl*"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := in.send(ctx, c, file); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	err = Eventually(ctx, time.Minute, func() (bool, error) {
		open, err := c.Sum(ctx, "otelcol_processor_tape_open_runs")
		return open == 0, err
	})
	if err != nil {
		return nil, fmt.Errorf("runs stay open: %w", err)
	}
	m = &Measured{Name: filepath.Base(set), Requests: in.requests, Spans: in.spans, Traces: len(in.traces)}
	return m, m.collect(ctx, c)
}

func (s *sent) send(ctx context.Context, c *Collector, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return err
		}
	}
	br := bufio.NewReader(r)
	for {
		line, err := br.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
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

func (s *sent) request(ctx context.Context, c *Collector, line []byte) error {
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
	if err == nil {
		s.requests++
	}
	return err
}

// collect reads what came out and adds it up.
func (m *Measured) collect(ctx context.Context, c *Collector) error {
	for _, metric := range []struct {
		into   *int
		name   string
		labels []string
	}{
		{&m.Received, "received_spans", nil},
		{&m.Kept, "kept_spans", nil},
		{&m.Summarised, "summarised_spans", nil},
		{&m.LetGo, "let_go_spans", nil},
		{&m.Dropped, "dropped_spans", nil},
		{&m.Decided, "decided_runs", nil},
		{&m.NoCalls, "decided_runs", []string{`outcome="none"`}},
	} {
		v, err := c.Sum(ctx, "otelcol_processor_tape_"+metric.name, metric.labels...)
		if err != nil {
			return err
		}
		*metric.into = int(v)
	}
	if fates := m.Kept + m.Summarised + m.LetGo + m.Dropped; m.Received != fates || m.Received != m.Spans {
		return fmt.Errorf("%d spans sent, %d received, %d accounted for", m.Spans, m.Received, fates)
	}
	// The exporter works from a queue: a decision is stored a moment later.
	err := Eventually(ctx, 30*time.Second, func() (bool, error) {
		err := m.read(ctx, c)
		return err == nil && m.KeptRuns()+m.Summaries+m.NoCalls == m.Traces, err
	})
	if err != nil || m.Decided != m.Traces {
		return errors.Join(err, fmt.Errorf("%d traces: %d decided, %d kept + %d summarised + %d without calls",
			m.Traces, m.Decided, m.KeptRuns(), m.Summaries, m.NoCalls))
	}
	return nil
}

// read lists every row and pulls every tape.
func (m *Measured) read(ctx context.Context, c *Collector) error {
	m.Outcomes = map[tape.Outcome]int{}
	m.Summaries, m.Records, m.Whole = 0, 0, 0
	for cursor := ""; ; {
		var page struct {
			Tapes      []tape.Row `json:"tapes"`
			NextCursor string     `json:"next_cursor"`
		}
		_, body, err := Get(ctx, c.API+"/v1/tapes?limit=100&cursor="+cursor)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return fmt.Errorf("list: %w: %s", err, body)
		}
		for _, row := range page.Tapes {
			if !row.Kept {
				m.Summaries++
				continue
			}
			m.Outcomes[row.Outcome]++
			if err := m.pull(ctx, c, row.TraceID); err != nil {
				return fmt.Errorf("pull %s: %w", row.TraceID, err)
			}
		}
		if page.NextCursor == "" {
			return nil
		}
		cursor = page.NextCursor
	}
}

func (m *Measured) pull(ctx context.Context, c *Collector, id string) error {
	status, body, err := Get(ctx, c.API+"/v1/tapes/"+id)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("the API answered %d: %s", status, body)
	}
	t, err := tape.ReadAll(bytes.NewReader(body))
	if err != nil {
		return err
	}
	m.Records += len(t.Records)
	if t.Manifest != nil && t.Manifest.Complete {
		m.Whole++
	}
	return nil
}
