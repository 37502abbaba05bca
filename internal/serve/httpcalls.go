package serve

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tapedeck/tapedeck/internal/httptape"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// httpCalls finds the HTTP exchanges of a session's tape.
type httpCalls struct {
	session *replay.Session
	// begin reads the tape when the first request comes: programs that make none
	// never pay for it.
	begin sync.Once
	deck  *httptape.Deck
}

func (h *httpCalls) find(args json.RawMessage) (httptape.Match, error) {
	h.begin.Do(func() {
		records := h.session.Tape().Records
		if kinds := h.session.Report().Policy.Kinds; len(kinds) > 0 && !slices.Contains(kinds, tape.KindTool) {
			records = nil
		}
		h.deck = httptape.NewDeck(records, func(args json.RawMessage) (json.RawMessage, error) {
			return h.session.Form(tape.KindTool, args)
		})
	})
	return h.deck.Find(args)
}

// settle tells the deck what the session made of a match.
func (h *httpCalls) settle(match httptape.Match, seq int, err error) {
	var gap *replay.GapError
	if errors.As(err, &gap) {
		seq = gap.Seq
	}
	h.deck.Settle(match, seq)
}

// exchange answers a request from the session.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request, match httptape.Match) {
	answer, err := s.session.Ask(r.Context(), replay.Request{
		Tool: match.Tool, Args: match.Args, Like: match.Like,
		CannotRun: "an HTTP client cannot be told to run a request: ask POST /v1/call for it, or let the tape answer",
	})
	s.http.settle(match, answer.Seq, err)
	if err != nil {
		s.verdict(err).write(w)
		return
	}
	// What the server said counts, and not what we say of ourselves.
	w.Header().Del("Cache-Control")
	w.Header().Del("X-Content-Type-Options")
	switch answer.Fault {
	case replay.FaultCut:
		(&response{status: http.StatusOK, seq: answer.Seq, parts: [][]byte{answer.Result}, cut: true}).write(w)
		return
	case replay.FaultMalformed:
		(&response{status: http.StatusOK, seq: answer.Seq, parts: [][]byte{answer.Result}}).write(w)
		return
	}
	recorded, err := httptape.ReadResponse(answer.Result)
	switch {
	case err == nil:
		w.Header().Set("Tape-Seq", strconv.Itoa(answer.Seq))
		_ = recorded.Write(w, r) // The client is gone.
	case answer.Error != nil:
		s.unanswered(answer).write(w)
	default:
		s.verdict(s.session.TakeBack(answer, "the result is "+err.Error())).write(w)
	}
}

// unanswered is the answer to a request that got none when it was recorded: what a
// proxy says of a server that it cannot reach.
func (s *Server) unanswered(answer replay.Answer) *response {
	e := answer.Error
	status, err := strconv.Atoi(e.Code)
	if err != nil || status < 400 || status > 599 {
		status = http.StatusBadGateway
		text := strings.ToLower(e.Type + " " + e.Message)
		if strings.Contains(text, "timeout") || strings.Contains(text, "timed out") || strings.Contains(text, "deadline") {
			status = http.StatusGatewayTimeout
		}
		s.session.Claim("answer: a connection that failed", "rebuilt: answered with "+strconv.Itoa(status)+", as a proxy does")
	}
	refused := failure(status, cmp.Or(e.Code, e.Type, "failed"), cmp.Or(e.Message, "the request failed"))
	refused.seq = answer.Seq
	return refused
}
