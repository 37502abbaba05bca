package serve

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// TestOfficialSDKsOfGemini: there is no recorded traffic of this API, so a tape of a
// conversation with a tool stands for it, and what it says is what the SDKs must hear.
func TestOfficialSDKsOfGemini(t *testing.T) {
	const (
		system = `"system":[{"role":"system","parts":[{"type":"text","content":"be brief"}]}],`
		call   = `{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"find","arguments":{"month":5,"exact":true}}]}`
		reply  = `{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","name":"find","result":{"pages":40}}]}`
		tools  = `,"tools":[{"name":"find"}]`
		usage  = `"usage":{"input_tokens":7,"output_tokens":3}`
	)
	question := said("user", "which report – and how long?")
	failed := model(3, `{`+system+`"messages":[`+said("user", "again")+`]`+tools+`}`, "")
	failed.Result, failed.Error = nil, &tape.Error{Code: "429", Message: "RESOURCE_EXHAUSTED", Type: "ClientError"}
	records := []tape.Record{
		model(1, `{`+system+`"messages":[`+question+`]`+tools+`}`, `{"message":`+call+`,"finish_reason":"tool_calls",`+usage+`}`),
		model(2, `{`+system+`"messages":[`+question+`,`+call+`,`+reply+`]`+tools+`}`,
			`{"message":`+said("assistant", strings.Repeat("forty pages – ", 9))+`,"finish_reason":"stop",`+usage+`}`),
		failed,
	}
	const (
		config = `"config":{"systemInstruction":"be brief","tools":[{"functionDeclarations":[{"name":"find","description":"Find a report."}]}]}`
		asks   = `{"role":"user","parts":[{"text":"which report – and how long?"}]}`
		calls  = `{"role":"model","parts":[{"functionCall":{"name":"find","args":{"month":5,"exact":true}}}]}`
		told   = `{"role":"user","parts":[{"functionResponse":{"name":"find","response":{"pages":40}}}]}`
	)
	for language, argv := range sdks(t) {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s stream=%v", language, stream), func(t *testing.T) {
				h, s := modelServer(t, records)
				server := httptest.NewServer(h)
				defer server.Close()
				var jobs []job
				for _, contents := range []string{asks, asks + "," + calls + "," + told, `{"role":"user","parts":[{"text":"again"}]}`} {
					body := fmt.Sprintf(`{"stream":%v,%s,"contents":[%s]}`, stream, config, contents)
					jobs = append(jobs, job{"gemini", server.URL + "/gemini", json.RawMessage(body)})
				}
				said := askSDK(t, argv, jobs)
				assert.JSONEq(t, `{"text":"","calls":[{"name":"find","args":{"month":5,"exact":true}}],"finish":"STOP","tokens":10}`, string(said[0]))
				assert.JSONEq(t, `{"text":"`+strings.Repeat("forty pages – ", 9)+`","calls":[],"finish":"STOP","tokens":10}`, string(said[1]))
				assert.EqualValues(t, "429", parsed(t, said[2]).At("status").JSON(), string(said[2]))
				require.Zero(t, s.Stats().Unconsumed, s.Report().Text())
			})
		}
	}
}
