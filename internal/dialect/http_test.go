package dialect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

func httpCall(id, up byte, from, to int, status any) sp {
	return sp{id: id, up: up, from: from, to: to, name: "GET", kind: ptrace.SpanKindClient, scope: "http", attrs: attrs{"http.request.method": "GET", "http.response.status_code": status}}
}

func TestTheHTTPStatusInsideACall(t *testing.T) {
	failing := tool(2, 1, 1, 9, "x", nil)
	failing.err = "upstream said no"
	coded := tool(2, 1, 1, 9, "x", attrs{"rpc.response.status_code": "-32000"})
	coded.err = "no"
	fine := tool(2, 1, 1, 9, "x", nil)
	fine.ok = true
	silent := tool(2, 1, 1, 9, "x", nil)
	server := httpCall(3, 2, 2, 8, 503)
	server.kind = ptrace.SpanKindServer
	old := httpCall(3, 2, 2, 8, 503)
	old.attrs = attrs{"http.status_code": "503"}
	inAgent := []sp{silent, {id: 4, up: 2, from: 1, to: 9, name: "invoke_agent b", attrs: attrs{"gen_ai.operation.name": "invoke_agent"}}, httpCall(3, 4, 2, 8, 503)}
	for name, c := range map[string]struct {
		spans  []sp
		failed bool
		code   string
	}{
		"becomes the code of a failed call":      {[]sp{failing, httpCall(3, 2, 2, 8, 429)}, true, "429"},
		"below a step":                           {[]sp{failing, {id: 4, up: 2, from: 1, to: 9, name: "step"}, httpCall(3, 4, 2, 8, 403)}, true, "403"},
		"the last of several counts":             {[]sp{failing, httpCall(3, 2, 2, 3, 503), httpCall(4, 2, 4, 8, 404)}, true, "404"},
		"a code of its own stays":                {[]sp{coded, httpCall(3, 2, 2, 8, 500)}, true, "-32000"},
		"success says nothing":                   {[]sp{failing, httpCall(3, 2, 2, 8, 200)}, true, ""},
		"5xx of a call with a result":            {[]sp{okTool(2, 1, 1, 9), httpCall(3, 2, 2, 8, 503)}, false, ""},
		"5xx of a call that is OK":               {[]sp{fine, httpCall(3, 2, 2, 8, 503)}, false, ""},
		"5xx of a call of which nothing is told": {[]sp{silent, httpCall(3, 2, 2, 8, 503)}, true, "503"},
		"4xx of a call of which nothing is told": {[]sp{silent, httpCall(3, 2, 2, 8, 404)}, false, ""},
		"a refusal of such a call":               {[]sp{silent, httpCall(3, 2, 2, 8, 403)}, true, "403"},
		"too many requests of such a call":       {[]sp{silent, httpCall(3, 2, 2, 8, 429)}, true, "429"},
		"a refusal beside a result":              {[]sp{okTool(2, 1, 1, 9), httpCall(3, 2, 2, 8, 403)}, false, ""},
		"5xx that was retried":                   {[]sp{silent, httpCall(3, 2, 2, 3, 503), httpCall(4, 2, 4, 8, 200)}, false, ""},
		"the request that is being served":       {[]sp{silent, server}, false, ""},
		"the older name, as text":                {[]sp{silent, old}, true, "503"},
		"of an agent inside the call":            {inAgent, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := one(t, append([]sp{agentSpan(1, 0, 10)}, c.spans...)...).Records
			require.Len(t, r, 1)
			require.Equal(t, c.failed, r[0].Failed())
			if c.failed {
				assert.Equal(t, c.code, r[0].Error.Code)
			}
		})
	}
}

func TestTheHTTPStatusInsideAModelCall(t *testing.T) {
	r := one(t, agentSpan(1, 0, 10), chat(2, 1, 1, 9, "["+user+"]", ""), httpCall(3, 2, 2, 8, 529)).Records
	require.Len(t, r, 1)
	require.NotNil(t, r[0].Error)
	assert.Equal(t, "529", r[0].Error.Code)
	assert.Equal(t, "HTTP 529", r[0].Error.Message)
	r = one(t, agentSpan(1, 0, 10), chat(2, 1, 1, 9, "["+user+"]", finished), httpCall(3, 2, 2, 8, 529)).Records
	assert.Nil(t, r[0].Error)
}
