package regress

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tapedeck/tapedeck/replay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// set writes files and goes to where they are, so that paths are relative.
func set(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
}

const oneTape = `{"tape":"1"}` + "\n" + `{"seq":1,"tool":"f"}` + "\n" + `{"seq":2,"tool":"g"}` + "\n"

func TestFind(t *testing.T) {
	set(t, map[string]string{
		"tapes/b.jsonl": oneTape, "tapes/a/x.jsonl": oneTape, "tapes/b.expect.yaml": "exit_code: 4\n",
		"tapes/.hidden/y.jsonl": oneTape, "tapes/.z.jsonl": oneTape, "tapes/README.md": "",
	})
	cases, err := Find([]string{"tapes", "tapes/b.jsonl", "./tapes/b.jsonl"})
	require.NoError(t, err)
	require.Len(t, cases, 2)
	assert.Equal(t, "tapes/a/x", filepath.ToSlash(cases[0].Name))
	assert.Equal(t, 4, cases[1].Expectation.ExitCode)

	_, err = Find([]string{"nowhere"})
	assert.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.MkdirAll("empty", 0o755))
	_, err = Find([]string{"empty"})
	assert.ErrorIs(t, err, ErrNoTapes)
	require.NoError(t, os.WriteFile("tapes/renamed.expect.yaml", nil, 0o600))
	_, err = Find([]string{"tapes"})
	assert.ErrorContains(t, err, "there is no tape of that name")
}

func TestRunIsParallelAndKeepsTheOrder(t *testing.T) {
	cases := make([]Case, 20)
	for i := range cases {
		cases[i].Name = string(rune('a' + i))
	}
	var now, most atomic.Int32
	r := Run(t.Context(), cases, 4, func(_ context.Context, c *Case) Outcome {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		time.Sleep(time.Duration('u'-c.Name[0]) * 200 * time.Microsecond)
		return Outcome{Report: &replay.Report{}, Answer: c.Name}
	})
	assert.True(t, r.Passed)
	assert.LessOrEqual(t, most.Load(), int32(4))
	assert.Greater(t, most.Load(), int32(1))
	for i := range cases {
		assert.Equal(t, cases[i].Name, r.Results[i].Answer)
	}
}

func TestWhatDidNotBeginIsAnError(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	r := Run(ctx, make([]Case, 3), 1, func(context.Context, *Case) Outcome {
		cancel(errors.New("interrupted"))
		return Outcome{Report: &replay.Report{}}
	})
	assert.Equal(t, Counts{Cases: 3, Passed: 1, Errors: 2}, r.Counts)
	assert.Equal(t, "not run: interrupted", r.Results[2].Failures[0].Message)
}

// hostile is a run with one of everything, and texts that would break a report that
// does not quote.
func hostile(t *testing.T) *Report {
	t.Helper()
	set(t, map[string]string{"tapes/a b,c.jsonl": oneTape, "tapes/ok.jsonl": oneTape})
	cases, err := Find([]string{"tapes"})
	require.NoError(t, err)
	cases = append(cases, Case{Name: "gone", Tape: "gone.jsonl"})
	return Run(t.Context(), cases, 2, func(_ context.Context, c *Case) Outcome {
		switch {
		case c.Name == "gone":
			return Outcome{Err: errors.New("gone.jsonl: not there")}
		case strings.HasSuffix(c.Name, "ok"):
			return Outcome{Report: &replay.Report{}}
		}
		report := stats(func(s *replay.Stats) { s.DriftEvents = 1 })
		report.Events = []replay.Event{{Verdict: replay.VerdictDrift, Seq: 2, Message: "drift: a,b::c%\n::error::x <&\x01]]>"}}
		return Outcome{Report: report, ExitCode: 3, Answer: "<answer>\x00", Errors: "]]>"}
	})
}

func TestJUnit(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, hostile(t).JUnit(&out))
	var back struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Suites   []struct {
			Tests   int    `xml:"tests,attr"`
			Skipped *int   `xml:"skipped,attr"`
			Time    string `xml:"time,attr"`
			Cases   []struct {
				Name    string `xml:"name,attr"`
				Class   string `xml:"classname,attr"`
				Time    string `xml:"time,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
					Type    string `xml:"type,attr"`
					Text    string `xml:",chardata"`
				} `xml:"failure"`
				Error *struct {
					Message string `xml:"message,attr"`
				} `xml:"error"`
				Out string `xml:"system-out"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal(out.Bytes(), &back), out.String())
	assert.Equal(t, []int{3, 1, 1}, []int{back.Tests, back.Failures, back.Errors})
	require.Len(t, back.Suites, 1)
	require.Len(t, back.Suites[0].Cases, 3)
	assert.NotNil(t, back.Suites[0].Skipped)
	bad := back.Suites[0].Cases[0]
	assert.Equal(t, "tapes/a b,c", bad.Name)
	assert.Equal(t, "exit_code", bad.Failure.Type)
	assert.Contains(t, bad.Failure.Text, "::error::x <&")
	assert.Equal(t, "<answer>\ufffd", bad.Out)
	assert.Nil(t, back.Suites[0].Cases[1].Failure)
	assert.Equal(t, "gone.jsonl: not there", back.Suites[0].Cases[2].Error.Message)
}

