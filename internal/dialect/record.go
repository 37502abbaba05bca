package dialect

import (
	"encoding/hex"
	"strconv"
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
		RunID: hex.EncodeToString(r.id[:]), ToolCallID: c.ID, SideEffect: c.SideEffect,
		Start: stamp(n.start), Model: c.Model,
	}
	if n.end > n.start && !n.synth {
		rec.MS = float64(n.end-n.start) / 1e6
	}
	if n.Span != nil {
		rec.StepID = spanHex(n.SpanID())
		rec.ParentID = spanHex(n.ParentSpanID())
		if len(n.ids) > 1 {
			for _, id := range n.ids {
				rec.SpanIDs = append(rec.SpanIDs, spanHex(id))
			}
		}
	} else if n.asked != nil {
		rec.ParentID = spanHex(n.asked.model.SpanID())
	}
	args, result := c.Args, c.Result
	if n.kind == KindModel {
		rec.Kind = tape.KindModel
		rec.Model = firstOf(c.Model, c.ResponseModel)
		args, result = c.modelContent()
	}
	setContent(&rec, &args, "args")
	setContent(&rec, &result, "result")
	rec.ArgsRaw = args.Raw
	if !c.Validated.IsNull() {
		rec.ArgsValidated = []byte(c.Validated.JSON())
	}
	if n.fail != nil {
		rec.Error = &tape.Error{Code: n.fail.Code, Message: n.fail.text(), Type: n.fail.Type}
	}
	rec.Fidelity = n.fidelity(args, result, len(rec.Redacted) > 0)
	if n.Span != nil {
		rec.Redacted = append(rec.Redacted, markedPaths(n.Span, args, result, rec.Redacted)...)
		if len(rec.Redacted) > 0 && (rec.Fidelity == tape.FidelityExact || rec.Fidelity == tape.FidelityRebuilt) {
			rec.Fidelity = tape.FidelityRedacted
		}
	}
	if len(rec.Bodies) == 0 || rec.Args != nil {
		// Key and hash fail only on text that is no JSON, which Args never is.
		rec.Key, rec.ArgsHash, _ = tape.KeyAndHash(rec.Tool, orNull(rec.Args))
	}
	return rec
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
	raw := c.Value.Append(nil)
	if of == "args" {
		rec.Args = raw
	} else {
		rec.Result = raw
	}
	rec.Redacted = placeholders(rec.Redacted, of, c.Value)
}

// modelContent is the request and the answer of a model call in neutral form.
func (c *Call) modelContent() (args, result Content) {
	system, input := c.System, c.Input
	for len(input) > 0 && (input[0].Role == "system" || input[0].Role == "developer") {
		if len(c.System) == 0 {
			system = append(system[:len(system):len(system)], input[0])
		}
		input = input[1:]
	}
	var members []value.Member
	if len(system) > 0 {
		members = append(members, value.M("system", message.Values(system)))
	}
	if len(c.Input) > 0 {
		members = append(members, value.M("messages", message.Values(input)))
	} else if c.Args.Present() {
		members = append(members, value.M("input", c.Args.Value))
	}
	if len(c.Tools) > 0 {
		members = append(members, value.M("tools", toolValues(c.Tools)))
	}
	if len(c.Params) > 0 {
		members = append(members, value.M("params", value.Obj(c.Params...)))
	}
	args = c.Request
	if args.Body == nil {
		args.Value, args.Raw = value.Obj(members...), ""
		if len(c.Input) > 0 || c.Args.Present() {
			args.Grade = Rebuilt
		}
	}
	result = c.Response
	if result.Body == nil {
		result.Value, result.Raw = c.answer(), ""
		if len(c.Output) > 0 || c.Result.Present() {
			result.Grade = Rebuilt
		}
	}
	// What little is known of a call without content is still worth keeping.
	return args.kept(members != nil), result.kept(!result.Value.IsNull())
}

func (c Content) kept(some bool) Content {
	if some && !c.Present() && c.Body == nil {
		c.partial = true
	}
	return c
}

