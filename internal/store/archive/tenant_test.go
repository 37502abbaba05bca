package archive_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/archive"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

const tenantAttribute = "tenant.id"

var errAway = errors.New("away")

func newTenantFixture(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	translation := dialect.DefaultConfig()
	translation.TenantAttribute = tenantAttribute
	f.Archive = archive.New(f.store, archive.Options{
		Class:       func(tape.Row) string { return "failures" },
		Scrubber:    scrub.New(redact.Default()),
		Translation: dialect.Options{Config: translation},
	})
	return f
}

func ofTenant(td ptrace.Traces, tenant string) ptrace.Traces {
	for _, rs := range td.ResourceSpans().All() {
		if tenant != "" {
			rs.Resource().Attributes().PutStr(tenantAttribute, tenant)
		}
	}
	return td
}

func (f *fixture) tenant(name string) *store.Store {
	f.t.Helper()
	st, err := f.store.Tenant(name)
	require.NoError(f.t, err)
	return st
}

func TestOneRequestOfSeveralTenantsGoesToSeveralPlaces(t *testing.T) {
	f := newTenantFixture(t)
	batch := ptrace.NewTraces()
	// All in one request, and all under one trace id.
	for _, tenant := range []string{"blue", "red", "", "../blue"} {
		ofTenant(storetest.AgentRun(t, idA, noon, storetest.Call{Tool: "of " + tenant, Args: "{}", Result: "{}"}), tenant).
			ResourceSpans().MoveAndAppendTo(batch.ResourceSpans())
	}
	got := f.write(batch)
	assert.Equal(t, 4, got.Fragments)
	assert.Equal(t, 4, got.Kept)
	for _, tenant := range []string{"blue", "red", "", "../blue"} {
		st := f.tenant(tenant)
		page, err := st.Rows(t.Context(), store.Query{})
		require.NoError(t, err)
		require.Len(t, page.Rows, 1)
		assert.Equal(t, tenant, page.Rows[0].Tenant)
		assert.Equal(t, []string{"of " + tenant}, page.Rows[0].Tools)
		run, err := st.Trace(t.Context(), idA)
		require.NoError(t, err)
		assert.Equal(t, 2, run.Traces.SpanCount())
	}
	for _, name := range f.backend.Names() {
		assert.NotContains(t, name, "..")
	}
}

func TestATenantWhoseIndexIsAwayIsTriedAgainAlone(t *testing.T) {
	f := newTenantFixture(t)
	f.backend.Fail = func(op, name string) error {
		if op == "put" && strings.HasPrefix(name, "tenants/red/index/") {
			return errAway
		}
		return nil
	}
	batch := ptrace.NewTraces()
	for _, tenant := range []string{"blue", "red"} {
		ofTenant(storetest.AgentRun(t, idA, noon, good), tenant).ResourceSpans().MoveAndAppendTo(batch.ResourceSpans())
	}
	got := f.Write(t.Context(), batch)
	require.ErrorIs(t, got.Err, errAway)
	assert.Equal(t, 1, got.Kept)
	require.Equal(t, 1, got.Failed.ResourceSpans().Len())
	v, _ := got.Failed.ResourceSpans().At(0).Resource().Attributes().Get(tenantAttribute)
	assert.Equal(t, "red", v.Str())
	f.backend.Fail = nil
	assert.Equal(t, 1, f.write(got.Failed).Kept)
}

func TestATenantWithANameThatIsTooLongIsRefused(t *testing.T) {
	f := newTenantFixture(t)
	got := f.Write(t.Context(), ofTenant(storetest.AgentRun(t, idA, noon, good), strings.Repeat("x", 300)))
	require.NoError(t, got.Err)
	require.ErrorIs(t, got.RefusedErr(), store.ErrBadName)
	assert.Equal(t, 2, got.RefusedSpans())
	assert.Empty(t, f.backend.Names())
}

func TestWhatTheBackendRefusesIsNotTriedAgain(t *testing.T) {
	f := newFixture(t)
	f.backend.Fail = func(op, _ string) error {
		if op == "put" {
			return store.ErrRefused
		}
		return nil
	}
	got := f.Write(t.Context(), storetest.AgentRun(t, idA, noon, good))
	require.NoError(t, got.Err)
	require.ErrorIs(t, got.RefusedErr(), store.ErrRefused)
	assert.Equal(t, 2, got.RefusedSpans())
}

func TestRowsNameTheirTenantWhateverTheProcessorKnew(t *testing.T) {
	for name, td := range map[string]ptrace.Traces{
		// A processor without the storage does not know which attribute it is.
		"kept":          decided(storetest.AgentRun(t, idA, noon, good), &tape.Row{TraceID: idA, Outcome: tape.OutcomeFailed}, tape.OutcomeFailed),
		"a summary":     summary(t, tape.Row{TraceID: idA, Outcome: tape.OutcomeSucceeded}),
		"a part of one": decided(storetest.AgentRun(t, idA, noon, good), nil, tape.OutcomeFailed),
		// No root says it.
		"undecided": withoutRoot(storetest.AgentRun(t, idA, noon, good)),
	} {
		t.Run(name, func(t *testing.T) {
			f := newTenantFixture(t)
			f.write(ofTenant(td, "blue"))
			page, err := f.tenant("blue").Rows(t.Context(), store.Query{})
			require.NoError(t, err)
			require.Len(t, page.Rows, 1)
			assert.Equal(t, "blue", page.Rows[0].Tenant)
		})
	}
}

func withoutRoot(td ptrace.Traces) ptrace.Traces {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			ss.Spans().RemoveIf(func(span ptrace.Span) bool { return span.ParentSpanID().IsEmpty() })
		}
	}
	return td
}
