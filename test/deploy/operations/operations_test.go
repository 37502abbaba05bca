// Package operations holds the alerts, the dashboard and the runbook against metrics that
// real collectors show.
//
// TAPEDECK_BIN names the directory of the binaries; `make check-operations` sets it.
package operations

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/harness"
)

const (
	root   = "../../../"
	deploy = root + "deploy/operations/"
)

var promQL = parser.NewParser(parser.Options{})

// alerts reads the rules as Prometheus does: unknown fields are errors.
func alerts(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(deploy+"alerts.yaml", false, model.UTF8Validation, promQL, slog.New(slog.DiscardHandler))
	require.Empty(t, errs)
	out := map[string]rulefmt.Rule{}
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			require.NotContains(t, out, r.Alert)
			out[r.Alert] = r
		}
	}
	require.NotEmpty(t, out)
	return out
}

// dashboard is what Grafana must find in the file.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Panels        []struct {
		ID          int
		Type, Title string
		Datasource  struct{ UID string }
		GridPos     struct{ X, Y, W, H int }
		Targets     []struct{ RefID, Expr string }
	}
	Templating struct {
		List []struct {
			Name, Type string
			Query      json.RawMessage
		}
	}
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	text, err := os.ReadFile(deploy + "dashboard.json")
	require.NoError(t, err)
	var d dashboard
	require.NoError(t, json.Unmarshal(text, &d))
	return d
}

// expressions are those of the dashboard, with what Grafana puts for its variables.
func (d *dashboard) expressions() map[string]string {
	out := map[string]string{}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			expr := strings.ReplaceAll(target.Expr, "$__rate_interval", "1m")
			out[p.Title+"/"+target.RefID] = strings.ReplaceAll(expr, "$instance", ".*")
		}
	}
	return out
}

func TestDashboardIsWhole(t *testing.T) {
	d := readDashboard(t)
	assert.NotEmpty(t, d.UID)
	assert.GreaterOrEqual(t, d.SchemaVersion, 36)
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
	}
	assert.ElementsMatch(t, []string{"datasource", "instance"}, variables)
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		assert.False(t, ids[p.ID], "id %d is there twice", p.ID)
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				assert.Empty(t, taken[[2]int{x, y}], "%s lies over another", p.Title)
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type != "row" {
			assert.Equal(t, "${datasource}", p.Datasource.UID, p.Title)
			assert.NotEmpty(t, p.Targets, p.Title)
		}
	}
}

// TestAlertsFire: each where it should, and not where it should not.
func TestAlertsFire(t *testing.T) {
	const quiet = `load 1m
  otelcol_processor_tape_received_spans{instance="a"} 0+100x400
  otelcol_processor_tape_dropped_spans{instance="a",reason="duplicate"} 0+1x400
  otelcol_processor_tape_decided_runs{instance="a",trigger="root_ended"} 0+1x400
  otelcol_processor_tape_oldest_run_age{instance="a"} 600x400
  otelcol_processor_tape_damaged_bytes{instance="a"} 0x400
  otelcol_processor_tape_spool_sync_failures{instance="a"} 0x400
  otelcol_processor_tape_examined_records{instance="a",kind="tool",fidelity="exact"} 0+9x400
  otelcol_processor_tape_examined_records{instance="a",kind="tool",fidelity="absent"} 0+1x400
  otelcol_processor_tape_examined_records{instance="a",kind="model",fidelity="absent"} 0+99x400
  otelcol_exporter_queue_size{instance="a",exporter="tape"} 10x400
  otelcol_exporter_queue_capacity{instance="a",exporter="tape"} 100x400
  otelcol_exporter_queue_size{instance="a",exporter="otlp_http/existing"} 100x400
  otelcol_exporter_queue_capacity{instance="a",exporter="otlp_http/existing"} 100x400
  otelcol_tape_store_sweep_last{instance="a"} 0+60x400
`
	fires := map[string]string{
		"TapedeckSpansRefused":     `otelcol_processor_tape_refused_spans{instance="a"} 0x395 5x5`,
		"TapedeckSpansLost":        `otelcol_processor_tape_dropped_spans{instance="a",reason="damaged"} _x395 3x5`,
		"TapedeckTapesRefused":     `otelcol_tape_exporter_refused_spans{instance="a"} _x395 3x5`,
		"TapedeckStoreAway":        `otelcol_processor_tape_retried_decisions{instance="a"} 0+1x400`,
		"TapedeckQueueFilling":     `otelcol_exporter_queue_size{instance="a",exporter="tape"} 90x400`,
		"TapedeckRunsDecidedEarly": `otelcol_processor_tape_decided_runs{instance="a",trigger="evicted"} _x395 1x5`,
		"TapedeckRunNeverEnds":     `otelcol_processor_tape_oldest_run_age{instance="a"} 90001x400`,
		"TapedeckSpoolDamaged":     `otelcol_processor_tape_damaged_bytes{instance="a"} 17x400`,
		"TapedeckStoreDamaged":     `otelcol_tape_store_damaged{instance="a"} _x395 1x5`,
		"TapedeckSweepFails":       `otelcol_tape_store_sweep_last{instance="a"} 60x400`,
		"TapedeckNothingArrives":   `otelcol_processor_tape_received_spans{instance="a"} 7x400`,
		"TapedeckContentMissing":   `otelcol_processor_tape_examined_records{instance="a",kind="tool",fidelity="absent"} 0+99x400`,
	}
	rules := alerts(t)
	assert.Len(t, fires, len(rules))
	engine := promqltest.NewTestEngine(t, false, 0, 1_000_000)
	firing := func(t *testing.T, expr, series string) bool {
		store := promqltest.LoadedStorage(t, series)
		query, err := engine.NewInstantQuery(t.Context(), store, nil, expr, time.Unix(0, 0).Add(400*time.Minute))
		require.NoError(t, err)
		defer query.Close()
		result := query.Exec(t.Context())
		require.NoError(t, result.Err)
		vector, err := result.Vector()
		require.NoError(t, err)
		return len(vector) > 0
	}
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, fires, name)
			assert.False(t, firing(t, rule.Expr, quiet), "when all is well")
			bad, _, _ := strings.Cut(fires[name], " ")
			var lines []string
			for line := range strings.Lines(quiet) {
				if !strings.HasPrefix(line, "  "+bad+" ") {
					lines = append(lines, line)
				}
			}
			assert.True(t, firing(t, rule.Expr, strings.Join(lines, "")+"  "+fires[name]+"\n"), "when it is not")
		})
	}
}

