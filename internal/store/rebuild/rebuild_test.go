package rebuild_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/offload"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/rebuild"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

const id = "0102030405060708090a0b0c0d0e0f10"

var noon = time.Date(2026, 1, 2, 12, 30, 0, 0, time.UTC)

var (
	big   = `{"page":"` + strings.Repeat("long ", 1000) + `"}`
	calls = []storetest.Call{
		{Tool: "fetch", Args: `{"url":"http://a"}`, Result: big},
		{Tool: "pay", Args: `{"sum":3}`, Error: "declined"},
	}
)

func open(t *testing.T) (*store.Store, *storetest.Memory) {
	t.Helper()
	b := storetest.NewMemory()
	s, err := store.Open(b, store.Options{})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s, b
}

// put stores a run as the processor would: bodies out, then the fragment.
func put(t *testing.T, s *store.Store, td ptrace.Traces) {
	t.Helper()
	_, err := offload.Traces(td, 1000, func(b offload.Body) error {
		return s.PutBlob(t.Context(), "failures", noon, b.SHA256, b.Data)
	})
	require.NoError(t, err)
	_, err = s.PutFragment(t.Context(), "failures", id, td)
	require.NoError(t, err)
}

func TestAFailedRunComesBackAsATape(t *testing.T) {
	s, _ := open(t)
	put(t, s, storetest.AgentRun(t, id, noon, calls...))
	tp, err := rebuild.Tape(t.Context(), s, strings.ToUpper(id), rebuild.Options{})
	require.NoError(t, err)
	require.Len(t, tp.Records, 2)
	assert.Equal(t, id, tp.Manifest.TraceID)
	assert.Equal(t, "shop", tp.Manifest.Service)
	assert.Equal(t, tape.OutcomeFailed, tp.Manifest.Outcome)
	assert.JSONEq(t, big, string(tp.Records[0].Result))
	assert.True(t, tp.Records[1].Failed())
	assert.Empty(t, tp.Manifest.Gaps)
	assert.Empty(t, tape.Verify(tp))
}

func TestBodiesByReference(t *testing.T) {
	s, _ := open(t)
	put(t, s, storetest.AgentRun(t, id, noon, calls...))
	tp, err := rebuild.Tape(t.Context(), s, id, rebuild.Options{BodiesByRef: true})
	require.NoError(t, err)
	require.Len(t, tp.Records[0].Bodies, 1)
	assert.Nil(t, tp.Records[0].Result)
	assert.EqualValues(t, len(big), tp.Records[0].Bodies[0].Bytes)
	data, err := s.Blob(t.Context(), tp.Records[0].Bodies[0].SHA256)
	require.NoError(t, err)
	assert.Equal(t, big, string(data))
}

