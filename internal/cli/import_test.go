package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/tape"
)

// otlpSpan is one span of a run, n of its trace.
func otlpSpan(trace byte, n int, parent, attributes string) string {
	return fmt.Sprintf(`{"traceId":%q,"spanId":"%016x","parentSpanId":%q,"name":"s","startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[%s]}`,
		strings.Repeat(string(trace), 32), n, parent, 1_700_000_000_000_000_000+n*1_000_000, 1_700_000_000_000_500_000+n*1_000_000, attributes)
}

func attribute(key, value string) string {
	return fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, key, value)
}

func request(spans ...string) string {
	return `{"resourceSpans":[{"resource":{"attributes":[` + attribute("service.name", "shop") + `]},"scopeSpans":[{"spans":[` +
		strings.Join(spans, ",") + `]}]}]}`
}

func toolSpan(trace byte, n int, args string) string {
	return otlpSpan(trace, n, "", attribute("gen_ai.operation.name", "execute_tool")+","+attribute("gen_ai.tool.name", "search")+","+
		attribute("gen_ai.tool.call.arguments", args)+","+attribute("gen_ai.tool.call.result", `{"hits":1}`))
}

func readTapeText(t *testing.T, text string) *tape.Tape {
	t.Helper()
	tp, err := tape.ReadAll(strings.NewReader(text))
	require.NoError(t, err)
	assert.Empty(t, tape.Verify(tp))
	return tp
}

func TestImportOfOneRun(t *testing.T) {
	in := temp(t, "run.json", request(toolSpan('a', 1, `{"q":"socks"}`), toolSpan('a', 2, `{"q":"shoes"}`)))
	r := tapeCmd(t, "", "import", in)
	require.Equal(t, exitOK, r.code, r.err)
	tp := readTapeText(t, r.out)
	assert.Equal(t, strings.Repeat("a", 32), tp.Manifest.TraceID)
	assert.Equal(t, "shop", tp.Manifest.Service)
	require.Len(t, tp.Records, 2)
	assert.Equal(t, "search", tp.Records[0].Tool)
	assert.JSONEq(t, `{"q":"socks"}`, string(tp.Records[0].Args))
	assert.Contains(t, r.err, "read 1 document, 2 spans; redacted 0 values; 1 run:\n  "+strings.Repeat("a", 32)+"  succeeded, 2 steps")

	out := filepath.Join(t.TempDir(), "t.jsonl")
	again := tapeCmd(t, read(t, in), "import", "-", "-o", out)
	require.Equal(t, exitOK, again.code, again.err)
	assert.Empty(t, again.out)
	assert.Equal(t, r.out, read(t, out), "a file, standard input and -o say the same")
}

func TestImportJoinsFilesIntoOneRun(t *testing.T) {
	one := temp(t, "1.json", request(toolSpan('a', 2, `{"q":"shoes"}`)))
	two := temp(t, "2.json", request(toolSpan('a', 1, `{"q":"socks"}`), toolSpan('a', 2, `{"q":"shoes"}`)))
	r := tapeCmd(t, "", "import", one, two)
	require.Equal(t, exitOK, r.code, r.err)
	tp := readTapeText(t, r.out)
	require.Len(t, tp.Records, 2, "a span delivered twice is one call")
	assert.JSONEq(t, `{"q":"socks"}`, string(tp.Records[0].Args), "by start, not by file")
}

func TestImportNamesEmptyDocuments(t *testing.T) {
	none := `{"resourceSpans":[]}`
	in := temp(t, "in.json", request(toolSpan('a', 1, `{}`))+none+`{"batches":null}`)
	r := tapeCmd(t, "", "import", in)
	require.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.err, "in.json: neither a span nor a log record in 2 documents, the first of them document 2\n")

	r = tapeCmd(t, "", "import", in, temp(t, "none.json", none))
	assert.Equal(t, exitUsage, r.code, "a file of nothing else is refused, whatever is in the others")
	assert.Contains(t, r.err, "none.json:1: document 1: OTLP JSON with neither a span nor a log record in it\n")
}

func TestImportOfSeveralRuns(t *testing.T) {
	in := temp(t, "runs.json", request(toolSpan('a', 1, `{}`))+request(toolSpan('b', 2, `{}`)))
	r := tapeCmd(t, "", "import", in)
	assert.Equal(t, result{"", "tape: 2 runs in the input: name a directory for one file each with -o DIR/\n", exitUsage}, r)

	file := filepath.Join(t.TempDir(), "t.jsonl")
	r = tapeCmd(t, "", "import", in, "-o", file)
	assert.Equal(t, exitUsage, r.code)
	assert.NoFileExists(t, file)

	for _, dir := range []string{filepath.Join(t.TempDir(), "new") + "/", t.TempDir()} {
		r = tapeCmd(t, "", "import", in, "-o", dir)
		require.Equal(t, exitOK, r.code, r.err)
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, entries, 2)
		for i, id := range []string{strings.Repeat("a", 32), strings.Repeat("b", 32)} {
			assert.Equal(t, id+".jsonl", entries[i].Name())
			assert.Equal(t, id, readTapeText(t, read(t, filepath.Join(dir, entries[i].Name()))).Manifest.TraceID)
		}
	}
}

