package dialect

import (
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/tape"
)

// record writes a call down.
func (r *run) record(n *node, seq, done int) tape.Record {
	c := n.call
	rec := tape.Record{
		Seq: seq, Done: done, Tool: c.Tool, Kind: tape.KindTool, Dialect: c.Dialect,
		RunID: r.hexID(), ToolCallID: c.ID, SideEffect: c.SideEffect,
		Start: stamp(n.start), Model: c.Model, Clock: c.Clock,
	}
	if n.end > n.start && !n.synth {
		rec.MS = float64(n.end-n.start) / 1e6
	}
	switch {
	case n.Span != nil:
		rec.StepID = spanHex(n.SpanID())
		rec.ParentID = spanHex(n.ParentSpanID())
		if len(n.ids) > 1 {
			for _, id := range n.ids {
				rec.SpanIDs = append(rec.SpanIDs, spanHex(id))
			}
		}
	case n.asked != nil:
		rec.ParentID = spanHex(n.asked.model.spanID())
	case n.on != nil:
		rec.ParentID = spanHex(n.on.SpanID())
	default:
		rec.StepID = spanHex(n.log.spanID())
	}
	w := &written{c.Args, c.Result}
	n.written = w
	var q *modelRequest
	if n.kind == KindModel {
		rec.Kind = tape.KindModel
		rec.Model = firstOf(c.Model, c.ResponseModel)
		n.firstChunk(&rec)
		q = c.request(r.history)
		w.args, w.result = q.content(c.Request, !r.opts.Lean), c.response()
		q.set(&rec, &w.args)
	} else {
		setContent(&rec, &w.args, "args")
	}
	if n.kind == kindDraw {
		n.recordDraw(&rec)
	}
	setContent(&rec, &w.result, "result")
	rec.ArgsRaw = w.args.Raw
	if !c.Validated.IsNull() {
		rec.ArgsValidated = []byte(c.Validated.JSON())
	}
	ctx := r.contextOf(n)
	rec.CallerContext, rec.PromptVersion = ctx.callerJSON(), ctx.prompt
	r.ownFields(n, &rec)
	r.expires(n, &rec)
	if n.fail != nil {
		rec.Error = &tape.Error{Code: n.fail.Code, Message: n.fail.text(), Type: n.fail.Type}
	}
	rec.Fidelity = n.fidelity(len(rec.Redacted) > 0)
	if n.Span != nil {
		rec.Redacted = append(rec.Redacted, markedPaths(n.Span, w.args, w.result, rec.Redacted)...)
		if len(rec.Redacted) > 0 && (rec.Fidelity == tape.FidelityExact || rec.Fidelity == tape.FidelityRebuilt) {
			rec.Fidelity = tape.FidelityRedacted
		}
	}
	switch {
	case w.args.Body != nil:
		// Only an earlier pass, which saw the arguments, knows the key.
		if n.Span != nil && strings.HasPrefix(n.Str("tape.key"), rec.Tool+":") {
			rec.Key = n.Str("tape.key")
		}
	case n.kind == KindModel:
		if sum, err := q.sum(); err == nil {
			rec.Key, rec.ArgsHash = tape.KeyOfSum(rec.Tool, sum)
		}
	default:
		// Key and hash fail only on text that is no JSON, which Args never is.
		rec.Key, rec.ArgsHash, _ = tape.KeyAndHash(rec.Tool, orNull(rec.Args))
	}
	if n.kind == KindModel && r.opts.Lean {
		// What is not kept is written again when it is asked for.
		rec.Args, rec.Result = nil, nil
		rec.Redacted = slices.DeleteFunc(rec.Redacted, func(path string) bool { return strings.HasPrefix(path, "args.") })
		w.result.text = nil
		return rec
	}
	c.Input, c.Output, c.talk = nil, nil, nil
	return rec
}

// hexID is the id of the trace, written once for all records.
func (r *run) hexID() string {
	if r.hex == "" {
		r.hex = hex.EncodeToString(r.id[:])
	}
	return r.hex
}

func orNull(raw []byte) []byte {
	if raw == nil {
		return []byte("null")
	}
	return raw
}

