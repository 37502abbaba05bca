package rowfile

import (
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/tapedeck/tapedeck/tape"
)

// Entry is a row in the index, with what only the index needs to know.
type Entry struct {
	tape.Row
	// Fragment names the fragment whose size Row.Bytes is, "" when there is none.
	Fragment string `json:"fragment,omitempty"`
	// Part marks an entry about a further fragment of a run, whose row came with
	// another one.
	Part bool `json:"part,omitempty"`
	// Deleted hides all entries of the run that were decided before.
	Deleted bool `json:"deleted,omitempty"`
}

// column carries one member of an entry to and from its column. The position in
// columns is the index of its one leaf.
type column struct {
	name string
	node parquet.Node
	// put appends the values of the member; level puts them in their column.
	put func(row parquet.Row, index int, e *Entry) parquet.Row
	// get takes one value that is not NULL.
	get func(e *Entry, v parquet.Value)
}

// Names of the columns that keys are read from.
const (
	traceIDColumn = "trace_id"
	decidedColumn = "decided"
	keptColumn    = "kept"
	partColumn    = "part"
	deletedColumn = "deleted"
)

// columns has every member of an entry by its JSON name; a test proves that none
// is missing. What is looked for comes first, as a reader of the table would
// have it.
var columns = []column{
	id(traceIDColumn, func(e *Entry) *string { return &e.TraceID }),
	moment(decidedColumn, func(e *Entry) *string { return &e.Decided }),
	moment("start", func(e *Entry) *string { return &e.Start }),
	number("duration_ms", func(e *Entry) *float64 { return &e.DurationMS }),
	word("service", func(e *Entry) *string { return &e.Service }),
	word("agent", func(e *Entry) *string { return &e.Agent }),
	text("conversation_id", func(e *Entry) *string { return &e.ConversationID }),
	word("environment", func(e *Entry) *string { return &e.Environment }),
	word("tenant", func(e *Entry) *string { return &e.Tenant }),
	word("outcome", func(e *Entry) *tape.Outcome { return &e.Outcome }),
	word("trigger", func(e *Entry) *tape.Trigger { return &e.Trigger }),
	flag(keptColumn, func(e *Entry) *bool { return &e.Kept }),
	word("kept_because", func(e *Entry) *tape.Reason { return &e.KeptBecause }),
	word("class", func(e *Entry) *string { return &e.Class }),
	word("failure_class", func(e *Entry) *string { return &e.FailureClass }),
	text("failure_reason", func(e *Entry) *string { return &e.FailureReason }),
	word("failing_tool", func(e *Entry) *string { return &e.FailingTool }),
	words("tools", func(e *Entry) *[]string { return &e.Tools }),
	words("models", func(e *Entry) *[]string { return &e.Models }),
	count("steps", func(e *Entry) *int { return &e.Steps }),
	count("spans", func(e *Entry) *int { return &e.Spans }),
	count("truncated_spans", func(e *Entry) *int { return &e.TruncatedSpans }),
	count("tool_calls", func(e *Entry) *int { return &e.ToolCalls }),
	count("model_calls", func(e *Entry) *int { return &e.ModelCalls }),
	count("failed_calls", func(e *Entry) *int { return &e.FailedCalls }),
	count("input_tokens", func(e *Entry) *int64 { return &e.InputTokens }),
	count("output_tokens", func(e *Entry) *int64 { return &e.OutputTokens }),
	cost,
	count("bytes", func(e *Entry) *int64 { return &e.Bytes }),
	word("fidelity", func(e *Entry) *tape.Fidelity { return &e.Fidelity }),
	text("fragment", func(e *Entry) *string { return &e.Fragment }),
	flag(partColumn, func(e *Entry) *bool { return &e.Part }),
	flag(deletedColumn, func(e *Entry) *bool { return &e.Deleted }),
	word("agent_version", func(e *Entry) *string { return &e.AgentVersion }),
	word("code_version", func(e *Entry) *string { return &e.CodeVersion }),
	complete,
}

var columnByName = func() map[string]*column {
	byName := make(map[string]*column, len(columns))
	for i := range columns {
		byName[columns[i].name] = &columns[i]
	}
	return byName
}()

// schema keeps the columns in the order above, where a plain group would sort
// them by name.
var schema = func() *parquet.Schema {
	group := parquet.Group{}
	for _, c := range columns {
		group[c.name] = c.node
	}
	root := ordered{Group: group}
	byName := map[string]parquet.Field{}
	for _, f := range group.Fields() {
		byName[f.Name()] = f
	}
	for _, c := range columns {
		root.fields = append(root.fields, byName[c.name])
	}
	return parquet.NewSchema("row", root)
}()

type ordered struct {
	parquet.Group
	fields []parquet.Field
}

func (o ordered) Fields() []parquet.Field { return o.fields }

func (o ordered) GoType() reflect.Type { return o.Group.GoType() }

// valid is text as Parquet and those who read it want it.
func valid(s string) []byte { return []byte(strings.ToValidUTF8(s, "\uFFFD")) }

