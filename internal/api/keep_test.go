package api_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/api"
	"github.com/tapedeck/tapedeck/internal/store"
)

func TestKeep(t *testing.T) {
	const unknown = "ff02030405060708090a0b0c0d0e0fff"
	for name, c := range map[string]struct {
		id     string
		spool  api.Kept
		err    error
		status int
		want   string
	}{
		"from the spool":         {summarised, api.KeptNow, nil, http.StatusOK, `{"trace_id":"` + summarised + `","kept":"now"}`},
		"open":                   {pending, api.KeptOnceDecided, nil, http.StatusAccepted, `{"trace_id":"` + pending + `","kept":"once_decided"}`},
		"stored":                 {kept, "", nil, http.StatusOK, `{"trace_id":"` + kept + `","kept":"stored"}`},
		"no longer in the spool": {summarised, "", nil, http.StatusNotFound, `"code":"summarised"`},
		"unknown":                {unknown, "", nil, http.StatusNotFound, `"code":"not_found"`},
		"no trace id":            {"xyz", "", nil, http.StatusBadRequest, `"code":"bad_trace_id"`},
		"the store is away":      {summarised, "", errors.New("away"), http.StatusServiceUnavailable, `"code":"store_unavailable"`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.keep, f.keepErr = map[string]api.Kept{c.id: c.spool}, c.err
			w := f.do(http.MethodPost, "/v1/tapes/"+c.id+"/keep")
			assert.Equal(t, c.status, w.Code)
			assert.Contains(t, w.Body.String(), c.want)
			switch {
			case c.status < 300:
				assert.Equal(t, []string{"keep " + c.id + " by alice"}, f.audits())
			case c.status == http.StatusBadRequest:
				assert.Empty(t, f.audits())
			default:
				code, _ := strings.CutPrefix(c.want, `"code":`)
				assert.Equal(t, []string{"keep " + c.id + " by alice: " + strings.Trim(code, `"`)}, f.audits())
			}
		})
	}
	f := newFixture(t)
	assert.Equal(t, http.StatusMethodNotAllowed, f.get("/v1/tapes/"+kept+"/keep").Code)
}

func TestWhatIsStoredIsPinnedWhateverTheSpoolHas(t *testing.T) {
	for _, spool := range []api.Kept{"", api.KeptNow, api.KeptOnceDecided} {
		f := newFixture(t)
		f.keep = map[string]api.Kept{kept: spool}
		require.Less(t, f.do(http.MethodPost, "/v1/tapes/"+kept+"/keep").Code, 300)
		pinned, err := f.store.Runs(t.Context(), store.PinnedClass)
		require.NoError(t, err)
		assert.Equal(t, []string{kept}, pinned, "%q", spool)
	}
}
