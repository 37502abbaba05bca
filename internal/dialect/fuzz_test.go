package dialect

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// FuzzTranslate puts hostile values into real spans: any attribute of any span
// of any sample becomes any text, bytes, number or structure, or goes away.
// Whatever comes out must be valid tape lines, and the same for another
// delivery of the same spans.
func FuzzTranslate(f *testing.F) {
	all := recordings(f)
	for i, text := range []string{
		`{"a":`, `null`, `[1,2,3]`, `{'a': (1, None)}`, `"{\"a\":\"{}\"}"`, `[{"role":1,"parts":[{"type":"tool_call","arguments":[]}]}]`,
		`{"lc":1,"type":"constructor","id":["ToolMessage"],"kwargs":{"content":{"content":[{"text":[]}]}}}`, "\xff\xfe", "TOOL", "execute_tool", "1e999",
	} {
		f.Add(uint16(i*7), uint16(i), uint16(i*3), uint8(i), text)
	}
	f.Fuzz(func(t *testing.T, recording, at, attribute uint16, how uint8, text string) {
		td := ptrace.NewTraces()
		all[int(recording)%len(all)].Traces.CopyTo(td)
		mutate(td, int(at), int(attribute), how, text)
		for _, r := range Runs(td, plog.NewLogs(), Options{}) {
			r.Row()
			for i := range r.Tape.Records {
				line, err := r.Tape.Records[i].MarshalJSON()
				if err != nil || !json.Valid(line) || bytes.ContainsAny(line, "\n") {
					t.Fatalf("record %d is no line: %v %s", i+1, err, line)
				}
			}
		}
		want := jsonl(t, Translate(td, Options{}))
		again := deliver(td, rand.New(rand.NewPCG(1, uint64(len(text)))))
		if got := jsonl(t, Translate(again, Options{})); got != want {
			t.Fatalf("another delivery gives another tape:\n%s\n%s", want, got)
		}
	})
}

// mutate changes one attribute of one span.
func mutate(td ptrace.Traces, at, attribute int, how uint8, text string) {
	var spans []ptrace.Span
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				spans = append(spans, span)
			}
		}
	}
	span := spans[at%len(spans)]
	var keys []string
	for key := range span.Attributes().All() {
		keys = append(keys, key)
	}
	key := "gen_ai.operation.name"
	if len(keys) > 0 {
		key = keys[attribute%len(keys)]
	}
	v, ok := span.Attributes().Get(key)
	if !ok {
		v = span.Attributes().PutEmpty(key)
	}
	switch how % 8 {
	case 0:
		v.SetStr(text)
	case 1:
		v.SetEmptyBytes().FromRaw([]byte(text))
	case 2:
		v.SetInt(int64(len(text)) - 3)
	case 3:
		var any any
		if json.Unmarshal([]byte(text), &any) == nil {
			_ = v.FromRaw(any)
		} else {
			v.SetEmptyMap().PutEmptySlice("list").AppendEmpty().SetStr(text)
		}
	case 4:
		span.Attributes().Remove(key)
	case 5:
		v.SetEmptySlice().AppendEmpty().SetStr(text)
	case 6:
		span.SetName(text)
		span.Status().SetMessage(text)
		v.SetBool(true)
	case 7:
		e := span.Events().AppendEmpty()
		e.SetName("gen_ai.choice")
		e.Attributes().PutStr("message", text)
		v.SetStr(text)
	}
}
