package tape

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVerify(t *testing.T) {
	const key = `"tool":"t","key":"t:44136fa355b3","args":{}`
	const hash = `"args_hash":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"`
	const sum = `"sha256":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"`
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing":               {``, nil},
		"good":                  {`{"seq":1,` + key + `,` + hash + `,"done":2}` + "\n" + `{"seq":2,` + key + `,"done":1}`, nil},
		"gaps in seq are fine":  {`{"seq":4,` + key + `}` + "\n" + `{"seq":9,` + key + `}`, nil},
		"core missing":          {`{}`, []string{"line 1: seq: 0, want 1 or more", "line 1: tool: missing", "line 1: key: missing"}},
		"seq twice":             {`{"seq":1,` + key + `}` + "\n" + `{"seq":1,` + key + `}`, []string{"line 2: record 1: seq: 1 after 1: records must be in order and their numbers distinct"}},
		"seq going backwards":   {`{"seq":2,` + key + `}` + "\n" + `{"seq":1,` + key + `}`, []string{"line 2: record 1: seq: 1 after 2: records must be in order and their numbers distinct"}},
		"wrong key":             {`{"seq":1,"tool":"t","key":"t:000000000000","args":{}}`, []string{"line 1: record 1: key: t:000000000000, but the arguments make it t:44136fa355b3"}},
		"wrong hash":            {`{"seq":1,` + key + `,"args_hash":"sha256:0"}`, []string{"line 1: record 1: args_hash: sha256:0, but the arguments make it sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}},
		"key and hash at odds":  {`{"seq":1,"tool":"t","key":"t:000000000000",` + hash + `,"body":{` + sum + `,"bytes":1,"of":"args"}}`, []string{"line 1: record 1: key: t:000000000000 does not belong to args_hash sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}},
		"done twice":            {`{"seq":1,` + key + `,"done":2}` + "\n" + `{"seq":2,` + key + `,"done":2}`, []string{"line 2: record 2: done: 2, as record 1"}},
		"done out of range":     {`{"seq":1,` + key + `,"done":2}`, []string{"line 1: record 1: done: 2, want 1 to 1"}},
		"done negative":         {`{"seq":1,` + key + `,"done":-2}`, []string{"line 1: record 1: done: -2, want 1 to 1"}},
		"unknown kind":          {`{"seq":1,` + key + `,"kind":"tol"}`, []string{`line 1: record 1: kind: unknown value "tol"`}},
		"unknown fidelity":      {`{"seq":1,` + key + `,"fidelity":"good"}`, []string{`line 1: record 1: fidelity: unknown value "good"`}},
		"class without failure": {`{"seq":1,` + key + `,"failure_class":"unattributed"}`, []string{`line 1: record 1: failure_class: on a record without error`}},
		"unknown class":         {`{"seq":1,` + key + `,"error":"x","failure_class":"bad"}`, []string{`line 1: record 1: failure_class: unknown value "bad"`}},
		"times":                 {`{"seq":1,` + key + `,"clock":"noon","start":"2026","expires":"x"}`, []string{`line 1: record 1: clock: "noon" is not an RFC 3339 time`, `line 1: record 1: start: "2026" is not an RFC 3339 time`, `line 1: record 1: expires: "x" is not an RFC 3339 time`}},
		"ids":                   {`{"seq":1,` + key + `,"run_id":"AB","step_id":"xyz","span_ids":["1"]}`, []string{`line 1: record 1: run_id: "AB" is not 32 lower-case hexadecimal digits`, `line 1: record 1: step_id: "xyz" is not 16 lower-case hexadecimal digits`, `line 1: record 1: span_ids[0]: "1" is not 16 lower-case hexadecimal digits`}},
		"negative ms":           {`{"seq":1,` + key + `,"ms":-1}`, []string{`line 1: record 1: ms: -1, want 0 or more`}},
		"body and value":        {`{"seq":1,` + key + `,"result":1,"body":{` + sum + `,"bytes":1}}`, []string{`line 1: record 1: body: stands for result, which is there too`}},
		"body twice":            {`{"seq":1,` + key + `,"body":[{` + sum + `,"bytes":1},{` + sum + `,"bytes":-1,"of":"result"}]}`, []string{`line 1: record 1: body.bytes: -1, want 0 or more`, `line 1: record 1: body: stands for result a second time`}},
		"body of nothing":       {`{"seq":1,` + key + `,"body":{"of":"x"}}`, []string{`line 1: record 1: body.sha256: missing`, `line 1: record 1: body.of: unknown value "x"`}},
		"manifest": {`{"tape":"1","trace_id":"x","outcome":"odd","trigger":"odd","started":"x","failure":{"seq":4,"class":"odd"},"gaps":[{"what":"result","seq":5}],"complete":true,"tools":[{"name":""}]}`, []string{
			`line 1: trace_id: "x" is not 32 lower-case hexadecimal digits`, `line 1: started: "x" is not an RFC 3339 time`,
			`line 1: outcome: unknown value "odd"`, `line 1: trigger: unknown value "odd"`, `line 1: failure.class: unknown value "odd"`,
			`line 1: failure.seq: 4, but there is no such record`, `line 1: gaps[0].seq: 5, but there is no such record`,
			`line 1: complete: true, but gaps[0] keeps a strict replay from finding every answer`, `line 1: tools[0].name: missing`,
		}},
		"run of another manifest": {`{"tape":"1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}` + "\n" + `{"seq":1,` + key + `,"run_id":"00f92f3577b34da6a3ce929d0e0e4736"}`, []string{
			`line 2: record 1: run_id: 00f92f3577b34da6a3ce929d0e0e4736, but the manifest says 4bf92f3577b34da6a3ce929d0e0e4736`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			tape, err := read(c.text)
			require.NoError(t, err)
			var got []string
			for _, problem := range Verify(tape) {
				got = append(got, problem.String())
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestVerifyBuiltTape(t *testing.T) {
	problems := Verify(&Tape{Manifest: &Manifest{Tape: "2"}, Records: []Record{{Seq: 1, Tool: "t", Key: "t:0", Args: []byte("{")}}})
	require.Len(t, problems, 2)
	assert.Equal(t, `line 1: tape: version "2", want "1"`, problems[0].String())
	assert.Equal(t, "line 2: record 1: args: invalid JSON at byte 1: unexpected end", problems[1].String())
	assert.Equal(t, "seq: x", Problem{Member: "seq", Reason: "x"}.String())
}
