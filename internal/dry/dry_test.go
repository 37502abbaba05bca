package dry

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/policy"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

const schemaThen = `{"type":"object","required":["amount"],"properties":{"amount":{"type":"number"}}}`

var yes, no = true, false

// shop is a run that looks something up, pays, and asks a model.
func shop() *tape.Tape {
	return &tape.Tape{
		Manifest: &tape.Manifest{
			Tape: tape.Version, TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", Outcome: tape.OutcomeFailed,
			Tools: []tape.Tool{{Name: "pay", Schema: []byte(schemaThen), SchemaVersion: "3"}, {Name: "find"}},
		},
		Records: []tape.Record{
			{Seq: 1, Tool: "find", Args: []byte(`{"q":"a"}`), Result: []byte(`1`), SideEffect: &no},
			{Seq: 2, Tool: "pay", Args: []byte(`{"amount":120}`), Result: []byte(`"ok"`), SideEffect: &yes, ApprovalID: "ap-7", PolicyResult: "allowed"},
			{Seq: 3, Tool: "chat", Kind: tape.KindModel, Args: []byte(`{}`), Result: []byte(`{}`)},
		},
	}
}

func run(t *testing.T, tp *tape.Tape, o Options) *Report {
	t.Helper()
	r, err := Run(tp, o)
	require.NoError(t, err)
	return r
}

func TestWhatTheTapeSaysIsGood(t *testing.T) {
	r := run(t, shop(), Options{})
	assert.True(t, r.Good)
	assert.Equal(t, Counts{Steps: 3, FromTape: 3}, r.Counts)
	assert.Equal(t, &Check{Status: Fits, SchemaVersion: "3"}, r.Steps[1].Then)
	assert.Equal(t, NotKnown, r.Steps[0].Then.Status, "the definition has no schema")
	assert.Nil(t, r.Steps[1].Now, "nobody knows the schemas of now")
	assert.Nil(t, r.Steps[2].Then, "a model call has no schema")
}

func TestSchemasOfThenAndNow(t *testing.T) {
	tp := shop()
	tp.Records[0].Tool = "look"
	now := []tape.Tool{
		{Name: "pay", SchemaVersion: "4", Schema: []byte(`{"required":["cents"],"properties":{"amount":{"type":"string"}}}`)},
	}
	r := run(t, tp, Options{Tools: now})
	assert.False(t, r.Good)
	assert.Equal(t, Fits, r.Steps[1].Then.Status)
	assert.Equal(t, Misfit, r.Steps[1].Now.Status)
	assert.ElementsMatch(t, []string{"/: missing property 'cents'", "/amount: got number, want string"}, r.Steps[1].Now.Faults)
	assert.Equal(t, Gone, r.Steps[0].Now.Status)
	assert.Equal(t, NotKnown, r.Steps[0].Then.Status)
	assert.Equal(t, 1, r.Counts.MisfitNow)
	assert.Equal(t, 1, r.Counts.Gone)

	tp = shop()
	tp.Records[1].Args = []byte(`{"amount":"120"}`)
	r = run(t, tp, Options{})
	assert.False(t, r.Good)
	assert.Equal(t, []string{"/amount: got string, want number"}, r.Steps[1].Then.Faults)
}

// What is left of arguments may not be enough to blame them.
func TestWhatIsNotThereIsNotBlamed(t *testing.T) {
	for name, change := range map[string]func(*tape.Record){
		"redacted": func(r *tape.Record) {
			r.Args, r.Redacted = []byte(`{"amount":"[REDACTED:card]"}`), []string{"args.amount"}
		},
		"never captured":  func(r *tape.Record) { r.Args, r.Fidelity = nil, tape.FidelityAbsent },
		"cut":             func(r *tape.Record) { r.Args, r.Fidelity = []byte(`"{\"amo"`), tape.FidelityTruncated },
		"by reference":    func(r *tape.Record) { r.Args, r.Bodies = nil, []tape.Body{{SHA256: "00", Of: "args"}} },
		"a broken schema": func(*tape.Record) {},
	} {
		t.Run(name, func(t *testing.T) {
			tp := shop()
			change(&tp.Records[1])
			if name == "a broken schema" {
				tp.Manifest.Tools[0].Schema = []byte(`{"$ref":"https://example.com/x"}`)
			}
			r := run(t, tp, Options{})
			assert.Equal(t, NotKnown, r.Steps[1].Then.Status)
			assert.NotEmpty(t, r.Steps[1].Then.Why)
			if name == "a broken schema" {
				assert.Equal(t, "pay", r.Schemas[0].Tool)
			}
		})
	}
}

func TestARecordedApprovalNeverCounts(t *testing.T) {
	p, err := policy.Parse([]byte("rules: [{name: large, tools: [pay], when: args.amount > 100, effect: approval}]"))
	require.NoError(t, err)
	r := run(t, shop(), Options{Policy: p})
	assert.False(t, r.Good)
	assert.Equal(t, 1, r.Counts.NeedApproval)
	assert.Equal(t, "ap-7", r.Steps[1].RecordedApproval)
	assert.Equal(t, "allowed", r.Steps[1].RecordedPolicy)
	assert.Equal(t, policy.Approval, r.Steps[1].Policy.Effect)
	assert.Equal(t, policy.Allow, r.Steps[0].Policy.Effect)
	assert.Nil(t, r.Steps[2].Policy, "a policy is about tool calls")
}

