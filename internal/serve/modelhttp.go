package serve

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/internal/serve/llm"
)

// route is what a request to a model API asks for.
type route struct {
	protocol llm.Protocol
	method   string
	handle   func(*Server, http.ResponseWriter, *http.Request, route)
	// model and stream are what the path says, for APIs that say it there.
	model  string
	stream bool
}

// routeOf finds the API that a path belongs to by how it ends, since the APIs of
// several providers, and of those that speak like them, stand under prefixes of
// their own: /v1, /openai/v1, /anthropic/v1, /openai/deployments/NAME.
func routeOf(r *http.Request) (route, bool) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	for _, known := range []struct {
		ending string
		route  route
	}{
		{"/chat/completions", route{protocol: llm.OpenAIChat{}, method: http.MethodPost, handle: (*Server).complete}},
		{"/responses", route{protocol: llm.OpenAIResponses{}, method: http.MethodPost, handle: (*Server).complete}},
		{"/messages", route{protocol: llm.Anthropic{}, method: http.MethodPost, handle: (*Server).complete}},
		{"/messages/count_tokens", route{protocol: llm.Anthropic{}, method: http.MethodPost, handle: (*Server).countTokens}},
		{"/models", route{protocol: modelsProtocol(r), method: http.MethodGet, handle: (*Server).listModels}},
	} {
		if strings.HasSuffix(path, known.ending) {
			return known.route, true
		}
	}
	at := strings.LastIndex(path, "/models/")
	if at < 0 {
		return route{}, false
	}
	model, verb, _ := strings.Cut(path[at+len("/models/"):], ":")
	out := route{protocol: llm.Gemini{}, method: http.MethodPost, model: model}
	switch verb {
	case "generateContent":
		out.handle = (*Server).complete
	case "streamGenerateContent":
		out.handle, out.stream = (*Server).complete, true
	case "countTokens":
		out.handle = (*Server).countTokens
	case "":
		return route{protocol: modelsProtocol(r), method: http.MethodGet, handle: (*Server).oneModel, model: model}, true
	default:
		return route{}, false
	}
	return out, true
}

// modelsProtocol tells whose list of models is asked for: they share a path.
func modelsProtocol(r *http.Request) llm.Protocol {
	switch {
	case r.Header.Get("Anthropic-Version") != "" || strings.Contains(r.URL.Path, "/anthropic/"):
		return llm.Anthropic{}
	case strings.Contains(r.URL.Path, "/v1beta/") || r.Header.Get("X-Goog-Api-Key") != "":
		return llm.Gemini{}
	}
	return llm.OpenAIChat{}
}

// refuse answers with an error in the words of the route's protocol.
func (s *Server) refuse(w http.ResponseWriter, p llm.Protocol, f *llm.Failure) {
	_ = writeFailure(w, &outcome{protocol: p, failure: f, last: true})
}

// request reads the request of a model call. It has answered where it returns
// nil.
func (s *Server) request(w http.ResponseWriter, r *http.Request, rt route) (*llm.Request, []byte) {
	body, bad := s.body(w, r)
	if bad != nil {
		s.refuse(w, rt.protocol, bad)
		return nil, nil
	}
	v, err := value.Parse(string(body))
	if err == nil && v.Kind() != value.Object {
		err = fmt.Errorf("want an object")
	}
	if err != nil {
		s.refuse(w, rt.protocol, &llm.Failure{Status: http.StatusBadRequest, Code: "bad_request", Message: "the body is no request: " + err.Error()})
		return nil, nil
	}
	q, err := rt.protocol.Read(v)
	if err != nil {
		s.refuse(w, rt.protocol, &llm.Failure{Status: http.StatusBadRequest, Code: "bad_request", Message: "the body is no request: " + err.Error()})
		return nil, nil
	}
	if rt.model != "" {
		q.Model = rt.model
	}
	q.Stream = q.Stream || rt.stream
	return q, body
}

// complete answers a model call.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, rt route) {
	q, body := s.request(w, r, rt)
	if q == nil {
		return
	}
	seen, before := s.tries.enter(r, body)
	// An answer that its client gave up is kept for the next try, so it is made all
	// the same.
	ctx := context.WithoutCancel(r.Context())
	out := *seen.do(before, func() *outcome {
		return s.models.ask(ctx, rt.protocol, q, func(call int) string { return callURL(r, call) })
	}, func() bool { return s.models.left(q) })
	if out.recorded && !s.models.left(q) {
		out.last = true
	}
	if out.answer != nil {
		// Writing it notes what it loses.
		answer := *out.answer
		answer.Notes = slices.Clone(answer.Notes)
		out.answer = &answer
	}
	seen.written(s.writeModel(w, r, q, &out))
}

// countTokens answers how long a request is. It takes no record.
func (s *Server) countTokens(w http.ResponseWriter, r *http.Request, rt route) {
	q, _ := s.request(w, r, rt)
	if q == nil {
		return
	}
	n, known := s.models.tokens(q)
	if !known {
		s.session.Claim("count of tokens", "rebuilt: guessed from the length of the request")
	}
	body := value.Obj(value.M("input_tokens", value.Int(n)))
	if _, gemini := rt.protocol.(llm.Gemini); gemini {
		body = value.Obj(value.M("totalTokens", value.Int(n)))
	}
	_ = writeBody(w, http.StatusOK, body)
}

func (s *Server) listModels(w http.ResponseWriter, _ *http.Request, rt route) {
	s.models.open()
	list := make([]value.Value, len(s.models.names))
	for i, name := range s.models.names {
		list[i] = modelValue(rt.protocol, name)
	}
	switch rt.protocol.(type) {
	case llm.Gemini:
		_ = writeBody(w, http.StatusOK, value.Obj(value.M("models", value.List(list...))))
	case llm.Anthropic:
		_ = writeBody(w, http.StatusOK, value.Obj(value.M("data", value.List(list...)), value.M("has_more", value.Boolean(false)),
			value.M("first_id", value.Value{}), value.M("last_id", value.Value{})))
	default:
		_ = writeBody(w, http.StatusOK, value.Obj(value.M("object", value.Str("list")), value.M("data", value.List(list...))))
	}
}

func (s *Server) oneModel(w http.ResponseWriter, _ *http.Request, rt route) {
	s.models.open()
	for _, name := range s.models.names {
		if name == rt.model {
			_ = writeBody(w, http.StatusOK, modelValue(rt.protocol, name))
			return
		}
	}
	s.refuse(w, rt.protocol, &llm.Failure{Status: http.StatusNotFound, Code: "model_not_found", Message: fmt.Sprintf("the tape has no model %q", rt.model)})
}

func modelValue(p llm.Protocol, name string) value.Value {
	switch p.(type) {
	case llm.Gemini:
		return value.Obj(value.M("name", value.Str("models/"+name)), value.M("displayName", value.Str(name)),
			value.M("supportedGenerationMethods", value.List(value.Str("generateContent"), value.Str("countTokens"))))
	case llm.Anthropic:
		return value.Obj(value.M("type", value.Str("model")), value.M("id", value.Str(name)), value.M("display_name", value.Str(name)),
			value.M("created_at", value.Str("1970-01-01T00:00:00Z")))
	}
	return value.Obj(value.M("id", value.Str(name)), value.M("object", value.Str("model")), value.M("created", value.Int(0)), value.M("owned_by", value.Str("tape")))
}

// callURL is where the whole verdict of a call can be read.
func callURL(r *http.Request, call int) string {
	return fmt.Sprintf("http://%s/v1/calls/%d", r.Host, call)
}
