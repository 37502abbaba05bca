package tapestore

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/extension/tapestore/internal/metadata"
	"github.com/tapedeck/tapedeck/internal/attribution"
	"github.com/tapedeck/tapedeck/internal/dialect"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

func load(t *testing.T, name string) *Config {
	t.Helper()
	conf, err := confmaptest.LoadConf(filepath.Join("testdata", "config.yaml"))
	require.NoError(t, err)
	sub, err := conf.Sub(component.NewIDWithName(metadata.Type, name).String())
	require.NoError(t, err)
	cfg := NewFactory().CreateDefaultConfig().(*Config)
	require.NoError(t, sub.Unmarshal(cfg))
	return cfg
}

// What the configuration says about tools, results and failures is in the tape.
func TestTranslationAsConfigured(t *testing.T) {
	cfg := load(t, "read")
	require.NoError(t, confmap.Validate(cfg))
	ext, err := NewFactory().Create(context.Background(), extensiontest.NewNopSettings(metadata.Type), cfg)
	require.NoError(t, err)

	td := ptrace.NewTraces()
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for i, name := range []string{"get_x", "book_x", "shell", "search"} {
		s := spans.AppendEmpty()
		s.SetTraceID([16]byte{1})
		s.SetSpanID([8]byte{byte(i + 1)})
		s.SetStartTimestamp(1000)
		s.SetEndTimestamp(2000)
		a := s.Attributes()
		a.PutStr("gen_ai.operation.name", "execute_tool")
		a.PutStr("gen_ai.tool.name", name)
		a.PutStr("my.approval", "ok-1")
		a.PutStr("my.user", "ada")
		switch name {
		case "shell":
			a.PutStr("gen_ai.tool.call.result", `{"exit_code":2}`)
		case "search":
			a.PutStr("gen_ai.tool.call.result", "Error: upstream is slow")
		default:
			a.PutStr("gen_ai.tool.call.result", `{}`)
		}
	}
	tapes := dialect.Translate(td, ext.(Extension).Translation())
	require.Len(t, tapes, 1)
	byTool := map[string]int{}
	for i, rec := range tapes[0].Records {
		byTool[rec.Tool] = i
		assert.Equal(t, "ok-1", rec.ApprovalID)
		assert.JSONEq(t, `{"user":"ada"}`, string(rec.CallerContext))
	}
	at := func(tool string) int { return byTool[tool] }
	assert.False(t, *tapes[0].Records[at("get_x")].SideEffect)
	assert.True(t, *tapes[0].Records[at("book_x")].SideEffect)
	assert.False(t, tapes[0].Records[at("get_x")].Failed())
	assert.Equal(t, "1970-01-01T00:15:00.000002Z", tapes[0].Records[at("get_x")].Expires)
	assert.Empty(t, tapes[0].Records[at("book_x")].Expires)
	assert.True(t, tapes[0].Records[at("shell")].Failed())
	assert.True(t, tapes[0].Records[at("search")].Failed())
	assert.Equal(t, attribution.ExternalTimeout, tapes[0].Records[at("search")].FailureClass)
}

func TestBadTranslationNamesItsPlace(t *testing.T) {
	err := confmap.Validate(load(t, "bad_translation"))
	require.ErrorContains(t, err, "translation::in_band")
	require.ErrorContains(t, err, "expires[0]: after must be more than zero")
	require.ErrorContains(t, confmap.Validate(load(t, "bad_attribution")), "attribution")
}
