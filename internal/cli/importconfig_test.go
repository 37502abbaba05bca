package cli

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"

	"github.com/tapedeck/tapedeck/extension/tapestore"
	"github.com/tapedeck/tapedeck/internal/dialect"
)

const reading = `
translation:
  tenant_attribute: customer
  caller_context:
    user: [my.user]
    shop: service.name
  approval_id: [my.approval]
  policy_result: null
  prompt_version: []
  tools:
    read_only: [get_*]
    side_effect: [search]
  in_band:
    - tool: search
      member: hits
      not_equals: "0"
  expires:
    - {tool: search, after: 15m}
attribution:
  approval_tools: [pay_*]
  rules:
    - class: external_timeout
      tools: [search]
      phrases: [upstream is slow]
`

func TestImportReadsAsConfigured(t *testing.T) {
	in := temp(t, "run.json", request(toolSpan('a', 1, `{"q":"socks"}`)))
	r := tapeCmd(t, "", "import", in)
	require.Equal(t, exitOK, r.code, r.err)
	plain := readTapeText(t, r.out).Records[0]
	assert.Nil(t, plain.SideEffect)
	assert.False(t, plain.Failed())

	r = tapeCmd(t, "", "import", in, "--config", temp(t, "reading.yaml", `
translation:
  caller_context: {shop: [service.name]}
  tools: {side_effect: [search]}
  in_band: [{tool: search, member: hits, not_equals: "0"}]
attribution:
  rules: [{class: external_timeout, tools: [search]}]
`))
	require.Equal(t, exitOK, r.code, r.err)
	read := readTapeText(t, r.out).Records[0]
	assert.Equal(t, plain.Key, read.Key)
	require.NotNil(t, read.SideEffect)
	assert.True(t, *read.SideEffect)
	assert.True(t, read.Failed())
	assert.Equal(t, "external_timeout", read.FailureClass)
	assert.JSONEq(t, `{"shop":"shop"}`, string(read.CallerContext))
}

// The same text says the same to the collector and to the command, or nothing to
// either.
func TestConfigIsReadAsTheExtensionReadsIt(t *testing.T) {
	for name, text := range map[string]string{
		"everything":           reading,
		"empty":                "",
		"only a comment":       "# none\n",
		"empty sections":       "translation:\nattribution: {}\n",
		"one name for a list":  "translation: {approval_id: a.b}",
		"names with commas":    "translation: {approval_id: 'a,b'}",
		"a shorter list":       "translation: {caller_context: {user: [x]}}",
		"a member without one": "translation: {caller_context: {user: null}}",
		"a null in a list":     "translation: {approval_id: [a, null]}",
		"an empty list":        "translation: {caller_context: {user: []}, approval_id: []}",
		"number for text":      "translation: {in_band: [{member: a, equals: 0}]}",
		"null for a text":      "translation: {in_band: [{member: a, equals: null}], tenant_attribute: null}",
		"other case":           "translation: {Approval_ID: [a]}",
		"no duration":          "translation: {expires: [{tool: a, after: 15}]}",
		"unknown name":         "translation: {tool: [a]}",
		"list for a section":   "translation: [a]",
		"text for a section":   "attribution: pay",
		"object for a list":    "attribution: {rules: {class: external_timeout, codes: [x]}}",
		"unknown in a rule":    "attribution: {rules: [{class: external_timeout, code: [x]}]}",
	} {
		t.Run(name, func(t *testing.T) {
			theirs := tapestore.NewFactory().CreateDefaultConfig().(*tapestore.Config)
			retrieved, err := confmap.NewRetrievedFromYAML([]byte(text))
			require.NoError(t, err)
			conf, err := retrieved.AsConf()
			require.NoError(t, err)
			theirErr := conf.Unmarshal(theirs)
			if theirErr == nil {
				theirErr = confmap.Validate(theirs)
			}

			ours := readingConfig{Translation: *dialect.DefaultConfig()}
			ourErr := ours.parse([]byte(text))
			if theirErr != nil {
				require.Error(t, ourErr, "the extension: %v", theirErr)
				return
			}
			require.NoError(t, ourErr)
			assert.Equal(t, theirs.Translation, ours.Translation)
			assert.Equal(t, theirs.Attribution, ours.Attribution)
		})
	}
}

