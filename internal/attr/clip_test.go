package attr_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

func TestARowIsKeptWithinBounds(t *testing.T) {
	long := strings.Repeat("ä", 10_000)
	names := make([]string, 1000)
	for i := range names {
		names[i] = long
	}
	row := tape.Row{
		Outcome: tape.Outcome(long), Trigger: tape.Trigger(long), Fidelity: tape.Fidelity(long),
		Service: long, Agent: long, ConversationID: long, Environment: long, Tenant: long,
		FailureClass: long, FailureReason: long, FailingTool: long, Start: long,
		Tools: names, Models: names,
	}
	written := pcommon.NewMap()
	attr.PutRow(written, row)
	got, ok := attr.RowFrom(written)
	require.True(t, ok)
	assert.Equal(t, attr.Clip(row), got)
	assert.Len(t, row.Tools[0], len(long), "what was given stays as it is")

	forged := pcommon.NewMap()
	forged.PutStr(attr.RunPrefix+"outcome", "failed")
	forged.PutStr(attr.RunPrefix+"service", long)
	got, ok = attr.RowFrom(forged)
	require.True(t, ok)
	assert.Less(t, len(got.Service), attr.MaxText+8)
}

func TestClipText(t *testing.T) {
	for name, test := range map[string]struct {
		in    string
		limit int
		want  string
	}{
		"short":           {"abc", 3, "abc"},
		"long":            {"abcd", 3, "abc…"},
		"inside a rune":   {"aä", 2, "a…"},
		"not UTF-8":       {"\xff\xff\xff", 2, "\xff\xff…"},
		"only the middle": {"\x80\x80\x80", 2, "…"},
	} {
		t.Run(name, func(t *testing.T) {
			got := attr.ClipText(test.in, test.limit)
			assert.Equal(t, test.want, got)
			assert.True(t, utf8.ValidString(got) || !utf8.ValidString(test.in))
		})
	}
}