// id is a text that is always there and repeats seldom.
func id(name string, at func(*Entry) *string) column {
	return column{
		name: name,
		node: parquet.String(),
		put: func(row parquet.Row, index int, e *Entry) parquet.Row {
			return append(row, parquet.ByteArrayValue(valid(*at(e))).Level(0, 0, index))
		},
		get: func(e *Entry, v parquet.Value) { *at(e) = string(v.ByteArray()) },
	}
}

// text is a text of many values.
func text[T ~string](name string, at func(*Entry) *T) column {
	return column{
		name: name,
		node: parquet.Optional(parquet.String()),
		put: func(row parquet.Row, index int, e *Entry) parquet.Row {
			s := *at(e)
			if s == "" {
				return append(row, parquet.NullValue().Level(0, 0, index))
			}
			return append(row, parquet.ByteArrayValue(valid(string(s))).Level(0, 1, index))
		},
		get: func(e *Entry, v parquet.Value) { *at(e) = T(v.ByteArray()) },
	}
}

// word is a text of few values, which share a dictionary.
func word[T ~string](name string, at func(*Entry) *T) column {
	c := text(name, at)
	c.node = parquet.Optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary))
	return c
}

func words(name string, at func(*Entry) *[]string) column {
	return column{
		name: name,
		node: parquet.List(parquet.Encoded(parquet.String(), &parquet.RLEDictionary)),
		put: func(row parquet.Row, index int, e *Entry) parquet.Row {
			list := *at(e)
			if len(list) == 0 {
				return append(row, parquet.NullValue().Level(0, 0, index))
			}
			for i, s := range list {
				// All but the first repeat the list.
				row = append(row, parquet.ByteArrayValue(valid(s)).Level(min(i, 1), 1, index))
			}
			return row
		},
		get: func(e *Entry, v parquet.Value) { *at(e) = append(*at(e), string(v.ByteArray())) },
	}
}

// moment is an RFC 3339 time, of which the index keeps microseconds. What is no
// time is NULL.
func moment(name string, at func(*Entry) *string) column {
	return column{
		name: name,
		node: parquet.Optional(parquet.Timestamp(parquet.Microsecond)),
		put: func(row parquet.Row, index int, e *Entry) parquet.Row {
			t, err := time.Parse(time.RFC3339Nano, *at(e))
			if err != nil {
				return append(row, parquet.NullValue().Level(0, 0, index))
			}
			return append(row, parquet.Int64Value(t.UnixMicro()).Level(0, 1, index))
		},
		get: func(e *Entry, v parquet.Value) {
			*at(e) = time.UnixMicro(v.Int64()).UTC().Format(time.RFC3339Nano)
		},
	}
}

func count[T int | int64](name string, at func(*Entry) *T) column {
	return column{
		name: name,
		node: parquet.Int(64),
		put: func(row parquet.Row, index int, e *Entry) parquet.Row {
			return append(row, parquet.Int64Value(int64(*at(e))).Level(0, 0, index))
		},
		get: func(e *Entry, v parquet.Value) { *at(e) = T(v.Int64()) },
	}
}

func flag(name string, at func(*Entry) *bool) column {
	return column{
		name: name,
		node: parquet.Leaf(parquet.BooleanType),
		put: func(row parquet.Row, index int, e *Entry) parquet.Row {
			return append(row, parquet.BooleanValue(*at(e)).Level(0, 0, index))
		},
		get: func(e *Entry, v parquet.Value) { *at(e) = v.Boolean() },
	}
}

func number(name string, at func(*Entry) *float64) column {
	return column{
		name: name,
		node: parquet.Leaf(parquet.DoubleType),
		put: func(row parquet.Row, index int, e *Entry) parquet.Row {
			return append(row, parquet.DoubleValue(finite(*at(e))).Level(0, 0, index))
		},
		get: func(e *Entry, v parquet.Value) { *at(e) = v.Double() },
	}
}

// cost is NULL when it is not known, and may well be 0.
var cost = column{
	name: "cost",
	node: parquet.Optional(parquet.Leaf(parquet.DoubleType)),
	put: func(row parquet.Row, index int, e *Entry) parquet.Row {
		if e.Cost == nil || *e.Cost != finite(*e.Cost) {
			return append(row, parquet.NullValue().Level(0, 0, index))
		}
		return append(row, parquet.DoubleValue(*e.Cost).Level(0, 1, index))
	},
	get: func(e *Entry, v parquet.Value) {
		n := v.Double()
		e.Cost = &n
	},
}

// complete is NULL when it is not known.
var complete = column{
	name: "complete",
	node: parquet.Optional(parquet.Leaf(parquet.BooleanType)),
	put: func(row parquet.Row, index int, e *Entry) parquet.Row {
		if e.Complete == nil {
			return append(row, parquet.NullValue().Level(0, 0, index))
		}
		return append(row, parquet.BooleanValue(*e.Complete).Level(0, 1, index))
	},
	get: func(e *Entry, v parquet.Value) {
		is := v.Boolean()
		e.Complete = &is
	},
}

// finite is 0 for what is no number: sums over a column stay sums.
func finite(n float64) float64 {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return 0
	}
	return n
}
