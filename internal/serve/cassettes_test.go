package serve

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/internal/serve/llm"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// cassette is an exchange with a real model API.
type cassette struct {
	Family, Source, URL string
	Status              int
	SSE                 bool
	Request, Response   string
}

func cassettes(t testing.TB) (list []cassette) {
	file, err := os.Open("testdata/cassettes/models.jsonl.gz")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var c cassette
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		list = append(list, c)
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, list)
	return list
}

func (c *cassette) protocol() llm.Protocol {
	switch c.Family {
	case "anthropic-messages":
		return llm.Anthropic{}
	case "openai-responses":
		return llm.OpenAIResponses{}
	}
	return llm.OpenAIChat{}
}

func (c *cassette) path() string {
	u, _ := url.Parse(c.URL)
	return u.RequestURI()
}

// final is the body of the answer, put together from events if it came as those.
func (c *cassette) final(t testing.TB) value.Value {
	if c.SSE {
		return assembled(t, c.protocol(), c.Response)
	}
	v, err := value.Parse(c.Response)
	require.NoError(t, err, c.Source)
	return v
}

// record is the exchange as the translator writes it down.
func (c *cassette) record(t testing.TB) tape.Record {
	request, err := value.Parse(c.Request)
	require.NoError(t, err)
	q, err := c.protocol().Read(request)
	require.NoError(t, err)
	r := tape.Record{Seq: 1, Tool: "chat", Kind: tape.KindModel, Args: q.Args(), Model: q.Model, Start: "2026-03-02T10:00:00Z", MS: 500}
	if c.Status >= 400 {
		r.Error = &tape.Error{Code: fmt.Sprint(c.Status), Message: fmt.Sprintf("Error code: %d - %s", c.Status, c.Response)}
		return r
	}
	r.Result = result(c.protocol(), c.final(t))
	return r
}

// result is the neutral form of an answer.
func result(p llm.Protocol, final value.Value) []byte {
	var ms []message.Message
	usage := func(names ...string) value.Value { return renamed(final.At("usage"), names...) }
	members := []value.Member{}
	finish := final.At("stop_reason")
	switch p.(type) {
	case llm.Anthropic:
		ms = message.Read(final)
		members = append(members, value.M("usage", usage("input_tokens", "input_tokens", "output_tokens", "output_tokens",
			"cache_read_input_tokens", "cache_read_tokens", "cache_creation_input_tokens", "cache_write_tokens")))
	case llm.OpenAIResponses:
		ms = message.Read(final.At("output"))
		if final.At("status").Str() == "incomplete" {
			finish = final.At("incomplete_details").At("reason")
		}
		members = append(members, value.M("usage", usage("input_tokens", "input_tokens", "output_tokens", "output_tokens",
			"input_tokens_details.cached_tokens", "cache_read_tokens", "output_tokens_details.reasoning_tokens", "reasoning_tokens")))
	default:
		ms = message.Read(final.At("choices"))
		finish = final.At("choices").Items()[0].At("finish_reason")
		members = append(members, value.M("usage", usage("prompt_tokens", "input_tokens", "completion_tokens", "output_tokens",
			"prompt_tokens_details.cached_tokens", "cache_read_tokens", "completion_tokens_details.reasoning_tokens", "reasoning_tokens")))
	}
	whole, _ := value.Parse(string(message.Append(nil, ms)))
	members = append(members, value.M("messages", whole), value.M("model", final.At("model")))
	if !finish.IsNull() {
		members = append(members, value.M("finish_reason", finish))
	}
	return value.Obj(members...).Append(nil)
}

func renamed(v value.Value, names ...string) value.Value {
	var out []value.Member
	for i := 0; i+1 < len(names); i += 2 {
		at := v
		for _, name := range strings.Split(names[i], ".") {
			at = at.At(name)
		}
		if !at.IsNull() {
			out = append(out, value.M(names[i+1], at))
		}
	}
	return value.Obj(out...)
}

// modelServer serves a tape.
func modelServer(t testing.TB, records []tape.Record, options ...Option) (*Server, *replay.Session) {
	s, err := replay.New(&tape.Tape{Manifest: &tape.Manifest{Tape: tape.Version, TraceID: "4bf92f3577b34da6a3ce929d0e0e4736"}, Records: records}, Options()...)
	require.NoError(t, err)
	return New(s, options...), s
}

