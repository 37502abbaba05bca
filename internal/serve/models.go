package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/internal/serve/llm"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// models answers the requests of model clients from a session.
type models struct {
	session  *replay.Session
	verdicts *verdicts
	// seed makes ids that the tape does not have.
	seed string

	// begin reads the tape when the first request comes: programs that ask for no
	// model never pay for it.
	begin sync.Once
	names []string

	mu   sync.Mutex
	deck *llm.Deck
	past *past
}

func newModels(s *replay.Session, v *verdicts) *models {
	return &models{session: s, verdicts: v, past: newPast()}
}

// open reads the tape.
func (m *models) open() {
	m.begin.Do(func() {
		t, kinds := m.session.Tape(), m.session.Report().Policy.Kinds
		records := t.Records
		if len(kinds) > 0 && !containsModel(kinds) {
			records = nil
		}
		if t.Manifest != nil {
			m.seed = t.Manifest.TraceID
		}
		seen := map[string]bool{"": true}
		for i := range records {
			if name := records[i].Model; records[i].KindOf() == tape.KindModel && !seen[name] {
				seen[name] = true
				m.names = append(m.names, name)
			}
		}
		deck := llm.NewDeck(records, func(args json.RawMessage) (json.RawMessage, error) {
			return m.session.Form(tape.KindModel, args)
		})
		m.mu.Lock()
		m.deck = deck
		m.mu.Unlock()
	})
}

func containsModel(kinds []tape.Kind) bool {
	for _, k := range kinds {
		if k == tape.KindModel {
			return true
		}
	}
	return false
}

// taken tells the deck what the session made of a call that did not come this way.
func (m *models) taken(seq int, err error) {
	m.open()
	m.settle(llm.Match{}, seq, err)
}

// outcome is what a request is answered with. It can be written again.
type outcome struct {
	protocol llm.Protocol
	// One of these is set.
	answer  *llm.Answer
	failure *llm.Failure
	// seq is the record that answered, 0 for none.
	seq int
	// wait is how long the recorded call took, and first how long its first chunk
	// did, as far as the tape tells.
	wait, first time.Duration
	// fault is what an override does to the answer.
	fault replay.Fault
	// recorded is set for a recorded failure, which an SDK may try again.
	recorded bool
	// last is set where asking again gives nothing new.
	last bool
}

// ask makes the call that a request is.
func (m *models) ask(ctx context.Context, p llm.Protocol, q *llm.Request, url func(call int) string) *outcome {
	m.open()
	out := &outcome{protocol: p}
	match, request, err := m.find(q)
	if err != nil {
		out.failure = &llm.Failure{Status: http.StatusBadRequest, Code: "bad_request", Message: err.Error()}
		return out
	}
	m.session.Told(toldResults(q)...)
	answer, err := m.session.Ask(ctx, request)
	m.settle(match, answer.Seq, err)
	if err != nil {
		return m.refuse(out, err, url)
	}
	for _, left := range match.Left {
		m.session.Claim(left, "not compared: the tape does not have it")
	}
	out.seq, out.fault = answer.Seq, answer.Fault
	out.wait, out.first = timing(answer.Record)
	if answer.Record.Model != "" && q.Model != "" && answer.Record.Model != q.Model {
		m.session.Claim("model", fmt.Sprintf("not compared: asked for %s, recorded with %s", q.Model, answer.Record.Model))
	}
	if answer.Error != nil {
		known := false
		if out.failure, known = llm.Recorded(answer.Error); !known {
			m.session.Claim("answer: status of an error", "rebuilt: the tape does not have it")
		}
		out.recorded = true
		return out
	}
	result := answer.Result
	if out.fault != "" {
		// It is the text of this API that is to be broken.
		result = answer.Record.Result
	}
	out.answer, err = llm.ReadAnswer(answer.Record, result, m.seed, q.Choices)
	if err != nil {
		return m.refuse(out, m.session.TakeBack(answer, err.Error()), url)
	}
	m.session.Wanted(wantedCalls(out.answer)...)
	return out
}

