package dialect

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect/fidelity"
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
		for _, r := range Runs(td, plog.NewLogs(), Options{Lean: true}) {
			for rec := range r.Each() {
				if line, err := rec.MarshalJSON(); err != nil || !json.Valid(line) {
					t.Fatalf("a lean record is no line: %v", err)
				}
			}
		}
		again := deliver(td, rand.New(rand.NewPCG(1, uint64(len(text)))))
		if got := jsonl(t, Translate(again, Options{})); got != want {
			t.Fatalf("another delivery gives another tape:\n%s\n%s", want, got)
		}
	})
}

// FuzzTranslateLogs does the same to the log records of agents that write logs
// alone or their content there, with their traces and without.
func FuzzTranslateLogs(f *testing.F) {
	var all []fidelity.Case
	for _, c := range recordings(f) {
		if c.Logs.LogRecordCount() > 0 && !tied(c.Logs) {
			all = append(all, c)
		}
	}
	for i, text := range []string{"", "codex.tool_result", "api_request", "gemini_cli.api_error", `{"a":`, "429", "-1", "1e300", "\xff", "sess-7f3a", "2026-03-02T10:00:00Z"} {
		f.Add(uint8(i), uint16(i), uint16(i*3), uint8(i), text, i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, recording uint8, at, attribute uint16, how uint8, text string, traces bool) {
		c := all[int(recording)%len(all)]
		ld, td := plog.NewLogs(), ptrace.NewTraces()
		c.Logs.CopyTo(ld)
		if traces {
			td = c.Traces
		}
		mutateLog(ld, int(at), int(attribute), how, text)
		tapes := TranslateWithLogs(td, ld, Options{})
		want := jsonl(t, tapes)
		for _, line := range strings.Split(strings.TrimSpace(want), "\n") {
			if line != "" && !json.Valid([]byte(line)) {
				t.Fatalf("no line of a tape: %s", line)
			}
		}
		again := deliverLogs(ld, rand.New(rand.NewPCG(1, uint64(len(text)))))
		if got := jsonl(t, TranslateWithLogs(td, again, Options{})); got != want {
			t.Fatalf("another delivery gives another tape:\n%s\n%s", want, got)
		}
	})
}

// tied reports whether two records of a span are of one instant: these keep the
// order of their arrival, and another delivery is another conversation.
func tied(ld plog.Logs) bool {
	seen := map[string]bool{}
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, r := range sl.LogRecords().All() {
				key := r.SpanID().String() + r.Timestamp().String()
				if seen[key] && !r.SpanID().IsEmpty() {
					return true
				}
				seen[key] = true
			}
		}
	}
	return false
}

// mutateLog changes one attribute of one log record.
func mutateLog(ld plog.Logs, at, attribute int, how uint8, text string) {
	var records []plog.LogRecord
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, r := range sl.LogRecords().All() {
				records = append(records, r)
			}
		}
	}
	r := records[at%len(records)]
	var keys []string
	for key := range r.Attributes().All() {
		keys = append(keys, key)
	}
	v, _ := r.Attributes().Get(keys[attribute%len(keys)])
	switch how % 6 {
	case 0:
		v.SetStr(text)
	case 1:
		v.SetEmptyBytes().FromRaw([]byte(text))
	case 2:
		v.SetDouble(float64(len(text)) * 1e300)
	case 3:
		v.SetEmptySlice().AppendEmpty().SetStr(text)
	case 4:
		r.Attributes().Remove(keys[attribute%len(keys)])
	case 5:
		r.SetTimestamp(0)
		r.SetEventName(text)
		v.SetStr(text)
	}
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
