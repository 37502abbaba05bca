package recorder

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/attr"
)

func TestRequestsWithoutTheRowNameTheClass(t *testing.T) {
	class := func(f *fixture, i int) string {
		v, _ := f.emitted[i].ResourceSpans().At(0).Resource().Attributes().Get(attr.Class)
		return v.AsString()
	}
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1, failed), agent(1, 1, failed))
	f.pass(6 * time.Second)
	require.Len(t, f.emitted, 1)
	_, ok := f.emitted[0].ResourceSpans().At(0).Resource().Attributes().Get(attr.Class)
	assert.False(t, ok, "the row says it")
	f.out()
	f.add(tool(1, 4, 1))
	require.NotEmpty(t, f.emitted)
	assert.NotEmpty(t, class(f, 0), "late spans have no row")
}
