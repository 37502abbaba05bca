package load

import "time"

// epoch is when the first run began: times are part of a load and the same load
// is made again and again.
var epoch = uint64(time.Date(2026, time.May, 4, 10, 0, 0, 0, time.UTC).UnixNano())

// origin is what the spans of one run share.
type origin struct {
	trace   [16]byte
	root    [8]byte
	service string
	agent   string
	// began is when the run did; now moves on with every span that is written.
	began, now uint64
}

var agents = []string{"planner", "researcher", "coder", "reviewer", "support", "booking", "triage", "analyst", "writer", "operator"}

func newOrigin(d *draw, run int) origin {
	agent := agents[run%len(agents)]
	began := epoch + uint64(run)*uint64(time.Second)
	o := origin{service: agent + "-service", agent: agent, began: began, now: began}
	d.id(o.trace[:])
	d.id(o.root[:])
	return o
}

// export appends a resource with spans, as one exporter sends it.
func (o *origin) export(dst []byte, spans func([]byte) []byte) []byte {
	return message(dst, requestResourceSpans, func(dst []byte) []byte {
		dst = message(dst, resourceSpansRes, func(dst []byte) []byte {
			dst = stringAttr(dst, resourceAttributes, "service.name", o.service)
			dst = stringAttr(dst, resourceAttributes, "service.version", "1.4.2")
			dst = stringAttr(dst, resourceAttributes, "deployment.environment.name", "bench")
			return stringAttr(dst, resourceAttributes, "telemetry.sdk.language", "python")
		})
		return message(dst, resourceSpansScopes, func(dst []byte) []byte {
			dst = message(dst, scopeSpansScope, func(dst []byte) []byte {
				return bytesField(bytesField(dst, scopeName, "opentelemetry.instrumentation.agents"), scopeVersion, "0.9.0")
			})
			return spans(dst)
		})
	})
}

// span appends one span of the run. Without parent it is the root. It takes until
// now, and now moves on by its duration.
func (o *origin) span(dst []byte, d *draw, root bool, kind uint64, name, failed string, attrs func([]byte) []byte) []byte {
	return message(dst, scopeSpansSpans, func(dst []byte) []byte { return o.spanBody(dst, d, root, kind, name, failed, attrs) })
}

func (o *origin) spanBody(dst []byte, d *draw, root bool, kind uint64, name, failed string, attrs func([]byte) []byte) []byte {
	dst = bytesField(dst, spanTraceID, o.trace[:])
	start := o.now
	o.now += uint64(50+d.IntN(5_000)) * uint64(time.Millisecond)
	if root {
		dst = bytesField(dst, spanID, o.root[:])
		start = o.began
	} else {
		var id [8]byte
		d.id(id[:])
		dst = bytesField(dst, spanID, id[:])
		dst = bytesField(dst, spanParent, o.root[:])
	}
	dst = bytesField(dst, spanName, name)
	dst = varint(dst, spanKind, kind)
	dst = fixed64(dst, spanStart, start)
	dst = fixed64(dst, spanEnd, o.now)
	dst = attrs(dst)
	if failed != "" {
		dst = message(dst, spanStatus, func(dst []byte) []byte {
			return varint(bytesField(dst, statusMessage, failed), statusCode, codeError)
		})
	}
	return dst
}

// fate is how a run ends.
type fate int

const (
	ends fate = iota
	// recovers has a tool call that fails, after which the run goes on.
	recovers
	// fails ends in a failed tool call.
	fails
)

func fateOf(run int) fate {
	switch run % 10 {
	case 3:
		return fails
	case 7:
		return recovers
	default:
		return ends
	}
}
