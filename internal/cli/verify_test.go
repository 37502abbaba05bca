package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVerify(t *testing.T) {
	good := read(t, failedTape)
	lines := strings.SplitAfter(good, "\n")
	bad := strings.Replace(good, `"get_weather:`, `"get_weather:0000`, 1)
	tests := map[string]struct {
		tape string
		code int
		out  string
	}{
		"good":            {good, exitOK, "good, 5 records"},
		"a bare tape":     {strings.Join(lines[1:], ""), exitOK, "good, 5 records"},
		"a wrong key":     {bad, exitNo, "line 3: record 2: key: "},
		"out of order":    {lines[0] + lines[2] + lines[1], exitNo, "seq: "},
		"cut":             {good[:len(good)-9], exitUsage, "line 6: the tape is cut in the middle of its last line"},
		"unknown version": {strings.Replace(good, `"tape":"1"`, `"tape":"2"`, 1), exitUsage, `line 1: unknown tape version`},
		"not JSON":        {lines[0] + "nonsense\n", exitUsage, "line 2: "},
		"empty":           {"", exitUsage, "empty: there is neither a manifest nor a record in it"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := tapeCmd(t, tt.tape, "verify", "-")
			assert.Equal(t, tt.code, r.code)
			assert.Contains(t, r.out, tt.out)
			if tt.code != exitOK {
				oneLineError(t, r)
			}
			r = tapeCmd(t, tt.tape, "verify", "-", "--json")
			assert.Equal(t, tt.code, r.code)
			var got []verifyReport
			require.NoError(t, json.Unmarshal([]byte(r.out), &got))
			assert.Equal(t, tt.code == exitOK, got[0].Valid)
		})
	}
}

func TestVerifyManyFiles(t *testing.T) {
	bad := temp(t, "bad.jsonl", "nonsense")
	r := tapeCmd(t, "", "verify", failedTape, bad, "testdata/bare.jsonl")
	assert.Equal(t, exitUsage, r.code)
	assert.Equal(t, 3, strings.Count(r.out, "\n"))
	assert.Contains(t, r.err, "bad.jsonl")

	// What cannot be opened is a line of the report like any other.
	words := []string{"verify", "testdata/none.jsonl", failedTape, "testdata"}
	r = tapeCmd(t, "", words...)
	assert.Equal(t, exitUsage, r.code)
	oneLineError(t, r)
	assert.Contains(t, r.out, "testdata/none.jsonl: no such file or directory\n")
	assert.Contains(t, r.out, failedTape+": good, 5 records\n")
	r = tapeCmd(t, "", append(words, "--json")...)
	assert.Equal(t, exitUsage, r.code)
	var got []verifyReport
	require.NoError(t, json.Unmarshal([]byte(r.out), &got))
	require.Len(t, got, 3)
	assert.Equal(t, []bool{false, true, false}, []bool{got[0].Valid, got[1].Valid, got[2].Valid})
	assert.Equal(t, "is a directory", got[2].Error)
}
