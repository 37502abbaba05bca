package rowfile_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/store/rowfile"
	"github.com/tapedeck/tapedeck/tape"
)

func TestWhichEntriesMatch(t *testing.T) {
	var entries []rowfile.Entry
	for i, of := range [][3]string{{"shop", "failures", ""}, {"bank", "", "external_timeout"}, {"", "kept", "failures"}} {
		entries = append(entries, rowfile.Entry{Row: tape.Row{
			TraceID: fmt.Sprintf("%032x", i+1), Decided: at(0), Service: of[0], Class: of[1], FailureClass: of[2],
		}})
	}
	data := write(t, entries...)
	f, err := rowfile.Open(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	classes := []string{"class", "failure_class"}
	for name, c := range map[string]struct {
		conditions []rowfile.Condition
		want       []bool
	}{
		"nothing is asked":           {nil, []bool{true, true, true}},
		"one value":                  {[]rowfile.Condition{{[]string{"service"}, []string{"shop"}}}, []bool{true, false, false}},
		"one of two":                 {[]rowfile.Condition{{[]string{"service"}, []string{"bank", "shop"}}}, []bool{true, true, false}},
		"an empty one":               {[]rowfile.Condition{{[]string{"service"}, []string{""}}}, []bool{false, false, true}},
		"within, and not there":      {[]rowfile.Condition{{[]string{"service"}, []string{"mail"}}}, []bool{false, false, false}},
		"below all":                  {[]rowfile.Condition{{[]string{"service"}, []string{"a"}}}, []bool{false, false, false}},
		"above all":                  {[]rowfile.Condition{{[]string{"service"}, []string{"z"}}}, []bool{false, false, false}},
		"either column":              {[]rowfile.Condition{{classes, []string{"failures"}}}, []bool{true, false, true}},
		"both conditions":            {[]rowfile.Condition{{classes, []string{"failures"}}, {[]string{"service"}, []string{"shop"}}}, []bool{true, false, false}},
		"a column that is not there": {[]rowfile.Condition{{[]string{"colour"}, []string{"red"}}}, []bool{false, false, false}},
	} {
		got, err := f.Match(c.conditions)
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got, name)
	}
}
