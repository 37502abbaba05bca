package otlpfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// langfuseTrace is a trace with its observations, as the API and the user
// interface of Langfuse give it. The attributes are those that the Langfuse SDK
// would have sent. Ids that are no OpenTelemetry ids are derived; see namedID.
type langfuseTrace struct{}

func (langfuseTrace) claims(members []string) bool { return slices.Contains(members, "observations") }

// langfuseObservation is one observation, a line of its own: from the API or,
// with underscores, from an export into a bucket.
type langfuseObservation struct{}

func (langfuseObservation) claims(members []string) bool {
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(members, n) })
	}
	return has("id") && has("traceId", "trace_id") && has("startTime", "start_time") &&
		has("parentObservationId", "parent_observation_id", "statusMessage", "status_message", "completionStartTime", "completion_start_time")
}

type langfuseTraceJSON struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	SessionID   string          `json:"sessionId"`
	UserID      string          `json:"userId"`
	Release     string          `json:"release"`
	Version     string          `json:"version"`
	Environment string          `json:"environment"`
	Metadata    json.RawMessage `json:"metadata"`
	Tags        json.RawMessage `json:"tags"`
}

type langfuseJSON struct {
	ID              string          `json:"id"`
	TraceID         string          `json:"traceId"`
	ParentID        string          `json:"parentObservationId"`
	Type            string          `json:"type"`
	Name            string          `json:"name"`
	Start           json.RawMessage `json:"startTime"`
	End             json.RawMessage `json:"endTime"`
	Level           string          `json:"level"`
	StatusMessage   string          `json:"statusMessage"`
	Input           json.RawMessage `json:"input"`
	Output          json.RawMessage `json:"output"`
	Metadata        json.RawMessage `json:"metadata"`
	Model           string          `json:"model"`
	ProvidedModel   string          `json:"providedModelName"`
	ModelParameters json.RawMessage `json:"modelParameters"`
	Usage           json.RawMessage `json:"usage"`
	UsageDetails    json.RawMessage `json:"usageDetails"`
	CostDetails     json.RawMessage `json:"costDetails"`
	PromptName      string          `json:"promptName"`
	PromptVersion   json.RawMessage `json:"promptVersion"`
	Version         string          `json:"version"`
	Environment     string          `json:"environment"`
	SessionID       string          `json:"sessionId"`
	UserID          string          `json:"userId"`
}

func (langfuseTrace) decode(doc []byte) (*Document, error) {
	members := objectMembers(doc)
	about, where := doc, ""
	if inner := members["trace"]; given(inner) {
		about, where = inner, "trace"
	}
	var t langfuseTraceJSON
	if err := read(about, &t); err != nil {
		return nil, in(where, err)
	}
	d := newDocument("Langfuse trace")
	err := elements("observations", members["observations"], func(raw json.RawMessage) error {
		if raw[0] == '"' {
			return errors.New("only the ids of the observations are here: fetch the trace by its id")
		}
		o, err := readObservation(raw)
		if err != nil {
			return err
		}
		if o.TraceID == "" {
			o.TraceID = t.ID
		}
		return d.putObservation(o, &t)
	})
	if err != nil {
		return nil, err
	}
	if d.Traces.SpanCount() == 0 {
		return nil, fmt.Errorf("%w: a Langfuse trace without observations", ErrFormat)
	}
	return d, nil
}

func (langfuseObservation) decode(doc []byte) (*Document, error) {
	o, err := readObservation(doc)
	if err != nil {
		return nil, err
	}
	d := newDocument("Langfuse observation")
	return d, d.putObservation(o, &langfuseTraceJSON{})
}

// readObservation reads both spellings of the members.
func readObservation(raw json.RawMessage) (*langfuseJSON, error) {
	if raw[0] != '{' {
		return nil, fmt.Errorf("want an object, found %s", describe(raw[0]))
	}
	camel := []byte{'{'}
	c := cursor{b: raw}
	for name := range c.object() {
		if len(camel) > 1 {
			camel = append(camel, ',')
		}
		// The name is valid JSON, and so is it without underscores.
		quoted, _ := json.Marshal(strings.ReplaceAll(string(name), "_", ""))
		camel = append(append(camel, quoted...), ':')
		camel = append(camel, c.raw()...)
	}
	var o langfuseJSON
	return &o, read(append(camel, '}'), &o)
}

// langfuseOrigin is what Langfuse keeps of a span that came as OTLP.
type langfuseOrigin struct {
	Attributes, Resource json.RawMessage
	Scope                scopeJSON
}

