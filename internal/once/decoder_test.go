package once_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/once"
	"github.com/tapedeck/tapedeck/tape"
)

// conversation is three payloads of one run: each span has the messages before it.
func conversation(t testing.TB) (*run, [][]byte) {
	t.Helper()
	r := newRun()
	var said []string
	var out [][]byte
	for _, word := range []string{"first ", "second ", "third "} {
		said = append(said, message("user", strings.Repeat(word, 60)))
		p, stats := r.trip(t, oneSpan(map[string]any{"gen_ai.input.messages": "[" + strings.Join(said, ",") + "]", "note": strings.Repeat("same ", 80)}))
		assert.LessOrEqual(t, stats.Texts, 2)
		out = append(out, p)
	}
	return r, out
}

func attribute(t testing.TB, td ptrace.Traces, name string) string {
	t.Helper()
	v, ok := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().Get(name)
	require.True(t, ok)
	return v.Str()
}

func TestALostPayloadLeavesMarkedHoles(t *testing.T) {
	_, payloads := conversation(t)
	d := once.NewDecoder()
	_, err := d.Traces(payloads[0])
	require.NoError(t, err)
	td, err := d.Traces(payloads[2])
	require.NoError(t, err)
	assert.Equal(t, 1, d.Holes())
	assert.Equal(t, "["+message("user", strings.Repeat("first ", 60))+","+once.Hole, attribute(t, td, "gen_ai.input.messages"))
	assert.Equal(t, strings.Repeat("same ", 80), attribute(t, td, "note"))

	d = once.NewDecoder()
	td, err = d.Traces(payloads[1])
	require.NoError(t, err)
	assert.Equal(t, 2, d.Holes())
	assert.Equal(t, "["+once.Hole, attribute(t, td, "gen_ai.input.messages"))
	assert.Equal(t, once.Hole, attribute(t, td, "note"))
}

// What is left of a value must not be taken for what the agent said.
func TestAHoleIsReadAsCutContent(t *testing.T) {
	r := newRun()
	call := func() ptrace.Traces {
		td := oneSpan(map[string]any{
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search",
			"gen_ai.tool.call.arguments": `{"q":"` + strings.Repeat("word ", 100) + `"}`,
			"gen_ai.tool.call.result":    `[{"hit":"` + strings.Repeat("text ", 100) + `"}]`,
		})
		s := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
		s.SetTraceID([16]byte{1})
		s.SetSpanID([8]byte{1})
		return td
	}
	r.trip(t, call())
	payload, _ := r.trip(t, call())
	d := once.NewDecoder()
	td, err := d.Traces(payload)
	require.NoError(t, err)
	assert.Equal(t, 2, d.Holes())
	tapes := dialect.Translate(td, dialect.Options{})
	require.Len(t, tapes, 1)
	require.Len(t, tapes[0].Records, 1)
	assert.Equal(t, tape.FidelityTruncated, tapes[0].Records[0].Fidelity)
}

func TestAForgottenTableCostsOneMoreCopyAndIsNeverMixedUp(t *testing.T) {
	r := newRun()
	a := oneSpan(map[string]any{"x": strings.Repeat("one ", 100)})
	b := oneSpan(map[string]any{"x": strings.Repeat("two ", 100)})
	_, stats := r.trip(t, a)
	assert.Equal(t, 1, stats.Texts)
	assert.Positive(t, r.table.Size())
	r.table.Forget()
	assert.Zero(t, r.table.Size())
	_, stats = r.trip(t, b)
	assert.Equal(t, 1, stats.Texts)
	_, stats = r.trip(t, a)
	assert.Equal(t, 1, stats.Texts)
	_, stats = r.trip(t, b)
	assert.Zero(t, stats.Texts)
	assert.Zero(t, r.dec.Holes())
}

func TestATableStartsOverAtItsLimit(t *testing.T) {
	r := newRun()
	const limit = 4 << 10
	r.enc = once.NewEncoder(r.scrubber, limit)
	most := 0
	for i := range 1000 {
		r.trip(t, oneSpan(map[string]any{"x": strings.Repeat("text ", 60+i)}))
		most = max(most, r.table.Size())
	}
	assert.Less(t, most, 2*limit)
	assert.Zero(t, r.dec.Holes())
}

func TestSpansAndRecordsOfARunShareTexts(t *testing.T) {
	r := newRun()
	long := strings.Repeat("a result ", 100)
	r.trip(t, oneSpan(map[string]any{"gen_ai.tool.call.result": long}))
	ld := plog.NewLogs()
	ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetEmptyMap().PutStr("content", long)
	in := plog.NewLogs()
	ld.CopyTo(in)
	payload, stats, err := r.enc.Logs(nil, in, &r.table)
	require.NoError(t, err)
	assert.True(t, once.IsLogs(payload))
	assert.Zero(t, stats.Texts)
	assert.EqualValues(t, len(long), stats.Saved)
	got, err := r.dec.Logs(payload)
	require.NoError(t, err)
	v, _ := got.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body().Map().Get("content")
	assert.Equal(t, long, v.Str())
	_, err = r.dec.Traces(payload)
	require.ErrorIs(t, err, once.ErrPayload)
}

func TestALightPayloadIsOTLPBehindOneByte(t *testing.T) {
	r := newRun()
	td, _ := light(3)
	payload, stats := r.trip(t, td)
	assert.Equal(t, wire(t, td), payload[1:])
	assert.Equal(t, once.Stats{}, stats)
	assert.Zero(t, r.table.Size())
	assert.False(t, once.IsLogs(payload))
}

func TestWhatLooksLikeAReferenceComesBack(t *testing.T) {
	r := newRun()
	r.trip(t, oneSpan(map[string]any{"x": strings.Repeat("secret text ", 40)}))
	for _, v := range []string{"\xff", "\xfft\x00", "\xffc\x03\x00\x00", "\xffe", "\xff\xff", "\xfft\x00" + strings.Repeat("long ", 100)} {
		r.trip(t, oneSpan(map[string]any{"x": v, "tape.redacted": v}))
	}
	assert.Zero(t, r.dec.Holes())
}

func TestBytesThatAreNoPayloadAreRefused(t *testing.T) {
	_, payloads := conversation(t)
	whole := payloads[0]
	for name, b := range map[string][]byte{
		"nothing":            {},
		"another version":    {0x21},
		"an unknown content": {0x13},
		"an unknown bit":     {0x19},
		"a head alone":       {0x15},
		"cut in its table":   whole[:5],
		"cut in its texts":   whole[:40],
		"no protobuf":        {0x11, 0xff, 0xff},
		"records":            {0x12},
	} {
		_, err := once.NewDecoder().Traces(b)
		require.ErrorIs(t, err, once.ErrPayload, name)
	}
	_, err := once.NewDecoder().Traces([]byte{0x14})
	require.ErrorIs(t, err, once.ErrPayload)
	_, err = once.NewDecoder().Logs([]byte{0x12, 0xff, 0xff})
	require.ErrorIs(t, err, once.ErrPayload)
}
