package attr

import (
	"strings"

	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// PutRow writes the row's members as tape.run.* attributes, within the bounds of
// [Clip]. Members at their zero value are left out, and members of an earlier row
// are removed, so that what RowFrom reads back is this row alone.
func PutRow(m pcommon.Map, row tape.Row) {
	m.RemoveIf(func(name string, _ pcommon.Value) bool {
		return strings.HasPrefix(name, RunPrefix)
	})
	row = Clip(row)
	for _, f := range fields {
		f.put(m, RunPrefix+f.name, &row)
	}
}

// RowFrom reads a row that PutRow wrote. It reports false when there is none,
// which is when the row's outcome is absent. Members of an unexpected type are
// ignored and long ones are cut: attributes come from outside.
func RowFrom(m pcommon.Map) (tape.Row, bool) {
	if v, ok := m.Get(RunPrefix + "outcome"); !ok || v.Type() != pcommon.ValueTypeStr || v.Str() == "" {
		return tape.Row{}, false
	}
	var row tape.Row
	for name, v := range m.All() {
		if member, ok := strings.CutPrefix(name, RunPrefix); ok {
			if f, ok := fieldByName[member]; ok {
				f.get(v, &row)
			}
		}
	}
	return Clip(row), true
}

// field carries one member of a row to and from an attribute.
type field struct {
	name string
	put  func(m pcommon.Map, name string, row *tape.Row)
	get  func(v pcommon.Value, row *tape.Row)
}

// fields has every member of tape.Row by its JSON name; a test proves that
// none is missing.
var fields = []field{
	text("trace_id", func(r *tape.Row) *string { return &r.TraceID }),
	text("conversation_id", func(r *tape.Row) *string { return &r.ConversationID }),
	text("service", func(r *tape.Row) *string { return &r.Service }),
	text("agent", func(r *tape.Row) *string { return &r.Agent }),
	text("environment", func(r *tape.Row) *string { return &r.Environment }),
	text("agent_version", func(r *tape.Row) *string { return &r.AgentVersion }),
	text("code_version", func(r *tape.Row) *string { return &r.CodeVersion }),
	text("tenant", func(r *tape.Row) *string { return &r.Tenant }),
	text("outcome", func(r *tape.Row) *tape.Outcome { return &r.Outcome }),
	text("trigger", func(r *tape.Row) *tape.Trigger { return &r.Trigger }),
	text("kept_because", func(r *tape.Row) *tape.Reason { return &r.KeptBecause }),
	text("failure_class", func(r *tape.Row) *string { return &r.FailureClass }),
	text("failure_reason", func(r *tape.Row) *string { return &r.FailureReason }),
	text("failing_tool", func(r *tape.Row) *string { return &r.FailingTool }),
	texts("tools", func(r *tape.Row) *[]string { return &r.Tools }),
	texts("models", func(r *tape.Row) *[]string { return &r.Models }),
	count("steps", func(r *tape.Row) *int { return &r.Steps }),
	count("spans", func(r *tape.Row) *int { return &r.Spans }),
	count("truncated_spans", func(r *tape.Row) *int { return &r.TruncatedSpans }),
	count("tool_calls", func(r *tape.Row) *int { return &r.ToolCalls }),
	count("model_calls", func(r *tape.Row) *int { return &r.ModelCalls }),
	count("failed_calls", func(r *tape.Row) *int { return &r.FailedCalls }),
	count("input_tokens", func(r *tape.Row) *int64 { return &r.InputTokens }),
	count("output_tokens", func(r *tape.Row) *int64 { return &r.OutputTokens }),
	cost,
	text("start", func(r *tape.Row) *string { return &r.Start }),
	durationMS,
	count("bytes", func(r *tape.Row) *int64 { return &r.Bytes }),
	text("fidelity", func(r *tape.Row) *tape.Fidelity { return &r.Fidelity }),
	complete,
	kept,
	text("class", func(r *tape.Row) *string { return &r.Class }),
	text("decided", func(r *tape.Row) *string { return &r.Decided }),
}

var fieldByName = func() map[string]field {
	byName := make(map[string]field, len(fields))
	for _, f := range fields {
		byName[f.name] = f
	}
	return byName
}()

// cost is written also when it is 0, because nil means unknown.
var cost = field{
	name: "cost",
	put: func(m pcommon.Map, name string, row *tape.Row) {
		if row.Cost != nil {
			m.PutDouble(name, *row.Cost)
		}
	},
	get: func(v pcommon.Value, row *tape.Row) {
		if n, ok := number(v); ok {
			row.Cost = &n
		}
	},
}

var durationMS = field{
	name: "duration_ms",
	put: func(m pcommon.Map, name string, row *tape.Row) {
		if row.DurationMS != 0 {
			m.PutDouble(name, row.DurationMS)
		}
	},
	get: func(v pcommon.Value, row *tape.Row) {
		if n, ok := number(v); ok {
			row.DurationMS = n
		}
	},
}

// complete is written also when it is false, because nil means unknown.
var complete = field{
	name: "complete",
	put: func(m pcommon.Map, name string, row *tape.Row) {
		if row.Complete != nil {
			m.PutBool(name, *row.Complete)
		}
	},
	get: func(v pcommon.Value, row *tape.Row) {
		if v.Type() == pcommon.ValueTypeBool {
			is := v.Bool()
			row.Complete = &is
		}
	},
}

var kept = field{
	name: "kept",
	put: func(m pcommon.Map, name string, row *tape.Row) {
		if row.Kept {
			m.PutBool(name, true)
		}
	},
	get: func(v pcommon.Value, row *tape.Row) {
		row.Kept = v.Type() == pcommon.ValueTypeBool && v.Bool()
	},
}

func text[T ~string](name string, at func(*tape.Row) *T) field {
	return field{
		name: name,
		put: func(m pcommon.Map, name string, row *tape.Row) {
			if s := *at(row); s != "" {
				m.PutStr(name, string(s))
			}
		},
		get: func(v pcommon.Value, row *tape.Row) {
			if v.Type() == pcommon.ValueTypeStr {
				*at(row) = T(v.Str())
			}
		},
	}
}

func texts(name string, at func(*tape.Row) *[]string) field {
	return field{
		name: name,
		put: func(m pcommon.Map, name string, row *tape.Row) {
			list := *at(row)
			if len(list) == 0 {
				return
			}
			slice := m.PutEmptySlice(name)
			slice.EnsureCapacity(len(list))
			for _, s := range list {
				slice.AppendEmpty().SetStr(s)
			}
		},
		get: func(v pcommon.Value, row *tape.Row) {
			if v.Type() != pcommon.ValueTypeSlice {
				return
			}
			var list []string
			for _, e := range v.Slice().All() {
				if e.Type() == pcommon.ValueTypeStr {
					list = append(list, e.Str())
				}
			}
			*at(row) = list
		},
	}
}

func count[T int | int64](name string, at func(*tape.Row) *T) field {
	return field{
		name: name,
		put: func(m pcommon.Map, name string, row *tape.Row) {
			if n := *at(row); n != 0 {
				m.PutInt(name, int64(n))
			}
		},
		get: func(v pcommon.Value, row *tape.Row) {
			if v.Type() == pcommon.ValueTypeInt {
				*at(row) = T(v.Int())
			}
		},
	}
}

// number accepts integers too: a hop through JSON may drop the fraction.
func number(v pcommon.Value) (float64, bool) {
	switch v.Type() {
	case pcommon.ValueTypeDouble:
		return v.Double(), true
	case pcommon.ValueTypeInt:
		return float64(v.Int()), true
	default:
		return 0, false
	}
}
