package dialect

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/tapedeck/tapedeck/tape"
)

// durations are the attributes that hold that time, in their unit.
var durations = []struct {
	key string
	ms  float64
}{
	{"gen_ai.response.time_to_first_chunk", 1000},
	{"gen_ai.client.operation.time_to_first_chunk", 1000},
	{"ai.response.msToFirstChunk", 1},
}

// moments are the attributes that hold when it came.
var moments = []string{"mastra.completion_start_time", "langfuse.observation.completion_start_time"}

// firstChunk adds the time that the first chunk of a streamed answer took, where
// the span tells it and it fits into the call.
func (n *node) firstChunk(rec *tape.Record) {
	if n.Span == nil {
		return
	}
	ms := math.NaN()
	for _, d := range durations {
		if v, ok := n.Attr(d.key); ok {
			switch v.Type() {
			case pcommon.ValueTypeDouble:
				ms = v.Double() * d.ms
			case pcommon.ValueTypeInt:
				ms = float64(v.Int()) * d.ms
			}
			break
		}
	}
	for _, key := range moments {
		at, err := time.Parse(time.RFC3339Nano, strings.Trim(n.Str(key), `"`))
		if err == nil {
			ms = float64(at.UnixNano()-n.start) / 1e6
			break
		}
	}
	if !(ms >= 0 && ms <= rec.MS) {
		return
	}
	// To the microsecond, as clocks that are read in a program tell no more.
	text := strconv.FormatFloat(math.Round(ms*1000)/1000, 'f', -1, 64)
	rec.Extra = append(rec.Extra, tape.Member{Name: tape.FirstChunkMember, Value: json.RawMessage(text)})
}