func (d *Document) putObservation(o *langfuseJSON, t *langfuseTraceJSON) error {
	resource, scope := d.newScope()
	scope.Scope().SetName("langfuse-sdk")
	span := scope.Spans().AppendEmpty()
	a := span.Attributes()
	if from := originOf(o.Metadata); from != nil {
		if err := errors.Join(putAttributes(resource.Attributes(), from.Resource), putAttributes(a, from.Attributes)); err != nil {
			return in("metadata", err)
		}
		if from.Scope.Name != "" {
			scope.Scope().SetName(from.Scope.Name)
			scope.Scope().SetVersion(from.Scope.Version)
		}
	}
	if o.Environment == "" {
		o.Environment = t.Environment
	}
	if o.Environment != "default" {
		putNew(resource.Attributes(), "deployment.environment.name", o.Environment)
	}
	putNew(resource.Attributes(), "langfuse.release", t.Release)
	if err := o.putIDs(span); err != nil {
		return err
	}
	if err := times(span, o.Start, o.End, "startTime", "endTime"); err != nil {
		return err
	}
	if strings.EqualFold(o.Type, "event") && span.EndTimestamp() == 0 {
		span.SetEndTimestamp(span.StartTimestamp())
	}
	span.SetName(o.Name)
	if o.Level == "ERROR" {
		setStatus(span, o.Level, o.StatusMessage)
	}
	o.putAttributes(a)
	t.putAttributes(a, o)
	return nil
}

// originOf is the span that Langfuse received, if it came as OTLP. Exports write
// the members of the metadata, or all of it, as objects or as text.
func originOf(metadata json.RawMessage) *langfuseOrigin {
	metadata = untext(metadata)
	if !given(metadata) || metadata[0] != '{' {
		return nil
	}
	members := objectMembers(metadata)
	from := langfuseOrigin{Attributes: untext(members["attributes"]), Resource: untext(members["resourceAttributes"])}
	// Anything else in the metadata is the user's own.
	if !given(from.Attributes) || from.Attributes[0] != '{' || given(from.Resource) && from.Resource[0] != '{' {
		return nil
	}
	if scope := untext(members["scope"]); given(scope) && read(scope, &from.Scope) != nil {
		return nil
	}
	return &from
}

// untext is the JSON in a text, or the value itself where there is none.
func untext(raw json.RawMessage) json.RawMessage {
	if !given(raw) || raw[0] != '"' {
		return raw
	}
	inner := []byte(strings.TrimSpace(text(raw)))
	if !json.Valid(inner) {
		return raw
	}
	return inner
}

// putIDs keeps the ids that Langfuse knows beside those that had to be derived.
func (o *langfuseJSON) putIDs(span ptrace.Span) error {
	var traceID pcommon.TraceID
	var spanID, parentID pcommon.SpanID
	switch {
	case o.TraceID == "":
		return errors.New("an observation without traceId")
	case o.ID == "":
		return errors.New("an observation without id")
	}
	if namedID(o.TraceID, traceID[:]) {
		span.Attributes().PutStr("langfuse.trace.id", o.TraceID)
	}
	if namedID(o.ID, spanID[:]) {
		span.Attributes().PutStr("langfuse.observation.id", o.ID)
	}
	span.SetTraceID(traceID)
	span.SetSpanID(spanID)
	// The trace itself is the parent of what has none.
	if o.ParentID != "" && o.ParentID != o.TraceID {
		namedID(o.ParentID, parentID[:])
		span.SetParentSpanID(parentID)
	}
	return nil
}

func (o *langfuseJSON) putAttributes(a pcommon.Map) {
	putNew(a, "langfuse.observation.type", strings.ToLower(o.Type))
	putNew(a, "langfuse.observation.level", o.Level)
	putNew(a, "langfuse.observation.status_message", o.StatusMessage)
	putNew(a, "langfuse.observation.model.name", firstGiven(o.ProvidedModel, o.Model))
	putNew(a, "langfuse.observation.prompt.name", o.PromptName)
	putNew(a, "langfuse.version", o.Version)
	usage := o.UsageDetails
	if !given(usage) || string(usage) == "{}" {
		usage = o.Usage
	}
	for _, m := range []struct {
		key string
		raw json.RawMessage
	}{
		{"langfuse.observation.input", o.Input},
		{"langfuse.observation.output", o.Output},
		{"langfuse.observation.model.parameters", o.ModelParameters},
		{"langfuse.observation.usage_details", usage},
		{"langfuse.observation.cost_details", o.CostDetails},
		{"langfuse.observation.prompt.version", o.PromptVersion},
		{"langfuse.observation.metadata", o.Metadata},
	} {
		if _, known := a.Get(m.key); !known && (m.key != "langfuse.observation.metadata" || originOf(m.raw) == nil) {
			putJSON(a, m.key, m.raw)
		}
	}
}

func (t *langfuseTraceJSON) putAttributes(a pcommon.Map, o *langfuseJSON) {
	putNew(a, "session.id", firstGiven(t.SessionID, o.SessionID))
	putNew(a, "user.id", firstGiven(t.UserID, o.UserID))
	putNew(a, "langfuse.trace.name", t.Name)
	putNew(a, "langfuse.version", t.Version)
	if originOf(t.Metadata) == nil && string(t.Metadata) != "{}" {
		putJSON(a, "langfuse.trace.metadata", t.Metadata)
	}
	if string(t.Tags) != "[]" {
		putJSON(a, "langfuse.trace.tags", t.Tags)
	}
}

// putNew sets an attribute that is not there yet.
func putNew(to pcommon.Map, key, value string) {
	if _, known := to.Get(key); !known {
		putText(to, key, value)
	}
}

func firstGiven(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
