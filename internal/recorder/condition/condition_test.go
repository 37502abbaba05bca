package condition_test

import (
	"context"
	"testing"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/recorder/condition"
)

func trace() ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "svc")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("lib")
	ss.Spans().AppendEmpty().SetName("first")
	span := ss.Spans().AppendEmpty()
	span.SetName("second")
	span.Attributes().PutInt("cost", 12)
	span.Attributes().PutStr("text", "{")
	return td
}

func TestAnyConditionOnAnySpanIsEnough(t *testing.T) {
	for name, c := range map[string]struct {
		conditions []string
		mode       ottl.ErrorMode
		want       bool
	}{
		"none of them":          {[]string{`span.name == "third"`}, ottl.IgnoreError, false},
		"an attribute":          {[]string{`span.name == "third"`, `span.attributes["cost"] > 10`}, ottl.IgnoreError, true},
		"resource and scope":    {[]string{`resource.attributes["service.name"] == "svc" and scope.name == "lib"`}, ottl.IgnoreError, true},
		"a function":            {[]string{`IsMatch(span.name, "^sec")`}, ottl.IgnoreError, true},
		"an error is no match":  {[]string{`ParseJSON(span.attributes["text"])["a"] == 1`}, ottl.SilentError, false},
		"an error is a match":   {[]string{`ParseJSON(span.attributes["text"])["a"] == 1`}, ottl.PropagateError, true},
		"an error is only that": {[]string{`ParseJSON(span.attributes["text"])["a"] == 1`, `span.name == "second"`}, ottl.IgnoreError, true},
	} {
		t.Run(name, func(t *testing.T) {
			conditions, err := condition.New(c.conditions, c.mode, componenttest.NewNopTelemetrySettings())
			require.NoError(t, err)
			assert.Equal(t, c.want, conditions.Match(context.Background(), trace()))
		})
	}
}

func TestWhatCannotBeCompiledIsNamedAndQuoted(t *testing.T) {
	_, err := condition.New([]string{`span.name == "a"`, `span.name ==`, `span.nonsense == 1`, `Unknown(span.name)`},
		ottl.IgnoreError, componenttest.NewNopTelemetrySettings())
	require.ErrorContains(t, err, `conditions::1: "span.name ==": `)
	require.ErrorContains(t, err, `conditions::2: "span.nonsense == 1": `)
	require.ErrorContains(t, err, `conditions::3: "Unknown(span.name)": `)
	require.NotContains(t, err.Error(), "conditions::0")
}
