package httptape

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tapedeck/tapedeck/tape"
)

// Tool is the name that HTTP exchanges have on tapes unless their recorder knows a
// better one.
const Tool = "http"

// volatile are headers that say nothing about what is asked for, or that nobody's
// program decides: they are not compared.
var volatile = map[string]bool{
	"accept-encoding": true, "authorization": true, "baggage": true, "connection": true, "content-length": true, "cookie": true,
	"date": true, "expect": true, "forwarded": true, "host": true, "keep-alive": true, "proxy-authorization": true, "proxy-connection": true,
	"te": true, "traceparent": true, "tracestate": true, "trailer": true, "transfer-encoding": true, "upgrade": true,
	"user-agent": true, "via": true, "x-forwarded-for": true, "x-request-id": true,
}

// Args are the arguments of a request whose body was read, with all its headers
// that are compared at all. The URL must be absolute.
func Args(r *http.Request, body []byte) json.RawMessage {
	args := struct {
		Method  string            `json:"method"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers,omitempty"`
		Body    any               `json:"body,omitempty"`
		Base64  string            `json:"body_base64,omitempty"`
	}{Method: r.Method, URL: normal(r.URL), Headers: map[string]string{}}
	for name, values := range r.Header {
		if !volatile[strings.ToLower(name)] {
			args.Headers[name] = strings.ReplaceAll(strings.Join(values, ", "), boundaryOf(body), "boundary")
		}
	}
	switch {
	case len(body) == 0:
	case isJSON(body):
		args.Body = json.RawMessage(body)
	case utf8.Valid(body):
		args.Body = withoutBoundary(string(body))
	default:
		args.Base64 = base64.StdEncoding.EncodeToString(body)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(args); err != nil {
		// Strings and JSON that was parsed: only its depth can be refused.
		return json.RawMessage("null")
	}
	return bytes.TrimSpace(text.Bytes())
}

// isJSON reports whether a body is an object or an array: all else that would be
// JSON is as likely to be text.
func isJSON(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && (body[0] == '{' || body[0] == '[') && json.Valid(body)
}

// normal is a URL as it is compared.
func normal(u *url.URL) string {
	out := url.URL{Scheme: strings.ToLower(u.Scheme), Host: Host(u), Path: u.Path, RawPath: u.RawPath}
	if out.Path == "" {
		out.Path = "/"
	}
	if u.RawQuery != "" {
		pairs := strings.Split(u.RawQuery, "&")
		slices.SortStableFunc(pairs, func(a, b string) int {
			nameA, _, _ := strings.Cut(a, "=")
			nameB, _, _ := strings.Cut(b, "=")
			return strings.Compare(nameA, nameB)
		})
		out.RawQuery = strings.Join(pairs, "&")
	}
	return out.String()
}

// Host is the host of a URL in lower case, with the port where it is not that of
// the scheme.
func Host(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if port := u.Port(); port == "" || port == map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)] {
		host = strings.TrimSuffix(strings.TrimSuffix(host, port), ":")
	}
	return host
}

// Call is a request in the form in which it is compared.
type Call struct {
	// Method and URL are in normal form, Host and Path are those of the URL.
	Method, URL, Host, Path string
	// headers are by name in lower case; body is canonical, or text.
	headers map[string]string
	body    string
}

// ReadCall reads the arguments of a request; ok is false for those of something
// else.
func ReadCall(args json.RawMessage) (c Call, ok bool) {
	var a struct {
		Method  string                     `json:"method"`
		URL     string                     `json:"url"`
		Headers map[string]json.RawMessage `json:"headers"`
		Body    json.RawMessage            `json:"body"`
		Base64  string                     `json:"body_base64"`
	}
	if json.Unmarshal(args, &a) != nil || a.Method == "" {
		return c, false
	}
	u, err := url.Parse(strings.TrimSpace(a.URL))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return c, false
	}
	c = Call{Method: strings.ToUpper(a.Method), URL: normal(u), Host: Host(u), Path: u.Path, headers: map[string]string{}}
	for name, value := range a.Headers {
		if name = strings.ToLower(name); !volatile[name] {
			c.headers[name] = strings.Join(textsOf(value), ", ")
		}
	}
	switch {
	case a.Base64 != "":
		c.body = "base64:" + a.Base64
	case len(a.Body) > 0 && string(a.Body) != "null":
		c.body = bodyOf(a.Body)
	}
	return c, true
}

// textsOf are the values of a header.
func textsOf(value json.RawMessage) (list []string) {
	var one string
	if json.Unmarshal(value, &one) == nil {
		return []string{one}
	}
	if json.Unmarshal(value, &list) == nil {
		return list
	}
	return []string{string(value)}
}

// bodyOf is a body as it is compared.
func bodyOf(body json.RawMessage) string {
	var text string
	if json.Unmarshal(body, &text) == nil {
		if !isJSON([]byte(text)) {
			return withoutBoundary(text)
		}
		body = json.RawMessage(text)
	}
	canonical, err := tape.Canonical(body)
	if err != nil {
		return string(body)
	}
	return string(canonical)
}

// boundaryOf is the boundary of a multipart body, which is random; of other bodies
// it is something that they do not have.
func boundaryOf(body []byte) string {
	const none = "\x00"
	line, _, ok := bytes.Cut(body, []byte("\r\n"))
	boundary, dashed := bytes.CutPrefix(line, []byte("--"))
	if !ok || !dashed || len(boundary) == 0 || !bytes.HasSuffix(bytes.TrimRight(body, "\r\n"), fmt.Appendf(nil, "--%s--", boundary)) {
		return none
	}
	return string(boundary)
}

func withoutBoundary(body string) string {
	return strings.ReplaceAll(body, boundaryOf([]byte(body)), "boundary")
}

// is reports whether a live request is the recorded one, whose headers count.
func (c *Call) is(live *Call) bool {
	if c.Method != live.Method || c.URL != live.URL || c.body != live.body {
		return false
	}
	for name, value := range c.headers {
		if live.headers[name] != value {
			return false
		}
	}
	return true
}
