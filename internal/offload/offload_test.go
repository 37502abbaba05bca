package offload_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/offload"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/internal/walk"
	"github.com/tapedeck/tapedeck/internal/walk/walktest"
)

// bodies is a store in memory.
type bodies map[string][]byte

func (b bodies) put(body offload.Body) error {
	b[body.SHA256] = append([]byte{}, body.Data...)
	return nil
}

func (b bodies) get(r offload.Ref) ([]byte, error) {
	data, ok := b[r.SHA256]
	if !ok {
		return nil, fmt.Errorf("%w: %s", offload.ErrMissing, r.SHA256)
	}
	return data, nil
}

func encode(t testing.TB, td ptrace.Traces) string {
	out, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	return string(out)
}

func span() (ptrace.Traces, ptrace.Span) {
	td := ptrace.NewTraces()
	return td, td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
}

const threshold = 100

var big = strings.Repeat("0123456789", 20)

func TestEveryKindOfLeafLeavesAndComesBack(t *testing.T) {
	td, s := span()
	s.SetName("name " + big)
	s.Status().SetMessage("status " + big)
	s.TraceState().FromRaw("a=" + big)
	a := s.Attributes()
	a.PutStr("json", `{"a":"`+big+`"}`)
	a.PutStr("small", "stays")
	a.PutEmptyBytes("bytes").FromRaw([]byte("\x00\xff" + big))
	a.PutStr("invalid", "\xff\xfe "+big)
	a.PutStr("key "+big, "x")
	nested := a.PutEmptyMap("nested")
	nested.PutInt("n", 1)
	nested.PutEmptySlice("list").AppendEmpty().SetStr("nested " + big)
	s.Events().AppendEmpty().SetName("event " + big)
	s.Links().AppendEmpty().Attributes().PutStr("l", "link "+big)
	td.ResourceSpans().At(0).Resource().Attributes().PutStr("r", "resource "+big)
	td.ResourceSpans().At(0).SetSchemaUrl("https://x.test/" + big)
	before := encode(t, td)

	store := bodies{}
	stats, err := offload.Traces(td, threshold, store.put)
	require.NoError(t, err)
	assert.Equal(t, 12, stats.Bodies)
	assert.Len(t, store, 12)
	assert.NotContains(t, encode(t, td), big)

	v, _ := a.Get("json")
	ref, ok := offload.ParseRef(v.Str())
	require.True(t, ok)
	sum := sha256.Sum256([]byte(`{"a":"` + big + `"}`))
	assert.Equal(t, offload.Ref{SHA256: hex.EncodeToString(sum[:]), Bytes: 208, MediaType: "application/json"}, ref)
	v, _ = a.Get("bytes")
	require.Equal(t, pcommon.ValueTypeBytes, v.Type(), "bytes stay bytes")
	ref, ok = offload.ParseRef(string(v.Bytes().AsRaw()))
	require.True(t, ok)
	assert.Equal(t, "application/octet-stream", ref.MediaType)
	ref, _ = offload.ParseRef(s.Name())
	assert.Equal(t, "text/plain", ref.MediaType)
	v, _ = nested.Get("n")
	assert.EqualValues(t, 1, v.Int(), "what is small stays")

	missing, err := offload.Restore(td, store.get)
	require.NoError(t, err)
	assert.Empty(t, missing)
	assert.Equal(t, before, encode(t, td))
}

func TestAStructureOfManySmallPartsLeavesAsOne(t *testing.T) {
	td, s := span()
	m := s.Attributes().PutEmptyMap("args")
	for i := range 20 {
		m.PutStr(fmt.Sprintf("k%02d", i), "\xffnot utf8")
	}
	m.PutDouble("nan", math.NaN())
	m.PutInt("max", math.MaxInt64)
	m.PutEmpty("empty")
	m.PutBool("yes", true)
	m.PutEmptyBytes("b").FromRaw([]byte{0, 255})
	m.PutEmptySlice("s").AppendEmpty().SetEmptyMap()
	s.Attributes().PutEmptySlice("few").AppendEmpty().SetStr("x")
	before := encode(t, td)
	store := bodies{}
	stats, err := offload.Traces(td, threshold, store.put)
	require.NoError(t, err)
	assert.Equal(t, 1, stats.Bodies)
	v, _ := s.Attributes().Get("args")
	ref, ok := offload.ParseRef(v.Str())
	require.True(t, ok)
	assert.Equal(t, offload.MediaValue, ref.MediaType)
	_, err = offload.Restore(td, store.get)
	require.NoError(t, err)
	assert.Equal(t, before, encode(t, td))
}

func TestASingleLargeLeafDoesNotTakeItsStructureAlong(t *testing.T) {
	td, s := span()
	m := s.Attributes().PutEmptyMap("args")
	m.PutStr("city", "Zürich")
	m.PutStr("file", big)
	_, err := offload.Traces(td, threshold, bodies{}.put)
	require.NoError(t, err)
	v, _ := s.Attributes().Get("args")
	require.Equal(t, pcommon.ValueTypeMap, v.Type())
	city, _ := v.Map().Get("city")
	assert.Equal(t, "Zürich", city.Str())
}

