package attribution

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

const rulesYAML = `# payment rules
rules:
  - class: external_timeout
    codes: [E_SLOW]
  - class: permission_denied
    tools: ["pay_*"]
    phrases: ["Mandate Missing"]
  - class: policy_regression
    pattern: 'limit of [0-9]+ EUR'
  - class: side_effect_conflict
    tools: [ledger]
approval_tools: ["pay_*", refund]
`

func one(t *testing.T, a *Attributor, rec tape.Record) []Finding {
	t.Helper()
	r := a.Examine(&tape.Tape{Records: []tape.Record{rec}}, nil)
	require.Len(t, r.Records, 1)
	require.Equal(t, r.Records[0], *r.Run)
	return r.Records[0].Findings
}

func TestConfiguredRules(t *testing.T) {
	c, err := ParseConfig([]byte(rulesYAML))
	require.NoError(t, err)
	a, err := New(c)
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		tool, approval string
		err            tape.Error
		want           []Finding
	}{
		"by code":                 {"t", "", tape.Error{Code: "e_slow"}, []Finding{{ExternalTimeout, "error code e_slow"}}},
		"by tool and phrase":      {"pay_card", "ok-1", tape.Error{Message: "the mandate missing."}, []Finding{{PermissionDenied, `message says "mandate missing" and tool pay_card is one of "pay_*"`}}},
		"not that tool":           {"t", "", tape.Error{Message: "mandate missing"}, []Finding{{Class: Unattributed}}},
		"by pattern":              {"t", "", tape.Error{Message: "over the limit of 500 EUR"}, []Finding{{PolicyRegression, `message matches "limit of [0-9]+ EUR"`}}},
		"by tool alone":           {"ledger", "", tape.Error{Message: "x"}, []Finding{{SideEffectConflict, `tool ledger is one of "ledger"`}}},
		"without approval":        {"refund", "", tape.Error{Message: "x"}, []Finding{{ApprovalMissing, `tools like "refund" need an approval, and there is no approval_id`}}},
		"with approval":           {"refund", "ok-2", tape.Error{Message: "x"}, []Finding{{Class: Unattributed}}},
		"the built-in table too":  {"t", "", tape.Error{Code: "403"}, []Finding{{PermissionDenied, "error code 403"}}},
		"the earlier cause first": {"pay_card", "", tape.Error{Code: "504"}, []Finding{{ApprovalMissing, `tools like "pay_*" need an approval, and there is no approval_id`}, {ExternalTimeout, "error code 504"}}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, one(t, a, tape.Record{Seq: 1, Tool: tt.tool, ApprovalID: tt.approval, Error: &tt.err}))
		})
	}
	model := tape.Record{Seq: 1, Kind: tape.KindModel, Tool: "refund", Error: &tape.Error{Message: "x"}}
	assert.Equal(t, []Finding{{Class: Unattributed}}, one(t, a, model), "approvals are of tools")
}

func TestEmptyConfigs(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "rules: []\n"} {
		c, err := ParseConfig([]byte(text))
		require.NoError(t, err)
		_, err = New(c)
		require.NoError(t, err)
	}
}

func TestFaultsOfAConfigNameThePlace(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"unknown class": {"rules:\n  - class: bad_luck\n    codes: [x]\n", `line 2: rules[0].class: "bad_luck" is none of `},
		"no class":      {"rules:\n  - codes: [x]\n", `line 2: rules[0].class: "" is none of `},
		"unattributed":  {"rules:\n  - class: unattributed\n    codes: [x]\n", `rules[0].class: "unattributed" is none of `},
		"no condition":  {"rules:\n- class: schema_mismatch\n", "line 2: rules[0]: fits every failure: name tools, codes, phrases or a pattern"},
		"bad glob":      {"rules:\n- class: schema_mismatch\n  tools:\n  - a\n  - '['\n", `line 5: rules[0].tools[1]: "[" is not a glob: syntax error in pattern`},
		"bad pattern":   {"rules:\n- class: schema_mismatch\n  pattern: '('\n", "line 3: rules[0].pattern: error parsing regexp: missing closing ): `(`"},
		"empty phrase":  {"rules:\n- class: schema_mismatch\n  phrases: ['']\n", "line 3: rules[0].phrases[0]: empty"},
		"empty glob":    {"approval_tools: ['']\n", "line 1: approval_tools[0]: empty"},
		"unknown field": {"rules:\n- klass: x\n", "line 2: field klass not found"},
		"wrong type":    {"rules: 7\n", "line 1: cannot unmarshal !!int `7`"},
		"not YAML":      {"rules: [\n", "line 1: did not find expected node content"},
		"two documents": {"rules: []\n---\nrules: []\n", "more than one YAML document"},
		"two faults":    {"rules:\n- class: x\n  codes: [y]\napproval_tools: ['']\n", `; line 4: approval_tools[0]: empty`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseConfig([]byte(tt.text))
			require.ErrorContains(t, err, tt.want)
			assert.NotContains(t, err.Error(), "\n")
			assert.NotContains(t, err.Error(), "attribution.")
		})
	}
	_, err := New(Config{Rules: []Rule{{}}})
	var field *FieldError
	require.ErrorAs(t, err, &field)
	assert.Equal(t, "rules[0].class", field.Path)
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte(rulesYAML))
	f.Add([]byte("rules:\n- class: x\n  tools: ['[']\n"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseConfig(text)
		if err != nil {
			return
		}
		a, err := New(c)
		require.NoError(t, err, "what was read is valid")
		a.Examine(&tape.Tape{Records: []tape.Record{{Seq: 1, Tool: "pay", Error: &tape.Error{Message: "limit of 5 EUR"}}}}, nil)
	})
}
