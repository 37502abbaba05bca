package main

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"gopkg.in/yaml.v3"

	"github.com/tapedeck/tapedeck/exporter/tapeexporter"
	"github.com/tapedeck/tapedeck/extension/tapestore"
	"github.com/tapedeck/tapedeck/processor/tapeprocessor"
	"github.com/tapedeck/tapedeck/test/bench/load"
)

var update = flag.Bool("update", false, "write the golden files")

func TestTheTimeOfCollectionsIsAddedUp(t *testing.T) {
	log := strings.Join([]string{
		`gc 1 @0.014s 4%: 0.026+0.50+0.004 ms clock, 0.053+0.25/0.36/0.10+0.008 ms cpu, 3->4->1 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P`,
		`2026-05-04T10:00:00.000Z	info	gc 2 is what this message is about`,
		`gc 12 @3.401s 5%: 0.1+20+0.2 ms clock, 1+0/1000/0+1 ms cpu, 40->42->21 MB, 42 MB goal, 0 MB stacks, 0 MB globals, 2 P (forced)`,
		`gc 13 @4`,
	}, "\n")
	got, err := gcTime(strings.NewReader(log))
	require.NoError(t, err)
	assert.InDelta(t, 1_002.771, got.Seconds()*1e3, 0.001)
}

func TestProcessorTimeIsReadWhateverTheProgramIsCalled(t *testing.T) {
	got, err := cpuOf([]byte("42 (a) b (c) S 1 42 42 0 -1 4194560 1 2 3 4 150 25 0 0 20 0 9 0 1 2 3"))
	require.NoError(t, err)
	assert.Equal(t, 1750*time.Millisecond, got)
	_, err = cpuOf([]byte("42 (a) S 1"))
	assert.Error(t, err)
	_, err = cpuOf([]byte("42 (a) S 1 42 42 0 -1 4194560 1 2 3 4 x y 0"))
	assert.Error(t, err)
}

func TestPeakMemoryIsReadFromTheStatus(t *testing.T) {
	got, err := peakOf([]byte("Name:\totelcol\nVmPeak:\t  999999 kB\nVmHWM:\t  120832 kB\nVmRSS:\t  1 kB\n"))
	require.NoError(t, err)
	assert.EqualValues(t, 118<<20, got)
	_, err = peakOf([]byte("Name:\totelcol\n"))
	assert.Error(t, err)
}

func TestAProcessOfThisSystemCanBeMeasured(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc")
	}
	p := &process{cmd: &exec.Cmd{Process: &os.Process{Pid: os.Getpid()}}}
	cpu, err := p.cpu()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, cpu, time.Duration(0))
	peak, err := p.peak()
	require.NoError(t, err)
	assert.Greater(t, peak, int64(1<<20))
}

func TestTheTableIsGolden(t *testing.T) {
	report := Report{
		Machine: Machine{CPU: "Z80", Cores: 2, Kernel: "6.1", Go: "go1.26"}, Release: "v0.161.0",
		Loads: []LoadReport{
			{
				Load: Weight{Name: "content-rich", Runs: 100, Open: 100, Spans: 13_400, Proto: 700e6, JSON: 800e6},
				Systems: []Measured{
					{System: "bare", CPU: 1.5, GC: 0.3, PeakRSS: 120 << 20, Spans: 13_400, Elapsed: 2},
					{System: "usual", CPU: 31.5, GC: 1, PeakRSS: 1_100 << 20, Spans: 13_400, Elapsed: 4, Stored: 800e6, Lost: 7},
				},
			},
			{
				Load:    Weight{Name: "light", Runs: 1, Open: 1, Spans: 100, Proto: 55_000, JSON: 90_000},
				Systems: []Measured{{System: "tapedeck", CPU: 0.1, PeakRSS: 80 << 20, Spans: 100, Elapsed: 0.1, Stored: 50_000}},
			},
		},
	}
	var b strings.Builder
	require.NoError(t, report.Markdown(&b))
	const golden = "testdata/table.md"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String())

	require.NoError(t, report.lost(), "what others lose is in the table")
	report.Loads[1].Systems[0].Lost = 3
	require.ErrorContains(t, report.lost(), "light: tapedeck lost 3 of 100 spans")

	file := filepath.Join(t.TempDir(), "new", "compare.json")
	require.NoError(t, report.write(file))
	assert.FileExists(t, file)
}

