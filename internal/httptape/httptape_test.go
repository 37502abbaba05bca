package httptape

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

func asIs(args json.RawMessage) (json.RawMessage, error) { return args, nil }

func request(method, url, body string, headers ...string) json.RawMessage {
	r := httptest.NewRequest(method, url, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return Args(r, []byte(body))
}

func record(seq int, tool, args, result string) tape.Record {
	return tape.Record{Seq: seq, Tool: tool, Args: json.RawMessage(args), Result: json.RawMessage(result)}
}

// TestTheSameRequest: what a program writes in another way, or differs from run to
// run by itself, is the same; all else is not.
func TestTheSameRequest(t *testing.T) {
	const multipart = "--%\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--%--\r\n"
	part := func(boundary string) string { return strings.ReplaceAll(multipart, "%", boundary) }
	quoted := func(s string) string { text, _ := json.Marshal(s); return string(text) }
	for name, c := range map[string]struct {
		recorded string
		live     json.RawMessage
		same     bool
	}{
		"as it was":                        {`{"method":"GET","url":"https://a.example/x?q=1"}`, request("GET", "https://a.example/x?q=1", ""), true},
		"case, default port, fragment":     {`{"method":"get","url":"HTTPS://A.example:443/x#top"}`, request("GET", "https://a.example/x", ""), true},
		"no path":                          {`{"method":"GET","url":"https://a.example"}`, request("GET", "https://a.example/", ""), true},
		"order of the query":               {`{"method":"GET","url":"https://a.example/?b=2&a=1"}`, request("GET", "https://a.example/?a=1&b=2", ""), true},
		"order of one name":                {`{"method":"GET","url":"https://a.example/?a=2&a=1"}`, request("GET", "https://a.example/?a=1&a=2", ""), false},
		"another port":                     {`{"method":"GET","url":"https://a.example:444/"}`, request("GET", "https://a.example/", ""), false},
		"http":                             {`{"method":"GET","url":"http://a.example/"}`, request("GET", "https://a.example/", ""), false},
		"another method":                   {`{"method":"GET","url":"https://a.example/"}`, request("HEAD", "https://a.example/", ""), false},
		"JSON as JSON":                     {`{"method":"POST","url":"https://a.example/","body":{"a":1,"b":[2]}}`, request("POST", "https://a.example/", ` {"b": [2], "a":1}`), true},
		"JSON as text":                     {`{"method":"POST","url":"https://a.example/","body":"{\"a\": 1}"}`, request("POST", "https://a.example/", `{"a":1}`), true},
		"other JSON":                       {`{"method":"POST","url":"https://a.example/","body":{"a":1}}`, request("POST", "https://a.example/", `{"a":2}`), false},
		"a body where there was none":      {`{"method":"POST","url":"https://a.example/"}`, request("POST", "https://a.example/", `{"a":2}`), false},
		"no body where there was one":      {`{"method":"POST","url":"https://a.example/","body":"x"}`, request("POST", "https://a.example/", ""), false},
		"null is none":                     {`{"method":"POST","url":"https://a.example/","body":null}`, request("POST", "https://a.example/", ""), true},
		"text":                             {`{"method":"POST","url":"https://a.example/","body":"a=1&b=2"}`, request("POST", "https://a.example/", "a=1&b=2"), true},
		"bytes":                            {`{"method":"POST","url":"https://a.example/","body_base64":"/w=="}`, request("POST", "https://a.example/", "\xff"), true},
		"a boundary":                       {`{"method":"POST","url":"https://a.example/","body":` + quoted(part("abc")) + `}`, request("POST", "https://a.example/", part("xyz")), true},
		"a boundary in a header":           {`{"method":"POST","url":"https://a.example/","headers":{"content-type":"multipart/form-data; boundary=boundary"},"body":` + quoted(part("abc")) + `}`, request("POST", "https://a.example/", part("xyz"), "Content-Type", "multipart/form-data; boundary=xyz"), true},
		"headers the record does not have": {`{"method":"GET","url":"https://a.example/"}`, request("GET", "https://a.example/", "", "X-Shard", "7"), true},
		"a header it has":                  {`{"method":"GET","url":"https://a.example/","headers":{"x-shard":["7"]}}`, request("GET", "https://a.example/", "", "X-Shard", "8"), false},
		"a header that differs by itself":  {`{"method":"GET","url":"https://a.example/","headers":{"User-Agent":"x/1"}}`, request("GET", "https://a.example/", "", "User-Agent", "x/2"), true},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDeck([]tape.Record{record(1, "fetch", c.recorded, `{"status":200}`)}, asIs)
			m, err := d.Find(c.live)
			require.NoError(t, err)
			assert.Equal(t, c.same, m.Found, "%s", c.live)
			if c.same {
				assert.JSONEq(t, c.recorded, string(m.Args))
				assert.Equal(t, "fetch", m.Tool)
			}
		})
	}
}

