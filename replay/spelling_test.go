package replay

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// TestSpellingChangesNothing: what a call finds by its very words it finds in any
// other words too, and nothing else.
func TestSpellingChangesNothing(t *testing.T) {
	deck := parse(t, `{"seq":1,"tool":"t","args":{"a":1,"b":"x"},"result":1}`, `{"seq":2,"tool":"t","args":{"b":"x","a":1},"result":2}`,
		`{"seq":3,"tool":"u","args":{"a":1,"b":"x"},"result":3}`, `{"seq":4,"tool":"t","kind":"model","args":{"a":1,"b":"x"},"result":4}`,
		`{"seq":5,"tool":"n","result":5}`)
	s := start(t, deck)
	for i, c := range []struct {
		tool, args string
		kind       tape.Kind
		want       string
	}{
		{"t", `{"b":"x","a":1}`, "", "1"}, {"t", `{"a":1,"b":"x"}`, "", "2"}, {"u", `{"a":1,"b":"x"}`, "", "3"},
		{"t", `{"a":1,"b":"x"}`, tape.KindModel, "4"}, {"n", ``, "", "5"},
	} {
		answer, err := s.Ask(ctx, Request{Tool: c.tool, Args: raw(c.args), Kind: c.kind})
		require.NoError(t, err, i)
		assert.Equal(t, c.want, string(answer.Result))
	}
	_, err := s.Ask(ctx, Request{Tool: "t", Args: raw(`{"a":1,"b":"x"}`)})
	require.ErrorIs(t, err, ErrExhausted)
}

// TestWhatRunsLiveIsRedactedWhateverTheTapeHolds: a tape whose recorder left a
// secret in its arguments does not make another one.
func TestWhatRunsLiveIsRedactedWhateverTheTapeHolds(t *testing.T) {
	const args = `{"to":"jane.doe@corp.com"}`
	redaction := start(t, nil, WithMode(ModeRecord)).Tape().Manifest.Redaction
	key, err := tape.Key("mail", []byte(args))
	require.NoError(t, err)
	deck := parse(t, fmt.Sprintf(`{"seq":1,"tool":"mail","key":%q,"args":%s,"result":1}`, key, args))
	deck.Manifest = &tape.Manifest{Tape: tape.Version, Redaction: redaction}
	s := start(t, deck, WithMode(ModeReplayRecord))
	for range 2 {
		_, err = s.Call(ctx, "mail", raw(args), answers(2))
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
	recorded := s.Tape().Records[1]
	assert.JSONEq(t, `{"to":"[REDACTED:email]"}`, string(recorded.Args))
	assert.Equal(t, []string{"args.to"}, recorded.Redacted)
}

// TestTheShortWayEndsWhereTheLongOneDoes: what is found without redaction is what is
// found with it, on every golden tape, redacted or not, and with arguments full of
// secrets, however they are spelled.
func TestTheShortWayEndsWhereTheLongOneDoes(t *testing.T) {
	paths, err := filepath.Glob("../internal/dialect/testdata/golden/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	short, long := 0, 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		lines := strings.Split(string(text), "\n")
		// Some hold several tapes, each with a manifest.
		deck := parse(t, slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, `{"tape":`) })...)
		s := start(t, deck)
		for i := range deck.Records {
			if r := &deck.Records[i]; len(r.Args) > 0 && r.Args[0] == '{' {
				sameWay(t, s, r.KindOf(), r.Tool, r.Args, &short, &long)
			}
		}
	}
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := start(t, nil, WithMode(ModeRecord))
		var asked []Request
		for range 10 {
			args, err := json.Marshal(map[string]any{"in": anyValue(r, 3), "to": someSecret(r), "Password": anyValue(r, 1), "x": someSecret(r)})
			require.NoError(t, err)
			request := Request{Tool: "t", Args: args, Live: answers(1)}
			_, err = s.Ask(ctx, request)
			require.NoError(t, err)
			asked = append(asked, request)
		}
		require.NoError(t, s.Close())
		s = start(t, s.Tape())
		for _, request := range asked {
			sameWay(t, s, tape.KindTool, request.Tool, request.Args, &short, &long)
		}
	}
	assert.Greater(t, short, 1000)
	assert.Greater(t, long, 100)
}

func someSecret(r *rand.Rand) string {
	secrets := []string{
		"jane.doe@corp.com", "mail jane.doe@corp.com now", "[REDACTED:email]", "4111 1111 1111 1111", "plain",
		"Bearer abcdefghijklmnopqrstuvwxyz0123456789", "postgres://user:hunter2@db.corp.com/x", `{"password":"hunter2"}`,
	}
	return secrets[r.IntN(len(secrets))]
}

// sameWay asks for arguments, as they are and redacted, in several spellings, and counts
// which were found the short way.
func sameWay(t *testing.T, s *Session, kind tape.Kind, tool string, args json.RawMessage, short, long *int) {
	redacted, _ := s.policy.JSON(args)
	for _, text := range []json.RawMessage{
		args, redacted, spelledAnew(t, args), spelledAnew(t, redacted), escaped(args), escaped(redacted),
	} {
		want := call{kind: kind, tool: tool, args: text}
		require.NoError(t, s.prepare(&want))
		st := s.deck.like(&call{kind: kind, tool: tool, args: text})
		if st == nil {
			*long++
			continue
		}
		*short++
		require.Equal(t, want.key, st.key, "%s", text)
		require.Same(t, want.queue, st.queue)
		require.Empty(t, want.hits, "%s", text)
	}
}

// escaped spells the small letters of member names and texts as escapes.
func escaped(args json.RawMessage) json.RawMessage {
	var out []byte
	inText := false
	for i := 0; i < len(args); i++ {
		switch b := args[i]; {
		case b == '\\':
			out = append(out, b, args[i+1])
			if i++; args[i] == 'u' {
				out = append(out, args[i+1:i+5]...)
				i += 4
			}
		case inText && b >= 'a' && b <= 'z':
			out = fmt.Appendf(out, `\u%04x`, b)
		default:
			inText = inText != (b == '"')
			out = append(out, b)
		}
	}
	return out
}
