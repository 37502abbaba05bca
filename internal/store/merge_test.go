package store_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

// half is what one of two collectors says of the run.
func half(change func(*store.Entry)) store.Entry {
	e := store.Entry{Row: tape.Row{
		TraceID: idA, Outcome: tape.OutcomeSucceeded, Trigger: tape.TriggerIdle, Service: "shop", Tools: []string{"search"},
		Models: []string{"large"}, Steps: 2, Spans: 5, ToolCalls: 1, ModelCalls: 1, InputTokens: 10, OutputTokens: 3,
		Start: at(0), DurationMS: 1000, Fidelity: tape.FidelityExact, Decided: at(time.Minute),
	}}
	change(&e)
	return e
}

func money(n float64) *float64 { return &n }

func TestWhatSeveralRowsOfARunComeTo(t *testing.T) {
	kept := func(e *store.Entry) {
		e.Kept, e.Class, e.Outcome, e.Trigger, e.Decided = true, "failures", tape.OutcomeFailed, tape.TriggerRootEnded, at(2*time.Minute)
		e.FailureClass, e.FailureReason, e.FailingTool = "external_timeout", "took too long", "pay"
		e.Agent, e.Tools, e.Models, e.FailedCalls = "buyer", []string{"pay", "search"}, nil, 1
		e.Start, e.DurationMS, e.Fidelity = at(3*time.Second), 4000, tape.FidelityRebuilt
		e.Fragment, e.Bytes, e.Cost = "f1", 100, money(0.5)
	}
	both := tape.Row{
		TraceID: idA, Outcome: tape.OutcomeFailed, Trigger: tape.TriggerRootEnded, Service: "shop", Agent: "buyer",
		Tools: []string{"search", "pay"}, Models: []string{"large"}, Steps: 4, Spans: 10, ToolCalls: 2, ModelCalls: 2, FailedCalls: 1,
		InputTokens: 20, OutputTokens: 6, Start: at(0), DurationMS: 7000, Fidelity: tape.FidelityRebuilt, Kept: true, Class: "failures",
		FailureClass: "external_timeout", FailureReason: "took too long", FailingTool: "pay", Bytes: 100, Cost: money(0.5), Decided: at(2 * time.Minute),
		Complete: new(false), // a half was not kept
	}
	with := func(row tape.Row, change func(*tape.Row)) tape.Row {
		change(&row)
		return row
	}
	summary := half(func(*store.Entry) {})
	tests := map[string]struct {
		entries []store.Entry
		want    tape.Row
	}{
		"one row is as it is":           {[]store.Entry{summary}, summary.Row},
		"two collectors hold half each": {[]store.Entry{summary, half(kept)}, both},
		"a half that is newer and was not kept": {
			[]store.Entry{half(func(e *store.Entry) { e.Decided = at(9 * time.Minute) }), half(kept)},
			with(both, func(r *tape.Row) { r.Tools, r.Decided = []string{"pay", "search"}, at(9*time.Minute) }),
		},
		"one half kept as good, one failed": {
			[]store.Entry{half(func(e *store.Entry) { kept(e); e.Decided = at(time.Minute) }), half(func(e *store.Entry) {
				e.Kept, e.Class, e.Decided, e.Fragment, e.Bytes, e.Cost = true, "kept", at(2*time.Minute), "f2", 11, money(0.25)
				e.Trigger = tape.TriggerRootEnded
			})},
			with(both, func(r *tape.Row) {
				r.Tools, r.Bytes, r.Cost = []string{"pay", "search"}, 111, money(0.75)
				r.Complete = nil
			}),
		},
		"two halves kept, of which one is complete": {
			[]store.Entry{
				{Row: tape.Row{TraceID: idA, Kept: true, Outcome: "failed", Trigger: "idle", Steps: 1, Complete: new(true), AgentVersion: "2", Decided: at(0)}},
				{Row: tape.Row{TraceID: idA, Kept: true, Outcome: "failed", Trigger: "idle", Steps: 1, Complete: new(false), CodeVersion: "abc", Decided: at(time.Minute)}},
			},
			tape.Row{TraceID: idA, Kept: true, Outcome: "failed", Trigger: "idle", Steps: 2, Complete: new(false), AgentVersion: "2", CodeVersion: "abc", Decided: at(time.Minute)},
		},
		"held to compare with, and kept later": {
			[]store.Entry{summary, half(func(e *store.Entry) {
				e.Kept, e.Class, e.KeptBecause, e.Decided = true, "kept", tape.KeptLastSuccess, at(9*time.Minute)
			})},
			with(summary.Row, func(r *tape.Row) {
				r.Kept, r.Class, r.KeptBecause, r.Decided = true, "kept", tape.KeptLastSuccess, at(9*time.Minute)
			}),
		},
		"delivered again": {[]store.Entry{half(kept), half(kept), summary, half(kept)}, both},
		"a late failure stands for what was decided before": {
			[]store.Entry{summary, half(func(e *store.Entry) {
				e.Kept, e.Class, e.Outcome, e.Trigger, e.Decided = true, "failures", tape.OutcomeFailed, tape.TriggerLateFailure, at(9*time.Minute)
				e.Service, e.Steps, e.Spans, e.FailingTool, e.Fragment, e.Bytes = "", 1, 6, "pay", "f1", 50
			})},
			with(summary.Row, func(r *tape.Row) {
				r.Kept, r.Class, r.Outcome, r.Trigger, r.Decided = true, "failures", tape.OutcomeFailed, tape.TriggerLateFailure, at(9*time.Minute)
				r.Spans, r.FailingTool, r.Bytes = 6, "pay", 50
			}),
		},
		"further fragments add their size": {
			[]store.Entry{half(kept), {Part: true, Fragment: "f2", Row: tape.Row{TraceID: idA, Kept: true, Class: "failures", Bytes: 7, Outcome: "failed", Decided: at(2*time.Minute + time.Second)}}, summary},
			with(both, func(r *tape.Row) { r.Bytes = 107 }),
		},
		"a row made of all that is stored knows its size": {
			[]store.Entry{
				{Row: tape.Row{TraceID: idA, Kept: true, Outcome: "incomplete", Bytes: 10, Spans: 1, Decided: at(0)}},
				{Row: tape.Row{TraceID: idA, Kept: true, Outcome: "succeeded", Bytes: 25, Spans: 4, Decided: at(time.Minute)}},
			},
			tape.Row{TraceID: idA, Kept: true, Outcome: "succeeded", Bytes: 25, Spans: 4, Decided: at(time.Minute)},
		},
		"what was decided before a deletion is void": {
			[]store.Entry{half(kept), {Deleted: true, Row: tape.Row{TraceID: idA, Decided: at(3 * time.Minute)}}, half(func(e *store.Entry) { e.Decided = at(4 * time.Minute) })},
			with(summary.Row, func(r *tape.Row) { r.Decided = at(4 * time.Minute) }),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(4) {
				entries := append([]store.Entry(nil), test.entries...)
				rand.New(rand.NewPCG(seed, 1)).Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
				s, _ := open(t, storetest.NewMemory())
				require.NoError(t, s.AppendEntries(t.Context(), entries))
				got, err := s.Row(t.Context(), idA)
				require.NoError(t, err)
				assert.Equal(t, test.want, got)
				assert.Equal(t, []tape.Row{test.want}, list(t, s, store.Query{}))
			}
		})
	}
}

// Two collectors share a bucket, and each decides about its part.
func TestTwoCollectorsGiveOneRow(t *testing.T) {
	b := storetest.NewMemory()
	for i, entry := range []store.Entry{
		half(func(e *store.Entry) { e.Kept, e.Class, e.Fragment, e.Bytes = true, "kept", "f1", 10 }),
		half(func(e *store.Entry) {
			e.Kept, e.Class, e.Fragment, e.Bytes, e.Outcome = true, "failures", "f2", 20, tape.OutcomeFailed
			e.Decided = at(50 * time.Minute) // in the next hour of the index
		}),
	} {
		s, _ := open(t, b, func(o *store.Options) { o.Writer = string(rune('a' + i)) })
		require.NoError(t, s.AppendEntries(t.Context(), []store.Entry{entry}))
	}
	s, _ := open(t, b)
	rows := list(t, s, store.Query{Outcome: []tape.Outcome{tape.OutcomeFailed}})
	require.Len(t, rows, 1)
	assert.EqualValues(t, 30, rows[0].Bytes)
	assert.Equal(t, 10, rows[0].Spans)
	assert.Empty(t, list(t, s, store.Query{Outcome: []tape.Outcome{tape.OutcomeSucceeded}}))
}
