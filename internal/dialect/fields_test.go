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

func TestContextOfCallsBesideEachOther(t *testing.T) {
	spans := []sp{{id: 1, to: 500, attrs: attrs{"user.id": "u-1", "gen_ai.prompt.version": "v7"}}}
	// The calls are as far below the root as it may be, and one more.
	for i := byte(2); i < maxAncestors; i++ {
		spans = append(spans, sp{id: i, up: i - 1, from: int(i), to: 499, name: "step"})
	}
	above, last := byte(maxAncestors-2), byte(maxAncestors-1)
	spans = append(spans,
		tool(100, above, 200, 201, "a", attrs{"user.id": "u-2", "tenant.id": "acme"}),
		tool(101, above, 202, 203, "b", nil),
		tool(102, last, 204, 205, "c", nil),
		sp{id: 90, up: last, from: 206, to: 400, name: "step"},
		tool(103, 90, 207, 208, "d", nil),
		tool(104, above, 209, 210, "e", attrs{"gen_ai.prompt.version": "v8"}))
	r := one(t, spans...).Records
	require.Len(t, r, 5)
	assert.JSONEq(t, `{"tenant":"acme","user":"u-2"}`, string(r[0].CallerContext))
	assert.JSONEq(t, `{"user":"u-1"}`, string(r[1].CallerContext), "not that of the call before")
	assert.JSONEq(t, `{"user":"u-1"}`, string(r[2].CallerContext))
	assert.Nil(t, r[3].CallerContext, "too far above")
	assert.JSONEq(t, `{"user":"u-1"}`, string(r[4].CallerContext))
	assert.Equal(t, []string{"v7", "v7", "v7", "", "v8"},
		[]string{r[0].PromptVersion, r[1].PromptVersion, r[2].PromptVersion, r[3].PromptVersion, r[4].PromptVersion})
}
