package conversation_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/conversation"
	"github.com/tapedeck/tapedeck/tape"
)

func traceID(n int) string { return fmt.Sprintf("%032x", n) }

// run is the tape of the nth run of a conversation, with as many records.
func run(t *testing.T, n, records int, change ...func(*tape.Manifest)) *tape.Tape {
	t.Helper()
	r := &tape.Tape{Manifest: &tape.Manifest{
		Tape: tape.Version, TraceID: traceID(n), ConversationID: "c", Service: "shop", Agent: "planner",
		Started: fmt.Sprintf("2026-08-20T10:%02d:00Z", n), Ended: fmt.Sprintf("2026-08-20T10:%02d:30Z", n),
		Outcome: tape.OutcomeSucceeded, Complete: true, Fidelity: tape.FidelityExact,
		Redaction: &tape.Redaction{Policy: "p"}, Resource: []byte(`{"service.name":"shop"}`),
		Tools: []tape.Tool{{Name: "fetch", SchemaVersion: "1"}},
	}}
	for i := range records {
		key, err := tape.Key("fetch", []byte(`{"n":1}`))
		require.NoError(t, err)
		r.Records = append(r.Records, tape.Record{
			Seq: i + 1, Tool: "fetch", Key: key, Args: []byte(`{"n":1}`), Result: []byte(fmt.Sprint(n*10 + i)), Done: records - i,
		})
	}
	for _, c := range change {
		c(r.Manifest)
	}
	return r
}

func TestTheRunsOfAConversationFollowOneAnother(t *testing.T) {
	joined, err := conversation.Join("c", []*tape.Tape{run(t, 3, 1), run(t, 1, 2), run(t, 2, 2)}, nil)
	require.NoError(t, err)
	var results, ids []string
	for i, r := range joined.Records {
		assert.Equal(t, i+1, r.Seq)
		results, ids = append(results, string(r.Result)), append(ids, r.RunID)
	}
	assert.Equal(t, []string{"10", "11", "20", "21", "30"}, results)
	assert.Equal(t, []string{traceID(1), traceID(1), traceID(2), traceID(2), traceID(3)}, ids)
	m := joined.Manifest
	assert.Equal(t, "c", m.ConversationID)
	assert.Empty(t, m.TraceID)
	assert.Equal(t, "2026-08-20T10:01:00Z", m.Started)
	assert.Equal(t, "2026-08-20T10:03:30Z", m.Ended)
	assert.Equal(t, "shop", m.Service)
	assert.Equal(t, tape.OutcomeSucceeded, m.Outcome)
	assert.Equal(t, "p", m.Redaction.Policy)
	assert.Len(t, m.Tools, 1)
	assert.True(t, m.Complete)
	require.Len(t, m.Extra, 1)
	var runs []conversation.Run
	require.NoError(t, json.Unmarshal(m.Extra[0].Value, &runs))
	assert.Equal(t, []conversation.Run{
		{traceID(1), tape.OutcomeSucceeded, 1, 2}, {traceID(2), tape.OutcomeSucceeded, 3, 4}, {traceID(3), tape.OutcomeSucceeded, 5, 5},
	}, runs)

	// It is a good tape: every reader takes it and finds nothing wrong.
	var text bytes.Buffer
	require.NoError(t, tape.NewWriter(&text).WriteAll(m, slices.Values(joined.Records)))
	again, err := tape.ReadAll(&text)
	require.NoError(t, err)
	assert.Empty(t, tape.Verify(again))
}

func TestWhatDiffersIsLeftOutAndToldWhereItMatters(t *testing.T) {
	joined, err := conversation.Join("c", []*tape.Tape{run(t, 1, 1), run(t, 2, 1, func(m *tape.Manifest) {
		m.Service, m.Resource = "bank", []byte(`{}`)
		m.Redaction = &tape.Redaction{Policy: "q"}
		m.Fidelity = tape.FidelityTruncated
		m.Tools[0].SchemaVersion = "2"
	})}, nil)
	require.NoError(t, err)
	m := joined.Manifest
	assert.Empty(t, m.Service)
	assert.Empty(t, m.Resource)
	assert.Nil(t, m.Redaction)
	require.Len(t, m.Gaps, 1)
	assert.Equal(t, "redaction", m.Gaps[0].What)
	assert.Equal(t, "planner", m.Agent)
	assert.Equal(t, tape.FidelityTruncated, m.Fidelity)
	assert.Len(t, m.Tools, 2)
}

func TestGapsAndFailuresKeepTheirRecords(t *testing.T) {
	joined, err := conversation.Join("c", []*tape.Tape{run(t, 1, 2), run(t, 2, 2, func(m *tape.Manifest) {
		m.Outcome, m.Failure = tape.OutcomeFailed, &tape.Failure{Class: "external_timeout", Seq: 2}
		m.Gaps = []tape.Gap{{Seq: 1, What: "result", Why: "never captured"}, {What: "root", Why: "not seen"}}
	})}, nil)
	require.NoError(t, err)
	m := joined.Manifest
	assert.Equal(t, tape.OutcomeFailed, m.Outcome)
	assert.Equal(t, 4, m.Failure.Seq)
	require.Len(t, m.Gaps, 2)
	assert.Equal(t, 3, m.Gaps[0].Seq)
	assert.Equal(t, "run "+traceID(2)+": not seen", m.Gaps[1].Why)
	assert.False(t, m.Complete)
}

func TestHowAConversationEnded(t *testing.T) {
	for name, tt := range map[string]struct {
		outcomes []tape.Outcome
		want     tape.Outcome
	}{
		"well":             {[]tape.Outcome{tape.OutcomeSucceeded, tape.OutcomeSucceeded}, tape.OutcomeSucceeded},
		"well after a bad": {[]tape.Outcome{tape.OutcomeFailed, tape.OutcomeSucceeded}, tape.OutcomeRecovered},
		"badly":            {[]tape.Outcome{tape.OutcomeSucceeded, tape.OutcomeFailed}, tape.OutcomeFailed},
		"not":              {[]tape.Outcome{tape.OutcomeFailed, tape.OutcomeIncomplete}, tape.OutcomeIncomplete},
	} {
		t.Run(name, func(t *testing.T) {
			var runs []*tape.Tape
			for i, o := range tt.outcomes {
				runs = append(runs, run(t, i+1, 1, func(m *tape.Manifest) { m.Outcome = o }))
			}
			joined, err := conversation.Join("c", runs, nil)
			require.NoError(t, err)
			assert.Equal(t, tt.want, joined.Manifest.Outcome)
		})
	}
}

func TestARunThatIsNotThereKeepsAStrictReplayFromPassing(t *testing.T) {
	joined, err := conversation.Join("c", []*tape.Tape{run(t, 1, 1)}, []conversation.Missing{{TraceID: traceID(2), Why: "it was not kept"}})
	require.NoError(t, err)
	assert.False(t, joined.Manifest.Complete)
	require.Len(t, joined.Manifest.Gaps, 1)
	assert.Contains(t, joined.Manifest.Gaps[0].Why, traceID(2))
	assert.Equal(t, traceID(1), joined.Manifest.TraceID)
}

func TestRunsThatCannotBeJoined(t *testing.T) {
	_, err := conversation.Join("c", nil, nil)
	require.ErrorIs(t, err, conversation.ErrNoRuns)
	_, err = conversation.Join("c", []*tape.Tape{{}}, nil)
	assert.ErrorContains(t, err, "has no manifest")
}