// TestEachAlertHasItsSection, and each section its alert.
func TestEachAlertHasItsSection(t *testing.T) {
	text, err := os.ReadFile(root + "docs/runbook.md")
	require.NoError(t, err)
	var sections, want []string
	for _, m := range regexp.MustCompile(`(?m)^## (\S+)$`).FindAllStringSubmatch(string(text), -1) {
		sections = append(sections, m[1])
	}
	for name, rule := range alerts(t) {
		want = append(want, name)
		assert.NotEmpty(t, rule.Annotations["summary"], name)
		assert.True(t, strings.HasSuffix(rule.Annotations["runbook_url"], "/docs/runbook.md#"+strings.ToLower(name)), name)
		assert.Contains(t, []string{"critical", "warning", "info"}, rule.Labels["severity"], name)
	}
	assert.ElementsMatch(t, want, sections)
}

// TestEveryMetricIsReal: what is named is shown by a collector that works, or is in the
// documentation that is generated with the metric.
func TestEveryMetricIsReal(t *testing.T) {
	scraped := scrape(t)
	documented := documentation(t)
	seen := 0
	hasLabel := func(where, metric, label string) {
		if has, shown := scraped[metric]; shown && label != labels.MetricName && label != "instance" {
			assert.Contains(t, has, label, "%s: %s has no such label", where, metric)
		}
	}
	check := func(where, expr string) {
		parsed, err := promQL.ParseExpr(expr)
		require.NoError(t, err, where)
		parser.Inspect(parsed, func(node parser.Node, above []parser.Node) error {
			selector, ok := node.(*parser.VectorSelector)
			if !ok {
				return nil
			}
			if _, shown := scraped[selector.Name]; shown {
				seen++
			} else {
				assert.Contains(t, documented, strings.TrimSuffix(selector.Name, "_bucket"), "%s: no such metric", where)
			}
			for _, m := range selector.LabelMatchers {
				hasLabel(where, selector.Name, m.Name)
			}
			for _, node := range above {
				if sum, ok := node.(*parser.AggregateExpr); ok {
					for _, label := range sum.Grouping {
						hasLabel(where, selector.Name, label)
					}
				}
			}
			return nil
		})
	}
	for name, rule := range alerts(t) {
		check(name, rule.Expr)
	}
	d := readDashboard(t)
	for name, expr := range d.expressions() {
		check(name, expr)
	}
	assert.Greater(t, seen, 20)
	// Those of collectors before or beside ours.
	others := []string{"otelcol_exporter_send_failed_spans", "otelcol_exporter_enqueue_failed_spans"}
	pages, err := filepath.Glob(root + "docs/*.md")
	require.NoError(t, err)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, name := range regexp.MustCompile(`otelcol_[a-z_]+[a-z]`).FindAllString(string(text), -1) {
			if _, ok := scraped[name]; !ok && !slices.Contains(others, name) {
				assert.Contains(t, documented, name, filepath.Base(page))
			}
		}
	}
}

