package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/dir"
	"github.com/tapedeck/tapedeck/tape"
)

// newConversation makes a store with a conversation of three runs, a's and c's kept,
// b's summarised, and one more run of another.
func newConversation(t *testing.T) string {
	t.Helper()
	path := t.TempDir()
	backend, err := dir.Open(path)
	require.NoError(t, err)
	st, err := store.Open(backend, store.Options{})
	require.NoError(t, err)
	defer st.Close()
	begin := time.Now().UTC().Add(-time.Hour)
	var rows []tape.Row
	for i, letter := range []rune{'c', 'a', 'b', 'd'} {
		id := strings.Repeat(string(letter), 32)
		row := tape.Row{TraceID: id, ConversationID: "chat/1", Outcome: tape.OutcomeFailed, Kept: letter != 'b', Class: "failures", Steps: 1}
		at := begin.Add(time.Duration(i) * time.Minute)
		if letter == 'c' {
			// It came last and was decided first.
			at = begin.Add(10 * time.Minute)
		}
		if letter == 'd' {
			row.ConversationID = "chat/2"
		}
		row.Start = at.Format(time.RFC3339Nano)
		row.Decided = begin.Add(time.Duration(i) * time.Minute).Format(time.RFC3339Nano)
		rows = append(rows, row)
		if !row.Kept {
			continue
		}
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(request(toolSpan(byte(letter), 1, fmt.Sprintf(`{"q":"of %c"}`, letter)))))
		require.NoError(t, err)
		moveTo(td, at)
		_, err = st.PutFragment(t.Context(), "failures", id, td)
		require.NoError(t, err)
	}
	require.NoError(t, st.AppendRows(t.Context(), rows))
	return path
}

// moveTo makes all spans begin at a time.
func moveTo(td ptrace.Traces, at time.Time) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				span.SetStartTimestamp(pcommon.NewTimestampFromTime(at))
				span.SetEndTimestamp(pcommon.NewTimestampFromTime(at.Add(time.Second)))
			}
		}
	}
}

func TestPullOfAConversationIsOneTapeInOrder(t *testing.T) {
	st := newConversation(t)
	out := filepath.Join(t.TempDir(), "chat.jsonl")
	r := tapeCmd(t, "", "--store", st, "pull", "--conversation", "chat/1", "-o", out)
	require.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.err, "conversation chat/1: the tape is not complete")
	assert.Contains(t, r.err, strings.Repeat("b", 32)+" of the conversation is not on the tape: it was not kept")
	got, err := tape.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, "chat/1", got.Manifest.ConversationID)
	assert.Empty(t, tape.Verify(got))
	require.Len(t, got.Records, 2)
	for i, letter := range []string{"a", "c"} {
		assert.Equal(t, i+1, got.Records[i].Seq)
		assert.Equal(t, strings.Repeat(letter, 32), got.Records[i].RunID)
		assert.Contains(t, string(got.Records[i].Args), "of "+letter)
	}

	r = tapeCmd(t, "", "--store", st, "pull", "--conversation", "chat/1", "--bare")
	require.Equal(t, exitOK, r.code, r.err)
	assert.Equal(t, 2, strings.Count(r.out, "\n"))
}

func TestConversationsThatCannotBePulled(t *testing.T) {
	st := newConversation(t)
	for name, tt := range map[string]struct {
		words []string
		code  int
		want  string
	}{
		"unknown":      {[]string{"--conversation", "none"}, exitMissing, `no run of conversation "none" is known to `},
		"empty":        {[]string{"--conversation", ""}, exitUsage, "--conversation is empty"},
		"both":         {[]string{"--conversation", "chat/1", strings.Repeat("a", 32)}, exitUsage, "name one trace id, or"},
		"neither":      {nil, exitUsage, "name one trace id, or"},
		"other tenant": {[]string{"--conversation", "chat/1", "--tenant", "x"}, exitMissing, "no run of conversation"},
	} {
		t.Run(name, func(t *testing.T) {
			r := tapeCmd(t, "", append([]string{"--store", st, "pull"}, tt.words...)...)
			oneLineError(t, r)
			assert.Equal(t, tt.code, r.code)
			assert.Contains(t, r.err, tt.want)
			assert.Empty(t, r.out)
		})
	}
}

func TestAConversationOfSummariesHasNoTape(t *testing.T) {
	api := newFakeAPI(t)
	api.rows = someRows(4)[1:3]
	r := tapeCmd(t, "", "--server", api.URL, "pull", "--conversation", "c")
	oneLineError(t, r)
	assert.Equal(t, exitMissing, r.code)
	assert.Contains(t, r.err, "none of the 2 runs")
}