func TestImportRedacts(t *testing.T) {
	const canary = "sk-ant-api03-Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0LzXcVbNmQwErTyUiOpAsDfGhJkLzXcVbNm1234567890abcdAA"
	in := temp(t, "run.json", request(toolSpan('a', 1, `{"q":"socks","password":"hunter2","note":"use `+canary+`"}`)))
	r := tapeCmd(t, "", "import", in, "--json")
	require.Equal(t, exitOK, r.code, r.err)
	assert.NotContains(t, r.out+r.err, canary)
	assert.NotContains(t, r.out+r.err, "hunter2")
	tp := readTapeText(t, r.out)
	require.NotNil(t, tp.Manifest.Redaction)
	assert.NotEmpty(t, tp.Manifest.Redaction.Policy)
	key := tapeCmd(t, "", "key", "search", "--redact", `{"q":"socks","password":"hunter2","note":"use `+canary+`"}`)
	assert.Equal(t, tp.Records[0].Key+"\n", key.out, "the key of live arguments, redacted the same way")

	var report importReport
	require.NoError(t, json.Unmarshal([]byte(r.err), &report))
	assert.Positive(t, report.Redacted)
	assert.Equal(t, 1, report.Runs[0].Records)
	assert.Equal(t, "-", report.Runs[0].File)
}

func TestImportFaults(t *testing.T) {
	plain := otlpSpan('c', 1, "", "")
	tests := map[string]struct {
		in   string
		code int
		want string
	}{
		"no call in it":  {request(plain), exitNo, "run.json: no tool or model call among 1 span and 0 log records, so there is no tape to make"},
		"no span in it":  {`{"resourceSpans":[]}`, exitUsage, "run.json:1: document 1: OTLP JSON with neither a span nor a log record in it"},
		"null for spans": {`{"resourceSpans":null}`, exitUsage, "run.json:1: document 1: OTLP JSON with neither a span nor a log record in it"},
		"no batches":     {`{"batches":[]}`, exitUsage, "run.json:1: document 1: Tempo JSON with neither a span nor a log record in it"},
		"empty":          {"", exitUsage, "run.json: empty: there is no document in it"},
		"another JSON":   {`{"a":1}`, exitUsage, `run.json:1: document 1: not a trace export: none that is known has the members "a"`},
		"a tape":         {`{"tape":"1"}`, exitUsage, "not a trace export: a tape"},
		"cut":            {request(plain) + "\n" + `{"resourceSpans":[`, exitUsage, "run.json:2: document 2: ends in the middle of a document"},
		"a wrong member": {request(strings.Replace(plain, `"traceId":"cc`, `"traceId":"zz`, 1)), exitUsage, "spans[0].traceId: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out.jsonl")
			r := tapeCmd(t, "", "import", temp(t, "run.json", tt.in), "-o", out)
			oneLineError(t, r)
			assert.Contains(t, r.err, tt.want)
			assert.Equal(t, tt.code, r.code)
			assert.NoFileExists(t, out)
		})
	}
	// The report is JSON also where there is no run in it.
	r := tapeCmd(t, request(plain), "import", "-", "--json")
	assert.Equal(t, exitNo, r.code)
	assert.Empty(t, r.out)
	var report map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.err), &report))
	assert.Empty(t, report["runs"])
	assert.NotNil(t, report["runs"])
	assert.Len(t, report["without_calls"], 1)

	r = tapeCmd(t, "", "import", "testdata/none.json")
	assert.Equal(t, exitUsage, r.code)
	oneLineError(t, r)
}

func TestImportLeavesOutTracesWithoutCalls(t *testing.T) {
	in := temp(t, "run.json", request(toolSpan('a', 1, `{}`), otlpSpan('c', 1, "", "")))
	r := tapeCmd(t, "", "import", in)
	require.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.err, "1 trace without a tool or model call left out\n")
}

func TestImportDoesNotOverwriteWhatItReads(t *testing.T) {
	in := temp(t, "run.json", request(toolSpan('a', 1, `{}`)))
	before := read(t, in)
	r := tapeCmd(t, "", "import", in, "-o", filepath.Dir(in)+"/../"+filepath.Base(filepath.Dir(in))+"/run.json")
	assert.Equal(t, exitUsage, r.code)
	oneLineError(t, r)
	assert.Contains(t, r.err, "which is to be read")
	assert.Equal(t, before, read(t, in))
}

// An export of one line, in which every model call repeats its conversation, is
// imported in memory for what is said once.
func TestAnImportHoldsEachTextOnce(t *testing.T) {
	const calls = 220
	src, out := io.Pipe()
	total, peak := 0, uint64(0)
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	go func() {
		write := func(text string) {
			n, _ := io.WriteString(out, text)
			total += n
		}
		write(`{"resourceSpans":[{"resource":{},"scopeSpans":[{"scope":{},"spans":[`)
		words, said := rand.New(rand.NewPCG(1, 2)), ""
		for i := range calls {
			var text strings.Builder
			for text.Len() < 2000 {
				fmt.Fprintf(&text, "word %d ", words.IntN(1e6))
			}
			said += fmt.Sprintf(`,{"role":"user","content":"%s"}`, text.String())
			if i > 0 {
				write(",")
			}
			write(otlpSpan('a', i+1, "", attribute("gen_ai.operation.name", "chat")+","+attribute("gen_ai.input.messages", "["+said[1:]+"]")))
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc)
		}
		write("]}]}]}")
		_ = out.Close()
	}()
	file := filepath.Join(t.TempDir(), "tape.jsonl")
	a := app{Streams: Streams{In: src, Out: io.Discard, Err: io.Discard}}
	report, err := a.readRuns([]string{"-"}, dialect.Options{})
	require.NoError(t, err)
	runtime.ReadMemStats(&now)
	peak = max(peak, now.HeapAlloc)
	require.NoError(t, a.writeRuns(report, file))
	written, err := os.Stat(file)
	require.NoError(t, err)
	assert.Greater(t, written.Size(), int64(total)*9/10)
	grown := peak - min(peak, before.HeapAlloc)
	assert.Less(t, grown, uint64(total), "of %d bytes", total)
	t.Logf("%d MB of text in at most %d MB of heap", total>>20, grown>>20)
}
