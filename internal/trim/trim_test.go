package trim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

func parse(t testing.TB, lines ...string) *tape.Tape {
	t.Helper()
	out, err := tape.ReadAll(strings.NewReader(strings.Join(lines, "\n")))
	require.NoError(t, err)
	for i := range out.Records {
		r := &out.Records[i]
		r.Seq = i + 1
		if r.Done == 0 {
			r.Done = i + 1
		}
		r.Key, err = tape.KeyOf(r)
		require.NoError(t, err)
	}
	return out
}

func kept(r *Report) (out []int) {
	for _, s := range r.Kept {
		out = append(out, s.Seq)
	}
	return out
}

const asked = `{"tool":"chat","kind":"model","args":{"messages":[{"role":"user","parts":[{"type":"text","content":"book"}]}]},"result":{"message":{"parts":[{"type":"tool_call","id":"%s","name":"%s"}]}}}`

func TestNeeded(t *testing.T) {
	fail := `{"tool":"book","args":{"restaurant":42},"error":{"code":"500"}}`
	for name, tt := range map[string]struct {
		lines []string
		kept  []int
	}{
		"a value that flows in": {
			[]string{`{"tool":"weather","args":1,"result":{"temp":19}}`, `{"tool":"search","result":{"id":42}}`, fail, `{"tool":"after"}`},
			[]int{2, 3},
		},
		"the last that has it": {
			[]string{`{"tool":"search","args":1,"result":{"id":42}}`, `{"tool":"search","args":2,"result":{"id":42}}`, fail}, []int{2, 3},
		},
		"through another call": {
			[]string{`{"tool":"user","result":"customer-7"}`, `{"tool":"search","args":{"of":"customer-7"},"result":{"id":42}}`, `{"tool":"other","result":1}`, fail}, []int{1, 2, 4},
		},
		"inside a longer text": {
			[]string{`{"tool":"fetch","result":"see https://example.com/42 there"}`, `{"tool":"fetch","args":{"url":"https://example.com/42"},"error":{"code":"404"}}`}, []int{1, 2},
		},
		"JSON inside a text": {
			[]string{`{"tool":"search","result":"{\"id\":42}"}`, fail}, []int{1, 2},
		},
		"too little to tell": {
			[]string{`{"tool":"count","result":5}`, `{"tool":"book","args":{"n":5},"error":{"code":"500"}}`}, []int{2},
		},
		"who asked, and what it was told": {
			[]string{
				fmt.Sprintf(asked, "c1", "search"),
				`{"tool":"search","tool_call_id":"c1","args":{"q":1},"result":"none"}`,
				`{"tool":"weather","args":1,"result":{"temp":19}}`,
				`{"tool":"chat","kind":"model","args":{"messages":[{"role":"assistant","parts":[{"type":"tool_call","id":"c1"}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","result":"none"}]}]},"result":{"message":{"parts":[{"type":"tool_call","id":"c2","name":"book"}]}}}`,
				`{"tool":"book","tool_call_id":"c2","args":{"x":1},"error":{"code":"500"}}`,
				`{"tool":"chat","kind":"model","args":{}}`,
			},
			[]int{1, 2, 4, 5},
		},
		"an id used twice": {
			[]string{fmt.Sprintf(asked, "1", "a"), fmt.Sprintf(asked, "1", "b"), `{"tool":"b","tool_call_id":"1","error":{"code":"1"}}`}, []int{2, 3},
		},
		"clock and random": {
			[]string{`{"tool":"now","kind":"clock"}`, `{"tool":"draw","kind":"random"}`, `{"tool":"x"}`, fail, `{"tool":"now","kind":"clock"}`}, []int{1, 2, 4},
		},
		"what encloses it": {
			[]string{`{"tool":"delegate","step_id":"00000000000000a1"}`, `{"tool":"x","parent_id":"00000000000000a1"}`, `{"tool":"book","parent_id":"00000000000000a1","error":{"code":"500"}}`}, []int{1, 3},
		},
		"the same write before": {
			[]string{`{"tool":"pay","args":{"a":5},"side_effect":true,"result":"ok"}`, `{"tool":"x","args":9}`, `{"tool":"pay","args":{"a":5},"side_effect":true,"error":{"code":"409","message":"already exists"}}`}, []int{1, 3},
		},
		"parents of one another": {
			[]string{`{"tool":"x","args":1,"step_id":"00000000000000a1","parent_id":"00000000000000a2"}`, `{"tool":"x","args":2,"step_id":"00000000000000a2","parent_id":"00000000000000a1"}`, `{"tool":"book","parent_id":"00000000000000a2","error":{"code":"500"}}`}, []int{1, 2, 3},
		},
		"its own parent": {
			[]string{`{"tool":"book","step_id":"00000000000000a1","parent_id":"00000000000000a1","error":{"code":"500"}}`}, []int{1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			whole := parse(t, tt.lines...)
			out, r, err := Trim(whole, 0)
			require.NoError(t, err)
			assert.Equal(t, tt.kept, kept(r))
			assert.Len(t, out.Records, len(tt.kept))
			assert.Len(t, r.Dropped, len(tt.lines)-len(tt.kept))
			for _, s := range slices.Concat(r.Kept, r.Dropped) {
				assert.NotEmpty(t, s.Why)
			}
			assert.Equal(t, tape.Verify(whole) == nil, tape.Verify(out) == nil, "%v", tape.Verify(out))
		})
	}
}