func TestAPolicyDeniesAndDoubts(t *testing.T) {
	p, err := policy.Parse([]byte("rules: [{name: no writes, when: side_effect == true, effect: deny}]"))
	require.NoError(t, err)
	tp := shop()
	tp.Records[0].Args, tp.Records[0].Fidelity = nil, tape.FidelityAbsent
	r := run(t, tp, Options{Policy: p})
	assert.Equal(t, 1, r.Counts.Denied)
	assert.Equal(t, 1, r.Counts.Undecided)
	assert.Equal(t, "the arguments were never captured", r.Steps[0].Undecided)
}

func TestWhatCannotBeServed(t *testing.T) {
	tp := shop()
	tp.Records[0].Expires = "2026-01-01T00:00:00Z"
	tp.Manifest.Gaps = []tape.Gap{{Seq: 2, What: "result", Why: "cut at 1024 characters"}}
	at := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	r := run(t, tp, Options{Now: at})
	assert.False(t, r.Good)
	assert.Equal(t, Counts{Steps: 3, FromTape: 2, Nowhere: 1, Expired: 1}, r.Counts)
	assert.Equal(t, FromNowhere, r.Steps[1].Source)
	assert.Equal(t, "cut at 1024 characters", r.Steps[1].Findings[0].Why)

	r = run(t, tp, Options{Now: at, ExpiredAsGap: true})
	assert.Equal(t, 2, r.Counts.Nowhere)
	r = run(t, tp, Options{Now: at, Kinds: []tape.Kind{tape.KindModel}})
	assert.True(t, r.Good)
	assert.Equal(t, 3, r.Steps[0].Seq)
}

func TestWhatAReplayRefuses(t *testing.T) {
	tp := shop()
	tp.Records[0].Expires = "soon"
	r := run(t, tp, Options{})
	assert.False(t, r.Good)
	require.Len(t, r.Run, 1)
	assert.Contains(t, r.Run[0].Why, `record 1: member "expires"`)
	assert.True(t, run(t, tp, Options{Kinds: []tape.Kind{tape.KindModel}}).Good)
}

func TestWhatWouldRunLive(t *testing.T) {
	tp := shop()
	r := run(t, tp, Options{Fork: 2})
	assert.Equal(t, Counts{Steps: 3, FromTape: 1, Live: 2}, r.Counts)

	r = run(t, tp, Options{Fork: 2, Live: &replay.Live{Isolated: true, Tools: []string{"pay"}, Kinds: []tape.Kind{tape.KindModel}}})
	assert.False(t, r.Good)
	assert.Equal(t, Refused, r.Steps[1].Source)
	assert.Contains(t, r.Steps[1].Why, "--allow-side-effects")
	assert.Equal(t, FromWorld, r.Steps[2].Source)

	r = run(t, tp, Options{Live: &replay.Live{Isolated: true, Tools: []string{"find"}}})
	assert.True(t, r.Good)
	assert.Equal(t, Counts{Steps: 3, FromTape: 2, Live: 1}, r.Counts)

	_, err := Run(tp, Options{Fork: 9})
	require.EqualError(t, err, "fork at step 9: the tape has 3 steps")
	_, err = Run(tp, Options{Kinds: []tape.Kind{"banana"}})
	require.ErrorContains(t, err, "banana")
}

func TestParseTools(t *testing.T) {
	const schema = `{"type":"object"}`
	for name, text := range map[string]string{
		"a list":     `[{"name":"pay","description":"d","schema":` + schema + `}]`,
		"a manifest": `{"tape":"1","tools":[{"name":"pay","description":"d","schema":` + schema + `}]}`,
		"MCP":        `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"pay","description":"d","inputSchema":` + schema + `}]}}`,
		"OpenAI":     `{"tools":[{"type":"function","function":{"name":"pay","description":"d","parameters":` + schema + `}}]}`,
		"Anthropic":  `{"tools":[{"name":"pay","description":"d","input_schema":` + schema + `}]}`,
		"Gemini":     `{"tools":[{"functionDeclarations":[{"name":"pay","description":"d","parameters":` + schema + `}]}]}`,
		"YAML":       "- name: pay\n  description: d\n  schema: {type: object}\n",
	} {
		t.Run(name, func(t *testing.T) {
			tools, err := ParseTools([]byte(text))
			require.NoError(t, err)
			assert.Equal(t, []tape.Tool{{Name: "pay", Description: "d", Schema: []byte(schema)}}, tools)
		})
	}
	for text, want := range map[string]string{
		`{}`: "want a list of tools", `[]`: "there is no tool in it", `[1]`: "tools[0]: want an object",
		`[{"schema":{}}]`: "tools[0]: the name is missing", `[{"function":{}}]`: "tools[0].function: the name is missing",
		`[{"functionDeclarations":[{}]}]`: "tools[0].functionDeclarations[0]: the name is missing",
		`[{"name":"a","schema":{1: 2}}]`:  "tools[0].schema: ",
		"\t":                              "yaml: ",
	} {
		_, err := ParseTools([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

func TestReadToolsNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tools.json")
	require.NoError(t, os.WriteFile(path, []byte(`[]`), 0o600))
	_, err := ReadTools(path)
	require.EqualError(t, err, path+": there is no tool in it")
	_, err = ReadTools(path + "-not")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func FuzzParseTools(f *testing.F) {
	f.Add([]byte(`{"tools":[{"name":"pay","schema":{}}]}`))
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = ParseTools(text) })
}
