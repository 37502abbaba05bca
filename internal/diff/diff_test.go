package diff

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

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
		r.Key, err = tape.KeyOf(r)
		require.NoError(t, err)
	}
	return out
}

// steps is what a report says, a word a step.
func steps(r *Report) (out []string) {
	for _, s := range r.Steps {
		text := string(s.Status)
		if s.A != nil {
			text += fmt.Sprintf(" a%d", s.A.Seq)
		}
		if s.B != nil {
			text += fmt.Sprintf(" b%d", s.B.Seq)
		}
		for _, c := range s.Changes {
			text += " " + c.Place()
		}
		out = append(out, text)
	}
	return out
}

func call(tool string, args, result any) string {
	text, _ := json.Marshal(map[string]any{"tool": tool, "args": args, "result": result})
	return string(text)
}

func TestSteps(t *testing.T) {
	x, y, z := call("x", 1, 10), call("y", 2, 20), call("z", 3, 30)
	for name, tt := range map[string]struct {
		a, b  []string
		steps []string
	}{
		"equal":              {[]string{x, y, z}, []string{x, y, z}, nil},
		"both empty":         {nil, nil, nil},
		"everything added":   {nil, []string{x}, []string{"added b1"}},
		"removed":            {[]string{x, y, z}, []string{x, z}, []string{"missing a2"}},
		"added":              {[]string{x, z}, []string{x, y, z}, []string{"added b2"}},
		"swapped":            {[]string{x, y}, []string{y, x}, []string{"moved a1 b2"}},
		"moved to the end":   {[]string{x, y, z}, []string{y, z, x}, []string{"moved a1 b3"}},
		"one of two alike":   {[]string{x, x, y}, []string{x, y}, []string{"missing a2"}},
		"first of a cycle":   {[]string{x, y, x}, []string{y, x}, []string{"missing a1"}},
		"argument changed":   {[]string{x, y}, []string{x, call("y", 3, 20)}, []string{"changed a2 b2 args"}},
		"result changed":     {[]string{x, y}, []string{x, call("y", 2, 21)}, []string{"changed a2 b2 result"}},
		"moved and changed":  {[]string{x, y}, []string{y, call("x", 1, 11)}, []string{"moved a1 b2 result"}},
		"another tool":       {[]string{x, y, z}, []string{x, call("w", 2, 20), z}, []string{"missing a2", "added b2"}},
		"white space":        {[]string{call("x", 1, " a")}, []string{call("x", 1, "a")}, []string{"changed a1 b1 result"}},
		"failed now":         {[]string{x}, []string{`{"tool":"x","args":1,"error":{"code":"500"}}`}, []string{"changed a1 b1 error"}},
		"another error":      {[]string{`{"tool":"x","args":1,"error":{"code":"500","message":"m"}}`}, []string{`{"tool":"x","args":1,"error":{"code":"503","message":"m"}}`}, []string{"changed a1 b1 error.code"}},
		"model and prompt":   {[]string{`{"tool":"chat","kind":"model","model":"m1","prompt_version":"1"}`}, []string{`{"tool":"chat","kind":"model","model":"m2","prompt_version":"2"}`}, []string{"changed a1 b1 model prompt_version"}},
		"schema version":     {[]string{`{"tool":"x","schema_version":"1"}`}, []string{`{"tool":"x"}`}, []string{"changed a1 b1 schema_version"}},
		"nested leaf":        {[]string{call("x", map[string]any{"a": []any{1, map[string]any{"b c": 1}}}, 0)}, []string{call("x", map[string]any{"a": []any{1, map[string]any{"b c": 2}}}, 0)}, []string{`changed a1 b1 args.a[1]["b c"]`}},
		"arguments not JSON": {[]string{`{"tool":"x","args_raw":"{a"}`}, []string{`{"tool":"x","args_raw":"{b"}`}, []string{"changed a1 b1 args"}},
		"body by reference":  {[]string{`{"tool":"x","body":{"sha256":"aa","bytes":1}}`}, []string{`{"tool":"x","body":{"sha256":"bb","bytes":1}}`}, []string{"changed a1 b1 result.sha256"}},
		"time is no change":  {[]string{`{"tool":"x","ms":1}`}, []string{`{"tool":"x","ms":9000}`}, nil},
		// The call that lost its neighbour is the one that has most in common.
		"removed beside a change": {
			[]string{call("s", map[string]any{"q": "a", "n": 5}, 1), call("s", map[string]any{"q": "b", "n": 6}, 2)},
			[]string{call("s", map[string]any{"q": "b", "n": 7}, 2)},
			[]string{"missing a1", "changed a2 b1 args.n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := Tapes(parse(t, tt.a...), parse(t, tt.b...))
			assert.Equal(t, tt.steps, steps(r))
			assert.Equal(t, tt.steps == nil, r.Same)
			assert.Equal(t, tt.steps == nil, r.First == nil)
		})
	}
}

