package dialect

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tapedeck/tapedeck/tape"
)

func TestARecordTellsWhenTheFirstChunkCame(t *testing.T) {
	for name, test := range map[string]struct {
		key  string
		v    any
		want string
	}{
		"conventions, in seconds":   {"gen_ai.response.time_to_first_chunk", 0.0025, "2.5"},
		"an older name":             {"gen_ai.client.operation.time_to_first_chunk", 0.003, "3"},
		"in milliseconds":           {"ai.response.msToFirstChunk", 1.23456, "1.235"},
		"longer than the call":      {"ai.response.msToFirstChunk", 99.0, ""},
		"before the call":           {"mastra.completion_start_time", "1999-01-01T00:00:00Z", ""},
		"no number":                 {"ai.response.msToFirstChunk", "soon", ""},
		"nothing":                   {"other", 1.0, ""},
		"what is no time":           {"langfuse.observation.completion_start_time", `"yesterday"`, ""},
		"a time that is no moment":  {"langfuse.observation.completion_start_time", `""`, ""},
		"not a number, but a float": {"gen_ai.response.time_to_first_chunk", -1.0, ""},
	} {
		call := chat(2, 1, 1, 5, "["+user+"]", finished)
		call.attrs[test.key] = test.v
		r := one(t, agentSpan(1, 0, 20), call).Records[0]
		got := ""
		for _, m := range r.Extra {
			if m.Name == tape.FirstChunkMember {
				got = string(m.Value)
			}
		}
		assert.Equal(t, test.want, got, name)
	}
}

func TestTheFirstChunkByItsMoment(t *testing.T) {
	for _, quote := range []string{"", `"`} {
		call := chat(2, 1, 1, 5, "["+user+"]", finished)
		call.attrs["langfuse.observation.completion_start_time"] = quote + at(3).AsTime().Format("2006-01-02T15:04:05.999999999Z07:00") + quote
		r := one(t, agentSpan(1, 0, 20), call).Records[0]
		assert.Equal(t, []tape.Member{{Name: tape.FirstChunkMember, Value: []byte("2")}}, r.Extra)
	}
}
