package attr_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// fullRow sets every member of a row by reflection, so that a member added
// later cannot be forgotten.
func fullRow(t *testing.T) tape.Row {
	t.Helper()
	var row tape.Row
	v := reflect.ValueOf(&row).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		switch f.Kind() {
		case reflect.String:
			f.SetString("value of " + v.Type().Field(i).Name)
		case reflect.Int, reflect.Int64:
			f.SetInt(int64(100 + i))
		case reflect.Float64:
			f.SetFloat(float64(i) + 0.5)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Slice:
			f.Set(reflect.ValueOf([]string{"a", "b"}))
		case reflect.Pointer:
			of := reflect.New(f.Type().Elem())
			switch of.Elem().Kind() {
			case reflect.Bool:
				of.Elem().SetBool(true)
			default:
				of.Elem().SetFloat(0.25)
			}
			f.Set(of)
		default:
			t.Fatalf("member %s has a kind the test cannot fill: %s", v.Type().Field(i).Name, f.Kind())
		}
	}
	return row
}

func TestRowSurvivesTheTripOverAttributes(t *testing.T) {
	zero, no := 0.0, false
	tests := map[string]tape.Row{
		"every member":          fullRow(t),
		"outcome alone":         {Outcome: tape.OutcomeSucceeded},
		"known as not complete": {Outcome: tape.OutcomeFailed, Complete: &no},
		"cost known as 0":       {Outcome: tape.OutcomeFailed, Cost: &zero},
		"negative numbers":      {Outcome: tape.OutcomeFailed, DurationMS: -1, Bytes: -2},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			m := pcommon.NewMap()
			m.PutStr("other", "stays")
			attr.PutRow(m, want)
			got, ok := attr.RowFrom(m)
			require.True(t, ok)
			assert.Equal(t, want, got)
			_, ok = m.Get("other")
			assert.True(t, ok)
		})
	}
}

func TestEveryMemberHasAnAttributeOfItsJSONName(t *testing.T) {
	m := pcommon.NewMap()
	attr.PutRow(m, fullRow(t))
	typ := reflect.TypeFor[tape.Row]()
	assert.Equal(t, typ.NumField(), m.Len())
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		_, ok := m.Get(attr.RunPrefix + name)
		assert.True(t, ok, "no attribute for %s", name)
	}
}

func TestAnEarlierRowLeavesNothingBehind(t *testing.T) {
	m := pcommon.NewMap()
	attr.PutRow(m, fullRow(t))
	want := tape.Row{Outcome: tape.OutcomeSucceeded}
	attr.PutRow(m, want)
	got, ok := attr.RowFrom(m)
	require.True(t, ok)
	assert.Equal(t, want, got)
}

func TestRowFromIgnoresWhatItCannotRead(t *testing.T) {
	m := pcommon.NewMap()
	_, ok := attr.RowFrom(m)
	assert.False(t, ok, "no attributes")

	m.PutInt("tape.run.outcome", 3)
	_, ok = attr.RowFrom(m)
	assert.False(t, ok, "an outcome that is no string")

	m.PutStr("tape.run.outcome", "failed")
	m.PutStr("tape.run.steps", "many")
	m.PutInt("tape.run.trace_id", 1)
	m.PutStr("tape.run.tools", "one")
	m.PutStr("tape.run.cost", "free")
	m.PutStr("tape.run.kept", "true")
	m.PutStr("tape.run.unknown", "x")
	m.PutInt("tape.run.duration_ms", 12)
	m.PutEmptySlice("tape.run.models").AppendEmpty().SetInt(1)
	got, ok := attr.RowFrom(m)
	require.True(t, ok)
	assert.Equal(t, tape.Row{Outcome: tape.OutcomeFailed, DurationMS: 12}, got)
}

func TestMarks(t *testing.T) {
	m := pcommon.NewMap()
	assert.False(t, attr.IsSummary(m))
	assert.Empty(t, attr.OutcomeOf(m))
	m.PutStr(attr.Summary, "true")
	m.PutInt(attr.Outcome, 1)
	assert.False(t, attr.IsSummary(m), "a string is not the mark")
	assert.Empty(t, attr.OutcomeOf(m))
	m.PutBool(attr.Summary, true)
	m.PutStr(attr.Outcome, "recovered")
	assert.True(t, attr.IsSummary(m))
	assert.Equal(t, tape.OutcomeRecovered, attr.OutcomeOf(m))
}
