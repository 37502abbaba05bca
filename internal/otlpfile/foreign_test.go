package otlpfile_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/otlpfile"
	"github.com/tapedeck/tapedeck/tape"
)

var update = flag.Bool("update", false, "write the golden tapes anew")

// tapes reads a whole input and makes its tapes.
func tapes(t *testing.T, name string, in []byte) []*tape.Tape {
	t.Helper()
	r := otlpfile.NewReader(name, bytes.NewReader(in))
	td, ld := ptrace.NewTraces(), plog.NewLogs()
	for {
		d, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dialect.TranslateWithLogs(td, ld, dialect.Options{})
		}
		require.NoError(t, err)
		assert.NotEmpty(t, d.Format)
		assert.Positive(t, d.Traces.SpanCount())
		d.Traces.ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
		d.Logs.ResourceLogs().MoveAndAppendTo(ld.ResourceLogs())
	}
}

func text(t *testing.T, tp *tape.Tape) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, tape.NewWriter(&b).WriteTape(tp))
	return b.String()
}

// All files of testdata/foreign hold the same run: an agent that asks a model,
// looks up the weather and fails to book a table.
func TestGoldenTapes(t *testing.T) {
	files, err := filepath.Glob("testdata/foreign/*.*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			in, err := os.ReadFile(file)
			require.NoError(t, err)
			got := tapes(t, name, in)
			require.Len(t, got, 1)
			assert.Empty(t, tape.Verify(got[0]))
			golden := filepath.Join("testdata", "golden", strings.TrimSuffix(strings.ReplaceAll(name, ".", "_"), "l")+".jsonl")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o755))
				require.NoError(t, os.WriteFile(golden, []byte(text(t, got[0])), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), text(t, got[0]))
			sameRun(t, got[0])
			// Observations alone do not say to which session their trace belongs.
			if !strings.HasPrefix(name, "langfuse_list") && !strings.HasPrefix(name, "langfuse_blob") {
				assert.Equal(t, "sess-1", got[0].Manifest.ConversationID)
			}
		})
	}
}

// sameRun checks what every format must tell.
func sameRun(t *testing.T, tp *tape.Tape) {
	t.Helper()
	assert.Equal(t, tape.OutcomeFailed, tp.Manifest.Outcome)
	assert.Equal(t, "concierge", tp.Manifest.Agent)
	require.Len(t, tp.Records, 3)
	chat, weather, book := tp.Records[0], tp.Records[1], tp.Records[2]
	assert.Equal(t, []string{"chat", "get_weather", "book_table"}, []string{chat.Tool, weather.Tool, book.Tool})
	assert.Equal(t, []float64{100, 60, 680}, []float64{chat.MS, weather.MS, book.MS})
	assert.Equal(t, []string{"c1", "c2"}, []string{weather.ToolCallID, book.ToolCallID})
	assert.Equal(t, "m-1", chat.Model)
	assert.Contains(t, string(chat.Args), "Book a table in Oslo")
	assert.Contains(t, string(chat.Result), "book_table")
	assert.JSONEq(t, `{"city":"Oslo"}`, string(weather.Args))
	assert.Contains(t, string(weather.Result), `"temp_c":4`)
	assert.JSONEq(t, `{"size":2}`, string(book.Args))
	require.NotNil(t, book.Error)
	assert.Contains(t, book.Error.Message, "reservation API timed out after 5s")
	assert.Equal(t, "external_timeout", tp.Manifest.Failure.Class)
}

// What only changes the spelling of OTLP changes nothing on the tape.
func TestEveryDumpOfOneRunIsOneTape(t *testing.T) {
	read := func(name string) string {
		in, err := os.ReadFile(filepath.Join("testdata/foreign", name))
		require.NoError(t, err)
		return text(t, tapes(t, name, in)[0])
	}
	want := read("otlp.json")
	for _, name := range []string{"jaeger_v3.json", "tempo_batches.json", "tempo_v2.json", "go_console.json", "js_console.jsonl", "js_console.txt"} {
		assert.Equal(t, want, read(name), name)
	}
	assert.Equal(t, read("python_console.json"), read("python_decimal.jsonl"), "ids with 0x and as numbers")
	assert.Equal(t, read("langfuse_trace.json"), read("langfuse_ui.json"))
}

func TestOneFileMayHoldSeveralFormatsAndRuns(t *testing.T) {
	var in bytes.Buffer
	for i, name := range []string{"jaeger_ui.json", "python_console.json", "tempo_batches.json", "langfuse_trace.json", "go_console.json"} {
		one, err := os.ReadFile(filepath.Join("testdata/foreign", name))
		require.NoError(t, err)
		id := strings.Repeat("12345"[i:i+1], 32)
		one = bytes.ReplaceAll(one, []byte("4bf92f3577b34da6a3ce929d0e0e4736"), []byte(id))
		in.Write(bytes.ReplaceAll(one, []byte("S/kvNXezTaajzpKdDg5HNg=="), []byte("MzMzMzMzMzMzMzMzMzMzMw==")))
	}
	got := tapes(t, "mixed.json", in.Bytes())
	require.Len(t, got, 5, "every document is read")
	for _, tp := range got {
		sameRun(t, tp)
	}
}