func (c *Call) answer() value.Value {
	var members []value.Member
	switch len(c.Output) {
	case 0:
		if c.Result.Present() {
			members = append(members, value.M("output", c.Result.Value))
		}
	case 1:
		members = append(members, value.M("message", c.Output[0].Value()))
	default:
		members = append(members, value.M("messages", message.Values(c.Output)))
	}
	finish := c.Finish
	if finish == "" && len(c.Output) > 0 {
		finish = c.Output[len(c.Output)-1].FinishReason
	}
	if finish != "" {
		members = append(members, value.M("finish_reason", value.Str(finish)))
	}
	if c.ResponseModel != "" {
		members = append(members, value.M("model", value.Str(c.ResponseModel)))
	}
	if u := c.Usage.value(); !u.IsNull() {
		members = append(members, value.M("usage", u))
	}
	if members == nil {
		return value.Value{}
	}
	return value.Obj(members...)
}

func toolValues(tools []toolDef) value.Value {
	out := make([]value.Value, 0, len(tools))
	for _, t := range tools {
		members := []value.Member{value.M("name", value.Str(t.Name))}
		if t.Description != "" {
			members = append(members, value.M("description", value.Str(t.Description)))
		}
		if schema, err := value.Parse(string(t.Schema)); err == nil && len(t.Schema) > 0 {
			members = append(members, value.M("schema", schema))
		}
		out = append(out, value.Obj(members...))
	}
	return value.List(out...)
}

// fidelity is the worst grade of a call's content. A failed call needs no
// result: its error is its answer.
func (n *node) fidelity(args, result Content, redacted bool) tape.Fidelity {
	grades := []Grade{args.Grade}
	if n.fail == nil || result.Present() {
		grades = append(grades, result.Grade)
	}
	worst := tape.FidelityExact
	for _, g := range grades {
		worst = worse(worst, g.fidelity())
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

// placeholders appends the paths at which redaction left its mark.
func placeholders(paths []string, path string, v value.Value) []string {
	switch v.Kind() {
	case value.String:
		if i := strings.Index(v.Str(), "[REDACTED:"); i >= 0 && strings.IndexByte(v.Str()[i:], ']') > 0 {
			paths = append(paths, path)
		}
	case value.Array:
		for i, e := range v.Items() {
			paths = placeholders(paths, path+"["+strconv.Itoa(i)+"]", e)
		}
	case value.Object:
		for _, m := range v.Members() {
			paths = placeholders(paths, path+"."+m.Name, m.Value)
		}
	}
	return paths
}

// markedPaths are the paths of tape.redacted that lie in the arguments or the
// result: numbers and booleans show no placeholder.
func markedPaths(s *Span, args, result Content, have []string) []string {
	v, ok := s.Attr("tape.redacted")
	if !ok || v.Type() != pcommon.ValueTypeSlice {
		return nil
	}
	var out []string
	for i := range v.Slice().Len() {
		path := v.Slice().At(i).AsString()
		for _, c := range [...]struct {
			of string
			Content
		}{{"args", args}, {"result", result}} {
			rest, ok := strings.CutPrefix(path, "attributes."+c.Key+".")
			if c.Key == "" || !ok {
				continue
			}
			if found := locate(c.Value, rest); found != "" && !contains(have, c.of+"."+found) && !contains(out, c.of+"."+found) {
				out = append(out, c.of+"."+found)
			}
		}
	}
	return out
}

// locate is the longest end of a path that leads somewhere in v: the front may
// lead through a wrapper that was removed.
func locate(v value.Value, path string) string {
	for path != "" {
		if resolves(v, path) {
			return path
		}
		_, rest, ok := strings.Cut(path, ".")
		if !ok {
			return ""
		}
		path = rest
	}
	return ""
}

func resolves(v value.Value, path string) bool {
	for path != "" {
		name, rest, _ := strings.Cut(path, ".")
		name, index, indexed := strings.Cut(name, "[")
		m, ok := v.Get(name)
		if !ok {
			return false
		}
		v = m
		for indexed {
			var digits string
			digits, index, _ = strings.Cut(index, "]")
			i, err := strconv.Atoi(digits)
			if err != nil || i < 0 || i >= len(v.Items()) {
				return false
			}
			v = v.Items()[i]
			index, indexed = strings.CutPrefix(index, "[")
		}
		path = rest
	}
	return true
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
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
