package once_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/walk/walktest"
)

// maker makes values as agents write them, and as nobody should, out of few
// parts that come again and again.
type maker struct {
	*rand.Rand
	pool []string
	// left is how many more arrays and objects a value may have.
	left int
}

func newMaker(seed uint64) *maker {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 1))}
	for range 12 {
		m.left = 3
		m.pool = append(m.pool, m.object(2))
	}
	return m
}

func (m *maker) pick(from ...string) string { return from[m.IntN(len(from))] }

// rarely gives what breaks a value, or else what does not.
func (m *maker) rarely(bad, good string) string {
	if m.IntN(100) == 0 {
		return bad
	}
	return good
}

// text is the body of a JSON string.
func (m *maker) text() string {
	s := strings.Repeat(m.pick("rain in Zürich. ", `line\nnext `, "a: b = c ", "0123456789", `say \"hi\" `, "--flag x "), 1+m.IntN(12))
	switch m.IntN(8) {
	case 0:
		s += " mail bob@example.com "
	case 1:
		s += " sk-proj-" + "J8kq2mV7n1pQ9rT5sW" + walktest.Mark
	case 2:
		s += " password=" + walktest.Mark + "x "
	case 3:
		s += "\xff\xfe\xff"
	case 4:
		s = "{" + strings.ReplaceAll(s, `"`, `\"`)
	}
	return s
}

func (m *maker) str() string {
	switch m.IntN(12) {
	case 0:
		return `"--` + m.pick("token", "api-key", "verbose") + `"`
	case 1:
		return `"\u002d-token"`
	case 2:
		// JSON in a JSON string.
		if m.left--; m.left > 0 {
			return strconv.Quote(strings.ToValidUTF8(m.object(1), "?"))
		}
	case 3:
		return "\"\xff\xfe\xff\""
	}
	return `"` + m.text() + `"`
}

func (m *maker) key() string {
	return m.pick("role", "content", "parts", "text", "arguments", "messages", "tools", "system", "name", "value", "key", "Value",
		"password", "api_key", "credentials", "properties", "session_id", "id", "p\\u0061ssword", "bob@example.com", "\\u006eame", "signature", "x")
}

func (m *maker) space() string { return m.pick("", "", "", " ", "\n  ") }

func (m *maker) object(depth int) string {
	var b strings.Builder
	b.WriteString("{" + m.space())
	for i := range m.IntN(5) {
		if i > 0 {
			b.WriteString("," + m.space())
		}
		b.WriteString(`"` + m.key() + `":` + m.space() + m.value(depth-1))
	}
	return b.String() + m.space() + "}"
}

func (m *maker) array(depth int) string {
	var b strings.Builder
	between := "," + m.space()
	b.WriteString("[" + m.space())
	for i := range m.IntN(12) {
		if i > 0 {
			b.WriteString(m.rarely("", between))
		}
		if m.IntN(3) > 0 {
			b.WriteString(m.known())
		} else {
			b.WriteString(m.value(depth - 1))
		}
	}
	return b.String() + m.space() + m.rarely(m.pick(",]", "}", ""), "]")
}

func (m *maker) value(depth int) string {
	m.left--
	if depth <= 0 || m.left < 0 {
		if m.IntN(3) == 0 {
			return m.str()
		}
		return m.pick("1", "-2.5e3", "4111111111111111", "true", m.rarely("nul", "null"), "{}", "[]")
	}
	switch m.IntN(6) {
	case 0, 1:
		return m.object(depth)
	case 2, 3:
		return m.array(depth)
	case 4:
		if m.IntN(50) == 0 {
			n := 20 + m.IntN(40)
			return strings.Repeat("[", n) + m.str() + strings.Repeat("]", n)
		}
		return `{"` + m.key() + `":` + m.known() + `,"` + m.key() + `":` + m.array(depth-1) + `}`
	}
	return m.str()
}

// known is an object that comes again and again.
func (m *maker) known() string {
	if m.left--; len(m.pool) == 0 || m.left < 0 {
		return "0"
	}
	return m.pool[m.IntN(len(m.pool))]
}

// attribute is the text of an attribute value.
func (m *maker) attribute() string {
	m.left = 16
	var s string
	switch m.IntN(4) {
	case 0, 1:
		s = m.array(4)
	case 2:
		s = m.object(4)
	default:
		s = m.text()
	}
	switch m.IntN(15) {
	case 0:
		s = s[:m.IntN(len(s)+1)]
	case 1:
		s = "\xff" + s
	case 2:
		s = " " + s + "\n"
	case 3:
		s = strconv.Quote(s)
	}
	return s
}

func (m *maker) attributes(to pcommon.Map, depth int) {
	for range 1 + m.IntN(4) {
		k := m.pick("gen_ai.input.messages", "input.value", "llm.input_messages.0.message.content", "password", "session.id",
			"tape.redacted", "value", "name", "tool."+strconv.Itoa(m.IntN(3)), "a bob@example.com")
		switch m.IntN(10) {
		case 0:
			if depth > 0 {
				m.attributes(to.PutEmptyMap(k), depth-1)
			}
		case 1:
			list := to.PutEmptySlice(k)
			for range m.IntN(4) {
				list.AppendEmpty().SetStr(m.pick(m.attribute(), "--token"))
			}
		case 2:
			to.PutEmptyBytes(k).FromRaw([]byte(m.attribute()))
		case 3:
			to.PutInt(k, m.Int64())
		default:
			to.PutStr(k, m.attribute())
		}
	}
}

func (m *maker) trace() ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	m.attributes(rs.Resource().Attributes(), 0)
	ss := rs.ScopeSpans().AppendEmpty()
	m.attributes(ss.Scope().Attributes(), 0)
	for i := range 1 + m.IntN(3) {
		s := ss.Spans().AppendEmpty()
		s.SetName(fmt.Sprint("span ", i))
		m.attributes(s.Attributes(), 1)
		m.attributes(s.Events().AppendEmpty().Attributes(), 1)
		m.attributes(s.Links().AppendEmpty().Attributes(), 0)
	}
	return td
}
