package serve

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/tapedeck/tapedeck/internal/httptape"
	"github.com/tapedeck/tapedeck/internal/loopback"
	"github.com/tapedeck/tapedeck/replay"
)

// rewrittenPath is where a program asks that writes another server's URL behind ours:
// /http/https/api.example.com/v1/x.
const rewrittenPath = "/http/"

// modelHosts are the hosts of model providers. A "*." is any host below.
var modelHosts = []string{
	"api.openai.com", "*.api.openai.com", "*.openai.azure.com", "*.services.ai.azure.com", "*.cognitiveservices.azure.com",
	"api.anthropic.com", "generativelanguage.googleapis.com", "aiplatform.googleapis.com", "*-aiplatform.googleapis.com",
	"api.mistral.ai", "api.groq.com", "api.deepseek.com", "openrouter.ai", "api.together.xyz", "api.x.ai", "api.fireworks.ai",
	"api.perplexity.ai", "api.cerebras.ai", "router.huggingface.co", "api.moonshot.ai", "dashscope.aliyuncs.com", "ai-gateway.vercel.sh",
}

// isModelHost reports whether a host, without its port, is that of a model API.
func (s *Server) isModelHost(host string) bool {
	for _, list := range [][]string{modelHosts, s.modelHosts} {
		for _, known := range list {
			below, wild := strings.CutPrefix(strings.ToLower(known), "*")
			if wild && strings.HasSuffix(host, below) || host == below {
				return true
			}
		}
	}
	return false
}

// Forwarded answers a request that a program made of another server and that a proxy
// took: its URL is absolute. In this order, it is
//
//   - an HTTP exchange of the tape;
//   - a request of an MCP client, whatever its server;
//   - a request to the API of a model, if the host is that of one;
//   - a call that the tape does not answer, if it has exchanges with the host;
//   - a request elsewhere, which is refused with 403 and listed in the report.
func (s *Server) Forwarded(w http.ResponseWriter, r *http.Request) {
	host := httptape.Host(r.URL)
	switch own := s.address.Load(); {
	case own != nil && host == *own:
		// A client that asks a proxy for everything.
		r.Host = host
		s.ServeHTTP(w, r)
		return
	case strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		s.elsewhere(w, r, "WebSocket")
		return
	}
	body, bad := s.body(w, r)
	if bad != nil {
		failure(bad.Status, bad.Code, bad.Message).write(w)
		return
	}
	again := r.Clone(r.Context())
	again.Body = io.NopCloser(bytes.NewReader(body))
	if own := s.address.Load(); own != nil {
		again.Host = *own // Links to verdicts lead to us.
	}
	match, err := s.http.find(httptape.Args(r, body))
	rt, isModel := routeOf(r)
	switch {
	case err != nil:
		failure(http.StatusBadRequest, "bad_request", err.Error()).write(w)
	case match.Found:
		s.exchange(w, r, match)
	case isMCP(r, body):
		again.URL = &url.URL{Path: strings.TrimSuffix(mcpPath+"/"+s.mcp.ServerAt(r.URL.Hostname()), "/")}
		s.mcp.ServeHTTP(w, again)
	case isModel && s.isModelHost(strings.ToLower(r.URL.Hostname())):
		s.model(w, again, rt)
	case match.Known:
		s.exchange(w, r, match)
	case loopback.Name(host):
		s.elsewhere(w, r, "no proxy can reach it: have the client ask for it directly, as NO_PROXY says")
	default:
		s.elsewhere(w, r, "")
	}
}

// isMCP reports whether a request is one of the streamable HTTP transport of MCP,
// whose headers the protocol demands.
func isMCP(r *http.Request, body []byte) bool {
	if r.Header.Get("Mcp-Session-Id") != "" || r.Header.Get("Mcp-Protocol-Version") != "" {
		return true
	}
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return r.Method == http.MethodPost && strings.Contains(accept, "application/json") && strings.Contains(accept, "text/event-stream") &&
		bytes.Contains(body, []byte(`"jsonrpc"`))
}

// elsewhere refuses a request with a status that no SDK tries again.
func (s *Server) elsewhere(w http.ResponseWriter, r *http.Request, why string) {
	host := httptape.Host(r.URL)
	s.session.RefusedElsewhere(replay.Elsewhere{Method: r.Method, Host: host, Path: r.URL.Path, Why: why})
	message := fmt.Sprintf("the tape knows nothing of %s, and nothing leaves a replay: %s %s was refused", host, r.Method, r.URL.Path)
	if why != "" {
		message += ": " + why
	}
	failure(http.StatusForbidden, "tape_elsewhere", message).write(w)
}

// Broken notes a connection to a host that a proxy refused before there was a
// request.
func (s *Server) Broken(host, why string) {
	s.session.RefusedElsewhere(replay.Elsewhere{Method: http.MethodConnect, Host: host, Why: why})
}

// rewritten answers a request of which the URL stands behind ours.
func (s *Server) rewritten(w http.ResponseWriter, r *http.Request) {
	rest := strings.TrimPrefix(r.URL.EscapedPath(), rewrittenPath)
	scheme, rest, _ := strings.Cut(rest, "/")
	host, path, _ := strings.Cut(rest, "/")
	target, err := url.Parse(scheme + "://" + host + "/" + path)
	if err != nil || target.Host == "" || scheme != "http" && scheme != "https" {
		failure(http.StatusNotFound, "not_found", fmt.Sprintf("%s is not %sSCHEME/HOST/PATH with http or https", r.URL.Path, rewrittenPath)).write(w)
		return
	}
	target.RawQuery = r.URL.RawQuery
	forwarded := r.Clone(r.Context())
	forwarded.URL, forwarded.Host = target, target.Host
	s.Forwarded(w, forwarded)
}
