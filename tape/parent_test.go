package tape

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAParentKeepsWhatItWasReadWith(t *testing.T) {
	const line = `{"tape":"1","complete":true,"parent":{"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","experiment":"fork","fork":3,"trial":7}}`
	read, err := ReadAll(strings.NewReader(line + "\n"))
	require.NoError(t, err)
	assert.Equal(t, &Parent{
		TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", Experiment: "fork", Fork: 3, Extra: []Member{{Name: "trial", Value: []byte("7")}},
	}, read.Manifest.Parent)
	text, err := read.Manifest.AppendJSON(nil)
	require.NoError(t, err)
	assert.JSONEq(t, line, string(text))

	_, err = ReadAll(strings.NewReader(`{"tape":"1","parent":{"fork":"three"}}`))
	require.ErrorContains(t, err, "parent.fork")
}
