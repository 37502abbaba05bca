// Package walktest makes traces and logs that hold a canary, a text that looks
// like a secret, in every string and bytes field that pdata has.
//
// Fields are found by reflection over the generated API of pdata: a field that
// a later version adds gets its canary without a change here, and a test that
// looks for canaries behind a walk, a redaction or a whole collector fails until
// that field is reached. Each canary has a number, so that the one that got
// through names its field.
package walktest

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"
)

const (
	// Mark is in every canary: output in which it does not occur, in any mix of
	// case, leaks none.
	Mark = "qCanaryQ"
	// byForm is caught by its form wherever it stands.
	byForm = "sk-proj-" + "J8kq2mV7n1pQ9rT5sW" + Mark
	// byName is caught under the name of a secret only.
	byName = "hush " + Mark + " "
)

// TraceID is that of all spans and log records made here.
var TraceID = pcommon.TraceID{0x5e, 0xc2, 0xe7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}

var spanID = pcommon.SpanID{0x5e, 1, 2, 3, 4, 5, 6, 7}

// Canary is one planted text.
type Canary struct {
	// Place is the field it stands in.
	Place string
	Text  string
}

// Traces makes a trace of one failed tool call with canaries everywhere.
func Traces() (ptrace.Traces, []Canary) {
	td := ptrace.NewTraces()
	p := planter{}
	p.fill("Traces", reflect.ValueOf(td))
	s := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	s.SetTraceID(TraceID)
	s.SetSpanID(spanID)
	s.SetStartTimestamp(1_756_555_200_000_000_000)
	s.SetEndTimestamp(1_756_555_201_000_000_000)
	s.Status().SetCode(ptrace.StatusCodeError)
	a := s.Attributes()
	a.PutStr("gen_ai.operation.name", "execute_tool")
	a.PutStr("gen_ai.tool.name", "fetch")
	a.PutStr("gen_ai.tool.call.arguments", `{"password":"`+p.text("arguments", byName)+`","q":"`+p.text("arguments", byForm)+`"}`)
	a.PutStr("gen_ai.tool.call.result", p.text("result", byForm))
	return td, p.planted
}

// Logs makes one log record with canaries everywhere.
func Logs() (plog.Logs, []Canary) {
	ld := plog.NewLogs()
	p := planter{}
	p.fill("Logs", reflect.ValueOf(ld))
	r := ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
	r.SetTraceID(TraceID)
	r.SetSpanID(spanID)
	return ld, p.planted
}

// Leaks gives the canaries that occur in output, which may be of any kind:
// upper and lower case count as equal.
func Leaks(output []byte, planted []Canary) []Canary {
	output = bytes.ToLower(output)
	if !bytes.Contains(output, []byte(strings.ToLower(Mark))) {
		return nil
	}
	var found []Canary
	for _, c := range planted {
		if bytes.Contains(output, []byte(strings.ToLower(c.Text))) {
			found = append(found, c)
		}
	}
	if found == nil {
		found = []Canary{{"part of a canary", Mark}}
	}
	return found
}

type planter struct{ planted []Canary }

func (p *planter) text(place, kind string) string {
	s := kind + fmt.Sprintf("%04d", len(p.planted))
	p.planted = append(p.planted, Canary{place, s})
	return s
}

// fill plants canaries in everything that the methods of v reach.
func (p *planter) fill(place string, v reflect.Value) {
	switch x := v.Interface().(type) {
	case pcommon.Map:
		p.fillMap(place, x)
		return
	case pcommon.Value:
		p.fillMap(place, x.SetEmptyMap())
		return
	case pcommon.StringSlice:
		x.Append(p.text(place, byForm), p.text(place, byForm))
		return
	case pcommon.ByteSlice:
		x.FromRaw([]byte(p.text(place, byForm)))
		return
	case pcommon.TraceState:
		x.FromRaw("k=" + p.text(place, byForm))
		return
	case pcommon.Resource:
		// Not part of the stable API, and so no method of the resource.
		p.fill(place+".EntityRefs", reflect.ValueOf(entity.ResourceEntityRefs(x)))
	}
	t := v.Type()
	for i := range t.NumMethod() {
		m := t.Method(i)
		field, isSetter := strings.CutPrefix(m.Name, "Set")
		switch {
		case isSetter && m.Type.NumIn() == 2 && m.Type.In(1).Kind() == reflect.String:
			v.Method(i).Call([]reflect.Value{reflect.ValueOf(p.text(place+"."+field, byForm)).Convert(m.Type.In(1))})
		case m.Name == "AppendEmpty" && m.Type.NumIn() == 1:
			p.fill(place+"[0]", v.Method(i).Call(nil)[0])
		case m.Type.NumIn() == 1 && m.Type.NumOut() == 1 && isPdata(m.Type.Out(0)):
			p.fill(place+"."+m.Name, v.Method(i).Call(nil)[0])
		}
	}
}

// isPdata reports whether t is a type of pdata that has fields of its own.
func isPdata(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && strings.Contains(t.PkgPath(), "/pdata/")
}

// fillMap plants canaries in names and values of every type, under neutral and
// secret names, at any depth and in every notation.
func (p *planter) fillMap(place string, m pcommon.Map) {
	at := func(s string) string { return place + "." + s }
	m.PutStr(p.text(at("name"), byForm), "x")
	m.PutStr("text", "before "+p.text(at("text"), byForm)+" after")
	m.PutEmptyBytes("bytes").FromRaw([]byte(p.text(at("bytes"), byForm)))
	m.PutStr("json", `{"a":["`+p.text(at("json"), byForm)+`"]}`)
	m.PutStr("db.password", p.text(at("db.password"), byName))
	m.PutEmptyBytes("authToken").FromRaw([]byte(p.text(at("authToken"), byName)))
	m.PutStr("notation.json", `{"a":{"api_key":"`+p.text(at("json.api_key"), byName)+`"}}`)
	inner := `{"cookie":"` + p.text(at("json in json"), byName) + `"}`
	m.PutStr("notation.twice", `{"arguments":`+strconv.Quote(inner)+`}`)
	m.PutStr("notation.thrice", strconv.Quote(`{"arguments":`+strconv.Quote(`{"secret":"`+p.text(at("json in json in json"), byName)+`"}`)+`}`))
	m.PutStr("notation.repr", `{'client_secret': '`+p.text(at("repr"), byName)+`', 'n': None}`)
	m.PutStr("notation.cut", `{"n":1,"password":"`+p.text(at("cut json"), byName))
	secret := m.PutEmptyMap("credentials")
	secret.PutStr("user", p.text(at("credentials.user"), byName))
	secret.PutEmptySlice("list").AppendEmpty().SetEmptyBytes().FromRaw([]byte(p.text(at("credentials.list"), byName)))
	list := m.PutEmptySlice("list")
	list.AppendEmpty().SetStr(p.text(at("list[0]"), byForm))
	deep := list.AppendEmpty().SetEmptyMap()
	deep.PutStr(p.text(at("list[1] name"), byForm), p.text(at("list[1]"), byForm))
	deep.PutEmptySlice("deeper").AppendEmpty().SetEmptySlice().AppendEmpty().SetStr(p.text(at("list[1].deeper"), byForm))
}
