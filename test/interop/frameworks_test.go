// Package interop runs agents of real frameworks, with their real instrumentation,
// against the real binaries: it records a run that fails, replays the same program
// from its tape, and changes it.
//
// TAPEDECK_BIN names the directory with otelcol-tape and tape, TAPEDECK_INTEROP the
// one that install.sh made; `make interop` sets both.
package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/harness"
	"github.com/tapedeck/tapedeck/replay"
)

const config = "../../deploy/local.yaml"

// quick makes decisions in moments where a user waits for seconds.
var quick = []string{"processors::tape::root_settle=200ms", "processors::tape::idle_timeout=3s"}

func from(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv(name)
	require.NotEmpty(t, dir, "%s is not set: run make interop", name)
	return dir
}

// program is an agent of a framework.
type program struct {
	framework string
	argv      []string
	// twin is the same agent in JavaScript, which replays from the tape of the first.
	twin []string
	// ownModel: the twin tells its model results in other words.
	ownModel bool
}

func programs(t *testing.T) []program {
	dir := from(t, "TAPEDECK_INTEROP")
	node, err := exec.LookPath("node")
	require.NoError(t, err)
	run := func(with, file string, more ...string) []string {
		return append([]string{with, filepath.Join(dir, "agents", file), "handbook"}, more...)
	}
	python := filepath.Join(dir, "venv", "bin", "python")
	return []program{
		{framework: "langgraph", argv: run(python, "langgraph_agent.py"), twin: run(node, "langchain_agent.mjs")},
		{framework: "langgraph-async", argv: run(python, "langgraph_agent.py", "async")},
		{framework: "openai-agents", argv: run(python, "openai_agents_agent.py"), twin: run(node, "openai_agents_agent.mjs"), ownModel: true},
		{framework: "pydantic-ai", argv: run(python, "pydantic_ai_agent.py")},
		{framework: "vercel-ai", argv: run(node, "vercel_agent.mjs")},
	}
}

const failure = "503 Service Unavailable: releases"

var tools = []string{"fetch_doc", "shorten", "count_words", "publish"}

func TestFrameworks(t *testing.T) {
	bin := from(t, "TAPEDECK_BIN")
	ctx := context.Background()
	collector, err := harness.Start(ctx, bin, config, t.TempDir(), quick...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, collector.Stop()) })
	model := startModel(t)

	for _, p := range programs(t) {
		t.Run(p.framework, func(t *testing.T) {
			name, argv := p.framework, p.argv
			a := &agent{t: t, bin: bin, api: collector.API, file: filepath.Join(t.TempDir(), "failed.jsonl")}
			live := []string{"OPENAI_BASE_URL=" + model.URL, "OPENAI_API_BASE=" + model.URL, "OPENAI_API_KEY=none"}

			// Recorded: it really runs, and fails.
			a.run(append(live, "OTEL_SERVICE_NAME="+name, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.OTLP), argv...)
			require.Equal(t, 1, a.code, a.said)
			require.Contains(t, a.said, failure)
			require.ElementsMatch(t, tools, a.effects)
			a.pull(name)
			asked := model.asked.Load()

			// Replayed: the same failure, and nothing happens.
			report := a.replay(nil, nil, argv...)
			assert.Equal(t, 1, a.code, a.said)
			assert.Contains(t, a.said, failure, "it fails as it failed")
			assert.Empty(t, a.effects, "no tool ran")
			assert.Equal(t, asked, model.asked.Load(), "no model was asked")
			assert.True(t, report.Clean, a.said)
			assert.Zero(t, report.Stats.LiveToolCalls+report.Stats.RealSideEffects)
			assert.Equal(t, report.Tape.Records, report.Stats.TapeHits)

			// Changed: it asks for another document, and its model is told so.
			changed := append([]string{}, argv...)
			changed[2] = "changelog"
			report = a.replay(nil, nil, changed...)
			assert.Equal(t, 1, a.code)
			assert.Empty(t, a.effects)
			require.Equal(t, 1, report.Stats.DriftEvents, a.said)
			assert.Contains(t, report.Events[0].Message, `text of user "Publish the document handbook" -> "Publish the document changelog"`)

			// The same with its own model: the tool is called with another argument, and
			// the agent does not go on from there.
			report = a.replay([]string{"--kind", "tool"}, live, changed...)
			assert.Equal(t, 1, a.code)
			assert.Empty(t, a.effects)
			require.Equal(t, 1, report.Stats.DriftEvents, a.said)
			assert.Equal(t, 1, report.Stats.Steps, "the agent stopped there")
			assert.Contains(t, report.Events[0].Message, `doc_id "handbook" -> "changelog"`)

			// Without hooks its tools run, and the report tells.
			report = a.replay([]string{"--no-hooks"}, nil, argv...)
			assert.Equal(t, 1, a.code)
			assert.ElementsMatch(t, tools, a.effects)
			assert.False(t, report.Clean)
			assert.Equal(t, len(tools), report.Stats.LiveToolCalls, a.said)
			assert.Len(t, report.Unserved, len(tools))

			if p.twin == nil {
				return
			}
			// In another language, from the same tape.
			flags, env := []string(nil), []string(nil)
			if p.ownModel {
				flags, env = []string{"--kind", "tool"}, live
			}
			report = a.replay(flags, env, p.twin...)
			assert.Equal(t, 1, a.code)
			assert.Contains(t, a.said, failure)
			assert.Empty(t, a.effects)
			assert.True(t, report.Clean, a.said)
			changed = append([]string{}, p.twin...)
			changed[2] = "changelog"
			report = a.replay([]string{"--kind", "tool"}, live, changed...)
			assert.Equal(t, 1, a.code)
			assert.Empty(t, a.effects)
			assert.Equal(t, 1, report.Stats.Steps, "the agent stopped there")
			assert.Equal(t, 1, report.Stats.DriftEvents, a.said)
		})
	}
}

