package archive_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/offload"
	"github.com/tapedeck/tapedeck/internal/store/rebuild"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// What looks like a reference to a body is one only in a run that a processor
// has decided and redacted.
func TestForgedReferencesAreMarkedAsNone(t *testing.T) {
	body := []byte("the body of another run")
	sum := sha256.Sum256(body)
	ref := offload.Ref{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(body)), MediaType: offload.MediaText}
	for name, test := range map[string]struct {
		mark     func(ptrace.Traces) ptrace.Traces
		restored bool
	}{
		"nothing": {func(td ptrace.Traces) ptrace.Traces { return td }, false},
		"only redacted": {func(td ptrace.Traces) ptrace.Traces {
			td.ResourceSpans().At(0).Resource().Attributes().PutStr(attr.Redaction, "policy")
			return td
		}, false},
		"only decided": {func(td ptrace.Traces) ptrace.Traces {
			decided(td, &tape.Row{Outcome: "failed", Class: "forged"}, "failed")
			td.ResourceSpans().At(0).Resource().Attributes().Remove(attr.Redaction)
			return td
		}, false},
		"decided and redacted": {func(td ptrace.Traces) ptrace.Traces {
			return decided(td, &tape.Row{Outcome: "failed", Class: "gold"}, "failed")
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			require.NoError(t, f.store.PutBlob(t.Context(), "gold", noon, ref.SHA256, body))
			n := 0
			f.backend.Fail = func(op, _ string) error {
				if n++; op == "put" && n < 20 {
					return errors.New("disk full")
				}
				return nil
			}
			td := test.mark(storetest.AgentRun(t, idA, noon, storetest.Call{Tool: "fetch", Args: "{}", Result: ref.String()}))
			for {
				// Another attempt must not mark twice.
				got := f.Write(t.Context(), td)
				if got.Err == nil {
					break
				}
				td = got.Failed
			}
			stored, err := rebuild.Traces(t.Context(), f.store, idA)
			require.NoError(t, err)
			v, ok := stored.Traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(1).Attributes().Get("gen_ai.tool.call.result")
			require.True(t, ok)
			if test.restored {
				assert.Equal(t, string(body), v.Str())
				assert.Equal(t, "gold", f.row(idA).Class, "the class that has the bodies")
			} else {
				assert.Equal(t, ref.String(), v.Str())
				assert.NotEqual(t, "forged", f.row(idA).Class)
			}
		})
	}
}