func TestFirstDivergence(t *testing.T) {
	x, y, z := call("x", 1, 10), call("y", 2, 20), call("z", 3, 30)
	r := Tapes(parse(t, x, y, z), parse(t, x, z, y))
	require.NotNil(t, r.First)
	assert.Equal(t, 2, r.First.A.Seq)
	assert.Equal(t, 2, r.First.B.Seq)
	assert.Equal(t, "z", r.First.B.Tool)
	r = Tapes(parse(t, x, y), parse(t, x))
	assert.Nil(t, r.First.B, "B had ended")
}

func TestTimingHasAThreshold(t *testing.T) {
	a, b := parse(t, `{"tool":"x","ms":100}`), parse(t, `{"tool":"x","ms":400}`)
	assert.Equal(t, []string{"changed a1 b1 timing"}, steps(Tapes(a, b, Timing(300))))
	assert.True(t, Tapes(a, b, Timing(301)).Same)
}

func TestKinds(t *testing.T) {
	a, b := parse(t, `{"tool":"chat","kind":"model","args":1}`, `{"tool":"x"}`), parse(t, `{"tool":"x"}`)
	assert.True(t, Tapes(a, b, Kinds(tape.KindTool)).Same)
	assert.False(t, Tapes(a, b).Same)
}

// Ids that a model made up correspond one to one, or they are a change.
func TestIDsOfAModelMayBeOthers(t *testing.T) {
	chat := func(asked, told string) string {
		return `{"tool":"chat","kind":"model","args":{"messages":[{"role":"assistant","parts":[{"type":"tool_call","id":"` + asked + `","name":"f"}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"` + told + `","result":1}]}]},"result":{"message":{"parts":[]}}}`
	}
	a, b := parse(t, chat("call_1", "call_1")), parse(t, chat("call_x", "call_x"))
	r := Tapes(a, b)
	assert.True(t, r.Same)
	assert.Equal(t, 1, r.Counts.RenamedIDs)
	assert.Len(t, Tapes(a, b, ExactIDs()).Steps[0].Changes, 2)

	crossed := parse(t, chat("call_x", "call_y"))
	assert.Equal(t, []string{"changed a1 b1 args.messages[1].parts[0].id"}, steps(Tapes(a, crossed)))

	// An id of the world is not one of them.
	assert.False(t, Tapes(parse(t, `{"tool":"t","args":{"id":"1"}}`), parse(t, `{"tool":"t","args":{"id":"2"}}`)).Same)
}

func TestWhatWasNotCapturedIsNotCompared(t *testing.T) {
	a := parse(t, `{"tape":"1","gaps":[{"seq":1,"what":"result","why":"content capture is off"}]}`, `{"tool":"x"}`)
	r := Tapes(a, parse(t, `{"tape":"1"}`, `{"tool":"x","result":5}`))
	assert.True(t, r.Same)
	assert.Equal(t, 1, r.Counts.NotCompared)
}

func TestManifests(t *testing.T) {
	a := parse(t, `{"tape":"1","outcome":"succeeded","code_version":"1","tools":[{"name":"x","schema":{"type":"object","required":["a"]}},{"name":"old"}]}`)
	b := parse(t, `{"tape":"1","outcome":"failed","code_version":"2","failure":{"class":"schema_mismatch"},"tools":[{"name":"x","schema":{"type":"object","required":["b"]}},{"name":"new"}]}`)
	r := Tapes(a, b)
	assert.False(t, r.Same)
	var places []string
	for _, c := range slices.Concat(r.Context, r.Run) {
		places = append(places, c.Place())
	}
	assert.Equal(t, []string{"code_version", "outcome", "failure.class", "tools.x.schema.required[0]", "tools.old", "tools.new"}, places)
	assert.True(t, Tapes(a, a).Same)
	// Other code that does the same makes no difference.
	other := parse(t, `{"tape":"1","outcome":"succeeded","code_version":"3"}`)
	assert.True(t, Tapes(parse(t, `{"tape":"1","outcome":"succeeded"}`), other).Same)
}

