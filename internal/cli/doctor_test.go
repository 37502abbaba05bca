package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/doctor"
)

const emptyTape = `{"tape":"1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","outcome":"succeeded","complete":false,"gaps":[` +
	`{"seq":1,"what":"args","why":"not captured","fix":"CAPTURE=true"},{"seq":1,"what":"result","why":"not captured","fix":"CAPTURE=true"},` +
	`{"seq":2,"what":"args","why":"not captured","fix":"CAPTURE=true"},{"what":"root","why":"no root span was seen"}]}
{"seq":1,"tool":"chat","key":"chat:74234e98afe7","args":null,"result":null,"ms":1,"side_effect":null,"clock":null,"kind":"model","fidelity":"absent"}
{"seq":2,"tool":"search","key":"search:74234e98afe7","args":null,"result":1,"ms":1,"side_effect":null,"clock":null,"fidelity":"absent"}
{"seq":3,"tool":"get\u001b[31m","key":"get\u001b[31m:44136fa355b3","args":{},"result":1,"ms":1,"side_effect":null,"clock":null,"fidelity":"synthesised"}
`

func TestDoctorOfATapeWithGaps(t *testing.T) {
	r := tapeCmd(t, emptyTape, "doctor", "-")
	assert.Equal(t, exitNo, r.code)
	assert.Equal(t, "tape: a strict replay of - would meet 2 gaps\n", r.err)
	assert.Equal(t, `run 4bf92f3577b34da6a3ce929d0e0e4736  succeeded
does not replay: 2 gaps in 3 steps
  model  1: 1 absent
  tool   2: 1 synthesised, 1 absent

step  kind   tool         grade        strict replay
   1  model  chat         absent       gap: args, result
   2  tool   search       absent       gap: args
   3  tool   get\x1b[31m  synthesised  answered, with a note on span

  steps 1-2: args: not captured (to fix: CAPTURE=true)
  step 1: result: not captured (to fix: CAPTURE=true)
  step 3: span: the call has no span of its own and was taken from model messages, so its times are not real (to fix: instrument the tool calls too)
  root: no root span was seen
`, r.out)

	r = tapeCmd(t, emptyTape, "doctor", "-", "--json")
	assert.Equal(t, exitNo, r.code)
	var report doctor.Report
	require.NoError(t, json.Unmarshal([]byte(r.out), &report))
	assert.False(t, report.Replays)
	assert.Equal(t, "CAPTURE=true", report.Records[0].Findings[0].Fix)
}

func TestDoctorOfAGoodTape(t *testing.T) {
	r := tapeCmd(t, "", "doctor", "testdata/bare.jsonl")
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.out, "replays\n  tool ")
	assert.Empty(t, r.err)
}

// A tape that tape run refuses does not replay, for the same reason.
func TestDoctorOfATapeThatNoReplayTakes(t *testing.T) {
	for name, lines := range map[string]string{
		"expires":   `{"seq":1,"tool":"t","args":{},"result":1,"expires":"soon"}`,
		"redaction": `{"tape":"1","redaction":{"policy":"own","rules":[{"pattern":"(("}]}}` + "\n" + `{"seq":1,"tool":"t","args":{},"result":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "refused.jsonl")
			require.NoError(t, os.WriteFile(file, []byte(lines+"\n"), 0o600))
			refused := tapeCmd(t, "", "run", file, "--", "true")
			assert.Equal(t, exitUsage, refused.code)
			assert.Contains(t, refused.err, name)
			for _, verb := range []string{"doctor", "dry", "triage"} {
				r := tapeCmd(t, "", verb, file)
				assert.Equal(t, exitNo, r.code, verb)
				assert.Contains(t, r.out, name, verb)
			}
		})
	}
}

func TestDoctorOfSomeKinds(t *testing.T) {
	bare := strings.Join(strings.SplitAfter(emptyTape, "\n")[1:], "")
	r := tapeCmd(t, bare, "doctor", "-", "--kind", "tool")
	assert.Equal(t, exitNo, r.code)
	assert.Contains(t, r.out, "does not replay: 1 gap in 2 steps")
	r = tapeCmd(t, bare, "doctor", "-", "--kind", "dice")
	assert.Equal(t, exitUsage, r.code)
	oneLineError(t, r)
	old := `{"seq":1,"tool":"t","key":"t:44136fa355b3","args":{},"result":1,"ms":1,"side_effect":null,"clock":null,"expires":"2020-01-01T00:00:00Z"}` + "\n"
	assert.Equal(t, exitOK, tapeCmd(t, old, "doctor", "-").code)
	assert.Equal(t, exitNo, tapeCmd(t, old, "doctor", "-", "--fail-expired").code)
}

func TestDoctorFaults(t *testing.T) {
	for _, in := range []string{"", "nonsense", `{"tape":"2"}`} {
		r := tapeCmd(t, in, "doctor", "-")
		assert.Equal(t, exitUsage, r.code)
		oneLineError(t, r)
	}
	r := tapeCmd(t, "", "doctor", "nothing")
	assert.Equal(t, exitUsage, r.code)
	oneLineError(t, r)
}