// agent is a program of a framework: where its tape is, and what came of its last run.
type agent struct {
	t              *testing.T
	bin, api, file string
	code           int
	// said is what it wrote; effects are the tools that ran.
	said    string
	effects []string
}

// run runs a command, each time with a new directory for what its tools leave behind.
func (a *agent) run(env []string, argv ...string) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	dir := a.t.TempDir()
	env = append(env, "EFFECTS="+dir, "PYTHONDONTWRITEBYTECODE=1")
	out, errOut, code, err := harness.Run(ctx, filepath.Dir(argv[0]), filepath.Base(argv[0]), env, argv[1:]...)
	require.NoError(a.t, err)
	a.code, a.said, a.effects = code, out+errOut, nil
	entries, err := os.ReadDir(dir)
	require.NoError(a.t, err)
	for _, e := range entries {
		a.effects = append(a.effects, e.Name())
	}
}

// replay runs a command against the tape, with an environment that is its alone.
func (a *agent) replay(flags, env []string, argv ...string) *replay.Report {
	a.t.Helper()
	path := filepath.Join(a.t.TempDir(), "report.json")
	command := append([]string{filepath.Join(a.bin, "tape"), "run", a.file, "--report", path}, flags...)
	command = append(append(append(command, "--", "env"), env...), argv...)
	a.run([]string{"OTEL_SDK_DISABLED=true"}, command...)
	text, err := os.ReadFile(path)
	require.NoError(a.t, err, a.said)
	var report replay.Report
	require.NoError(a.t, json.Unmarshal(text, &report))
	return &report
}

// pull waits for the tape of a service's run and writes it to the agent's file.
func (a *agent) pull(service string) {
	a.t.Helper()
	var id string
	err := harness.Eventually(context.Background(), 30*time.Second, func() (bool, error) {
		_, body, err := harness.Get(context.Background(), a.api+"/v1/tapes?outcome=failed&service="+url.QueryEscape(service))
		if err != nil {
			return false, err
		}
		var list struct {
			Tapes []struct {
				TraceID string `json:"trace_id"`
			}
		}
		if err := json.Unmarshal(body, &list); err != nil || len(list.Tapes) == 0 {
			return false, fmt.Errorf("no tape yet: %s", body)
		}
		id = list.Tapes[0].TraceID
		return true, nil
	})
	require.NoError(a.t, err)
	_, said, code, err := harness.Run(context.Background(), a.bin, "tape", []string{"TAPE_SERVER=" + a.api}, "pull", id, "-o", a.file)
	require.NoError(a.t, err)
	require.Zero(a.t, code, said)
}
