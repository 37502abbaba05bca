package offload_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/offload"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// A conversation is repeated by each call and grows: what is new of it is little.
func TestTextsThatGoOnStay(t *testing.T) {
	const threshold = 64 << 10
	td := ptrace.NewTraces()
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	var history []string
	for i := range 200 {
		history = append(history, fmt.Sprintf(`{"role":"user","content":"%d %s"}`, i, strings.Repeat("word ", 300)))
		s := spans.AppendEmpty()
		s.Attributes().PutStr("gen_ai.input.messages", "["+strings.Join(history, ",")+"]")
		s.Attributes().PutStr("result", fmt.Sprint(i, strings.Repeat("unlike all others ", i*60)))
	}
	want := ptrace.NewTraces()
	td.CopyTo(want)

	const repeats = 200 << 10
	bodies := map[string][]byte{}
	stats, err := offload.TracesOfRun(td, threshold, repeats, func(b offload.Body) error {
		bodies[b.SHA256] = append([]byte(nil), b.Data...)
		return nil
	})
	require.NoError(t, err)
	histories, large := 0, 0
	for i := range spans.Len() {
		was, _ := want.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(i).Attributes().Get("gen_ai.input.messages")
		is, _ := spans.At(i).Attributes().Get("gen_ai.input.messages")
		moved := is.Str() != was.Str()
		switch n := len(was.Str()); {
		case n <= threshold:
			assert.False(t, moved)
		case n <= repeats && moved:
			histories++
		case n > repeats:
			large++
			assert.True(t, moved, "a request has to hold it")
		}
	}
	assert.Zero(t, histories, "the first of them goes on from one that is too short to move")
	assert.Equal(t, histories+large+139, stats.Bodies, "what is unlike all others goes as ever")

	missing, err := offload.Restore(td, func(r offload.Ref) ([]byte, error) { return bodies[r.SHA256], nil })
	require.NoError(t, err)
	assert.Empty(t, missing)
	m := ptrace.ProtoMarshaler{}
	a, err := m.MarshalTraces(want)
	require.NoError(t, err)
	b, err := m.MarshalTraces(td)
	require.NoError(t, err)
	assert.Equal(t, a, b)
}
