// Package fidelity measures how well tapes say what really happened. It reads
// recorded telemetry with the truth beside it, in two forms: samples
// (<name>.json, expected/<name>.json, read off the telemetry by hand) and
// captures (<name>.otlp.jsonl, <name>.expected.json, written by the program
// that made the calls). It compares field by field and prints a table.
//
// What cannot be right, because the telemetry does not hold it, is listed with
// its reason in a file of exceptions; an exception that no longer applies is
// itself a failure, so the list cannot rot.
package fidelity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Case is one recording and its truth.
type Case struct {
	Name   string
	Traces ptrace.Traces
	Logs   plog.Logs
	Want   Want
}

// withoutLogs ends the name of a sample that is read without its log records.
const withoutLogs = " without logs"

// ReadSamples reads all samples of a directory.
func ReadSamples(dir string) ([]Case, error) {
	names, err := filepath.Glob(filepath.Join(dir, "expected", "*.json"))
	if err != nil {
		return nil, err
	}
	var out []Case
	for _, name := range names {
		var want sampleFile
		if err := readJSON(name, &want); err != nil {
			return nil, err
		}
		base := strings.TrimSuffix(filepath.Base(name), ".json")
		c, err := readCase(base, filepath.Join(dir, base+".json"), filepath.Join(dir, base+".logs.json"))
		if err != nil {
			return nil, err
		}
		c.Want = want.want(false)
		out = append(out, c)
		if c.Logs.LogRecordCount() > 0 {
			c.Name += withoutLogs
			c.Logs, c.Want = plog.NewLogs(), want.want(true)
			out = append(out, c)
		}
	}
	return out, nil
}

// ReadCaptures reads all captures of a directory.
func ReadCaptures(dir string) ([]Case, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.expected.json"))
	if err != nil {
		return nil, err
	}
	var out []Case
	for _, name := range names {
		var want captureFile
		if err := readJSON(name, &want); err != nil {
			return nil, err
		}
		base := strings.TrimSuffix(name, ".expected.json")
		c, err := readCase(filepath.Base(base), base+".otlp.jsonl", base+".logs.jsonl")
		if err != nil {
			return nil, err
		}
		traces, err := os.ReadFile(base + ".otlp.jsonl")
		if err != nil {
			return nil, err
		}
		logs, err := os.ReadFile(base + ".logs.jsonl")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		c.Want = want.want(string(traces), string(logs))
		out = append(out, c)
	}
	return out, nil
}

func readCase(name, traces, logs string) (Case, error) {
	c := Case{Name: name, Traces: ptrace.NewTraces(), Logs: plog.NewLogs()}
	err := documents(traces, func(doc []byte) error {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(doc)
		if err == nil {
			td.ResourceSpans().MoveAndAppendTo(c.Traces.ResourceSpans())
		}
		return err
	})
	if err != nil {
		return c, err
	}
	err = documents(logs, func(doc []byte) error {
		ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(doc)
		if err == nil {
			ld.ResourceLogs().MoveAndAppendTo(c.Logs.ResourceLogs())
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return c, err
}

// documents calls each for every JSON document of a file.
func documents(name string, each func([]byte) error) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	for n := 1; dec.More(); n++ {
		var doc json.RawMessage
		if err := dec.Decode(&doc); err != nil {
			return fmt.Errorf("%s: document %d: %w", name, n, err)
		}
		if err := each(doc); err != nil {
			return fmt.Errorf("%s: document %d: %w", name, n, err)
		}
	}
	return nil
}

func readJSON(name string, into any) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
