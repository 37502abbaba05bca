package clients_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// canonicalisers read JSON strings, one a line, and write for each the canonical form of
// the text in it, or ! where that is not JSON.
var canonicalisers = map[string][]string{
	"python": {"python3", "-B", "-c", `
import json, sys
sys.path.insert(0, "python")
import tape
for line in sys.stdin.buffer.read().decode().split("\n")[:-1]:
    try:
        form = tape.canonical(tape.parse(json.loads(line)))
    except ValueError:
        form = "!"
    sys.stdout.buffer.write((json.dumps(form) + "\n").encode())
`},
	"node": {"node", "--input-type=module", "-e", `
import fs from "node:fs";
import * as tape from "./typescript/tape.mjs";
for (const line of fs.readFileSync(0, "utf8").split("\n").slice(0, -1)) {
  let form = "!";
  try {
    form = tape.canonical(JSON.parse(line));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  console.log(JSON.stringify(form));
}
`},
}

func TestAnyTextHasOneCanonicalForm(t *testing.T) {
	const texts = 6000
	g := generator{rand.New(rand.NewPCG(4380, 1))}
	var in strings.Builder
	var all, want []string
	for range texts {
		text := g.text()
		line, err := json.Marshal(text)
		require.NoError(t, err)
		in.Write(append(line, '\n'))
		form, err := tape.Canonical([]byte(text))
		if err != nil {
			form = []byte("!")
		}
		all, want = append(all, text), append(want, string(form))
	}
	for name, argv := range canonicalisers {
		program, err := exec.LookPath(argv[0])
		if err != nil {
			t.Logf("no %s here", argv[0])
			continue
		}
		cmd := exec.Command(program, argv[1:]...)
		cmd.Stdin = strings.NewReader(in.String())
		out, err := cmd.Output()
		require.NoError(t, err, name)
		lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		require.Len(t, lines, texts, name)
		for i, line := range lines {
			var form string
			require.NoError(t, json.Unmarshal([]byte(line), &form))
			assert.Equal(t, want[i], form, "%s of %q", name, all[i])
		}
	}
}

// generator makes JSON texts that are hard to write canonically, and some that are none.
type generator struct{ *rand.Rand }

func (g generator) text() string {
	text := g.value(3)
	if g.IntN(5) == 0 {
		// Something that may be no JSON: a byte more or one less, among those of ASCII.
		at := g.IntN(len(text))
		if text[at] < 0x80 {
			text = text[:at] + []string{"", ",", "\"", "0", " ", "}", "e", "."}[g.IntN(8)] + text[at+1:]
		}
	}
	return text
}

func (g generator) value(depth int) string {
	kinds := 4
	if depth > 0 {
		kinds = 6
	}
	switch g.IntN(kinds) {
	case 0:
		return []string{"null", "true", "false", "-0", "12345678901234567890123", "1E400", "-0.0"}[g.IntN(7)]
	case 1:
		return g.float()
	case 2:
		// An odd multiple of 1/128: half a millionth away from whole ones.
		return fmt.Sprintf("%.7f", float64(2*g.Int64N(1<<g.IntN(40))+1)/128)
	case 3:
		return g.string()
	case 4:
		items := make([]string, g.IntN(4))
		for i := range items {
			items[i] = g.value(depth - 1)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	members := make([]string, g.IntN(5))
	for i := range members {
		members[i] = g.string() + ":" + g.value(depth-1)
	}
	return "{" + strings.Join(members, ",\t") + "}"
}

func (g generator) float() string {
	for {
		x := math.Float64frombits(g.Uint64())
		if g.IntN(2) == 0 {
			x = math.Ldexp(float64(g.Int64N(1<<53)), -g.IntN(80))
		}
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			return fmt.Sprintf([]string{"%e", "%.17g", "%.3f", "%.12e"}[g.IntN(4)], x)
		}
	}
}

// edges are parts of strings where sorting, stripping or escaping goes wrong.
var edges = []string{
	"a", "b", " ", `\t`, `\u001f`, `\u0085`, "\u00a0", `\u200b`, "\u3000", "\ufeff", "é", "e\u0301", "～", "🚀", `\ud83d\ude80`,
	`\ud83d`, `\ude80`, `\uDFFF`, "\U00010000", "\uffff", "\ue000", `\\`, `\"`, `\/`, "<", "\u007f", "\u2028", `\u0000`,
}

func (g generator) string() string {
	var b strings.Builder
	b.WriteByte('"')
	for range g.IntN(5) {
		b.WriteString(edges[g.IntN(len(edges))])
	}
	b.WriteByte('"')
	return b.String()
}
