package value_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// Whatever a Memo has read before, it reads what a plain parser reads, errors too.
func TestAMemoReadsWhatIsThere(t *testing.T) {
	texts := []string{
		`[{"a":1},{"b":[{"c":2}]}]`, `[{"a":1},{"b":[{"c":2}]},{"d":"\"}]"}]`, `[{"a":1} , {"d":"\\"},{"e":"]"}]`,
		`[[{"a":1}],[{"a":1},{"x":1}]]`, `{"messages":[{"a":1},1,"x",{"b":[{"c":2}]}],"n":[{"a":1}]}`, `[{"a":12}]`, `[{"a":1}]`, `[{}]`, `[{},{}]`,
		`[{"a":1}`, `[{"a":1},{"b"`, `[{"a":1},{"b":"\`, `[{"a":1},{"b":tru}]`, `[{"a":1},]`, `[{"a":1}{"b":1}]`, `[{"a":1]}`, `[{"a":1}]x`, `[{"a":{]}}]`,
		"[" + strings.Repeat(`{"a":[`, value.MaxDepth) + "]",
	}
	var m value.Memo
	for range 3 {
		for _, text := range texts {
			want, wantErr := value.Parse(text)
			got, err := m.Parse(text)
			if wantErr != nil {
				require.EqualError(t, err, wantErr.Error(), text)
				continue
			}
			require.NoError(t, err, text)
			assert.Equal(t, want.JSON(), got.JSON())
		}
	}
}

func TestAnElementIsTheSameWhereverItStands(t *testing.T) {
	var m value.Memo
	one, err := m.Parse(`[{"a":1},{"b":2}]`)
	require.NoError(t, err)
	two, err := m.Parse(`{"x":[{"b":2},{"a":1}]}`)
	require.NoError(t, err)
	a, b := one.Items(), two.At("x").Items()
	assert.Same(t, a[0].Element(), b[1].Element())
	assert.Same(t, a[1].Element(), b[0].Element())
	assert.NotSame(t, a[0].Element(), a[1].Element())
	assert.Nil(t, one.Element())
	assert.Nil(t, a[0].With("c", value.Int(1)).Element(), "what was changed is another")
}

// A repeated text is not parsed again.
func TestARepeatedTextCostsNoAllocationAnElement(t *testing.T) {
	text := "[" + strings.Repeat(`{"role":"user","content":"say it"},`, 99) + `{"a":1}]`
	var m value.Memo
	parse := func() {
		_, err := m.Parse(text)
		require.NoError(t, err)
	}
	parse()
	assert.LessOrEqual(t, testing.AllocsPerRun(20, parse), 2.0)
}

// Elements own their text, and a memo forgets before it holds too much.
func TestAMemoIsBounded(t *testing.T) {
	var m value.Memo
	long := strings.Repeat("x", 1<<20)
	for i := range 3 * value.MemoBytes >> 20 {
		_, err := m.Parse(`[{"n":` + value.Int(int64(i)).JSON() + `,"text":"` + long + `"}]`)
		require.NoError(t, err)
	}
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	assert.Less(t, stats.HeapAlloc, uint64(2*value.MemoBytes))
	runtime.KeepAlive(&m)
}

func TestACloneIsTheSame(t *testing.T) {
	const text = `{"a":[1,"x",null,{"b":true}],"c":{},"d":[]}`
	v, err := value.Parse(text)
	require.NoError(t, err)
	assert.Equal(t, text, v.Clone().JSON())
}

func FuzzMemo(f *testing.F) {
	f.Add(`[{"a":1},{"b":"x"}]`, `[{"a":1},{"c":"\""}]`)
	f.Add(`{"m":[{"a":[{"b":1}]}]}`, `[[{"a":[{"b":1}]}]]`)
	f.Add(`[{"a":"`, `[{"a":"\\"}]`)
	f.Fuzz(func(t *testing.T, a, b string) {
		var m value.Memo
		for _, text := range []string{a, b, a, b} {
			want, wantErr := value.Parse(text)
			got, err := m.Parse(text)
			if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() || want.JSON() != got.JSON() {
				t.Fatalf("%q: %s, %v; want %s, %v", text, got.JSON(), err, want.JSON(), wantErr)
			}
		}
	})
}
