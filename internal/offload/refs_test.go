package offload_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/offload"
)

func TestRefsAreWhatRestoreAsksFor(t *testing.T) {
	td := ptrace.NewTraces()
	span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.Attributes().PutStr("text", strings.Repeat("text ", 30))
	span.Attributes().PutStr("again", strings.Repeat("text ", 30))
	span.Attributes().PutEmptyBytes("bytes").FromRaw([]byte(strings.Repeat("bytes ", 30)))
	list := span.Attributes().PutEmptySlice("list")
	for range 40 {
		list.AppendEmpty().SetStr("a part")
	}
	bodies := map[string][]byte{}
	_, err := offload.Traces(td, 100, func(b offload.Body) error {
		bodies[b.SHA256] = append([]byte(nil), b.Data...)
		return nil
	})
	require.NoError(t, err)
	span.Attributes().PutStr("forged", "tape-blob:no reference")

	refs := offload.Refs(td)
	assert.Len(t, refs, 3)
	var asked []offload.Ref
	_, err = offload.Restore(td, func(ref offload.Ref) ([]byte, error) {
		asked = append(asked, ref)
		return bodies[ref.SHA256], nil
	})
	require.NoError(t, err)
	assert.Equal(t, asked, refs)
	assert.Empty(t, offload.Refs(td), "there are none after Restore")
	assert.Empty(t, offload.Refs(ptrace.NewTraces()))
}
