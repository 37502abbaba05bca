package walk

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"
)

// NodeKind says what a [Node] is.
type NodeKind uint8

// The kinds of a node.
const (
	Resource NodeKind = iota
	Scope
	Span
	LogRecord
)

// Node is one thing that has attributes of its own: a resource, a scope, a
// span or a log record. Events and links belong to their span.
type Node struct {
	Kind       NodeKind
	Attributes pcommon.Map
}

// Visitor looks at a trace or at logs while they are walked. Paths given to it
// are relative to the node entered last and valid during the call only.
type Visitor interface {
	// Enter and Leave enclose the fields of a node. A node ends before the
	// nodes below it begin.
	Enter(n Node)
	Leave(n Node)
	// Text gives what shall stand in place of a string outside of attributes.
	Text(at *Path, s string) string
	// Key gives what shall stand in place of a name in the map at that path.
	Key(at *Path, key string) string
	// Renamed is told the names of a map, old and new, of which at least one
	// differs. It may change the new ones, say to keep them apart.
	Renamed(from, to []string)
	// Value looks at an attribute value, or at a log body. It may change the
	// value, and reports whether the walk shall go on inside it.
	Value(at *Path, v pcommon.Value) bool
}

// Traces walks over td.
func Traces(td ptrace.Traces, v Visitor) {
	w := walker{v: v}
	for _, rs := range td.ResourceSpans().All() {
		w.resource(rs.Resource(), rs.SchemaUrl, rs.SetSchemaUrl)
		for _, ss := range rs.ScopeSpans().All() {
			w.scope(ss.Scope(), ss.SchemaUrl, ss.SetSchemaUrl)
			for _, s := range ss.Spans().All() {
				w.span(s)
			}
		}
	}
}

// Logs walks over ld.
func Logs(ld plog.Logs, v Visitor) {
	w := walker{v: v}
	for _, rl := range ld.ResourceLogs().All() {
		w.resource(rl.Resource(), rl.SchemaUrl, rl.SetSchemaUrl)
		for _, sl := range rl.ScopeLogs().All() {
			w.scope(sl.Scope(), sl.SchemaUrl, sl.SetSchemaUrl)
			for _, r := range sl.LogRecords().All() {
				w.record(r)
			}
		}
	}
}

type walker struct {
	v  Visitor
	at Path
}

func (w *walker) resource(r pcommon.Resource, url func() string, setURL func(string)) {
	n := Node{Resource, r.Attributes()}
	w.v.Enter(n)
	w.text("schema_url", url(), setURL)
	for i, e := range entity.ResourceEntityRefs(r).All() {
		w.at.group, w.at.index = "entity_refs", i
		w.text("schema_url", e.SchemaUrl(), e.SetSchemaUrl)
		w.text("type", e.Type(), e.SetType)
		w.texts("id_keys", e.IdKeys())
		w.texts("description_keys", e.DescriptionKeys())
		w.at.group = ""
	}
	w.attributes(r.Attributes())
	w.v.Leave(n)
}

func (w *walker) scope(s pcommon.InstrumentationScope, url func() string, setURL func(string)) {
	n := Node{Scope, s.Attributes()}
	w.v.Enter(n)
	w.text("schema_url", url(), setURL)
	w.text("name", s.Name(), s.SetName)
	w.text("version", s.Version(), s.SetVersion)
	w.attributes(s.Attributes())
	w.v.Leave(n)
}

func (w *walker) span(s ptrace.Span) {
	n := Node{Span, s.Attributes()}
	w.v.Enter(n)
	w.text("name", s.Name(), s.SetName)
	w.text("trace_state", s.TraceState().AsRaw(), s.TraceState().FromRaw)
	w.text("status.message", s.Status().Message(), s.Status().SetMessage)
	w.attributes(s.Attributes())
	for i, e := range s.Events().All() {
		w.at.group, w.at.index = "events", i
		w.text("name", e.Name(), e.SetName)
		w.attributes(e.Attributes())
	}
	for i, l := range s.Links().All() {
		w.at.group, w.at.index = "links", i
		w.text("trace_state", l.TraceState().AsRaw(), l.TraceState().FromRaw)
		w.attributes(l.Attributes())
	}
	w.at.group = ""
	w.v.Leave(n)
}

func (w *walker) record(r plog.LogRecord) {
	n := Node{LogRecord, r.Attributes()}
	w.v.Enter(n)
	w.text("event_name", r.EventName(), r.SetEventName)
	w.text("severity_text", r.SeverityText(), r.SetSeverityText)
	w.at.field = "body"
	w.value(r.Body())
	w.attributes(r.Attributes())
	w.v.Leave(n)
}