func TestWhatIsWrongWithAConfigIsNamed(t *testing.T) {
	in := temp(t, "run.json", request(toolSpan('a', 1, `{}`)))
	for name, c := range map[string]struct{ text, want string }{
		"unknown section":    {"directory: {path: x}", `reading.yaml: "directory" is not one of the sections`},
		"unknown name":       {"translation: {in_band: [{prefix: x}, {prefx: x}]}", "reading.yaml: 'translation.in_band[1]' has invalid keys: prefx"},
		"wrong type":         {"translation: {tools: {read_only: 5}}", "reading.yaml: 'translation.tools.read_only' source data"},
		"bad glob":           {"translation: {tools: {read_only: ['[']}}", `translation::tools::read_only[0]: pattern "["`},
		"bad class":          {"attribution: {rules: [{class: bad_luck, codes: [x]}]}", `attribution::rules[0].class: "bad_luck" is none of`},
		"no YAML":            {"translation: [", "line 1"},
		"no map":             {"- a\n", "not a map with the sections"},
		"two mistakes":       {"translation: {in_band: [{prefx: x}], foo: 1}", "; 'translation' has invalid keys: foo"},
		"two documents":      {"translation: {}\n---\ntranslation: {}\n", "more than one YAML document"},
		"a name given twice": {"translation: {}\ntranslation: {}\n", "reading.yaml: line 2: "},
	} {
		t.Run(name, func(t *testing.T) {
			file := temp(t, "reading.yaml", c.text)
			r := tapeCmd(t, "", "import", in, "--config", file)
			assert.Equal(t, exitUsage, r.code)
			assert.Empty(t, r.out)
			assert.Contains(t, r.err, file+": ")
			assert.Contains(t, r.err, c.want)
			assert.Equal(t, 1, strings.Count(r.err, "\n"), r.err)
		})
	}
	r := tapeCmd(t, "", "import", in, "--config", "testdata/none.yaml")
	assert.NotEqual(t, exitOK, r.code)
	assert.Contains(t, r.err, "testdata/none.yaml")

	file := temp(t, "reading.yaml", "attribution: {}\n")
	r = tapeCmd(t, "", "import", in, "--config", file, "-o", file)
	assert.Equal(t, result{"", "tape: -o " + file + " is " + file + ", which is to be read\n", exitUsage}, r)
	assert.Equal(t, "attribution: {}\n", read(t, file))
}

// A record that is past its expiry is told before a replay, and in it.
func TestWhatExpiresIsTold(t *testing.T) {
	in := temp(t, "run.json", request(toolSpan('a', 1, `{"q":"socks"}`)))
	file := filepath.Join(t.TempDir(), "run.jsonl")
	r := tapeCmd(t, "", "import", in, "-o", file, "--config", temp(t, "reading.yaml", "translation: {expires: [{tool: 'sea*', after: 15m}]}"))
	require.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, tapeCmd(t, "", "doctor", file).out, "expired at")

	post, end := served(t, file)
	_, got := post("/v1/call", `{"tool":"search","args":{"q":"socks"}}`)
	assert.Equal(t, "{\"result\":{\"hits\":1}}\n", got)
	code, report := end()
	assert.Equal(t, exitOK, code, report)
	assert.Contains(t, report, "answers past their expiry: 1")

	post, end = served(t, file, "--fail-expired")
	status, got := post("/v1/call", `{"tool":"search","args":{"q":"socks"}}`)
	assert.Equal(t, http.StatusFailedDependency, status)
	assert.Contains(t, got, "expired at")
	code, _ = end()
	assert.Equal(t, exitNo, code)
}
