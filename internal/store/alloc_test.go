//go:build !race

// The race detector makes pools forget, and forgetting allocates.

package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/store/storetest"
)

// A fragment is marshalled and compressed as a whole: what that allocates does not
// grow with the number of spans.
func TestWritingAFragmentAllocatesByTheFragment(t *testing.T) {
	s, _ := open(t, storetest.NewMemory())
	for _, calls := range []int{5, 500} {
		var all []storetest.Call
		for n := range calls {
			all = append(all, storetest.Call{Tool: "search", Args: fmt.Sprintf(`{"query":"number %d"}`, n), Result: `{"found":true}`})
		}
		td := storetest.AgentRun(t, idA, noon, all...)
		n := 0
		put := func() {
			n++
			_, err := s.PutFragment(t.Context(), "failures", fmt.Sprintf("%032x", n), td)
			require.NoError(t, err)
		}
		put()
		assert.LessOrEqual(t, testing.AllocsPerRun(20, put), 20.0, "%d calls", calls)
	}
}
