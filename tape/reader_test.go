package tape

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func read(text string) (*Tape, error) { return ReadAll(strings.NewReader(text)) }

func write(t testing.TB, tape *Tape) string {
	var out bytes.Buffer
	require.NoError(t, NewWriter(&out).WriteTape(tape))
	return out.String()
}

func TestWritesBackWhatItRead(t *testing.T) {
	want, err := os.ReadFile("testdata/full.jsonl")
	require.NoError(t, err)
	tape, err := ReadFile("testdata/full.jsonl")
	require.NoError(t, err)
	assert.Empty(t, Verify(tape))
	assert.Equal(t, string(want), write(t, tape))

	m := tape.Manifest
	assert.Equal(t, []Member{{Name: "x_site", Value: []byte(`"eu"`)}}, m.Extra)
	assert.Equal(t, OutcomeFailed, m.Outcome)
	assert.Equal(t, 3, m.Failure.Seq)
	r := tape.Records
	assert.Equal(t, `{"url" : "https://example.com/<a>&b", "n": 1.50}`, string(r[0].Args), "bytes as they were")
	assert.False(t, *r[0].SideEffect)
	assert.Equal(t, KindTool, r[0].KindOf())
	assert.Nil(t, r[1].SideEffect)
	assert.Equal(t, KindModel, r[1].KindOf())
	assert.Equal(t, int64(70000), r[1].Bodies[0].Bytes)
	assert.Equal(t, []Member{{Name: "x_cost", Value: []byte("0.25")}}, r[1].Extra)
	assert.True(t, r[2].Failed())
	assert.Equal(t, "504", r[2].Error.Code)
	assert.True(t, r[2].Bodies[0].IsArgs())
	assert.False(t, r[2].Bodies[1].IsArgs())
}

func TestReadsWhatSimpleRecordersWrite(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		want Record
	}{
		"core members": {
			`{"seq": 1, "tool": "t", "key": "t:44136fa355b3", "args": {}, "result": null, "ms": 3, "side_effect": true, "clock": null}`,
			Record{Seq: 1, Tool: "t", Key: "t:44136fa355b3", Args: []byte("{}"), MS: 3, SideEffect: ptr(true)},
		},
		"nothing":               {`{}`, Record{}},
		"whole numbers as 1.0":  {`{"seq":1.0,"done":2e0}`, Record{Seq: 1, Done: 2}},
		"no error":              {`{"error":null}`, Record{}},
		"no error, falsely":     {`{"error":false}`, Record{}},
		"no error, empty":       {`{"error":""}`, Record{}},
		"error as text":         {`{"error":"boom"}`, Record{Error: &Error{Message: "boom"}}},
		"error as another":      {`{"error":[1]}`, Record{Error: &Error{Message: "[1]"}}},
		"error code as number":  {`{"error":{"code":500,"message":null}}`, Record{Error: &Error{Code: "500"}}},
		"null members":          {`{"seq":null,"tool":null,"ms":null,"kind":null,"redacted":null,"body":null,"side_effect":null}`, Record{}},
		"escaped member name":   {`{"t\u006fol":"x"}`, Record{Tool: "x"}},
		"last of a member wins": {`{"args":1,"args":2,"error":{"code":"a"},"error":null}`, Record{Args: []byte("2")}},
		"unknown members": {`{"b":1,"a":{"x":[]},"b":null}`, Record{Extra: []Member{
			{Name: "b", Value: []byte("1")}, {Name: "a", Value: []byte(`{"x":[]}`)}, {Name: "b", Value: []byte("null")},
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			tape, err := read(c.line)
			require.NoError(t, err)
			assert.Equal(t, &Tape{Records: []Record{c.want}}, tape)
			again, err := read(write(t, tape))
			require.NoError(t, err)
			assert.Equal(t, tape, again)
		})
	}
}

