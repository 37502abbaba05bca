package replay

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAPolicyWithoutItsRules: what was redacted by rules that nobody has cannot be
// compared; where nothing was, the default policy does for both sides.
func TestAPolicyWithoutItsRules(t *testing.T) {
	const manifest = `{"tape":"1","redaction":{"policy":"v9:0123"}}`
	s := start(t, parse(t, manifest, `{"seq":1,"tool":"mail","key":"mail:000000000000","args":{"to":"jane.doe@corp.com"},"result":"[REDACTED:x]","redacted":["result"]}`))
	_, err := s.Call(ctx, "mail", raw(`{"to":"john.doe@corp.com"}`), never(t))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	const warning = `the tape names redaction policy "v9:0123" without its rules: both sides are redacted by the default policy`
	assert.Equal(t, []string{warning}, s.Report().Warnings)
	assert.Contains(t, s.Report().Text(), "  warning: "+warning+"\n")

	for _, record := range []string{
		`{"seq":3,"tool":"mail","args":{"to":"[X]"},"redacted":["args.to"]}`,
		`{"seq":3,"tool":"mail","args":{"to":"[X]"},"fidelity":"redacted"}`,
	} {
		_, err = New(parse(t, manifest, record))
		require.ErrorContains(t, err, `names redaction policy "v9:0123" without its rules, and the arguments of record 3 are redacted`)
	}
	assert.Empty(t, start(t, nil).Report().Warnings)
}
