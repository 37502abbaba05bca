package operations

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unseen are metrics that are named and that no scene brings about.
var unseen = []string{"otelcol_tape_store_removed", "otelcol_tape_store_removal_errors"}

// TestEveryMetricIsReal: what the rules and the dashboard ask for, collectors show, with
// its labels and their values.
func TestEveryMetricIsReal(t *testing.T) {
	shown, documented := shownSeries(t), documentation(t)
	check := func(where, expr string) {
		parsed, err := promQL.ParseExpr(expr)
		require.NoError(t, err, where)
		parser.Inspect(parsed, func(node parser.Node, above []parser.Node) error {
			selector, ok := node.(*parser.VectorSelector)
			if !ok {
				return nil
			}
			if slices.Contains(unseen, selector.Name) {
				assert.Contains(t, documented, selector.Name, where)
				return nil
			}
			for _, m := range selector.LabelMatchers {
				positive := m.Type == labels.MatchEqual || m.Type == labels.MatchRegexp
				assert.True(t, slices.ContainsFunc(shown[selector.Name], func(l labels.Labels) bool {
					return l.Has(m.Name) && (!positive || m.Matches(l.Get(m.Name)))
				}), "%s: nothing shows %s{%s}", where, selector.Name, m)
			}
			for _, node := range above {
				if sum, ok := node.(*parser.AggregateExpr); ok {
					for _, label := range sum.Grouping {
						assert.True(t, slices.ContainsFunc(shown[selector.Name], func(l labels.Labels) bool { return l.Has(label) }),
							"%s: %s has no label %s", where, selector.Name, label)
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
}

// TestPagesNameRealMetrics, shown or in the documentation that is generated with them.
func TestPagesNameRealMetrics(t *testing.T) {
	shown, documented := shownSeries(t), documentation(t)
	// Those of collectors before or beside ours.
	others := []string{"otelcol_exporter_send_failed_spans", "otelcol_exporter_enqueue_failed_spans"}
	pages, err := filepath.Glob(root + "docs/*.md")
	require.NoError(t, err)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, name := range regexp.MustCompile(`otelcol_[a-z_]+[a-z]`).FindAllString(string(text), -1) {
			if _, ok := shown[name]; !ok && !slices.Contains(others, name) {
				assert.Contains(t, documented, name, filepath.Base(page))
			}
		}
	}
}

// shownSeries has the series of all scenes by metric.
func shownSeries(t *testing.T) map[string][]labels.Labels {
	t.Helper()
	out := map[string][]labels.Labels{}
	for name := range scenes {
		for _, shown := range play(t, name).trouble {
			for _, s := range shown {
				metric := s.labels.Get(model.MetricNameLabel)
				out[metric] = append(out[metric], s.labels)
			}
		}
	}
	return out
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
