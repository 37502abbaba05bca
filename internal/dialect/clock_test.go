package dialect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

func TestClockReadsAndDrawsAreRecords(t *testing.T) {
	root := agentSpan(1, 0, 20)
	root.events = []ev{
		{"tape.clock", attrs{"value": "2031-01-02T03:04:05.5Z"}},
		{"tape.clock", nil},
		{"something.else", attrs{"value": "x"}},
	}
	call := tool(2, 1, 5, 9, "x", attrs{"gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": "1", "user.id": "u"})
	call.events = []ev{
		{"tape.random", attrs{"tape.value": []byte{1, 2, 3}}},
		{"tape.random", attrs{"value": 7, "tape.tool": "dice", "args": `{"sides":20}`}},
		{"tape.random", attrs{"value": "42"}},
		{"tape.random", nil},
	}
	tp := one(t, root, call)
	r := tp.Records
	require.Len(t, r, 7)
	assert.Empty(t, tape.Verify(tp))
	assert.Equal(t, tape.KindClock, r[0].Kind)
	assert.Equal(t, "now", r[0].Tool)
	assert.JSONEq(t, `"2031-01-02T03:04:05.5Z"`, string(r[0].Result))
	assert.Equal(t, "2031-01-02T03:04:05.5Z", r[0].Clock)
	assert.Equal(t, "0000000000000001", r[0].ParentID)
	assert.Empty(t, r[0].StepID, "the span is not the read")
	key, err := tape.Key("now", []byte("null"))
	require.NoError(t, err)
	assert.Equal(t, key, r[0].Key)
	require.NotNil(t, r[0].SideEffect)
	assert.False(t, *r[0].SideEffect)
	assert.Equal(t, "2026-03-02T10:00:00Z", r[1].Clock, "without a value the time of the event")

	assert.Equal(t, tape.KindTool, r[2].Kind, "what a call draws comes after its start")
	assert.Equal(t, tape.KindRandom, r[3].Kind)
	assert.Equal(t, "bytes", r[3].Tool)
	assert.JSONEq(t, `{"bytes":3}`, string(r[3].Args))
	assert.JSONEq(t, `"AQID"`, string(r[3].Result))
	assert.JSONEq(t, `{"user":"u"}`, string(r[3].CallerContext))
	assert.Equal(t, "dice", r[4].Tool)
	assert.JSONEq(t, `{"sides":20}`, string(r[4].Args))
	assert.JSONEq(t, `7`, string(r[4].Result))
	assert.JSONEq(t, `"42"`, string(r[5].Result), "a text stays text")
	assert.Nil(t, r[6].Result)
	require.Len(t, tp.Manifest.Gaps, 1)
	assert.Equal(t, tape.Gap{Seq: 7, What: "result", Why: "the event tape.random has no attribute value"}, tp.Manifest.Gaps[0])
	assert.Equal(t, tape.OutcomeSucceeded, tp.Manifest.Outcome)
}

func TestReadingTheClockIsNotGoingOn(t *testing.T) {
	root := agentSpan(1, 0, 20)
	failing := tool(2, 1, 1, 2, "x", nil)
	failing.err = "boom"
	after := sp{id: 3, up: 1, from: 5, to: 6, name: "log", events: []ev{{"tape.clock", nil}}}
	assert.Equal(t, tape.OutcomeFailed, one(t, root, failing, after).Manifest.Outcome)
}
