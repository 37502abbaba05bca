package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func record(seq int, change func(*tape.Record)) tape.Record {
	r := tape.Record{Seq: seq, Tool: "t", Args: json.RawMessage(`{"a":1}`), Result: json.RawMessage(`2`), Fidelity: tape.FidelityExact}
	if change != nil {
		change(&r)
	}
	r.Key, _ = tape.Key(r.Tool, r.Args)
	return r
}

func TestVerdicts(t *testing.T) {
	absent := func(r *tape.Record) { r.Fidelity, r.Args, r.Result = tape.FidelityAbsent, nil, nil }
	for name, c := range map[string]struct {
		record  tape.Record
		gaps    []tape.Gap
		replays bool
		want    []doctor.Finding
	}{
		"whole":               {record: record(1, nil), replays: true},
		"of a plain recorder": {record: record(1, func(r *tape.Record) { r.Fidelity = "" }), replays: true},
		"never captured, and the manifest says why": {
			record: record(1, absent),
			gaps:   []tape.Gap{{Seq: 1, What: "args", Why: "off", Fix: "X=1"}, {Seq: 1, What: "result"}},
			want:   []doctor.Finding{{What: "args", Why: "off", Fix: "X=1", Gap: true}, {What: "result", Why: "not captured", Gap: true}},
		},
		"never captured, by its grade": {
			record: record(1, absent),
			want:   []doctor.Finding{{What: "args", Why: "never captured", Gap: true}, {What: "result", Why: "never captured", Gap: true}},
		},
		"failed, so that no result is missing": {
			record:  record(1, func(r *tape.Record) { absent(r); r.Args, r.Error = json.RawMessage(`{}`), &tape.Error{Message: "x"} }),
			replays: true,
		},
		"cut": {
			record: record(1, func(r *tape.Record) { r.Fidelity = tape.FidelityTruncated }),
			want:   []doctor.Finding{{What: "result", Why: "cut before it was recorded", Gap: true}},
		},
		"by reference": {
			record: record(1, func(r *tape.Record) {
				r.Result, r.Bodies = nil, []tape.Body{{SHA256: strings.Repeat("a", 64), Bytes: 9}}
			}),
			want: []doctor.Finding{{What: "result", Why: "held by reference", Fix: "pull the tape with its bodies", Gap: true}},
		},
		"arguments by reference": {
			record: record(1, func(r *tape.Record) {
				r.Bodies = []tape.Body{{SHA256: strings.Repeat("a", 64), Bytes: 9, Of: "args"}}
			}),
			replays: true,
		},
		"redacted": {
			record: record(1, func(r *tape.Record) {
				r.Fidelity, r.Result = tape.FidelityRedacted, json.RawMessage(`"[REDACTED:key]"`)
			}),
			replays: true,
			want:    []doctor.Finding{{What: "result", Why: "a redacted value is served in place of the real one", Fix: "override it for the replay if the agent acts on it"}},
		},
		"redacted arguments only": {
			record:  record(1, func(r *tape.Record) { r.Fidelity, r.Redacted = tape.FidelityRedacted, []string{"args.token"} }),
			replays: true,
		},
		"synthesised": {
			record:  record(1, func(r *tape.Record) { r.Fidelity = tape.FidelitySynthesised }),
			replays: true,
			want:    []doctor.Finding{{What: "span", Why: "the call has no span of its own and was taken from model messages, so its times are not real", Fix: "instrument the tool calls too"}},
		},
		"expired": {
			record:  record(1, func(r *tape.Record) { r.Expires = "2026-01-01T00:00:00Z" }),
			replays: true,
			want:    []doctor.Finding{{What: "result", Why: "expired at 2026-01-01T00:00:00Z", Fix: "record the call again"}},
		},
		"not yet expired": {record: record(1, func(r *tape.Record) { r.Expires = "2027-01-01T00:00:00Z" }), replays: true},
	} {
		t.Run(name, func(t *testing.T) {
			tp := &tape.Tape{Manifest: &tape.Manifest{Tape: "1", Gaps: c.gaps}, Records: []tape.Record{c.record}}
			r := doctor.Examine(tp, doctor.At(now))
			require.Len(t, r.Records, 1)
			assert.Equal(t, c.replays, r.Replays)
			assert.Equal(t, c.replays, r.Records[0].Replays)
			assert.Equal(t, c.want, r.Records[0].Findings)
			agrees(t, tp)
		})
	}
}

func TestTheStrictPolicyOfExpiry(t *testing.T) {
	tp := &tape.Tape{Records: []tape.Record{record(1, func(r *tape.Record) { r.Expires = "2026-01-01T00:00:00Z" })}}
	assert.True(t, doctor.Examine(tp, doctor.At(now)).Replays)
	assert.False(t, doctor.Examine(tp, doctor.At(now), doctor.ExpiredAsGap()).Replays)
}

