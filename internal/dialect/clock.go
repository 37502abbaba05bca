package dialect

import (
	"encoding/base64"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/tape"
)

// The span events by which a program says that it read a clock or drew random
// values, and the tools under which they are recorded, which are those that
// package replay asks for.
const (
	clockEvent  = "tape.clock"
	randomEvent = "tape.random"
	clockTool   = "now"
	randomTool  = "bytes"
)

// addDraws makes records of the clock reads and random draws of the run: span
// events tape.clock and tape.random, on any span. Their attributes, each also
// with "tape." before its name:
//
//	value   what the program saw: for a clock an RFC 3339 text, without it the
//	        time of the event; for a draw anything, bytes as base64
//	tool    the name under which a replay asks, now or bytes without it
//	args    what it asked with, JSON text or a map; the length of drawn bytes
//	        without it
//
// A draw without a value is a gap.
func (r *run) addDraws() {
	var found []*node
	for _, n := range r.nodes {
		if n.Span == nil {
			continue
		}
		for i := range n.Events().Len() {
			if d := n.draw(n.Events().At(i), i); d != nil {
				found = append(found, d)
			}
		}
	}
	r.nodes = append(r.nodes, found...)
}

// draw is the node of one event, nil for any other event.
func (n *node) draw(e ptrace.SpanEvent, at int) *node {
	c := &Call{Kind: kindDraw, Dialect: "tape"}
	switch e.Name() {
	case clockEvent:
		c.Tool, c.draw = clockTool, tape.KindClock
	case randomEvent:
		c.Tool, c.draw = randomTool, tape.KindRandom
	default:
		return nil
	}
	if v, ok := member(e, "tool"); ok && v.AsString() != "" {
		c.Tool = v.AsString()
	}
	c.Args = Content{Grade: Rebuilt}
	if v, ok := member(e, "args"); ok {
		c.Args = contentOf(v, jsonText)
	}
	v, ok := member(e, "value")
	switch {
	case ok && v.Type() == pcommon.ValueTypeBytes:
		raw := v.Bytes().AsRaw()
		c.Result = Content{Value: value.Str(base64.StdEncoding.EncodeToString(raw)), Grade: Rebuilt}
		if c.Args.Value.IsNull() {
			c.Args.Value = value.Obj(value.M("bytes", value.Int(int64(len(raw)))))
		}
	case ok && v.Type() == pcommon.ValueTypeStr:
		c.Result = contentText(v.Str(), plainText)
	case ok:
		c.Result = contentOf(v, plainText)
	case c.draw == tape.KindClock && e.Timestamp() != 0:
		c.Result = Content{Value: value.Str(stamp(int64(e.Timestamp()))), Grade: Rebuilt}
	default:
		c.Result.Why = "the event " + e.Name() + " has no attribute value"
	}
	when := int64(e.Timestamp())
	if when == 0 {
		when = n.start
	}
	return &node{
		call: c, on: n, kind: kindDraw, index: at + 1,
		near: n.asNear(), root: n.root, start: when, end: when,
	}
}

// asNear is the node as the nearest call or agent of what it holds.
func (n *node) asNear() *node {
	if n.kind == KindOther {
		return n.near
	}
	return n
}

func member(e ptrace.SpanEvent, name string) (pcommon.Value, bool) {
	if v, ok := e.Attributes().Get(name); ok {
		return v, true
	}
	return e.Attributes().Get("tape." + name)
}

// recordDraw sets what clock reads and draws have of their own.
func (n *node) recordDraw(rec *tape.Record) {
	rec.Kind = n.call.draw
	effect := false
	rec.SideEffect = &effect
	if n.call.draw != tape.KindClock {
		return
	}
	if t, err := time.Parse(time.RFC3339Nano, n.call.Result.Value.Str()); err == nil {
		rec.Clock = t.Format(time.RFC3339Nano)
	}
}