// timing is how long a recorded call took, and how long its first chunk did; that is
// the whole time where the tape does not say.
func timing(r *tape.Record) (all, first time.Duration) {
	all = time.Duration(r.MS * float64(time.Millisecond))
	for _, m := range r.Extra {
		if ms, err := strconv.ParseFloat(string(m.Value), 64); m.Name == tape.FirstChunkMember && err == nil && ms >= 0 {
			return all, min(all, time.Duration(ms*float64(time.Millisecond)))
		}
	}
	return all, all
}

// find looks for the record that a request is, and makes the call that asks for
// it: by the record's own words where there is one.
func (m *models) find(q *llm.Request) (llm.Match, replay.Request, error) {
	readings, err := m.readings(q)
	if err != nil {
		return llm.Match{}, replay.Request{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	match := m.deck.Find(q.Previous != "", readings...)
	request := replay.Request{
		Kind: tape.KindModel, Tool: "chat",
		CannotRun: "the SDK of a model cannot be told to run a request: ask POST /v1/call for it, or let the tape answer",
	}
	if match.Record != nil {
		request.Tool, request.Args = match.Record.Tool, match.Record.Args
		return match, request, nil
	}
	projected, _ := m.deck.Project(readings[0])
	// What differs is told against the record that is due, so in its tool's name.
	if due := m.deck.Due(); due != nil {
		request.Tool = due.Tool
		projected = m.deck.Against(due, projected)
	}
	request.Args = projected.JSON()
	return match, request, nil
}

// readings are the conversations that a request may stand for: all of it, and
// where it goes on from a response, what is new in it.
func (m *models) readings(q *llm.Request) (list []*llm.Conversation, err error) {
	whole := *q
	whole.Messages = m.past.expand(q)
	requests := []*llm.Request{&whole}
	if q.Previous != "" {
		requests = append(requests, q)
	}
	for _, r := range requests {
		c, err := m.deck.Read(r.Args())
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// settle tells the deck what the session made of a match.
func (m *models) settle(match llm.Match, seq int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var gap *replay.GapError
	if errors.As(err, &gap) {
		seq = gap.Seq
	}
	if match.Record != nil && !match.Taken {
		m.deck.Release(match)
	}
	if seq > 0 {
		m.deck.Take(seq)
	}
}

// refuse makes the answer of a call that the session refused.
func (m *models) refuse(out *outcome, err error, url func(call int) string) *outcome {
	out.failure = &llm.Failure{Message: err.Error()}
	if event, ok := replay.EventOf(err); ok {
		v := verdictOf[event.Verdict]
		m.verdicts.keep(event.Call, mustJSON(detailed(event, err)), event.Message)
		out.failure.Status, out.failure.Code, out.failure.URL = v.status, v.code, url(event.Call)
		return out
	}
	out.failure.Status, out.failure.Code = http.StatusBadRequest, "bad_request"
	if errors.Is(err, replay.ErrClosed) {
		out.failure.Status, out.failure.Code, out.failure.Message = http.StatusGone, "closed", "the replay is over"
	}
	return out
}

// left reports whether a record is left that would answer a request again.
func (m *models) left(q *llm.Request) bool {
	readings, err := m.readings(q)
	if err != nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range readings {
		if m.deck.Has(c) {
			return true
		}
	}
	return false
}

// noted puts what was rebuilt or lost of an answer into the report.
func (m *models) noted(a *llm.Answer) {
	for _, note := range a.Notes {
		m.session.Claim("answer: "+note.What, note.Why)
	}
}

// tokens is how many tokens a request has, by the record of it, else guessed from
// its length.
func (m *models) tokens(q *llm.Request) (n int64, known bool) {
	m.open()
	if readings, err := m.readings(q); err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, r := range m.deck.Same(readings[0]) {
			v, _ := value.Parse(string(r.Result))
			if n, ok := v.At("usage").At("input_tokens").Int64(); ok {
				return n, true
			}
		}
	}
	// Four bytes a token is what the providers say of English.
	const bytesPerToken = 4
	return int64(len(q.Args())/bytesPerToken + 1), false
}
