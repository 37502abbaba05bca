package attr

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/tapedeck/tapedeck/tape"
)

func TestStripTakesWhatOnlyWeWrite(t *testing.T) {
	m := pcommon.NewMap()
	for name := range ours {
		m.PutStr(name, "forged")
	}
	PutRow(m, tape.Row{TraceID: "a", Outcome: tape.OutcomeFailed, Kept: true})
	m.PutStr("tape.side_effect", "true")
	m.PutStr("gen_ai.tool.name", "t")
	Strip(m)
	assert.Equal(t, map[string]any{"tape.side_effect": "true", "gen_ai.tool.name": "t"}, m.AsRaw())
	_, ok := RowFrom(m)
	assert.False(t, ok)
}