// TestSARIF holds the report to the published schema.
func TestSARIF(t *testing.T) {
	file, err := os.Open("testdata/sarif-schema-2.1.0.json")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	doc, err := jsonschema.UnmarshalJSON(file)
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("sarif.json", doc))
	schema, err := compiler.Compile("sarif.json")
	require.NoError(t, err)

	var out bytes.Buffer
	require.NoError(t, hostile(t).SARIF(&out))
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(out.Bytes()))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(value))
	var log sarifLog
	require.NoError(t, json.Unmarshal(out.Bytes(), &log))
	results := log.Runs[0].Results
	require.Len(t, results, 3)
	assert.Equal(t, "tape/drift", results[1].RuleID)
	assert.Equal(t, "tapes/a%20b,c.jsonl", results[1].Locations[0].PhysicalLocation.ArtifactLocation.URI)
	assert.Equal(t, 3, results[1].Locations[0].PhysicalLocation.Region.StartLine, "the line of record 2, after the manifest")
	for _, r := range results {
		require.GreaterOrEqual(t, r.RuleIndex, 0)
		assert.Equal(t, r.RuleID, log.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID)
	}
	out.Reset()
	require.NoError(t, Run(t.Context(), nil, 1, nil).SARIF(&out))
	value, err = jsonschema.UnmarshalJSON(&out)
	require.NoError(t, err)
	assert.NoError(t, schema.Validate(value), "a run without results")
}

// Each thing that can be wrong is a rule of the SARIF report.
func TestEveryMemberHasARule(t *testing.T) {
	known := map[string]bool{}
	for _, r := range sarifRules {
		known[r.member] = true
	}
	e := Expectation{}
	for _, c := range e.counts(replay.Stats{}) {
		assert.True(t, known[c.member], c.member)
	}
	for _, m := range []string{"exit_code", "answer", "answer_contains", "answer_matches", "timeout", "error"} {
		assert.True(t, known[m], m)
	}
}

func TestGitHubLinesCannotBeForged(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, hostile(t).GitHub(&out))
	assert.Equal(t, "::error file=tapes/a b%2Cc.jsonl,title=tapes/a b%2Cc%3A exit_code::exit code 3, want 0\n"+
		"::error file=tapes/a b%2Cc.jsonl,line=3,title=tapes/a b%2Cc%3A drift::drift: a,b::c%25%0A::error::x <&\x01]]>\n"+
		"::error file=gone.jsonl,title=gone%3A error::gone.jsonl: not there\n", out.String())
}

func TestUpdate(t *testing.T) {
	set(t, map[string]string{
		"fresh.jsonl": oneTape, "same.jsonl": oneTape, "same.expect.yaml": "answer: hi # greeting\n",
		"other.jsonl": oneTape, "other.expect.yaml": "# why\nanswer: old # short\ndrift: 0\n",
		"drift.jsonl": oneTape, "drift.expect.yaml": "answer: old\n",
		"free.jsonl": oneTape, "free.expect.yaml": "answer_contains: [x]\n",
		"code.jsonl": oneTape, "code.expect.yaml": "answer_contains: [h]\n",
	})
	cases, err := Find([]string{"."})
	require.NoError(t, err)
	run := func(_ context.Context, c *Case) Outcome {
		o := Outcome{Report: &replay.Report{}, Answer: "hi"}
		switch c.Name {
		case "drift":
			o.Report.Stats.DriftEvents = 1
		case "code":
			o.ExitCode = 2
		case "other":
			o.Answer = "two\nlines: yes"
		}
		return o
	}
	updates, err := Run(t.Context(), cases, 1, run).UpdateExpectations()
	require.NoError(t, err)
	said := map[string]Update{}
	for _, u := range updates {
		said[u.Expect] = u
	}
	assert.Len(t, said, 5, "nothing is said of what passed")
	assert.Equal(t, []MemberChange{{"exit_code", "", "0"}, {"answer", "", "hi"}}, said["fresh.expect.yaml"].Changes)
	assert.Equal(t, []MemberChange{{"answer", "old", "two\nlines: yes"}}, said["other.expect.yaml"].Changes)
	assert.Equal(t, []MemberChange{{"exit_code", "", "2"}}, said["code.expect.yaml"].Changes)
	assert.Equal(t, "drift: 1, want 0", said["drift.expect.yaml"].Refused)
	assert.NotEmpty(t, said["free.expect.yaml"].Refused, "a rule about answers is not overruled")
	text, err := os.ReadFile("other.expect.yaml")
	require.NoError(t, err)
	assert.Contains(t, string(text), "# why")
	assert.Contains(t, string(text), "# short")

	// What was updated passes, and nothing is left beside it.
	cases, err = Find([]string{"fresh.jsonl", "other.jsonl", "code.jsonl", "same.jsonl"})
	require.NoError(t, err)
	assert.True(t, Run(t.Context(), cases, 1, run).Passed)
	hidden, err := filepath.Glob(".*")
	require.NoError(t, err)
	assert.Empty(t, hidden)
}