func TestTheTableInADocumentIsReplaced(t *testing.T) {
	file := filepath.Join(t.TempDir(), "doc.md")
	require.NoError(t, os.WriteFile(file, []byte("# A\n\n<!-- figures begin: by hand -->\nold\n<!-- figures end -->\n\n# B\n"), 0o600))
	for range 2 { // the second time nothing changes
		require.NoError(t, Report{Machine: Machine{CPU: "Z80"}}.document(file))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, "# A\n\n<!-- figures begin: by hand -->\n\nZ80, 0 cores, Linux , , collector , OTLP/gRPC with compression: none.\n\n<!-- figures end -->\n\n# B\n", string(text))
	}
	require.NoError(t, os.WriteFile(file, []byte("# A\n"), 0o600))
	assert.ErrorContains(t, Report{}.document(file), "figures begin")
}

// A pipeline may name what another file of the same collector defines, or what no
// file does: the latter would only be found after the build.
func TestEveryPipelineIsMadeOfWhatIsConfigured(t *testing.T) {
	for _, s := range systems {
		t.Run(s.name, func(t *testing.T) {
			merged := map[string]map[string]any{}
			_, err := s.arguments(t.TempDir())
			require.NoError(t, err)
			for _, name := range s.configs {
				text, err := configs.ReadFile("config/" + name + ".yaml")
				require.NoError(t, err)
				var part map[string]map[string]any
				require.NoError(t, yaml.Unmarshal(text, &part))
				for section, members := range part {
					if merged[section] == nil {
						merged[section] = map[string]any{}
					}
					for k, v := range members {
						merged[section][k] = v
					}
				}
			}
			pipeline := merged["service"]["pipelines"].(map[string]any)["traces"].(map[string]any)
			for section, names := range pipeline {
				for _, name := range names.([]any) {
					assert.Contains(t, merged[section], name)
				}
			}
			if s.exporter != "" {
				assert.Contains(t, pipeline["exporters"], s.exporter)
			}
		})
	}
}

// What the components are called and which settings they have changes; that a
// setting is gone must not be found out after half of a long run.
func TestTheSettingsOfOurComponentsExist(t *testing.T) {
	text, err := configs.ReadFile("config/tapedeck.yaml")
	require.NoError(t, err)
	var sections map[string]map[string]map[string]any
	var whole map[string]any
	require.NoError(t, yaml.Unmarshal(text, &whole))
	delete(whole, "service")
	text, err = yaml.Marshal(whole)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &sections))
	for place, factory := range map[[2]string]component.Factory{
		{"extensions", "tape_store"}: tapestore.NewFactory(),
		{"processors", "tape"}:       tapeprocessor.NewFactory(),
		{"exporters", "tape"}:        tapeexporter.NewFactory(),
	} {
		settings, ok := sections[place[0]][place[1]]
		require.True(t, ok, place)
		config := factory.CreateDefaultConfig()
		assert.NoError(t, confmap.NewFromStringMap(settings).Unmarshal(config), place)
	}
}

func TestALoadIsWeighed(t *testing.T) {
	w, err := weigh(load.Light(10, seed))
	require.NoError(t, err)
	assert.EqualValues(t, 1_000, w.Spans)
	assert.Equal(t, 10, w.Runs)
	assert.Greater(t, w.Proto, int64(535_000))
	assert.Greater(t, w.JSON, w.Proto)
}

func TestUnknownNamesAreRefused(t *testing.T) {
	err := run(t.Context(), options{work: t.TempDir(), only: []string{"bare", "unusual"}})
	assert.ErrorContains(t, err, `"unusual"`)
}

// A program that ends at once is an error that shows its log, not a wait.
func TestACollectorThatEndsIsReported(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "broken")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho no such exporter >&2\necho 'gc 1 @0.1s 4%: 0.1+0.5+0.1 ms clock, 0.1+0.2/0.3/0.1+0.1 ms cpu, 3->4->1 MB' >&2\nexit 3\n"), 0o700))
	began := time.Now()
	_, err := measure(context.Background(), trial{system: systems[0], program: program}, dir, load.Light(1, seed))
	require.ErrorIs(t, err, errEnded)
	assert.ErrorContains(t, err, "no such exporter")
	assert.NotContains(t, err.Error(), "ms cpu")
	assert.Less(t, time.Since(began), 20*time.Second)
}

func TestTheReleaseIsThatOfTheManifest(t *testing.T) {
	assert.Regexp(t, `^v0\.\d+\.\d+$`, release())
}
