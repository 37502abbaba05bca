// Package beside tests a collector that others build with Tapedeck's components in it.
//
// TAPEDECK_OWN names that collector, and TAPEDECK_BIN the directory with our own and the
// example agent; `make check-beside` builds them and sets both. What deploy/compose
// starts is run here too.
package beside

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/harness"
)

const (
	configs = "../../deploy/beside/"
	topic   = "otlp_spans"
)

func own(t *testing.T) string      { return variable(t, "TAPEDECK_OWN") }
func binaries(t *testing.T) string { return variable(t, "TAPEDECK_BIN") }

func variable(t *testing.T, name string) string {
	t.Helper()
	path := os.Getenv(name)
	require.NotEmpty(t, path, "%s is not set: run make check-beside", name)
	return path
}

// Spans of a topic become a tape in a collector that others built.
func TestAFailedRunReadFromKafkaIsATape(t *testing.T) {
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	require.NoError(t, err)
	t.Cleanup(broker.Close)
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.ListenAddrs()...))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	body, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(failedRun())
	require.NoError(t, err)
	require.NoError(t, client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: body}).FirstErr())

	ports, err := harness.FreePorts(2)
	require.NoError(t, err)
	dir, api := t.TempDir(), "http://127.0.0.1:"+ports[0]
	collector, err := harness.Launch(context.Background(), filepath.Join(dir, "collector.log"), func(ctx context.Context) bool {
		status, _, err := harness.Get(ctx, api+"/v1/tapes")
		return err == nil && status == http.StatusOK
	}, []string{
		"KAFKA_BROKER=" + broker.ListenAddrs()[0],
		"TAPE_DIR=" + filepath.Join(dir, "tapes"), "TAPE_SPOOL=" + filepath.Join(dir, "spool"),
		"TAPE_API=127.0.0.1:" + ports[0], "TAPE_METRICS_PORT=" + ports[1],
	}, own(t), "--config", configs+"kafka.yaml", "--set", "processors::tape::root_settle=200ms")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, collector.Stop()) })

	var tape []byte
	err = harness.Eventually(t.Context(), 60*time.Second, func() (bool, error) {
		status, body, err := harness.Get(t.Context(), api+"/v1/tapes/"+traceID.String())
		tape = body
		return err == nil && status == http.StatusOK, err
	})
	require.NoError(t, err, string(tape))
	assert.Contains(t, string(tape), `"tool":"fetch_doc"`)
	assert.Contains(t, string(tape), `"complete":true`)
}

var traceID = pcommon.TraceID{0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36}

// failedRun is an agent with one tool call that failed.
func failedRun() ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "shop")
	spans := rs.ScopeSpans().AppendEmpty().Spans()
	at := time.Now().Add(-time.Minute)
	add := func(id, parent byte, name, operation string) ptrace.Span {
		s := spans.AppendEmpty()
		s.SetTraceID(traceID)
		s.SetSpanID(pcommon.SpanID{id})
		s.SetParentSpanID(pcommon.SpanID{parent})
		s.SetName(name)
		s.SetStartTimestamp(pcommon.NewTimestampFromTime(at))
		s.SetEndTimestamp(pcommon.NewTimestampFromTime(at.Add(time.Second)))
		s.Attributes().PutStr("gen_ai.operation.name", operation)
		s.Status().SetCode(ptrace.StatusCodeError)
		return s
	}
	add(1, 0, "invoke_agent buyer", "invoke_agent").Attributes().PutStr("gen_ai.agent.name", "buyer")
	tool := add(2, 1, "execute_tool fetch_doc", "execute_tool")
	tool.Attributes().PutStr("gen_ai.tool.name", "fetch_doc")
	tool.Attributes().PutStr("gen_ai.tool.call.arguments", `{"url":"http://a"}`)
	tool.Attributes().PutStr("error.type", "timeout")
	return td
}