func TestReadTolerates(t *testing.T) {
	const record = `{"seq":1,"tool":"t","key":"k","args":1,"result":2,"ms":0,"side_effect":null,"clock":null}`
	want, err := read(`{"tape":"1","complete":true}` + "\n" + record + "\n")
	require.NoError(t, err)
	for name, text := range map[string]string{
		"byte order mark":       "\ufeff" + `{"tape":"1","complete":true}` + "\n" + record + "\n",
		"CRLF":                  `{"tape":"1","complete":true}` + "\r\n" + record + "\r\n",
		"blank lines":           "\n  \n" + `{"tape":"1","complete":true}` + "\n\n" + record + "\n\n\n",
		"no last line break":    `{"tape":"1","complete":true}` + "\n" + record,
		"version not first":     `{"complete":true,"tape":"1"}` + "\n" + record,
		"white space in a line": ` { "tape" : "1" , "complete" : true } ` + "\n" + record,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := read(text)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
	t.Run("empty file", func(t *testing.T) {
		got, err := read("")
		require.NoError(t, err)
		assert.Equal(t, &Tape{}, got)
	})
	t.Run("one byte at a time", func(t *testing.T) {
		got, err := ReadAll(iotest.OneByteReader(strings.NewReader(`{"tape":"1","complete":true}` + "\n" + record)))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	})
}

func TestReadRefuses(t *testing.T) {
	long := `{"tool":"` + strings.Repeat("x", 100) + `"}`
	for name, c := range map[string]struct {
		text string
		line int
		is   error
		says string
	}{
		"version by name":       {`{"tape":"7"}`, 1, ErrVersion, `unknown tape version: "7"`},
		"version not a string":  {`{"tape":1}`, 1, ErrVersion, `unknown tape version: 1`},
		"version object":        {`{"tape":{}}`, 1, ErrVersion, `unknown tape version: {}`},
		"cut in an object":      {"{}\n{\"seq\":2,\"to", 2, ErrTruncated, "line 2: the tape is cut in the middle of its last line, at byte 12"},
		"cut in a manifest":     {`{"tape":"1","serv`, 1, ErrTruncated, "at byte 17"},
		"cut but with its end":  {"{}\n{\"seq\":2\n{}\n", 2, nil, "line 2: invalid JSON at byte 8: unexpected end"},
		"not JSON":              {"{}\n\n{]}", 3, nil, "line 3: invalid JSON at byte 1: expected a member name"},
		"not an object":         {`[1]`, 1, nil, "line 1: invalid JSON at byte 0: not an object"},
		"two objects a line":    {`{}{}`, 1, nil, "text after the value"},
		"NaN":                   {`{"result":NaN}`, 1, nil, "line 1: invalid JSON at byte 10: not a JSON value"},
		"second manifest":       {"{}\n{\"tape\":\"1\"}", 2, nil, "line 2: a manifest that is not the first line"},
		"long line":             {"{}\n" + long, 2, ErrTooLong, "line 2: line too long: over 64 bytes"},
		"type of seq":           {`{"seq":"1"}`, 1, nil, `line 1: member "seq": want a whole number, got "1"`},
		"fraction in seq":       {`{"seq":1.5}`, 1, nil, `member "seq": want a whole number`},
		"huge seq":              {`{"seq":1e300}`, 1, nil, `member "seq": want a whole number`},
		"type of tool":          {`{"tool":5}`, 1, nil, `member "tool": want a string, got 5`},
		"type of ms":            {`{"ms":"fast"}`, 1, nil, `member "ms": want a number`},
		"type of side_effect":   {`{"side_effect":"yes"}`, 1, nil, `member "side_effect": want true, false or null`},
		"type of redacted":      {`{"redacted":[1]}`, 1, nil, `member "redacted": want a list of strings`},
		"type of body":          {`{"body":[1]}`, 1, nil, `member "body": want an object or an array of objects, got 1`},
		"three bodies":          {`{"body":[{},{},{}]}`, 1, nil, `member "body": want one or two, got 3`},
		"too many records":      {"{}\n{}\n{}\n{}", 4, ErrTooMany, "line 4: too many records: over 3"},
		"type in a body":        {`{"body":{"bytes":"x"}}`, 1, nil, `member "body.bytes"`},
		"type in a manifest":    {`{"tape":"1","service":4}`, 1, nil, `line 1: member "service": want a string, got number`},
		"type deep in manifest": {`{"tape":"1","failure":{"seq":"x"}}`, 1, nil, `line 1: member "failure.seq": want a whole number, got string`},
		"version null":          {`{"tape":null}`, 1, ErrVersion, `unknown tape version: null (`},
		"shape of gaps":         {`{"tape":"1","gaps":5}`, 1, nil, `line 1: member "gaps": want an array, got number`},
		"shape of a gap":        {`{"tape":"1","gaps":[5]}`, 1, nil, `line 1: member "gaps": not an object`},
		"type in a tool":        {`{"tape":"1","tools":[{"name":5}]}`, 1, nil, `line 1: member "tools.name": want a string, got number`},
		"shape of redaction":    {`{"tape":"1","redaction":5}`, 1, nil, `line 1: member "redaction": not an object`},
		"type of complete":      {`{"tape":"1","complete":"yes"}`, 1, nil, `member "complete": want true or false, got string`},
		"nested too deeply":     {`{"args":` + strings.Repeat("[", MaxDepth+1), 1, nil, "nested deeper than 10000"},
	} {
		t.Run(name, func(t *testing.T) {
			var options []ReaderOption
			if errors.Is(c.is, ErrTooLong) {
				options = append(options, MaxLine(64), MaxLine(0))
			}
			if errors.Is(c.is, ErrTooMany) {
				options = append(options, MaxRecords(3), MaxRecords(0))
			}
			_, err := ReadAll(strings.NewReader(c.text), options...)
			var at *SyntaxError
			require.ErrorAs(t, err, &at)
			assert.Equal(t, c.line, at.Line)
			assert.Contains(t, err.Error(), c.says)
			if c.is != nil {
				assert.ErrorIs(t, err, c.is)
			}
		})
	}
}

// TestReaderStopsAtWhatIsNoTape: a text without a line break, of any length, is
// refused by its beginning.
func TestReaderStopsAtWhatIsNoTape(t *testing.T) {
	for _, text := range []string{"y", "\ufeff[", "\n  \x00"} {
		in := &countedReader{in: io.MultiReader(strings.NewReader(text), strings.NewReader(strings.Repeat(text, 1<<20)))}
		_, err := ReadAll(in)
		require.ErrorContains(t, err, "invalid JSON at byte 0: not an object")
		assert.Less(t, in.read, 1<<18)
	}
}

type countedReader struct {
	in   io.Reader
	read int
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.read += n
	return n, err
}

func TestReaderStreams(t *testing.T) {
	r := NewReader(strings.NewReader("{\"tape\":\"1\"}\n\n{\"seq\":1}\n{\"seq\":2}\n{\"seq\":"))
	assert.Equal(t, 0, r.Line())
	m, err := r.Manifest()
	require.NoError(t, err)
	assert.Equal(t, "1", m.Tape)
	record, err := r.Next()
	require.NoError(t, err)
	assert.Equal(t, 1, record.Seq)
	assert.Equal(t, 3, r.Line())
	record, err = r.Next()
	require.NoError(t, err)
	assert.Equal(t, 2, record.Seq)
	for range 2 {
		_, err = r.Next()
		require.ErrorIs(t, err, ErrTruncated, "and stays so")
	}

	r = NewReader(strings.NewReader("{\"seq\":1}\n{\"seq\":2}\n"))
	record, err = r.Next()
	require.NoError(t, err)
	assert.Equal(t, 1, record.Seq)
	m, err = r.Manifest()
	require.NoError(t, err)
	assert.Nil(t, m)
	_, err = r.Next()
	require.NoError(t, err)
	_, err = r.Next()
	require.Equal(t, io.EOF, err)

	broken := errors.New("cable pulled")
	_, err = ReadAll(io.MultiReader(strings.NewReader("{}\n{"), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
	assert.Contains(t, err.Error(), "line 2")
}

func TestReadFileNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	_, err := ReadFile(path)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte(`{"tape":"2"}`), 0o600))
	_, err = ReadFile(path)
	require.ErrorIs(t, err, ErrVersion)
	assert.Equal(t, path+`: line 1: unknown tape version: "2" (this reader knows "1")`, err.Error())
}

