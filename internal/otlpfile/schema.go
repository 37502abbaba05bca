package otlpfile

import "fmt"

// kind is how a field is written, in JSON and on the wire.
type kind uint8

const (
	kindMessage kind = iota
	kindString
	kindBytes
	kindTraceID
	kindSpanID
	kindUint32
	kindInt32
	kindInt64
	kindFixed64
	kindFixed32
	kindDouble
	kindBool
	kindEnum
)

// field is one field of a message, as the OTLP definitions have it.
type field struct {
	num      int
	name     string
	kind     kind
	repeated bool
	message  *message
	enum     map[string]int
	// renames is the member to write in place of an old spelling.
	renames string
	// need is the bit of this field among those that its message needs.
	need uint
}

// message is one OTLP message: what its members are called and hold.
type message struct {
	name   string
	fields []*field
	// needs lists the fields without which the message means nothing.
	needs []string

	byName map[string]*field
	byNum  map[int]*field
}

func msg(name string, fields ...*field) *message {
	m := &message{name: name}
	m.add(fields...)
	return m
}

func (m *message) add(fields ...*field) {
	if m.byName == nil {
		m.byName, m.byNum = map[string]*field{}, map[int]*field{}
	}
	m.fields = append(m.fields, fields...)
	for _, f := range fields {
		m.byName[f.name] = f
		m.byName[snake(f.name)] = f
		if f.renames == "" {
			m.byNum[f.num] = f
		}
	}
}

func (m *message) need(names ...string) *message {
	m.needs = names
	for i, n := range names {
		m.byName[n].need = 1 << i
	}
	return m
}

// checkNeeds reports the first needed field whose bit is not set.
func (m *message) checkNeeds(seen uint) error {
	for i, n := range m.needs {
		if seen&(1<<i) == 0 {
			return fmt.Errorf("a %s without %s", m.name, n)
		}
	}
	return nil
}

func one(num int, name string, k kind) *field { return &field{num: num, name: name, kind: k} }
func sub(num int, name string, m *message) *field {
	return &field{num: num, name: name, message: m}
}
func many(num int, name string, m *message) *field {
	return &field{num: num, name: name, message: m, repeated: true}
}
func enum(num int, name string, values map[string]int) *field {
	return &field{num: num, name: name, kind: kindEnum, enum: values}
}

// was keeps reading the spelling of OTLP before 0.15, in JSON.
func was(old string, f *field) *field {
	g := *f
	g.renames, g.name = f.name, old
	return &g
}

// tracesMessage and logsMessage are the two documents this package reads.
var tracesMessage, logsMessage = schema()

