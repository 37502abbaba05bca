package toolschema

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const payment = `{"type":"object","required":["to"],"properties":{"amount":{"type":"number"},"to":{"type":"string"}},"additionalProperties":false}`

func TestFaults(t *testing.T) {
	s, err := Compile([]byte(payment))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		args string
		want []string
	}{
		"fits":            {`{"to":"a","amount":1.5}`, nil},
		"one":             {`{"to":"a","amount":"1"}`, []string{"/amount: got string, want number"}},
		"several":         {`{"to":1,"amount":"1"}`, []string{"/amount: got string, want number", "/to: got number, want string"}},
		"missing":         {`{"amount":1}`, []string{"/: missing property 'to'"}},
		"not JSON at all": {`{"to"`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			assert.ElementsMatch(t, c.want, s.Faults([]byte(c.args)))
		})
	}
	assert.Equal(t, "/: missing property 'to'", s.Fault([]byte(`{}`)))
	assert.Empty(t, (*Schema)(nil).Fault([]byte(`{}`)), "no schema finds no fault")
}

func TestASchemaReachesForNothing(t *testing.T) {
	for _, text := range []string{`{"$ref":"file:///etc/passwd"}`, `{"$ref":"https://example.com/schema.json"}`} {
		_, err := Compile([]byte(text))
		require.ErrorContains(t, err, "may not load")
	}
	_, err := Compile([]byte(`{"type":`))
	require.Error(t, err)
}

func TestFaultsAreBounded(t *testing.T) {
	s, err := Compile([]byte(`{"items":{"type":"string"}}`))
	require.NoError(t, err)
	args := []byte("[0")
	for range 10 * MaxFaults {
		args = append(args, ",1"...)
	}
	assert.Len(t, s.Faults(append(args, ']')), MaxFaults)
}
