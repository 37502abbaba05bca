package tapeprocessor

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/processor/tapeprocessor/internal/metadata"
	"github.com/tapedeck/tapedeck/processor/tapeprocessor/internal/metadatatest"
	"github.com/tapedeck/tapedeck/tape"
)

func newTelemetry(t *testing.T) (*telemetry, *componenttest.Telemetry) {
	t.Helper()
	tel := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, tel.Shutdown(context.Background())) })
	b, err := metadata.NewTelemetryBuilder(tel.NewTelemetrySettings())
	require.NoError(t, err)
	t.Cleanup(b.Shutdown)
	return &telemetry{b: b}, tel
}

func TestExaminedRunsAndRecordsSayWhatReplaysWhere(t *testing.T) {
	out, tel := newTelemetry(t)
	count := func(dialect string, kind tape.Kind, fidelity tape.Fidelity, n int) doctor.Count {
		return doctor.Count{Dialect: dialect, Kind: kind, Fidelity: fidelity, Records: n}
	}
	out.Examined(doctor.Report{Service: "shop", Replays: true, Counts: []doctor.Count{
		count("otel_genai", tape.KindTool, tape.FidelityExact, 3), count("otel_genai", tape.KindModel, tape.FidelityRebuilt, 2),
	}})
	out.Examined(doctor.Report{Service: "shop", Counts: []doctor.Count{
		count("otel_genai", tape.KindTool, tape.FidelityExact, 1), count("vercel_ai", tape.KindTool, tape.FidelityAbsent, 1),
	}})
	out.Examined(doctor.Report{Replays: true})

	run := func(replays bool, service string, n int64) metricdata.DataPoint[int64] {
		return metricdata.DataPoint[int64]{Value: n, Attributes: attribute.NewSet(attribute.Bool("replays", replays), attribute.String("service", service))}
	}
	metadatatest.AssertEqualProcessorTapeExaminedRuns(t, tel, []metricdata.DataPoint[int64]{
		run(true, "shop", 1), run(false, "shop", 1), run(true, "unknown", 1),
	}, metricdatatest.IgnoreTimestamp())
	records := func(dialect, kind, fidelity string, n int64) metricdata.DataPoint[int64] {
		return metricdata.DataPoint[int64]{Value: n, Attributes: attribute.NewSet(
			attribute.String("dialect", dialect), attribute.String("kind", kind), attribute.String("fidelity", fidelity))}
	}
	metadatatest.AssertEqualProcessorTapeExaminedRecords(t, tel, []metricdata.DataPoint[int64]{
		records("otel_genai", "tool", "exact", 4), records("otel_genai", "model", "rebuilt", 2), records("vercel_ai", "tool", "absent", 1),
	}, metricdatatest.IgnoreTimestamp())
}

func TestServicesInMetricsAreBounded(t *testing.T) {
	out, tel := newTelemetry(t)
	for i := range 2 * maxServices {
		for range 2 {
			out.Examined(doctor.Report{Service: fmt.Sprint("svc-", i)})
		}
	}
	m, err := tel.GetMetric("otelcol_processor_tape_examined_runs")
	require.NoError(t, err)
	got := map[string]int64{}
	for _, p := range m.Data.(metricdata.Sum[int64]).DataPoints {
		service, _ := p.Attributes.Value("service")
		got[service.AsString()] = p.Value
	}
	assert.Len(t, got, maxServices+1)
	assert.EqualValues(t, 2, got["svc-0"])
	assert.EqualValues(t, 2, got[fmt.Sprint("svc-", maxServices-1)])
	assert.EqualValues(t, 2*maxServices, got[otherService])

	var s services
	assert.LessOrEqual(t, len(s.label(strings.Repeat("x", 10_000))), maxServiceName+len("…"))
}
