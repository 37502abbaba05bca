package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// leaf is a place in a JSON value and the text that stands there.
type leaf struct {
	path string
	set  func(any)
}

// leaves lists the leaves of a value, which lies in a box of its own.
func leaves(path string, value any, set func(any)) (list []leaf) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			list = append(list, leaves(joinName(path, name), inner, func(x any) { v[name] = x })...)
		}
	case []any:
		for i, inner := range v {
			list = append(list, leaves(fmt.Sprintf("%s[%d]", path, i), inner, func(x any) { v[i] = x })...)
		}
	default:
		list = append(list, leaf{path, set})
	}
	return list
}

// TestAnyChangedLeafIsNamed: a single changed leaf anywhere in the arguments is
// reported as exactly that path.
func TestAnyChangedLeafIsNamed(t *testing.T) {
	const args = `{"url":"https://example.com","limit":10,"deep":{"list":[1,2.5,{"x":true,"y.z":null,"":"e"}],"搜索":"q"},"flag":false}`
	parse := func() (box any) {
		decoder := json.NewDecoder(strings.NewReader(args))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&box))
		return box
	}
	box := parse()
	all := leaves("", box, nil)
	require.Len(t, all, 9)
	for i := range all {
		box := parse()
		for _, l := range leaves("", box, nil) {
			if l.path == all[i].path {
				l.set("changed")
			}
		}
		changed, err := json.Marshal(box)
		require.NoError(t, err)
		s := start(t, &tape.Tape{Records: []tape.Record{{Tool: "t", Args: raw(args)}}})
		_, err = s.Call(ctx, "t", raw(string(changed)), never(t))
		var drift *DriftError
		require.ErrorAs(t, err, &drift)
		require.Len(t, drift.Differences, 1)
		assert.Equal(t, all[i].path, drift.Differences[0].Path)
		assert.Equal(t, `"changed"`, string(drift.Differences[0].Live))
	}
}

// TestAnyOtherChangeIsNamed: calls removed, added and swapped are reported as
// exactly that.
func TestAnyOtherChangeIsNamed(t *testing.T) {
	const calls = 8
	var lines []string
	for i := range calls {
		lines = append(lines, fmt.Sprintf(`{"tool":"t%d","args":%d}`, i, i))
	}
	deck := parse(t, lines...)
	run := func(order []int, options ...Option) *Session {
		s := start(t, deck, options...)
		for _, i := range order {
			_, _ = s.Call(ctx, fmt.Sprint("t", i), i, never(t))
		}
		return s
	}
	order := []int{0, 1, 2, 3, 4, 5, 6, 7}
	for i := range calls {
		removed := append(append([]int{}, order[:i]...), order[i+1:]...)
		report := run(removed).Report()
		assert.Equal(t, []Unconsumed{{Seq: i + 1, Kind: tape.KindTool, Tool: fmt.Sprint("t", i), Key: deckKey(t, i)}}, report.Unconsumed)
		assert.Equal(t, calls-1, report.Stats.TapeHits)
		assert.Zero(t, report.Stats.Reordered)

		added := append(append([]int{}, order[:i]...), append([]int{99}, order[i:]...)...)
		report = run(added).Report()
		require.Len(t, report.Events, 1)
		assert.Equal(t, VerdictMiss, report.Events[0].Verdict)
		assert.Equal(t, i+1, report.Events[0].Call)
		assert.Equal(t, calls, report.Stats.TapeHits)

		if i > 0 {
			swapped := append([]int{}, order...)
			swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
			report = run(swapped).Report()
			assert.True(t, report.Clean)
			assert.Equal(t, 1, report.Stats.Reordered)
			report = run(swapped, WithOrder(OrderStrict)).Report()
			assert.Equal(t, VerdictDivergence, report.Events[0].Verdict)
			assert.Equal(t, i, report.Events[0].Seq)
		}
	}
}

func deckKey(t *testing.T, i int) string {
	key, err := tape.Key(fmt.Sprint("t", i), []byte(fmt.Sprint(i)))
	require.NoError(t, err)
	return key
}

// TestBigContent: arguments of a megabyte match, and a result of 50 MB is served
// without a copy.
func TestBigContent(t *testing.T) {
	args, err := json.Marshal(map[string]string{"text": strings.Repeat("word ", 200_000)})
	require.NoError(t, err)
	result := raw(`"` + strings.Repeat("x", 50<<20) + `"`)
	s := start(t, &tape.Tape{Records: []tape.Record{{Tool: "t", Args: args, Result: result}}})
	got, err := s.Call(ctx, "t", json.RawMessage(args), never(t))
	require.NoError(t, err)
	assert.Same(t, &result[0], &got[0])
}

// FuzzDiff: two texts differ exactly if their canonical forms do.
func FuzzDiff(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":null}],"c":" x "}`), []byte(`{"c":"x","a":[1,{}]}`))
	f.Add([]byte(`[1,2]`), []byte(`[1,2.0,"3"]`))
	f.Add([]byte(`{"a":{}}`), []byte(`{"a":[]}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		list, err := Diff(a, b)
		x, errA := tape.Canonical(a)
		y, errB := tape.Canonical(b)
		if (err != nil) != (errA != nil || errB != nil) {
			t.Fatalf("%v, but %v and %v", err, errA, errB)
		}
		// A lone surrogate has no place in a Go string, so two may look alike.
		if err != nil || bytes.Contains(x, []byte(`\ud`)) || bytes.Contains(y, []byte(`\ud`)) {
			return
		}
		if (len(list) == 0) != bytes.Equal(x, y) {
			t.Fatalf("%s and %s: %v", x, y, list)
		}
	})
}