func TestOnlyExchangesAreInADeck(t *testing.T) {
	for name, c := range map[string]struct {
		record tape.Record
		in     bool
	}{
		"an exchange":                  {record(1, "http", `{"method":"GET","url":"https://a.example/"}`, `{"status":200}`), true},
		"a tool that takes a URL":      {record(1, "fetch", `{"url":"https://a.example/"}`, `"page"`), false},
		"a tool that answers a page":   {record(1, "fetch", `{"method":"GET","url":"https://a.example/"}`, `"page"`), false},
		"another spelling of status":   {record(1, "fetch", `{"method":"GET","url":"https://a.example/"}`, `{"status_code":204,"text":""}`), true},
		"a URL that is not absolute":   {record(1, "http", `{"method":"GET","url":"/x"}`, `{"status":200}`), false},
		"an answer that was not there": {record(1, "http", `{"method":"GET","url":"https://a.example/"}`, `null`), true},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := NewDeck([]tape.Record{c.record}, asIs).Find(request("GET", "https://a.example/", ""))
			require.NoError(t, err)
			assert.Equal(t, c.in, m.Known)
		})
	}
	r := record(1, "http", `{"method":"GET","url":"https://a.example/"}`, `{"status":200}`)
	r.Kind = tape.KindModel
	m, err := NewDeck([]tape.Record{r}, asIs).Find(request("GET", "https://a.example/", ""))
	require.NoError(t, err)
	assert.False(t, m.Known)
}

// TestRecordsAreReservedUntilTheyAreSettled: requests at the same time get records of
// their own, in recorded order.
func TestRecordsAreReservedUntilTheyAreSettled(t *testing.T) {
	get := `{"method":"GET","url":"https://a.example/"}`
	d := NewDeck([]tape.Record{
		record(1, "one", get, `{"status":200}`), record(2, "two", get, `{"status":200}`),
		record(3, "far", `{"method":"GET","url":"https://a.example/far","headers":{"X-A":"1"}}`, `{"status":200}`),
	}, asIs)
	find := func(args json.RawMessage) Match {
		m, err := d.Find(args)
		require.NoError(t, err)
		return m
	}
	live := request("GET", "https://a.example/", "")
	first, second := find(live), find(live)
	assert.Equal(t, "one", first.Tool)
	assert.Equal(t, "two", second.Tool)
	d.Settle(first, 0)
	d.Settle(second, 2)
	assert.Equal(t, "one", find(live).Tool, "what was not answered is there again")
	assert.Equal(t, "two", find(live).Tool, "a record that is used up says so by itself")
	other := find(request("GET", "https://a.example/far?x=1", "", "X-A", "2", "X-B", "3"))
	assert.False(t, other.Found)
	assert.Equal(t, "far", other.Tool)
	assert.JSONEq(t, `{"method":"GET","url":"https://a.example/far?x=1","headers":{"X-A":"2"}}`, string(other.Args))
	assert.False(t, find(request("GET", "https://b.example/", "")).Known)
}

func answer(t *testing.T, result string, r *http.Request) *http.Response {
	response, err := ReadResponse(json.RawMessage(result))
	require.NoError(t, err)
	w := httptest.NewRecorder()
	require.NoError(t, response.Write(w, r))
	return w.Result()
}