// A value that only looks like a reference, sent by somebody who knows the
// digest of another's body, must not bring that body out.
func TestAForgedReferenceDisclosesNothing(t *testing.T) {
	secret := []byte("somebody else's body")
	sum := sha256.Sum256(secret)
	store := bodies{hex.EncodeToString(sum[:]): secret}
	forged := offload.Ref{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(secret)), MediaType: "text/plain"}.String()
	long := forged[:len(forged)-len("text/plain")] + strings.Repeat("x", threshold)

	for _, size := range []int{0, threshold} {
		td, s := span()
		s.SetName(forged)
		a := s.Attributes()
		a.PutStr("plain", forged)
		a.PutStr("escaped", "tape-blob:escaped:"+forged)
		a.PutStr("long", long)
		a.PutStr(forged, "name")
		a.PutEmptyBytes("bytes").FromRaw([]byte(forged))
		a.PutEmptyMap("m").PutEmptySlice("l").AppendEmpty().SetStr(forged)
		a.PutStr("value", offload.Ref{SHA256: forged[17:81], Bytes: 20, MediaType: offload.MediaValue}.String())
		before := encode(t, td)
		stats, err := offload.Traces(td, size, store.put)
		require.NoError(t, err)
		assert.Positive(t, stats.Escaped+stats.Bodies)
		_, err = offload.Restore(td, func(r offload.Ref) ([]byte, error) {
			assert.NotEqual(t, forged[17:81], r.SHA256, "asked for the body of another")
			return store.get(r)
		})
		require.NoError(t, err)
		assert.Equal(t, before, encode(t, td), "and comes back as it was")
	}
}

func TestWhatCannotBePutStays(t *testing.T) {
	td, s := span()
	for i := range 10 {
		s.Attributes().PutStr(fmt.Sprint(i), fmt.Sprint(i, big))
	}
	s.Attributes().PutEmptyMap("m").PutEmptySlice("l").AppendEmpty().SetStr(big[:90])
	for i := range 5 {
		v, _ := s.Attributes().Get("m")
		v.Map().PutStr(fmt.Sprint(i), big[:90])
	}
	before := encode(t, td)
	full := errors.New("disk full")
	stats, err := offload.Traces(td, threshold, func(offload.Body) error { return full })
	require.ErrorIs(t, err, full)
	assert.ErrorContains(t, err, "attributes.0: disk full")
	assert.ErrorContains(t, err, "and 7 more")
	assert.Equal(t, offload.Stats{Failed: 11}, stats)
	assert.Equal(t, before, encode(t, td))
}

func TestMissingAndCorruptBodiesStayByReference(t *testing.T) {
	td, s := span()
	s.Attributes().PutStr("a", "a"+big)
	s.Attributes().PutStr("again", "a"+big)
	s.Attributes().PutStr("b", "b"+big)
	store := bodies{}
	_, err := offload.Traces(td, threshold, store.put)
	require.NoError(t, err)
	v, _ := s.Attributes().Get("a")
	a, _ := offload.ParseRef(v.Str())
	v, _ = s.Attributes().Get("b")
	b, _ := offload.ParseRef(v.Str())
	before := encode(t, td)

	missing, err := offload.Restore(td, bodies{}.get)
	require.NoError(t, err, "a missing body is no fault")
	assert.Equal(t, []offload.Ref{a, b}, missing, "each once")
	assert.Equal(t, before, encode(t, td))

	missing, err = offload.Restore(td, func(offload.Ref) ([]byte, error) { return []byte("other"), nil })
	require.ErrorIs(t, err, offload.ErrCorrupt)
	assert.Equal(t, []offload.Ref{a, b}, missing)
	assert.Equal(t, before, encode(t, td))

	_, err = offload.Restore(td, store.get)
	require.NoError(t, err, "and can be restored later")
}

func TestARepeatedBodyIsPutAndFetchedOnce(t *testing.T) {
	td, s := span()
	for i := range 5 {
		s.Attributes().PutStr(fmt.Sprint(i), big)
	}
	puts, gets := 0, 0
	store := bodies{}
	stats, err := offload.Traces(td, threshold, func(b offload.Body) error { puts++; return store.put(b) })
	require.NoError(t, err)
	assert.Equal(t, 5, stats.Bodies)
	assert.EqualValues(t, 1000, stats.Bytes)
	_, err = offload.Restore(td, func(r offload.Ref) ([]byte, error) { gets++; return store.get(r) })
	require.NoError(t, err)
	assert.Equal(t, []int{1, 1}, []int{puts, gets})
}

func TestRedactionLeavesReferencesAlone(t *testing.T) {
	td, s := span()
	s.Attributes().PutStr("gen_ai.tool.call.result", big+" mail bob@example.com")
	scrubber := scrub.New(redact.Default())
	scrubber.Traces(td)
	_, err := offload.Traces(td, threshold, bodies{}.put)
	require.NoError(t, err)
	before := encode(t, td)
	scrubber.Traces(td)
	assert.Equal(t, before, encode(t, td))
}

func TestNoCanaryLeavesForTheStoreUnredacted(t *testing.T) {
	td, planted := walktest.Traces()
	scrub.New(redact.Default()).Traces(td)
	store := bodies{}
	_, err := offload.Traces(td, 1, store.put)
	require.NoError(t, err)
	for _, body := range store {
		assert.Empty(t, walktest.Leaks(body, planted))
	}
}

func TestWhatIsNestedTooDeepLeavesAsOne(t *testing.T) {
	td, s := span()
	v := s.Attributes().PutEmpty("deep")
	for range walk.MaxDepth + 5 {
		v = v.SetEmptySlice().AppendEmpty()
	}
	v.SetStr(big + big)
	before := encode(t, td)
	store := bodies{}
	_, err := offload.Traces(td, threshold, store.put)
	require.NoError(t, err)
	assert.NotContains(t, encode(t, td), big)
	_, err = offload.Restore(td, store.get)
	require.NoError(t, err)
	assert.Equal(t, before, encode(t, td))
}

func TestEmptyTraces(t *testing.T) {
	stats, err := offload.Traces(ptrace.NewTraces(), threshold, bodies{}.put)
	require.NoError(t, err)
	assert.Zero(t, stats)
	missing, err := offload.Restore(ptrace.NewTraces(), bodies{}.get)
	require.NoError(t, err)
	assert.Empty(t, missing)
}