func TestAMissingBodyIsAGapAndNoError(t *testing.T) {
	for name, harm := range map[string]func(*testing.T, *storetest.Memory, string){
		"expired": func(t *testing.T, b *storetest.Memory, blob string) { require.NoError(t, b.Delete(t.Context(), blob)) },
		"damaged": func(_ *testing.T, b *storetest.Memory, blob string) {
			b.Damage(blob, func([]byte) []byte { return []byte("junk") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, b := open(t)
			put(t, s, storetest.AgentRun(t, id, noon, calls...))
			blobs := storetest.List(t, b, "blobs/")
			require.Len(t, blobs, 1)
			harm(t, b, blobs[0].Name)
			tp, err := rebuild.Tape(t.Context(), s, id, rebuild.Options{})
			require.NoError(t, err)
			assert.False(t, tp.Manifest.Complete)
			require.Len(t, tp.Manifest.Gaps, 1)
			assert.Equal(t, 1, tp.Manifest.Gaps[0].Seq)
			assert.Equal(t, "result", tp.Manifest.Gaps[0].What)
			assert.Contains(t, tp.Manifest.Gaps[0].Why, "sha256:")
			assert.Equal(t, tape.FidelityAbsent, tp.Records[0].Fidelity)

			stored, err := rebuild.Traces(t.Context(), s, id)
			require.NoError(t, err)
			assert.Len(t, stored.Missing, 1)
		})
	}
}

func TestABackendThatCannotBeReadIsAnError(t *testing.T) {
	s, b := open(t)
	put(t, s, storetest.AgentRun(t, id, noon, calls...))
	broken := errors.New("connection reset")
	b.Fail = func(op, name string) error {
		if op == "get" && strings.HasPrefix(name, "blobs/") {
			return broken
		}
		return nil
	}
	_, err := rebuild.Tape(t.Context(), s, id, rebuild.Options{})
	require.ErrorIs(t, err, broken)
}

func TestADamagedFragmentIsAGap(t *testing.T) {
	s, b := open(t)
	put(t, s, storetest.AgentRun(t, id, noon, calls[:1]...))
	victim := storetest.List(t, b, "tapes/")[0].Name
	put(t, s, storetest.AgentRun(t, id, noon, calls...))
	b.Damage(victim, func([]byte) []byte { return []byte("junk") })
	tp, err := rebuild.Tape(t.Context(), s, id, rebuild.Options{})
	require.NoError(t, err)
	assert.Len(t, tp.Records, 2)
	require.Len(t, tp.Manifest.Gaps, 1)
	assert.Contains(t, tp.Manifest.Gaps[0].Why, victim)
	assert.False(t, tp.Manifest.Complete)
}

func TestFragmentsOfAnotherTraceGiveAnEmptyTape(t *testing.T) {
	s, _ := open(t)
	put(t, s, storetest.AgentRun(t, "ff"+id[2:], noon, calls...))
	tp, err := rebuild.Tape(t.Context(), s, id, rebuild.Options{})
	require.NoError(t, err)
	assert.Empty(t, tp.Records)
	assert.Equal(t, id, tp.Manifest.TraceID)
	assert.NotEmpty(t, tp.Manifest.Gaps)
}

func TestAForgedReferenceDisclosesNothing(t *testing.T) {
	s, _ := open(t)
	secret := []byte(strings.Repeat("somebody else's body ", 100))
	ref := offload.Ref{}
	_, err := offload.Traces(storetest.AgentRun(t, "ff"+id[2:], noon, storetest.Call{Tool: "x", Args: "{}", Result: string(secret)}),
		1000, func(b offload.Body) error {
			ref = b.Ref
			return s.PutBlob(t.Context(), "failures", noon, b.SHA256, b.Data)
		})
	require.NoError(t, err)
	put(t, s, storetest.AgentRun(t, id, noon, storetest.Call{Tool: "fetch", Args: "{}", Result: ref.String()}))
	for _, byRef := range []bool{false, true} {
		tp, err := rebuild.Tape(t.Context(), s, id, rebuild.Options{BodiesByRef: byRef})
		require.NoError(t, err)
		assert.NotContains(t, string(tp.Records[0].Result), "somebody else's")
	}
}

func TestTheManifestNamesTheRedactionPolicy(t *testing.T) {
	policy := redact.Default().Manifest()
	tests := map[string]struct {
		id, rules string
		want      *tape.Redaction
	}{
		"none":                     {"", "", nil},
		"the default":              {policy.Policy, "", policy},
		"another with its rules":   {"other", `{"keys":["pin"]}`, &tape.Redaction{Policy: "other", Rules: []byte(`{"keys":["pin"]}`)}},
		"another without rules":    {"other", "", &tape.Redaction{Policy: "other"}},
		"another in the store":     {"v1:stored", "", &tape.Redaction{Policy: "v1:stored", Rules: []byte(`{"version":1}`)}},
		"no id at all":             {"../../x", "", &tape.Redaction{Policy: "../../x"}},
		"another with broken text": {"other", `{"keys"`, &tape.Redaction{Policy: "other"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, _ := open(t)
			require.NoError(t, s.PutPolicy(t.Context(), &tape.Redaction{Policy: "v1:stored", Rules: []byte(`{"version":1}`)}))
			td := storetest.AgentRun(t, id, noon, calls...)
			m := td.ResourceSpans().At(0).Resource().Attributes()
			if test.id != "" {
				m.PutStr(attr.Redaction, test.id)
			}
			if test.rules != "" {
				m.PutStr(attr.RedactionRules, test.rules)
			}
			put(t, s, td)
			tp, err := rebuild.Tape(t.Context(), s, id, rebuild.Options{})
			require.NoError(t, err)
			assert.Equal(t, test.want, tp.Manifest.Redaction)
			assert.NotContains(t, string(tp.Manifest.Resource), "tape.")
		})
	}
}

// The row of a run names the class that the recorder found, perhaps beside the
// last good run, which nobody has when the tape is rebuilt.
func TestTheClassOfAFailureIsThatOfTheRow(t *testing.T) {
	s, _ := open(t)
	td := storetest.AgentRun(t, id, noon, calls...)
	marked := 0
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				if tool, ok := span.Attributes().Get("gen_ai.tool.name"); ok && tool.Str() == "pay" {
					span.Attributes().PutStr(attr.FailureClass, "schema_mismatch")
					span.Attributes().PutEmptySlice(attr.FailureEvidence).AppendEmpty().SetStr("schema_mismatch: /properties/sum is gone")
					marked++
				}
			}
		}
	}
	require.Equal(t, 1, marked)
	put(t, s, td)
	tp, err := rebuild.Tape(t.Context(), s, id, rebuild.Options{})
	require.NoError(t, err)
	assert.Equal(t, "schema_mismatch", tp.Records[1].FailureClass)
	assert.Equal(t, "schema_mismatch", tp.Manifest.Failure.Class)
	assert.Contains(t, tp.Manifest.Failure.Evidence, "schema_mismatch: /properties/sum is gone")
}
