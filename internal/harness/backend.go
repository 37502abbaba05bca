package harness

import (
	"compress/gzip"
	"io"
	"iter"
	"maps"
	"net/http"
	"sync"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// Spans counts spans by what they are: each as OTLP protobuf, alone in its resource and
// scope. Two collections with the same counts are the same to the byte of every value,
// whatever requests they came in.
type Spans map[string]int

// Add counts the spans of td.
func (s Spans) Add(td ptrace.Traces) error {
	for _, one := range Alone(td) {
		text, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(one)
		if err != nil {
			return err
		}
		s[string(text)]++
	}
	return nil
}

// Alone gives each span of td, with a trace of it alone in its resource and scope.
func Alone(td ptrace.Traces) iter.Seq2[ptrace.Span, ptrace.Traces] {
	return func(yield func(ptrace.Span, ptrace.Traces) bool) {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					one := ptrace.NewTraces()
					to := one.ResourceSpans().AppendEmpty()
					rs.Resource().CopyTo(to.Resource())
					to.SetSchemaUrl(rs.SchemaUrl())
					scope := to.ScopeSpans().AppendEmpty()
					ss.Scope().CopyTo(scope.Scope())
					scope.SetSchemaUrl(ss.SchemaUrl())
					span.CopyTo(scope.Spans().AppendEmpty())
					if !yield(span, one) {
						return
					}
				}
			}
		}
	}
}

// Traces gives each span once, in no order.
func (s Spans) Traces() (ptrace.Traces, error) {
	out := ptrace.NewTraces()
	for text := range s {
		td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces([]byte(text))
		if err != nil {
			return out, err
		}
		td.ResourceSpans().MoveAndAppendTo(out.ResourceSpans())
	}
	return out, nil
}

// Backend is a tracing backend as far as OTLP protobuf over HTTP goes. It is safe for
// concurrent use, and its zero value is ready.
type Backend struct {
	mu    sync.Mutex
	spans Spans
}

// Received is what it has taken so far.
func (b *Backend) Received() Spans {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.spans)
}

// ServeHTTP takes one request, which may be compressed with gzip.
func (b *Backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := b.take(r); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func (b *Backend) take(r *http.Request) error {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		var err error
		if body, err = gzip.NewReader(body); err != nil {
			return err
		}
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	req := ptraceotlp.NewExportRequest()
	if err := req.UnmarshalProto(text); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.spans == nil {
		b.spans = Spans{}
	}
	return b.spans.Add(req.Traces())
}
