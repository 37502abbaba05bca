package httptape

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/tapedeck/tapedeck/internal/httptape/rawjson"
)

// ErrNoResponse means that a result is not what a server answered.
var ErrNoResponse = errors.New("not an HTTP response")

// Response is a recorded answer of a server. It shares memory with the result.
type Response struct {
	Status int
	// Header is nil where the record has none.
	Header http.Header
	// text is the body as JSON text: a string, or what is to be written as it is.
	text json.RawMessage
	// base64 is set where text is the string of a body that is no text.
	base64 bool
}

// ReadResponse reads the result of a record. The error is an [ErrNoResponse].
func ReadResponse(result json.RawMessage) (*Response, error) {
	status := -1
	var err error
	r := &Response{}
	isObject := rawjson.Members(result, func(name string, value json.RawMessage) {
		switch name {
		case "status", "status_code", "statusCode":
			if e := json.Unmarshal(value, &status); e != nil {
				err = fmt.Errorf("%w: %s is no number", ErrNoResponse, name)
			}
		case "headers":
			r.Header = headerOf(value)
		case "body":
			r.text = value
		case "body_base64":
			r.text, r.base64 = value, true
		}
	})
	switch {
	case !isObject:
		return nil, fmt.Errorf("%w: it is no object", ErrNoResponse)
	case err != nil:
		return nil, err
	case status < 200 || status > 599:
		return nil, fmt.Errorf("%w: it has no status from 200 to 599", ErrNoResponse)
	}
	r.Status = status
	if r.base64 {
		if err := r.body(io.Discard); err != nil {
			return nil, fmt.Errorf("%w: body_base64: %w", ErrNoResponse, err)
		}
	}
	return r, nil
}

func headerOf(value json.RawMessage) http.Header {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return nil
	}
	header := http.Header{}
	for name, value := range members {
		for _, text := range textsOf(value) {
			header.Add(name, text)
		}
	}
	return header
}

// perConnection are headers of a message and not of what it carries.
var perConnection = []string{
	"Connection", "Content-Encoding", "Content-Length", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Alt-Svc",
}

// pieceBytes is how much of a body is in memory at a time.
const pieceBytes = 32 << 10

// Write gives the answer to a client: compressed where it was, and the client takes
// that. An error means that the client is gone.
func (r *Response) Write(w http.ResponseWriter, req *http.Request) error {
	header := w.Header()
	for name, values := range r.Header {
		header[http.CanonicalHeaderKey(name)] = values
	}
	length := header.Get("Content-Length")
	for _, name := range perConnection {
		header.Del(name)
	}
	if _, ok := header["Content-Type"]; !ok {
		header["Content-Type"] = r.contentType()
	}
	bodyless := r.Status == http.StatusNoContent || r.Status == http.StatusNotModified
	if req.Method == http.MethodHead || bodyless {
		if req.Method == http.MethodHead && length != "" && !bodyless {
			header.Set("Content-Length", length)
		}
		w.WriteHeader(r.Status)
		return nil
	}
	if r.Header.Get("Content-Encoding") != "" && acceptsGzip(req.Header) {
		header.Set("Content-Encoding", "gzip")
		w.WriteHeader(r.Status)
		zipped := gzip.NewWriter(w)
		if err := r.body(zipped); err != nil {
			return err
		}
		return zipped.Close()
	}
	var size counter
	if err := r.body(&size); err != nil {
		return err
	}
	header.Set("Content-Length", strconv.FormatInt(int64(size), 10))
	w.WriteHeader(r.Status)
	return r.body(w)
}

// contentType is that of a response without one: nothing is to be guessed where the
// record has headers.
func (r *Response) contentType() []string {
	switch {
	case r.Header != nil || len(r.text) == 0 || r.base64:
		return nil
	case r.text[0] != '"' || bytes.HasPrefix(r.text, []byte(`"{`)) || bytes.HasPrefix(r.text, []byte(`"[`)):
		return []string{"application/json"}
	}
	return []string{"text/plain; charset=utf-8"}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// body writes the body, decoded.
func (r *Response) body(w io.Writer) error {
	switch {
	case len(r.text) == 0 || string(r.text) == "null":
		return nil
	case r.base64:
		reader, writer := io.Pipe()
		go func() { writer.CloseWithError(rawjson.WriteString(writer, r.text)) }()
		_, err := io.CopyBuffer(w, base64.NewDecoder(base64.StdEncoding, reader), make([]byte, pieceBytes))
		return errors.Join(err, reader.Close())
	case r.text[0] == '"':
		return rawjson.WriteString(w, r.text)
	}
	_, err := w.Write(r.text)
	return err
}

// acceptsGzip reports whether a client takes gzip.
func acceptsGzip(header http.Header) bool {
	for item := range strings.SplitSeq(strings.Join(header.Values("Accept-Encoding"), ","), ",") {
		name, params, _ := strings.Cut(item, ";")
		if name = strings.ToLower(strings.TrimSpace(name)); name != "gzip" && name != "*" {
			continue
		}
		quality, found := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q=")
		if q, err := strconv.ParseFloat(quality, 64); !found || err == nil && q > 0 {
			return true
		}
	}
	return false
}