// TestPanelsShowSomething: panels of what happens in a healthy collector have data.
func TestPanelsShowSomething(t *testing.T) {
	text := scrapeText(t)
	var series bytes.Buffer
	series.WriteString("load 1m\n")
	eachSeries(t, text, func(metric labels.Labels, value string) {
		named := labels.NewBuilder(metric).Set("instance", "a").Labels()
		series.WriteString("  " + named.String() + " " + value + "x5\n")
	})
	store := promqltest.LoadedStorage(t, series.String())
	engine := promqltest.NewTestEngine(t, false, 0, 1_000_000)
	// These need a fault, a bucket, a late span, a pass-through or an age.
	silent := []string{"Taken and refused/B", "Taken and refused/C", "What became of them/C", "What became of them/D", "Lost or doubled/A",
		"Requests to the bucket by status/A", "Removed by retention/A", "Removed by retention/B", "Redacted values by type/A"}
	d := readDashboard(t)
	for name, expr := range d.expressions() {
		if slices.Contains(silent, name) {
			continue
		}
		query, err := engine.NewInstantQuery(t.Context(), store, nil, strings.ReplaceAll(expr, "1m", "5m"), time.Unix(0, 0).Add(4*time.Minute))
		require.NoError(t, err, name)
		result := query.Exec(t.Context())
		require.NoError(t, result.Err, name)
		assert.NotEqual(t, "", result.String(), name)
		query.Close()
	}
}

// documentation has the names in the generated documentation of our components.
func documentation(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, c := range []string{"extension/tapestore", "processor/tapeprocessor", "exporter/tapeexporter", "receiver/tapereceiver"} {
		text, err := os.ReadFile(root + c + "/documentation.md")
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?m)^### (otelcol_\S+)$`).FindAllStringSubmatch(string(text), -1) {
			out[m[1]] = true
		}
	}
	require.NotEmpty(t, out)
	return out
}

// scrape gives the labels of each metric that a collector shows which has recorded a
// failed run and a good one.
func scrape(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	eachSeries(t, scrapeText(t), func(metric labels.Labels, _ string) {
		metric.Range(func(l labels.Label) {
			out[metric.Get(labels.MetricName)] = append(out[metric.Get(labels.MetricName)], l.Name)
		})
	})
	return out
}

func eachSeries(t *testing.T, text []byte, each func(metric labels.Labels, value string)) {
	t.Helper()
	p := textparse.NewPromParser(text, labels.NewSymbolTable(), false)
	for {
		entry, err := p.Next()
		if err == io.EOF {
			return
		}
		require.NoError(t, err)
		if entry != textparse.EntrySeries {
			continue
		}
		var metric labels.Labels
		p.Labels(&metric)
		series, _, _ := p.Series()
		line := text[bytes.Index(text, append([]byte("\n"), series...))+1+len(series):]
		value, _, _ := bytes.Cut(bytes.TrimSpace(line), []byte("\n"))
		each(metric, string(value))
	}
}

func scrapeText(t *testing.T) []byte {
	t.Helper()
	bin := os.Getenv("TAPEDECK_BIN")
	require.NotEmpty(t, bin, "TAPEDECK_BIN is not set: run make check-operations")
	c, err := harness.Start(context.Background(), bin, root+"deploy/local.yaml", t.TempDir(), "processors::tape::root_settle=200ms")
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Stop()) }()
	for _, run := range []string{"3", "1"} {
		_, _, _, err := harness.Run(t.Context(), bin, "agent", []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.OTLP}, "-run", run, "-report", filepath.Join(t.TempDir(), "r"))
		require.NoError(t, err)
	}
	var text []byte
	err = harness.Eventually(t.Context(), 30*time.Second, func() (bool, error) {
		var err error
		_, text, err = harness.Get(t.Context(), c.Metrics)
		return bytes.Contains(text, []byte(`outcome="succeeded"`)) && bytes.Contains(text, []byte("otelcol_tape_exporter_fragments")), err
	})
	require.NoError(t, err)
	return append([]byte("\n"), text...)
}
