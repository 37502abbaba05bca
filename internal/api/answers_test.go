package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/api"
	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

const again = "6102030405060708090a0b0c0d0e0f10"

// caching is a fixture whose API keeps answers, with a run that may be kept.
type caching struct {
	*fixture
	reads atomic.Int64
}

func newCaching(t *testing.T, maxBytes int) *caching {
	c := &caching{fixture: newFixture(t)}
	c.handler = api.New(c.store, api.Options{CacheBytes: maxBytes})
	c.putRun("first")
	c.backend.Fail = func(op, _ string) error {
		if op == "get" {
			c.reads.Add(1)
		}
		return nil
	}
	return c
}

// run is a decided run without bodies.
func (c *caching) run(tool string) ptrace.Traces {
	td := storetest.AgentRun(c.t, again, noon, storetest.Call{Tool: tool, Args: "{}", Result: "{}"})
	rs := td.ResourceSpans().At(0)
	rs.Resource().Attributes().PutStr(attr.Redaction, redact.Default().Manifest().Policy)
	attr.PutRow(rs.ScopeSpans().At(0).Spans().At(0).Attributes(),
		tape.Row{TraceID: again, Outcome: tape.OutcomeFailed, Trigger: tape.TriggerRootEnded, Decided: noon.Format(time.RFC3339Nano)})
	return td
}

func (c *caching) putRun(tool string) {
	_, err := c.store.PutFragment(c.t.Context(), "failures", again, c.run(tool))
	require.NoError(c.t, err)
}

// pull gives the answer and how many objects were read for it.
func (c *caching) pull(id, query string) (w *httptest.ResponseRecorder, reads int) {
	c.t.Helper()
	c.reads.Store(0)
	w = c.get("/v1/tapes/" + id + query)
	require.Equal(c.t, http.StatusOK, w.Code)
	return w, int(c.reads.Load())
}

func TestATapeThatIsAskedForAgainIsNotMadeAgain(t *testing.T) {
	c := newCaching(t, 1<<20)
	first, reads := c.pull(again, "")
	require.Positive(t, reads)
	second, reads := c.pull(again, "")
	assert.Zero(t, reads)
	assert.Equal(t, first.Body.String(), second.Body.String())
	for _, name := range []string{"Tapedeck-Complete", "Tapedeck-Gaps", "Content-Type"} {
		assert.Equal(t, first.Header().Get(name), second.Header().Get(name), name)
	}
	bare, reads := c.pull(again, "?bare=1")
	assert.Zero(t, reads)
	_, records, _ := strings.Cut(first.Body.String(), "\n")
	assert.Equal(t, records, bare.Body.String())
	ref, reads := c.pull(again, "?bodies=ref")
	assert.Positive(t, reads, "it may be another")
	assert.Equal(t, first.Body.String(), ref.Body.String())
	_, reads = c.pull(again, "?bodies=ref")
	assert.Zero(t, reads)
}

func TestWhatIsNoLongerSoIsNotSentAgain(t *testing.T) {
	c := newCaching(t, 1<<20)
	c.pull(again, "")
	// A part of the run more.
	c.putRun("second")
	w, reads := c.pull(again, "")
	assert.Positive(t, reads)
	assert.Contains(t, w.Body.String(), `"tool":"second"`)
	_, reads = c.pull(again, "")
	assert.Zero(t, reads)
	// Another collector summarised a part.
	require.NoError(t, c.store.AppendRows(t.Context(), []tape.Row{{
		TraceID: again, Outcome: tape.OutcomeSucceeded, Trigger: tape.TriggerIdle, Steps: 7, Decided: noon.Add(time.Minute).Format(time.RFC3339Nano),
	}}))
	w, _ = c.pull(again, "")
	assert.Equal(t, "false", w.Header().Get("Tapedeck-Complete"))
	// The store is away, so that nobody can say.
	c.backend.Fail = func(string, string) error { return errors.New("away") }
	assert.Equal(t, http.StatusServiceUnavailable, c.get("/v1/tapes/"+again).Code)
	c.backend.Fail = nil
	// Deleted by somebody else.
	for _, name := range c.backend.Names() {
		if strings.Contains(name, again) {
			require.NoError(t, c.backend.Delete(t.Context(), name))
		}
	}
	assert.Equal(t, http.StatusNotFound, c.get("/v1/tapes/"+again).Code)
	// And by this API.
	c.putRun("third")
	c.pull(again, "")
	assert.Equal(t, http.StatusNoContent, c.do(http.MethodDelete, "/v1/tapes/"+again).Code)
	assert.Equal(t, http.StatusNotFound, c.get("/v1/tapes/"+again).Code)
}

func TestWhatIsNotKept(t *testing.T) {
	for name, c := range map[string]struct {
		bytes int
		id    string
	}{
		"nothing, when it is off":   {0, again},
		"one that is too large":     {100, again},
		"one with bodies elsewhere": {1 << 20, kept},
	} {
		t.Run(name, func(t *testing.T) {
			f := newCaching(t, c.bytes)
			for range 2 {
				_, reads := f.pull(c.id, "")
				assert.Positive(t, reads)
			}
		})
	}
	// Nor one that the client did not take to its end.
	f := newCaching(t, 1<<20)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/tapes/"+again, nil)
	assert.Panics(t, func() { f.handler.ServeHTTP(&leaving{header: http.Header{}}, r) })
	_, reads := f.pull(again, "")
	assert.Positive(t, reads)
}

func TestKeptTapesAreOfOneTenant(t *testing.T) {
	c := newCaching(t, 1<<20)
	c.pull(again, "")
	assert.Equal(t, http.StatusNotFound, c.get("/v1/tapes/"+again+"?tenant=blue").Code)
	blue, err := c.store.Tenant("blue")
	require.NoError(t, err)
	_, err = blue.PutFragment(t.Context(), "failures", again, c.run("of blue"))
	require.NoError(t, err)
	for range 2 {
		w, _ := c.pull(again, "?tenant=blue")
		assert.Contains(t, w.Body.String(), "of blue")
		w, _ = c.pull(again, "")
		assert.NotContains(t, w.Body.String(), "of blue")
	}
}

// leaving takes the first line.
type leaving struct {
	header http.Header
	lines  int
}

func (b *leaving) Header() http.Header { return b.header }
func (b *leaving) WriteHeader(int)     {}
func (b *leaving) Write(p []byte) (int, error) {
	if b.lines++; b.lines > 1 {
		return 0, fmt.Errorf("gone after %d lines", b.lines)
	}
	return len(p), nil
}
