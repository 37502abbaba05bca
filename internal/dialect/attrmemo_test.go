package dialect

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// modelSpan is a span that is read as a model call, with what h remembers.
func modelSpan(h *history) *Span {
	return &Span{Span: ptrace.NewSpan(), history: h, model: true}
}

// Whatever was read before, attributes spread over indices are read as they are:
// in any order, with gaps, with names that are no index, with one index twice.
func TestIndexedAttributesAreReadAsTheyAre(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	h := &history{}
	for range 2000 {
		s, plain := modelSpan(h), modelSpan(nil)
		m := s.Attributes()
		for i := range random.IntN(6) {
			at := fmt.Sprint(i)
			switch random.IntN(12) {
			case 0:
				at = fmt.Sprint(random.IntN(12))
			case 1:
				at = "0" + at
			case 2:
				at = "x"
			}
			for _, name := range []string{".message.role", ".message.content", ".message.tool_calls.0.id", ""}[:1+random.IntN(4)] {
				switch random.IntN(4) {
				case 0:
					m.PutInt("p."+at+name, int64(random.IntN(3)))
				case 1:
					m.PutDouble("p."+at+name, 1.5)
				default:
					m.PutStr("p."+at+name, fmt.Sprint("text ", random.IntN(3)))
				}
			}
			m.PutStr("other", "x")
		}
		m.CopyTo(plain.Attributes())
		require.Equal(t, unflatten(plain, "p.").JSON(), unflatten(s, "p.").JSON(), "%v", m.AsRaw())
	}
}

func TestStructuredMessagesAreReadAsTheyAre(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var any func(pcommon.Value, int)
	any = func(v pcommon.Value, depth int) {
		switch n := random.IntN(8); {
		case n == 0:
			v.SetBool(random.IntN(2) == 0)
		case n == 1:
			v.SetInt(int64(random.IntN(3)))
		case n == 2:
			v.SetDouble(float64(random.IntN(3)))
		case n == 3:
			v.SetEmptyBytes().Append(byte(random.IntN(256)))
		case n == 4 && depth < 3:
			for range random.IntN(3) {
				any(v.SetEmptySlice().AppendEmpty(), depth+1)
			}
		case n >= 5 && depth < 3:
			m := v.SetEmptyMap()
			for range random.IntN(3) {
				any(m.PutEmpty(fmt.Sprint("k", random.IntN(3))), depth+1)
			}
		case n == 6:
		default:
			v.SetStr(fmt.Sprint("s", random.IntN(3)))
		}
	}
	h := &history{}
	for range 3000 {
		list := pcommon.NewSlice()
		for range random.IntN(4) {
			any(list.AppendEmpty(), 0)
		}
		v := pcommon.NewValueSlice()
		list.CopyTo(v.Slice())
		require.Equal(t, fromAttr(v).JSON(), h.attrs.list(list).JSON())
	}
}

func TestAttributesThatWereReadAreForgotten(t *testing.T) {
	var m attrMemo
	long := string(make([]byte, 1<<20))
	for i := range 2 * value.MemoBytes >> 20 {
		list := pcommon.NewSlice()
		e := list.AppendEmpty().SetEmptyMap()
		e.PutInt("n", int64(i))
		e.PutStr("text", long)
		m.list(list)
	}
	assert.LessOrEqual(t, len(m.known), value.MemoBytes>>20)
}
