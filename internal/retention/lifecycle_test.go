package retention

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/tape"
)

func TestRulesOfABucket(t *testing.T) {
	w := newWorld(t)
	w.config.Rules = []Rule{
		{Class: Class{Name: "billing", Keep: Keep(36 * time.Hour)}, Service: []string{"billing"}},
		{Class: Class{Name: "audit", Keep: Keep(400 * day)}, Service: []string{"audit"}},
	}
	_, err := w.sweeper().BucketRules(t.Context())
	var notYet *NotYetError
	require.ErrorAs(t, err, &notYet)
	w.stand()
	acme, err := w.store.Tenant("Acme")
	require.NoError(t, err)
	w.runIn(acme, 1, tape.Row{Outcome: tape.OutcomeFailed})
	rules, err := w.sweeper().BucketRules(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []BucketRule{
		{Name: "uploads", AbortDays: 3},
		{Name: "tapes/billing", Folder: "tapes/billing/", Days: 2},
		{Name: "blobs/billing", Folder: "blobs/billing/", Days: 13},
		{Name: "tapes/audit", Folder: "tapes/audit/", Days: 400},
		{Name: "blobs/audit", Folder: "blobs/audit/", Days: 411},
		{Name: "tapes/kept", Folder: "tapes/kept/", Days: 30},
		{Name: "blobs/kept", Folder: "blobs/kept/", Days: 41},
		{Name: "index", Folder: "index/", Days: 402},
	}, rules[:8])
	assert.Equal(t, BucketRule{Name: "tenants/=41cme/tapes/billing", Folder: "tenants/=41cme/tapes/billing/", Days: 2}, rules[8])
	assert.Len(t, rules, 15)

	w.config.Rules[1].Keep = Forever
	w.stand()
	rules, err = w.sweeper().BucketRules(t.Context())
	require.NoError(t, err)
	for _, r := range rules {
		assert.NotContains(t, r.Name, "audit")
		assert.NotContains(t, r.Name, "index")
	}
}

// The file of deploy/policies is what is written for the default policy.
func TestTheLifecycleFileIsTheDefaultPolicy(t *testing.T) {
	w := newWorld(t)
	w.config = DefaultConfig()
	w.stand()
	rules, err := w.sweeper().BucketRules(t.Context())
	require.NoError(t, err)
	type expiration struct{ Days int }
	type abort struct{ DaysAfterInitiation int }
	type filter struct{ Prefix string }
	type rule struct {
		ID, Status                     string
		Filter                         filter
		Expiration                     *expiration `json:",omitempty"`
		AbortIncompleteMultipartUpload *abort      `json:",omitempty"`
	}
	want := []rule{}
	for _, r := range rules {
		one := rule{ID: "tapedeck::" + r.Name, Status: "Enabled", Filter: filter{r.Folder}}
		if r.Days > 0 {
			one.Expiration = &expiration{r.Days}
		}
		if r.AbortDays > 0 {
			one.AbortIncompleteMultipartUpload = &abort{r.AbortDays}
		}
		want = append(want, one)
	}
	text, err := os.ReadFile("../../deploy/policies/lifecycle.json")
	require.NoError(t, err)
	wanted, err := json.MarshalIndent(map[string]any{"Rules": want}, "", "  ")
	require.NoError(t, err)
	assert.JSONEq(t, string(wanted), string(text))
}
