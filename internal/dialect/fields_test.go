package dialect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhoCalledIsFoundAboveTheCall(t *testing.T) {
	root := agentSpan(1, 0, 10)
	root.attrs["user.id"], root.attrs["enduser.role"], root.attrs["gen_ai.prompt.version"] = "u-1", "admin", "v7"
	root.attrs["approval.id"] = "of another call"
	own := tool(2, 1, 1, 2, "x", attrs{"user.id": "u-2", "approval.id": "a-9", "policy.result": "allow"})
	r := one(t, root, own).Records[0]
	assert.JSONEq(t, `{"role":"admin","user":"u-2"}`, string(r.CallerContext))
	assert.Equal(t, "v7", r.PromptVersion)
	assert.Equal(t, "a-9", r.ApprovalID)
	assert.Equal(t, "allow", r.PolicyResult)

	r = one(t, root, tool(2, 1, 1, 2, "x", nil)).Records[0]
	assert.JSONEq(t, `{"role":"admin","user":"u-1"}`, string(r.CallerContext))
	assert.Empty(t, r.ApprovalID, "an approval is that of one call")

	r = one(t, tool(2, 0, 1, 2, "x", nil)).Records[0]
	assert.Nil(t, r.CallerContext)
}

func TestFieldsAreConfigurable(t *testing.T) {
	td := traces(t, tool(2, 0, 1, 2, "x", attrs{"who": "me", "user.id": "u", "p": 3}))
	td.ResourceSpans().At(0).Resource().Attributes().PutStr("org", "acme")
	tapes := Translate(td, Options{Config: &Config{Caller: map[string][]string{"user": {"who"}, "tenant": {"org"}}, PromptVersion: []string{"p"}}})
	require.Len(t, tapes[0].Records, 1)
	r := tapes[0].Records[0]
	assert.JSONEq(t, `{"tenant":"acme","user":"me"}`, string(r.CallerContext))
	assert.Equal(t, "3", r.PromptVersion)
}
