package attribution

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

func run(id, schema string, records ...tape.Record) *tape.Tape {
	m := &tape.Manifest{TraceID: id}
	if schema != "" {
		m.Tools = []tape.Tool{{Name: "book", Schema: json.RawMessage(schema)}}
	}
	return &tape.Tape{Manifest: m, Records: records}
}

func TestSchemasOfTheLastGoodRun(t *testing.T) {
	const (
		old     = `{"type":"object","properties":{"id":{"type":"integer"},"title":{"type":"string"}},"required":["id","title"]}`
		renamed = `{"type":"object","properties":{"ref":{"type":"integer"},"title":{"type":"string"}},"required":["ref","title"]}`
		retold  = `{"type":"object","description":"now in other words","properties":{"title":{"type":"string","description":"x"},"id":{"type":"integer"}},"required":["title","id"]}`
		untitle = `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id","title"]}`
	)
	boom := &tape.Error{Message: "boom"}
	for name, c := range map[string]struct {
		was, is string
		args    string
		err     *tape.Error
		want    []Finding
	}{
		"the same":                     {old, old, `{"id":1,"title":"x"}`, boom, []Finding{{Class: Unattributed}}},
		"only other words":             {old, retold, `{"id":1,"title":"x"}`, boom, []Finding{{Class: Unattributed}}},
		"a property called title":      {old, untitle, `{"id":1,"title":"x"}`, boom, []Finding{{SchemaMismatch, "the schema is not that of the good run: /properties/title is gone"}}},
		"arguments for the old one":    {old, renamed, `{"id":1,"title":"x"}`, boom, []Finding{{SchemaMismatch, "the schema is not that of the good run: /properties/id is gone, /properties/ref is new, /required differs"}}},
		"arguments for neither":        {old, renamed, `{"x":1}`, boom, []Finding{{SchemaMismatch, "the schema is not that of the good run: /properties/id is gone, /properties/ref is new, /required differs"}, {ArgsGeneration, "arguments do not fit the schema: /: missing properties 'ref', 'title'"}}},
		"refused by the tool":          {old, renamed, `{"ref":1,"title":"x"}`, &tape.Error{Code: "-32602"}, []Finding{{SchemaMismatch, "the schema is not that of the good run: /properties/id is gone, /properties/ref is new, /required differs"}, {ArgsGeneration, "error code -32602"}}},
		"timed out":                    {old, renamed, `{"ref":1,"title":"x"}`, &tape.Error{Code: "504"}, []Finding{{SchemaMismatch, "the schema is not that of the good run: /properties/id is gone, /properties/ref is new, /required differs"}, {ExternalTimeout, "error code 504"}}},
		"the good run had none":        {"", renamed, `{"ref":1,"title":"x"}`, boom, []Finding{{Class: Unattributed}}},
		"a schema that is not JSON":    {`{"type":`, renamed, `{"ref":1,"title":"x"}`, boom, []Finding{{Class: Unattributed}}},
		"schemas that are not objects": {`true`, `false`, `{}`, boom, []Finding{{SchemaMismatch, "the schema is not that of the good run: / differs"}}},
	} {
		t.Run(name, func(t *testing.T) {
			failed := run("bad", c.is, tape.Record{Seq: 1, Tool: "book", Args: json.RawMessage(c.args), Error: c.err})
			r := builtin.Examine(failed, NewGood(run("good", c.was)))
			require.Len(t, r.Records, 1)
			assert.Equal(t, c.want, r.Records[0].Findings)
			if r.Good != "" {
				assert.Equal(t, "good", r.Good)
			}
			assert.Equal(t, NewGood(run("good", c.was)) != nil, r.Good != "", "named where there was something to compare with")
		})
	}
}

func TestVersionsOfSchemasOfTheLastGoodRun(t *testing.T) {
	failed := run("bad", "", tape.Record{Seq: 1, Tool: "book", SchemaVersion: "2", Error: &tape.Error{Message: "boom"}})
	good := run("good", "", tape.Record{Seq: 1, Tool: "book", SchemaVersion: "1"})
	assert.Equal(t, []Finding{{SchemaMismatch, "schema version 2, in the good run 1"}}, builtin.Examine(failed, NewGood(good)).Records[0].Findings)
	good.Records[0].SchemaVersion = "2"
	assert.Equal(t, Unattributed, builtin.Examine(failed, NewGood(good)).Records[0].Class)
}

