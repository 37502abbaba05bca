package dialect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/tapedeck/tapedeck/internal/dialect/fidelity"
	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/tape"
)

// What the manifest calls complete is what tape doctor says of the tape, whole or
// lean, and a tape that is complete lists nothing that a replay needs.
func TestCompleteIsTheVerdictOfDoctor(t *testing.T) {
	seen := map[bool]int{}
	check := func(name string, tapes []*tape.Tape) {
		for _, tp := range tapes {
			complete := tp.Manifest.Complete
			seen[complete]++
			assert.Equal(t, doctor.Examine(tp).Replays, complete, name)
			assert.Equal(t, complete, doctor.Complete(tp), name)
			assert.Empty(t, tape.Verify(tp), name)
		}
	}
	for _, from := range []func() ([]fidelity.Case, error){
		func() ([]fidelity.Case, error) { return fidelity.ReadCaptures("testdata/captures") },
		func() ([]fidelity.Case, error) { return fidelity.ReadSamples("testdata/samples") },
		func() ([]fidelity.Case, error) { return fidelity.ReadSamples("testdata/described") },
	} {
		cases, err := from()
		require.NoError(t, err)
		for _, c := range cases {
			tapes := TranslateWithLogs(c.Traces, c.Logs, Options{})
			check(c.Name, tapes)
			for i, run := range Runs(c.Traces, c.Logs, Options{Lean: true}) {
				assert.Equal(t, tapes[i].Manifest, run.Tape.Manifest, c.Name)
			}
		}
	}
	for name, td := range realTraces(t) {
		check(name, TranslateWithLogs(td, plog.NewLogs(), Options{}))
	}
	assert.Positive(t, seen[true])
	assert.Positive(t, seen[false])
}