// schema spells out the part of OTLP that traces and logs use.
func schema() (traces, logs *message) {
	anyValue := msg("AnyValue",
		one(1, "stringValue", kindString), one(2, "boolValue", kindBool), one(3, "intValue", kindInt64),
		one(4, "doubleValue", kindDouble), one(7, "bytesValue", kindBytes))
	keyValue := msg("KeyValue", one(1, "key", kindString), sub(2, "value", anyValue))
	anyValue.add(
		sub(5, "arrayValue", msg("ArrayValue", many(1, "values", anyValue))),
		sub(6, "kvlistValue", msg("KeyValueList", many(1, "values", keyValue))))

	attributes := func(num int) *field { return many(num, "attributes", keyValue) }
	dropped := func(num int, name string) *field { return one(num, name, kindUint32) }

	entityRef := msg("EntityRef", one(1, "schemaUrl", kindString), one(2, "type", kindString),
		&field{num: 3, name: "idKeys", kind: kindString, repeated: true},
		&field{num: 4, name: "descriptionKeys", kind: kindString, repeated: true})
	resource := msg("Resource", attributes(1), dropped(2, "droppedAttributesCount"), many(3, "entityRefs", entityRef))
	scope := msg("InstrumentationScope", one(1, "name", kindString), one(2, "version", kindString),
		attributes(3), dropped(4, "droppedAttributesCount"))

	event := msg("Event", one(1, "timeUnixNano", kindFixed64), one(2, "name", kindString),
		attributes(3), dropped(4, "droppedAttributesCount"))
	link := msg("Link", one(1, "traceId", kindTraceID), one(2, "spanId", kindSpanID), one(3, "traceState", kindString),
		attributes(4), dropped(5, "droppedAttributesCount"), one(6, "flags", kindFixed32))
	status := msg("Status", one(2, "message", kindString), enum(3, "code", statusCodes))
	span := msg("Span", one(1, "traceId", kindTraceID), one(2, "spanId", kindSpanID), one(3, "traceState", kindString),
		one(4, "parentSpanId", kindSpanID), one(16, "flags", kindFixed32), one(5, "name", kindString),
		enum(6, "kind", spanKinds), one(7, "startTimeUnixNano", kindFixed64), one(8, "endTimeUnixNano", kindFixed64),
		attributes(9), dropped(10, "droppedAttributesCount"), many(11, "events", event), dropped(12, "droppedEventsCount"),
		many(13, "links", link), dropped(14, "droppedLinksCount"), sub(15, "status", status)).need("traceId", "spanId")
	record := msg("LogRecord", one(1, "timeUnixNano", kindFixed64), one(11, "observedTimeUnixNano", kindFixed64),
		enum(2, "severityNumber", severities), one(3, "severityText", kindString), sub(5, "body", anyValue),
		attributes(6), dropped(7, "droppedAttributesCount"), one(8, "flags", kindFixed32),
		one(9, "traceId", kindTraceID), one(10, "spanId", kindSpanID), one(12, "eventName", kindString))

	scopeField := sub(1, "scope", scope)
	scoped := func(name string, items, old *field) *message {
		m := msg(name, scopeField, items, one(3, "schemaUrl", kindString), was("instrumentationLibrary", scopeField))
		if old != nil {
			m.add(old)
		}
		return m
	}
	records := many(2, "logRecords", record)
	scopeSpans := many(2, "scopeSpans", scoped("ScopeSpans", many(2, "spans", span), nil))
	scopeLogs := many(2, "scopeLogs", scoped("ScopeLogs", records, was("logs", records)))
	top := func(name, item, member string, items *field) *message {
		return msg(name, many(1, member, msg(item, sub(1, "resource", resource), items, one(3, "schemaUrl", kindString),
			was("instrumentationLibrary"+items.name[len("scope"):], items))))
	}
	return top("TracesData", "ResourceSpans", "resourceSpans", scopeSpans), top("LogsData", "ResourceLogs", "resourceLogs", scopeLogs)
}

var spanKinds = names("SPAN_KIND_", "UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")

var statusCodes = names("STATUS_CODE_", "UNSET", "OK", "ERROR")

var severities = names("SEVERITY_NUMBER_", "UNSPECIFIED",
	"TRACE", "TRACE2", "TRACE3", "TRACE4", "DEBUG", "DEBUG2", "DEBUG3", "DEBUG4",
	"INFO", "INFO2", "INFO3", "INFO4", "WARN", "WARN2", "WARN3", "WARN4",
	"ERROR", "ERROR2", "ERROR3", "ERROR4", "FATAL", "FATAL2", "FATAL3", "FATAL4")

// names numbers the values of an enum, with and without their prefix.
func names(prefix string, values ...string) map[string]int {
	m := make(map[string]int, 2*len(values))
	for i, v := range values {
		m[prefix+v], m[v] = i, i
	}
	return m
}

// snake spells a camel-case member the way the definitions do.
func snake(name string) string {
	out := make([]byte, 0, len(name)+4)
	for i := range len(name) {
		if c := name[i]; c >= 'A' && c <= 'Z' {
			out = append(out, '_', c+'a'-'A')
		} else {
			out = append(out, c)
		}
	}
	return string(out)
}