// TestOneEditIsExactlyThat edits random tapes in one place.
func TestOneEditIsExactlyThat(t *testing.T) {
	for seed := range int64(300) {
		rng := rand.New(rand.NewSource(seed))
		n := 2 + rng.Intn(40)
		lines := make([]string, n)
		for i := range lines {
			// Distinct calls, so that an edit has one description.
			lines[i] = call([]string{"f", "g", "h"}[rng.Intn(3)], map[string]any{"n": i, "deep": []any{map[string]any{"m": -i}}}, i)
		}
		a := parse(t, lines...)
		i := rng.Intn(n)
		edited := slices.Clone(lines)
		var want string
		switch rng.Intn(4) {
		case 0:
			edited = slices.Delete(edited, i, i+1)
			want = fmt.Sprintf("missing a%d", i+1)
		case 1:
			edited = slices.Insert(edited, i, call("f", "fresh", 0))
			want = fmt.Sprintf("added b%d", i+1)
		case 2:
			edited[i] = call(a.Records[i].Tool, map[string]any{"n": i, "deep": []any{map[string]any{"m": 1000}}}, i)
			want = fmt.Sprintf("changed a%d b%d args.deep[0].m", i+1, i+1)
		default:
			j := (i + 1) % n
			i, j = min(i, j), max(i, j)
			edited[i], edited[j] = edited[j], edited[i]
			r := Tapes(a, parse(t, edited...))
			assert.NotZero(t, r.Counts.Moved, "seed %d", seed)
			assert.Zero(t, r.Counts.Added+r.Counts.Missing+r.Counts.Changed, "seed %d: %v", seed, steps(r))
			continue
		}
		assert.Equal(t, []string{want}, steps(Tapes(a, parse(t, edited...))), "seed %d", seed)
	}
}

// TestLongTapes: a hundred thousand records a side take a second or so, also where
// hardly anything is equal.
func TestLongTapes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 100_000
	for name, edit := range map[string]func(i int) (tool string, args string){
		"one in a hundred changed": func(i int) (string, string) {
			if i%100 == 0 {
				return "f", fmt.Sprintf(`{"i":%d,"x":1}`, i)
			}
			return "f", fmt.Sprintf(`{"i":%d}`, i)
		},
		"all changed":      func(i int) (string, string) { return "f", fmt.Sprintf(`{"j":%d}`, i) },
		"few keys, turned": func(i int) (string, string) { return "f", fmt.Sprintf(`{"i":%d}`, (i*7)%13) },
	} {
		t.Run(name, func(t *testing.T) {
			a, b := &tape.Tape{}, &tape.Tape{}
			for i := range n {
				original := fmt.Sprintf(`{"i":%d}`, i)
				if strings.HasPrefix(name, "few") {
					original = fmt.Sprintf(`{"i":%d}`, i%13)
				}
				tool, args := edit(i)
				a.Records = append(a.Records, tape.Record{Seq: i + 1, Tool: "f", Args: json.RawMessage(original)})
				b.Records = append(b.Records, tape.Record{Seq: i + 1, Tool: tool, Args: json.RawMessage(args)})
			}
			began := time.Now()
			r := Tapes(a, b)
			assert.Less(t, time.Since(began), 20*time.Second)
			assert.False(t, r.Same)
			assert.Equal(t, n, r.Counts.Same+r.Counts.Missing+r.Counts.Changed+r.Counts.Moved)
		})
	}
}

func TestLongValuesAreCut(t *testing.T) {
	long := strings.Repeat("é", maxValue)
	r := Tapes(parse(t, call("x", 1, long)), parse(t, call("x", 1, long+"!")))
	c := r.Steps[0].Changes[0]
	assert.True(t, c.Cut)
	assert.LessOrEqual(t, len(c.A), maxValue+16)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "\ufffd")
}

func FuzzAlign(f *testing.F) {
	f.Add([]byte("abcabba"), []byte("cbabac"))
	f.Add([]byte(""), []byte("x"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, y := ints(a), ints(b)
		last := -1
		for i, j := range align(x, y) {
			if j < 0 {
				continue
			}
			assert.Greater(t, j, last, "pairs cross")
			assert.Equal(t, x[i], y[j])
			last = j
		}
	})
}

func ints(b []byte) []int {
	out := make([]int, len(b))
	for i, c := range b {
		out[i] = int(c)
	}
	return out
}

// TestWindowsTooLargeForATable takes the ways that small inputs never do.
func TestWindowsTooLargeForATable(t *testing.T) {
	const n = 5000
	a, b := make([]int, n), make([]int, 0, n)
	for i := range a {
		a[i] = i
		if i%2 == 0 {
			b = append(b, i, -i-1)
		}
	}
	paired := 0
	for i, j := range align(a, b) {
		if j >= 0 {
			assert.Equal(t, a[i], b[j])
			paired++
		}
	}
	assert.Equal(t, n/2, paired, "anchors")
	x, y := make([]int, n), make([]int, n)
	for i := range x {
		x[i], y[i] = i%2, (i+1)%3%2
	}
	last := -1
	for i, j := range align(x, y) {
		if j >= 0 {
			assert.Equal(t, x[i], y[j])
			assert.Greater(t, j, last)
			last = j
		}
	}
	assert.Positive(t, last)
}