func TestKindsAndSums(t *testing.T) {
	tp := &tape.Tape{
		Manifest: &tape.Manifest{TraceID: "x", Outcome: tape.OutcomeIncomplete, Gaps: []tape.Gap{{What: "root", Why: "no root span was seen", Fix: "send it"}}},
		Records: []tape.Record{
			record(1, func(r *tape.Record) {
				r.Kind, r.Fidelity, r.Args, r.Result = tape.KindModel, tape.FidelityAbsent, nil, nil
			}),
			record(2, nil),
			record(3, func(r *tape.Record) { r.Fidelity = tape.FidelityRebuilt }),
		},
	}
	r := doctor.Examine(tp)
	assert.False(t, r.Replays)
	assert.Equal(t, 2, r.Gaps(), "the model call, and a run that never ended")
	assert.Equal(t, tape.FidelityAbsent, r.Fidelity)
	assert.Equal(t, []doctor.Kind{
		{Kind: tape.KindModel, Records: 1, Gaps: 1, Grades: map[tape.Fidelity]int{tape.FidelityAbsent: 1}},
		{Kind: tape.KindTool, Records: 2, Grades: map[tape.Fidelity]int{tape.FidelityExact: 1, tape.FidelityRebuilt: 1}},
	}, r.Kinds)
	require.Len(t, r.Run, 2)
	assert.Equal(t, doctor.Finding{What: "root", Why: "no root span was seen", Fix: "send it"}, r.Run[0])
	assert.Equal(t, "end", r.Run[1].What)
	assert.False(t, r.Run[0].Gap)
	assert.True(t, r.Run[1].Gap)

	tp.Manifest.Outcome = tape.OutcomeSucceeded
	tools := doctor.Examine(tp, doctor.Kinds(tape.KindTool))
	assert.True(t, tools.Replays, "a replay of tools alone meets no gap")
	assert.Equal(t, tape.FidelityRebuilt, tools.Fidelity)

	none := doctor.Examine(tp, doctor.Kinds(tape.KindClock))
	assert.True(t, none.Replays)
	assert.Equal(t, "calls", none.Run[len(none.Run)-1].What)
}

func TestARunOfWhichCallsMayBeMissingDoesNotReplay(t *testing.T) {
	for what, replays := range map[string]bool{"root": true, "body": true, "span": false, "tools": false} {
		tp := &tape.Tape{Manifest: &tape.Manifest{Gaps: []tape.Gap{{What: what}}}, Records: []tape.Record{record(1, nil)}}
		r := doctor.Examine(tp)
		assert.Equal(t, replays, r.Replays, what)
		assert.Equal(t, replays, doctor.Complete(tp), what)
		assert.True(t, r.Records[0].Replays, "the record itself is whole")
	}
}

func TestCountsAreByDialect(t *testing.T) {
	of := func(seq int, dialect string, kind tape.Kind, fidelity tape.Fidelity) tape.Record {
		return record(seq, func(r *tape.Record) {
			r.Dialect, r.Kind, r.Fidelity = dialect, kind, fidelity
			if fidelity == tape.FidelityAbsent {
				r.Args, r.Result = nil, nil
			}
		})
	}
	r := doctor.Examine(&tape.Tape{Manifest: &tape.Manifest{Service: "shop"}, Records: []tape.Record{
		of(1, "mcp", "", tape.FidelityAbsent), of(2, "langfuse", tape.KindModel, tape.FidelityRebuilt),
		of(3, "mcp", "", tape.FidelityAbsent), of(4, "mcp", "", tape.FidelityExact), of(5, "", "", ""),
	}})
	assert.Equal(t, "shop", r.Service)
	assert.Equal(t, []doctor.Count{
		{Dialect: "mcp", Kind: tape.KindTool, Fidelity: tape.FidelityAbsent, Records: 2, Gaps: 2},
		{Dialect: "langfuse", Kind: tape.KindModel, Fidelity: tape.FidelityRebuilt, Records: 1},
		{Dialect: "mcp", Kind: tape.KindTool, Fidelity: tape.FidelityExact, Records: 1},
		{Kind: tape.KindTool, Fidelity: tape.FidelityExact, Records: 1},
	}, r.Counts)
}

func TestABareTapeSaysWhereToAsk(t *testing.T) {
	tp := &tape.Tape{Records: []tape.Record{record(1, func(r *tape.Record) {
		r.Fidelity, r.Args, r.Result, r.Dialect = tape.FidelityAbsent, nil, nil, "otel_genai"
	})}}
	r := doctor.Examine(tp)
	assert.Equal(t, "ask for the tape with its manifest, which names the switch", r.Records[0].Findings[0].Fix)
}

// The verdict is that of a replay, on the tapes of all dialects.
func TestTheVerdictIsThatOfAReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/tapes/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	gaps := 0
	for _, file := range files {
		in, err := os.Open(file)
		require.NoError(t, err)
		tp, err := tape.ReadAll(in)
		require.NoError(t, in.Close())
		require.NoError(t, err)
		r := agrees(t, tp)
		gaps += r.Gaps()
	}
	assert.Positive(t, gaps, "there are tapes with gaps among them")
}

// agrees asks for each record on a tape of its own.
func agrees(t *testing.T, tp *tape.Tape) doctor.Report {
	t.Helper()
	r := doctor.Examine(tp, doctor.At(now))
	require.Len(t, r.Records, len(tp.Records))
	for i := range tp.Records {
		rec := tp.Records[i]
		s, err := replay.New(&tape.Tape{Manifest: tp.Manifest, Records: []tape.Record{rec}})
		require.NoError(t, err)
		args := rec.Args
		if len(args) == 0 {
			args = json.RawMessage(`{"live":"arguments"}`)
		}
		_, err = s.Ask(context.Background(), replay.Request{Kind: rec.KindOf(), Tool: rec.Tool, Args: args})
		assert.Equal(t, !r.Records[i].Replays, errors.Is(err, replay.ErrGap), "record %d: %v: %+v", rec.Seq, err, r.Records[i])
		_ = s.Close()
	}
	return r
}