func TestRepeatedWrites(t *testing.T) {
	yes, no := true, false
	write := func(seq int, effect *bool, err *tape.Error) tape.Record {
		return tape.Record{Seq: seq, Tool: "pay", Key: "pay:1", SideEffect: effect, Error: err}
	}
	timeout, conflict := &tape.Error{Code: "504"}, &tape.Error{Message: "boom"}
	for name, c := range map[string]struct {
		records []tape.Record
		want    []Finding
	}{
		"after one that went well":        {[]tape.Record{write(1, &yes, nil), write(2, &yes, conflict)}, []Finding{{SideEffectConflict, "the same write went well at step 1"}}},
		"after one that timed out":        {[]tape.Record{write(1, &yes, timeout), write(2, &yes, conflict)}, []Finding{{SideEffectConflict, "the same write timed out at step 1 and may have been made"}}},
		"after both":                      {[]tape.Record{write(1, &yes, timeout), write(2, &yes, nil), write(3, &yes, conflict)}, []Finding{{SideEffectConflict, "the same write went well at step 2"}}},
		"after one that failed otherwise": {[]tape.Record{write(1, &yes, conflict), write(2, &yes, conflict)}, []Finding{{Class: Unattributed}}},
		"a read":                          {[]tape.Record{write(1, &no, nil), write(2, &no, conflict)}, []Finding{{Class: Unattributed}}},
		"nobody knows":                    {[]tape.Record{write(1, nil, nil), write(2, nil, conflict)}, []Finding{{Class: Unattributed}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := builtin.Examine(&tape.Tape{Records: c.records}, nil)
			assert.Equal(t, c.want, r.Records[len(r.Records)-1].Findings)
		})
	}
}

func TestReports(t *testing.T) {
	tp := &tape.Tape{
		Manifest: &tape.Manifest{TraceID: "x", Outcome: tape.OutcomeRecovered, Failure: &tape.Failure{Seq: 2, Reason: "in short"}},
		Records: []tape.Record{
			{Seq: 1, Tool: "a", Error: &tape.Error{Code: "403", Message: "no"}},
			{Seq: 2, Kind: tape.KindModel, Tool: "chat", Error: &tape.Error{Code: "504"}},
			{Seq: 3, Tool: "b"},
		},
	}
	r := builtin.Examine(tp, nil)
	assert.Equal(t, tape.OutcomeRecovered, r.Outcome)
	require.Len(t, r.Records, 2)
	assert.Equal(t, Failure{Seq: 1, Kind: tape.KindTool, Tool: "a", Class: PermissionDenied, Reason: "no", Findings: []Finding{{PermissionDenied, "error code 403"}}}, r.Records[0])
	require.NotNil(t, r.Run)
	assert.Equal(t, []any{2, ExternalTimeout, "in short"}, []any{r.Run.Seq, r.Run.Class, r.Run.Reason})
	assert.Empty(t, tp.Records[0].FailureClass, "the tape is as it was")

	tp.Manifest.Failure = &tape.Failure{Reason: "deadline exceeded"}
	r = builtin.Examine(tp, nil)
	assert.Equal(t, []any{0, ExternalTimeout}, []any{r.Run.Seq, r.Run.Class})

	tp.Manifest.Failure = nil
	assert.Nil(t, builtin.Examine(tp, nil).Run)
	assert.Nil(t, builtin.Examine(&tape.Tape{}, nil).Run)
	assert.NotNil(t, builtin.Examine(&tape.Tape{}, nil).Records)

	var none *Attributor
	none.Tape(tp)
	assert.Equal(t, PermissionDenied, tp.Records[0].FailureClass, "no attributor is the built-in one")
}

func TestWhatARecorderSaysStandsWhereNothingElseIsKnown(t *testing.T) {
	rec := tape.Record{Seq: 1, Tool: "a", FailureClass: ResponseParse, Error: &tape.Error{Message: "boom"}}
	assert.Equal(t, []Finding{{ResponseParse, "the recorder says so"}}, one(t, builtin, rec))
	rec.Error.Code = "403"
	assert.Equal(t, []Finding{{PermissionDenied, "error code 403"}, {ResponseParse, "the recorder says so"}}, one(t, builtin, rec), "both are listed")
}

// Many failures of many tools cost no more than their number.
func TestManyFailuresAreQuick(t *testing.T) {
	yes := true
	tp := &tape.Tape{Manifest: &tape.Manifest{}}
	for i := range 20000 {
		name := fmt.Sprintf("tool%d", i%200)
		if i < 200 {
			tp.Manifest.Tools = append(tp.Manifest.Tools, tape.Tool{Name: name, Schema: json.RawMessage(`{"type":"object"}`)})
		}
		tp.Records = append(tp.Records, tape.Record{Seq: i + 1, Tool: name, Key: fmt.Sprint(i), Args: json.RawMessage(`{}`), SideEffect: &yes, Error: &tape.Error{Message: "boom"}})
	}
	start := time.Now()
	builtin.Tape(tp)
	assert.Less(t, time.Since(start), 5*time.Second)
}
