package dialect

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/tape"
)

func TestALeanTranslationHasTheSameRecords(t *testing.T) {
	for _, c := range recordings(t) {
		want := Runs(c.Traces, c.Logs, Options{})
		got := Runs(c.Traces, c.Logs, Options{Lean: true})
		require.Len(t, got, len(want))
		for i := range want {
			assert.Equal(t, want[i].Tape.Manifest, got[i].Tape.Manifest, c.Name)
			assert.Equal(t, want[i].Facts, got[i].Facts, c.Name)
			for range 2 {
				var records []tape.Record
				for rec := range got[i].Each() {
					records = append(records, rec)
				}
				require.Equal(t, want[i].Tape.Records, records, c.Name)
			}
			for rec := range want[i].Each() {
				require.Equal(t, want[i].Tape.Records[0], rec)
				break
			}
			for j, rec := range got[i].Tape.Records {
				if rec.KindOf() == tape.KindModel {
					assert.Nil(t, rec.Args)
					assert.Nil(t, rec.Result)
				} else {
					assert.Equal(t, want[i].Tape.Records[j], rec)
				}
			}
		}
	}
}

// Keys are hashed and replaced values found piece by piece; they are those of the
// whole text.
func TestKeysAreThoseOfTheText(t *testing.T) {
	models := 0
	check := func(runs []Run) {
		for _, run := range runs {
			for rec := range run.Each() {
				if slices.ContainsFunc(rec.Bodies, func(b tape.Body) bool { return b.IsArgs() }) {
					continue
				}
				key, hash, err := tape.KeyAndHash(rec.Tool, rec.Args)
				require.NoError(t, err)
				require.Equal(t, key, rec.Key)
				require.Equal(t, hash, rec.ArgsHash)
				if rec.KindOf() == tape.KindModel {
					models++
				}
				redacted := placeholdersIn(placeholdersIn(nil, "args", rec.Args), "result", rec.Result)
				require.Equal(t, redacted, rec.Redacted[:len(redacted):len(redacted)])
			}
		}
	}
	for _, c := range recordings(t) {
		check(Runs(c.Traces, c.Logs, Options{Lean: true}))
	}
	assert.Greater(t, models, 100)
	for seed := range uint64(20) {
		td := turns(t, seed)
		whole, lean := Runs(td, plog.NewLogs(), Options{}), Runs(td, plog.NewLogs(), Options{Lean: true})
		check(lean)
		require.Equal(t, recordsOf(whole), recordsOf(lean))
		require.Equal(t, whole[0].Tape.Manifest, lean[0].Tape.Manifest)
		require.Equal(t, doctor.Examine(whole[0].Tape).Counts, doctor.Examine(lean[0].Tape).Counts)
	}
}

// turns are model calls of two agents that take turns, now and then forget what
// they said, mark their last message, and are given another system message.
func turns(t testing.TB, seed uint64) ptrace.Traces {
	random := rand.New(rand.NewPCG(seed, 1))
	var agents [2][]string
	var spans []sp
	for i := range 60 {
		said := &agents[random.IntN(2)]
		if len(*said) > 0 && random.IntN(8) == 0 {
			*said = (*said)[random.IntN(len(*said)):]
		}
		if random.IntN(8) == 0 {
			*said = append([]string{fmt.Sprintf(`{"role":"system","content":"it is %d"}`, i)}, *said...)
		}
		for range random.IntN(3) {
			*said = append(*said, fmt.Sprintf(`{"role":"user","content":"  say %d é [REDACTED:key] ","z":null}`, random.IntN(40)))
		}
		text := strings.Join(*said, ",")
		if random.IntN(2) == 0 {
			text = strings.Join(append(slices.Clone(*said), `{"role":"user","content":"last","cache_control":{"type":"ephemeral"}}`), ",")
		}
		text = "[" + text + "]"
		one := chat(2, 1, i*10, i*10+5, text, finished)
		if random.IntN(3) == 0 {
			one.attrs["gen_ai.tool.definitions"] = fmt.Sprintf(`[{"name":"t%d","parameters":{"type":"object"}}]`, random.IntN(3))
			one.attrs["gen_ai.request.temperature"] = random.Float64()
		}
		if random.IntN(4) == 0 {
			one.attrs["gen_ai.system_instructions"] = `[{"type":"text","content":"be brief [REDACTED:x]"}]`
		}
		spans = append(spans, one)
	}
	td := traces(t, spans...)
	for i, rs := range td.ResourceSpans().All() {
		rs.ScopeSpans().At(0).Spans().At(0).SetSpanID([8]byte{6: byte((i + 1) >> 8), 7: byte(i + 1)})
	}
	return td
}

