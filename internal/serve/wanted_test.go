package serve

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// TestACallThatTheTapeDidNotServeWasRunBySomebodyElse: a model asks for a tool, and
// the next request tells its result.
func TestACallThatTheTapeDidNotServeWasRunBySomebodyElse(t *testing.T) {
	wants := `{"message":{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"pay","arguments":{"eur":3}}]},"finish_reason":"tool_calls"}`
	call := `{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"pay","arguments":{"eur":3}}]}`
	reply := `{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","result":"paid"}]}`
	yes := true
	pay := tape.Record{
		Seq: 2, Kind: tape.KindTool, Tool: "pay", Args: json.RawMessage(`{"eur":3}`), Result: json.RawMessage(`"paid"`), ToolCallID: "c1", SideEffect: &yes,
	}
	pay.Key, _ = tape.Key("pay", pay.Args)
	records := []tape.Record{model(1, asked(said("user", "hello")), wants), pay, model(3, asked(said("user", "hello"), call, reply), answered("done"))}
	const (
		first = `{"model":"gpt-x","messages":[{"role":"user","content":"hello"}]}`
		tool  = `"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"pay","arguments":"{\"eur\":3}"}}]`
		then  = `{"model":"gpt-x","messages":[{"role":"user","content":"hello"},{` + tool + `},{"role":"tool","tool_call_id":"c1","content":"paid"}]}`
	)
	for name, c := range map[string]struct {
		served  string
		told    bool
		options []replay.Option
		live    int
		effects int
		says    string
		is      error
	}{
		"served by its id":           {served: `{"tool":"pay","args":{"eur":3},"tool_call_id":"c1"}`, told: true},
		"served without an id":       {served: `{"tool":"pay","args":{"eur":3}}`, told: true},
		"run elsewhere":              {told: true, live: 1, effects: 1, says: "pay (c1) was asked for by the model and not answered from the tape, but its result was told", is: replay.ErrUnserved},
		"run elsewhere, never told":  {live: 1, effects: 1, says: "pay (c1) was asked for by the model and not answered from the tape\n", is: replay.ErrUnserved},
		"run elsewhere, and allowed": {told: true, options: []replay.Option{replay.WithUnserved("pay")}, live: 1, effects: 1, says: "; allowed"},
		"another is allowed":         {told: true, options: []replay.Option{replay.WithUnserved("look")}, live: 1, effects: 1, is: replay.ErrUnserved},
		"refused, and not run":       {served: `{"tool":"pay","args":{"eur":4},"tool_call_id":"c1"}`, is: replay.ErrDrift},
	} {
		t.Run(name, func(t *testing.T) {
			session, err := replay.New(&tape.Tape{Records: records}, append(Options(), c.options...)...)
			require.NoError(t, err)
			h := New(session)
			require.Equal(t, 200, ask(h, chatPath, first).Code)
			if c.served != "" {
				ask(h, "/v1/call", c.served)
			}
			if c.told {
				w := ask(h, chatPath, then)
				require.Equal(t, 200, w.Code, w.Body)
			}
			err = session.Close()
			report := session.Report()
			if c.is == nil {
				require.NoError(t, err, report.Text())
			} else {
				require.ErrorIs(t, err, c.is)
				assert.Equal(t, errors.Is(c.is, replay.ErrUnserved), errors.Is(err, replay.ErrUnserved))
			}
			assert.Equal(t, c.live, report.Stats.LiveToolCalls)
			assert.Equal(t, c.effects, report.Stats.RealSideEffects)
			assert.Contains(t, report.Text(), c.says)
			assert.Equal(t, c.live, len(report.Unserved))
		})
	}
}