func TestWhichFailure(t *testing.T) {
	lines := []string{`{"tool":"a","args":1,"error":{"code":"1"}}`, `{"tool":"b","args":2,"error":{"code":"2"}}`}
	_, r, err := Trim(parse(t, lines...), 0)
	require.NoError(t, err)
	assert.Equal(t, 2, r.Seq, "the last")
	_, r, err = Trim(parse(t, append([]string{`{"tape":"1","failure":{"seq":1}}`}, lines...)...), 0)
	require.NoError(t, err)
	assert.Equal(t, 1, r.Seq, "that of the run")
	_, r, err = Trim(parse(t, lines...), 1)
	require.NoError(t, err)
	assert.Equal(t, []int{1}, kept(r))
	_, _, err = Trim(parse(t, lines...), 7)
	assert.ErrorIs(t, err, ErrNoStep)
	_, _, err = Trim(parse(t, `{"tool":"a"}`), 0)
	assert.ErrorIs(t, err, ErrNothingFailed)
	_, _, err = Trim(&tape.Tape{}, 0)
	assert.ErrorIs(t, err, ErrNothingFailed)
}

func TestManifestOfATrimmedTape(t *testing.T) {
	whole := parse(t, `{"tape":"1","complete":false,"gaps":[{"seq":1,"what":"result"},{"seq":0,"what":"root"}],"failure":{"seq":3},"x":1}`,
		`{"tool":"a"}`, `{"tool":"b","done":3}`, `{"tool":"c","done":2,"error":{"code":"1"}}`)
	out, _, err := Trim(whole, 0)
	require.NoError(t, err)
	assert.Equal(t, []tape.Gap{{What: "root"}}, out.Manifest.Gaps)
	assert.True(t, out.Manifest.Complete, "the gap was in what is gone")
	assert.Equal(t, 1, out.Records[0].Done)
	assert.Equal(t, 3, out.Records[0].Seq)
	assert.Equal(t, `{"from":3,"to":1}`, string(out.Manifest.Extra[1].Value))
	assert.Empty(t, tape.Verify(out))
	assert.Len(t, whole.Manifest.Gaps, 2, "the tape given is as it was")
	assert.Equal(t, 2, whole.Records[2].Done)

	again, _, err := Trim(out, 0)
	require.NoError(t, err)
	assert.Len(t, again.Manifest.Extra, 2)
	assert.Equal(t, `{"from":3,"to":1}`, string(again.Manifest.Extra[1].Value))
}

func TestMinimise(t *testing.T) {
	lines := make([]string, 40)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"tool":"t","args":%d}`, i)
	}
	whole := parse(t, lines...)
	all := make([]int, len(lines))
	for i := range all {
		all[i] = i
	}
	needs := []int{3, 17, 18, 39}
	fails := func(s *tape.Tape) (bool, error) {
		for _, n := range needs {
			if !slices.ContainsFunc(s.Records, func(r tape.Record) bool { return r.Seq == n+1 }) {
				return false, nil
			}
		}
		return true, nil
	}
	set, used, done, err := Minimise(whole, all, 39, 1000, fails)
	require.NoError(t, err)
	assert.True(t, done)
	assert.Equal(t, needs, set)
	assert.Less(t, used, 120)

	set, used, done, err = Minimise(whole, all, 39, 5, fails)
	require.NoError(t, err)
	assert.False(t, done)
	assert.Equal(t, 5, used)
	ok, _ := fails(Subset(whole, set))
	assert.True(t, ok, "what there is so far still fails")

	set, _, _, err = Minimise(whole, all, 39, 1000, func(*tape.Tape) (bool, error) { return true, nil })
	require.NoError(t, err)
	assert.Equal(t, []int{39}, set)

	_, _, _, err = Minimise(whole, all, 39, 1000, func(*tape.Tape) (bool, error) { return false, nil })
	assert.ErrorIs(t, err, ErrNotTheSame)
	broken := errors.New("broken")
	_, _, _, err = Minimise(whole, all, 39, 1000, func(*tape.Tape) (bool, error) { return false, broken })
	assert.ErrorIs(t, err, broken)
}

func FuzzTrim(f *testing.F) {
	f.Add(`{"tool":"a","result":"{\"x\":[1234]}"}`, `{"tool":"b","args":[1234,"é"],"error":"e"}`)
	f.Add(fmt.Sprintf(asked, "1", "a"), `{"tool":"a","tool_call_id":"1","error":{}}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		whole, err := tape.ReadAll(strings.NewReader(a + "\n" + b))
		if err != nil {
			return
		}
		out, r, err := Trim(whole, 0)
		if err != nil {
			return
		}
		assert.Len(t, out.Records, len(r.Kept))
		assert.Equal(t, len(whole.Records), len(r.Kept)+len(r.Dropped))
	})
}
