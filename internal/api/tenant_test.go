package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/tapedeck/tapedeck/internal/api"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

const tenantRun = "5102030405060708090a0b0c0d0e0f10"

func newTenants(t *testing.T) *fixture {
	f := newFixture(t)
	for _, name := range []string{"blue", "re d"} {
		st, err := f.store.Tenant(name)
		require.NoError(t, err)
		_, err = st.PutFragment(t.Context(), "failures", tenantRun,
			storetest.AgentRun(t, tenantRun, noon, storetest.Call{Tool: "of " + name, Args: "{}", Result: "{}"}))
		require.NoError(t, err)
		require.NoError(t, st.AppendRows(t.Context(), []tape.Row{{TraceID: tenantRun, Outcome: tape.OutcomeFailed, Kept: true, Tenant: name}}))
	}
	return f
}

func TestAReadIsOfOneTenant(t *testing.T) {
	f := newTenants(t)
	for want, get := range map[string]struct {
		query  string
		header []string
	}{
		"of blue": {"?tenant=blue", nil},
		"of re d": {"", []string{"X-Scope-OrgID", "re d"}},
	} {
		tp := readTape(t, f.get("/v1/tapes/"+tenantRun+get.query, get.header...))
		require.Len(t, tp.Records, 1)
		assert.Equal(t, want, tp.Records[0].Tool)
		w := f.get("/v1/tapes"+get.query, get.header...)
		assert.Contains(t, w.Body.String(), tenantRun)
		assert.NotContains(t, w.Body.String(), kept, "runs without a tenant are of none")
		assert.Equal(t, http.StatusOK, f.get("/v1/tapes/"+tenantRun+"/trace"+get.query, get.header...).Code)
		assert.Equal(t, http.StatusNotFound, f.get("/v1/tapes/"+kept+get.query, get.header...).Code)
	}
	assert.Equal(t, http.StatusNotFound, f.get("/v1/tapes/"+tenantRun).Code)
	assert.NotContains(t, f.get("/v1/tapes").Body.String(), tenantRun)
	assert.Equal(t, http.StatusNotFound, f.get("/v1/tapes/"+tenantRun+"?tenant=green").Code)
	assert.Contains(t, f.get("/v1/tapes?tenant=..%2fblue").Body.String(), `"tapes":[]`)

	// Deleting one leaves the other, and both the query and the header may say so.
	w := f.do(http.MethodDelete, "/v1/tapes/"+tenantRun+"?tenant=blue", "X-Scope-OrgID", "blue")
	assert.Equal(t, http.StatusNoContent, w.Code)
	assert.Equal(t, http.StatusNotFound, f.get("/v1/tapes/"+tenantRun+"?tenant=blue").Code)
	assert.Equal(t, http.StatusOK, f.get("/v1/tapes/"+tenantRun, "X-Scope-OrgID", "re d").Code)
	last := f.logs.FilterMessage("Audit").FilterField(zap.String("action", "delete")).All()
	require.Len(t, last, 1)
	assert.Equal(t, "blue", last[0].ContextMap()["tenant"])
}

func TestATenantThatIsNotClear(t *testing.T) {
	f := newTenants(t)
	for target, header := range map[string][]string{
		"/v1/tapes?tenant=blue":                        {"X-Scope-OrgID", "re d"},
		"/v1/tapes?tenant=blue&tenant=re+d":            nil,
		"/v1/tapes/" + tenantRun:                       {"X-Scope-OrgID", "blue", "X-Scope-OrgID", "re d"},
		"/v1/tapes?tenant=" + strings.Repeat("x", 200): nil,
		"/v1/tapes/" + tenantRun + "?tenant=%zz":       nil,
	} {
		w := f.get(target, header...)
		assert.Equal(t, http.StatusBadRequest, w.Code, target)
		assert.Equal(t, "bad_query", failureOf(t, w).Error.Code, target)
	}
	// What is empty is not given.
	assert.Equal(t, http.StatusOK, f.get("/v1/tapes/"+kept+"?tenant=", "X-Scope-OrgID", "").Code)
}

func TestAnOpenRunOfAnotherTenantIsNotThere(t *testing.T) {
	for asks, of := range map[string]string{"blue": "re d", "re d": "", "": "blue"} {
		f := newTenants(t)
		f.tenant, f.keep = of, map[string]api.Kept{pending: api.KeptOnceDecided}
		as := func(method, target, tenant string) *httptest.ResponseRecorder {
			return f.do(method, target, "X-Scope-OrgID", tenant)
		}
		w := as(http.MethodGet, "/v1/tapes/"+pending, of)
		assert.Equal(t, "pending", failureOf(t, w).Error.Code, of)
		w = as(http.MethodGet, "/v1/tapes/"+pending, asks)
		assert.Equal(t, "not_found", failureOf(t, w).Error.Code, "%q asks for a run of %q", asks, of)
		w = as(http.MethodPost, "/v1/tapes/"+pending+"/keep", asks)
		assert.Equal(t, http.StatusNotFound, w.Code, "%q asks for a run of %q", asks, of)
		w = as(http.MethodPost, "/v1/tapes/"+pending+"/keep", of)
		assert.Equal(t, http.StatusAccepted, w.Code, of)
	}
}
