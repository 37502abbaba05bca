package operations

import (
	"log/slog"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/storage"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
  otelcol_tape_store_operations{instance="a",operation="put",outcome="ok"} 0+1x400
  otelcol_tape_store_operations{instance="a",operation="get",outcome="error"} 0+1x400
  otelcol_tape_store_sweep_last{instance="a"} 0+60x400
`
	fires := map[string]string{
		"TapedeckSpansRefused":     `otelcol_processor_tape_refused_spans{instance="a"} 0x395 5x5`,
		"TapedeckSpansLost":        `otelcol_processor_tape_dropped_spans{instance="a",reason="damaged"} _x395 3x5`,
		"TapedeckTapesRefused":     `otelcol_tape_exporter_refused_spans{instance="a"} _x395 3x5`,
		"TapedeckStoreAway":        `otelcol_tape_store_operations{instance="a",operation="put",outcome="error"} 0+1x400`,
		"TapedeckQueueFilling":     `otelcol_exporter_queue_size{instance="a",exporter="tape"} 90x400`,
		"TapedeckRunsDecidedEarly": `otelcol_processor_tape_decided_runs{instance="a",trigger="evicted"} _x395 1x5`,
		"TapedeckRunNeverEnds":     `otelcol_processor_tape_oldest_run_age{instance="a"} 90001x400`,
		"TapedeckSpoolDamaged":     `otelcol_processor_tape_damaged_bytes{instance="a"} 17x400`,
		"TapedeckStoreDamaged":     `otelcol_tape_store_damaged{instance="a"} _x395 1x5`,
		"TapedeckSweepFails":       `otelcol_tape_store_sweep_last{instance="a"} 60x400`,
		"TapedeckNothingArrives":   `otelcol_processor_tape_received_spans{instance="a"} 7x400`,
		"TapedeckContentMissing":   `otelcol_processor_tape_examined_records{instance="a",kind="tool",fidelity="absent"} 0+99x400`,
	}
	all := alerts(t)
	assert.Len(t, fires, len(all))
	start, end := time.Unix(0, 0).Add(200*time.Minute), time.Unix(0, 0).Add(400*time.Minute)
	for name, rule := range all {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, fires, name)
			assert.False(t, firing(t, rule, promqltest.LoadedStorage(t, quiet), start, end), "when all is well")
			bad, _, _ := strings.Cut(fires[name], " ")
			var lines []string
			for line := range strings.Lines(quiet) {
				if !strings.HasPrefix(line, "  "+bad+" ") {
					lines = append(lines, line)
				}
			}
			series := strings.Join(lines, "") + "  " + fires[name] + "\n"
			assert.True(t, firing(t, rule, promqltest.LoadedStorage(t, series), start, end), "when it is not")
		})
	}
}

// TestTroubleFiresItsAlert: of what real collectors show, as Prometheus would have seen it.
func TestTroubleFiresItsAlert(t *testing.T) {
	all := alerts(t)
	for name, sc := range scenes {
		t.Run(name, func(t *testing.T) {
			h := play(t, name)
			for alert, rule := range all {
				trouble := 2*time.Duration(rule.For) + 12*time.Minute
				storage, end := h.stored(t, trouble)
				fired := firing(t, rule, storage, epoch.Add(calmFor), end)
				if slices.Contains(sc.fires, alert) {
					assert.True(t, fired, "%s does not fire", alert)
				} else if sc.quiet {
					assert.False(t, fired, "%s fires", alert)
				}
			}
		})
	}
}

// firing tells whether an alert fires at any time to whoever evaluates it each minute.
func firing(t *testing.T, rule rulefmt.Rule, storage storage.Queryable, start, end time.Time) bool {
	t.Helper()
	expr, err := promQL.ParseExpr(rule.Expr)
	require.NoError(t, err)
	alert := rules.NewAlertingRule(rule.Alert, expr, time.Duration(rule.For), 0, labels.FromMap(rule.Labels),
		labels.FromMap(rule.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler))
	query := rules.EngineQueryFunc(promqltest.NewTestEngine(t, false, 0, 1_000_000), storage)
	for at := start; !at.After(end); at = at.Add(time.Minute) {
		_, err := alert.Eval(t.Context(), 0, at, query, &url.URL{}, 0)
		require.NoError(t, err)
		for _, active := range alert.ActiveAlerts() {
			active.Annotations.Range(func(l labels.Label) {
				assert.NotContains(t, l.Value, "<error", "%s: %s", rule.Alert, l.Name)
				assert.NotContains(t, l.Value, "<no value>", "%s: %s", rule.Alert, l.Name)
			})
			if active.State == rules.StateFiring {
				return true
			}
		}
	}
	return false
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
