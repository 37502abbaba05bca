package recorder

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
)

const tenantAttribute = "tenant.id"

// newTenantFixture is a recorder that tells tenants apart.
func newTenantFixture(t *testing.T, change func(*Config)) *fixture {
	t.Helper()
	var cfg Config
	f := newFixture(t, func(c *Config) {
		change(c)
		cfg = *c
	})
	translation := dialect.DefaultConfig()
	translation.TenantAttribute = tenantAttribute
	f.open(cfg, Deps{
		Scrubber:    scrub.New(redact.Default()),
		Bodies:      f,
		Emit:        f.emit,
		Permanent:   consumererror.IsPermanent,
		Telemetry:   &f.counts,
		Now:         f.time,
		Translation: dialect.Options{Config: translation},
	})
	return f
}

// addOf adds spans under a resource of their own.
func (f *fixture) addOf(tenant string, spans ...func(ptrace.ResourceSpans, ptrace.Span)) {
	f.t.Helper()
	td := traces(spans...)
	for _, rs := range td.ResourceSpans().All() {
		rs.Resource().Attributes().PutStr(tenantAttribute, tenant)
	}
	require.NoError(f.t, f.Add(f.t.Context(), td))
}

func TestBodiesGoToTheTenantOfTheirSpans(t *testing.T) {
	f := newTenantFixture(t, func(c *Config) { c.OffloadThreshold = 1000 })
	shared := strings.Repeat("shared ", 1000)
	body := func(text string) func(ptrace.Span) {
		return func(s ptrace.Span) { s.Attributes().PutStr("gen_ai.tool.call.result", text) }
	}
	// One trace id under two tenants, and both have a body in common.
	f.addOf("blue", agent(1, 1, failed), tool(1, 2, 1, failed, body(shared)), tool(1, 3, 1, body(strings.Repeat("blue ", 1000))))
	f.addOf("red", tool(1, 4, 1, body(shared)))
	f.pass(time.Minute)
	require.Len(t, f.tenants, 2)
	assert.Len(t, f.tenants["blue"], 2)
	require.Len(t, f.tenants["red"], 1)
	assert.Contains(t, f.tenants["blue"], f.tenants["red"][0], "both have what both name")
	refs := 0
	for _, s := range f.out() {
		if v, ok := s.Attributes().Get("gen_ai.tool.call.result"); ok && strings.HasPrefix(v.Str(), "tape-blob:") {
			refs++
		}
	}
	assert.Equal(t, 3, refs)
	f.balanced()
}

func TestASummaryIsOfTheTenantOfItsRun(t *testing.T) {
	f := newTenantFixture(t, func(*Config) {})
	td := traces(agent(1, 1), tool(1, 2, 1))
	resource := td.ResourceSpans().At(0).Resource().Attributes()
	// More than a summary takes along.
	for i := range 2 * maxResource {
		resource.PutInt("attribute."+string(rune('a'+i%26))+strings.Repeat("x", i/26), 1)
	}
	resource.PutStr(tenantAttribute, "blue")
	require.NoError(t, f.Add(t.Context(), td))
	f.pass(time.Minute)
	f.mu.Lock()
	defer f.mu.Unlock()
	require.Len(t, f.emitted, 1)
	var got []string
	for _, rs := range f.emitted[0].ResourceSpans().All() {
		got = append(got, value(rs.Resource().Attributes(), tenantAttribute))
	}
	assert.Equal(t, []string{"blue"}, slices.Compact(got))
}

func value(m pcommon.Map, name string) string {
	v, _ := m.Get(name)
	return v.AsString()
}

func TestARunIsOfTheTenantsOfItsSpans(t *testing.T) {
	f := newTenantFixture(t, func(*Config) {})
	f.addOf("blue", agent(1, 1), tool(1, 2, 1))
	f.addOf("red", tool(1, 3, 1))
	require.NoError(t, f.Add(t.Context(), traces(agent(2, 1))))
	of := func(tenant string, id byte) bool {
		t.Helper()
		is, err := f.Of(t.Context(), tenant, pcommon.TraceID{15: id})
		require.NoError(t, err)
		return is
	}
	assert.True(t, of("blue", 1))
	assert.True(t, of("red", 1))
	assert.False(t, of("", 1))
	assert.False(t, of("green", 1))
	assert.True(t, of("", 2))
	assert.False(t, of("blue", 2))
	assert.False(t, of("", 3), "of a run that is not here")
	assert.True(t, f.Pending(pcommon.TraceID{15: 1}), "asking changes nothing")

	one := newFixture(t, func(*Config) {})
	require.NoError(t, one.Add(t.Context(), traces(agent(1, 1))))
	is, err := one.Of(t.Context(), "", pcommon.TraceID{15: 1})
	require.NoError(t, err)
	assert.True(t, is, "where tenants are not told apart all is of none")
	is, err = one.Of(t.Context(), "blue", pcommon.TraceID{15: 1})
	require.NoError(t, err)
	assert.False(t, is)
}