// TestReaderMemory: what a line claims costs nothing, only what it holds.
func TestReaderMemory(t *testing.T) {
	line := `{"args":[` + strings.Repeat("0,", 1<<19) + `0],"bytes":99999999999}` + "\n"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := NewReader(strings.NewReader(line)).Next()
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8*len(line)))
}

func TestEncodingJSONAgrees(t *testing.T) {
	r := Record{Seq: 1, Tool: "t", Args: json.RawMessage(`{ "a" : "<b>" }`)}
	text, err := json.Marshal(&r)
	require.NoError(t, err)
	var back Record
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, `{"a":"\u003cb\u003e"}`, string(back.Args))

	text, err = json.Marshal(&Manifest{Gaps: []Gap{{What: "root", Extra: []Member{{Name: "x", Value: []byte("1")}}}}})
	require.NoError(t, err)
	assert.Equal(t, `{"tape":"1","complete":false,"gaps":[{"what":"root","x":1}]}`, string(text))
}

func ptr[T any](v T) *T { return &v }

func BenchmarkRead(b *testing.B) {
	var out bytes.Buffer
	w := NewWriter(&out)
	args := benchmarkArgs()[:0:0]
	args = append(args, `{"url":"https://example.com/agent-long-task","body":"`+strings.Repeat("word ", 190)+`"}`...)
	for i := range 1000 {
		if err := w.Write(&Record{Seq: i + 1, Tool: "fetch", Key: "fetch:000000000000", Args: args, Result: args, Done: i + 1, Start: "2026-05-04T10:00:00Z"}); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(out.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadAll(bytes.NewReader(out.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}