func setContent(rec *tape.Record, c *Content, of string) {
	if c.Body != nil {
		body := *c.Body
		if of == "args" {
			body.Of = of
		}
		rec.Bodies = append(rec.Bodies, body)
		return
	}
	if !c.Present() && !c.partial {
		return
	}
	raw := c.json()
	if of == "args" {
		rec.Args = raw
	} else {
		rec.Result = raw
	}
	rec.Redacted = placeholdersIn(rec.Redacted, of, raw)
}

// response is the answer of a model call in neutral form: message or messages,
// finish_reason, model and usage, without those that are unknown.
func (c *Call) response() Content {
	out := c.Response
	if out.Body != nil {
		return out
	}
	w := objectWriter{}
	switch len(c.Output) {
	case 0:
		if c.Result.Present() {
			w.b = append(w.name("output"), c.Result.json()...)
		}
	case 1:
		w.b = c.Output[0].Append(w.name("message"))
	default:
		w.b = message.Append(w.name("messages"), c.Output)
	}
	finish := c.Finish
	if finish == "" && len(c.Output) > 0 {
		finish = c.Output[len(c.Output)-1].FinishReason
	}
	if finish != "" {
		w.b = value.AppendString(w.name("finish_reason"), finish)
	}
	if c.ResponseModel != "" {
		w.b = value.AppendString(w.name("model"), c.ResponseModel)
	}
	if u := c.Usage.value(); !u.IsNull() {
		w.b = u.Append(w.name("usage"))
	}
	return w.content(out, len(c.Output) > 0 && !c.bareAnswer || c.Result.Present())
}

// objectWriter writes a JSON object member by member.
type objectWriter struct {
	b []byte
	// size is about how long it will be.
	size int
}

// name begins a member; its value is to be appended to what it returns.
func (w *objectWriter) name(s string) []byte {
	if w.b == nil {
		w.b = append(make([]byte, 0, w.size), '{')
	} else {
		w.b = append(w.b, ',')
	}
	return append(value.AppendString(w.b, s), ':')
}

// content is the object as content. What little is known of a call whose
// messages were not captured is still worth keeping.
func (w *objectWriter) content(c Content, whole bool) Content {
	c.Value, c.Raw = value.Value{}, ""
	if w.b != nil {
		w.b = append(w.b, '}')
		c.text = w.b
	}
	switch {
	case whole:
		c.Grade = Rebuilt
	case w.b != nil && !c.Present():
		c.partial = true
	}
	return c
}

// fidelity is the worst grade of a call's content. A failed call needs no
// result: its error is its answer.
func (n *node) fidelity(redacted bool) tape.Fidelity {
	worst := n.written.args.Grade.fidelity()
	if result := n.written.result; n.fail == nil || result.Present() {
		worst = worse(worst, result.Grade.fidelity())
	}
	if redacted {
		worst = worse(worst, tape.FidelityRedacted)
	}
	if n.synth {
		worst = worse(worst, tape.FidelitySynthesised)
	}
	return worst
}

func (g Grade) fidelity() tape.Fidelity {
	switch g {
	case Exact:
		return tape.FidelityExact
	case Rebuilt:
		return tape.FidelityRebuilt
	case Redacted:
		return tape.FidelityRedacted
	case Truncated:
		return tape.FidelityTruncated
	}
	return tape.FidelityAbsent
}

var fidelityRank = map[tape.Fidelity]int{
	tape.FidelityExact: 1, tape.FidelityRebuilt: 2, tape.FidelitySynthesised: 3,
	tape.FidelityRedacted: 4, tape.FidelityTruncated: 5, tape.FidelityAbsent: 6,
}

func worse(a, b tape.Fidelity) tape.Fidelity {
	if fidelityRank[b] > fidelityRank[a] {
		return b
	}
	return a
}

func spanHex(id pcommon.SpanID) string {
	if id.IsEmpty() {
		return ""
	}
	return hex.EncodeToString(id[:])
}

// stamp is a time as RFC 3339 with nanoseconds, "" for none.
func stamp(nanos int64) string {
	if nanos <= 0 {
		return ""
	}
	return time.Unix(0, nanos).UTC().Format(time.RFC3339Nano)
}