// A run whose every model call repeats the conversation is held once, not once
// a call: what a lean translation keeps is a small part of the text it read,
// and a whole one keeps little more than its records.
func TestARepeatedConversationIsHeldOnce(t *testing.T) {
	for name, long := range map[string]func(testing.TB, int) (ptrace.Traces, int){"one text": longRun, "indexed attributes": longIndexedRun} {
		t.Run(name, func(t *testing.T) { heldOnce(t, long) })
	}
}

// longIndexedRun is longRun with the messages spread over attributes, as
// OpenInference writes them.
func longIndexedRun(t testing.TB, turns int) (ptrace.Traces, int) {
	var spans []sp
	said := []string{"do it"}
	size := 0
	for i := range turns {
		model := sp{id: 1, from: i * 10, to: i*10 + 5, name: "llm", attrs: attrs{
			"openinference.span.kind": "LLM", "llm.model_name": "m",
			"llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": fmt.Sprint("answer ", i),
		}}
		for j, text := range said {
			role := "user"
			if j%2 == 1 {
				role = "assistant"
			}
			model.attrs[fmt.Sprintf("llm.input_messages.%d.message.role", j)] = role
			model.attrs[fmt.Sprintf("llm.input_messages.%d.message.content", j)] = text
			size += len(text)
		}
		spans = append(spans, model)
		said = append(said, fmt.Sprint("answer ", i), fmt.Sprint("question ", i, strings.Repeat(" and why", 200)))
	}
	td := traces(t, spans...)
	for i, rs := range td.ResourceSpans().All() {
		rs.ScopeSpans().At(0).Spans().At(0).SetSpanID([8]byte{6: byte((i + 1) >> 8), 7: byte(i + 1)})
	}
	return td, size
}

func heldOnce(t *testing.T, long func(testing.TB, int) (ptrace.Traces, int)) {
	td, size := long(t, 150)
	live := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := live()
	runs := Runs(td, plog.NewLogs(), Options{Lean: true})
	kept := float64(live()) - float64(before)
	assert.Less(t, kept, 0.2*float64(size), "kept %.0f of %d bytes", kept, size)
	longest, total := 0, 0
	for rec := range runs[0].Each() {
		longest, total = max(longest, len(rec.Args)), total+len(rec.Args)
	}
	assert.Greater(t, total, size/2)
	after := float64(live()) - float64(before)
	assert.Less(t, after, 0.2*float64(size)+float64(longest))
	runtime.KeepAlive(runs)
	t.Logf("text %d MB, kept lean %.2f MB (%.1f %%), longest record %d KB", size>>20, kept/(1<<20), 100*kept/float64(size), longest>>10)

	runs = Runs(td, plog.NewLogs(), Options{})
	whole := float64(live()) - float64(before)
	records := 0
	for _, rec := range runs[0].Tape.Records {
		records += len(rec.Args) + len(rec.Result)
		require.True(t, json.Valid(rec.Args))
	}
	assert.Less(t, whole, 1.15*float64(records), "kept %.0f for records of %d bytes", whole, records)
	t.Logf("kept whole %.2f MB for %.2f MB of records", whole/(1<<20), float64(records)/(1<<20))
	runtime.KeepAlive(td)
}