func TestAnAnswerIsWrittenAsItWas(t *testing.T) {
	get := httptest.NewRequest(http.MethodGet, "/", nil)
	zipped := httptest.NewRequest(http.MethodGet, "/", nil)
	zipped.Header.Set("Accept-Encoding", "br, gzip;q=0.5")
	unzipped := httptest.NewRequest(http.MethodGet, "/", nil)
	unzipped.Header.Set("Accept-Encoding", "gzip;q=0, identity")
	head := httptest.NewRequest(http.MethodHead, "/", nil)
	const encoded = `{"status":200,"headers":{"Content-Type":"text/html","Content-Encoding":"gzip","Content-Length":"3","Set-Cookie":["a=1","b=2"],"Connection":"close"},"body":"<p>é</p>"}`
	for name, c := range map[string]struct {
		result   string
		request  *http.Request
		status   int
		body     string
		encoding string
		length   int64
		kind     string
	}{
		"a text":                         {encoded, get, 200, "<p>é</p>", "", 9, "text/html"},
		"a text, compressed":             {encoded, zipped, 200, "<p>é</p>", "gzip", -1, "text/html"},
		"a client that takes no gzip":    {encoded, unzipped, 200, "<p>é</p>", "", 9, "text/html"},
		"what was not compressed":        {`{"status":200,"body":"x"}`, zipped, 200, "x", "", 1, "text/plain; charset=utf-8"},
		"HEAD":                           {encoded, head, 200, "", "", 3, "text/html"},
		"no content":                     {`{"status":204,"body":""}`, get, 204, "", "", -1, "text/plain; charset=utf-8"},
		"an empty body":                  {`{"status":404}`, get, 404, "", "", 0, ""},
		"JSON that was taken apart":      {`{"statusCode":201,"body":{"a": [1]}}`, get, 201, `{"a": [1]}`, "", 10, "application/json"},
		"bytes":                          {`{"status":200,"body_base64":"//79"}`, get, 200, "\xff\xfe\xfd", "", 3, ""},
		"JSON as text":                   {`{"status":200,"body":"{\"a\":1}"}`, get, 200, `{"a":1}`, "", 7, "application/json"},
		"no content type but headers":    {`{"status":200,"headers":{},"body":"{}"}`, get, 200, `{}`, "", 2, ""},
		"an error as the server sent it": {`{"status":503,"headers":{"Retry-After":"3"},"body":"busy"}`, get, 503, "busy", "", 4, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := answer(t, c.result, c.request)
			defer func() { _ = got.Body.Close() }()
			assert.Equal(t, c.status, got.StatusCode)
			assert.Equal(t, c.encoding, got.Header.Get("Content-Encoding"))
			assert.Equal(t, c.length, got.ContentLength)
			assert.Equal(t, c.kind, got.Header.Get("Content-Type"))
			var body io.Reader = got.Body
			if c.encoding == "gzip" {
				var err error
				body, err = gzip.NewReader(body)
				require.NoError(t, err)
			}
			text, err := io.ReadAll(body)
			require.NoError(t, err)
			assert.Equal(t, c.body, string(text))
			assert.Empty(t, got.Header.Get("Connection"))
		})
	}
	got := answer(t, encoded, get)
	defer func() { _ = got.Body.Close() }()
	assert.Equal(t, []string{"a=1", "b=2"}, got.Header["Set-Cookie"])
}

func TestWhatIsNoResponse(t *testing.T) {
	for _, result := range []string{``, `null`, `"x"`, `{}`, `{"status":"200"}`, `{"status":101}`, `{"status":600}`, `{"status":99999999999999999999}`, `{"status":200,"body_base64":"%%"}`} {
		_, err := ReadResponse(json.RawMessage(result))
		require.ErrorIs(t, err, ErrNoResponse, result)
	}
}

func FuzzReadCall(f *testing.F) {
	f.Add([]byte(`{"method":"POST","url":"https://a.example/x?b=1&a","headers":{"A":["b"]},"body":"--x\r\n--x--"}`))
	f.Fuzz(func(_ *testing.T, args []byte) {
		if c, ok := ReadCall(args); ok {
			c.words(args)
		}
		if r, err := ReadResponse(args); err == nil {
			_ = r.body(&bytes.Buffer{})
		}
	})
}
