package dialect

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// LogDialect is a dialect in which a log record may stand for a call by
// itself: coding agents write logs whether or not their traces are on.
type LogDialect interface {
	Dialect
	// ReadLog reads a log record, false if it stands for no call.
	ReadLog(Log) (Call, bool)
}

var logDialects = []LogDialect{codex{}, claudeCode{}, geminiCLI{}, genAI{}}

// LogTraceID is the trace id of a run that exists in log records alone, which
// name a session and no trace: the first half of the SHA-256 of
// "tapedeck session " and the session id. The same session gives the same run,
// whenever and wherever its records are read.
func LogTraceID(session string) pcommon.TraceID {
	sum := sha256.Sum256([]byte("tapedeck session " + session))
	return pcommon.TraceID(sum[:16])
}

// joinSessions gives log records that name a session and no trace to the run
// of that session: of several the last that had begun, or else the first. A
// session without a run is one.
func joinSessions(runs []*run, sessions map[string][]Log, opts *Options) []*run {
	if len(sessions) == 0 {
		return runs
	}
	type known struct {
		*run
		start int64
	}
	bySession := map[string][]known{}
	for _, r := range runs {
		start, _ := r.span()
		for id := range r.sessions() {
			bySession[id] = append(bySession[id], known{r, start})
		}
	}
	for session, logs := range sessions {
		candidates := bySession[session]
		if len(candidates) == 0 {
			r := emptyRun(LogTraceID(session), opts)
			r.logs = logs
			runs = append(runs, r)
			continue
		}
		slices.SortFunc(candidates, func(a, b known) int {
			return cmp.Or(cmp.Compare(a.start, b.start), bytes.Compare(a.id[:], b.id[:]))
		})
		for _, l := range logs {
			at := 0
			for i := range candidates {
				if candidates[i].start <= l.Nanos {
					at = i
				}
			}
			candidates[at].logs = append(candidates[at].logs, l)
		}
	}
	return runs
}

// sessions are the ids by which a run may be named in log records.
func (r *run) sessions() map[string]bool {
	out := map[string]bool{}
	add := func(id string) {
		if id != "" {
			out[id] = true
		}
	}
	for _, n := range r.nodes {
		if n.Span != nil {
			add(n.conv)
		}
		if n.call != nil {
			add(n.call.Conversation)
		}
	}
	for i := range r.logs {
		add(r.logs[i].session())
	}
	return out
}

// addLogCalls makes calls of the log records that stand for calls of which
// there is no span, and completes those that have one. Records joined to a
// span that was read as a call have been read with it.
func (r *run) addLogCalls() {
	if len(r.logs) == 0 {
		return
	}
	slices.SortStableFunc(r.logs, func(a, b Log) int {
		return cmp.Or(compareLogs(a, b), bytes.Compare(a.Span[:], b.Span[:]), cmp.Compare(a.Name, b.Name), cmp.Compare(a.identity(), b.identity()))
	})
	r.logs = slices.CompactFunc(r.logs, sameLog)
	ix := newLogIndex(r.calls(KindTool, KindModel))
	for _, n := range r.logNodes() {
		twin := ix.twin(n)
		if twin == nil {
			r.nodes = append(r.nodes, n)
			ix.add(n)
			twin = n
		} else {
			twin.call.fill(n.call)
			if twin.fail == nil && !twin.call.OK || n.fail != nil && twin.fail != nil {
				twin.fail = twin.fail.merge(n.fail)
			}
		}
		ix.absorb(twin, n.log.event)
	}
}

// logOrigin is what is known of the log record a call was read from.
type logOrigin struct {
	// span is the span the record names, if it was not delivered.
	span pcommon.SpanID
	// event is the name of the record.
	event string
}

func (l *logOrigin) spanID() pcommon.SpanID {
	if l == nil {
		return pcommon.SpanID{}
	}
	return l.span
}

// identity is the content of a log record as text, to order what nothing else
// does.
func (l *Log) identity() string { return attrsValue(l.Attrs).JSON() + l.Body.JSON() }

// logNodes are the calls that log records stand for.
func (r *run) logNodes() []*node {
	var out []*node
	messages := map[pcommon.SpanID][]Log{}
	var order []pcommon.SpanID
	for _, l := range r.logs {
		c, ok := readLog(l)
		c.trust(r.opts)
		if !ok {
			if _, spanned := r.byID[l.Span]; !l.Span.IsEmpty() && !spanned {
				if messages[l.Span] == nil {
					order = append(order, l.Span)
				}
				messages[l.Span] = append(messages[l.Span], l)
			}
			continue
		}
		out = append(out, r.logNode(c, l, l))
	}
	for _, id := range order {
		logs := messages[id]
		c := Call{Dialect: genAIEvents{}.Name(), Kind: KindModel, Tool: "chat", Fix: genAIFix}
		if c.events(logs); len(c.Output) > 0 {
			out = append(out, r.logNode(c, logs[0], logs[len(logs)-1]))
		}
	}
	return out
}

func readLog(l Log) (Call, bool) {
	for _, d := range logDialects {
		if c, ok := d.ReadLog(l); ok {
			pick(&c.Conversation, l.session())
			return c, true
		}
	}
	return Call{}, false
}

// logNode is a call known from log records, the last of which was written when
// it ended.
func (r *run) logNode(c Call, first, last Log) *node {
	n := &node{kind: c.Kind, call: &c, log: &logOrigin{event: last.Name}, start: first.Nanos, end: last.Nanos, fail: c.Fail}
	if ms, err := strconv.ParseFloat(attrText(last.Attrs, "duration_ms"), 64); err == nil && ms > 0 && ms < 1e12 && first.Nanos == last.Nanos {
		n.start -= int64(ms * 1e6)
	}
	if on := r.byID[last.Span]; on != nil && !last.Span.IsEmpty() {
		n.on, n.near, n.root = on, on.asNear(), on.root
	} else {
		n.log.span = last.Span
	}
	return n
}

// ReadLog reads the event of the conventions that tells a whole model call.
func (genAI) ReadLog(l Log) (Call, bool) {
	if l.Name != "gen_ai.client.inference.operation.details" {
		return Call{}, false
	}
	attrs := attrsValue(l.Attrs)
	c := Call{
		Dialect: genAI{}.Name(), Kind: KindModel, Fix: genAIFix,
		Tool:  firstOf(attrs.At("gen_ai.operation.name").Str(), "chat"),
		Model: attrs.At("gen_ai.request.model").Str(), ResponseModel: attrs.At("gen_ai.response.model").Str(),
		Finish: finishReason(parsed(attrs.At("gen_ai.response.finish_reasons"))),
		Tools:  toolDefinitions(parsed(detail(l, "gen_ai.tool.definitions"))),
		Usage:  Usage{Input: tokens(attrs, "gen_ai.usage.input_tokens"), Output: tokens(attrs, "gen_ai.usage.output_tokens")},
	}
	if typ := attrs.At("error.type").Str(); typ != "" {
		c.Fail = &Failure{Type: typ, Message: attrs.At("error.message").Str(), Evidence: "log"}
	}
	c.events([]Log{l})
	return c, true
}