func ask(h http.Handler, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1"+path, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// lossTable is what answers cannot have from a tape, as docs/replay-models.md says
// it: members that records have no place for, and those that are rebuilt. A * stands
// for all that begins so.
var lossTable = map[string][]string{
	"openai-chat": {
		"id", "created", "service_tier", "system_fingerprint", "obfuscation", "choices[].message.annotations",
		"usage.prompt_tokens_details.audio_tokens", "usage.completion_tokens_details.accepted_prediction_tokens",
		"usage.completion_tokens_details.audio_tokens", "usage.completion_tokens_details.rejected_prediction_tokens",
	},
	// What others add to the API.
	"openai-compatible": {
		"id", "created", "service_tier", "system_fingerprint", "choices[].message.annotations", "choices[].message.channel",
		"choices[].message.reasoning", "choices[].message.reasoning_content", "choices[].message.executed_tools",
		"choices[].message.tool_calls[].index", "choices[].message.tool_calls[].type", "choices[].message.role",
		"choices[].stop_reason", "metadata", "prompt", "x_groq", "usage.*_time", "usage.num_cached_tokens", "usage.prompt_cache_*",
	},
	"openai-responses": {
		"id", "created_at", "completed_at", "service_tier", "billing", "background", "store", "prompt_cache_retention",
		"frequency_penalty", "presence_penalty", "temperature", "top_p", "top_logprobs", "text.verbosity", "reasoning.effort",
		"output[].id", "output[].namespace", "output[].phase", "output[].content[].logprobs[]", "output[].summary[]*",
		// The request's own are repeated, without what the API adds to them.
		"tools[]*", "usage.pydantic_ai_gateway",
	},
	"anthropic-messages": {
		"id", "container", "content[].caller", "content[].citations",
		"usage.cache_creation", "usage.inference_geo", "usage.server_tool_use", "usage.service_tier",
	},
}

var index = regexp.MustCompile(`\[\d+\]`)

// TestRecordedTrafficIsServedAsItWas: for every exchange with a real API, a tape of
// it answers the recorded request with the recorded answer, but for what the table
// of losses names.
func TestRecordedTrafficIsServedAsItWas(t *testing.T) {
	for i, c := range cassettes(t) {
		if !c.streamError(t).IsNull() {
			continue
		}
		t.Run(fmt.Sprintf("%d_%s", i, c.Family), func(t *testing.T) {
			h, s := modelServer(t, []tape.Record{c.record(t)})
			w := ask(h, c.path(), c.Request)
			require.Equal(t, c.Status, w.Code, "%s\n%s", c.Source, w.Body)
			assert.NoError(t, s.Close())
			if c.Status >= 400 {
				assert.JSONEq(t, c.Response, w.Body.String(), "the body as recorded")
				return
			}
			got, err := value.Parse(w.Body.String())
			if c.SSE {
				assert.Contains(t, w.Header().Get("Content-Type"), "text/event-stream")
				assert.Empty(t, w.Header().Get("Content-Length"))
				got = assembled(t, c.protocol(), w.Body.String())
			} else {
				require.NoError(t, err)
			}
			differences, err := replay.Diff(parsedArguments(c.final(t)).Append(nil), parsedArguments(got).Append(nil))
			require.NoError(t, err)
			for _, d := range differences {
				path := index.ReplaceAllString(d.Path, "[]")
				if !known(path, lossTable[c.Family]) && !c.harmless(path, d) {
					t.Errorf("%s: %s (%s)", path, d, c.Source)
				}
			}
		})
	}
}

// harmless are differences between OpenAI's own API and those that speak like it: an
// empty text beside tool calls, and token counts that no client asked for.
func (c *cassette) harmless(path string, d replay.Difference) bool {
	switch path {
	case "choices[].message.content":
		return string(d.Recorded) == `""` && d.Live == nil
	case "usage":
		return c.SSE && !strings.Contains(c.Request, "include_usage") && d.Live == nil
	}
	return false
}

func known(path string, losses []string) bool {
	for _, loss := range losses {
		head, tail, any := strings.Cut(loss, "*")
		if path == loss || any && strings.HasPrefix(path, head) && strings.HasSuffix(path, tail) {
			return true
		}
	}
	return false
}

// parsedArguments reads the texts of tool calls, whose spacing is not on a tape.
func parsedArguments(v value.Value) value.Value {
	switch v.Kind() {
	case value.Array:
		var items []value.Value
		for _, item := range v.Items() {
			items = append(items, parsedArguments(item))
		}
		return value.List(items...)
	case value.Object:
		var members []value.Member
		for _, m := range v.Members() {
			m.Value = parsedArguments(m.Value)
			if parsed, err := value.Parse(m.Value.Str()); m.Name == "arguments" && err == nil {
				m.Value = parsed
			}
			members = append(members, m)
		}
		return value.Obj(members...)
	}
	return v
}

// TestAnErrorInsideAStream comes as the status of the answer: what was streamed
// before it is not on a tape.
func TestAnErrorInsideAStream(t *testing.T) {
	for _, c := range cassettes(t) {
		failed := c.streamError(t)
		if failed.IsNull() {
			continue
		}
		r := c.record(t)
		r.Error, r.Result = &tape.Error{Message: failed.At("message").Str(), Type: "APIError"}, nil
		h, _ := modelServer(t, []tape.Record{r})
		w := ask(h, c.path(), c.Request)
		assert.Equal(t, http.StatusInternalServerError, w.Code)
		assert.Contains(t, w.Body.String(), failed.At("message").Str(), c.Source)
	}
}

// streamError is the error that a stream broke off with, null if it did not.
func (c *cassette) streamError(t testing.TB) value.Value {
	if c.SSE {
		for _, e := range eventsOf(t, c.Response) {
			if failed := e.data.At("error"); !failed.IsNull() && c.Family == "openai-compatible" {
				return failed
			}
		}
	}
	return value.Value{}
}
